/* A run under a schedule, as `explore` shows it: who ran how far, and how it failed. Data only. */
#ifndef PT_FINDING_PLAYED_H
#define PT_FINDING_PLAYED_H

#include <stdbool.h>
#include <stdint.h>

/* Something that a thread did, or was about to do. Texts are "" where nothing is known. */
struct pt_played_point {
    const char *op; /* "loads", "locks"; "": there is none */
    const char *object, *function, *loc;
};

struct pt_played_stretch {
    uint32_t thread; /* its slot */
    const char *name;
    uint64_t steps;
    bool handles;                      /* it handles a signal first */
    struct pt_played_point last, next; /* what it did last, and was about to do when another thread was let on */
};

struct pt_played_wait {
    uint32_t thread;
    const char *name;
    struct pt_played_point point;
    const char *owner; /* who has it, or is waited for; "": nobody known */
};

struct pt_played {
    const char *failure; /* "signal", "status", "deadlock", ...: one word */
    const char *what;    /* the same as a sentence without its stop */
    const char *found_by;
    const char *file;           /* where the schedule was written, NULL: nowhere */
    const char *const *program; /* the command that was explored, then NULL; NULL: not known */
    const char *output;         /* the last that the run printed, NULL: nothing */
    uint64_t run, seed, steps, preemptions;
    int64_t number;             /* of the signal, or the status; -1: it is neither */
    bool reproduced;            /* the schedule was run again, and failed in the same way */
    const char *const *threads; /* names by slot, then NULL */
    struct pt_played_stretch *stretches;
    uint32_t stretch_count;
    struct pt_played_wait *waits;
    uint32_t wait_count;
    struct pt_played_stretch *passing; /* of the nearest run that did not fail; NULL: none is known */
    uint32_t passing_count;
};

/* What an exploration did as a whole. */
struct pt_explored {
    const char *strategy;
    uint64_t seed, runs, distinct, redundant, diverged, failing;
    bool complete; /* all schedules were explored */
    bool bounded;  /* ... with at most so many preemptions: */
    uint64_t preemptions;
    const char *why;           /* why the answer is not whole, NULL: it is, or says so itself */
    const char *const *losses; /* of control, in words, then NULL */
    bool killed;               /* the ordinary run was killed: there is no ordinary status */
    int64_t ordinary;
    bool stress; /* runs were without control: all, or those after the first `controlled`, because ... */
    uint64_t controlled;
    const char *fell_back; /* ... of this; NULL: that was asked for */
    bool served;           /* controlled runs were copies of a process that had just been loaded (a fork server) */
    const char *unserved;  /* why not, though that was asked for; NULL: nothing kept them */
    double seconds;
};

#endif
