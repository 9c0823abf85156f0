/*
 * The gate: an order of relevant events that the threads of a program are held to, in the memory that the program and
 * its observer share (core/channel.h). The observer writes the schedule before the program starts, and gives each
 * thread who it is once it knows its name; the program's threads count the schedule on; the observer looks at what they
 * do, and opens the gate when it will not be played to its end.
 *
 *   struct pt_gate                          at the channel's gate_offset; offsets below count from its start
 *   struct pt_gate_entry[count]             the schedule
 *   struct pt_gate_actor[role_count]        by role
 *   struct pt_gate_thread[PT_GATE_THREADS]  by the thread's number
 *
 * Positions: the first `from` events of the run are not ordered (the schedule of a long run begins late); entry i is
 * the run's event number from + i, counted from 0. `turn` is the number of events that have happened.
 *
 * A *whole* schedule has beside relevant events all that the predicted run depends on: every lock that is taken, and
 * accesses of variables that threads share without a lock. It begins with the run.
 *
 * A schedule whose last two entries *meet* ends in two accesses: the first one is not made before both threads stand
 * right before theirs.
 *
 * When the schedule is played, one thread has the *floor*, and every other one is held at its next access, lock or
 * user event: first the thread of the last entry, which is the one that breaks what was predicted. The observer passes
 * the floor on when its thread can go no further, and opens the gate at last.
 */
#ifndef PT_CORE_GATE_H
#define PT_CORE_GATE_H

#include <stdatomic.h>
#include <stdint.h>

enum { PT_GATE_THREADS = 4096, PT_GATE_LOCKS = 16, PT_GATE_SAID = 400 }; /* threads of higher numbers have no part in a schedule */

/* What an entry's object is where only the program can number it: some object given to portent_watch. */
#define PT_GATE_ANY_OBJECT UINT32_MAX

/* The last two are of whole schedules. */
enum pt_gate_kind { PT_GATE_WRITE, PT_GATE_USER, PT_GATE_READ, PT_GATE_LOCK /* it is taken, whichever it is */ };

struct pt_gate_entry {
    uint32_t role;         /* who */
    uint32_t kind;         /* enum pt_gate_kind */
    uint32_t object;       /* as in struct pt_record_event */
    uint32_t needs;        /* the value of `turn` from which all is done that the event causally follows */
    _Atomic uint32_t done; /* of a whole schedule: it has happened, perhaps before its turn. Written by the program */
};

struct pt_gate_actor {
    uint32_t before;         /* how many of its relevant events come before the schedule */
    _Atomic uint32_t number; /* the number of the thread that plays it, plus 1; 0: none yet. Written by the program */
};

enum pt_gate_role { PT_GATE_UNKNOWN, PT_GATE_NO_ROLE, PT_GATE_ROLE /* and more: role r is PT_GATE_ROLE + r */ };

enum pt_gate_doing {
    PT_GATE_RUNS,
    PT_GATE_WAITS_TURN, /* held at the gate */
    PT_GATE_WAITS_LOCK, /* about to take `object`, a lock, and not there yet */
    PT_GATE_WAITS_CONDITION,
    PT_GATE_WAITS_OTHER, /* a semaphore or barrier */
    PT_GATE_WAITS_END,   /* of the thread with number `object` */
    PT_GATE_SLEEPS,      /* goes on by itself */
    PT_GATE_ENDED,
};

struct pt_gate_thread {
    _Atomic uint32_t role;  /* enum pt_gate_role; futex: the observer sets it once */
    _Atomic uint32_t doing; /* enum pt_gate_doing */
    _Atomic uint64_t object;
    _Atomic uint64_t locks[PT_GATE_LOCKS]; /* addresses of the locks it holds, 0: none; those that do not fit are not
                                              noted */
    _Atomic uint32_t tid;    /* its number in the kernel, 0: not known yet */
    _Atomic uint32_t stands; /* the entry, plus 1, of an access that it is about to make, ... */
    _Atomic uint64_t address, size; /* ... of this; 0: none */
    _Atomic uint64_t steps;  /* that it went on while it had the floor: only that it changes is of interest */
};

struct pt_gate {
    uint32_t from, count, role_count;
    uint32_t whole;                     /* what the schedule has: see above */
    uint32_t meets;                     /* its last two entries do */
    uint32_t entries, actors, threads;  /* offsets */
    _Alignas(64) _Atomic uint32_t turn; /* futex: threads that wait for theirs */
    _Atomic uint32_t open;              /* nobody waits any more */
    _Atomic uint32_t floor;             /* futex: the number of the thread that has it, plus 1; 0: nobody */
    _Atomic uint32_t met;               /* both have stood before their accesses at one time; written by the program, ... */
    uint64_t met_address[2], met_size[2]; /* ... after these, of the first and of the second */
    _Atomic uint32_t said_len;          /* of `said`; 0: nothing */
    char said[PT_GATE_SAID];            /* the assertion of the program that failed, in words */
};

static inline struct pt_gate_entry *pt_gate_entries(struct pt_gate *gate)
{
    return (void *)((char *)gate + gate->entries);
}

static inline struct pt_gate_actor *pt_gate_actors(struct pt_gate *gate)
{
    return (void *)((char *)gate + gate->actors);
}

static inline struct pt_gate_thread *pt_gate_threads(struct pt_gate *gate)
{
    return (void *)((char *)gate + gate->threads);
}

#endif
