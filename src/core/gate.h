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
 * The last entries of a whole schedule may *meet*: the first of them is not done before the threads of all stand right
 * before theirs. They may be known by their place in the source alone, where nobody knows their memory by name. A
 * *bare* schedule has no others, and nobody else is held before it is played; since nobody knows how often a thread
 * passes there before, it goes on after a while if the others do not come, and stands there again the next time. A
 * thread that has several of these entries stands before the first of them; the others come in their turn.
 *
 * When the schedule is played, one thread has the *floor*, and every other one is held at its next access, lock or
 * user event: first the thread of the last entry, which is the one that breaks what was predicted. The observer passes
 * the floor on when its thread can go no further, and opens the gate at last.
 */
#ifndef PT_CORE_GATE_H
#define PT_CORE_GATE_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    PT_GATE_THREADS = 4096,
    PT_GATE_LOCKS = 16,
    PT_GATE_SAID = 400,
    PT_GATE_MEET = 8,
    PT_GATE_FILE = 248
}; /* threads of higher numbers have no part in a schedule */

/* What an entry's object is where only the program can number it: some object given to portent_watch. */
#define PT_GATE_ANY_OBJECT UINT32_MAX

/* All but the first two are of whole schedules, those `AT` of entries that meet: whatever it is of, at its place. */
enum pt_gate_kind {
    PT_GATE_WRITE,
    PT_GATE_USER,
    PT_GATE_READ,
    PT_GATE_LOCK, /* it is taken, whichever it is */
    PT_GATE_AT_READ,
    PT_GATE_AT_WRITE,
    PT_GATE_AT_LOCK,
    PT_GATE_AT_FREE, /* wherever it stands */
    PT_GATE_AT_TAKE, /* as AT_LOCK, but it is done when the lock was taken, not when it is waited for */
};

struct pt_gate_place {
    uint32_t line;
    uint32_t skip; /* so often the thread passes there before it is the entry. Written by the program */
    uint32_t each; /* of a bare schedule: so often again before each further time, of locks taken at one place */
    char file[PT_GATE_FILE];
};

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
    _Atomic uint32_t tid;                  /* its number in the kernel, 0: not known yet */
    _Atomic uint32_t stands;               /* the entry, plus 1, of the event that it is about to do, ... */
    _Atomic uint64_t address, size;        /* ... with this; 0: none */
    _Atomic uint64_t steps; /* that it went on while it had the floor: only that it changes is of interest */
};

struct pt_gate {
    uint32_t from, count, role_count;
    uint32_t whole;                            /* what the schedule has: see above */
    uint32_t meets;                            /* so many entries at its end do, PT_GATE_MEET at most */
    uint32_t bare;                             /* it has no others */
    uint64_t stand_ns;                         /* so long a thread stands before one of these; 0: as long as it takes */
    struct pt_gate_place places[PT_GATE_MEET]; /* of those; line 0: not known */
    uint32_t entries, actors, threads;         /* offsets */
    _Alignas(64) _Atomic uint32_t turn;        /* futex: threads that wait for theirs */
    _Atomic uint32_t open;                     /* nobody waits any more */
    _Atomic uint32_t floor;                    /* futex: the number of the thread that has it, plus 1; 0: nobody */
    _Atomic uint32_t met; /* all have stood before their events at one time; written by the program, ... */
    uint64_t met_address[2], met_size[2]; /* ... after these, of the first and of the second, if there are two */
    _Atomic uint32_t strays;              /* reads that did not wait for their turn any longer */
    _Atomic uint32_t said_len;            /* of `said`; 0: nothing */
    char said[PT_GATE_SAID];              /* the assertion of the program that failed, in words */
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
