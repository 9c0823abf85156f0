/*
 * The inside of stretch.c, stretch_end.c, stretch_start.c, stretch_log.c and stretch_other.c: the cone of one property
 * by two threads, each of which explores *stretches* of the trace.
 *
 * A stretch begins at a cut of the actual run, before anybody has explored what leads there: from that cut alone, with
 * what monitors are guessed to be in. Levels of bounded windows forget: after some tens of levels its cuts are usually
 * those that the whole cone has. Whether they are is looked at: the stretch before goes on a little beyond this one's
 * begin, and both write down what they have at the same levels (*snapshots*). Where two are the same, they have
 * *joined*, and all that follows is.
 */
#ifndef PT_ENGINE_STRETCH_H
#define PT_ENGINE_STRETCH_H

#include <pthread.h>

#include "engine/ranks.h"

/* A relevant event, with what is known of it once it has been met: by whoever explores a stretch that has it. */
struct lat_logged {
    uint64_t line;
    struct pt_value value;
    struct pt_clock *clock; /* the log's: nobody counts who has it */
    uint32_t thread, object, loc, lane;
    uint32_t var, user_event, effect;
    pt_mstate observed; /* of the actual run, after it */
    uint8_t op;
};

/* Events by their numbers. One thread adds and forgets, several read what was published (stretch_log.c). */
struct lat_log_chunk;
enum { LAT_LOG_CHUNKS = 512 };
struct lat_log {
    uint64_t first, end; /* events from `first` on, before `end`, are in it */
    struct lat_log_chunk *chunks[LAT_LOG_CHUNKS];
    struct lat_log_chunk *spare;
    size_t bytes;
};
void lat_log_init(struct lat_log *log, uint64_t first);
void lat_log_release(struct lat_log *log);
bool lat_log_is_full(const struct lat_log *log);
/* The event with the number `end`; the clock is copied. */
void lat_log_add(struct lat_log *log, const struct lat_logged *event, const struct pt_clock *clock);
const struct lat_logged *lat_log_at(const struct lat_log *log, uint64_t number);
/* The event with this number will be asked for next, and those after it, before `upto`: another core has them. */
void lat_log_fetch(const struct lat_log *log, uint64_t number, uint64_t upto);
/* Events with lower numbers are not asked for again. */
void lat_log_forget(struct lat_log *log, uint64_t before);

/* A cut of the actual run, and all that a lattice needs to know to begin there. */
struct lat_start {
    uint64_t number;          /* so many events it has */
    struct pt_value *values;  /* per variable ... */
    uint64_t *numbers;        /* ... and which event wrote it; 0: none */
    struct lat_column *lanes; /* per column: lane, tenant and how many events have come */
    uint32_t lane_count;
    struct lat_tenant *tenants;
    uint32_t tenant_count;
    pt_letter letter;
    pt_mstate observed;
    pt_set set;    /* a guess */
    bool row;      /* another one: two threads at most have pending events (pair.c) */
    bool complete; /* nothing is known to be left out before: it looks whether that goes on */
};
/* Of what the front has met so far. */
void lat_start_take(const struct pt_lattice *front, pt_set guess, bool row, struct lat_start *ret_start);
void lat_start_release(struct lat_start *start);
/* The lattice forgets all it knows and begins there; `remembers`: it has a history, and clocks of its own. Else those
 * of its events are the log's. */
void lat_start_begin(struct pt_lattice *l, const struct lat_start *start, bool remembers);

/* A level as a set of cuts and what they are for the monitor, whoever has made it. */
struct lat_snapshot {
    uint32_t count; /* cuts; 0: none that could be compared */
    uint32_t event_count;
    uint64_t states; /* explored so far */
    bool row;        /* of two threads: `events` are their lanes, and how many events of each its first cut has; where
                        completeness is judged, also what the row before was */
    uint64_t events[LAT_RANK_SPAN];
    lat_word *words;
    pt_letter *letters;
    pt_set *sets;
};

enum { LAT_CHECKS = 7 }; /* levels after its begin at which a stretch may join */

/* What is known of the levels of a stretch up to one for which there is a snapshot, from the one before it on. */
struct lat_passage {
    uint64_t level, width;
    bool complete; /* nothing was left out */
};

struct lat_stretch {
    struct lat_start start;
    struct pt_lattice *lattice;
    bool other;          /* the other thread explores it */
    uint32_t tried;      /* so many pairs of snapshots have been different */
    uint64_t joined;     /* from this level on it is what the cone is */
    uint64_t states;     /* that it had explored then ... */
    uint64_t all_states; /* ... and that the cone had ... */
    uint64_t all_width;  /* ... with such a level, ... */
    bool all_complete;   /* ... and nothing left out */
    struct lat_passage passages[2 * LAT_CHECKS];
    uint32_t passage_count;
    struct lat_snapshot heads[LAT_CHECKS], tails[LAT_CHECKS]; /* after its begin; after its end */
    uint64_t fed;                                             /* it has been given the events up to this one */

    /* By the caller, for who explores it. */
    _Alignas(LAT_CACHE_LINE) _Atomic uint64_t end; /* the next one begins after so many events; UINT64_MAX: not known */
    _Atomic uint64_t goal;                         /* a level; it need not go further */

    /* By who explores it. */
    _Alignas(LAT_CACHE_LINE) _Atomic uint32_t head_count, tail_count;
    _Atomic bool halted;     /* at its level there is something to tell, and nothing was done about it */
    _Atomic bool finished;   /* the trace has ended, and all of it is explored */
    _Atomic uint64_t rested; /* the other thread is not at it any more while its goal is not higher than this */
};
static inline bool lat_stretch_rests(const struct lat_stretch *s)
{
    return !s->other || s->rested >= s->goal;
}

enum { LAT_STRETCHES = 4 }; /* that may be there at a time, besides the first one */

/* What was explored before: where to begin if a level is to be explored once more. */
struct lat_explored {
    struct lat_start start;
    uint64_t joined, states; /* from this level on it was right; states of the cone up to there */
    uint64_t width;
    bool complete;
};

/* Two threads at the cone of one property. */
struct lat_stretches {
    struct pt_lattice *root;   /* whose cone it is, for everybody else */
    struct pt_lattice *origin; /* what explored it until now: the first stretch goes on with it */
    struct pt_lattice *front;  /* meets events, follows the actual run, and explores nothing */
    struct pt_finding *finding;
    struct pt_analysis_options options; /* of the lattices of all others */
    struct lat_stretch pool[LAT_STRETCHES + 1];
    struct lat_stretch *chain[LAT_STRETCHES + 1]; /* the first one has joined */
    uint32_t count;
    struct lat_stretch *given; /* to the other thread; NULL: none */
    bool handing;              /* the last one is the other thread's: it is given events, and grows */
    uint64_t length, least;
    struct lat_explored *explored; /* ascending; without the origin */
    uint32_t explored_count;
    size_t explored_cap;
    bool origin_needed;
    uint64_t began, began_level, began_states, began_width; /* when, and where */
    bool began_complete;
    bool judged;
    struct lat_log log;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, progress;
    uint32_t spins;
    _Alignas(LAT_CACHE_LINE) _Atomic uint64_t published; /* events before this number may be read */
    _Atomic uint64_t turn;                               /* changes with `given`, which it says, too */
    _Atomic bool over, quit;                             /* no more events will come; it shall end */
    _Atomic bool caller_sleeps;                          /* changed with the lock */
    _Alignas(LAT_CACHE_LINE) _Atomic bool other_sleeps;  /* changed with the lock */
};

/* stretch.c */
enum lat_poll { LAT_GOES_ON, LAT_TELLS, LAT_FAILS };
/* Joins what can be, as far as that is known. TELLS: there is something to tell of the head; FAILS: it does not join.
 */
enum lat_poll lat_stretch_poll(struct lat_stretches *st);
/* One that is not in the chain; and with its start, as if nobody had explored it. */
struct lat_stretch *lat_stretch_take(struct lat_stretches *st);
void lat_stretch_reset(struct lat_stretch *s, bool other);
/* Explores it as far as it has to go, if it is the caller's. */
void lat_stretch_run_own(struct lat_stretches *st, struct lat_stretch *s);
/* What is logged may be read. */
void lat_stretch_publish(struct lat_stretches *st);

/* stretch_end.c */
/* What the lattice of the stretch has seen after this level goes into the finding of the whole. */
void lat_stretch_sum(struct lat_stretches *st, const struct lat_stretch *s, const struct pt_lattice *l, uint64_t level);
/* Where one thread would be now, with its history. The other one has ended. */
struct pt_lattice *lat_stretch_restore(struct lat_stretches *st);
/* One thread goes on, with this lattice, which is no stretch any more. */
void lat_stretch_end_with(struct lat_stretches *st, struct pt_lattice *l);
/* The actual run, as it was followed by another lattice. */
void lat_stretch_take_over(struct pt_lattice *l, const struct pt_lattice *front);

/* stretch_start.c */
void lat_snapshot_init(struct lat_snapshot *snapshot, const struct pt_lattice *l);
void lat_snapshot_release(struct lat_snapshot *snapshot);
bool lat_snapshot_same(const struct lat_snapshot *a, const struct lat_snapshot *b);
/* The level after a begin, or an end, with this number of a check; UINT64_MAX: none. */
uint64_t lat_check_level(uint64_t from, uint32_t check);
/* When the next snapshot is due. */
void lat_stretch_aim(struct pt_lattice *l);

/* stretch_other.c */
/* Gives the stretch events before number `upto`, as far as it has to go. False: there was nothing to do. */
bool lat_stretch_run(struct lat_stretches *st, struct lat_stretch *s, uint64_t goal, uint64_t upto);
/* False: there is no thread to be had. */
bool lat_other_start(struct lat_stretches *st);
void lat_other_quit(struct lat_stretches *st);
/* What it had before rests, or was none. NULL: nothing. */
void lat_other_give(struct lat_stretches *st, struct lat_stretch *s);
/* Something was changed that it may wait for. */
void lat_other_wake(struct lat_stretches *st);
/* Until the other's stretch rests, or has more snapshots after its begin than that. */
void lat_other_wait(struct lat_stretches *st, const struct lat_stretch *s, uint32_t heads);

#endif
