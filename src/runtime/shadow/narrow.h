/*
 * Fast paths for granules whose bytes have different clocks (struct pt_fine): two fields of two bytes, two numbers of
 * which one is written more often.
 *
 *   known read   all bytes that it touches have A = V_i. Nothing is written: the record is looked at, the value loaded,
 *                the word and the record looked at again.
 *   passed       A of each of these bytes is a clock that the thread has passed: locked, looked at again, accessed, and
 *                V_i put into the record in place. W <= A, so the access takes no clock.
 *
 *   part         a granule that is not fine yet becomes so: the same of some of its bytes.
 *
 * Not for watched granules, nor for those with readings (readers.h). A record whose bytes agree again stays until a
 * slow path, a write of the whole granule or one that changes nothing packs it, or until there are many: two neighbours
 * that are written in turn would else get a new one each time. One that is written again in its region is likely to be
 * so more often, and packed granules are cheaper.
 *
 * Why a known read is right: its thread owns V_i, so a byte with that number has that clock. `life` of the record is
 * the same before the value is loaded and at the end, and the word has the record at the end: so the record was the
 * granule's all the time. Whoever wrote the value that was loaded had locked the granule; the second look at the word
 * sees the lock, and the read does not count, or the unlock (release, acquire), and then the record as that writer left
 * it: V_i there says that it wrote with a clock that this thread knows. tests/interleave/test_narrow.c.
 */
#ifndef PT_RUNTIME_SHADOW_NARROW_H
#define PT_RUNTIME_SHADOW_NARROW_H

#include "runtime/shadow/fast.h"

/* Whether all bytes of an access within one granule have the clock V_i, and nothing else is to be known of them. */
static inline bool pt_narrow_has(const struct pt_fine *fine, pt_clock_id clock, unsigned first, unsigned size)
{
#pragma GCC unroll 8
    for (unsigned i = first; i < first + size; i++)
        if (__atomic_load_n(&fine->access[i], __ATOMIC_RELAXED) != clock)
            return false;
    return !fine->watch;
}

/* The first look, at a granule seen with this word; gives the record's life. */
static inline bool pt_narrow_is_known(const struct pt_shadow_self *self, uint64_t seen, uintptr_t at, unsigned size,
                                      uint32_t *ret_life)
{
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    if ((seen & (PT_SHADOW_LOCKED | PT_SHADOW_FINE)) != PT_SHADOW_FINE || !self->clock.id ||
        self->fast != self->clock.id || fine->bytes)
        return false;
    /* acquire: what is read of the record is of that life or a later one */
    *ret_life = atomic_load_explicit(&fine->life, memory_order_acquire);
    return pt_narrow_has(fine, self->clock.id, at & 7, size);
}

/* The second, when the value has been loaded, behind an acquire fence. */
static inline bool pt_narrow_still(const struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t at,
                                   unsigned size, uint32_t life)
{
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    /* acquire: partner of the release that unlocked it last */
    if (atomic_load_explicit(word, memory_order_acquire) != seen || !pt_narrow_has(fine, self->clock.id, at & 7, size))
        return false;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&fine->life, memory_order_relaxed) == life;
}

/* Whether nothing has to be taken from these bytes of a locked granule, whatever their clocks are. */
static inline bool pt_narrow_has_passed(struct pt_shadow_self *self, const struct pt_fine *fine, unsigned first,
                                        unsigned size)
{
    pt_clock_id before = self->clock.id; /* equal neighbours are asked for once */
    for (unsigned i = first; i < first + size; i++) {
        if (fine->access[i] != before && !pt_self_is_past(&self->clock, fine->access[i]))
            return false;
        before = fine->access[i];
    }
    return true;
}

/* The same where there are only rungs: whether none of them is a later one. */
static inline __attribute__((always_inline)) bool pt_narrow_is_below(pt_clock_id rung, const pt_clock_id *ids,
                                                                     unsigned count)
{
    uint32_t later = 0;
    for (unsigned i = 0; i < count; i++)
        later |= rung - ids[i]; /* the top bit: numbers have fewer */
    return !(later >> 31);
}

/* Either way. */
static inline __attribute__((always_inline)) bool
pt_narrow_is_past(struct pt_shadow_self *self, const struct pt_fine *fine, unsigned first, unsigned size)
{
    if (pt_clock_only_rungs())
        return pt_narrow_is_below(self->clock.id, fine->access + first, size);
    return pt_narrow_has_passed(self, fine, first, size);
}

/* An access that leaves nothing to tell the bytes of a granule apart: the slow path packs it. */
static inline bool pt_narrow_unites(const struct pt_fine *fine, unsigned size, bool write)
{
    if (size < 8 || write)
        return size == 8;
    for (unsigned i = 1; i < 8; i++)
        if (fine->write[i] != fine->write[0])
            return false;
    return true;
}

/* A passed access: true with the granule locked and the thread inside the runtime, until the end. The thread is not in
 * the runtime before. */
static inline __attribute__((always_inline)) bool pt_narrow_begin(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                  uint64_t seen, uintptr_t address, unsigned size,
                                                                  bool write)
{
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    if ((seen & PT_SHADOW_STATE) != PT_SHADOW_FINE || self->fast == PT_NOT_FAST || !self->clock.id || fine->watch ||
        fine->bytes)
        return false;
    if (pt_fast_lock(self, word, seen)) { /* now the record is the granule's for sure */
        if (!fine->watch && !fine->readers && !fine->bytes && !pt_narrow_unites(fine, size, write) &&
            pt_narrow_is_past(self, fine, address & 7, size))
            return true;
        pt_granule_unlock(word, seen);
    }
    pt_fast_leave(self);
    return false;
}

/* V_i in the place of clocks that are no later. References as in pt_fast_end_passed. True: one was an earlier one of
 * the thread. */
static inline bool pt_narrow_put(struct pt_shadow_self *self, pt_clock_id *ids, unsigned count, bool access)
{
    pt_clock_id clock = self->clock.id;
    bool own = false;
    if (pt_clock_is_rung(clock)) { /* so are those that are no later: nobody has references */
        own = access && ids[0] != clock && pt_self_is_own(&self->clock, ids[0]);
        for (unsigned i = 0; i < count; i++)
            ids[i] = clock;
        return own;
    }
    for (unsigned i = 0, j; i < count; i = j) {
        pt_clock_id id = ids[i];
        for (j = i + 1; j < count && ids[j] == id; j++)
            ;
        if (id == clock)
            continue;
        pt_self_give(&self->clock, j - i);
        if (access)
            own |= pt_self_pass(&self->clock, id, j - i);
        else
            pt_self_release(&self->clock, id, j - i);
        for (unsigned k = i; k < j; k++)
            ids[k] = clock;
    }
    return own;
}

/* Whether a write of a byte changes nothing, and the granule's outermost bytes agree with it, so that all may. */
static inline bool pt_narrow_seems_whole(const struct pt_fine *fine, pt_clock_id clock, unsigned byte)
{
    return fine->write[byte] == clock && fine->write[0] == clock && fine->write[7] == clock &&
           fine->access[byte] == clock && fine->access[0] == clock && fine->access[7] == clock;
}

/* After an access with this clock, where there are many records: whether no byte has another clock of accesses, so that
 * the granule may be packed. */
static inline bool pt_narrow_agrees(const struct pt_fine *fine, pt_clock_id clock)
{
    bool agrees = true;
    for (unsigned i = 0; i < 8; i++)
        agrees &= fine->access[i] == clock || !fine->access[i];
    return agrees;
}

/* The same before it, of its bytes and the others. */
static inline bool pt_narrow_will_agree(const struct pt_fine *fine, pt_clock_id clock, unsigned first, unsigned size)
{
    bool agrees = true;
    for (unsigned i = 0; i < 8; i++)
        agrees &= i - first < size || fine->access[i] == clock || !fine->access[i];
    return agrees;
}

static inline __attribute__((always_inline)) void pt_narrow_end(struct pt_shadow_self *self, pt_shadow_word *word,
                                                                uint64_t seen, uintptr_t address, unsigned size,
                                                                bool write)
{
    struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    if (__builtin_expect(!pt_fast_kept(self), 0)) {
        pt_granule_end_changed(self, word, address, pt_bytes_at(address, size), write);
    } else {
        bool packs = write && pt_narrow_seems_whole(fine, self->clock.id, address & 7);
        bool own = pt_narrow_put(self, fine->access + (address & 7), size, true);
        if (write)
            pt_narrow_put(self, fine->write + (address & 7), size, false);
        packs |= pt_fine_are_many() && pt_narrow_agrees(fine, self->clock.id);
        if (__builtin_expect(packs, 0))
            seen = pt_granule_pack(self, address, seen);
        if (own && !self->never_keeps)
            pt_kept_unlock(self, word, address, seen);
        else
            pt_granule_unlock(word, seen);
    }
    pt_fast_leave(self);
}

/* ---- granules that become such ---- */

/* Whether it is an access of some, not all, bytes in use that would be a passed one of all. */
static inline bool pt_narrow_parts(struct pt_shadow_self *self, uint64_t word, unsigned bytes)
{
    unsigned known = pt_shadow_bytes(word);
    return !(word & PT_SHADOW_STATE) && self->fast != PT_NOT_FAST && self->clock.id && known != bytes &&
           !(bytes & ~known) && pt_self_is_past(&self->clock, pt_shadow_access(word));
}

static inline void pt_narrow_end_part(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address,
                                      unsigned size, bool write, uint64_t seen)
{
    unsigned bytes = pt_bytes_at(address, size);
    if (pt_fast_kept(self))
        pt_granule_unlock(word, pt_granule_split(self, seen, bytes, write));
    else
        pt_granule_end_changed(self, word, address, bytes, write);
    pt_fast_leave(self);
}

#endif
