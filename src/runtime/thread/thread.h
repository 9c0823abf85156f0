/*
 * What the runtime knows of a thread, and the way into and out of the runtime.
 *
 * `busy` counts entries: while it is not 0, signal handlers of the program are put off (signal.c), so nothing here is
 * ever re-entered halfway. A handler that reached the thread by another way (installed by a bare system call) finds
 * `busy` set, and its accesses are performed without being recorded.
 */
#ifndef PT_RUNTIME_THREAD_THREAD_H
#define PT_RUNTIME_THREAD_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/clock/clock.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/cache.h"
#include "runtime/sys/sys.h"

enum {
    PT_SITE_CACHE = 256,
    PT_WRITE_LOCKS = 32,
    PT_OPEN_MAX = 8,
    PT_BETWEEN_BITS = 5,
    PT_PASSED_BITS = 5,
    PT_LATER_BITS = 3,
    PT_SEEN_BITS = 6,
    PT_READING_BITS = 6,
    PT_RAISED_BITS = 6,
    PT_THREAD_BITS = 17
};
enum { PT_NAME_CACHE = 32, PT_BLOCK_MAX = 64, PT_VIOLATED_MAX = 16 };
enum { PT_ATTEND_SIGNAL = 1, PT_ATTEND_CANCEL = 2, PT_ATTEND_VIOLATION = 4 };

/* An access under way: see shadow/slow.h. */
struct pt_locked_range {
    uintptr_t from, to;  /* the bytes accessed */
    uintptr_t low, high; /* the granules held */
    bool watched;
    bool atomic;   /* an atomic access of the program */
    uint16_t sync; /* enum pt_event_kind of an operation on a synchronisation object; 0: an access of memory */
    struct pt_locked_range *outer;
};

/*
 * A clock known to be <= the thread's, which only grows: so this stays true as long as the number means the same clock,
 * and it does, because the thread owns references to it (one at least). Most of them were those of shadow words whose
 * clock the thread replaced by its own: taken over, they cost no atomic operation, and can be put into words again.
 */
struct pt_passed {
    pt_clock_id id; /* 0: none */
    int64_t references;
};

/* A and W of a shadow word, between which the thread's clock was found when it had changed `change` times. */
struct pt_between {
    uint64_t clocks, change;
};

/* Its last read of a variable that many read (readers.h). Others look at it when they hold the granule. */
struct pt_reading {
    _Alignas(64) _Atomic uint32_t busy;
    _Atomic uint32_t record; /* the granule's; 0: none */
    _Atomic pt_clock_id clock;
    unsigned bytes;
    uintptr_t granule;
};

/* A call that instrumented code is about to make, and where it stands. */
struct pt_call {
    const void *object;         /* as the called function gets it */
    const struct pt_site *site; /* NULL: there is none */
    const struct pt_site *mutex;
};

/* How often the thread has raised the access clock of a granule, next to other readers. */
struct pt_raised {
    uintptr_t granule;
    uint32_t times;
};

enum pt_thread_state { PT_THREAD_STARTING, PT_THREAD_RUNNING, PT_THREAD_ENDED };

struct pt_thread {
    /* read by every hook */
    pt_clock_id clock; /* V_i of algorithm A */
    uint32_t busy;     /* depth of entries into the runtime */
    uint64_t quick;    /* the clock with which an access may be quick, and is then only counted; none (~0) while
                          cancellation must be looked for, or events are recorded or evaluated (monitor.h) */
    uint64_t care;     /* the marks of all bytes in a shadow word, or 0 while the clock is empty: then none needs one */
    uint32_t attention; /* on leaving: a signal or a violation was put off, or asynchronous cancellation is on */
    bool slow;          /* every event is recorded, or evaluated unless it is no news */
    bool evaluates;     /* its monitor has to see every event, and nobody else does */
    bool disturbed;     /* the granule of a quick access was let go and held again in the middle of it */
    _Atomic uint64_t *locked_word; /* while `held` is NULL: the granule of a quick access, for faults (signal.c) */
    int64_t credit;      /* references to `clock` that this thread owns; one is its own, the others are to give away */
    uint64_t changes;    /* of the clock so far */
    struct pt_call call; /* that comes next (call.h) */
    struct pt_between between[1 << PT_BETWEEN_BITS]; /* by a hash of the word's clocks */
    struct pt_passed later[1 << PT_LATER_BITS];      /* those to be let go, in turn: pt_thread_release_later */
    uint32_t later_next;
    struct pt_passed passed[1 << PT_PASSED_BITS]; /* by the low bits of the number */
    struct pt_seen seen[1 << PT_SEEN_BITS];       /* by the low bits of the owner */
    struct pt_clock_ring clock_ring;
    uint32_t number; /* in order of creation */
    uint32_t slot;   /* its place among threads; another's after its end */
    uint32_t parent;
    uint32_t events; /* its relevant events so far */
    bool full;       /* all its events are recorded; set before its first one (full.h) */

    /* its ring */
    struct pt_ring *ring;
    uint64_t head, tail_seen;
    uint64_t last_wake;
    struct {
        const struct pt_site *site;
        uint32_t number;
    } sites[PT_SITE_CACHE];
    const struct pt_site *place;   /* of the annotation that comes next (place.c), or NULL */
    uint32_t names[PT_NAME_CACHE]; /* names that were lately described in this ring, by number */

    struct pt_clock_cache clocks;
    struct pt_reading readings[1 << PT_READING_BITS]; /* by the low bits of the record */
    struct pt_reading *reading, *crowded;             /* that of the read under way; one whose place is wanted */
    struct pt_raised raised[1 << PT_RAISED_BITS];
    /* what it holds now, for faults in the middle of an access (signal.c) */
    struct pt_locked_range *held;
    struct pt_locked_range open[PT_OPEN_MAX]; /* accesses between a begin and an end call, innermost last */
    uint32_t open_count;
    const void *write_locked[PT_WRITE_LOCKS]; /* rwlocks it holds as a writer */
    uint32_t write_locks;                     /* how many, at most that many */
    uint32_t blocks[PT_BLOCK_MAX];            /* atomic blocks it is in, by name, innermost last (api.c) */
    uint32_t block_count;
    const void *callback_frame;            /* where the stack was when the program's code for violations was called */
    const char *violated[PT_VIOLATED_MAX]; /* properties whose violation waits to be told (violation.c) */
    uint32_t violated_count;
    struct pt_pending_report *told; /* reports that wait to be printed (local/report.c) */

    /* decentralised properties (monitor.h) */
    struct pt_local *local;    /* NULL: they are not about this thread */
    uint64_t states;           /* its events so far, as far as it is evaluated in them */
    struct pt_sharing sharing; /* of the clock's vector of knowledge */
    struct pt_pool_cache pool;
    uint32_t gate_next;   /* its next entry in the gate's schedule, as far as was looked (gate.c) ... */
    uint64_t gate_waited; /* ... and how long, in nanoseconds, it has waited for the causes of that one */

    /* its life */
    _Atomic uint32_t state;  /* enum pt_thread_state */
    _Atomic uint32_t let_go; /* by its creation, its own end, and by join or detach: the third one frees the slot */
    _Atomic bool detached;   /* or joined: nobody may ask for it by its handle any more */
    pthread_t handle;
    bool listed, claimed; /* it is found by its handle; somebody is joining it */
    void *(*start)(void *);
    int (*start_c11)(void *);
    void *argument;
    uint64_t runs;     /* what it is named after: its start function, or the callable of a std::thread */
    const char *named; /* its name, which lives for ever: `worker`, ... */
    uint32_t ordinal;  /* ... of the so many-th thread of that name; 0: no decentralised property wants to know */
    size_t stack_size; /* at most */
    int destructor_rounds;
    struct pt_thread *next; /* in its bucket, or in the free list */

    /* its part in the event stream (stream/stream.h) */
    struct pt_stream *stream;  /* its buffers, NULL until first needed */
    _Atomic uint64_t *skipped; /* there: its events that were only counted */
    /* its state (enum pt_stream_state) and what it waits for, kept while nobody is connected too: for snapshots */
    _Atomic uint32_t waits;
    _Atomic uint64_t waits_for;
    uint32_t tid;   /* in the kernel */
    char label[16]; /* set with pthread_setname_np, or "" */

    struct pt_deferred *deferred; /* room for the signal that is put off; made when first needed */
};

extern __thread struct pt_thread *pt_self __attribute__((tls_model("initial-exec")));

/* There is something to record: hooks do more than the access. Off without an observer, and as long as nothing is
 * watched. */
extern _Atomic bool pt_active;
extern struct pt_channel *pt_channel; /* NULL: nobody observes */
extern uint32_t pt_keeps;             /* enum pt_keep: what is recorded beside relevant events; set before main */

bool pt_thread_start(void);
/* The calling thread, made known if it is not yet; NULL when it has ended or nobody observes. */
struct pt_thread *pt_thread_self(void);
/* A child of the caller, not yet running; NULL when there is no more room. */
struct pt_thread *pt_thread_new(struct pt_thread *parent);
void pt_thread_discard(struct pt_thread *thread);
/* In the child, before and after the program's function. */
void pt_thread_begin(struct pt_thread *self);
/* Its creation has returned; the handle is looked at only if the child has not begun. */
void pt_thread_created(struct pt_thread *thread, const pthread_t *handle);
/* The newest one with this handle. */
struct pt_thread *pt_thread_find(pthread_t handle);
/* The same for somebody who is about to join it, and is then the only one to find it so: the handle may be another
 * thread's as soon as it is joined. `foreign`: one that was made behind our back. */
struct pt_thread *pt_thread_claim(pthread_t handle, bool foreign);
void pt_thread_unclaim(struct pt_thread *thread);
struct pt_thread *pt_thread_at(uint32_t slot);
/* Every thread that has been created and has not ended. The caller does nothing that takes long: threads may wait for
 * it. */
void pt_thread_each(void (*visit)(void *context, const struct pt_thread *thread), void *context);
/* Gives it a name of its own. */
void pt_thread_label(struct pt_thread *thread, const char *name);
/* The thread's last clock goes to self, and the thread is forgotten. */
void pt_thread_joined(struct pt_thread *self, struct pt_thread *thread, const struct pt_site *site);
void pt_thread_detached(struct pt_thread *thread);

/* The thread's references to clocks it has passed: lets all of them go. */
void pt_thread_drop_passed(struct pt_thread *self);
/* V_i <- max(V_i, id). The caller holds id. */
void pt_thread_take(struct pt_thread *self, pt_clock_id id);
/* The next relevant event of this thread: V_i[i]++. */
void pt_thread_tick(struct pt_thread *self);
/* Nothing of this thread is recorded from here on: the child of a fork. */
void pt_thread_forget(void);
/* V_i <- a clock that is no earlier, to which the caller gives its reference. */
void pt_thread_set_clock(struct pt_thread *self, pt_clock_id owned);
/* The same for the thread's next clock where it differs only in what the thread says of itself (knowledge.h); the
 * caller calls pt_thread_settle. 0: there is none, nothing happens. */
void pt_thread_say(struct pt_thread *self, pt_clock_id owned);
/* What is derived from the clock and from `attention`. */
void pt_thread_refresh(struct pt_thread *self);
/* What is derived from what its monitor says. */
void pt_thread_settle(struct pt_thread *self);
/* A robust mutex lost its owner: whatever ended threads did comes before. */
void pt_thread_after_ended(void);

/* A thread of the runtime's own, which nobody else sees (wrap/thread.c). */
bool pt_thread_raw(void *(*start)(void *), const char *name);

/* No more recording in this process: a table is full, or it is the child of a fork. */
void pt_runtime_give_up(void);

/* Handlers that were put off, violations, and cancellation (signal.c). */
void pt_thread_attend(struct pt_thread *self);

static inline void pt_enter(struct pt_thread *self)
{
    self->busy++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void pt_leave(struct pt_thread *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (--self->busy == 0 && __builtin_expect(self->attention != 0, 0))
        pt_thread_attend(self);
}

/* References to the own clock, to be put into shadow words: nearly free, since bought in bulk. */
void pt_thread_buy(struct pt_thread *self, int64_t references);
static inline void pt_thread_give(struct pt_thread *self, int64_t references)
{
    if (__builtin_expect(self->credit <= references, 0))
        pt_thread_buy(self, references);
    self->credit -= references;
}

static inline struct pt_passed *pt_passed_slot(struct pt_thread *self, pt_clock_id id)
{
    return &self->passed[id & ((1u << PT_PASSED_BITS) - 1)];
}

/* Its place among the passed clocks; NULL: it is not remembered. */
static inline struct pt_passed *pt_passed_find(struct pt_thread *self, pt_clock_id id)
{
    struct pt_passed *slot = pt_passed_slot(self, id);
    return pt_has_cache(PT_CACHE_PASSED) && id && slot->id == id ? slot : NULL;
}

/* Whether the thread remembers that id <= V_i. False says nothing. */
static inline bool pt_thread_has_passed(struct pt_thread *self, pt_clock_id id)
{
    return !id || id == self->clock || pt_passed_find(self, id);
}

/* Whether its number tells that a clock is <= V_i (clock/ring.c); false says nothing. True of a number that the caller
 * does not hold is true of what it meant a moment ago. */
static inline bool pt_thread_has_seen(const struct pt_thread *self, pt_clock_id id)
{
    uint64_t home = pt_clock_home(id);
    uint32_t owner = (uint32_t)(home >> 32), position = (uint32_t)home;
    const struct pt_seen *seen = &self->seen[owner & ((1u << PT_SEEN_BITS) - 1)];
    if (!owner || owner == self->clock_ring.owner)
        return owner;
    if (!pt_has_cache(PT_CACHE_SEEN) || seen->owner != owner)
        return false;
    if (position <= seen->position &&
        seen->cycle == atomic_load_explicit(&pt_clock_cycles[owner].number, memory_order_acquire))
        return true;
    uint64_t cycle = atomic_load_explicit(&pt_clocks[id].cycle, memory_order_relaxed);
    return cycle < seen->cycle || (cycle == seen->cycle && position <= seen->position);
}

/* Either way; what the second says of a number that nobody holds for the caller is to be asked again. */
static inline bool pt_thread_is_past(struct pt_thread *self, pt_clock_id id)
{
    return pt_thread_has_passed(self, id) || pt_thread_has_seen(self, id);
}

/* The thread's clock is no earlier than this one, which the caller holds. */
static inline void pt_thread_note_seen(struct pt_thread *self, pt_clock_id id)
{
    uint64_t home = pt_clock_home(id), cycle = atomic_load_explicit(&pt_clocks[id].cycle, memory_order_relaxed);
    uint32_t owner = (uint32_t)(home >> 32), position = (uint32_t)home;
    struct pt_seen *seen = &self->seen[owner & ((1u << PT_SEEN_BITS) - 1)];
    if (pt_has_cache(PT_CACHE_SEEN) && owner &&
        (seen->owner != owner || cycle > seen->cycle || (cycle == seen->cycle && position > seen->position)))
        *seen = (struct pt_seen){owner, position, cycle};
}

/* Where the thread counts references to a clock of its ring; NULL: it is in none of its own. */
static inline int64_t *pt_thread_local_count(struct pt_thread *self, pt_clock_id id)
{
    uint64_t home = pt_clock_home(id);
    return home && home >> 32 == self->clock_ring.owner ? &self->clock_ring.local[(uint32_t)home] : NULL;
}

/* One more reference for a shadow word: from the thread's own where it can be. */
static inline void pt_thread_acquire(struct pt_thread *self, pt_clock_id id, int64_t references)
{
    struct pt_passed *slot = pt_passed_find(self, id);
    int64_t *local;
    if (id == self->clock)
        pt_thread_give(self, references);
    else if (slot && slot->references > references)
        slot->references -= references;
    else if ((local = pt_thread_local_count(self, id)))
        *local += references;
    else
        pt_clock_acquire(id, references);
}

/* References that a shadow word held go back: to the thread's own where it has such. */
static inline void pt_thread_release(struct pt_thread *self, pt_clock_id id, int64_t references)
{
    struct pt_passed *slot = pt_passed_find(self, id);
    int64_t *local;
    if (!id)
        return;
    if (id == self->clock)
        self->credit += references;
    else if (slot)
        slot->references += references;
    else if ((local = pt_thread_local_count(self, id)))
        *local -= references;
    else
        pt_clock_release(self, id, references);
}

/* Gives references up when their count, which another thread may have written last, has had time to come here. */
static inline void pt_thread_release_later(struct pt_thread *self, pt_clock_id id, int64_t references)
{
    if (!pt_has_cache(PT_CACHE_LATER)) {
        pt_clock_release(self, id, references);
        return;
    }
    struct pt_passed *place = &self->later[self->later_next++ & ((1u << PT_LATER_BITS) - 1)], due = *place;
    if (id)
        pt_sys_prefetch_write(&pt_clocks[id]);
    *place = (struct pt_passed){id, references};
    pt_clock_release(self, due.id, due.references);
}

/* The same for a clock that the caller knows to be <= V_i: it is remembered as such. */
static inline void pt_thread_pass(struct pt_thread *self, pt_clock_id id, int64_t references)
{
    struct pt_passed *slot = pt_passed_slot(self, id);
    if (pt_has_cache(PT_CACHE_PASSED) && id && id != self->clock && slot->id != id &&
        !pt_thread_local_count(self, id)) {
        if (slot->id)
            pt_thread_release_later(self, slot->id, slot->references);
        *slot = (struct pt_passed){.id = id};
    }
    pt_thread_release(self, id, references);
}

static inline bool pt_is_active(void)
{
    return __builtin_expect(atomic_load_explicit(&pt_active, memory_order_relaxed), 0);
}

#endif
