/*
 * Plain accesses of several granules: one after the other, as make.c does it, or else granule.c. Granules that follow
 * each other are mostly alike, and then become alike.
 */
#include "runtime/race/fast.h"

/* Whether it has, in the middle of an access of several granules: then the others are checked with what it knew before,
 * whose reference makes that another vector. */
static bool has_learned(const struct pt_race_self *self)
{
    return self->before.clock && self->before.past != self->hb.past;
}

/* Of granules with cells, of which this access, that began at that clock, has written some: it ends now, and who reads
 * any of it learns of all. */
static void end_cells(struct pt_race_self *self, uintptr_t granule, uintptr_t to, uint64_t before)
{
    for (; granule < to; granule += 8) {
        struct pt_race_granule *there = pt_race_granule_of(granule);
        if (!there || !(pt_race_get(&there->near[0]) & PT_RACE_OWN))
            continue;
        uint64_t word = pt_race_lock_word(&there->near[0]);
        if (word & PT_RACE_OWN && !((uint32_t)word & PT_RACE_MANY))
            pt_cell_rewrite(&pt_race_cells[(uint32_t)word].cell, &self->hb, PT_CELL_WHOLE, before);
        pt_race_unlock_word(&there->near[0], word);
    }
}

/* Where the granules end that are accessed as a whole, in one go: with their page. */
static uintptr_t end_of_run(uintptr_t granule, uintptr_t to)
{
    uintptr_t page = (granule | 4095) + 1;
    return page < (to & ~(uintptr_t)7) ? page : to & ~(uintptr_t)7;
}

/* Slots behind one that is 0 are 0. */
static inline bool is_as(struct pt_race_granule *granule, const uint64_t *slots, unsigned from)
{
    uint64_t differ = 0;
    for (unsigned i = from; i < PT_RACE_NEAR; i++)
        differ |= pt_race_get(&granule->near[i]) ^ slots[i];
    for (unsigned i = PT_RACE_NEAR; i < PT_RACE_SLOTS && slots[i - 1]; i++)
        differ |= pt_race_get(pt_race_slot_at(granule, i)) ^ slots[i];
    return !differ;
}

/* A granule that is as another one was, and becomes as that did. False: it is not, or somebody works on it. */
static inline bool change_alike(struct pt_race_granule *granule, const struct pt_race_change *change)
{
    uint64_t first = change->before[0];
    if (!is_as(granule, change->before, 0))
        return is_as(granule, change->after, 0);
    /* acquire: partner of the release that unlocked it last */
    if (!atomic_compare_exchange_strong_explicit(&granule->near[0], &first, first | PT_RACE_LOCKED,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    bool alike = is_as(granule, change->before, 1);
    for (unsigned i = 1; alike && i < PT_RACE_SLOTS; i++)
        if (change->after[i] != change->before[i])
            pt_race_put(pt_race_slot_at(granule, i), change->after[i]);
    pt_race_unlock_word(&granule->near[0], alike ? change->after[0] : first);
    return alike;
}

/* An access of granules that have all their bytes in it, from this one on. Where the first ends that is not made. What
 * goes to the log, or is lost there, is said of each, so none is alike then. */
static uintptr_t run(struct pt_race_self *self, uintptr_t granule, uintptr_t to, uint64_t like)
{
    const struct pt_race_change none = {.before = {PT_RACE_LOCKED}, .after = {PT_RACE_LOCKED}};
    struct pt_race_granule *there = pt_race_granule_of(granule);
    uintptr_t end = end_of_run(granule, to);
    struct pt_race_change change = none;
    if (!there)
        return granule;
    for (; granule < end; granule += 8, there++) {
        pt_race_fetch(there);
        if (change_alike(there, &change))
            continue;
        uint32_t logged = pt_race_evicted_count(self);
        if (!pt_race_make_whole(self, there, granule, like, &change))
            break;
        if (logged != pt_race_evicted_count(self) ||
            (change.before[PT_RACE_SLOTS - 1] && !change.after[PT_RACE_SLOTS - 1]))
            change = none;
    }
    return granule;
}

/* One granule, of some bytes. False: nothing has happened, and it is to be made by a cell. */
static bool make_one(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint64_t like,
                     const struct pt_site *site)
{
    struct pt_race_granule *there = pt_race_granule_of(granule);
    return !there || pt_race_is_said_again(self, there, bytes, kind, site) ||
           (like && !has_learned(self) && pt_race_make(self, there, granule, bytes, like, site));
}

/* A write that began at that clock is over. `touched`: some of it is in cells, at the clock itself. */
static void end_write(struct pt_race_self *self, uintptr_t from, uintptr_t to, uint64_t before, bool touched,
                      const struct pt_race_step *access)
{
    if (self->several && touched)
        end_cells(self, from & ~(uintptr_t)7, to, before);
    self->hb.clock += touched;
    if (self->several && touched && self->log.ring && access->cell.op == PT_RACE_OP_ACCESS)
        pt_race_find_written(self, access->site);
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
    if (pt_race_glance_at(self, granule, bytes & PT_CELL_WHOLE, PT_RACE_READ, site) != PT_RACE_KNOWN)
        pt_race_read_one(self, granule, bytes & PT_CELL_WHOLE, site);
    if (!has_learned(self)) {
        if (pt_race_glance_at(self, granule + 8, bytes >> 8, PT_RACE_READ, site) != PT_RACE_KNOWN)
            pt_race_read_one(self, granule + 8, bytes >> 8, site);
    } else {
        struct pt_race_step access = pt_race_step_of(PT_RACE_READ, site);
        access.cell.bytes = (uint8_t)(bytes >> 8);
        pt_race_touch(self, granule + 8, &access);
    }
    end_several(self);
}

static bool are_constants(uintptr_t from, uintptr_t to)
{
    for (; from < to; from = (from | 4095) + 1) {
        struct pt_race_leaf *leaf = pt_race_leaf_of(from);
        if (!leaf || !pt_race_is_constant(leaf, from))
            return false;
    }
    return true;
}

/* Never true. */
static bool is_written(uintptr_t from, uintptr_t to)
{
    for (; from < to; from = (from | 4095) + 1)
        pt_race_is_written(from);
    return false;
}

/* What slots call the access, without bytes; 0: the thread has no log. */
static uint64_t like_of(struct pt_race_self *self, const struct pt_race_step *access)
{
    if (!self->log.ring)
        return 0;
    if (access->cell.op != PT_RACE_OP_ACCESS)
        return pt_race_put_alone(self, access->site, access->cell.op);
    if (!(access->cell.kind & PT_CELL_WRITES))
        return pt_race_find_made(self, access->site)->slot;
    uint64_t slot = pt_race_find_written(self, access->site)->slot;
    return slot ? slot | PT_RACE_WROTE : 0;
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t granule = address & ~(uintptr_t)7, to = address + size;
    if (!pt_race_is_address(address, to))
        return;
    if (kind == PT_RACE_READ ? are_constants(address, to) : is_written(address, to))
        return;
    if (kind == PT_RACE_READ && size <= 8 && granule + 8 < to && self->log.ring) {
        read_two(self, granule, ((1u << size) - 1) << (address & 7), site);
        return;
    }
    struct pt_race_step access = pt_race_step_of(kind, site);
    uint64_t like = like_of(self, &access), before = self->hb.clock;
    bool touched = false;
    self->several = granule + 8 < to;
    while (granule < to) {
        uintptr_t next = granule;
        access.cell.bytes = pt_race_bytes_in(granule, address, to);
        if (access.cell.bytes == PT_CELL_WHOLE && like && !has_learned(self))
            next = run(self, granule, to, like);
        if (next == granule && !make_one(self, granule, access.cell.bytes, kind, like, access.site)) {
            pt_race_touch(self, granule, &access);
            touched = true;
        }
        granule = next == granule ? granule + 8 : next;
    }
    if (kind & PT_CELL_WRITES)
        end_write(self, address, to, before, touched, &access);
    end_several(self);
}
