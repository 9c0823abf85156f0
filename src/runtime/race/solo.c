/*
 * Accesses of solo granules: plain, and each after all that were made before it.
 *
 * Guarantee: the granule stays solo only if the thread knows the last access, and so, as each of them knew the one
 * before, all of them; then there is no race. Else nothing has happened. What was accessed is in the log, so that a
 * cell can be made of it (open.c) when the first access comes that is not ordered. Bytes that are accessed one by one
 * at one place are one access in the log, with the clock of the first (race/cell.h, merge_from); a write that is made
 * again has that of the last time, a read that of the first one of its region.
 *
 * Cost: some 60 instructions with the hook, a compare-and-swap of the word, and a slot of the log, whose slots are
 * written one after the other; of a granule that another thread has accessed last also a look at that one's slot.
 */
#include "runtime/race/log.h"

enum { NEAR = 2048 }; /* slots that are still in the cache, by and large */
#define SAME (~UINT64_C(0) << PT_RACE_SLOT_PLACE_AT)

static struct pt_race_slot *slot_at(const struct pt_race_solo *solo, uint64_t number)
{
    return &solo->slots[number & (PT_RACE_LOG_RING - 1)];
}

bool pt_race_solo_is_known(const struct pt_race_self *self, uint64_t seen)
{
    uint32_t thread = pt_race_solo_thread(seen);
    uint64_t number = pt_race_solo_number(seen), least, known = pt_vec_at(self->hb.past, thread);
    if (thread == self->hb.id)
        return true;
    const struct pt_race_log *log = &pt_race_logs[thread];
    uint64_t last = pt_race_slot_last(pt_race_slot_get(&log->slots[number & (PT_RACE_LOG_RING - 1)].b));
    atomic_thread_fence(memory_order_acquire); /* that is of before it is asked for now */
    if (__builtin_expect(number < pt_race_slot_get(&log->first), 0))
        pt_race_log_bounds(log, number, &least, &last);
    return last <= known;
}

static uint64_t slot_of(unsigned kind, uint32_t place)
{
    uint64_t type = kind & PT_CELL_WRITES ? PT_RACE_SLOT_WRITE : PT_RACE_SLOT_READ;
    return type << PT_RACE_SLOT_TYPE_AT | (uint64_t)(kind >> PT_RACE_OP_AT) << PT_RACE_SLOT_OP_AT |
           (uint64_t)place << PT_RACE_SLOT_PLACE_AT;
}

/* The first byte, the length less one, and whether it writes: the bytes of an access are next to each other. */
static inline unsigned about(unsigned bytes, unsigned kind)
{
    unsigned first = (unsigned)__builtin_ctz(bytes), last = 31 - (unsigned)__builtin_clz(bytes);
    return first | (last - first) << 3 | (kind & PT_CELL_WRITES) << 5;
}

/* The access as the next slot, which is taken when `at` is raised beyond it. Its word. `noted`: the calls
 * are those of the slot before it. */
static inline uint64_t append(struct pt_race_self *self, uint64_t seen, unsigned bytes, unsigned kind, uint32_t place,
                              bool noted, uint64_t *ret_at)
{
    struct pt_race_solo *solo = &self->solo;
    if (__builtin_expect(solo->at + 2 > solo->stop || solo->region_due || (!noted && !pt_race_is_stack(&solo->noted)),
                         0))
        pt_race_log_prepare(self);
    uint64_t at = solo->at, before = 0;
    if (seen && seen >> PT_RACE_SOLO_THREAD_AT == solo->top) {
        before = at - pt_race_solo_number(seen);
        before = before < PT_RACE_SLOT_BEFORE ? before : PT_RACE_SLOT_BEFORE; /* which is gone */
    } else if (seen) {
        before = 1;
        pt_race_slot_put(&slot_at(solo, at)->a, (uint64_t)PT_RACE_SLOT_PREV << PT_RACE_SLOT_TYPE_AT |
                                                    (seen & ~PT_RACE_SOLO) >> PT_RACE_SOLO_NUMBER_AT);
        at++;
    }
    struct pt_race_slot *slot = slot_at(solo, at);
    pt_race_slot_put(&slot->b, self->hb.clock << PT_RACE_SLOT_LATER_BITS);
    pt_race_slot_put(&slot->a, slot_of(kind, place) | (uint64_t)bytes << PT_RACE_SLOT_BYTES_AT | before);
    *ret_at = at;
    return solo->top << PT_RACE_SOLO_THREAD_AT | at << PT_RACE_SOLO_NUMBER_AT | about(bytes, kind);
}

/* Whether the last access of the granule is the thread's, in its region, at this place. Where that is long ago nobody
 * looks: it would have to be fetched. */
static inline bool is_there(const struct pt_race_solo *solo, uint64_t seen, unsigned kind, uint32_t place)
{
    uint64_t number = pt_race_solo_number(seen);
    return seen >> PT_RACE_SOLO_THREAD_AT == solo->top && number >= solo->from && solo->at - number < NEAR &&
           (pt_race_slot_get(&slot_at(solo, number)->a) & SAME) == slot_of(kind, place);
}

/* It becomes one with that. False: somebody else was there. */
static inline bool join(struct pt_race_self *self, pt_race_word *word, uint64_t seen, unsigned bytes, unsigned kind)
{
    struct pt_race_slot *slot = slot_at(&self->solo, pt_race_solo_number(seen));
    uint64_t a = pt_race_slot_get(&slot->a), wider = a | (uint64_t)bytes << PT_RACE_SLOT_BYTES_AT;
    if ((a >> PT_RACE_SLOT_BYTES_AT & 0xff) != bytes)
        wider |= PT_RACE_SLOT_SEVERAL;
    pt_race_slot_put(&slot->a, wider);
    if (kind & PT_CELL_WRITES)
        return pt_race_solo_rewrite(self, slot, seen) && atomic_load_explicit(word, memory_order_relaxed) == seen;
    /* The word is as it was, after the slot is written: whoever opens it later sees that. */
    return wider == a || atomic_compare_exchange_strong(word, &seen, seen);
}

static inline bool make(struct pt_race_self *self, pt_race_word *word, uint64_t seen, unsigned bytes, unsigned kind,
                        const struct pt_site *site, bool noted, struct pt_race_slot **ret_slot)
{
    struct pt_race_solo *solo = &self->solo;
    uint32_t place = pt_race_place_of(site);
    uint64_t at;
    if (!solo->slots || (seen && seen >> PT_RACE_SOLO_THREAD_AT != solo->top && !pt_race_solo_is_known(self, seen)))
        return false;
    if (is_there(solo, seen, kind, place) && join(self, word, seen, bytes, kind)) {
        *ret_slot = slot_at(solo, pt_race_solo_number(seen));
        return true;
    }
    uint64_t made = append(self, seen, bytes, kind, place, noted, &at);
    *ret_slot = slot_at(solo, at);
    /* release: partner of the acquire of whoever opens it; acquire: it follows what the others wrote of it */
    if (!atomic_compare_exchange_strong_explicit(word, &seen, made, memory_order_acq_rel, memory_order_relaxed))
        return false;
    solo->at = at + 1;
    return true;
}

__attribute__((noinline)) bool pt_race_solo_walk(struct pt_race_self *self, pt_race_word *word, uint64_t seen,
                                                 struct pt_race_filter *filter, unsigned bytes, unsigned kind)
{
    uint64_t number = pt_race_solo_number(seen);
    if (filter->slot != slot_at(&self->solo, number) || number < self->solo.from ||
        self->solo.stop - number > PT_RACE_LOG_RING || !join(self, word, seen, bytes, kind))
        return false;
    filter->bytes = kind & PT_CELL_WRITES ? bytes : filter->bytes | bytes;
    return true;
}

bool pt_race_solo_make(struct pt_race_self *self, pt_race_word *word, uint64_t seen, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *site)
{
    struct pt_race_slot *slot;
    if (!make(self, word, seen, bytes, kind, site, false, &slot))
        return false;
    *pt_race_filter_of(self, granule, site) =
        (struct pt_race_filter){pt_race_filter_where(granule, kind), (uintptr_t)site | self->solo.epoch, slot, bytes};
    return true;
}

bool pt_race_solo_pass(struct pt_race_self *self, pt_race_word *word, uint64_t seen, unsigned bytes, unsigned kind,
                       const struct pt_site *site, bool noted)
{
    struct pt_race_slot *slot;
    return make(self, word, seen, bytes, kind, site, noted, &slot);
}

uint64_t pt_race_solo_change(struct pt_race_self *self, uint64_t seen, unsigned bytes, unsigned kind,
                             const struct pt_site *site)
{
    uint64_t at;
    if (!self->solo.slots || (seen && !pt_race_solo_is_known(self, seen)))
        return 0;
    uint64_t made = append(self, seen, bytes, kind, pt_race_place_of(site), false, &at);
    self->solo.at = at + 1;
    return made;
}
