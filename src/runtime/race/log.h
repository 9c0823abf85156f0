/*
 * What threads have accessed lately. Each has a ring of records, written by it alone: one for all its accesses at one
 * place in one region (and in the same calls). The number of a record is the thread's clock when the first of them was
 * made, so a slot (race.h) says where the access stands in the log.
 *
 * Record:
 *
 *     about   61-63 what it is, enum pt_race_record_type; of an access
 *             59-60 PT_RACE_OP_ACCESS, ...
 *             32-51 its place
 *              0-31 how much later than the number the latest write was made
 *     more    the calls it was made in
 *     REGION: from here on the thread is in the region that began at the clock in bits 0-47 of `about`, knowing `more`
 *     LOCKS:  from here on accesses are made with the locks `more`
 *
 * A ring consists of blocks. Each that has a record begins with a REGION and its LOCKS, so these are found by looking
 * back.
 *
 * Beside it are the slots that the thread has replaced in granules that had no room: found by their granules, for as
 * long as they have not been written over.
 */
#ifndef PT_RUNTIME_RACE_LOG_H
#define PT_RUNTIME_RACE_LOG_H

#include "runtime/race/granule.h"

enum pt_race_record_type { PT_RACE_EMPTY, PT_RACE_RECORD_ACCESS, PT_RACE_RECORD_REGION, PT_RACE_RECORD_LOCKS };
enum {
    PT_RACE_TYPE_AT = 61,
    PT_RACE_RECORD_OP_AT = 59,
    PT_RACE_PLACE_AT = 32,
    PT_RACE_RING = 1 << PT_RACE_LOG_BITS,
    PT_RACE_EVICTED = 1 << PT_RACE_EVICTED_BITS,
    PT_RACE_LOG_THREADS = 1 << PT_RACE_THREAD_BITS,
    PT_RACE_AHEAD = 8, /* granules */
    PT_RACE_ROOM = 8,  /* numbers that one access may need: two marks, and its own */
};
#define PT_RACE_REGION_CLOCK ((UINT64_C(1) << 48) - 1)

struct pt_race_record {
    _Atomic uint64_t about, more;
};

/* A slot that was replaced. */
struct pt_race_evicted {
    _Atomic uint64_t granule, slot;
    _Atomic uint32_t lives; /* of the granule */
    _Atomic uint32_t next;  /* the one before it with such a granule: how many there were when it came; 0: none */
};

/* Each in lines of its own. */
struct pt_race_log {
    _Alignas(64) struct pt_race_record *ring; /* NULL: this lane has none, and never had; then what was replaced */
    _Atomic uint64_t first;                   /* what has a lower number is gone */
    uint64_t block;                           /* where the latest block begins */
    _Atomic uint32_t evicted;                 /* how many slots were replaced; never 0 again */
    _Atomic uint64_t shown; /* the thread's clock when it last wrote what only another place's slot says */
    struct pt_spin lock;    /* to read it, and to make parts of it go */
    struct pt_vec *past;    /* what the thread knew when it began its latest block, or ended */
    _Atomic(struct pt_race_self *) owner; /* whoever had it last */
    struct pt_race_log *next;             /* that ended after it */
};
extern struct pt_race_log *pt_race_logs; /* by lane */

/* What is in the memory that begins with the ring. */
enum {
    PT_RACE_EVICTED_OFFSET = PT_RACE_RING * (int)sizeof(struct pt_race_record),
    PT_RACE_HEADS_OFFSET = PT_RACE_EVICTED_OFFSET + PT_RACE_EVICTED * (int)sizeof(struct pt_race_evicted),
    PT_RACE_RING_BYTES = PT_RACE_HEADS_OFFSET + (4 << PT_RACE_EVICTED_HEADS)
};
static inline struct pt_race_evicted *pt_race_evicted_at(struct pt_race_record *ring, uint32_t number)
{
    struct pt_race_evicted *all = (void *)((char *)ring + PT_RACE_EVICTED_OFFSET);
    return &all[number & (PT_RACE_EVICTED - 1)];
}
static inline _Atomic uint32_t *pt_race_evicted_head(struct pt_race_record *ring, uintptr_t granule)
{
    _Atomic uint32_t *heads = (void *)((char *)ring + PT_RACE_HEADS_OFFSET);
    return &heads[(granule >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PT_RACE_EVICTED_HEADS)];
}

static inline uint32_t pt_race_lane_of(uint64_t slot)
{
    return (uint32_t)(slot >> PT_RACE_THREAD_AT) & (PT_RACE_LOG_THREADS - 1);
}
static inline uint32_t pt_race_code_in(uint64_t slot)
{
    return (uint32_t)(slot >> PT_RACE_CODE_AT) & ((1u << (PT_RACE_NUMBER_AT - PT_RACE_CODE_AT)) - 1);
}
static inline uint64_t pt_race_slot_of(const struct pt_race_self *self, uint64_t number, uint32_t code, unsigned bytes)
{
    return (uint64_t)self->hb.id << PT_RACE_THREAD_AT | number << PT_RACE_NUMBER_AT |
           (uint64_t)code << PT_RACE_CODE_AT | bytes;
}
static inline struct pt_race_record *pt_race_record_at(struct pt_race_record *ring, uint64_t number)
{
    return &ring[number & (PT_RACE_RING - 1)];
}
static inline uint64_t pt_race_get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}
static inline void pt_race_put(_Atomic uint64_t *to, uint64_t value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}

/* Whether all until that slot happens before what the thread does next. */
static inline bool pt_race_knows(const struct pt_race_self *self, uint64_t slot)
{
    uint32_t lane = pt_race_lane_of(slot);
    return lane == self->hb.id || pt_race_number_of(slot) <= pt_vec_at(self->hb.past, lane);
}

/* In the middle of an access of several granules that has learned something it is still compared with what it knew as
 * this lane: there is room for that. */
static inline bool pt_race_is_used_up(const struct pt_race_self *self)
{
    return self->hb.clock > PT_RACE_NUMBER_MAX - 3 * PT_RACE_BLOCK && self->log.ring && !self->before.clock;
}

bool pt_race_log_start(void);
void pt_race_log_restart(void);
void pt_race_log_begin(struct pt_race_self *self);
void pt_race_log_end(struct pt_race_self *self);
/* Whoever has this lane ends its region: somebody has learned of a moment in its middle. */
void pt_race_interrupt(uint32_t lane);
/* The record of the thread's accesses at a place in its region, which it has not made yet, or not in these calls. */
struct pt_race_made *pt_race_put_made(struct pt_race_self *self, const struct pt_site *site);
/* A record of its own, of what is no access of the program (enum PT_RACE_OP_...): as a slot without bytes. */
uint64_t pt_race_put_alone(struct pt_race_self *self, const struct pt_site *site, unsigned op);
/* What was written at that place is written again now: whoever reads that, and races, learns all until now. The record
 * may become another. */
struct pt_race_made *pt_race_put_later(struct pt_race_self *self, struct pt_race_made *made,
                                       const struct pt_site *site);
/* The slot has been replaced in its granule; and how many the thread's lane has replaced. */
static inline uint32_t pt_race_evicted_count(const struct pt_race_self *self)
{
    return atomic_load_explicit(&pt_race_logs[self->hb.id].evicted, memory_order_relaxed);
}
void pt_race_evict(struct pt_race_self *self, uintptr_t granule, uint64_t slot);

static inline uint32_t pt_race_calls_now(void)
{
    uint64_t calls = pt_race_calls();
    return (uint32_t)(calls ^ calls >> 32);
}
static inline struct pt_race_made *pt_race_find_made(struct pt_race_self *self, const struct pt_site *site)
{
    struct pt_race_made *made = pt_race_made_of(self, site);
    if (__builtin_expect(pt_race_is_made(self, made, site) && made->calls == pt_race_calls_now(), 1))
        return made;
    return pt_race_put_made(self, site);
}
/* Whether a write there says nothing new of when it was made. */
static inline bool pt_race_is_latest(const struct pt_race_self *self, const struct pt_race_made *made)
{
    return made->last == (uint32_t)self->hb.clock && self->log.read != self->hb.clock;
}
/* The record of a write that is made now. */
static inline struct pt_race_made *pt_race_find_written(struct pt_race_self *self, const struct pt_site *site)
{
    struct pt_race_made *made = pt_race_find_made(self, site);
    return __builtin_expect(pt_race_is_latest(self, made), 1) ? made : pt_race_put_later(self, made, site);
}

/* The thread writes what another slot of its region stands for: whoever reads that, and races, learns all until now. */
static inline void pt_race_show(struct pt_race_self *self)
{
    self->hb.clock += self->log.read == self->hb.clock; /* what was read in a cell comes before it */
    /* release: whoever reads what is then written finds this */
    atomic_store_explicit(self->log.shown, self->hb.clock - 1, memory_order_release);
}
/* Whether that would change nothing. */
static inline bool pt_race_is_shown(const struct pt_race_self *self)
{
    return self->log.read != self->hb.clock && pt_race_get(self->log.shown) == self->hb.clock - 1;
}

/* An access as a slot, and the log, have it. */
struct pt_race_logged {
    struct pt_hb_thread then; /* the thread when it was made; a reference to its past is the caller's */
    uint64_t region, last;    /* when that began, 0: nobody knows; when it was made last, or perhaps was */
    struct pt_cell_access access;
    bool is_gone; /* its thread knew no more then than `then` says, and perhaps less */
};
void pt_race_log_read(const struct pt_race_self *self, uint64_t slot, struct pt_race_logged *out);
/* Where it was made is not known. */
void pt_race_log_lose(struct pt_race_logged *logged);
/* Somebody has learned of a moment in the middle of another thread's region. From then on what a slot says may be
 * known, and a later write of the same record may not: whoever reads it then learns of that, too. */
extern _Atomic bool pt_race_learned;
void pt_race_follow(struct pt_race_self *self, const uint64_t *slots, unsigned count, unsigned bytes);
/* The slots of a granule that were replaced, at most `most`. */
unsigned pt_race_log_replaced(uintptr_t granule, uint64_t *out, unsigned most);

/* Of a read that was made. */
static inline void pt_race_follow_if(struct pt_race_self *self, const uint64_t *slots, unsigned count, uint64_t like,
                                     unsigned bytes)
{
    if (__builtin_expect(atomic_load_explicit(&pt_race_learned, memory_order_relaxed), 0) && !(like & PT_RACE_WROTE))
        pt_race_follow(self, slots, count, bytes);
}

/* What has become of an access; but for MADE nothing has happened. */
enum pt_race_turn { PT_RACE_MADE, PT_RACE_RACES, PT_RACE_FULL };
/* An access of a granule that is locked, and has so many slots, of which those in use come first; `like` says what it
 * is, as a slot without bytes. */
enum pt_race_turn pt_race_turn(struct pt_race_self *self, uintptr_t granule, uint64_t *slots, unsigned count,
                               uint64_t like, unsigned bytes);
/* A plain access of the granule, if it races with nothing. False: nothing has happened, and it is to be made by a cell.
 */
bool pt_race_make(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, unsigned bytes,
                  uint64_t like, const struct pt_site *site);
/* What a granule was before an access, and is after it. */
struct pt_race_change {
    uint64_t before[PT_RACE_SLOTS], after[PT_RACE_SLOTS];
};
/* The same of all its bytes, if its slots do for that. */
bool pt_race_make_whole(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, uint64_t like,
                        struct pt_race_change *change);

/* Of granules that are changed one after the other. Not beyond the leaf: what is asked for there is another's, or
 * nothing, and nobody writes it. */
static inline void pt_race_fetch(const struct pt_race_granule *granule)
{
    __builtin_prefetch(granule + PT_RACE_AHEAD, 1);
}

/* ---- open.c ---- */

/* A cell of a granule's own with all that is known of its accesses, in the place of its slots, or the cell it has. The
 * caller has locked it; `first` is its first slot without the lock. The others are 0 afterwards. */
uint32_t pt_race_open(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, uint64_t first);
void pt_race_open_end(struct pt_race_self *self);

/* ---- many.c ---- */

enum { PT_RACE_MANY_MOST = 31 };
struct pt_race_many {
    uint32_t next; /* in a list of free ones */
    uint8_t count, size;
    uint64_t slots[];
};
static inline unsigned pt_race_many_room(unsigned size)
{
    return (4u << size) - 1;
}
static inline bool pt_race_is_many(uint64_t word)
{
    return word >> 62 == 1 && (uint32_t)word & PT_RACE_MANY; /* and not locked */
}
static inline struct pt_race_many *pt_race_many_of(uint64_t word)
{
    return pt_race_many_at((uint32_t)word & ~PT_RACE_MANY);
}
/* An access of a granule that is locked, and has a list; its word may become another. */
enum pt_race_turn pt_race_many_make(struct pt_race_self *self, uint64_t *word, struct pt_race_granule *granule,
                                    uintptr_t address, unsigned bytes, uint64_t like, const struct pt_site *site);
/* The word of a list with these four, of a granule that is locked; 0: there is no more room. */
uint64_t pt_race_many_begin(struct pt_race_self *self, const uint64_t *slots);
void pt_race_many_end(struct pt_race_self *self, uint64_t word);
/* Whether all that the list has comes before what the thread does next. */
bool pt_race_many_is_known(const struct pt_race_self *self, uint64_t word);

#endif
