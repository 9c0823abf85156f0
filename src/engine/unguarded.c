/*
 * One pass over the run. A thread's time is cut where it forks and where it is joined: its *phases*. An access is known
 * by its phase, and comes before all of another thread's accesses that follow that phase by forks and joins. Of each
 * variable and thread the latest phase of reads and of writes is kept, with the locks that all of them have had; older
 * phases are forgotten, since whoever is not after them is not after the latest one either.
 *
 * Guarantee: a variable that is called shared has two such accesses. One that is not may have them where the older
 * phase of a thread had fewer locks, or where both have a lock as readers: then `confirm` holds threads less tightly.
 * Cost: per access the threads that have accessed its variable.
 */
#include "engine/unguarded.h"

#include <stdlib.h>
#include <string.h>

enum { LOCKS = 4, READ = 0, WRITE = 1 };

/* Locks that a thread has, or that all of some accesses have had. */
struct locks {
    uint32_t list[LOCKS];
    uint32_t count;
};

struct thread {
    uint32_t phase;
    uint32_t *past; /* phases of the others that come before */
    size_t past_cap;
    struct locks held;
};

/* What one thread did with a variable: the latest phase, 0: never, and its locks. */
struct use {
    uint32_t thread;
    uint32_t phase[2];
    struct locks locks[2];
};

struct var {
    struct use *uses;
    uint32_t use_count;
    size_t use_cap;
    uint32_t guard; /* a lock that all accesses have had, plus 1; 0: none */
    bool shared;
};

struct pt_unguarded {
    struct thread *threads;
    struct var *vars;
    size_t thread_cap, var_cap;
};

struct pt_unguarded *pt_unguarded_new(void)
{
    return pt_xcalloc(1, sizeof(struct pt_unguarded));
}

void pt_unguarded_free(struct pt_unguarded *m)
{
    for (size_t i = 0; m && i < m->thread_cap; i++)
        free(m->threads[i].past);
    for (size_t i = 0; m && i < m->var_cap; i++)
        free(m->vars[i].uses);
    if (m) {
        free(m->threads);
        free(m->vars);
    }
    free(m);
}

static struct thread *thread_at(struct pt_unguarded *m, uint32_t id)
{
    PT_ROOM(m->threads, m->thread_cap, id);
    if (!m->threads[id].phase)
        m->threads[id].phase = 1;
    return &m->threads[id];
}

static uint32_t past_of(const struct thread *t, uint32_t other)
{
    return other < t->past_cap ? t->past[other] : 0;
}

/* All that `from` has done and knows comes before what `to` does next. */
static void follow(struct pt_unguarded *m, uint32_t to, uint32_t from)
{
    thread_at(m, to);
    thread_at(m, from); /* may move them */
    struct thread *after = &m->threads[to], *before = &m->threads[from];
    for (uint32_t i = 0; i < before->past_cap; i++) {
        if (before->past[i] <= past_of(after, i))
            continue;
        PT_ROOM(after->past, after->past_cap, i);
        after->past[i] = before->past[i];
    }
    PT_ROOM(after->past, after->past_cap, from);
    after->past[from] = before->phase++;
}

static void lock(struct locks *held, uint32_t object, bool taken)
{
    uint32_t at = 0;
    while (at < held->count && held->list[at] != object)
        at++;
    if (taken && held->count < LOCKS)
        held->list[held->count++] = object;
    else if (!taken && at < held->count)
        held->list[at] = held->list[--held->count];
}

static bool has(const struct locks *locks, uint32_t object)
{
    for (uint32_t i = 0; i < locks->count; i++)
        if (locks->list[i] == object)
            return true;
    return false;
}

/* Keeps what both have. */
static void meet(struct locks *locks, const struct locks *others)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < locks->count; i++)
        if (has(others, locks->list[i]))
            locks->list[kept++] = locks->list[i];
    locks->count = kept;
}

static bool is_apart(const struct thread *self, const struct use *other, int how)
{
    if (!other->phase[how] || other->phase[how] <= past_of(self, other->thread))
        return true;
    for (uint32_t i = 0; i < other->locks[how].count; i++)
        if (has(&self->held, other->locks[how].list[i]))
            return true;
    return false;
}

/* Whether one lock is had in this access as in all before: then it is apart from them. */
static bool is_guarded(struct var *var, const struct thread *self)
{
    if (!var->use_count && self->held.count)
        var->guard = self->held.list[0] + 1;
    else if (var->guard && !has(&self->held, var->guard - 1))
        var->guard = 0;
    return var->guard;
}

static void access(struct pt_unguarded *m, uint32_t thread, uint32_t object, int how)
{
    const struct thread *self = thread_at(m, thread);
    PT_ROOM(m->vars, m->var_cap, object);
    struct var *var = &m->vars[object];
    if (var->shared)
        return;
    uint32_t own = PT_NONE;
    bool guarded = is_guarded(var, self);
    for (uint32_t i = 0; i < var->use_count && !var->shared; i++) {
        const struct use *use = &var->uses[i];
        if (use->thread == thread)
            own = i;
        else if (!guarded)
            var->shared = !is_apart(self, use, WRITE) || (how == WRITE && !is_apart(self, use, READ));
    }
    if (var->shared)
        return;
    if (own == PT_NONE) {
        own = var->use_count;
        PT_PUSH(var->uses, var->use_count, var->use_cap, ((struct use){.thread = thread}));
    }
    struct use *use = &var->uses[own];
    bool same = use->phase[how] == self->phase;
    if (same && self->held.count == 1 && use->locks[how].count == 1 && has(&self->held, use->locks[how].list[0]))
        return;
    if (same)
        meet(&use->locks[how], &self->held);
    else
        use->locks[how] = self->held;
    use->phase[how] = self->phase;
}

void pt_unguarded_event(struct pt_unguarded *m, uint32_t thread, enum pt_op op, uint32_t object)
{
    if (op == PT_OP_FORK)
        follow(m, object, thread);
    else if (op == PT_OP_JOIN)
        follow(m, thread, object);
    else if (pt_op_locks(op) || pt_op_unlocks(op))
        lock(&thread_at(m, thread)->held, object, pt_op_locks(op));
    else if (pt_op_space(op) == PT_SPACE_VAR && pt_op_accesses(op))
        access(m, thread, object, pt_op_writes(op) ? WRITE : READ);
}

bool pt_unguarded_matters(const struct pt_unguarded *m, enum pt_op op, uint32_t object)
{
    if (pt_op_space(op) == PT_SPACE_VAR && pt_op_accesses(op))
        return object < m->var_cap && m->vars[object].shared;
    return pt_op_locks(op);
}
