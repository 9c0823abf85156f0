/*
 * What threads have accessed lately. Each has a ring of records, written by it alone; the number of a record is the
 * thread's clock when it was made, so a slot (race.h) says where the access stands in the log. Each access says which
 * slots it has replaced, so all that is known of a granule is found from its slots on backwards.
 *
 * Record (the words in this order):
 *
 *     about   61-63 what it is, enum pt_race_record_type; of an access
 *             59-60 PT_RACE_OP_ACCESS, ...
 *             39-58 its place
 *             31-38 its bytes
 *             23-30 how many granules after that one it is of, too, with all their bytes
 *             16-22 how many of that kind, of the granule, in the region, came before it
 *              0-15 a bit for each hash of a place of the thread's accesses of that kind, of the granule, in the region
 *     same    the latest slot of its kind that it has replaced; 0: none
 *     other   another, of the kind that bit 62 says (a write)
 *     more    20-63 the granule, in units of 8 bytes
 *                19 that is not known of all of it: it has bytes that were accessed one by one, or other places
 *              0-18 of a write how much later it was made last
 *     REGION: from here on the thread is in the region that began at clock `other`, knowing `same`
 *     LOOP:   a read, as above, of granules that nobody has counted (loop.c); bits 0-18 of `more`: how much earlier
 *             the first of its bytes were read. It is never changed
 *     PROXY:  an access of any granules of busy pages (busy.h), a write if bits 59-60 are not 0, of the bytes that a
 * slot says; nothing is known of what it has replaced. `more` has no granule NOTE:   from here on accesses are made
 * with stack and locks `same` LINKS:  `same`, `other` and `more` are slots, all with their kind, where an access has
 * replaced more than two; the slot of such a record has no bytes
 *
 * A ring consists of blocks. Each that has a record begins with a REGION and a NOTE, so these are found by looking
 * back.
 */
#ifndef PT_RUNTIME_RACE_LOG_H
#define PT_RUNTIME_RACE_LOG_H

#include "runtime/race/granule.h"

enum pt_race_record_type {
    PT_RACE_EMPTY,
    PT_RACE_RECORD_READ,
    PT_RACE_RECORD_WRITE,
    PT_RACE_RECORD_REGION,
    PT_RACE_RECORD_NOTE,
    PT_RACE_RECORD_LINKS,
    PT_RACE_RECORD_LOOP,
    PT_RACE_RECORD_PROXY
};
enum {
    PT_RACE_TYPE_AT = 61,
    PT_RACE_RECORD_OP_AT = 59,
    PT_RACE_PLACE_AT = 39,
    PT_RACE_BYTES_AT = 31,
    PT_RACE_RUN_AT = 23,
    PT_RACE_RUN = 255,
    PT_RACE_HASHES = 16,
    PT_RACE_COUNT_AT = 16,
    PT_RACE_COUNT = 127,
    PT_RACE_MORE_AT = 20,
    PT_RACE_RING = 1 << PT_RACE_LOG_BITS,
    PT_RACE_LOG_THREADS = 1 << PT_RACE_THREAD_BITS,
    PT_RACE_AHEAD = 16, /* granules */
};
#define PT_RACE_WROTE   PT_RACE_OWN /* in a slot whose kind is not known by where it is: a write */
#define PT_RACE_LATER   ((UINT64_C(1) << (PT_RACE_MORE_AT - 1)) - 1)
#define PT_RACE_ANOTHER (UINT64_C(1) << (PT_RACE_MORE_AT - 1))

struct pt_race_record {
    _Atomic uint64_t about, same, other, more;
};
_Static_assert(sizeof(struct pt_race_record) == 32, "");

/* Each in a line of its own: a thread that works on a busy page writes to `shown` in each region. */
struct pt_race_log {
    _Alignas(64) struct pt_race_record *ring; /* NULL: this thread has none, and never had */
    _Atomic uint64_t first;                   /* what has a lower number is gone */
    uint64_t block;                           /* where the latest block begins */
    _Atomic uint64_t shown;                   /* the thread's clock when it last wrote to a busy page (busy.h) */
    uint8_t column;                           /* that its thread has, or had (common.c) */
    struct pt_spin lock;                      /* to read it, and to make parts of it go */
    struct pt_vec *past;                      /* what the thread knew when it began its latest block, or ended */
    struct pt_race_log *next;                 /* that ended after it */
};
extern struct pt_race_log *pt_race_logs; /* by the number of the thread */

static inline uint32_t pt_race_thread_of(uint64_t slot)
{
    return (uint32_t)(slot >> PT_RACE_THREAD_AT) & (PT_RACE_LOG_THREADS - 1);
}
static inline uint64_t pt_race_slot_of(const struct pt_race_self *self, uint64_t number, unsigned bytes)
{
    return (uint64_t)self->hb.id << PT_RACE_THREAD_AT | number << PT_RACE_NUMBER_AT | bytes;
}
static inline struct pt_race_record *pt_race_record_at(struct pt_race_record *ring, uint64_t number)
{
    return &ring[number & (PT_RACE_RING - 1)];
}
/* Behind the records a ring has two bits for each: its access was replaced by a later one of its thread, so that no
 * slot is of it any more; unless it is of several granules. */
struct pt_race_bits {
    uint64_t replaced, shared;
};
enum { PT_RACE_RING_BYTES = PT_RACE_RING * 32 + PT_RACE_RING / 4 };
static inline struct pt_race_bits *pt_race_bits_of(struct pt_race_record *ring, uint64_t number)
{
    return (struct pt_race_bits *)(void *)&ring[PT_RACE_RING] + (number & (PT_RACE_RING - 1)) / 64;
}
/* The record is of several granules. */
static inline void pt_race_share(struct pt_race_record *ring, uint64_t number)
{
    pt_race_bits_of(ring, number)->shared |= UINT64_C(1) << number % 64;
}
static inline uint64_t pt_race_get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}
static inline void pt_race_put(_Atomic uint64_t *to, uint64_t value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}
static inline uint32_t pt_race_place_in(uint64_t about)
{
    return (uint32_t)(about >> PT_RACE_PLACE_AT) & ((1u << PT_RACE_PLACE_BITS) - 1);
}
/* How many granules after its own the record of an access is of. */
static inline unsigned pt_race_run_in(uint64_t about)
{
    return about >> PT_RACE_RUN_AT & PT_RACE_RUN;
}
static inline bool pt_race_is_write(uint64_t about)
{
    return about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_WRITE ||
           (about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_PROXY && about >> PT_RACE_RECORD_OP_AT & 3);
}
/* What a record says of the access of its granule; or of one of these bytes, if it is a proxy and stands for that. */
static inline struct pt_cell_access pt_race_access_in(uint64_t about, uint8_t bytes)
{
    bool proxy = about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_PROXY;
    return (struct pt_cell_access){.place = pt_race_place_in(about),
                                   .kind = pt_race_is_write(about) ? PT_CELL_WRITES : PT_CELL_READS,
                                   .bytes = proxy ? bytes : (uint8_t)(about >> PT_RACE_BYTES_AT),
                                   .op = proxy ? PT_RACE_OP_ACCESS : about >> PT_RACE_RECORD_OP_AT & 3};
}
/* What a NOTE says. */
static inline struct pt_cell_note pt_race_note_in(uint64_t noted)
{
    return (struct pt_cell_note){.stack = (uint32_t)(noted >> 32), .locks = (uint32_t)noted};
}
static inline uint64_t pt_race_hash_of(uint32_t place)
{
    return UINT64_C(1) << (place * UINT32_C(0x9e3779b9) >> 28);
}

static inline bool pt_race_is_row(uint64_t r)
{
    return (r & PT_RACE_CHAIN) == PT_RACE_OWN;
}
static inline bool pt_race_is_chain(uint64_t r)
{
    return (r & PT_RACE_CHAIN) == PT_RACE_CHAIN;
}

/* Whether all until that slot happens before what the thread does next. */
static inline bool pt_race_knows(const struct pt_race_self *self, uint64_t slot)
{
    uint32_t thread = pt_race_thread_of(slot);
    return thread == self->hb.id || pt_race_number_of(slot) <= pt_vec_at(self->hb.past, thread);
}

/* A thread has learned, by a read that raced, of a moment in the middle of another one's region. */
extern _Atomic bool pt_race_learned;
/* The same of a write whose last time is in the log. */
bool pt_race_knows_last(const struct pt_race_self *self, uint64_t slot);
/* The same of a slot of a write, which may have been made again: that matters only where somebody may know of a moment
 * in between. */
static inline bool pt_race_knows_write(const struct pt_race_self *self, uint64_t slot)
{
    uint32_t thread = pt_race_thread_of(slot);
    if (thread == self->hb.id)
        return true;
    return pt_race_number_of(slot) <= pt_vec_at(self->hb.past, thread) &&
           (!slot || __builtin_expect(!atomic_load_explicit(&pt_race_learned, memory_order_relaxed), 1) ||
            pt_race_knows_last(self, slot));
}

bool pt_race_log_start(void);
void pt_race_log_restart(void);
void pt_race_log_begin(struct pt_race_self *self);
void pt_race_log_end(struct pt_race_self *self);
/* Room for a record at the thread's clock, and what holds there said. */
void pt_race_log_prepare(struct pt_race_self *self);
static inline void pt_race_log_room(struct pt_race_self *self)
{
    if (__builtin_expect(self->hb.clock >= self->log.stop || pt_race_calls() != self->log.calls, 0))
        pt_race_log_prepare(self);
}

/* An access as the logs have it. */
struct pt_race_logged {
    struct pt_hb_thread then; /* the thread when it was made; a reference to its past is the caller's */
    uint64_t region, last;    /* when that began; when the access was made last */
    struct pt_cell_access access;
    uint64_t before[3]; /* slots with their kinds; of LINKS nothing else is said */
    bool is_links;
    bool is_gone;   /* its thread knew no more then than `then` says, and perhaps less */
    uint8_t others; /* and bytes of its slot that were accessed at other places */
};
/* What a slot of a granule, with its kind, is of; of one that is gone what the slot itself says, and last.c. */
void pt_race_log_read(const struct pt_race_self *self, uintptr_t granule, uint64_t slot, struct pt_race_logged *out);
/* The access of the `others` of one that is gone. */
struct pt_race_logged pt_race_log_others(const struct pt_race_self *self, const struct pt_race_logged *logged);

/* ---- last.c ---- */

bool pt_race_last_start(void);
void pt_race_last_restart(void);
/* Of the block of a thread's log that begins with this number, and is about to go. */
void pt_race_last_keep(struct pt_race_record *ring, uint32_t thread, uint64_t from);
/* What the record of a slot that is gone has said; of a write that it is one is not said. */
bool pt_race_last_find(uintptr_t granule, uint64_t slot, struct pt_cell_access *ret_access);

/* ---- open.c ---- */

/* A cell of a granule's own with all that is known of its accesses, in the place of these slots, or of the
 * cell they name. The caller has locked it. */
uint32_t pt_race_open(struct pt_race_self *self, uintptr_t granule, uint64_t w, uint64_t r);
void pt_race_open_end(struct pt_race_self *self);

/* ---- many.c ---- */

enum { PT_RACE_MANY_MOST = 31 };
struct pt_race_many {
    uint32_t next;  /* in a list of free ones; of one that is not, how often it has changed */
    uint16_t lives; /* granules that it has been of */
    _Atomic uint8_t count;
    uint8_t size;
    _Atomic uint64_t slots[]; /* with their kinds */
};
static inline unsigned pt_race_many_room(unsigned size)
{
    return (4u << size) - 1;
}
/* A list, of that size, is a granule's from now on. */
static inline void pt_race_many_live(struct pt_race_many *many, unsigned size)
{
    many->size = (uint8_t)size;
    many->next = 0;
    many->lives++;
}
static inline bool pt_race_is_many(uint64_t word)
{
    return word >> 62 == 1 && (uint32_t)word & PT_RACE_MANY; /* and not locked */
}
static inline struct pt_race_many *pt_race_many_of(uint64_t word)
{
    return pt_race_many_at((uint32_t)word & ~PT_RACE_MANY);
}
/* The word of a granule that has the list with that number; another one each time the list has changed, so that who
 * finds the same word before and after has seen a list as it was (unless it has changed 2^14 times meanwhile). */
static inline uint64_t pt_race_many_word(const struct pt_race_many *many, uint32_t at)
{
    uint64_t state = (uint64_t)many->lives << 14 | (many->next & 0x3fff);
    return PT_RACE_OWN | state << 32 | PT_RACE_MANY | at;
}
/* Of a busy page: whether the thread has accessed all these bytes in its region, in that way, as the list that this
 * word of the granule says has it, which is not locked. */
bool pt_race_many_has(const struct pt_race_self *self, const struct pt_race_pair *pair, uint64_t word,
                      uintptr_t granule, unsigned bytes, unsigned kind);
/* A plain access of a granule that has a list; false: nothing has happened, and the granule is to be opened. */
bool pt_race_many_make(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *site);
/* Makes a list of a pair of slots, or of one and a row; or a cell, where that is too much for a list. */
void pt_race_many_begin(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule);
/* Slots that do not fit into a record become one that does. */
uint64_t pt_race_put_links(struct pt_race_self *self, const uint64_t *slots, unsigned count);
void pt_race_many_end(struct pt_race_self *self, uint64_t word);
/* Of a granule that is locked: whether all that its list has comes before what the thread does next; and its memory
 * ends, with the list. */
bool pt_race_many_is_known(const struct pt_race_self *self, uint64_t word);
void pt_race_many_drop(struct pt_race_self *self, uint64_t word);

/* ---- common.c ---- */

/* What has become of an access; but for MADE nothing has happened. */
enum pt_race_made {
    PT_RACE_MADE,
    PT_RACE_RACES,
    PT_RACE_TWO,     /* slots do not do */
    PT_RACE_CHANGED, /* somebody else was there meanwhile, or nobody has looked yet */
    PT_RACE_AGAIN
};
enum {
    PT_RACE_NO_COLUMN = UINT8_MAX,
    PT_RACE_ENTRY = 3,
    PT_RACE_CHAIN_MOST = 256, /* slots of a chain */
    PT_RACE_COMMON_MOST = PT_RACE_CHAIN_MOST + PT_RACE_ENTRY * PT_RACE_COLUMNS
};
void pt_race_common_restart(void);
/* A column for a thread, or PT_RACE_NO_COLUMN; and it needs it no more. */
unsigned pt_race_column_take(void);
void pt_race_column_give(unsigned column);
bool pt_race_columns_are_left(void);
/* Whether the thread has read these bytes in its region, as its column has it. */
bool pt_race_common_is_read(const struct pt_race_self *self, uint64_t r, unsigned bytes);
/* A read that does not race with w, of a granule that has a row, or gets one. */
enum pt_race_made pt_race_common_read(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                      uintptr_t granule, unsigned bytes, const struct pt_site *site);
enum pt_race_made pt_race_common_begin(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                       uintptr_t granule, unsigned bytes, const struct pt_site *site);
/* A write of a granule that has a row. */
enum pt_race_made pt_race_common_write(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule,
                                       unsigned bytes, unsigned kind, const struct pt_site *site);
/* Of a granule that is locked: all slots of its row or chain, at most PT_RACE_COMMON_MOST; and it has none any more, if
 * it had. */
unsigned pt_race_common_slots(uint64_t r, uint64_t *out);
void pt_race_common_end(struct pt_race_self *self, uint64_t r);
/* Whether all its reads, in r or in the row that r says, come before what the thread does next. */
bool pt_race_knows_reads(const struct pt_race_self *self, uint64_t r);
/* Whether the row has the slot with that thread and number, of the thread with that column. */
bool pt_race_common_has(unsigned column, uint64_t r, uint64_t wanted);

/* ---- loop.c ---- */

/* Whether a record of the thread's own is still there, and will be for a while. */
static inline bool pt_race_is_there(const struct pt_race_self *self, uint64_t number)
{
    return self->hb.clock - number <= PT_RACE_RING - 2 * PT_RACE_BLOCK;
}

/* A read, of which the thread has made one like it in its region, from a slot of reads like this one: nothing, a slot,
 * or a chain. AGAIN: it is to be made by other means. */
enum pt_race_made pt_race_loop_make(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                    uintptr_t granule, unsigned bytes, const struct pt_site *site,
                                    struct pt_race_loop *loop);
/* The thread makes no such reads any more; and none at all. */
void pt_race_loop_leave(struct pt_race_self *self, struct pt_race_loop *loop);
void pt_race_loop_end(struct pt_race_self *self);
/* A read that does not race with w, of a granule that others have read, by a thread that has no column: its slot goes
 * into a chain of the granule's own, or of its row's. */
enum pt_race_made pt_race_chain_read(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                     uintptr_t granule, unsigned bytes, const struct pt_site *site);
/* The slots of a chain, the latest first. */
unsigned pt_race_chain_slots(uint64_t r, uint64_t *out);
/* So many name it no more. Nothing happens to what is no chain. */
void pt_race_chain_drop(struct pt_race_self *self, uint64_t r, uint32_t count);

/* What loops remember the site by, for reads of these bytes; 0: there are no loops of these. */
static inline uint64_t pt_race_loop_site(const struct pt_race_self *self, unsigned bytes, const struct pt_site *site)
{
    _Static_assert(_Alignof(struct pt_site) >= 4, "two bits of its address say which bytes");
    unsigned which = bytes == PT_CELL_WHOLE ? 3 : bytes == 0x0f ? 1 : bytes == 0xf0 ? 2 : 0;
    return which ? (uintptr_t)site | self->log.epoch | which : 0;
}
/* The loop of such reads, or what may become it. There are two that it may be, as a thread mostly has several at a
 * time, of which none is to take the other's place again and again. */
static inline struct pt_race_loop *pt_race_loop_of(struct pt_race_self *self, uint64_t r, uint64_t site)
{
    uint64_t at = (site + r) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PT_RACE_LOOP_BITS);
    struct pt_race_loop *one = &self->log.loops[at], *other = &self->log.loops[at ^ 1];
    if (__builtin_expect(one->from == r && one->site == site, 1))
        return one;
    bool is_present = !((one->site ^ site) >> 48); /* of the thread's region */
    return is_present || (other->from == r && other->site == site) ? other : one;
}
/* From here on it is of such reads. */
static inline void pt_race_loop_begin(struct pt_race_self *self, struct pt_race_loop *loop, uint64_t r, uint64_t site)
{
    if (loop->to)
        pt_race_loop_leave(self, loop);
    loop->site = site;
    loop->from = r;
    loop->seen = 0;
}
/* Whether it is known what becomes of the slot. */
static inline bool pt_race_loop_goes_on(const struct pt_race_self *self, const struct pt_race_loop *loop)
{
    return loop->to && pt_race_is_there(self, loop->number) && loop->calls == pt_race_calls();
}
/* So many granules have gone from the one slot to the other. */
static inline void pt_race_loop_count(struct pt_race_self *self, struct pt_race_loop *loop, uint32_t count)
{
    if (__builtin_expect((loop->used += count) >> 30, 0))
        pt_race_loop_leave(self, loop);
}

/* ---- make.c ---- */

/* Both at once, if they are as they were. */
static inline bool pt_race_swap(struct pt_race_pair *pair, uint64_t w, uint64_t r, uint64_t new_w, uint64_t new_r)
{
    bool done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*pair), "+a"(w), "+d"(r)
                     : "b"(new_w), "c"(new_r)
                     : "memory");
    return done;
}

/* Of granules that are changed one after the other: a compare-and-swap waits for its line, and nothing goes on beside
 * it. Not beyond the leaf: what is asked for there is another's, or nothing, and nobody writes it. */
static inline void pt_race_fetch(const struct pt_race_pair *pair)
{
    __builtin_prefetch(pair + PT_RACE_AHEAD, 1);
}

/* The slot is not in its granule any more. */
static inline void pt_race_replaced(struct pt_race_self *self, uint64_t slot)
{
    uint64_t number = pt_race_number_of(slot);
    if (slot >> PT_RACE_THREAD_AT == self->hb.id && pt_race_is_there(self, number))
        pt_race_bits_of(self->log.ring, number)->replaced |= UINT64_C(1) << number % 64;
}
/* Whether the log has such an access at the place already, from this slot of the thread's region on; then it has these
 * bytes from now on, too. The number of its record, 0: no. */
uint64_t pt_race_is_logged(struct pt_race_self *self, uint64_t slot, unsigned bytes, uint32_t place);
/* Accesses of one granule, of one kind, in one region that are logged by their places. Of another one nothing new is
 * said if the slot has its bytes: whoever races with it races with those. */
enum { PT_RACE_STEPS = 12 };
/* Puts an access into the log, with what it replaces; its number. In a record of its own, or in a proxy, too. */
uint64_t pt_race_log_alone(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint32_t place,
                           uint64_t same, uint64_t other);
uint64_t pt_race_log_access(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint32_t place,
                            uint64_t same, uint64_t other);
/* The thread remembers an access, and the number of its record. One of other bytes that is there already, and has the
 * same record, becomes one with it. */
static inline void pt_race_filter_add(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                                      const struct pt_site *site, uint64_t number)
{
    struct pt_race_filter *filter = pt_race_filter_of(self, granule, site);
    if (pt_race_is_filter(self, filter, granule, kind, site) && filter->number == number)
        bytes |= (unsigned)(filter->where >> 48);
    *filter = (struct pt_race_filter){granule | (kind >> 1 & 1) | (uint64_t)bytes << 48,
                                      (uintptr_t)site | self->log.epoch, number};
}
/* The same of a new one. */
static inline void pt_race_filter_put(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                                      const struct pt_site *site, uint64_t number)
{
    *pt_race_filter_of(self, granule, site) = (struct pt_race_filter){granule | (kind >> 1 & 1) | (uint64_t)bytes << 48,
                                                                      (uintptr_t)site | self->log.epoch, number};
}

#endif
