/*
 * What every event of a run needs, in the order `sync` (contract section 3), followed event by event, and the closure
 * that decides which sets of events are runs of that order: the one primitive of every sync-preserving prediction
 * (prediction.md 3.2, 3.3).
 *
 * An event needs those before it in its thread, the write that it read, the fork of its thread, all of a thread that it
 * joins, and of wait, notify and sync all before it of the same object; not the sections of a lock before it. A set,
 * given by how many events of each thread it has, is *closed* if it contains what its events need and of all sections
 * of a lock that have begun in it all but the youngest have ended in it. A closed set, its events in their recorded
 * order, is a run of `sync`; and every run of it has a closed set of events.
 */
#ifndef PT_PREDICT_TRF_H
#define PT_PREDICT_TRF_H

#include "base/table.h"
#include "predict/log.h"
#include "race/hb.h"

/* From taking a lock to releasing it, of recursive ones the outermost. */
struct pt_trf_section {
    uint64_t acquired;   /* its number in its thread, from 1 */
    uint64_t number;     /* among all acquisitions of the run */
    uint64_t released;   /* the release's number in its thread; 0: it is not released */
    struct pt_vec *past; /* what the release needs of other threads */
    uint32_t lock;
    uint32_t outer;      /* the latest section that was held then, by its index in its thread plus 1; 0: none */
    uint32_t held : 31;  /* how many were held then */
    uint32_t shared : 1; /* with other readers */
};

/* The sections of one thread and one lock, of one kind, by their indices in the thread. */
struct pt_trf_use {
    uint32_t thread, lock;
    bool shared;
    uint32_t next; /* of the same lock; PT_NONE: the last */
    uint32_t *sections;
    uint32_t count;
    size_t cap;
    uint64_t forgotten;                   /* the number of the youngest that is not kept any more; 0: none */
    uint64_t youngest, youngest_acquired; /* of the youngest of all: its number, and its acquisition's in the thread */
};

struct pt_trf_lock {
    uint32_t uses;       /* the first of them; PT_NONE: none yet */
    bool contested;      /* several threads use it */
    uint32_t writer;     /* who has it for itself now; PT_NONE: nobody */
    uint64_t latest;     /* the number of its latest section */
    uint64_t settled[2]; /* the youngest of settled threads, of which no use is kept: alone, and shared */
};

struct pt_trf_held {
    uint32_t lock, section, depth;
    bool shared;
};

struct pt_trf_thread {
    struct pt_hb_thread
        hb; /* its clock is the number of its next event that counts; its past what that needs, closed */
    bool begun, ended;
    bool settled;    /* it has ended, and all of it is in what every event to come needs */
    bool open;       /* a section of another thread is open in its past */
    uint64_t region; /* grows whenever its past or the locks that it has change */
    struct pt_trf_held *held;
    uint32_t held_count;
    size_t held_cap;
    uint64_t *inside; /* a bit for each of its events: some section is open after it */
    size_t inside_cap;
    struct pt_trf_section *sections;
    uint32_t first, count; /* index of the first that is kept, and how many there ever were */
    size_t section_cap;
};

/* What is known of a thread before the run is followed, in numbers of its events from 0. A thread whose next event that
 * somebody asks about, or fork, is after a join needs all of who is joined there: it holds up nothing. */
struct pt_trf_future {
    uint64_t asks_until;  /* from this event on it accesses nothing and forks nobody */
    uint64_t joined_from; /* from this one on `joiner` does not before it joins the thread */
    uint32_t joiner;      /* plus 1; 0: nobody */
};

struct pt_trf {
    const struct pt_names *names;
    const struct pt_race_memory *memory;
    struct pt_trf_thread *threads;
    size_t thread_cap;
    uint32_t thread_count;
    uint32_t *present; /* those that have begun and are not settled */
    uint32_t present_count, settle_at;
    size_t present_cap;
    uint32_t settlings; /* how often some were settled */
    struct pt_trf_lock *locks;
    size_t lock_cap;
    struct pt_map64 use_index; /* by lock, thread and kind */
    struct pt_trf_use *uses;
    uint32_t use_count;
    size_t use_cap;
    struct pt_trf_var {
        struct pt_hb_sync written; /* its latest write, and those of parts since the latest of all of it */
        uint32_t block;            /* of memory that it lies in, plus 1; 0: none */
        bool begun;
    } * vars;
    size_t var_cap;
    struct pt_hb_sync *others;
    size_t other_cap;
    struct pt_trf_block {
        struct pt_hb_sync made, freed; /* its latest alloc and free */
    } * blocks;
    size_t block_cap;
    struct pt_vec *floor;                /* what every thread's next event is said to need */
    bool bounded;                        /* only what that has is forgotten */
    const struct pt_trf_future *futures; /* of the first `future_count` threads */
    uint32_t future_count;
    uint64_t followed; /* events */
    uint64_t acquisitions;
    bool plain;   /* needs are not closed */
    bool blind;   /* the next event's read needs no write, but may not come everywhere */
    bool forgets; /* sections that have ended for every thread's next event: it is asked about later ones only */
    bool settles; /* threads likewise: only sets are asked about that have what some thread's next event needs */
    bool pruned;  /* some were */
    bool added;   /* closing what is needed has added something: without that less is needed */
    uint64_t kept, prune_at; /* sections */
    uint64_t *scratch;       /* a set, for each thread */
    size_t scratch_cap;
    size_t section_bytes, inside_bytes;
};

/* Both outlive it. */
void pt_trf_begin(struct pt_trf *trf, const struct pt_names *names, const struct pt_race_memory *memory);
/* May be called again. */
void pt_trf_end(struct pt_trf *trf);
size_t pt_trf_bytes(const struct pt_trf *trf);

/* Whether an event counts: others are internal to their threads, and no run depends on them. */
static inline bool pt_trf_counts(enum pt_op op)
{
    return pt_op_access(op) != PT_ACCESS_NONE || op == PT_OP_ALLOC || op == PT_OP_FREE;
}

/* A thread that has acted or was forked. */
struct pt_trf_thread *pt_trf_new_thread(struct pt_trf *trf, uint32_t id);
static inline struct pt_trf_thread *pt_trf_thread(struct pt_trf *trf, uint32_t id)
{
    bool known = id < trf->thread_cap && trf->threads[id].begun;
    return known ? &trf->threads[id] : pt_trf_new_thread(trf, id);
}

/* All events so far, as counts of each thread. */
struct pt_vec *pt_trf_now(struct pt_trf *trf);
/* From here on every event needs those, what others need besides or not: only runs count that have them all, and these
 * are forgotten. The reference becomes ours. */
void pt_trf_raise(struct pt_trf *trf, struct pt_vec *floor);

struct pt_trf_lock *pt_trf_lock(struct pt_trf *trf, uint32_t id);

/* What an access or a free needs beside what its thread's next event needs anyway, its own read apart: that the block
 * of memory was allocated. To be said before somebody looks at what it needs. */
void pt_trf_before_access(struct pt_trf *trf, const struct pt_event *event);
/* Follows an event that counts. Before it, its number in its thread is the thread's clock, and all that it needs, but
 * for what it reads, the thread's past and what came before it there. */
void pt_trf_event(struct pt_trf *trf, const struct pt_event *event);

/* ---- closed sets ---- */

/* Takes in a moment of a thread and all that it needs. */
static inline void pt_trf_include(uint64_t *set, uint32_t thread, uint64_t number, const struct pt_vec *past)
{
    if (set[thread] < number)
        set[thread] = number;
    for (uint32_t i = 0; past && i < past->count; i++) {
        const struct pt_vec_chunk *chunk = past->chunks[i];
        for (uint32_t k = 0; chunk && k < PT_VEC_CHUNK; k++)
            if (chunk->at[k] && set[i * PT_VEC_CHUNK + k] < chunk->at[k])
                set[i * PT_VEC_CHUNK + k] = chunk->at[k];
    }
}

/* The same in a set of which nobody looks at settled threads, where these are most; and its beginning, from nothing. */
static inline bool pt_trf_is_sparse(const struct pt_trf *trf)
{
    return trf->settlings && trf->present_count < trf->thread_count / 4;
}
static inline void pt_trf_add(const struct pt_trf *trf, uint64_t *set, uint32_t thread, uint64_t number,
                              const struct pt_vec *past)
{
    if (!pt_trf_is_sparse(trf)) {
        pt_trf_include(set, thread, number, past);
        return;
    }
    if (set[thread] < number)
        set[thread] = number;
    for (uint32_t i = 0; i < trf->present_count; i++) {
        uint32_t u = trf->present[i];
        uint64_t needed = pt_vec_at(past, u);
        set[u] = set[u] < needed ? needed : set[u];
    }
}
void pt_trf_begin_set(const struct pt_trf *trf, uint64_t *set, uint32_t thread, uint64_t number,
                      const struct pt_vec *past);
/* All of the settled threads, before somebody else looks at the set. */
void pt_trf_complete(const struct pt_trf *trf, uint64_t *set);

/* Of each thread, up to where all threads that can still act need it; `bounded`: for certain, whoever begins. */
void pt_trf_known(const struct pt_trf *trf, uint64_t *known);

/* Forgets the sections that are known to have ended: from here on only sets are closed that have what is known. Where
 * `forgets`, this is done as sections become many. */
void pt_trf_forget(struct pt_trf *trf);

/* The least closed set that contains this one, which contains what its events need; of `thread_count` threads. False:
 * a section that would have to end does not. */
bool pt_trf_close(const struct pt_trf *trf, uint64_t *set);
/* The same; *ret_more: it is another set now. */
bool pt_trf_close_more(const struct pt_trf *trf, uint64_t *set, bool *ret_more);

/* Whether a section is open at the end of a part of a thread. */
bool pt_trf_is_open(const struct pt_trf *trf, uint32_t thread, uint64_t upto);

/* The section of the thread that began last among its first `upto` events; 0: none, otherwise its index plus 1. Its
 * `outer`s are the others that may be open there. */
uint32_t pt_trf_section_at(const struct pt_trf_thread *thread, uint64_t upto);

/* False: no section is open after so many events of the thread; else there may be one. */
static inline bool pt_trf_may_be_open(const struct pt_trf_thread *thread, uint64_t upto)
{
    return upto / 64 < thread->inside_cap && thread->inside[upto / 64] >> upto % 64 & 1;
}

static inline struct pt_trf_section *pt_trf_section(const struct pt_trf_thread *thread, uint32_t index)
{
    return &thread->sections[index - thread->first];
}

#endif
