/*
 * What accesses of a thread need to know of it, and the way into and out of the runtime.
 *
 * `busy` counts entries: while it is not 0, signal handlers of the program are deferred (thread/signal.c), so nothing
 * here is ever re-entered halfway. A handler that reached the thread by another way (installed by a bare system call)
 * finds `busy` set, and its accesses are performed without being recorded.
 *
 * What every hook reads stands in the first cache line. Everything is the thread's alone, but for its readings
 * (readers.h). What is volatile or atomic is shared with its handlers: those of faults look at it in the middle of an
 * access, and `attention` is also changed by those that are deferred.
 */
#ifndef PT_RUNTIME_SHADOW_SELF_H
#define PT_RUNTIME_SHADOW_SELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/clock/self.h"
#include "runtime/race/race.h"
#include "runtime/shadow/hooks.h"
#include "runtime/sys/runtime.h"

enum { PT_OPEN_MAX = 8, PT_BETWEEN_BITS = 5, PT_READING_BITS = 6, PT_RAISED_BITS = 6, PT_FINES_KEPT = 64 };

/* Why a thread is not simply done when it leaves the runtime: a signal or a violation was deferred. */
enum { PT_ATTEND_SIGNAL = 1, PT_ATTEND_VIOLATION = 2, PT_ATTEND_PATHS = 4 };

#define PT_NOT_FAST UINT64_MAX /* in `fast`: no clock has this number */

/* An access under way: see shadow/slow.h. */
struct pt_locked_range {
    uintptr_t from, to;    /* the bytes accessed */
    uintptr_t low, high;   /* the granules locked */
    uintptr_t first, last; /* the bytes whose clocks it has: also all of the watched variables that it touches */
    bool watched;
    bool kept;     /* nothing of it is locked: the thread keeps all of it (kept.h) */
    bool silent;   /* nor is anything to be known of it: it is made in silence (silence.h) */
    bool bare;     /* nothing is known of its granules, and nothing will be: the thread only records (small.h) */
    uint8_t order; /* enum pt_memory_order of an atomic access of the program, or of a `sync` */
    bool stores;   /* it is an atomic store, which comes as an update */
    uint16_t sync; /* enum pt_event_kind of an operation on a synchronisation object; 0: an access of memory */
    struct pt_locked_range *outer;
};

/* A and W of a shadow word, between which the thread's clock was found when it had changed `change` times. */
struct pt_between {
    uint64_t clocks, change;
};

/* Its last read of a variable that many read (readers.h). Others look at it when they have the granule locked. */
struct pt_reading {
    _Alignas(64) _Atomic uint32_t busy;
    _Atomic uint32_t record; /* the granule's; 0: none */
    _Atomic pt_clock_id clock;
    unsigned bytes;
    uintptr_t granule;
};

/* How often the thread has raised the access clock of a granule, next to other readers. */
struct pt_raised {
    uintptr_t granule;
    uint32_t times;
};

struct pt_shadow_self {
    /* read by every hook */
    volatile uint32_t busy;     /* depth of entries into the runtime */
    _Atomic uint32_t attention; /* PT_ATTEND_...: on leaving */
    uint64_t fast;  /* the clock with which an access may take a fast path, and is then only counted; PT_NOT_FAST
                       while events are recorded or evaluated, or threads follow a schedule */
    uint64_t care;  /* the marks of all bytes in a shadow word, or 0 while the clock is empty: then none needs one */
    bool slow;      /* every event is reported to the layers above, or evaluated unless it is no news */
    bool evaluates; /* its monitor has to see every event, and nobody else does */
    volatile bool disturbed; /* the granule of a fast access was unlocked and locked again in the middle of it */
    bool full;               /* all its events are recorded; set before its first one */
    bool records;            /* ... by the program itself, and each access by `recorded` (hooks.h) */
    bool steps;              /* its monitor has a state for each event ... */
    bool never_keeps;        /* it looks for no more pages that it could keep (kept.h) */
    bool quiet;              /* ... of which the next, unless it is marked, would only be counted */
    _Atomic uint64_t *volatile locked_word; /* while `locked` is NULL: the granule of a fast access, for faults */
    uint64_t states;                        /* its events so far, as far as it is evaluated in them */
    struct pt_clock_self clock;
    struct pt_race_self *race; /* NULL: races are not looked for */
    volatile bool racing;      /* it makes an atomic operation, with race cells locked */
    bool tries;                /* the lock that it takes now is one that it would not have waited for */
    bool owned_held;           /* the access had a fault: its granules are locked */
    uint32_t owns;             /* the state of pages that are its own (owned.h); 0: none can be */
    _Atomic uint32_t owning;   /* odd while it uses a page as it is, ... */
    uint64_t owned_at;         /* ... here: address, and above it the size */
    uint32_t keeper;           /* its number as a keeper of pages (kept.h), while it may use that; else 0 */
    uint32_t kept_as;          /* the same; 0: it has never kept one */
    _Atomic uint32_t keeping;  /* odd while it is at work with granules that it keeps */
    _Atomic uint32_t storing;  /* 1: it stores in silence (silence.h) */
    uint32_t store_size;       /* of that; 0: it is not one of a hook */
    uintptr_t store_at;
    uint32_t kept_turn; /* counts accesses, so that it looks for pages now and then */

    struct pt_between between[1 << PT_BETWEEN_BITS];  /* by a hash of the word's clocks */
    struct pt_reading readings[1 << PT_READING_BITS]; /* by the low bits of the record */
    struct pt_reading *volatile reading, *crowded;    /* that of the read under way; one whose place is wanted */
    struct pt_raised raised[1 << PT_RAISED_BITS];
    struct {
        uint32_t count, ids[PT_FINES_KEPT]; /* records of granules that it keeps for itself (fine.c) */
    } fines;
    struct pt_locked_range *volatile locked; /* what it has locked now, for faults in the middle of an access */
    /* Memory that a function of the library moves about while it calls the program back: qsort. It does so as long as
     * its caller's frame is there. */
    struct pt_moving {
        uintptr_t from, to, frame;
    } moving;
    bool gives_back; /* what it forgets is memory that it gives back now, and no stack of which others have used the
                        rest */
    const struct pt_site *moved_at;           /* where it wrote a pointer of a path last (path.h) */
    struct pt_locked_range late;              /* of a store in silence that had a fault */
    struct pt_locked_range open[PT_OPEN_MAX]; /* accesses between a begin and an end call, innermost last */
    volatile uint32_t open_count;
};
_Static_assert(offsetof(struct pt_shadow_self, clock.credit) < 64, "what hooks read is in one cache line");

/* The calling thread; NULL: not known yet, or not any more. */
extern __thread struct pt_shadow_self *pt_self __attribute__((tls_model("initial-exec")));

/* The same, made known if it is not yet; NULL when it has ended or nobody observes. The second is for those who are
 * about to access memory, and only want to know if that is to be recorded. */
static inline struct pt_shadow_self *pt_shadow_caller(void)
{
    struct pt_shadow_self *self = pt_self;
    return self ? self : pt_shadow_hooks.introduce();
}

static inline struct pt_shadow_self *pt_shadow_caller_at(uintptr_t address, size_t size, bool write)
{
    struct pt_shadow_self *self = pt_self;
    return self ? self : pt_shadow_hooks.introduce_at(address, size, write);
}

static inline void pt_enter(struct pt_shadow_self *self)
{
    self->busy++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void pt_leave(struct pt_shadow_self *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (--self->busy == 0 && __builtin_expect(self->attention != 0, 0))
        pt_shadow_hooks.attend(self);
}

/* The race cells of an atomic operation are unlocked: what was deferred meanwhile comes now. */
static inline void pt_shadow_raced(struct pt_shadow_self *self)
{
    self->racing = false;
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self->attention != 0, 0))
        pt_shadow_hooks.attend(self);
}

/* V_i <- max(V_i, id). The caller has a reference to id. */
void pt_shadow_take(struct pt_shadow_self *self, pt_clock_id id);
/* The next relevant event of this thread: V_i[i]++. */
void pt_shadow_tick(struct pt_shadow_self *self);
/* V_i <- a clock that is no earlier, to which the caller gives its reference. */
void pt_shadow_set_clock(struct pt_shadow_self *self, pt_clock_id owned);
/* The same for the thread's next clock where it differs only in what the thread says of itself (knowledge.h); the
 * caller calls pt_shadow_settle. 0: there is none, nothing happens. */
void pt_shadow_say(struct pt_shadow_self *self, pt_clock_id owned);
/* What is derived from the clock, `full` and `steps`; and as much of it as depends on `quiet`. */
void pt_shadow_refresh(struct pt_shadow_self *self);
void pt_shadow_settle(struct pt_shadow_self *self);

#endif
