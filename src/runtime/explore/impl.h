/* Inside runtime/explore: the state of the run. It is the turn's: who has it may read and change all of it, with the
 * lock held, because threads that come back from the kernel, or take the turn from one that sleeps, look at it too. */
#ifndef PT_RUNTIME_EXPLORE_IMPL_H
#define PT_RUNTIME_EXPLORE_IMPL_H

#include <signal.h>
#include <stdatomic.h>

#include "core/explore_depend.h"
#include "core/explore_pick.h"
#include "runtime/explore/explore.h"
#include "runtime/sys/spin.h"

enum { PT_EXPLORE_READS = 32, PT_EXPLORE_FLIGHT = 4, PT_EXPLORE_TIMERS = 64 };

/* A signal on its way to a thread. */
struct pt_explore_flight {
    int signal, code;
    bool has_value;
    bool to_process; /* any thread may have it */
    union sigval value;
};

/* A timer of the program's, on the virtual clock. */
struct pt_explore_timer {
    bool used, deleted;
    enum pt_explore_timer_what what;
    int signal, code, file;
    uint32_t slot;
    union sigval value;
    uint64_t deadline; /* 0: it is not set */
    uint64_t interval; /* 0: it is over once */
    uint64_t expired;  /* and nobody has been told: of a file, how often */
    uint32_t overrun;  /* how often more it was over the last time */
};

struct pt_explore_slot {
    _Atomic uint32_t go; /* futex: the turn is this thread's */
    uint32_t tid, children;
    enum pt_explore_state state;
    enum pt_explore_what what; /* of the object of its next step */
    uint64_t deadline;
    bool waits;     /* for a condition or a futex: it is among those whom a signal may wake */
    bool woken;     /* it was broadcast to; or its barrier is complete */
    bool signalled; /* a handler of a signal is to run: it can go on for that, whatever it waits for */
    struct pt_explore_flight flight[PT_EXPLORE_FLIGHT]; /* oldest first */
    uint32_t flight_count;
    bool handles;          /* it was taken to handle the first of them */
    uint64_t pending_seen; /* 1 + the signal_news at which no signal was pending that it waits for */
    bool held;             /* it could not go on when it was taken for a handler */
    bool restarts;         /* of the handler: a call that it interrupts goes on */
    bool interrupted;      /* a handler has run since it began to wait for a signal */
    bool cancelled;        /* somebody cancels it: a wait in which that may happen is over */
    bool waits_on;         /* it was taken to let time pass until a timer is over, and waits again */
    bool cancel_off;       /* it is not to be cancelled for now */
    bool released;         /* joined or detached */
    uint32_t answer;       /* of its point */
    uint64_t yielded_at;   /* the step before which it yielded: until another thread has taken one */
    uint32_t quiet;        /* accesses since its last point */
    uint32_t quiets;       /* how often there were too many, one after the other */
    /* spinning: reads since its last write */
    uint64_t reads[PT_EXPLORE_READS];
    uint32_t read_count, repeats, loop_at; /* loop_at: the read that is repeated */
    bool spins, tries; /* tries: what it repeats includes failed attempts, so that an unlock counts */
    uint64_t seen_writes, seen_unlocks;
    /* whether that goes on for ever (recur.c) */
    uintptr_t stack_top; /* where its first frames are; 0: of the first thread */
    uint64_t stores;     /* to memory that is nobody else's, which are no points */
    uint64_t recur_state, recur_points, recur_most, recur_writes, recur_stores;
    bool recurs; /* since these writes and stores */
};

/* A signal of a condition, or a wake of a futex: one of these may take it. */
struct pt_explore_token {
    const void *object;
    struct pt_explore_set who;
};

struct pt_explore_run {
    struct pt_explore *file;
    struct pt_explore_input given; /* a copy */
    const struct pt_explore_input *input;
    struct pt_explore_place *places;
    char *texts;
    struct pt_explore_result *result;
    struct pt_explore_thread *threads;
    struct pt_explore_stretch *taken;
    struct pt_explore_step *steps;

    struct pt_spin lock;
    uint32_t turn;       /* slot of who has it; PT_EXPLORE_NO_SLOT: nobody can go on, but somebody will come back */
    uint32_t current;    /* who was taken last */
    uint32_t slot_count; /* used so far */
    uint32_t live;       /* not ended, or not joined */
    uint32_t unjoined;
    uint32_t away;            /* in the kernel without the turn */
    _Atomic uint32_t watcher; /* 1 + slot of the waiting thread that looks now and then; 0: none */
    _Atomic uint32_t holds;   /* threads that wait inside of the runtime, with the turn or without */
    bool handled;             /* the program has handlers */
    bool outside;             /* timers may send signals: nobody is ever stuck */
    bool several;             /* there is another thread that was not joined */
    bool strangers;           /* there are threads that nobody schedules: started before the runtime (early), or without
                                 us */
    bool early;
    uint32_t leaving; /* task that has given up the turn to end; 0: none */
    uint64_t writes, unlocks;
    uint64_t in_row;  /* steps that `current` has taken, one after the other */
    uint64_t spun;    /* steps in a row of threads that spin while nobody else could go on */
    bool slept;       /* one of these was a sleep */
    uint32_t awaited; /* how often the next thread of the schedule was waited for, which is outside */
    uint64_t idled;   /* the same, whoever could */
    uint64_t clock, clock_began;
    uint64_t clock_reads, clock_read_in; /* how often it was read in this stretch */
    struct pt_explore_token tokens[PT_EXPLORE_THREADS];
    uint32_t token_count;
    struct pt_explore_timer timers[PT_EXPLORE_TIMERS];
    uint64_t timer_next;        /* when the next is over; UINT64_MAX: never */
    uint64_t signal_news;       /* counts what may make a signal pending */
    uint64_t alarm_lent;        /* how long the timer of alarm had left when the kernel got it; 0: it has not */
    struct pt_explore_set used; /* slots of threads that have not ended */
    struct pt_explore_set enabled, yields, chosen, signals, bound;
    struct pt_explore_picker picker;
    struct pt_explore_step next[PT_EXPLORE_THREADS];
    struct pt_explore_slot slots[PT_EXPLORE_THREADS];
};
extern struct pt_explore_run pt_run;

/* wait.c: fills `enabled`, `yields` and `chosen`. False: nobody can go on. */
bool pt_wait_look(void);
/* What it waits for may come from outside of the process. */
bool pt_wait_is_outside(uint32_t slot);
/* It was taken: what it takes with it, and the time that has passed. */
void pt_wait_take(uint32_t slot);

/* object.c: whether a thread could take it now; `what` the slot's next step says it is. */
void pt_object_start(void);
bool pt_object_lock_lets(uint32_t slot, const void *object, bool write);
bool pt_object_mutex_lets(const void *mutex, uint32_t tid);
bool pt_object_semaphore_lets(const void *semaphore);
bool pt_object_once_lets(const void *control);
/* A reader-writer lock: whether readers wait behind a writer that waits, and whether any have it. */
bool pt_object_prefers_writers(const void *lock);
bool pt_object_has_readers(const void *lock);
/* Who has what the thread waits for; PT_EXPLORE_NO_SLOT: nobody, or that is not known. */
uint32_t pt_object_owner(uint32_t slot);

/* token.c: whether the thread, which waits there, may take a signal; and it was taken, with that or without. */
bool pt_token_for(uint32_t slot, const void *object);
void pt_token_take(uint32_t slot);

/* descriptor.c: nothing outside of the process makes it ready; `depth` of epolls that watch it */
bool pt_file_is_own(int fd, unsigned depth);

/* turn.c: the lock is held. Who goes next, and it may. */
void pt_turn_decide(void);
/* The caller, which has the lock, gives it up, and goes on when it is taken, or at once if it was. */
void pt_turn_pass(uint32_t slot);
/* The same without going on: it ends, or is in the kernel. */
void pt_turn_give(void);
/* Waits until the slot is taken; notices signals meanwhile. */
void pt_turn_await(uint32_t slot);

/* spin.c: by the caller, who has the turn and is about to do its step. */
void pt_explore_spin_note(uint32_t slot, const struct pt_explore_step *step, uint64_t value);
bool pt_explore_spins(uint32_t slot);
/* The calling thread is at a point, while nobody but spinning threads has gone on for PT_RECUR_AFTER steps. */
enum { PT_RECUR_AFTER = 50 };
void pt_recur_note(uint32_t slot, const struct pt_explore_op *op);
/* Whether all threads that can go on only repeat themselves. Or those that do need not be taken before the others. */
bool pt_recur_all(void);
void pt_recur_leave_out(void);

/* places.c */
void pt_place_start(void);
void pt_place_learn(void); /* those that are in the file and not known yet */
uint32_t pt_place_of(const struct pt_site *site);
static inline uint32_t pt_place_flags(uint32_t place)
{
    return place ? atomic_load_explicit(&pt_run.places[place].flags, memory_order_relaxed) : 0;
}
void pt_place_meet(uint32_t place);

/* shared.c: which memory several threads use */
bool pt_shared_start(void);
void pt_shared_note(uintptr_t address, size_t size, bool write, uint32_t place);
/* Whether another thread uses it, or it is used at places that are shared: its end is a point. */
bool pt_shared_is_used(uintptr_t address, size_t size);
void pt_shared_free(uintptr_t address, size_t size);
void pt_shared_forget(uintptr_t from, uintptr_t to);
void pt_shared_reset(void);

/* end.c */
_Noreturn void pt_end(enum pt_explore_end why);

/* clock.c */
void pt_explore_clock_start(void);

/* timer.c: those that are over, with the lock held, before who can go on is looked at */
void pt_timer_start(void);
void pt_timer_expire(void);
/* Nobody goes on: time passes until the next that can help. False: there is none. */
bool pt_timer_jump(void);
/* So much time has passed while nobody could go on. */
void pt_timer_pass(uint64_t nanoseconds);
/* The caller goes to the kernel without the turn, which may have to interrupt it; and it is back. */
void pt_timer_lend(void);
void pt_timer_take_back(void);
bool pt_wait_timer(uint32_t timer);

/* signal.c: the first signal on its way to the caller comes now. */
void pt_flight_arrive(uint32_t slot);
/* The first thread that lets the signal through, of those that have not ended; PT_EXPLORE_NO_SLOT: none does. */
uint32_t pt_flight_receiver(int signal);
/* One is on its way to this thread; NO_SLOT: all block it, and it is left to the kernel. */
void pt_flight_put(uint32_t slot, const struct pt_explore_flight *flight);
/* The slot's thread ends: what others may have is theirs. */
void pt_flight_leave(uint32_t slot);
/* All that are on their way to a thread, by whoever calls: the kernel may take a while. */
void pt_flight_flush(uint32_t slot);

/* thread.c */
void pt_explore_thread_start(void);
/* Whether the process has threads that nobody schedules: a system call, some more where it seems so. */
bool pt_explore_has_strangers(void);
/* Whether there are scheduling points: with other threads, or timers that may be over. */
void pt_explore_settle(void);
void pt_announce(uint32_t slot, const struct pt_explore_op *op);

/* stop.c: by the thread that has the turn for a step, before it does it: perhaps a debugger is to stop here. */
void pt_explore_stop_here(void);
/* The same when the run is over, and the reason written down. */
void pt_explore_stop_at_end(void);

/* heap.c: what libc writes into freed memory is the same in every process. */
void pt_explore_heap_start(void);

#endif
