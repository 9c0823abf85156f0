/*
 * The memory file between `portent explore` or `replay` and a program whose threads it schedules, byte by byte.
 *
 * The tool makes the file and starts the program with PORTENT_EXPLORE in its environment: the number of a descriptor,
 * or a path that begins with '/'. Both map it shared. Scheduling decisions are taken inside the program, without the
 * tool: it says beforehand what one *run* is to do (struct pt_explore_input), and reads afterwards what it did
 * (struct pt_explore_result and the tables). One file serves one program and one run at a time; `--jobs` are as many
 * files.
 *
 *   struct pt_explore                      header, at 0; the offsets in it count from the start of the file
 *   struct pt_explore_input                at input_offset   tool -> program, before a run
 *   struct pt_explore_stretch[]            at prefix_offset  tool -> program: decisions that are forced
 *   struct pt_explore_weight[]             at weights_offset tool -> program: how long threads have been
 *   struct pt_explore_place[]              at places_offset  both: places of the program, kept over all runs
 *   bytes                                  at texts_offset   program -> tool: names in places, NUL-terminated
 *   struct pt_explore_result               at result_offset  program -> tool
 *   struct pt_explore_thread[PT_EXPLORE_THREADS]  at threads_offset  program -> tool
 *   struct pt_explore_stretch[]            at taken_offset   program -> tool: all decisions that were taken
 *   struct pt_explore_found[]              at found_offset   program -> tool: what its own checks found
 *   struct pt_explore_step[]               at steps_offset   program -> tool: what was done, step by step
 *
 * The file is sparse: what is not used costs nothing. It is little-endian, of this machine, and does not outlive its
 * tool; what does is the .schedule file (docs/explore.md). Whatever ends the program, all that it had written is there:
 * a step is written before it is done.
 *
 * A *step* is what a thread does from one scheduling point to its next: the operation that it had stopped before, and
 * then whatever no other thread can see. A *slot* is the number of a thread: in order of creation, main is 0, as long
 * as there were fewer than PT_EXPLORE_THREADS; then slots of threads that have ended (and were joined, or are detached)
 * are used again. A run is a sequence of slots: that is all there is to decide, since
 *   - a thread that waits for a time, too, can be taken as soon as it waits: if it has not got what it waits for, it
 *     times out, and the virtual clock moves on;
 *   - a condition's waiter can be taken without having been signalled where `spurious` allows that;
 *   - a signal of a condition leaves a token, which the first of those takes that waited then;
 *   - a signal that one thread sends to another is on its way until the receiver is taken with PT_EXPLORE_HANDLES: a
 *     step of its own, a HANDLE; without it, it goes on as if nothing had come. One that comes from elsewhere (a timer,
 *     the process, the kernel) is handled when its thread is taken next.
 * Decisions are kept as *stretches*: a slot, and how many steps it takes in a row.
 *
 * What is a scheduling point is fixed before a run begins: every operation of enum pt_explore_kind but LOAD, STORE and
 * FREE; and these at places that have PT_EXPLORE_SHARED. While a run goes, the program looks which memory several
 * threads use, and marks further places (PT_EXPLORE_MET), which the tool makes shared before a later run. While no
 * other thread is there that was not joined, there are no points.
 *
 * Fork server. With PT_EXPLORE_SERVES the process that was started stops in the runtime's constructor, before anything
 * of the program has run, and makes a copy of itself for each run: `command` and `answer` are futexes.
 *   tool:   writes the input, sets `command` to the number of the run (1, 2, ...), wakes.
 *   server: forks; writes `child`; the child becomes the program. The server waits for its end, writes `wait_status`,
 *           sets `answer` to the number of the run, wakes.
 * A process that has other threads by then, which a copy would lack (constructors of shared libraries come before the
 * runtime's), says so in `unserved` and is the run itself: from then on the tool starts one for each.
 * PT_EXPLORE_QUIT in `command` ends the server. The tool kills a `child` that takes too long by itself. Server and
 * child die with whoever started them (PR_SET_PDEATHSIG). Without that flag the process is the run, number 1. A program
 * that calls portent_explore_body(f) is the other way round: run 1 begins there; when f has returned, the program sets
 * `answer` with PT_EXPLORE_RETURNED and waits for the next command.
 *
 * With PT_EXPLORE_WATCHES nothing is scheduled, and the process is the run: it only writes what its checks find, what
 * they call possible in another order too.
 */
#ifndef PT_CORE_EXPLORE_H
#define PT_CORE_EXPLORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"

#define PT_EXPLORE_MAGIC "PTEXPL1"
#define PT_EXPLORE_ENV   "PORTENT_EXPLORE"
enum { PT_EXPLORE_VERSION = 7 };
enum {
    PT_EXPLORE_THREADS = 256,
    PT_EXPLORE_WORDS = PT_EXPLORE_THREADS / 64,
    PT_EXPLORE_NAME = 32,
    PT_EXPLORE_SAYS = 1024,
    PT_EXPLORE_DESCRIPTORS = 256, /* that are looked at */
};
#define PT_EXPLORE_QUIT    UINT32_MAX /* of `command` */
#define PT_EXPLORE_NO_SLOT UINT32_MAX

/* A set of slots. */
struct pt_explore_set {
    uint64_t words[PT_EXPLORE_WORDS];
};

struct pt_explore {
    char magic[8]; /* PT_EXPLORE_MAGIC */
    uint32_t version;
    uint32_t flags; /* enum pt_explore_flag */
    uint64_t total_bytes;
    uint64_t input_offset, prefix_offset, weights_offset, places_offset, texts_offset, result_offset, threads_offset,
        taken_offset, steps_offset, found_offset;
    uint32_t prefix_max, weights_max, places_max, texts_max, taken_max, steps_max, found_max; /* of texts bytes */
    _Alignas(64) _Atomic uint32_t command;                                                    /* futex: the tool's */
    _Alignas(64) _Atomic uint32_t answer;                                                     /* futex: the program's */
    _Atomic uint32_t child;                          /* the process that does the run; 0: none */
    _Atomic uint32_t wait_status;                    /* as waitpid has it; PT_EXPLORE_RETURNED: the body has returned */
    _Atomic uint32_t server;                         /* process of the fork server; 0: it has not begun */
    _Atomic uint32_t unserved;                       /* 1: it was to serve, and is the run itself */
    uint64_t inherited[PT_EXPLORE_DESCRIPTORS / 64]; /* that the program has from others */
    _Alignas(64) _Atomic uint32_t place_count;       /* release by the program, acquire by the tool */
    _Atomic uint32_t text_bytes;
    /* Stops for a debugger (PT_EXPLORE_PATIENT): the program counts one and waits, the tool writes what there is to say
     * and sets `told` to the same number. */
    _Alignas(64) _Atomic uint32_t stops; /* futex: the program's */
    _Atomic uint32_t told;               /* futex: the tool's */
    char says[PT_EXPLORE_SAYS];          /* NUL-terminated */
};
#define PT_EXPLORE_RETURNED UINT32_MAX /* of `wait_status` */

enum pt_explore_flag {
    PT_EXPLORE_SERVES = 1,  /* fork server */
    PT_EXPLORE_WATCHES = 2, /* no control */
};

/* ---- what a run is to do ---- */

/*
 * X(name, word): how a thread is chosen where the prefix says nothing. Those that need more than one run are the
 * tool's (predict, exhaustive, auto): they hand prefixes to these.
 *   FIRST   the thread goes on that is running; if it cannot, that with the lowest slot behind it, around. No
 *           preemptions: what follows the prefix of `replay`, of shrinking, of `exhaustive`
 *   RANDOM  any that can go on, with equal probability
 *   PCT     priorities at random; `depth` - 1 times, at steps chosen among `length`, the running thread falls lowest
 *   SURW    as likely as it has, by `weights`, steps left at places with PT_EXPLORE_CHOSEN; others at random
 */
#define PT_EXPLORE_STRATEGIES(X)                                                                                       \
    X(FIRST, "first")                                                                                                  \
    X(RANDOM, "random")                                                                                                \
    X(PCT, "pct")                                                                                                      \
    X(SURW, "surw")
#define PT_EXPLORE_STRATEGY_NAME(name, word) PT_EXPLORE_##name,
enum pt_explore_strategy_kind { PT_EXPLORE_STRATEGIES(PT_EXPLORE_STRATEGY_NAME) PT_EXPLORE_STRATEGY_COUNT };
#undef PT_EXPLORE_STRATEGY_NAME

enum pt_explore_wish {
    PT_EXPLORE_LOGS = 1,      /* steps are written; without it only stretches, threads and the result */
    PT_EXPLORE_LATE = 2,      /* a time-out happens only when no thread can go on without one, the earliest first */
    PT_EXPLORE_STRICT = 4,    /* where the prefix cannot be followed the run ends (DIVERGED); else it goes on freely */
    PT_EXPLORE_REAL_TIME = 8, /* no virtual clock: sleeps sleep, clocks tell the time */
    PT_EXPLORE_PINS = 16,     /* once there are two threads, all run on processor `processor` */
    PT_EXPLORE_PATIENT = 32, /* under a debugger: nobody takes the turn from a thread that sleeps in the kernel with it;
                                before steps `stop_at` and `fails_at`, where the prefix cannot be followed, and before
                                it is ended because nobody can go on, __portent_explore_stop() is called */
    PT_EXPLORE_SLEEPS = 64,  /* `sleep` holds, from the end of the prefix on */
    PT_EXPLORE_EXACT = 128,  /* a thread is not among `yields` only because it is about to yield: it need not let others
                                go first */
};

struct pt_explore_stretch {
    uint32_t who;   /* slot, perhaps with PT_EXPLORE_HANDLES */
    uint32_t steps; /* at least 1 */
};
#define PT_EXPLORE_HANDLES UINT32_C(0x80000000) /* it takes its pending signal first */

/* How many steps a thread had in earlier runs: at chosen places, and in all. By its line of ancestors, so that it is
 * the same thread whichever slot it gets. */
struct pt_explore_weight {
    uint64_t line; /* pt_explore_thread.line */
    uint32_t chosen, steps;
};

struct pt_explore_input {
    uint32_t run;      /* its number */
    uint32_t strategy; /* enum pt_explore_strategy_kind */
    uint64_t seed;
    uint32_t wishes; /* enum pt_explore_wish, or-ed */
    uint32_t depth;  /* of PCT */
    uint64_t length; /* of PCT: steps to expect */
    uint32_t prefix_count, weight_count;
    uint64_t step_limit; /* more steps end the run (LIMIT); 0: none */
    uint32_t spurious;   /* how many wake-ups without a cause there may be */
    uint32_t spin_limit; /* steps that threads may spin while nobody else can go on, before they are stuck if they
                            repeat themselves; 0: 10,000 */
    uint64_t stop_at, fails_at; /* of PATIENT: steps, from 1 on; 0: none */
    uint32_t processor;
    uint32_t unused;
    struct pt_explore_set sleep; /* threads that need not be taken before something that depends on what they are about
                                    to do has been done (sleep sets) */
    uint64_t clock;              /* virtual time at the beginning, nanoseconds since 1970; 0: the real time */
    uint64_t clock_step;         /* nanoseconds that a step takes of it; 0: 1000 */
    char record[256]; /* the child records everything there (core/recording.h); "": nothing. NUL-terminated */
};

/* ---- places ---- */

enum pt_explore_place_flag {
    PT_EXPLORE_SHARED = 1, /* by the tool: loads, stores and frees here are scheduling points */
    PT_EXPLORE_CHOSEN = 2, /* by the tool: of those that SURW weighs */
    PT_EXPLORE_MET = 4,    /* by the program: memory that is accessed here is used by several threads, one writes it */
};

/* `key` names the place in a way that another line above it does not change: file (its last part), function, variable
 * and column. Places with one key are shared together. The program finds a place by `site`; index 0 is no place. */
struct pt_explore_place {
    uint64_t key;
    uint64_t site;                     /* address of its struct pt_site in the program */
    uint32_t file, function, variable; /* offsets in texts */
    uint32_t line, column;
    uint32_t caller;        /* place where it was inlined, 0: it was not */
    _Atomic uint32_t flags; /* enum pt_explore_place_flag */
    uint32_t unused;
};

/* ---- what was done ---- */

/*
 * X(name, word, reads, writes, blocks): what a thread does first in a step. `reads`, `writes`: what it does to the
 * object, for dependence: two steps of different threads depend if they touch common memory or one object and not both
 * only read it. `blocks`: it cannot be taken while the object does not let it.
 */
#define PT_EXPLORE_KINDS(X)                                                                                            \
    X(BEGIN, "begins", 1, 0, 0) /* the thread's first step; object: the slot of its parent */                          \
    X(END, "ends", 0, 1, 0)     /* the last; object: its own slot */                                                   \
    X(LOAD, "loads", 1, 0, 0)   /* memory: address and size */                                                         \
    X(STORE, "stores", 0, 1, 0)                                                                                        \
    X(FREE, "frees", 0, 1, 0) /* the block */                                                                          \
    X(ATOMIC_LOAD, "loads", 1, 0, 0)                                                                                   \
    X(ATOMIC_STORE, "stores", 0, 1, 0)                                                                                 \
    X(ATOMIC_UPDATE, "updates", 1, 1, 0) /* read-modify-write; a compare-and-exchange even if it fails */              \
    X(FENCE, "fences", 0, 0, 0)                                                                                        \
    X(CREATE, "creates", 0, 1, 0) /* object: the slot that the child gets */                                           \
    X(JOIN, "joins", 1, 0, 1)     /* object: slot of the other thread; it has ended */                                 \
    X(LOCK, "locks", 1, 1, 1)     /* mutex, spin lock, write lock */                                                   \
    X(TRY_LOCK, "tries to lock", 1, 1, 0)                                                                              \
    X(READ_LOCK, "locks for reading", 1, 1, 1)                                                                         \
    X(TRY_READ_LOCK, "tries to lock for reading", 1, 1, 0)                                                             \
    X(ASK, "asks for", 1, 1, 0) /* a write lock that lets writers go first: from here on readers wait behind it */     \
    X(UNLOCK, "unlocks", 1, 1, 0)                                                                                      \
    X(WAIT, "waits for", 1, 1, 0)              /* a condition: gives up the mutex (`other`) and begins to wait */      \
    X(WAKE, "wakes from waiting for", 1, 1, 1) /* the same, and takes the mutex: one step with it */                   \
    X(SIGNAL, "signals", 1, 1, 0)                                                                                      \
    X(BROADCAST, "broadcasts", 1, 1, 0)                                                                                \
    X(SEM_WAIT, "takes", 1, 1, 1)                                                                                      \
    X(SEM_TRY, "tries to take", 1, 1, 0)                                                                               \
    X(SEM_POST, "posts", 1, 1, 0)                                                                                      \
    X(ARRIVE, "arrives at", 1, 1, 0) /* a barrier */                                                                   \
    X(LEAVE, "leaves", 1, 0, 1)                                                                                        \
    X(ONCE, "calls once", 1, 1, 1) /* not while another thread is in the initialiser */                                \
    X(ONCE_DONE, "has called once", 1, 1, 0)                                                                           \
    X(FUTEX_WAIT, "waits at", 1, 0, 0) /* futex of a library: looks at the word */                                     \
    X(FUTEX_WOKEN, "goes on at", 1, 1, 1)                                                                              \
    X(FUTEX_WAKE, "wakes", 1, 1, 0)                                                                                    \
    X(SLEEP, "sleeps", 0, 0, 0) /* the step begins when the time is over */                                            \
    X(YIELD, "yields", 0, 0, 0)                                                                                        \
    X(DESCRIPTOR, "uses a descriptor", 1, 1,                                                                           \
      1) /* pipe, socket, eventfd ...: object the descriptor; ready, as poll says */                                   \
    X(FOREIGN, "returns from a call", 0, 0, 0) /* a call that blocked in the kernel without the turn */                \
    X(SEND, "sends a signal to", 1, 1,                                                                                 \
      0) /* a signal to a thread's slot, or PT_EXPLORE_NO_SLOT; other: 1, it is cancelled */                           \
    X(HANDLE, "handles a signal", 1, 1, 0)             /* a signal; object: its own slot */                            \
    X(PAUSE, "is about to wait for a signal", 1, 1, 0) /* object: its own slot; a handler that runs before is none */  \
    X(PAUSED, "waits for a signal", 1, 1, 1)           /* until a handler has run; of sigsuspend it comes alone */     \
    X(USER, "does", 1, 1, 0)                           /* portent_event() and the like */                              \
    X(EXITS, "exits", 0, 0, 0) /* the process ends, whatever other threads are about to do; after exit handlers */
#define PT_EXPLORE_KIND_NAME(name, word, reads, writes, blocks) PT_EXPLORE_##name,
enum pt_explore_kind { PT_EXPLORE_KINDS(PT_EXPLORE_KIND_NAME) PT_EXPLORE_KIND_COUNT };
#undef PT_EXPLORE_KIND_NAME

enum pt_explore_step_flag {
    PT_EXPLORE_FORCED = 1,    /* by the prefix */
    PT_EXPLORE_TIMED_OUT = 2, /* taken before it had what it waited for */
    PT_EXPLORE_SPURIOUS = 4,
    PT_EXPLORE_SPUN = 8,      /* it was known to spin when it was taken */
    PT_EXPLORE_FAILED = 16,   /* a try that did not succeed. Written after the step */
    PT_EXPLORE_OUTSIDE = 32,  /* something outside of the process decided when it could be taken */
    PT_EXPLORE_STOLEN = 64,   /* the turn was taken from a thread that slept with it */
    PT_EXPLORE_HANDLED = 128, /* it was taken with PT_EXPLORE_HANDLES */
};

struct pt_explore_step {
    uint32_t who;                  /* slot */
    uint16_t kind;                 /* enum pt_explore_kind */
    uint8_t size;                  /* of memory, at most 255; of objects 0 */
    uint8_t flags;                 /* enum pt_explore_step_flag */
    uint64_t object;               /* address, slot or descriptor */
    uint64_t other;                /* mutex of a condition; size of a FREE, or of memory above 255; else 0 */
    uint64_t value;                /* what the memory (at most 8 bytes) had before the step, for a load what it reads */
    uint32_t place;                /* index, 0: none */
    uint32_t own;                  /* how many steps the thread had before this one */
    struct pt_explore_set enabled; /* that could have been taken here, this one among them */
    struct pt_explore_set yields;  /* of those: that spin or have yielded, and are taken last */
    struct pt_explore_set signals; /* of those: that can be taken with PT_EXPLORE_HANDLES */
    struct pt_explore_set bound;   /* of these: only so */
};

enum pt_explore_state {
    PT_EXPLORE_NONE,    /* slot not in use in this run */
    PT_EXPLORE_RUNS,    /* has the turn */
    PT_EXPLORE_READY,   /* about to do `kind`, and could */
    PT_EXPLORE_BLOCKED, /* about to do `kind`, and cannot */
    PT_EXPLORE_AWAY,    /* in a call that blocks in the kernel, without the turn */
    PT_EXPLORE_ENDED,
};

/* As it was last, so for a run that got stuck: who waits for what. */
struct pt_explore_thread {
    uint64_t line;              /* hash of its line of ancestors: pt_explore_line(parent's, how manieth child of it) */
    uint32_t parent;            /* slot */
    uint32_t tid;               /* in the kernel */
    uint64_t start;             /* address of its start function, 0: main */
    char name[PT_EXPLORE_NAME]; /* given with pthread_setname_np; "": none */
    uint32_t state;             /* enum pt_explore_state */
    uint32_t kind;              /* enum pt_explore_kind: what it is about to do, or was last */
    uint64_t object, other;
    uint64_t deadline; /* virtual time until which it waits, 0: for ever */
    uint32_t owner;    /* slot of who has the object or, of a JOIN, is waited for; PT_EXPLORE_NO_SLOT: nobody known */
    uint32_t place;    /* where it is about to do that */
    uint32_t number;   /* in order of creation; differs from the slot where that was used again */
    uint32_t steps, chosen; /* so far: in all, and at places with PT_EXPLORE_CHOSEN */
    uint32_t reported;      /* its number in reports (struct pt_explore_found); 0: it has not begun */
};

/* Why a run ended. Where the process just ended (exit, signal), nobody could say so: RUNNING stays, and `wait_status`
 * says how. */
enum pt_explore_end {
    PT_EXPLORE_RUNNING,
    PT_EXPLORE_STUCK,     /* no thread can go on, and nothing from outside could help: told at once */
    PT_EXPLORE_LIVELOCK,  /* those that can go on only repeat themselves, for spin_limit steps */
    PT_EXPLORE_LIMIT,     /* step_limit */
    PT_EXPLORE_DIVERGED,  /* the prefix could not be followed (STRICT) */
    PT_EXPLORE_REDUNDANT, /* all that can go on are in the sleep set, or spin: an equivalent run has been
                             done */
    PT_EXPLORE_FULL,      /* a table of this file is: the run cannot be told whole */
    PT_EXPLORE_BODY,      /* the function of portent_explore_body has returned */
};
/* The process ends itself with this status for all of these but BODY. */
enum { PT_EXPLORE_EXIT = 125 };

/* X(name, words): why not everything was under control. The run counts, its failure too; that it can be replayed, and
 * that all schedules were explored, does not. */
#define PT_EXPLORE_LOSSES(X)                                                                                           \
    X(STOLEN, "a thread slept in the kernel in a call that Portent does not know")                                     \
    X(STRANGER, "a thread was started without pthread_create")                                                         \
    X(OUTSIDE, "something outside of the process decided when a thread went on")                                       \
    X(CROWD, "there were more threads at a time than can be scheduled")                                                \
    X(FORKED, "it forked, and its child was not scheduled")                                                            \
    X(PLACES, "it has more places than there is room for")                                                             \
    X(EARLY, "a thread was there before main, and was not scheduled")
#define PT_EXPLORE_LOSS_NAME(name, words) PT_EXPLORE_LOST_##name,
enum pt_explore_loss { PT_EXPLORE_LOSSES(PT_EXPLORE_LOSS_NAME) PT_EXPLORE_LOSS_COUNT };
#undef PT_EXPLORE_LOSS_NAME
/* After these, threads run that nobody schedules. An EARLY one is the library's that has it, and mostly keeps to
 * itself: the others are under control all the same. */
#define PT_EXPLORE_ESCAPES (1u << PT_EXPLORE_LOST_STOLEN | 1u << PT_EXPLORE_LOST_STRANGER | 1u << PT_EXPLORE_LOST_CROWD)

/* A timer was set; the clock was read while there were several threads. */
enum pt_explore_time { PT_EXPLORE_TIMER_SET = 1, PT_EXPLORE_CLOCK_READ = 2 };

/* What one of the program's own checks found, when it did for the first time in a run. */
enum { PT_EXPLORE_REPORT = 16000 };
struct pt_explore_found {
    _Atomic uint64_t key; /* the same finding has the same one in every run; written last, 0: it is not whole */
    uint64_t step;        /* that was under way, from 1 on; 0: none was yet, or nothing is scheduled */
    uint64_t count;       /* how often, about: threads that are not scheduled may count at the same time */
    uint32_t check;       /* enum pt_found_check */
    uint32_t bytes;       /* of the report; 0: there is none */
    char report[PT_EXPLORE_REPORT]; /* as core/found.h has it */
};

struct pt_explore_result {
    uint32_t run;                        /* the input's, written first of all */
    uint32_t end;                        /* enum pt_explore_end */
    uint64_t step_count;                 /* taken; min(step_count, steps_max) of them are in the table */
    uint32_t taken_count, thread_count;  /* stretches; slots that were used */
    uint64_t preemptions;                /* switches away from a thread that could have gone on and did not yield */
    uint64_t schedule;                   /* hash of all that was taken: equal schedules have equal ones */
    uint64_t values;                     /* hash of kinds, place keys and values of all steps, for replay */
    uint64_t diverged_at;                /* step, from 1 on, that the prefix did not allow; 0: none */
    uint32_t losses;                     /* 1 << enum pt_explore_loss, or-ed */
    uint32_t lost_place;                 /* of the first */
    uint32_t fresh;                      /* places that became MET in this run */
    uint32_t time_outs, spurious, spins; /* how many there were */
    uint32_t timers;                     /* that are set, and not over yet */
    uint32_t times;                      /* enum pt_explore_time, or-ed: what went by the virtual clock */
    uint64_t clock;                      /* virtual time at the end */
    uint32_t leaving;                    /* slot, plus 1, of a thread that libc is about to end; 0: none */
    _Atomic uint32_t found_count;        /* how many different findings; min(found_count, found_max) are in the table */
};

/* ---- what both sides compute ---- */

static inline bool pt_explore_has(const struct pt_explore_set *set, uint32_t slot)
{
    return set->words[slot / 64] >> slot % 64 & 1;
}
static inline void pt_explore_add(struct pt_explore_set *set, uint32_t slot)
{
    set->words[slot / 64] |= UINT64_C(1) << slot % 64;
}
static inline void pt_explore_drop(struct pt_explore_set *set, uint32_t slot)
{
    set->words[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}
static inline bool pt_explore_is_empty(const struct pt_explore_set *set)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        all |= set->words[i];
    return !all;
}

/* How a step was taken, as a prefix has it. */
static inline uint32_t pt_explore_choice(const struct pt_explore_step *step)
{
    return step->who | (step->flags & PT_EXPLORE_HANDLED ? PT_EXPLORE_HANDLES : 0);
}

/* Of main it is 0. `child` is how many children its parent had started before it. */
static inline uint64_t pt_explore_line(uint64_t parent, uint32_t child)
{
    return pt_mix64(parent * 31 + child + 1);
}

/* A table of the file, by the offset in its header. */
#define PT_EXPLORE_AT(type, file, offset) ((type *)((char *)(file) + (file)->offset))

#endif
