/*
 * Threads that wait for each other. Whoever has found a lock taken, and would wait for it as long as it takes, says so
 * here before it does, and looks whether that closes a circle: itself needs something that a second waiting thread has,
 * that one something of a third, and so on, back to itself.
 *
 * Why this is certain. A thread's list of locks has only what it has: it is entered after the lock was taken, and
 * crossed out before it is released. Threads that wait change nothing in theirs. The thread that looks surely has what
 * its list says; so whoever needs that cannot go on, and has all that its own list says; and so on round the circle.
 * One that got its lock meanwhile, and has not said so yet, is no matter: then nobody else has it. Of a mutex libc's
 * own note of its owner must agree, so that one which another thread has released, against the rules, does not count.
 * Every edge is needed by itself: whoever waits to write needs all readers to go, whoever waits for a condition needs
 * its mutex, signalled or not.
 *
 * What counts: mutexes (not those that several processes share, and not one of its own that libc answers with EDEADLK),
 * spin locks, readers and writers, conditions for their mutex, ends of threads. What tries, or waits for a time, is not
 * said here at all.
 *
 * Guarantee: what is reported is a deadlock, at once, by the thread that closes it; unless somebody would have
 * cancelled one that waits for a thread's end, which nobody can know. Cost: of a lock that is free nothing; of one that
 * is taken a global lock for a moment, and a look at those that wait if this thread has a lock.
 */
#include <errno.h>
#include <pthread.h>

#include "runtime/deadlock/impl.h"

/* Bits of a mutex's kind, as libc has them. */
enum { TYPE = 3, ERRORCHECK = 2, PROCESS_SHARED = 128 };

static bool is_owned(const void *mutex, const struct pt_thread *thread)
{
    const pthread_mutex_t *m = mutex;
    int kind = __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
    return !(kind & PROCESS_SHARED) && (uint32_t)__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED) == thread->tid;
}

bool pt_deadlock_is_answered(const void *mutex, const struct pt_thread *thread)
{
    return (((const pthread_mutex_t *)mutex)->__data.__kind & TYPE) == ERRORCHECK && is_owned(mutex, thread);
}

static const struct pt_held *find(const struct pt_thread *thread, const void *lock)
{
    const struct pt_deadlock_self *d = thread->deadlock;
    for (uint32_t i = 0; i < d->held_count; i++)
        if (d->held[i].lock == (uintptr_t)lock)
            return &d->held[i];
    return NULL;
}

static bool needs_rwlock(const struct pt_thread *waiting, const struct pt_thread *other)
{
    const struct pt_wait *wait = &waiting->deadlock->wait;
    const pthread_rwlock_t *lock = wait->object;
    const struct pt_held *held = find(other, lock);
    if (!held || lock->__data.__shared)
        return false;
    if (held->shared)
        return wait->kind == PT_WAIT_WRITE;
    return other != waiting && (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) == other->tid;
}

bool pt_deadlock_needs(const struct pt_thread *waiting, const struct pt_thread *other)
{
    const struct pt_wait *wait = &waiting->deadlock->wait;
    switch (wait->kind) {
    case PT_WAIT_MUTEX:
        return find(other, wait->object) && is_owned(wait->object, other) &&
               !(other == waiting && pt_deadlock_is_answered(wait->object, waiting));
    case PT_WAIT_SPIN:
        return find(other, wait->object);
    case PT_WAIT_READ:
    case PT_WAIT_WRITE:
        return needs_rwlock(waiting, other);
    case PT_WAIT_CONDITION:
    case PT_WAIT_CONDITION_TIMED:
        return other != waiting && find(other, wait->mutex) && is_owned(wait->mutex, other);
    case PT_WAIT_END:
        return wait->thread == other;
    default:
        return false;
    }
}

/* The circle through self, in the order of waiting; 0: there is none. Breadth first, so it is a shortest one. */
static uint32_t find_circle(struct pt_thread *self, struct pt_thread **circle)
{
    struct pt_thread *first = self, *last = self;
    uint64_t search = ++pt_deadlocks.searches;
    self->deadlock->looked = search;
    self->deadlock->from = self->deadlock->to_look_at = NULL;
    for (; first; first = first->deadlock->to_look_at) {
        if (pt_deadlock_needs(first, self))
            break;
        for (struct pt_thread *other = pt_deadlocks.waiting; other; other = other->deadlock->next) {
            struct pt_deadlock_self *d = other->deadlock;
            if (d->looked == search || !pt_deadlock_needs(first, other))
                continue;
            d->looked = search;
            d->from = first;
            d->to_look_at = NULL;
            last = last->deadlock->to_look_at = other;
        }
    }
    uint32_t count = 0, length = 0;
    for (struct pt_thread *thread = first; thread; thread = thread->deadlock->from)
        length++;
    for (struct pt_thread *thread = first; thread; thread = thread->deadlock->from, count++)
        if (length - 1 - count < PT_FOUND_SIDES)
            circle[length - 1 - count] = thread;
    return length;
}

static void enter(struct pt_thread *self, const struct pt_wait *wait)
{
    struct pt_deadlock_self *d = self->deadlock;
    d->wait = *wait;
    d->waits = true;
    d->waits_count++;
    d->previous = NULL;
    d->next = pt_deadlocks.waiting;
    if (d->next)
        d->next->deadlock->previous = self;
    pt_deadlocks.waiting = self;
    pt_deadlocks.waiting_count++;
    pt_deadlocks.ends_awaited += wait->kind == PT_WAIT_END;
}

/* It does not wait any more, if it did. */
static void leave(struct pt_thread *self)
{
    struct pt_deadlock_self *d = self->deadlock;
    if (!d->waits)
        return;
    d->waits = false;
    d->waits_count++;
    *(d->previous ? &d->previous->deadlock->next : &pt_deadlocks.waiting) = d->next;
    if (d->next)
        d->next->deadlock->previous = d->previous;
    pt_deadlocks.waiting_count--;
    pt_deadlocks.ends_awaited -= d->wait.kind == PT_WAIT_END;
}

void pt_deadlock_unwait(struct pt_thread *self)
{
    pt_deadlock_lock(self);
    leave(self);
    pt_deadlock_unlock();
}

void pt_deadlock_waits(const struct pt_wait *wait)
{
    struct pt_thread *self = pt_thread_self(), *circle[PT_FOUND_SIDES];
    int error = errno;
    if (!self || self->shadow.busy)
        return;
    pt_thread_enter(self);
    struct pt_deadlock_self *d = self->deadlock;
    pt_deadlock_calls(wait->site, d->waits_in, sizeof d->waits_in / sizeof *d->waits_in);
    pt_deadlock_lock(self);
    leave(self); /* a handler of a signal that came while it waited */
    enter(self, wait);
    bool needed = d->held_count || pt_deadlocks.ends_awaited;
    uint32_t count = needed ? find_circle(self, circle) : 0;
    bool stuck = !count && pt_deadlocks.waiting_count >= pt_thread_live();
    pt_deadlock_unlock();
    if (count)
        pt_deadlock_observed(self, circle, count < PT_FOUND_SIDES ? count : PT_FOUND_SIDES, "");
    else if (stuck)
        pt_deadlock_stuck(self, false);
    pt_thread_leave(self);
    errno = error;
}

void pt_deadlock_waited(void)
{
    struct pt_thread *self = pt_thread_now();
    if (!self || self->shadow.busy)
        return;
    pt_thread_enter(self);
    pt_deadlock_unwait(self);
    pt_thread_leave(self);
}

void pt_deadlock_ending(struct pt_thread *self)
{
    pt_deadlock_lock(self);
    leave(self);
    bool stuck = pt_deadlocks.waiting_count && pt_deadlocks.waiting_count >= pt_thread_live();
    pt_deadlock_unlock();
    if (stuck)
        pt_deadlock_stuck(self, true);
}
