/*
 * What is known of the accesses of one location: a variable of a trace, or a granule of memory of which accesses name
 * bytes. A cell is used by one thread at a time, by means of the caller's (the granule's lock).
 */
#ifndef PT_RACE_CELL_H
#define PT_RACE_CELL_H

#include "race/hb.h"

/* What the caller wants to know again of an access that turns out to race; nothing here looks at it. */
struct pt_cell_note {
    uint64_t event;
    uint32_t stack, locks;
};

enum {
    PT_CELL_READS = 1,
    PT_CELL_WRITES = 2,
    PT_CELL_ATOMIC = 4,
    PT_CELL_WHOLE = 0xff, /* bytes: all */
    PT_CELL_BYTES = 8,
};

struct pt_cell_access {
    uint32_t place; /* where it stands in the program */
    uint8_t kind;   /* PT_CELL_READS, ... */
    uint8_t bytes;  /* a bit for each byte of the granule that it touches */
    uint8_t op;     /* the caller's: told back, and accesses that differ in it are kept apart */
    uint8_t order;  /* enum pt_hb_order, of an atomic access */
    struct pt_cell_note note;
};

/* The latest access of a thread at a place. */
struct pt_cell_seen {
    pt_epoch at;
    struct pt_cell_access access;
    uint32_t next; /* of the fresh ones of its kind */
    bool fresh;    /* it is not known to come before `over` */
    bool merged;   /* of several accesses, of different bytes; `at` is the first one's */
};

/* Who wrote bytes last: what a read that races with it is ordered after (SHB), and what acquiring it gives. */
struct pt_cell_written {
    struct pt_hb_stamp stamp;
    struct pt_hb_sync published;
    uint8_t bytes;
    bool atomic;
};

struct pt_cell {
    pt_epoch over; /* a write after all that is not fresh; 0: none */
    struct pt_cell_seen *seen;
    uint32_t *index; /* hashed; NULL: few enough to look through */
    uint32_t count, cap;
    uint32_t fresh[4]; /* the first of each kind, PT_CELL_END: plain reads, atomic reads, plain writes, atomic writes */
    struct pt_cell_written *written;
    uint8_t written_count, written_cap;
};
#define PT_CELL_END UINT32_MAX

/* Where the index of a cell is searched first for a thread's access. */
static inline uint32_t pt_cell_home(const struct pt_cell *cell, uint32_t thread, const struct pt_cell_access *access)
{
    uint64_t key = (uint64_t)thread << 32 | access->place;
    key ^= (uint64_t)access->op << 58 ^ (uint64_t)access->kind << 50 ^ (uint64_t)access->bytes << 20;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(key >> 32) & (2 * cell->cap - 1);
}

/* What an access needs beside its cell. */
struct pt_cell_env {
    const struct pt_race_memory *memory;
    /* A race: the access that is being made is not ordered with this one. The cell must not be touched. */
    void (*race)(void *context, const struct pt_cell_seen *earlier);
    /* Whether that event happens before whatever other threads may still do; NULL: nobody knows. Asked when a cell has
     * grown, so it may take time. */
    bool (*is_past)(void *context, pt_epoch epoch);
    void *context;
    /* Accesses of a thread at one place, of different bytes, become one if they were made since this clock, and no race
     * between threads made others know of a moment in between. Their clock is then the first one's, and that of what is
     * written the last one's: nothing is reported that is no race. 0: each is kept. */
    uint64_t merge_from;
    /* It does not matter which thread made an access: one that comes before another of the same place, kind and bytes
     * makes room for it. Whoever races with it races with that one, at the same places. */
    bool any_thread;
};

void pt_cell_begin(struct pt_cell *cell);
void pt_cell_end(const struct pt_race_memory *memory, struct pt_cell *cell);
/*
 * An access of one location. One of several (a range of memory, a free) is pt_cell_acquire for each of them, then
 * pt_cell_check for each, then pt_cell_record for each with what the check returned, then, if it writes, one
 * pt_hb_tick.
 */
void pt_cell_access(const struct pt_cell_env *env, struct pt_cell *cell, struct pt_hb_thread *thread,
                    const struct pt_cell_access *access);
void pt_cell_acquire(const struct pt_cell_env *env, const struct pt_cell *cell, struct pt_hb_thread *thread,
                     const struct pt_cell_access *access);
bool pt_cell_check(const struct pt_cell_env *env, const struct pt_cell *cell, const struct pt_hb_thread *thread,
                   const struct pt_cell_access *access);
void pt_cell_record(const struct pt_cell_env *env, struct pt_cell *cell, struct pt_hb_thread *thread,
                    const struct pt_cell_access *access, bool covers);
/* A plain access which agrees with one of the thread's that is there and comes after all that it
 * could race with: that entry becomes this access. A read that is there since that clock stays as it is. False: nothing
 * has changed, and the calls above do it. *ret_raised: the entry, whose note is to be set; NULL: it has stayed. */
bool pt_cell_raise(const struct pt_cell_env *env, struct pt_cell *cell, const struct pt_hb_thread *thread,
                   const struct pt_cell_access *access, uint64_t since, struct pt_cell_seen **ret_raised);
/* A write of these bytes is made again by the thread that wrote them last, at that clock or later: only the clocks of
 * the last writes are others. */
void pt_cell_rewrite(struct pt_cell *cell, const struct pt_hb_thread *thread, unsigned bytes, uint64_t since);
/* The thread's access that agrees with this one, made at that clock or later, and of its bytes at least; NULL: none. */
const struct pt_cell_seen *pt_cell_find(const struct pt_cell *cell, uint32_t thread,
                                        const struct pt_cell_access *access, uint64_t since);
/* Makes the index, and the lists of fresh entries, from the entries. */
void pt_cell_arrange(struct pt_cell *cell);
/* Drops what comes before `over` and has no bytes beside those: whoever races with it races with that write, too. Of
 * its thread's writes the latest stays. */
void pt_cell_thin(struct pt_cell *cell);
/* A location that was part of a larger one begins with what is known of that. */
void pt_cell_copy(const struct pt_race_memory *memory, struct pt_cell *to, const struct pt_cell *from);
size_t pt_cell_bytes(const struct pt_cell *cell);

#endif
