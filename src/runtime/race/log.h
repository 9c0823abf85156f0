/*
 * What a thread has accessed lately, one slot of 16 bytes after the other, and who else may read it. A granule all of
 * whose accesses are ordered is a word that says who made the last one and where it stands in that thread's log; each
 * access there says which one came before it.
 *
 * Word of such a granule (PT_RACE_SOLO):
 *
 *     bits    what
 *      0-6    the last access: its first byte, its length less one, whether it writes
 *      7-46   its number in the log of its thread
 *     47-60   its thread
 *
 * Slot:
 *
 *     a 61-63 what it is, enum pt_race_slot_type
 *     of an access
 *     a 59-60 PT_RACE_OP_ACCESS, ...
 *       39-58 its place
 *       31-38 its bytes
 *          30 it stands for accesses of different bytes
 *        0-29 how many slots before this one the access before it is, or PT_RACE_SLOT_PREV that says where; 0: there is
 *             none
 *     b 20-63 its thread's clock
 *        0-19 of a write how much later it was made last
 *     PREV    a 0-53: thread and number of the access before the next one, as in a word
 *     REGION  from here on the thread is in the region that began at clock b, knowing a 0-47
 *     NOTE    from here on accesses are made with stack and locks b
 *
 * A log is a ring of blocks. Each begins with a REGION and a NOTE, so these are found by looking back.
 */
#ifndef PT_RUNTIME_RACE_LOG_H
#define PT_RUNTIME_RACE_LOG_H

#include "runtime/race/granule.h"

enum pt_race_slot_type {
    PT_RACE_SLOT_EMPTY,
    PT_RACE_SLOT_READ,
    PT_RACE_SLOT_WRITE,
    PT_RACE_SLOT_PREV,
    PT_RACE_SLOT_REGION,
    PT_RACE_SLOT_NOTE
};
enum {
    PT_RACE_SLOT_TYPE_AT = 61,
    PT_RACE_SLOT_OP_AT = 59,
    PT_RACE_SLOT_PLACE_AT = 39,
    PT_RACE_SLOT_BYTES_AT = 31,
    PT_RACE_LOG_THREADS = 1 << PT_RACE_SOLO_THREAD_BITS,
};
#define PT_RACE_SLOT_SEVERAL (UINT64_C(1) << 30)
#define PT_RACE_SLOT_BEFORE  (PT_RACE_SLOT_SEVERAL - 1)
#define PT_RACE_SLOT_PAST    ((UINT64_C(1) << 48) - 1)

struct pt_race_log {
    struct pt_race_slot *slots; /* NULL: this thread has none, and never had */
    _Atomic uint64_t *clocks;   /* at which blocks began, also those that are gone: a ring */
    _Atomic uint64_t first;     /* what has a lower number is gone. Set before it is overwritten. */
    _Atomic uint64_t block;     /* where the latest block begins */
    struct pt_spin lock;        /* to read more than a slot's clock, and to make it go */
    _Atomic uint64_t end;       /* the clock at which the thread ended; 0: it has not */
    struct pt_vec *past;        /* what it knew then */
    struct pt_race_log *next;   /* that ended after it */
};
extern struct pt_race_log *pt_race_logs; /* by the number of the thread */

static inline uint64_t pt_race_solo_number(uint64_t word)
{
    return word >> PT_RACE_SOLO_NUMBER_AT & ((UINT64_C(1) << (PT_RACE_SOLO_THREAD_AT - PT_RACE_SOLO_NUMBER_AT)) - 1);
}
static inline uint32_t pt_race_solo_thread(uint64_t word)
{
    return (uint32_t)(word >> PT_RACE_SOLO_THREAD_AT) & (PT_RACE_LOG_THREADS - 1);
}
static inline uint64_t pt_race_slot_get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}
static inline void pt_race_slot_put(_Atomic uint64_t *to, uint64_t value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}
static inline uint64_t pt_race_slot_clock(uint64_t b)
{
    return b >> PT_RACE_SLOT_LATER_BITS;
}
/* When it was made last. */
static inline uint64_t pt_race_slot_last(uint64_t b)
{
    return pt_race_slot_clock(b) + (b & ((UINT64_C(1) << PT_RACE_SLOT_LATER_BITS) - 1));
}

/* Room for an access and for what is before it, and what holds there said. */
void pt_race_log_prepare(struct pt_race_self *self);
/* Between which clocks an access was made last whose slot is gone. */
void pt_race_log_bounds(const struct pt_race_log *log, uint64_t number, uint64_t *ret_least, uint64_t *ret_most);

/* ---- solo.c ---- */

/* A plain access of a granule that nothing is known of, or of which all is ordered, whose word is not locked. False:
 * nothing has happened. */
bool pt_race_solo_make(struct pt_race_self *self, pt_race_word *word, uint64_t seen, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *site);
/* The same of one of many granules, which is not likely to be made again; `noted`: it is not the first. */
bool pt_race_solo_pass(struct pt_race_self *self, pt_race_word *word, uint64_t seen, unsigned bytes, unsigned kind,
                       const struct pt_site *site, bool noted);
/* The same under the granule's lock: its word; 0: it cannot be done. */
uint64_t pt_race_solo_change(struct pt_race_self *self, uint64_t seen, unsigned bytes, unsigned kind,
                             const struct pt_site *site);
/* Whether all accesses of such a granule are known to come before what the thread does now. */
bool pt_race_solo_is_known(const struct pt_race_self *self, uint64_t seen);

/* ---- open.c ---- */

/* The word of a cell of the granule's own that says the same. */
uint64_t pt_race_solo_open(struct pt_race_self *self, uint64_t seen);

#endif
