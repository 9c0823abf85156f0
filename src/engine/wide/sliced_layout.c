/*
 * Where a state keeps what events touch: of a thread the slice that it is in; of a variable that one thread reads and
 * another writes, and of a lock, what sliced_step.c says; of other objects the slice of the last operation. Sets
 * come first, of which less allows more, and slices of threads and objects are such sets, too; the rest comes after
 * them.
 *
 * The events are gone through twice, and more often if somebody likes, always in recorded order and one at a time: a
 * survey finds who uses what, and which event is the last to touch it; then each event is told with where its pieces
 * are. After an event the pieces that no later one touches are marked as ended, so that states which differ in nothing
 * else become one. Left out is what changes nothing but its thread's slice: accesses of variables that are no two
 * threads' or are not both read and written, and operations on a lock that one thread uses or has already. None of them
 * waits for anything and nothing waits for them, so each may happen just before the next event of its thread that is
 * told; a thread's last one is, since somebody may wait for that.
 *
 * Cost: constant expected time per event; memory for threads, variables, locks and objects, not for events.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/sliced_impl.h"

struct use {
    uint32_t user; /* a thread that uses it, plus 1 */
    bool several, writes, reads, mixed;
    uint32_t at, bits;        /* in a state, plus 1; 0: nowhere */
    uint64_t last, last_read; /* numbers of events, from 1 */
};

struct lay_thread {
    uint32_t at; /* in a state, plus 1 */
    bool known;
    uint64_t last, last_own;
    struct wide_held *held; /* that it has now */
    uint32_t held_count;
    size_t held_cap;
};

struct sliced_survey {
    struct lay_thread *threads;
    struct use *vars, *locks, *others;
    size_t thread_cap, var_cap, lock_cap, other_cap;
    struct pt_map64 depth;   /* of a thread and a lock, each way: how often it has it */
    struct pt_map64 holders; /* the same: the number of the holder */
    struct sliced_holder *candidates;
    uint32_t *candidate_locks;
    uint32_t candidate_count;
    size_t candidate_cap, candidate_lock_cap;
    uint64_t number; /* of the present event */
};

void sliced_layout_init(struct sliced_layout *layout)
{
    *layout = (struct sliced_layout){.survey = pt_xcalloc(1, sizeof *layout->survey)};
    pt_map64_init(&layout->survey->depth);
    pt_map64_init(&layout->survey->holders);
}

void sliced_layout_release(struct sliced_layout *layout)
{
    struct sliced_survey *s = layout->survey;
    for (size_t t = 0; t < s->thread_cap; t++)
        free(s->threads[t].held);
    free(s->threads);
    free(s->vars);
    free(s->locks);
    free(s->others);
    free(s->candidates);
    free(s->candidate_locks);
    pt_map64_release(&s->depth);
    pt_map64_release(&s->holders);
    free(s);
    free(layout->holders);
    free(layout->ends);
    free(layout->helds);
    sliced_grow_release(layout);
}

size_t sliced_layout_bytes(const struct sliced_layout *layout)
{
    const struct sliced_survey *s = layout->survey;
    return s->thread_cap * sizeof *s->threads + (s->var_cap + s->lock_cap + s->other_cap) * sizeof *s->vars +
           pt_map64_bytes(&s->depth) + pt_map64_bytes(&s->holders) +
           (s->candidate_cap + layout->holder_cap) * sizeof *s->candidates + layout->end_cap * sizeof *layout->ends +
           layout->held_cap * sizeof *layout->helds + sliced_grow_bytes(layout);
}

/* ---- what an event is ---- */

static struct lay_thread *thread_of(struct sliced_survey *s, uint32_t thread)
{
    PT_ROOM(s->threads, s->thread_cap, thread);
    s->threads[thread].known = true;
    return &s->threads[thread];
}

enum wide_kind sliced_kind_of(const struct pt_recorded *e)
{
    if (e->op == PT_OP_JOIN)
        return WIDE_JOIN;
    if (!pt_op_accesses(e->op))
        return WIDE_OTHER;
    if (pt_op_space(e->op) == PT_SPACE_VAR) /* a write of a part keeps the rest */
        return !pt_op_writes(e->op) ? WIDE_READ : pt_op_reads(e->op) || e->partial ? WIDE_UPDATE : WIDE_WRITE;
    if (pt_op_space(e->op) != PT_SPACE_LOCK)
        return WIDE_OTHER;
    bool shared = pt_op_is_shared(e->op);
    return pt_op_locks(e->op) ? (shared ? WIDE_RACQ : WIDE_ACQ) : shared ? WIDE_RREL : WIDE_REL;
}

static bool is_access(enum wide_kind kind)
{
    return kind == WIDE_READ || kind == WIDE_WRITE || kind == WIDE_UPDATE;
}

static bool is_lock(enum wide_kind kind)
{
    return kind == WIDE_ACQ || kind == WIDE_RACQ || kind == WIDE_REL || kind == WIDE_RREL;
}

bool sliced_is_other(const struct pt_recorded *e)
{
    return pt_op_space(e->op) == PT_SPACE_OTHER && pt_op_accesses(e->op);
}

static uint64_t hold_key(uint32_t thread, uint32_t lock, bool shared)
{
    return (uint64_t)thread << 33 | (uint64_t)lock << 1 | shared;
}

/* Whether the operation changes who has the lock; the thread has it, or not any more, from now on. */
static bool follow_lock(struct sliced_survey *s, const struct pt_recorded *e, bool *ret_mixed)
{
    struct lay_thread *self = &s->threads[e->thread];
    bool shared = pt_op_is_shared(e->op);
    uint32_t *depth = pt_map64_at(&s->depth, hold_key(e->thread, e->object, shared));
    *depth = *depth == PT_NONE ? 0 : *depth;
    *ret_mixed = false;
    if (pt_op_locks(e->op)) {
        if ((*depth)++ > 0)
            return false;
        for (uint32_t i = 0; i < self->held_count; i++)
            *ret_mixed |= self->held[i].lock == e->object;
        PT_PUSH(self->held, self->held_count, self->held_cap, ((struct wide_held){e->object, 0, shared}));
        return true;
    }
    if (*depth == 0 || --*depth > 0) /* one that it does not have: nothing happens */
        return false;
    uint32_t at = 0;
    while (self->held[at].lock != e->object || self->held[at].shared != shared)
        at++;
    self->held[at] = self->held[--self->held_count];
    return true;
}

/* ---- the survey ---- */

static struct use *touch(struct use *use, uint32_t thread, uint64_t number)
{
    use->several |= use->user && use->user != thread + 1;
    use->user = thread + 1;
    use->last = number;
    return use;
}

static void survey_lock(struct sliced_survey *s, const struct pt_recorded *e)
{
    bool mixed, shared = pt_op_is_shared(e->op);
    PT_ROOM(s->locks, s->lock_cap, e->object);
    struct use *lock = &s->locks[e->object];
    uint64_t last = lock->last;
    bool changes = follow_lock(s, e, &mixed);
    touch(lock, e->thread, changes ? s->number : last);
    lock->mixed |= mixed;
    if (!changes || !pt_op_locks(e->op))
        return;
    uint32_t *known = pt_map64_at(&s->holders, hold_key(e->thread, e->object, shared));
    if (*known != PT_NONE)
        return;
    *known = s->candidate_count;
    PT_GROW(s->candidate_locks, s->candidate_lock_cap, (size_t)s->candidate_count + 1);
    s->candidate_locks[s->candidate_count] = e->object;
    struct sliced_holder holder = {.shared = shared};
    PT_PUSH(s->candidates, s->candidate_count, s->candidate_cap, holder);
}

void sliced_survey(struct sliced_layout *layout, const struct pt_recorded *e)
{
    struct sliced_survey *s = layout->survey;
    enum wide_kind kind = sliced_kind_of(e);
    struct lay_thread *self = thread_of(s, e->thread);
    self->last = self->last_own = ++s->number;
    if (is_access(kind)) {
        PT_ROOM(s->vars, s->var_cap, e->object);
        struct use *var = touch(&s->vars[e->object], e->thread, s->number);
        var->writes |= kind != WIDE_READ;
        var->reads |= kind != WIDE_WRITE;
        var->last_read = kind == WIDE_WRITE ? var->last_read : s->number;
    } else if (is_lock(kind)) {
        survey_lock(s, e);
    } else if (kind == WIDE_JOIN) {
        struct lay_thread *child = thread_of(s, e->object);
        child->last = s->number;
        for (uint32_t i = 0; i < child->held_count; i++)
            s->locks[child->held[i].lock].last = s->number;
    } else if (e->op == PT_OP_FORK) {
        thread_of(s, e->object)->last = s->number;
    } else if (sliced_is_other(e)) {
        PT_ROOM(s->others, s->other_cap, e->object);
        touch(&s->others[e->object], e->thread, s->number);
    }
}

/* Is there a read that other threads' writes could disturb? */
static bool is_shared(const struct use *var)
{
    return var->several && var->writes && var->reads;
}

/* Room for so many bytes in a state: where, plus 1. */
static uint32_t take_room(struct sliced_layout *layout, uint32_t bytes)
{
    layout->bytes += bytes;
    return layout->bytes - bytes + 1;
}

static void place_holders(struct sliced_layout *layout)
{
    struct sliced_survey *s = layout->survey;
    for (uint32_t i = 0; i < s->candidate_count; i++) {
        const struct use *lock = &s->locks[s->candidate_locks[i]];
        struct sliced_holder *holder = &s->candidates[i];
        holder->number = layout->holder_count;
        if (!lock->several)
            continue;
        holder->at = take_room(layout, 1) - 1;
        holder->lock = lock->bits - 1;
        PT_PUSH(layout->holders, layout->holder_count, layout->holder_cap, *holder);
    }
}

void sliced_survey_end(struct sliced_layout *layout)
{
    struct sliced_survey *s = layout->survey;
    for (size_t t = 0; t < s->thread_cap; t++)
        if (s->threads[t].known)
            s->threads[t].at = take_room(layout, 1);
    for (size_t v = 0; v < s->var_cap; v++)
        if (is_shared(&s->vars[v]))
            s->vars[v].bits = take_room(layout, 1);
    for (size_t l = 0; l < s->lock_cap; l++)
        if (s->locks[l].several) {
            s->locks[l].bits = take_room(layout, 2);
            if (s->locks[l].mixed)
                layout->refuses = SLICED_MIXED;
        }
    for (size_t o = 0; o < s->other_cap; o++)
        if (s->others[o].user)
            s->others[o].at = take_room(layout, 1);
    layout->bits = layout->bytes = (layout->bytes + 7) & ~7u;
    for (size_t v = 0; v < s->var_cap; v++)
        if (s->vars[v].bits)
            s->vars[v].at = take_room(layout, 1);
    place_holders(layout);
}

/* ---- the events ---- */

void sliced_rewind(struct sliced_layout *layout)
{
    struct sliced_survey *s = layout->survey;
    pt_map64_release(&s->depth);
    pt_map64_init(&s->depth);
    for (size_t t = 0; t < s->thread_cap; t++)
        s->threads[t].held_count = 0;
    s->number = 0;
    layout->end_count = layout->held_count = 0;
}

/* Whether the survey has seen what the event is about: of a file that is written to meanwhile it may have not. */
static bool is_known(const struct sliced_survey *s, const struct pt_recorded *e, enum wide_kind kind)
{
    bool thread = e->thread < s->thread_cap && s->threads[e->thread].at;
    if (is_access(kind))
        return thread && e->object < s->var_cap;
    if (is_lock(kind))
        return thread && e->object < s->lock_cap &&
               (!pt_op_locks(e->op) ||
                pt_map64_get(&s->holders, hold_key(e->thread, e->object, pt_op_is_shared(e->op))) != PT_NONE);
    if (pt_op_is_of_thread(e->op))
        return thread && e->object < s->thread_cap && s->threads[e->object].at;
    return thread && (!sliced_is_other(e) || (e->object < s->other_cap && s->others[e->object].at));
}

static uint32_t holder_number(const struct sliced_survey *s, uint32_t thread, uint32_t lock, bool shared)
{
    return s->candidates[pt_map64_get(&s->holders, hold_key(thread, lock, shared))].number;
}

static void end_of(struct sliced_layout *layout, uint64_t last, uint32_t at_plus_1, uint32_t bits_plus_1, unsigned kind)
{
    if (last != layout->survey->number)
        return;
    struct sliced_end end = {.at = at_plus_1 - 1, .bits = bits_plus_1 ? bits_plus_1 - 1 : 0, .kind = kind};
    PT_PUSH(layout->ends, layout->end_count, layout->end_cap, end);
}

static bool tell_access(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    const struct use *var = &layout->survey->vars[e->object];
    if (!var->at)
        return false;
    event->object = var->at - 1;
    event->bits = var->bits - 1;
    event->unread = event->kind == WIDE_WRITE && var->last_read < layout->survey->number;
    end_of(layout, var->last_read, var->at, var->bits, SLICED_END_READS);
    end_of(layout, var->last, var->at, var->bits, SLICED_END_VARIABLE);
    return true;
}

static bool tell_lock(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    struct sliced_survey *s = layout->survey;
    bool mixed, changes = follow_lock(s, e, &mixed);
    const struct use *lock = &s->locks[e->object];
    if (!changes || !lock->several)
        return false;
    event->holder = holder_number(s, e->thread, e->object, pt_op_is_shared(e->op));
    event->object = lock->bits - 1;
    end_of(layout, lock->last, lock->bits, 0, SLICED_END_LOCK);
    return true;
}

/* A thread that was joined has no lock. */
static void tell_join(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    struct sliced_survey *s = layout->survey;
    const struct lay_thread *child = &s->threads[e->object];
    event->object = child->at - 1;
    if (e->object != e->thread)
        end_of(layout, child->last, child->at, 0, SLICED_END_SLICE);
    for (uint32_t i = 0; i < child->held_count; i++) {
        const struct use *lock = &s->locks[child->held[i].lock];
        if (!lock->several)
            continue;
        uint32_t holder = holder_number(s, e->object, child->held[i].lock, child->held[i].shared);
        PT_PUSH(layout->helds, layout->held_count, layout->held_cap, holder);
        end_of(layout, lock->last, lock->bits, 0, SLICED_END_LOCK);
    }
}

static bool tell_other(struct sliced_layout *layout, const struct pt_recorded *e, struct sliced_event *event)
{
    const struct sliced_survey *s = layout->survey;
    event->forks = e->op == PT_OP_FORK;
    event->chains = sliced_is_other(e);
    if (!event->forks && !event->chains)
        return false;
    uint32_t at = event->forks ? s->threads[e->object].at : s->others[e->object].at;
    event->object = at - 1;
    if (!event->forks || e->object != e->thread)
        end_of(layout, event->forks ? s->threads[e->object].last : s->others[e->object].last, at, 0, SLICED_END_SLICE);
    return true;
}

bool sliced_tell(struct sliced_layout *layout, const struct pt_recorded *e, bool visible,
                 struct sliced_event *ret_event)
{
    struct sliced_survey *s = layout->survey;
    enum wide_kind kind = sliced_kind_of(e);
    uint64_t number = ++s->number;
    bool told = true;
    if (!is_known(s, e, kind)) {
        layout->refuses = SLICED_CHANGED;
        return false;
    }
    const struct lay_thread *self = &s->threads[e->thread];
    *ret_event = (struct sliced_event){.place = number - 1,
                                       .kind = (uint8_t)kind,
                                       .object = PT_NONE,
                                       .letter = PT_NONE,
                                       .column = e->thread,
                                       .thread = self->at - 1,
                                       .first_end = layout->end_count,
                                       .first_held = layout->held_count};
    end_of(layout, self->last, self->at, 0, SLICED_END_SLICE);
    if (is_access(kind))
        told = tell_access(layout, e, ret_event);
    else if (is_lock(kind))
        told = tell_lock(layout, e, ret_event);
    else if (kind == WIDE_JOIN)
        tell_join(layout, e, ret_event);
    else
        told = tell_other(layout, e, ret_event);
    ret_event->end_at = layout->end_count;
    ret_event->held_at = layout->held_count;
    return told || visible || pt_op_is_of_thread(e->op) || number == self->last_own;
}
