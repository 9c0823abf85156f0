/*
 * Plain accesses of granules that have no cell: who wrote last, and who has read since, one thread each.
 *
 * Guarantee (FastTrack's, by bytes): a slot is replaced only by an access that comes after it, has all its bytes, and
 * writes if it does. Whoever races with what was replaced races with that access, too, so that there is a race is
 * always seen; which places it has beside, open.c reads from the logs. An access that would race, or for which two
 * slots do not do, is not made here.
 * What a thread repeats in one region is logged once: a read keeps its number, and of a write it is noted how long it
 * went on. A pair of places can be missed for that only if the second thread knows, by a read that raced, a moment in
 * the middle of the first one's region: then these two have a race that is reported.
 *
 * Cost: some 60 instructions, one compare-and-swap of 16 bytes, and a record of 32 bytes, one after the other.
 */
#include "runtime/race/busy.h"

#define COLD __attribute__((noinline))

bool pt_race_rewrite(struct pt_race_self *self, uint64_t slot, unsigned bytes, const struct pt_site *site)
{
    self->hb.clock += self->log.read == self->hb.clock; /* what was read in a cell comes before it */
    uint64_t number = pt_race_number_of(slot), later = self->hb.clock - 1 - number;
    if (later > PT_RACE_LATER || later > PT_RACE_RING - 2 * PT_RACE_BLOCK)
        return false;
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    uint64_t about = pt_race_get(&record->about), more = pt_race_get(&record->more);
    uint64_t made = (more & ~PT_RACE_LATER) | later;
    if (pt_race_run_in(about)) /* the others were not written again */
        return false;
    if ((uint8_t)(about >> PT_RACE_BYTES_AT) != bytes || pt_race_place_in(about) != pt_race_place_of(site))
        made |= PT_RACE_ANOTHER;
    if (made != more) /* release: whoever reads what is then written finds this */
        atomic_store_explicit(&record->more, made, memory_order_release);
    return true;
}

/* That record is of this access, too, of whatever bytes. */
static inline void widen(struct pt_race_record *record, uint64_t about, unsigned bytes)
{
    uint64_t wider = about | (uint64_t)bytes << PT_RACE_BYTES_AT;
    if (wider != about)
        pt_race_put(&record->more, pt_race_get(&record->more) | PT_RACE_ANOTHER);
    pt_race_put(&record->about, wider);
}

bool pt_race_widen(struct pt_race_self *self, struct pt_race_pair *pair, struct pt_race_filter *filter, unsigned bytes,
                   unsigned kind, const struct pt_site *site)
{
    uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
    uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire), slot = kind & PT_CELL_WRITES ? w : r;
    if (w & PT_RACE_CELL || !pt_race_is_mine(self, slot) || !pt_race_is_there(self, filter->number) ||
        (w & bytes && !pt_race_knows_write(self, w)) ||
        (kind & PT_CELL_WRITES &&
         (r & PT_RACE_OWN || (r & bytes && !pt_race_knows(self, r)) || !pt_race_rewrite(self, slot, bytes, site))))
        return false;
    struct pt_race_record *record = pt_race_record_at(self->log.ring, filter->number);
    uint64_t about = pt_race_get(&record->about);
    if (about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_LOOP || pt_race_place_in(about) != pt_race_place_of(site))
        return false; /* others share it, or it stands for an access that was not logged */
    widen(record, about, bytes);
    if (bytes & ~(unsigned)slot &&
        !pt_race_swap(pair, w, r, kind & PT_CELL_WRITES ? w | bytes : w, kind & PT_CELL_WRITES ? r : r | bytes))
        return false;
    filter->where |= (uint64_t)bytes << 48;
    return true;
}

uint64_t pt_race_is_logged(struct pt_race_self *self, uint64_t slot, unsigned bytes, uint32_t place)
{
    unsigned steps = 0;
    uint64_t number = 0;
    bool is_new = bytes & ~(unsigned)slot; /* however many there are, its bytes are logged */
    for (; pt_race_is_mine(self, slot) && steps < PT_RACE_STEPS; steps++) {
        number = pt_race_number_of(slot);
        if (!pt_race_is_there(self, number))
            return 0;
        struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
        uint64_t about = pt_race_get(&record->about);
        if (!steps && !is_new && (about >> PT_RACE_COUNT_AT & PT_RACE_COUNT) >= PT_RACE_STEPS)
            return number;
        if (!steps && !(about & pt_race_hash_of(place)))
            return 0;
        if (pt_race_place_in(about) == place && !(about >> PT_RACE_RECORD_OP_AT & 3) &&
            about >> PT_RACE_TYPE_AT != PT_RACE_RECORD_PROXY &&
            (about >> PT_RACE_TYPE_AT != PT_RACE_RECORD_LOOP || !(bytes & ~(unsigned)(about >> PT_RACE_BYTES_AT)))) {
            widen(record, about, bytes);
            return number;
        }
        slot = pt_race_get(&record->same);
    }
    return steps == PT_RACE_STEPS && !is_new ? number : 0;
}

/* What a record takes over from the one before it, of the same kind and region: the hashes of places, and how many
 * there are. */
static inline uint64_t count_on(uint64_t about)
{
    uint64_t count = about >> PT_RACE_COUNT_AT & PT_RACE_COUNT;
    return (about & ((UINT64_C(1) << PT_RACE_HASHES) - 1)) | (count + (count < PT_RACE_COUNT)) << PT_RACE_COUNT_AT;
}

/* Puts an access into the log; its number. */
static inline uint64_t put(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint32_t place,
                           uint64_t same, uint64_t other)
{
    pt_race_log_room(self);
    uint64_t number = self->hb.clock++, about = pt_race_hash_of(place);
    if (pt_race_is_mine(self, same))
        about |= count_on(pt_race_get(&pt_race_record_at(self->log.ring, pt_race_number_of(same))->about));
    if (pt_race_count_put(granule))
        about |= (uint64_t)PT_RACE_COUNT << PT_RACE_COUNT_AT;
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    about |= (uint64_t)(kind & PT_CELL_WRITES ? PT_RACE_RECORD_WRITE : PT_RACE_RECORD_READ) << PT_RACE_TYPE_AT |
             (uint64_t)(kind >> PT_RACE_OP_AT) << PT_RACE_RECORD_OP_AT | (uint64_t)place << PT_RACE_PLACE_AT |
             (uint64_t)bytes << PT_RACE_BYTES_AT;
    pt_race_put(&record->about, about);
    pt_race_put(&record->same, same);
    pt_race_put(&record->other, other);
    pt_race_put(&record->more, (uint64_t)(granule >> 3) << PT_RACE_MORE_AT);
    return number;
}

uint64_t pt_race_log_alone(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint32_t place,
                           uint64_t same, uint64_t other)
{
    return put(self, granule, bytes, kind, place, same, other);
}

/* The same, or the number of a proxy, where one stands for it. */
static inline uint64_t log_one(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                               uint32_t place, uint64_t same, uint64_t other)
{
    if (pt_race_wants_proxy(self, granule, kind, same))
        return pt_race_find_proxy(self, kind, place);
    return put(self, granule, bytes, kind, place, same, other);
}

uint64_t pt_race_log_access(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint32_t place,
                            uint64_t same, uint64_t other)
{
    return log_one(self, granule, bytes, kind, place, same, other);
}

static inline bool has_more(uint64_t slot, unsigned bytes)
{
    return (uint8_t)slot & ~bytes;
}

/* An access of which the thread's slot of its region has not all bytes, or not the place. PT_RACE_AGAIN: it is
 * to be logged. */
static COLD enum pt_race_made extend(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                     uintptr_t granule, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    bool writes = kind & PT_CELL_WRITES;
    uint64_t slot = writes ? w : r, number;
    if (kind >> PT_RACE_OP_AT || (writes && self->several) ||
        (number = pt_race_is_logged(self, slot, bytes, pt_race_place_of(site))) == 0 ||
        (writes && !pt_race_rewrite(self, slot, bytes, site)))
        return PT_RACE_AGAIN;
    if (bytes & ~(unsigned)slot && !pt_race_swap(pair, w, r, writes ? w | bytes : w, writes ? r : r | bytes))
        return PT_RACE_CHANGED;
    pt_race_filter_add(self, granule, bytes, kind, site, number);
    return PT_RACE_MADE;
}

/* Whether it is worth looking for an access at the place from the thread's slot of its region on. */
static inline bool may_be_logged(const struct pt_race_self *self, uint64_t slot, uint32_t place)
{
    uint64_t number = pt_race_number_of(slot);
    if (!pt_race_is_there(self, number))
        return false;
    uint64_t about = pt_race_get(&pt_race_record_at(self->log.ring, number)->about);
    return about & pt_race_hash_of(place) || (about >> PT_RACE_COUNT_AT & PT_RACE_COUNT) >= PT_RACE_STEPS;
}

/* Whether the thread's own slot is of a record that granules share. */
static inline bool is_of_loop(const struct pt_race_self *self, uint64_t slot)
{
    uint64_t number = pt_race_number_of(slot);
    return pt_race_is_there(self, number) &&
           pt_race_get(&pt_race_record_at(self->log.ring, number)->about) >> PT_RACE_TYPE_AT == PT_RACE_RECORD_LOOP;
}

/* The same read as of other granules that had the same slots: what has become of theirs becomes of these. AGAIN: there
 * were none, or not enough. */
__attribute__((always_inline)) static inline enum pt_race_made go_on(struct pt_race_self *self,
                                                                     struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                                                     uintptr_t granule, unsigned bytes,
                                                                     const struct pt_site *site)
{
    uint64_t key = pt_race_loop_site(self, bytes, site);
    if (!key || (pt_race_is_mine(self, r) && !is_of_loop(self, r)))
        return PT_RACE_AGAIN;
    struct pt_race_loop *loop = pt_race_loop_of(self, r, key);
    if (loop->from != r || loop->site != key) {
        pt_race_loop_begin(self, loop, r, key);
        return PT_RACE_AGAIN;
    }
    if (__builtin_expect(!pt_race_loop_goes_on(self, loop), 0))
        return pt_race_loop_make(self, pair, w, r, granule, bytes, site, loop);
    if (loop->to != r) {
        if (!pt_race_swap(pair, w, r, w, loop->to))
            return PT_RACE_CHANGED;
        pt_race_loop_count(self, loop, 1);
    }
    pt_race_filter_put(self, granule, bytes, PT_CELL_READS, site, loop->number);
    return PT_RACE_MADE;
}

__attribute__((always_inline)) static inline enum pt_race_made make_read(struct pt_race_self *self,
                                                                         struct pt_race_pair *pair, uint64_t w,
                                                                         uint64_t r, uintptr_t granule, unsigned bytes,
                                                                         const struct pt_site *site)
{
    unsigned all = bytes;
    if (w & bytes && !pt_race_knows_write(self, w))
        return PT_RACE_RACES;
    if (pt_race_is_row(r))
        return pt_race_common_read(self, pair, w, r, granule, bytes, site);
    enum pt_race_made made = PT_RACE_AGAIN;
    if (pt_race_is_mine(self, r)) {
        if (may_be_logged(self, r, pt_race_place_of(site)))
            made = extend(self, pair, w, r, granule, bytes, PT_CELL_READS, site);
        all |= (uint8_t)r;
    }
    if (made == PT_RACE_AGAIN)
        made = go_on(self, pair, w, r, granule, bytes, site);
    if (made != PT_RACE_AGAIN)
        return made;
    if (r && !pt_race_is_mine(self, r) && (r & PT_RACE_OWN || has_more(r, bytes) || !pt_race_knows(self, r)))
        return pt_race_common_begin(self, pair, w, r, granule, bytes, site);
    uint64_t number = log_one(self, granule, bytes, PT_CELL_READS, pt_race_place_of(site), r, 0);
    if (!pt_race_swap(pair, w, r, w, pt_race_slot_of(self, number, all)))
        return PT_RACE_CHANGED;
    pt_race_replaced(self, r);
    pt_race_filter_put(self, granule, bytes, PT_CELL_READS, site, number);
    return PT_RACE_MADE;
}

static inline enum pt_race_made make_write(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                           uintptr_t granule, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    unsigned all = bytes;
    bool stays = r && (pt_race_is_mine(self, r) || has_more(r, bytes));
    if (r & PT_RACE_OWN)
        return pt_race_common_write(self, pair, granule, bytes, kind, site);
    if ((w & bytes && !pt_race_knows_write(self, w)) || (r & bytes && !pt_race_knows(self, r)))
        return PT_RACE_RACES;
    if (pt_race_is_mine(self, w)) {
        enum pt_race_made made = PT_RACE_AGAIN;
        if (may_be_logged(self, w, pt_race_place_of(site)))
            made = extend(self, pair, w, r, granule, bytes, kind, site);
        if (made != PT_RACE_AGAIN)
            return made;
        all |= (uint8_t)w;
    } else if (w && (has_more(w, bytes) || !pt_race_knows(self, w))) {
        return PT_RACE_TWO;
    }
    uint64_t number = log_one(self, granule, bytes, kind, pt_race_place_of(site), w, r);
    if (!pt_race_swap(pair, w, r, pt_race_slot_of(self, number, all), stays ? r : 0))
        return PT_RACE_CHANGED;
    pt_race_replaced(self, w);
    if (!stays)
        pt_race_replaced(self, r);
    if (!(kind >> PT_RACE_OP_AT))
        pt_race_filter_put(self, granule, bytes, kind, site, number);
    return PT_RACE_MADE;
}

static COLD bool make_more(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                           unsigned kind, const struct pt_site *site, enum pt_race_made made)
{
    while (made == PT_RACE_CHANGED || made == PT_RACE_TWO) {
        if (made == PT_RACE_TWO)
            pt_race_many_begin(self, pair, granule);
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
        if (w & PT_RACE_OWN)
            return (uint32_t)w & PT_RACE_MANY && pt_race_many_make(self, pair, granule, bytes, kind, site);
        if (w & PT_RACE_LOCKED) { /* it is about to become something else */
            pt_race_unlock_word(&pair->w, pt_race_lock_word(&pair->w));
            made = PT_RACE_CHANGED;
            continue;
        }
        made = kind & PT_CELL_WRITES ? make_write(self, pair, w, r, granule, bytes, kind, site)
                                     : make_read(self, pair, w, r, granule, bytes, site);
    }
    return made == PT_RACE_MADE;
}

bool pt_race_make(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                  unsigned kind, const struct pt_site *site)
{
    return self->log.ring && make_more(self, pair, granule, bytes, kind, site, PT_RACE_CHANGED);
}

static COLD void make_somehow(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                              const struct pt_site *site, enum pt_race_made made)
{
    struct pt_race_step access = pt_race_step_of(kind, site);
    struct pt_race_pair *pair = pt_race_is_address(granule, granule + 1) ? pt_race_pair_of(granule) : NULL;
    if (!pair || pt_race_is_said_again(self, pair, bytes, kind, site) ||
        (self->log.ring && make_more(self, pair, granule, bytes, kind, site, made)))
        return;
    access.cell.bytes = (uint8_t)bytes;
    pt_race_touch(self, granule, &access);
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
}

/* The commonest ones first: nothing is there, or what is there comes before; then lists. */
__attribute__((always_inline)) static inline void access_one(struct pt_race_self *self, uintptr_t address,
                                                             unsigned bytes, bool writes, const struct pt_site *site)
{
    uintptr_t granule = address & ~(uintptr_t)7;
    unsigned kind = writes ? PT_CELL_WRITES : PT_CELL_READS;
    struct pt_race_leaf *leaf = address >> PT_RACE_ADDRESS_BITS ? NULL : pt_race_leaf_of(address);
    enum pt_race_made made = PT_RACE_CHANGED;
    if (__builtin_expect(leaf && self->log.ring, 1)) {
        struct pt_race_pair *pair = pt_race_pair_in(leaf, address);
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
        if (__builtin_expect(!(w & PT_RACE_CELL) && (w || r || pt_race_is_used(leaf, address)), 1))
            made = writes ? make_write(self, pair, w, r, granule, bytes, kind, site)
                          : make_read(self, pair, w, r, granule, bytes, site);
        else if (pt_race_is_many(w) && pt_race_many_make(self, pair, granule, bytes, kind, site))
            made = PT_RACE_MADE;
    }
    if (__builtin_expect(made != PT_RACE_MADE, 0))
        make_somehow(self, granule, bytes, kind, site, made);
}

void pt_race_read_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site)
{
    access_one(self, address, bytes, false, site);
}

void pt_race_write_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site)
{
    access_one(self, address, bytes, true, site);
}
