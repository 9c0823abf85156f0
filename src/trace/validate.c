/*
 * Which sequences of events are runs: per thread its first event, its fork and its join; per (lock, thread) how often
 * it is held, exclusively and shared; per lock how many threads hold it each way. A thread that was joined holds
 * nothing any more: a robust mutex goes from one that died to the next. A stack is defined once, before it is named.
 *
 * Exact, up to the first gap: what was lost there may have been any acquisition or release.
 *
 * Cost: constant expected time per event. Memory: a record per thread, one per lock held at present, and two counters
 * per lock.
 */
#include "trace/validate.h"

#include <stdlib.h>

/* Lines; 0: not yet. */
struct thread {
    uint64_t first, fork, join;
};

struct hold {
    uint32_t lock, thread;
    uint32_t exclusive, shared; /* both 0: the slot is free */
    uint64_t line;              /* of the first acquisition that lasts */
};

/* How many threads hold it. */
struct holders {
    uint32_t exclusive, shared;
};

struct pt_validator {
    char *label;
    const struct pt_names *names;
    struct thread *threads;
    size_t thread_cap;
    struct hold *holds; /* open addressing, linear probing, deletion by shifting back */
    uint32_t hold_mask, hold_count;
    struct holders *locks;
    size_t lock_cap;
    uint64_t *stacks; /* the line that defines each; 0: none yet */
    size_t stack_cap;
    bool gap; /* events are missing: an acquisition or a fork that was not seen may have been among them */
};

enum { FIRST_HOLDS = 64 };

struct pt_validator *pt_validator_new(const char *label, const struct pt_names *names)
{
    struct pt_validator *v = pt_xcalloc(1, sizeof *v);
    v->label = pt_xstrdup(label);
    v->names = names;
    v->hold_mask = FIRST_HOLDS - 1;
    v->holds = pt_xcalloc(FIRST_HOLDS, sizeof *v->holds);
    return v;
}

void pt_validator_free(struct pt_validator *v)
{
    if (!v)
        return;
    free(v->label);
    free(v->threads);
    free(v->holds);
    free(v->locks);
    free(v->stacks);
    free(v);
}

static struct thread *thread_at(struct pt_validator *v, uint32_t id)
{
    size_t old = v->thread_cap;
    if (id >= old) {
        PT_GROW(v->threads, v->thread_cap, (size_t)id + 1);
        for (size_t i = old; i < v->thread_cap; i++)
            v->threads[i] = (struct thread){0};
    }
    return &v->threads[id];
}

static struct holders *lock_at(struct pt_validator *v, uint32_t id)
{
    size_t old = v->lock_cap;
    if (id >= old) {
        PT_GROW(v->locks, v->lock_cap, (size_t)id + 1);
        for (size_t i = old; i < v->lock_cap; i++)
            v->locks[i] = (struct holders){0};
    }
    return &v->locks[id];
}

static bool is_free(const struct hold *hold)
{
    return hold->exclusive == 0 && hold->shared == 0;
}

static uint32_t home(const struct pt_validator *v, uint32_t lock, uint32_t thread)
{
    return (uint32_t)pt_mix64((uint64_t)lock << 32 | thread) & v->hold_mask;
}

/* The hold, or the free slot where it would be. */
static struct hold *find_hold(const struct pt_validator *v, uint32_t lock, uint32_t thread)
{
    for (uint32_t i = home(v, lock, thread);; i = (i + 1) & v->hold_mask) {
        struct hold *hold = &v->holds[i];
        if (is_free(hold) || (hold->lock == lock && hold->thread == thread))
            return hold;
    }
}

static void grow_holds(struct pt_validator *v)
{
    struct hold *old = v->holds;
    uint32_t old_mask = v->hold_mask;
    v->hold_mask = old_mask * 2 + 1;
    v->holds = pt_xcalloc((size_t)v->hold_mask + 1, sizeof *v->holds);
    for (uint32_t i = 0; i <= old_mask; i++)
        if (!is_free(&old[i]))
            *find_hold(v, old[i].lock, old[i].thread) = old[i];
    free(old);
}

/* Closes the gap that a hold leaves whose counts are 0 (Knuth, TAOCP 3, 6.4, algorithm R). */
static void remove_hold(struct pt_validator *v, struct hold *hold)
{
    uint32_t gap = (uint32_t)(hold - v->holds);
    v->hold_count--;
    for (uint32_t i = (gap + 1) & v->hold_mask; !is_free(&v->holds[i]); i = (i + 1) & v->hold_mask) {
        uint32_t from = home(v, v->holds[i].lock, v->holds[i].thread);
        if (((i - from) & v->hold_mask) >= ((i - gap) & v->hold_mask)) {
            v->holds[gap] = v->holds[i];
            v->holds[i] = (struct hold){0};
            gap = i;
        }
    }
}

static const char *thread_name(const struct pt_validator *v, uint32_t id)
{
    return pt_name(v->names, PT_SPACE_THREAD, id);
}

/* Takes all of a joined thread's holds of the lock away. */
static void abandon(struct pt_validator *v, struct hold *hold)
{
    struct holders *lock = lock_at(v, hold->lock);
    lock->exclusive -= hold->exclusive > 0;
    lock->shared -= hold->shared > 0;
    hold->exclusive = hold->shared = 0;
    remove_hold(v, hold);
}

/* Some other thread's hold that excludes this acquisition, or NULL. Looks through all holds: only where there is one,
 * or where a thread was joined with it. */
static const struct hold *find_conflict(struct pt_validator *v, const struct pt_event *event)
{
    for (uint32_t i = 0; i <= v->hold_mask; i++) {
        struct hold *hold = &v->holds[i];
        if (is_free(hold) || hold->lock != event->object || hold->thread == event->thread ||
            (event->op == PT_OP_RACQ && !hold->exclusive))
            continue;
        if (!v->threads[hold->thread].join)
            return hold;
        abandon(v, hold);
        i = UINT32_MAX; /* what stood behind it has moved: from the start */
    }
    return NULL;
}

static enum pt_status check_acquire(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    const struct holders *lock = lock_at(v, event->object);
    const struct hold *mine = find_hold(v, event->object, event->thread);
    uint32_t exclusive = lock->exclusive - (mine->exclusive > 0), shared = lock->shared - (mine->shared > 0);
    if (v->gap || (!exclusive && (!shared || event->op == PT_OP_RACQ)))
        return PT_OK;
    const struct hold *other = find_conflict(v, event);
    if (!other)
        return PT_OK;
    return pt_err_at(err, PT_EINPUT, v->label, event->line, 1,
                     "thread '%.80s' acquires lock '%.80s', which thread '%.80s' holds since line %llu",
                     thread_name(v, event->thread), pt_name(v->names, PT_SPACE_LOCK, event->object),
                     thread_name(v, other->thread), (unsigned long long)other->line);
}

static void acquire(struct pt_validator *v, const struct pt_event *event)
{
    struct holders *lock = lock_at(v, event->object);
    struct hold *hold = find_hold(v, event->object, event->thread);
    if (is_free(hold)) {
        if (v->hold_count > v->hold_mask / 2) {
            grow_holds(v);
            hold = find_hold(v, event->object, event->thread);
        }
        v->hold_count++;
        hold->lock = event->object;
        hold->thread = event->thread;
        hold->line = event->line;
    }
    if (event->op == PT_OP_ACQ)
        lock->exclusive += hold->exclusive++ == 0;
    else
        lock->shared += hold->shared++ == 0;
}

static enum pt_status release(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    struct hold *hold = find_hold(v, event->object, event->thread);
    bool exclusive = event->op == PT_OP_REL;
    uint32_t *mine = exclusive ? &hold->exclusive : &hold->shared;
    const char *thread = thread_name(v, event->thread), *lock = pt_name(v->names, PT_SPACE_LOCK, event->object);
    if (v->gap && *mine == 0)
        return PT_OK;
    if (is_free(hold))
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1,
                         "thread '%.80s' releases lock '%.80s', which it does not hold", thread, lock);
    if (*mine == 0)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1,
                         "thread '%.80s' holds lock '%.80s' by '%s' and must release it by '%s', not by '%s'", thread,
                         lock, exclusive ? "racq" : "acq", exclusive ? "rrel" : "rel", exclusive ? "rel" : "rrel");
    if (--*mine == 0)
        --*(exclusive ? &lock_at(v, event->object)->exclusive : &lock_at(v, event->object)->shared);
    if (is_free(hold))
        remove_hold(v, hold);
    return PT_OK;
}

static enum pt_status check_fork(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    struct thread *child = thread_at(v, event->object);
    const char *name = thread_name(v, event->object);
    if (event->object == event->thread)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "thread '%.80s' forks itself", name);
    if (child->fork)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "thread '%.80s' was already forked at line %llu",
                         name, (unsigned long long)child->fork);
    if (child->first)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1,
                         "thread '%.80s' is forked here but has acted before, first at line %llu", name,
                         (unsigned long long)child->first);
    child->fork = event->line;
    return PT_OK;
}

static enum pt_status check_join(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    struct thread *child = thread_at(v, event->object);
    const char *name = thread_name(v, event->object);
    if (event->object == event->thread)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "thread '%.80s' joins itself", name);
    if (!child->fork && !child->first && !v->gap)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1,
                         "thread '%.80s' is joined but was neither forked nor seen before", name);
    if (child->join)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "thread '%.80s' was already joined at line %llu",
                         name, (unsigned long long)child->join);
    child->join = event->line;
    return PT_OK;
}

static enum pt_status check_lost(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    if (event->value.kind != PT_VALUE_INT || event->value.i < 1)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "the value of 'lost' must be a number of events");
    v->gap = true;
    return PT_OK;
}

/* Everything else that a program does with its blocks can be: their use after their end, a second end, an end whose
 * beginning nobody saw. */
static enum pt_status check_alloc(const struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    bool unknown = event->value.kind == PT_VALUE_UNKNOWN;
    if (unknown || (event->value.kind == PT_VALUE_INT && event->value.i >= 0))
        return PT_OK;
    return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "the value of 'alloc' must be a number of bytes");
}

/* The line that defines a stack. */
static uint64_t *stack_at(struct pt_validator *v, uint32_t id)
{
    size_t old = v->stack_cap;
    if (id >= old) {
        PT_GROW(v->stacks, v->stack_cap, (size_t)id + 1);
        for (size_t i = old; i < v->stack_cap; i++)
            v->stacks[i] = 0;
    }
    return &v->stacks[id];
}

static enum pt_status define_stack(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    uint64_t *line = stack_at(v, event->object);
    if (*line)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "stack '%.80s' was already defined at line %llu",
                         pt_name(v->names, PT_SPACE_STACK, event->object), (unsigned long long)*line);
    *line = event->line;
    return PT_OK;
}

enum pt_status pt_validator_check(struct pt_validator *v, const struct pt_event *event, struct pt_err *err)
{
    if (event->op == PT_OP_LOST)
        return check_lost(v, event, err);
    if (event->op == PT_OP_STACK)
        return define_stack(v, event, err);
    if (event->stack && !*stack_at(v, event->stack - 1))
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1, "stack '%.80s' is not defined before this line",
                         pt_name(v->names, PT_SPACE_STACK, event->stack - 1));
    if (event->thread == PT_NONE)
        return PT_OK;
    struct thread *self = thread_at(v, event->thread);
    if (self->join)
        return pt_err_at(err, PT_EINPUT, v->label, event->line, 1,
                         "thread '%.80s' acts after it was joined at line %llu", thread_name(v, event->thread),
                         (unsigned long long)self->join);
    if (!self->first)
        self->first = event->line;
    switch (event->op) {
    case PT_OP_ACQ:
    case PT_OP_RACQ:
        if (check_acquire(v, event, err) != PT_OK)
            return PT_EINPUT;
        acquire(v, event);
        return PT_OK;
    case PT_OP_REL:
    case PT_OP_RREL:
        return release(v, event, err);
    case PT_OP_FORK:
        return check_fork(v, event, err);
    case PT_OP_JOIN:
        return check_join(v, event, err);
    case PT_OP_ALLOC:
        return check_alloc(v, event, err);
    default:
        return PT_OK;
    }
}
