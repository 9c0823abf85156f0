/*
 * Where a state keeps what events touch, of a recording of which nothing is known beforehand: pieces are made as
 * threads, variables, locks and objects appear, and given back when it is known, without what is to come, that nobody
 * asks for them any more:
 *
 * - the slice of a thread that was joined, which neither acts nor is joined again;
 * - that of a section whose lock was released, or whose thread was joined;
 * - a variable of a block of memory that was freed. A use after that is one of the recorded run itself; it makes the
 *   answer of this automaton unknown, not wrong;
 * - what is as it was at the beginning in all states: it is made again as it was.
 *
 * Everything else may still be used by threads that nobody has seen yet, and stays.
 *
 * With one slice everything has a piece, which seldom tells states apart. With more it does: in which slice a thread
 * has written what it alone uses. So variables that are no two threads' or not both read and written, and locks of one
 * thread, have none at first, and their operations are left out, as sliced_layout.c does and says why; if one turns out
 * to be shared, all has to begin anew with that known. After EAGER events, when that has become expensive, what is new
 * has a piece at once.
 *
 * A read is left out if the thread's last event that was told was an access of the same variable and nobody else's
 * access came between: it may happen next to that one, in its slice, and sees the same write. With one slice the same
 * goes for a write after a write, and a variable that is as at the beginning can be read by everybody.
 *
 * Guarantee: the events that are told, and what they touch, are enough for every run of slices. Cost: constant time per
 * event, but for joins (as many as their thread has locks) and frees (as many as the block had variables); memory for
 * threads, variables, locks, objects and blocks, not for events.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/sliced_impl.h"

enum { EAGER = 1 << 14 };
enum { FIRST_SETS = 8, FIRST_REST = 8, MOST_SETS = 8, MOST_REST = 2 }; /* the last two: what one event may need */

struct hold {
    uint32_t lock, depth, holder;
    bool shared;
};

struct grown_thread {
    uint32_t at; /* plus 1; 0: as at the beginning */
    uint64_t told;
    struct hold *holds;
    uint32_t hold_count;
    size_t hold_cap;
};

struct grown_var {
    uint32_t at, bits; /* among the rest, among the sets, plus 1 */
    uint32_t seen_by;  /* whose access was the last, plus 1 ... */
    uint64_t seen_at;  /* ... and how many of its thread's events were told with it */
    uint32_t next;     /* variable of the same block, plus 1 */
    uint32_t user;     /* a thread that uses it, plus 1 */
    bool several, reads, writes, tracked;
    bool wrote, chained, gone;
};

struct grown_lock {
    uint32_t bits, open;
    uint32_t user; /* a thread that uses it, plus 1 */
    bool tracked;
};

/* Bytes of a state, from 0 to cap: those that were given back, and those that nobody had yet. */
struct room {
    uint32_t used, cap;
    uint32_t *free, free_count;
    size_t free_cap;
};

/* After the present event. */
struct given_back {
    enum { BACK_SET, BACK_REST, BACK_HOLDER } kind;
    uint32_t what;
};

struct sliced_grow {
    uint32_t slices;
    struct sliced_shared *shared;
    const struct pt_names *names;
    struct grown_thread *threads;
    struct grown_var *vars;
    struct grown_lock *locks;
    uint32_t *others, *blocks; /* plus 1: where; the first variable */
    size_t thread_cap, var_cap, lock_cap, other_cap, block_cap;
    struct room sets, pairs, rest; /* `pairs` are of the sets, two at a time, and only such that were given back */
    struct owner {
        uint32_t thread, lock;
        bool shared;
    } * owners; /* of the layout's holders */
    size_t owner_cap;
    struct given_back *back;
    uint32_t back_count;
    size_t back_cap;
    uint64_t number;
};

void sliced_grow_init(struct sliced_layout *layout, uint32_t slices, struct sliced_shared *shared,
                      const struct pt_names *names)
{
    struct sliced_grow *g = layout->grow = pt_xcalloc(1, sizeof *g);
    g->slices = slices;
    g->shared = shared;
    g->names = names;
    g->sets.cap = layout->bits = FIRST_SETS;
    g->rest.cap = FIRST_REST;
    layout->bytes = FIRST_SETS + FIRST_REST;
}

void sliced_grow_release(struct sliced_layout *layout)
{
    struct sliced_grow *g = layout->grow;
    if (!g)
        return;
    for (size_t t = 0; t < g->thread_cap; t++)
        free(g->threads[t].holds);
    free(g->threads);
    free(g->vars);
    free(g->locks);
    free(g->others);
    free(g->blocks);
    free(g->sets.free);
    free(g->pairs.free);
    free(g->rest.free);
    free(g->owners);
    free(g->back);
    free(g);
    layout->grow = NULL;
}

size_t sliced_grow_bytes(const struct sliced_layout *layout)
{
    const struct sliced_grow *g = layout->grow;
    if (!g)
        return 0;
    return g->thread_cap * (sizeof *g->threads + sizeof *g->threads->holds) + g->var_cap * sizeof *g->vars +
           g->lock_cap * sizeof *g->locks + (g->other_cap + g->block_cap) * sizeof *g->others +
           (g->sets.free_cap + g->pairs.free_cap + g->rest.free_cap) * sizeof *g->sets.free +
           g->owner_cap * sizeof *g->owners + g->back_cap * sizeof *g->back;
}

/* ---- room ---- */

static uint32_t take(struct room *room)
{
    return room->free_count ? room->free[--room->free_count] : room->used++;
}

static void give(struct room *room, uint32_t at)
{
    PT_PUSH(room->free, room->free_count, room->free_cap, at);
}

static uint32_t left(const struct room *room)
{
    return room->cap - room->used + room->free_count;
}

/* Two bytes next to each other. */
static uint32_t take_pair(struct sliced_grow *g)
{
    if (g->pairs.free_count)
        return take(&g->pairs);
    g->sets.used += 2;
    return g->sets.used - 2;
}

static bool lacks_sets(const struct sliced_grow *g)
{
    bool pair = g->pairs.free_count || g->sets.cap - g->sets.used >= MOST_SETS;
    return !pair || left(&g->sets) < MOST_SETS;
}

bool sliced_grow_is_tight(const struct sliced_layout *layout)
{
    const struct sliced_grow *g = layout->grow;
    return lacks_sets(g) || left(&g->rest) < MOST_REST;
}

bool sliced_grow_widen(struct sliced_layout *layout)
{
    struct sliced_grow *g = layout->grow;
    uint32_t before = layout->bytes;
    if (lacks_sets(g) || left(&g->sets) < g->sets.cap / 4) { /* so that it is not swept all the time */
        for (uint32_t i = 0; i < layout->holder_count; i++)
            layout->holders[i].at += g->sets.cap;
        g->sets.cap *= 2;
    }
    if (left(&g->rest) < g->rest.cap / 4)
        g->rest.cap *= 2;
    layout->bits = g->sets.cap;
    layout->bytes = g->sets.cap + g->rest.cap;
    return layout->bytes != before;
}

void sliced_grow_sweep(struct sliced_layout *layout, const uint8_t *any)
{
    struct sliced_grow *g = layout->grow;
    const uint8_t *rest = any + layout->bits;
    for (size_t t = 0; t < g->thread_cap; t++)
        if (g->threads[t].at && !any[g->threads[t].at - 1]) {
            give(&g->sets, g->threads[t].at - 1);
            g->threads[t].at = 0;
        }
    for (size_t v = 0; v < g->var_cap; v++)
        if (g->vars[v].at && !any[g->vars[v].bits - 1] && !rest[g->vars[v].at - 1]) {
            give(&g->sets, g->vars[v].bits - 1);
            give(&g->rest, g->vars[v].at - 1);
            g->vars[v].at = g->vars[v].bits = 0;
        }
    for (size_t l = 0; l < g->lock_cap; l++)
        if (g->locks[l].bits && !g->locks[l].open && !any[g->locks[l].bits - 1] && !any[g->locks[l].bits]) {
            give(&g->pairs, g->locks[l].bits - 1);
            g->locks[l].bits = 0;
        }
    for (size_t o = 0; o < g->other_cap; o++)
        if (g->others[o] && !any[g->others[o] - 1]) {
            give(&g->sets, g->others[o] - 1);
            g->others[o] = 0;
        }
}

/* ---- what was given back ---- */

static struct hold *hold_of(const struct sliced_grow *g, uint32_t thread, uint32_t lock, bool shared)
{
    struct grown_thread *t = &g->threads[thread];
    for (uint32_t i = 0; i < t->hold_count; i++)
        if (t->holds[i].lock == lock && t->holds[i].shared == shared)
            return &t->holds[i];
    return NULL;
}

/* The last holder takes its place. */
static void forget_holder(struct sliced_layout *layout, uint32_t holder)
{
    struct sliced_grow *g = layout->grow;
    give(&g->rest, layout->holders[holder].at - layout->bits);
    g->locks[g->owners[holder].lock].open--;
    uint32_t last = --layout->holder_count;
    if (holder == last)
        return;
    layout->holders[holder] = layout->holders[last];
    g->owners[holder] = g->owners[last];
    const struct owner *owner = &g->owners[holder];
    struct hold *hold = hold_of(g, owner->thread, owner->lock, owner->shared);
    if (hold)
        hold->holder = holder;
}

static int from_the_last(const void *a, const void *b)
{
    const struct given_back *x = a, *y = b;
    return x->what < y->what ? 1 : x->what > y->what ? -1 : 0;
}

/* What the last event has ended. Holders go from the last one on, so that none is moved that goes, too. */
static void settle(struct sliced_layout *layout)
{
    struct sliced_grow *g = layout->grow;
    if (g->back_count > 1)
        qsort(g->back, g->back_count, sizeof *g->back, from_the_last);
    for (uint32_t i = 0; i < g->back_count; i++) {
        const struct given_back *back = &g->back[i];
        if (back->kind == BACK_HOLDER)
            forget_holder(layout, back->what);
        else
            give(back->kind == BACK_SET ? &g->sets : &g->rest, back->what);
    }
    g->back_count = 0;
}

static void give_back(struct sliced_grow *g, unsigned kind, uint32_t what)
{
    struct given_back back = {.kind = kind, .what = what};
    PT_PUSH(g->back, g->back_count, g->back_cap, back);
}

static void end(struct sliced_layout *layout, uint32_t at, uint32_t bits, unsigned kind)
{
    struct sliced_end end = {.at = at, .bits = bits, .kind = kind};
    PT_PUSH(layout->ends, layout->end_count, layout->end_cap, end);
}

/* ---- events ---- */

static uint32_t thread_at(struct sliced_grow *g, uint32_t thread)
{
    PT_ROOM(g->threads, g->thread_cap, thread);
    if (!g->threads[thread].at)
        g->threads[thread].at = take(&g->sets) + 1;
    return g->threads[thread].at - 1;
}

/* A variable whose name begins with that of a block of memory ends with it. */
static void chain(struct sliced_grow *g, uint32_t var)
{
    const char *name = pt_name(g->names, PT_SPACE_VAR, var), *plus = strrchr(name, '+');
    size_t len = plus ? (size_t)(plus - name) : strlen(name);
    uint32_t block = pt_strtab_find(&g->names->space[PT_SPACE_HEAP], name, len);
    g->vars[var].chained = true;
    if (block == PT_NONE)
        return;
    PT_ROOM(g->blocks, g->block_cap, block);
    g->vars[var].next = g->blocks[block];
    g->blocks[block] = var + 1;
}

/* Whether what is used for the first time has a piece. */
static bool is_eager(const struct sliced_grow *g, const bool *known, size_t cap, uint32_t id)
{
    return !g->slices || g->shared->all || g->number > EAGER || (id < cap && known[id]);
}

/* Whether the variable has a piece; if it should have had one from the beginning, the layout says so. */
static bool is_tracked(struct sliced_layout *layout, const struct pt_recorded *e, enum wide_kind kind)
{
    struct sliced_grow *g = layout->grow;
    struct sliced_shared *shared = g->shared;
    struct grown_var *var = &g->vars[e->object];
    if (!var->user)
        var->tracked = is_eager(g, shared->vars, shared->var_cap, e->object);
    var->several |= var->user && var->user != e->thread + 1;
    var->user = e->thread + 1;
    var->reads |= kind != WIDE_WRITE;
    var->writes |= kind != WIDE_READ;
    if (!var->tracked && var->several && var->reads && var->writes) {
        PT_ROOM(shared->vars, shared->var_cap, e->object);
        shared->vars[e->object] = layout->shares = true;
    }
    return var->tracked;
}

static bool tell_access(struct sliced_layout *layout, const struct pt_recorded *e, bool visible,
                        struct sliced_event *event)
{
    struct sliced_grow *g = layout->grow;
    PT_ROOM(g->vars, g->var_cap, e->object);
    struct grown_var *var = &g->vars[e->object];
    uint64_t told = g->threads[e->thread].told;
    if (!is_tracked(layout, e, event->kind))
        return false;
    if (var->gone)
        layout->refuses = "memory is used after it was freed";
    bool repeats = var->seen_by == e->thread + 1 && var->seen_at == told && !visible &&
                   (event->kind == WIDE_READ || (!g->slices && event->kind == WIDE_WRITE && var->wrote));
    bool idle = !g->slices && event->kind == WIDE_READ && !var->at;
    if (var->gone || repeats || idle) {
        var->seen_by = repeats ? var->seen_by : 0;
        return false;
    }
    if (!var->chained)
        chain(g, e->object);
    if (!var->at) {
        var->at = take(&g->rest) + 1;
        var->bits = take(&g->sets) + 1;
    }
    var->seen_by = e->thread + 1;
    var->seen_at = told + 1;
    var->wrote = event->kind != WIDE_READ;
    event->object = layout->bits + var->at - 1;
    event->bits = var->bits - 1;
    return true;
}

static void release_hold(struct sliced_layout *layout, const struct hold *hold)
{
    give_back(layout->grow, BACK_HOLDER, hold->holder); /* it is 0 after this event */
}

/* As is_tracked, of a lock. */
static struct grown_lock *lock_of(struct sliced_layout *layout, const struct pt_recorded *e)
{
    struct sliced_grow *g = layout->grow;
    struct sliced_shared *shared = g->shared;
    PT_ROOM(g->locks, g->lock_cap, e->object);
    struct grown_lock *lock = &g->locks[e->object];
    if (!lock->user)
        lock->tracked = is_eager(g, shared->locks, shared->lock_cap, e->object);
    if (!lock->tracked && lock->user && lock->user != e->thread + 1) {
        PT_ROOM(shared->locks, shared->lock_cap, e->object);
        shared->locks[e->object] = layout->shares = true;
    }
    lock->user = e->thread + 1;
    return lock;
}

static bool tell_acquire(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    struct sliced_grow *g = layout->grow;
    struct grown_thread *self = &g->threads[e->thread];
    bool shared = pt_op_is_shared(e->op);
    struct hold *known = hold_of(g, e->thread, e->object, shared);
    if (known) {
        known->depth++;
        return false;
    }
    struct hold hold = {.lock = e->object, .depth = 1, .holder = layout->holder_count, .shared = shared};
    struct grown_lock *lock = lock_of(layout, e);
    if (!lock->tracked) {
        hold.holder = PT_NONE;
        PT_PUSH(self->holds, self->hold_count, self->hold_cap, hold);
        return false;
    }
    if (hold_of(g, e->thread, e->object, !shared))
        layout->refuses = SLICED_MIXED;
    if (!lock->bits)
        lock->bits = take_pair(g) + 1;
    lock->open++;
    struct sliced_holder holder = {
        .at = layout->bits + take(&g->rest), .lock = lock->bits - 1, .number = hold.holder, .shared = shared};
    PT_GROW(g->owners, g->owner_cap, (size_t)hold.holder + 1);
    g->owners[hold.holder] = (struct owner){e->thread, e->object, shared};
    PT_PUSH(layout->holders, layout->holder_count, layout->holder_cap, holder);
    PT_PUSH(self->holds, self->hold_count, self->hold_cap, hold);
    event->holder = hold.holder;
    event->object = holder.lock;
    return true;
}

static bool tell_release(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    struct grown_thread *self = &layout->grow->threads[e->thread];
    struct hold *hold = hold_of(layout->grow, e->thread, e->object, pt_op_is_shared(e->op));
    if (!hold || --hold->depth)
        return false;
    bool tracked = hold->holder != PT_NONE;
    if (tracked) {
        event->holder = hold->holder;
        event->object = layout->holders[hold->holder].lock;
        release_hold(layout, hold);
    }
    *hold = self->holds[--self->hold_count];
    return tracked;
}

/* The thread and all that it has locked are gone, whatever becomes of the join. */
static void tell_join(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    struct sliced_grow *g = layout->grow;
    event->object = thread_at(g, e->object);
    struct grown_thread *child = &g->threads[e->object];
    for (uint32_t i = 0; i < child->hold_count; i++) {
        if (child->holds[i].holder == PT_NONE)
            continue;
        PT_PUSH(layout->helds, layout->held_count, layout->held_cap, child->holds[i].holder);
        release_hold(layout, &child->holds[i]);
    }
    end(layout, event->object, 0, SLICED_END_SLICE);
    give_back(g, BACK_SET, event->object);
    child->at = 0;
    child->hold_count = 0;
    child->hold_cap = 0;
    free(child->holds);
    child->holds = NULL;
}

static bool tell_free(struct sliced_layout *layout, const struct pt_recorded *e)
{
    struct sliced_grow *g = layout->grow;
    uint32_t before = layout->end_count;
    for (uint32_t next = e->object < g->block_cap ? g->blocks[e->object] : 0; next; next = g->vars[next - 1].next) {
        struct grown_var *var = &g->vars[next - 1];
        var->gone = true;
        if (!var->at)
            continue;
        end(layout, layout->bits + var->at - 1, var->bits - 1, SLICED_END_VARIABLE);
        give_back(g, BACK_REST, var->at - 1);
        give_back(g, BACK_SET, var->bits - 1);
        var->at = var->bits = 0;
    }
    return layout->end_count > before;
}

static bool tell_other(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    struct sliced_grow *g = layout->grow;
    event->forks = e->op == PT_OP_FORK;
    event->chains = sliced_is_other(e);
    if (e->op == PT_OP_FREE)
        return tell_free(layout, e);
    if (event->forks)
        event->object = thread_at(g, e->object);
    if (!event->chains)
        return event->forks;
    PT_ROOM(g->others, g->other_cap, e->object);
    if (!g->others[e->object])
        g->others[e->object] = take(&g->sets) + 1;
    event->object = g->others[e->object] - 1;
    return true;
}

static bool tell(struct sliced_layout *layout, const struct pt_recorded *e, bool visible, struct sliced_event *event)
{
    switch (event->kind) {
    case WIDE_READ:
    case WIDE_WRITE:
    case WIDE_UPDATE:
        return tell_access(layout, e, visible, event);
    case WIDE_ACQ:
    case WIDE_RACQ:
        return tell_acquire(layout, e, event);
    case WIDE_REL:
    case WIDE_RREL:
        return tell_release(layout, e, event);
    case WIDE_JOIN:
        tell_join(layout, e, event);
        return true;
    default:
        return tell_other(layout, e, event);
    }
}

bool sliced_grow_tell(struct sliced_layout *layout, const struct pt_recorded *e, bool visible,
                      struct sliced_event *ret_event)
{
    struct sliced_grow *g = layout->grow;
    settle(layout);
    layout->end_count = layout->held_count = 0;
    PT_ROOM(g->threads, g->thread_cap, e->thread);
    struct sliced_event event = {.place = g->number++,
                                 .kind = (uint8_t)sliced_kind_of(e),
                                 .object = PT_NONE,
                                 .letter = PT_NONE,
                                 .column = e->thread};
    bool told = tell(layout, e, visible, &event);
    if (layout->refuses || layout->shares || !(told || visible))
        return false;
    event.thread = thread_at(g, e->thread);
    event.end_at = layout->end_count;
    event.held_at = layout->held_count;
    g->threads[e->thread].told++;
    *ret_event = event;
    return true;
}
