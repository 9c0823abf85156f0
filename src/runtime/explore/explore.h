/*
 * Control of the program's threads, for `portent explore` (core/explore.h, docs/explore.md): one thread has the turn,
 * and it changes at scheduling points only. The wrappers (wrap/) and the hooks of accesses (shadow/) come here before
 * they do what makes a point, and do it when they have come back.
 *
 * Where there is no control all of it is off: pt_explore_on is false, and nobody comes here.
 */
#ifndef PT_RUNTIME_EXPLORE_EXPLORE_H
#define PT_RUNTIME_EXPLORE_EXPLORE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "core/explore.h"
#include "core/site.h"

extern bool pt_explore_on; /* this process does a controlled run; set before main; not in its children */

/* What an object is, where that decides whether a thread can go on. */
enum pt_explore_what {
    PT_EXPLORE_IS_OTHER,
    PT_EXPLORE_IS_MUTEX, /* pthread_mutex_t, mtx_t */
    PT_EXPLORE_IS_SPIN,
    PT_EXPLORE_IS_RWLOCK,
    PT_EXPLORE_IS_POLL,    /* a list for poll, of `other` entries */
    PT_EXPLORE_IS_TIMER,   /* of a wait for a signal: for a timer */
    PT_EXPLORE_IS_SIGNALS, /* likewise: for one of these to be pending (`other`) */
};

/* Whether a handler that runs while it waits ends the wait. */
enum pt_explore_interrupts {
    PT_EXPLORE_GOES_ON,
    PT_EXPLORE_MAY_RESTART, /* not one with SA_RESTART */
    PT_EXPLORE_IS_ENDED,
};

/* What a thread is about to do. */
struct pt_explore_op {
    enum pt_explore_kind kind;
    enum pt_explore_what what;
    const void *object, *other; /* as in struct pt_explore_step */
    size_t size;                /* of memory */
    const struct pt_site *site;
    uint64_t deadline;    /* virtual time until which it waits; 0: for ever */
    const uint64_t *mask; /* signals that are blocked while it waits; NULL: as before */
    enum pt_explore_interrupts interrupts;
};

/* The answer of a point: enum pt_explore_step_flag, or this: the calling thread is not under control. Then the caller
 * does what it would do otherwise. */
#define PT_EXPLORE_FREE_TO_GO  UINT32_MAX
#define PT_EXPLORE_INTERRUPTED (UINT32_MAX - 2) /* or this: a handler has ended its wait */

/* ---- the run ---- */

/* Finds the memory file in the environment; with a fork server, returns in each of its children. True: the process is a
 * controlled run. Before any table of the runtime is made. */
bool pt_explore_start(void);
/* What is to be recorded in this run; "": nothing. */
const char *pt_explore_record(void);
/* portent_explore_body(). */
void pt_explore_body(void (*body)(void *), void *context);
struct pt_explore_hooks {
    void (*begins)(void); /* another run begins in the process */
    void (*ends)(void);   /* the process is about to end, without destructors */
};
extern struct pt_explore_hooks pt_explore_hooks;
/* Nothing is scheduled, but somebody wants to know what the program's checks find. */
bool pt_explore_watches(void);
/* One of them has found something; `len` 0: it could not be described. */
struct pt_found;
void pt_explore_found(const struct pt_found *found, const char *bytes, size_t len);
void pt_explore_found_again(uint64_t key, uint64_t count);
void pt_explore_lost(enum pt_explore_loss loss, const struct pt_site *site);
/* There is a thread that is not scheduled. */
void pt_explore_meets(void);

/* Around a wait of the runtime's own: the caller sleeps, and nobody takes the turn from it for that. */
void pt_explore_holds(bool holds);

/* ---- points ---- */

/* Waits until it is the caller's turn to do this. */
uint32_t pt_explore_point(const struct pt_explore_op *op);
/* The last step of the calling thread did not succeed: a try. */
void pt_explore_failed(void);
/* An access of memory, for pt_shadow_hooks: a point if its place is shared. */
void pt_explore_access(const void *address, size_t size, unsigned kind, const struct pt_site *site);
void pt_explore_freed(const void *memory, size_t size);
void pt_explore_allocated(const void *memory, size_t size);

/* A wait for a condition, or for a futex, begins, with the next point, of kind WAKE or FUTEX_WOKEN; and there will be
 * none. */
void pt_explore_waits(const void *object);
void pt_explore_waits_not(void);
/* Up to `count` of those that wait there now may go on. Returns how many. */
uint32_t pt_explore_wakes(const void *object, uint32_t count);
/* The caller is at a barrier for so many; true: it is the last. */
bool pt_explore_arrives(const void *barrier, uint32_t count);

/* A descriptor of which all ends are this process's, as long as it does not fork. */
void pt_explore_made(int fd);
void pt_explore_closed(int fd);
void pt_explore_copied(int from, int to);
/* Whether another process may have the object, too: it says so, and its memory is shared. Who waits
 * for a signal of such a one has to wait really. `kind` is the step for which it is waited for. */
bool pt_explore_is_shared(enum pt_explore_kind kind, enum pt_explore_what what, const void *object);
/* The process has copied itself. */
bool pt_explore_has_forked(void);
/* The process makes a copy of itself; and in that copy. */
void pt_explore_forks(void);
void pt_explore_forked(void);
/* The calling thread is about to send a signal to this one (`value`: of sigqueue; NULL: none). True: it is on its way,
 * and comes when the receiver is taken for it. */
bool pt_explore_send(uint32_t receiver, int signal, const union sigval *value);
/* The calling thread has sent a signal to this one, or, NO_SLOT, to the process. */
void pt_explore_sent(uint32_t receiver);
/* The calling thread waits until a handler has run; with `mask` (of the kernel's) meanwhile, as sigsuspend does. False:
 * it is not under control. */
bool pt_explore_pause(const uint64_t *mask, const struct pt_site *site);
/* The calling thread waits until one of these signals is pending for it, or until `deadline`. False: it is not under
 * control, or is cancelled there; then the caller does what it would do otherwise. */
bool pt_explore_await_signals(uint64_t signals, uint64_t deadline, bool *ret_late, const struct pt_site *site);
/* The program has set a handler. */
void pt_explore_handles(void);
/* Signals may come from timers of the kernel. */
void pt_explore_outside(void);
/* Somebody cancels this thread; and whether somebody cancels the caller. */
void pt_explore_cancels(uint32_t slot);
bool pt_explore_is_cancelled(void);
void pt_explore_cancel_state(bool off); /* the caller is not to be cancelled for now */
/* Around a call that may block in the kernel and is not played. */
void pt_explore_away(const struct pt_site *site);
void pt_explore_back(const struct pt_site *site);

/* ---- threads ---- */

/* The calling thread starts one: a point; returns the slot, or PT_EXPLORE_NO_SLOT: it runs without control. */
uint32_t pt_explore_create(uint64_t start, const struct pt_site *site);
void pt_explore_not_created(uint32_t slot);
/* In the new thread, which reports call by this number: it waits for its first turn. */
void pt_explore_begin(uint32_t slot, uint32_t tid, uint32_t number, uintptr_t stack_low, uintptr_t stack_high);
/* Nothing more of the program happens in it. */
void pt_explore_end(void);
/* The calling thread is the last of which the program has any more, and does not return there. */
void pt_explore_last(void);
/* The calling thread is about to end the process: others may do something before. */
void pt_explore_exits(void);
/* The slot was joined, or nobody will: it may be used again. */
void pt_explore_released(uint32_t slot);
void pt_explore_named(uint32_t slot, const char *name);
/* The calling thread's; PT_EXPLORE_NO_SLOT: it is not under control. */
uint32_t pt_explore_slot(void);
uint32_t pt_explore_slot_of_task(uint32_t tid); /* by its number in the kernel */

/* ---- time ---- */

bool pt_explore_has_clock(void); /* time is virtual */
/* Of a clock of the kernel's; false: that one is not virtual. */
bool pt_explore_clock(clockid_t clock, struct timespec *to);
/* The virtual time at which an absolute or relative time of a clock is over. Never 0. */
uint64_t pt_explore_until(clockid_t clock, const struct timespec *limit);
uint64_t pt_explore_after(uint64_t nanoseconds);
uint64_t pt_explore_left(uint64_t deadline); /* until then; at least 1 */

/* ---- timers ---- */

enum pt_explore_timer_what {
    PT_EXPLORE_TIMER_NOTHING, /* nobody is told */
    PT_EXPLORE_TIMER_PROCESS, /* a signal to the process */
    PT_EXPLORE_TIMER_THREAD,  /* to a thread */
    PT_EXPLORE_TIMER_FILE,    /* of timerfd_create */
    PT_EXPLORE_TIMER_CALL,    /* a thread waits for it */
};
struct pt_explore_timer_use {
    enum pt_explore_timer_what what;
    int signal, code, file;
    uint32_t slot;
    union sigval value;
};
struct pt_explore_timer_time {
    uint64_t left, interval; /* nanoseconds; left 0: it is not set */
};
enum { PT_EXPLORE_ALARM = 0 }; /* alarm and setitimer have one for all */

/* Makes one (`at` negative: any; else that, unless it is there). Negative: time is not virtual, or there are too many.
 */
int pt_explore_timer_new(int at, const struct pt_explore_timer_use *use);
int pt_explore_timer_of_file(int fd); /* negative: none */
void pt_explore_timer_delete(int timer);
void pt_explore_timer_drop(int timer); /* the same of one that nobody has used */
/* `deadline` is of the virtual clock; 0: it is not set any more. */
void pt_explore_timer_set(int timer, uint64_t deadline, uint64_t interval, struct pt_explore_timer_time *before);
void pt_explore_timer_get(int timer, struct pt_explore_timer_time *to);
int pt_explore_timer_overrun(int timer);
void pt_explore_timer_read(int fd); /* what a timer's file had was read */
/* The caller, a thread that is there for it, waits until it is over. False: it was deleted. */
bool pt_explore_timer_await(int timer, const struct pt_site *site);

#endif
