/*
 * Plain accesses of several granules: one after the other, as make.c does it, or else granule.c.
 *
 * Where the same is known of granules that follow each other, an access of all their bytes is one record (log.h; of
 * reads, loop.c). What memory is copied to was mostly written as a whole before, and is read as a whole; so that is the
 * rule.
 */
#include "runtime/race/fast.h"

enum { SHORT = 4 }; /* granules that are read one by one */

/* Whether it has, in the middle of an access of several granules: then the others are checked with what it knew before,
 * whose reference makes that another vector. */
static bool has_learned(const struct pt_race_self *self)
{
    return self->before.clock && self->before.past != self->hb.past;
}

/* The records from this one on are of one write, which ends now: who reads any of it learns of all. */
static void end_together(struct pt_race_self *self, uint64_t from, uint64_t last)
{
    if (last - from > PT_RACE_LATER || last - from > PT_RACE_RING - 2 * PT_RACE_BLOCK)
        from = last - (PT_RACE_RING - 2 * PT_RACE_BLOCK);
    for (uint64_t number = from; number < last && number < self->hb.clock; number++) {
        struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
        if (pt_race_get(&record->about) >> PT_RACE_TYPE_AT == PT_RACE_RECORD_WRITE)
            pt_race_put(&record->more, pt_race_get(&record->more) + last - number);
    }
}

/* The same of granules with cells, of which this access, that began at that clock, has written some. */
static void end_cells(struct pt_race_self *self, uintptr_t granule, uintptr_t to, uint64_t before)
{
    for (; granule < to; granule += 8) {
        struct pt_race_pair *pair = pt_race_pair_of(granule);
        if (!pair || !(pt_race_get(&pair->w) & PT_RACE_OWN))
            continue;
        uint64_t word = pt_race_lock_word(&pair->w);
        if (word & PT_RACE_OWN && !((uint32_t)word & PT_RACE_MANY))
            pt_cell_rewrite(&pt_race_cells[(uint32_t)word].cell, &self->hb, PT_CELL_WHOLE, before);
        pt_race_unlock_word(&pair->w, word);
    }
}

/* Where the granules end that are read or written one after the other in one go: with their page. */
static uintptr_t end_of_run(uintptr_t granule, uintptr_t to)
{
    uintptr_t page = (granule | 4095) + 1;
    return page < (to & ~(uintptr_t)7) ? page : to & ~(uintptr_t)7;
}

/* Two slots, all of which comes before a write that the thread makes now. */
static inline bool is_behind(const struct pt_race_self *self, uint64_t w, uint64_t r)
{
    return !(w & PT_RACE_CELL || r & PT_RACE_OWN) && pt_race_knows_write(self, w) && pt_race_knows(self, r);
}

/* Of a write that ends memory, in a busy page: how many granules it is made of, whatever was known of them, which only
 * the slots say, and no record (busy.h). */
static unsigned end_run(struct pt_race_self *self, struct pt_race_pair *pair, unsigned most, uint64_t slot)
{
    unsigned count = 0;
    for (; count < most; count++, pair++) {
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
        pt_race_fetch(pair);
        if (!is_behind(self, w, r) || !pt_race_swap(pair, w, r, slot, 0))
            break;
        pt_race_replaced(self, w);
        pt_race_replaced(self, r);
    }
    return count;
}

/* A write of the granules that have all their bytes in it, from this one on, of which the same is known. Where the
 * first ends that is not made. */
static uintptr_t write_run(struct pt_race_self *self, uintptr_t granule, uintptr_t to, unsigned kind,
                           const struct pt_site *site)
{
    struct pt_race_pair *pair = pt_race_pair_of(granule);
    uintptr_t end = end_of_run(granule, to);
    if (!pair)
        return granule;
    if (pt_race_wants_proxy(self, granule, kind, 0))
        return pt_race_busy_run(self, pair, granule, end, kind, site);
    uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
    uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
    if (!is_behind(self, w, r))
        return granule;
    bool ends = kind >> PT_RACE_OP_AT && pt_race_is_busy(pt_race_leaf_of(granule), granule);
    uint64_t number =
        pt_race_log_alone(self, granule, PT_CELL_WHOLE, kind, pt_race_place_of(site), ends ? 0 : w, ends ? 0 : r);
    uint64_t slot = pt_race_slot_of(self, number, PT_CELL_WHOLE), stays = pt_race_is_mine(self, r) ? r : 0;
    unsigned most = (unsigned)(end - granule) / 8, count = 0;
    most = most > PT_RACE_RUN + 1 ? PT_RACE_RUN + 1 : most;
    if (ends)
        count = end_run(self, pair, most, slot);
    else
        for (; count < most && pt_race_swap(pair + count, w, r, slot, stays); count++)
            pt_race_fetch(pair + count);
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    if (count > 1) {
        pt_race_put(&record->about, pt_race_get(&record->about) | (uint64_t)(count - 1) << PT_RACE_RUN_AT);
        pt_race_share(self->log.ring, number);
    }
    return granule + 8 * (uintptr_t)count;
}

/* The same of a read, of many granules: what becomes of the slot of the first becomes of those that are equal (loop.c).
 */
static uintptr_t read_run(struct pt_race_self *self, uintptr_t granule, uintptr_t to, const struct pt_site *site)
{
    uintptr_t end = end_of_run(granule, to);
    struct pt_race_pair *pair = end - granule >= 8 * SHORT ? pt_race_pair_of(granule) : NULL;
    if (!pair)
        return granule;
    if (pt_race_wants_proxy(self, granule, PT_CELL_READS, 0))
        return pt_race_busy_run(self, pair, granule, end, PT_CELL_READS, site);
    uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
    uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
    uint64_t key = pt_race_loop_site(self, PT_CELL_WHOLE, site);
    struct pt_race_loop *loop = pt_race_loop_of(self, r, key);
    if (w & PT_RACE_CELL || pt_race_is_row(r) || pt_race_get(&pair[1].r) != r || !pt_race_knows_write(self, w))
        return granule;
    if (loop->from != r || loop->site != key)
        pt_race_loop_begin(self, loop, r, key);
    if (end - granule >= 8 * PT_RACE_LOOP_ROWS)
        loop->seen = PT_RACE_LOOP_ROWS;
    if (!pt_race_loop_goes_on(self, loop)) {
        if (pt_race_loop_make(self, pair++, w, r, granule, PT_CELL_WHOLE, site, loop) != PT_RACE_MADE)
            return granule;
        granule += 8;
    }
    uint32_t count = 0;
    bool stays = loop->to == r;
    for (; granule < end && (stays ? pt_race_get(&pair->r) == r : pt_race_swap(pair, w, r, w, loop->to)); pair++) {
        granule += 8;
        count++;
        pt_race_fetch(pair);
    }
    pt_race_loop_count(self, loop, stays ? 0 : count);
    return granule;
}

/* One granule, of some bytes. False: nothing has happened, and it is to be made by a cell. */
static bool make_one(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                     const struct pt_site *site)
{
    bool reads = kind == PT_CELL_READS, learned = has_learned(self);
    if (reads && pt_race_fast(self, granule, bytes, kind, site))
        return true;
    if (reads && !learned && self->log.ring) {
        pt_race_read_one(self, granule, bytes, site);
        return true;
    }
    struct pt_race_pair *pair = pt_race_pair_of(granule);
    return !pair || pt_race_is_said_again(self, pair, bytes, kind, site) ||
           (!learned && pt_race_make(self, pair, granule, bytes, kind, site));
}

/* A write that began at that clock is over. `touched`: some of it is in cells, at the clock itself. */
static void end_write(struct pt_race_self *self, uintptr_t from, uintptr_t to, uint64_t before, bool touched)
{
    if (self->several && self->log.ring && before < self->hb.clock)
        end_together(self, before, self->hb.clock - !touched);
    if (self->several && touched)
        end_cells(self, from & ~(uintptr_t)7, to, before);
    self->hb.clock += touched;
}

/* The whole access is over. */
static void end_several(struct pt_race_self *self)
{
    if (self->before.clock) {
        pt_vec_drop(&self->memory, self->before.past);
        self->before = (struct pt_hb_thread){0};
    }
    self->several = false;
}

/* A read of bytes of two granules, of at most eight: words that are not aligned. */
static void read_two(struct pt_race_self *self, uintptr_t granule, unsigned bytes, const struct pt_site *site)
{
    self->several = true;
    if (!pt_race_fast(self, granule, bytes & PT_CELL_WHOLE, PT_RACE_READ, site))
        pt_race_read_one(self, granule, bytes & PT_CELL_WHOLE, site);
    if (!make_one(self, granule + 8, bytes >> 8, PT_RACE_READ, site)) {
        struct pt_race_step access = pt_race_step_of(PT_RACE_READ, site);
        access.cell.bytes = (uint8_t)(bytes >> 8);
        pt_race_touch(self, granule + 8, &access);
    }
    end_several(self);
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t granule = address & ~(uintptr_t)7, to = address + size;
    if (!pt_race_is_address(address, to))
        return;
    if (kind == PT_RACE_READ && size <= 8 && granule + 8 < to && self->log.ring) {
        read_two(self, granule, ((1u << size) - 1) << (address & 7), site);
        return;
    }
    struct pt_race_step access = pt_race_step_of(kind, site);
    bool touched = false; /* of a write all granules get records, for end_together */
    uint64_t before = self->hb.clock;
    self->several = granule + 8 < to;
    while (granule < to) {
        uintptr_t next = granule;
        access.cell.bytes = pt_race_bytes_in(granule, address, to);
        if (access.cell.bytes == PT_CELL_WHOLE && self->log.ring && !has_learned(self))
            next = kind == PT_CELL_READS ? read_run(self, granule, to, access.site)
                                         : write_run(self, granule, to, kind, access.site);
        if (next == granule && !make_one(self, granule, access.cell.bytes, kind, access.site)) {
            pt_race_touch(self, granule, &access);
            touched = true;
        }
        granule = next == granule ? granule + 8 : next;
    }
    if (kind & PT_CELL_WRITES)
        end_write(self, address, to, before, touched);
    end_several(self);
}
