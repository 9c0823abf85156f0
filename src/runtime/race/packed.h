/*
 * Packed cells: how what a granule's own cell says is laid out, and looked through.
 *
 *     bytes              what
 *      0-31              the last write, stamp, what is fresh, how much there is, and which accesses say nothing new
 *                        (struct pt_race_packed)
 *     32-                a key for each entry: its place, bytes and kind in 32 bits, so that four are compared at once
 *     8 * keys_end -     clock, stack and locks of each entry
 *     behind that        last writes of other bytes
 */
#ifndef PT_RUNTIME_RACE_PACKED_H
#define PT_RUNTIME_RACE_PACKED_H

#include <emmintrin.h>

#include "runtime/race/granule.h"

enum { PT_RACE_UNIT = 16, PT_RACE_FURTHER = 7 }; /* last writes beside the first */

struct pt_race_packed_seen {
    pt_epoch at;
    uint32_t stack, locks;
};

/* A last write: a pointer to what its thread knew then, and above it the bytes. */
struct pt_race_last {
    pt_epoch at;
    uint64_t past;
};
enum { PT_RACE_LAST_BYTES_AT = 56 };

static inline struct pt_race_last pt_race_last_make(pt_epoch at, struct pt_vec *past, unsigned bytes)
{
    return (struct pt_race_last){at, (uint64_t)(uintptr_t)past | (uint64_t)bytes << PT_RACE_LAST_BYTES_AT};
}
static inline unsigned pt_race_last_bytes(const struct pt_race_last *last)
{
    return (unsigned)(last->past >> PT_RACE_LAST_BYTES_AT);
}
static inline struct pt_vec *pt_race_last_past(const struct pt_race_last *last)
{
    return (struct pt_vec *)(uintptr_t)(last->past & ((UINT64_C(1) << PT_RACE_LAST_BYTES_AT) - 1));
}

/* ---- keys: place, bytes, merged, op, writes ---- */

enum { PT_RACE_KEY_BYTES_AT = 20, PT_RACE_KEY_OP_AT = 29 };
#define PT_RACE_KEY_PLACE  UINT32_C(0xfffff)
#define PT_RACE_KEY_BYTES  UINT32_C(0xff00000)
#define PT_RACE_KEY_MERGED (UINT32_C(1) << 28)
#define PT_RACE_KEY_OP     (UINT32_C(3) << PT_RACE_KEY_OP_AT)
#define PT_RACE_KEY_WRITES (UINT32_C(1) << 31)

static inline uint32_t pt_race_packed_key(uint32_t place, unsigned bytes, bool writes)
{
    return place | bytes << PT_RACE_KEY_BYTES_AT | (writes ? PT_RACE_KEY_WRITES : 0);
}
static inline unsigned pt_race_key_bytes(uint32_t key)
{
    return key >> PT_RACE_KEY_BYTES_AT & 0xff;
}

/* ---- parts ---- */

/* Room for so many entries, of a cell with that end of its keys. */
static inline unsigned pt_race_packed_cap(unsigned keys_end)
{
    return 2 * keys_end - 8;
}
static inline unsigned pt_race_packed_units(unsigned keys_end, unsigned spare)
{
    unsigned bytes = 8 * keys_end + 16 * (pt_race_packed_cap(keys_end) + spare);
    return (bytes + PT_RACE_UNIT - 1) / PT_RACE_UNIT;
}
static inline unsigned pt_race_packed_units_of(const struct pt_race_packed *packed)
{
    return pt_race_packed_units(packed->keys_end, packed->spare);
}
static inline struct pt_race_packed_seen *pt_race_packed_seen(const struct pt_race_packed *packed)
{
    return (struct pt_race_packed_seen *)((uintptr_t)packed + 8u * packed->keys_end);
}
static inline struct pt_race_last *pt_race_packed_further(const struct pt_race_packed *packed)
{
    return (struct pt_race_last *)(void *)(pt_race_packed_seen(packed) + pt_race_packed_cap(packed->keys_end));
}
static inline struct pt_race_last pt_race_packed_last(const struct pt_race_packed *packed)
{
    return (struct pt_race_last){packed->over, packed->past};
}
static inline unsigned pt_race_packed_all(const struct pt_race_packed *packed)
{
    return (1u << packed->count) - 1;
}

/* ---- all entries at once, a bit for each ---- */

struct pt_race_looked {
    unsigned alike; /* agrees in place and kind */
    unsigned writes;
};

#define PT_RACE_FOUR(packed, i) _mm_loadu_si128((const __m128i *)(const void *)&(packed)->keys[i])
#define PT_RACE_BITS(found)     ((unsigned)_mm_movemask_ps(_mm_castsi128_ps(found)))

static inline struct pt_race_looked pt_race_packed_look(const struct pt_race_packed *packed, uint32_t key)
{
    struct pt_race_looked looked = {0};
    const __m128i wanted = _mm_set1_epi32((int)(key & ~(PT_RACE_KEY_MERGED | PT_RACE_KEY_BYTES))),
                  mask = _mm_set1_epi32((int)~(PT_RACE_KEY_MERGED | PT_RACE_KEY_BYTES));
    unsigned count = packed->count, all = (1u << count) - 1;
    for (unsigned i = 0; i < count; i += 4) { /* there is room behind the last */
        __m128i keys = PT_RACE_FOUR(packed, i);
        looked.alike |= PT_RACE_BITS(_mm_cmpeq_epi32(_mm_and_si128(keys, mask), wanted)) << i;
        looked.writes |= PT_RACE_BITS(keys) << i;
    }
    looked.alike &= all;
    looked.writes &= all;
    return looked;
}

static inline unsigned pt_race_packed_merged(const struct pt_race_packed *packed)
{
    unsigned merged = 0;
    for (unsigned i = 0; i < packed->count; i += 4)
        merged |= PT_RACE_BITS(_mm_slli_epi32(PT_RACE_FOUR(packed, i), 3)) << i;
    return merged & pt_race_packed_all(packed);
}

/* Those of these entries that have one of these bytes. */
static inline unsigned pt_race_packed_overlap(const struct pt_race_packed *packed, unsigned which, unsigned bytes)
{
    unsigned found = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        found |= (pt_race_key_bytes(packed->keys[i]) & bytes ? 1u : 0) << i;
    }
    return found;
}

/* An entry or a last write becomes another: what was enough may not be. */
static inline void pt_race_packed_touched(struct pt_race_packed *packed)
{
    atomic_store_explicit(&packed->enough, 0, memory_order_relaxed);
}

/* Entries of the thread's region, of a cell that nobody else has changed since the thread found all of it to come
 * before what it does in that region; 0: that is not known. */
static inline unsigned pt_race_packed_mine(const struct pt_race_self *self, uint64_t enough)
{
    return enough >> 32 == self->tag ? (uint32_t)enough >> PT_RACE_MINE_AT : 0;
}
/* That is so from now on, with these entries, and so many bytes that need no more accesses. */
static inline void pt_race_packed_trust(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned mine,
                                        unsigned bytes)
{
    uint64_t enough = (uint64_t)self->tag << 32 | mine << PT_RACE_MINE_AT | bytes;
    atomic_store_explicit(&packed->enough, self->tag >= PT_RACE_TAGS ? enough : 0, memory_order_relaxed);
}

/* ---- what an access asks of a cell (entry.c) ---- */

/* The bytes of the thread's entries of its region, which are among these, if these are enough. */
unsigned pt_race_packed_enough(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which,
                               bool writes);
/* A plain access under the granule's lock, of a cell that may move. False: it was not made, and perhaps races. */
bool pt_race_packed_make(struct pt_race_self *self, uint32_t *cell, struct pt_race_looked looked, uint32_t key,
                         bool *ret_again);

/* Whether that is the thread's own, of its region. */
static inline bool pt_race_is_mine(const struct pt_race_self *self, pt_epoch at)
{
    return at - pt_epoch_make(self->hb.id, self->region) <= self->hb.clock - self->region;
}

/* As pt_race_is_repeated in granule.c, but for the last writes. *ret_said: of which bytes that is so of any such
 * access; 0: nobody has looked. */
static inline bool pt_race_packed_says(const struct pt_race_self *self, const struct pt_race_packed *packed,
                                       unsigned alike, unsigned bytes, bool writes, unsigned *ret_said)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned valid = pt_race_is_mine(self, packed->over) ? pt_race_packed_all(packed) : packed->fresh, left = bytes;
    for (unsigned which = alike & valid; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        if (pt_race_is_mine(self, seen[i].at))
            left &= ~pt_race_key_bytes(packed->keys[i]);
    }
    if (!left)
        return true;
    bool enough = packed->count >= PT_RACE_SHAPE_SEEN;
    for (unsigned merged = valid & pt_race_packed_merged(packed); merged; merged &= merged - 1)
        enough |= pt_race_is_mine(self, seen[__builtin_ctz(merged)].at);
    *ret_said = enough ? pt_race_packed_enough(self, packed, valid, writes) : 0;
    return !(bytes & ~*ret_said);
}

/* Those of these entries that are not known to come before what the thread does now. */
static inline unsigned pt_race_packed_unknown(const struct pt_race_self *self, const struct pt_race_packed *packed,
                                              unsigned which)
{
    unsigned unknown = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        if (!pt_hb_knows(&self->hb, pt_race_packed_seen(packed)[i].at))
            unknown |= 1u << i;
    }
    return unknown;
}

/* Whether nobody but the last writer has read since: it then has to look at the granule when it writes again. */
static inline bool pt_race_packed_first_reader(const struct pt_race_self *self, const struct pt_race_packed *packed)
{
    uint32_t writer = pt_epoch_thread(packed->over);
    if (writer == self->hb.id)
        return false;
    for (unsigned which = packed->fresh; which; which &= which - 1)
        if (pt_epoch_thread(pt_race_packed_seen(packed)[__builtin_ctz(which)].at) != writer)
            return false;
    return true;
}

static inline void pt_race_packed_note(struct pt_race_self *self, struct pt_race_packed_seen *seen)
{
    struct pt_cell_note now = self->note_kept ? self->note : pt_race_note_now(self);
    if (self->several) { /* the next granule has the same */
        self->note = now;
        self->note_kept = true;
    }
    seen->stack = now.stack;
    seen->locks = now.locks;
}

#endif
