/*
 * Possible runs, played by the definition.
 *
 * Guarantee: an event is accepted only if contract section 3 lets it happen after those before it. The recorded run and
 * all its beginnings are accepted in every order, and what is accepted in one order is accepted in the wider ones.
 *
 * Cost: one look at the whole recording for what its reads saw, then constant expected time per event of the run, and
 * for an exclusive acquisition the number of threads that have the lock.
 */
#include "order/possible.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

/* What the recorded run says about one event. Places are plus 1; 0: none. */
struct fact {
    uint64_t index;  /* among the events of its thread, from 1 */
    uint64_t writer; /* the last write of its variable before it */
    uint64_t before; /* how many operations on its object that it conflicts with are recorded before it */
};

struct thread {
    uint64_t count, fork; /* its events, and the place of its fork, in the recording */
    uint64_t taken;       /* events of it in the run */
    bool forked, joined;  /* in the run */
};

/* Operations on a variable, a lock or another object; `strong` ones write it, or lock it exclusively. */
struct object {
    uint64_t all, strong;             /* recorded so far, while the recording is read */
    uint64_t write;                   /* the last write, while the recording is read */
    uint64_t all_taken, strong_taken; /* in the run */
    uint64_t last_taken, last_strong; /* the latest place, in recorded order, of one in the run */
    uint64_t written;                 /* of a variable: its last write in the run */
    uint32_t *holders;                /* of a lock: threads that have it, exclusively or shared */
    uint32_t holder_count;
    size_t holder_cap;
};

struct player {
    const struct pt_recording *recording;
    enum pt_possible order;
    struct fact *facts;
    struct thread *threads;
    size_t thread_cap;
    struct object *objects[PT_SPACE_COUNT];
    size_t object_cap[PT_SPACE_COUNT];
    struct pt_map64 exclusive, shared; /* how often a thread has a lock, by both */
    const char *why;
};

static struct thread *thread_at(struct player *p, uint32_t id)
{
    size_t old = p->thread_cap;
    PT_GROW(p->threads, p->thread_cap, (size_t)id + 1);
    for (size_t i = old; i < p->thread_cap; i++)
        p->threads[i] = (struct thread){0};
    return &p->threads[id];
}

static struct object *object_at(struct player *p, const struct pt_recorded *e)
{
    enum pt_space space = pt_op_space(e->op);
    size_t old = p->object_cap[space];
    PT_GROW(p->objects[space], p->object_cap[space], (size_t)e->object + 1);
    for (size_t i = old; i < p->object_cap[space]; i++)
        p->objects[space][i] = (struct object){0};
    return &p->objects[space][e->object];
}

/* How often a thread has a lock. */
static uint32_t *held(struct pt_map64 *map, uint32_t thread, uint32_t lock)
{
    uint32_t *depth = pt_map64_at(map, (uint64_t)thread << 32 | lock);
    if (*depth == PT_NONE)
        *depth = 0;
    return depth;
}

static void read_recording(struct player *p)
{
    for (uint64_t i = 0; i < p->recording->count; i++) {
        const struct pt_recorded *e = &p->recording->events[i];
        p->facts[i].index = ++thread_at(p, e->thread)->count;
        if (e->op == PT_OP_FORK)
            thread_at(p, e->object)->fork = i + 1;
        if (e->op == PT_OP_JOIN)
            (void)thread_at(p, e->object);
        if (!pt_op_accesses(e->op))
            continue;
        struct object *o = object_at(p, e);
        p->facts[i].writer = o->write;
        p->facts[i].before = pt_op_writes(e->op) ? o->all : o->strong;
        o->all++;
        o->strong += pt_op_writes(e->op);
        if (pt_op_writes(e->op))
            o->write = i + 1;
    }
}

/* What a variable has after the write at that place, from 1; 0: at the beginning. */
static struct pt_value left_by(const struct player *p, uint32_t var, uint64_t write)
{
    const struct pt_recording *r = p->recording;
    if (!write)
        return var < r->initial_count ? r->initial[var] : pt_value_int(0);
    const struct pt_recorded *e = &r->events[write - 1];
    return e->partial ? (struct pt_value){0} : e->value;
}

/* May the read see any write of its value? Otherwise only the one it saw. */
static bool is_free(const struct player *p, uint64_t place)
{
    const struct pt_recorded *e = &p->recording->events[place];
    return p->order == PT_POSSIBLE_VALUES && e->op == PT_OP_READ && !e->partial && e->value.kind != PT_VALUE_UNKNOWN &&
           pt_value_same(e->value, left_by(p, e->object, p->facts[place].writer));
}

static bool reads_rightly(struct player *p, uint64_t place, const struct object *o)
{
    const struct pt_recorded *e = &p->recording->events[place];
    if (!pt_op_reads(e->op) && !e->partial)
        return true;
    if (is_free(p, place))
        return pt_value_same(e->value, left_by(p, e->object, o->written));
    return o->written == p->facts[place].writer;
}

/* Contract: what conflicts and is in the run keeps its order (sync), and all of it is there (access). */
static bool keeps_order(const struct player *p, uint64_t place, const struct object *o)
{
    bool strong = pt_op_writes(p->recording->events[place].op);
    if (p->order == PT_POSSIBLE_VALUES)
        return true;
    if ((strong ? o->last_taken : o->last_strong) > place)
        return false;
    return p->order == PT_POSSIBLE_SYNC || (strong ? o->all_taken : o->strong_taken) == p->facts[place].before;
}

/* Does another thread's hold exclude this acquisition? */
static bool is_locked(struct player *p, const struct pt_recorded *e, const struct object *o)
{
    for (uint32_t i = 0; i < o->holder_count; i++) {
        uint32_t other = o->holders[i];
        if (other == e->thread || p->threads[other].joined)
            continue;
        if (e->op == PT_OP_ACQ || *held(&p->exclusive, other, e->object))
            return true;
    }
    return false;
}

static bool may_happen(struct player *p, uint64_t place)
{
    const struct pt_recorded *e = &p->recording->events[place];
    const struct thread *self = thread_at(p, e->thread);
    p->why = "it is not the next event of its thread";
    if (p->facts[place].index != self->taken + 1)
        return false;
    p->why = "its thread has not been forked yet";
    if (self->fork && !self->forked)
        return false;
    if (e->op == PT_OP_JOIN) {
        const struct thread *child = thread_at(p, e->object);
        p->why = "the thread that it joins has not ended yet";
        return child->taken == child->count && (!child->fork || child->forked);
    }
    if (!pt_op_accesses(e->op))
        return true;
    const struct object *o = object_at(p, e);
    switch (pt_op_space(e->op)) {
    case PT_SPACE_LOCK:
        p->why = "another thread has the lock";
        if (pt_op_locks(e->op) && is_locked(p, e, o))
            return false;
        p->why = "operations on its lock would change their order";
        return keeps_order(p, place, o);
    case PT_SPACE_VAR:
        p->why = "it would read something else";
        if (!reads_rightly(p, place, o))
            return false;
        p->why = "accesses of its variable would change their order";
        return keeps_order(p, place, o);
    default: /* wait, notify, sync: each needs all before it */
        p->why = "an operation on its object that comes before it has not happened yet";
        return o->all_taken == p->facts[place].before && o->last_taken <= place;
    }
}

static void lock_changes(struct player *p, const struct pt_recorded *e, struct object *o)
{
    bool shared = pt_op_is_shared(e->op);
    uint32_t *depth = held(shared ? &p->shared : &p->exclusive, e->thread, e->object);
    if (pt_op_locks(e->op))
        (*depth)++;
    else
        *depth -= *depth > 0;
    bool has = *held(&p->shared, e->thread, e->object) || *held(&p->exclusive, e->thread, e->object);
    uint32_t at = 0;
    while (at < o->holder_count && o->holders[at] != e->thread)
        at++;
    if (has && at == o->holder_count)
        PT_PUSH(o->holders, o->holder_count, o->holder_cap, e->thread);
    else if (!has && at < o->holder_count)
        o->holders[at] = o->holders[--o->holder_count];
}

static void happen(struct player *p, uint64_t place)
{
    const struct pt_recorded *e = &p->recording->events[place];
    thread_at(p, e->thread)->taken++;
    if (e->op == PT_OP_FORK)
        thread_at(p, e->object)->forked = true;
    if (e->op == PT_OP_JOIN)
        thread_at(p, e->object)->joined = true;
    if (!pt_op_accesses(e->op))
        return;
    struct object *o = object_at(p, e);
    bool strong = pt_op_writes(e->op);
    o->all_taken++;
    o->strong_taken += strong;
    if (o->last_taken < place + 1)
        o->last_taken = place + 1;
    if (strong && o->last_strong < place + 1)
        o->last_strong = place + 1;
    if (strong)
        o->written = place + 1;
    if (pt_op_space(e->op) == PT_SPACE_LOCK)
        lock_changes(p, e, o);
}

static void release(struct player *p)
{
    for (int s = 0; s < PT_SPACE_COUNT; s++) {
        for (size_t i = 0; i < p->object_cap[s]; i++)
            free(p->objects[s][i].holders);
        free(p->objects[s]);
    }
    pt_map64_release(&p->exclusive);
    pt_map64_release(&p->shared);
    free(p->facts);
    free(p->threads);
}

uint64_t pt_possible_play(const struct pt_recording *recording, enum pt_possible order, const uint64_t *run,
                          uint64_t count, const char **ret_why)
{
    struct player p = {.recording = recording, .order = order};
    p.facts = pt_xcalloc(recording->count + 1, sizeof *p.facts);
    pt_map64_init(&p.exclusive);
    pt_map64_init(&p.shared);
    read_recording(&p);
    uint64_t done = 0;
    while (done < count && run[done] < recording->count && may_happen(&p, run[done]))
        happen(&p, run[done++]);
    if (ret_why)
        *ret_why = done == count ? NULL : run[done] >= recording->count ? "it was never recorded" : p.why;
    release(&p);
    return done;
}
