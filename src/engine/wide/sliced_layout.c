/*
 * The events of a search in recorded order, and where a state keeps what each of them touches: of a thread the slice
 * that it is in; of a variable that one thread reads and another writes, and of a lock, what sliced_step.c says; of
 * other objects the slice of the last operation. After an event the pieces that no later one touches are marked as
 * ended, so that states which differ in nothing else become one. Sets of slices come first, the rest after them.
 *
 * Cost: events times the logarithm of their number; memory as many entries.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/sliced_impl.h"

struct laying {
    struct sliced_layout *layout;
    struct wide_search *s;
    struct sliced_monitor *monitor;
    uint32_t *threads, *vars, *locks, *others; /* where they are, plus 1; 0: nowhere yet */
    uint32_t *bits;                            /* where those of variables are, plus 1 */
    struct pt_map64 holders;                   /* by lock and thread */
    struct pt_map64 last;                      /* where something is, and kind of end: the last event that touches it */
};

static int by_place(const void *a, const void *b)
{
    const struct sliced_event *x = a, *y = b;
    return x->e->place < y->e->place ? -1 : x->e->place > y->e->place;
}

static void list_events(struct laying *l)
{
    const struct wide_problem *p = l->s->p;
    uint32_t count = 0;
    for (uint32_t c = 0; c < p->column_count; c++)
        count += p->columns[c].count;
    l->layout->events = pt_xcalloc((size_t)count + 1, sizeof *l->layout->events);
    for (uint32_t c = 0; c < p->column_count; c++)
        for (uint32_t k = 0; k < p->columns[c].count; k++)
            l->layout->events[l->layout->count++] =
                (struct sliced_event){.e = wide_next(p, c, k), .column = c, .letter = PT_NONE, .object = PT_NONE};
    qsort(l->layout->events, count, sizeof *l->layout->events, by_place);
}

/* The place of something in a state, made at first. */
static uint32_t place_of(struct laying *l, uint32_t *known, uint32_t bytes)
{
    if (!*known) {
        *known = l->layout->bytes + 1;
        l->layout->bytes += bytes;
    }
    return *known - 1;
}

static void touched(struct laying *l, uint32_t at, uint32_t kind, uint32_t event)
{
    *pt_map64_at(&l->last, (uint64_t)kind << 32 | at) = event;
}

static uint32_t holder_of(struct laying *l, uint32_t lock, uint32_t thread, bool shared)
{
    uint32_t *known = pt_map64_at(&l->holders, (uint64_t)thread << 33 | (uint64_t)lock << 1 | shared);
    if (*known == PT_NONE) {
        struct sliced_holder holder = {l->layout->bytes++, l->locks[lock] - 1, shared};
        *known = l->layout->holder_count;
        PT_PUSH(l->layout->holders, l->layout->holder_count, l->layout->holder_cap, holder);
    }
    return *known;
}

static void lay_lock(struct laying *l, struct sliced_event *event, uint32_t number)
{
    const struct wide_problem *p = l->s->p;
    const struct wide_event *e = event->e;
    bool shared = e->kind == WIDE_RACQ || e->kind == WIDE_RREL, takes = e->kind == WIDE_ACQ || e->kind == WIDE_RACQ;
    event->holder = holder_of(l, e->object, event->column, shared);
    event->object = l->layout->holders[event->holder].lock;
    touched(l, event->object, SLICED_END_LOCK, number);
    for (uint32_t at = takes ? e->held : 0; at; at = p->helds[at - 1].next)
        if (p->helds[at - 1].lock == e->object && p->helds[at - 1].shared != shared)
            l->layout->refuses = "a thread has a lock shared and alone at the same time";
}

static void lay_join(struct laying *l, struct sliced_event *event, uint32_t number)
{
    const struct wide_problem *p = l->s->p;
    uint32_t child = event->e->object;
    const struct wide_column *column = &p->columns[child];
    event->object = place_of(l, &l->threads[child], 1);
    touched(l, event->object, SLICED_END_SLICE, number);
    event->first_held = l->layout->held_count;
    for (uint32_t at = column->count ? column->events[column->count - 1].held : 0; at; at = p->helds[at - 1].next) {
        uint32_t holder = holder_of(l, p->helds[at - 1].lock, child, p->helds[at - 1].shared);
        PT_PUSH(l->layout->helds, l->layout->held_count, l->layout->held_cap, holder);
        touched(l, l->layout->holders[holder].lock, SLICED_END_LOCK, number);
    }
    event->held_at = l->layout->held_count;
}

/* Is there a read that other threads' writes could disturb? */
static bool is_shared(const struct wide_object *var)
{
    return var->user_count > 1 && var->writes && var->reads;
}

static bool is_access(const struct wide_event *e)
{
    return e->kind == WIDE_READ || e->kind == WIDE_WRITE || e->kind == WIDE_UPDATE;
}

static void lay_access(struct laying *l, struct sliced_event *event, uint32_t number)
{
    const struct wide_event *e = event->e;
    if (!is_shared(&l->s->p->vars[e->object]))
        return;
    event->object = place_of(l, &l->vars[e->object], 1);
    event->bits = l->bits[e->object] - 1;
    touched(l, event->object, SLICED_END_VARIABLE, number);
    if (e->kind != WIDE_WRITE)
        touched(l, event->object, SLICED_END_READS, number);
}

static void lay_other(struct laying *l, struct sliced_event *event, uint32_t number)
{
    const struct pt_recorded *r = &l->s->p->log->events[event->e->place];
    if (r->op == PT_OP_FORK && r->object < l->s->p->column_count) {
        event->object = place_of(l, &l->threads[r->object], 1);
        event->forks = true;
    } else if (pt_op_space(r->op) == PT_SPACE_OTHER && pt_op_accesses(r->op)) {
        event->object = place_of(l, &l->others[r->object], 1);
        event->chains = true;
    } else {
        return;
    }
    touched(l, event->object, SLICED_END_SLICE, number);
}

static void lay_event(struct laying *l, uint32_t number)
{
    struct sliced_event *event = &l->layout->events[number];
    event->thread = place_of(l, &l->threads[event->column], 1);
    touched(l, event->thread, SLICED_END_SLICE, number);
    switch (event->e->kind) {
    case WIDE_READ:
    case WIDE_WRITE:
    case WIDE_UPDATE:
        lay_access(l, event, number);
        break;
    case WIDE_ACQ:
    case WIDE_RACQ:
    case WIDE_REL:
    case WIDE_RREL:
        lay_lock(l, event, number);
        break;
    case WIDE_JOIN:
        lay_join(l, event, number);
        break;
    default:
        lay_other(l, event, number);
    }
    if (event->e->visible)
        event->letter = sliced_monitor_letter(l->monitor, event->e);
}

/* The sets of slices come first, together: a state whose sets are smaller stands for one whose sets are larger. */
static void lay_bits(struct laying *l, const struct sliced_event *event)
{
    const struct wide_event *e = event->e;
    bool lock = e->kind == WIDE_ACQ || e->kind == WIDE_RACQ || e->kind == WIDE_REL || e->kind == WIDE_RREL;
    if (lock)
        (void)place_of(l, &l->locks[e->object], 2);
    else if (is_access(e) && is_shared(&l->s->p->vars[e->object]))
        (void)place_of(l, &l->bits[e->object], 1);
}

/* Is this the last event that touches the piece in that way? Then it ends with it. */
static void end_at(struct laying *l, uint32_t number, uint32_t at, uint32_t kind)
{
    if (pt_map64_get(&l->last, (uint64_t)kind << 32 | at) != number)
        return;
    struct sliced_end end = {.at = at, .bits = l->layout->events[number].bits, .kind = kind};
    PT_PUSH(l->layout->ends, l->layout->end_count, l->layout->end_cap, end);
}

static void lay_ends(struct laying *l, uint32_t number)
{
    struct sliced_layout *layout = l->layout;
    struct sliced_event *event = &layout->events[number];
    event->first_end = layout->end_count;
    end_at(l, number, event->thread, SLICED_END_SLICE);
    if (event->object != PT_NONE)
        for (uint32_t kind = SLICED_END_SLICE; kind <= SLICED_END_LOCK; kind++)
            if (event->object != event->thread)
                end_at(l, number, event->object, kind);
    for (uint32_t i = event->first_held; i < event->held_at; i++)
        end_at(l, number, layout->holders[layout->helds[i]].lock, SLICED_END_LOCK);
    event->end_at = layout->end_count;
    if (event->e->kind == WIDE_WRITE && event->object != PT_NONE) {
        uint32_t last = pt_map64_get(&l->last, (uint64_t)SLICED_END_READS << 32 | event->object);
        event->unread = last == PT_NONE || last < number;
    }
}

void sliced_layout_init(struct sliced_layout *layout, struct wide_search *s, struct sliced_monitor *monitor)
{
    const struct wide_problem *p = s->p;
    *layout = (struct sliced_layout){0};
    struct laying l = {.layout = layout, .s = s, .monitor = monitor};
    l.threads = pt_xcalloc((size_t)p->column_count + 1, sizeof *l.threads);
    l.vars = pt_xcalloc((size_t)p->var_count + 1, sizeof *l.vars);
    l.bits = pt_xcalloc((size_t)p->var_count + 1, sizeof *l.bits);
    l.locks = pt_xcalloc((size_t)p->lock_count + 1, sizeof *l.locks);
    l.others = pt_xcalloc((size_t)p->log->names->space[PT_SPACE_OTHER].count + 1, sizeof *l.others);
    pt_map64_init(&l.holders);
    pt_map64_init(&l.last);
    list_events(&l);
    for (uint32_t i = 0; i < layout->count; i++)
        lay_bits(&l, &layout->events[i]);
    layout->bits = layout->bytes = (layout->bytes + 7) & ~7u;
    for (uint32_t i = 0; i < layout->count; i++)
        lay_event(&l, i);
    for (uint32_t i = 0; i < layout->count; i++)
        lay_ends(&l, i);
    pt_map64_release(&l.holders);
    pt_map64_release(&l.last);
    free(l.threads);
    free(l.vars);
    free(l.bits);
    free(l.locks);
    free(l.others);
}

void sliced_layout_release(struct sliced_layout *layout)
{
    free(layout->events);
    free(layout->holders);
    free(layout->ends);
    free(layout->helds);
}
