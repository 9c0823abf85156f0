/*
 * Atomic operations: made while their granules are locked, so that these say which operation each has read from.
 *
 * Guarantee: orders are C11's, by race/cell.c: what a release publishes is taken by who acquires it, relaxed operations
 * order nothing. Cost: a lock of each granule, at most two as a rule; each has a cell of its own from then on, which is
 * changed in place where threads use it as they did before (race/atomic.c).
 */
#include "race/atomic.h"
#include "runtime/race/log.h"
#include "runtime/race/window.h"

/* As below, in one granule that nobody has locked. */
static inline bool lock_one(struct pt_race_self *self, uintptr_t address)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (!leaf || !pt_race_is_used(leaf, address))
        return false;
    pt_race_word *word = &pt_race_granule_in(leaf, address)->near[0];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    /* acquire: partner of the release that unlocked it last */
    if (seen & PT_RACE_LOCKED || !atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_RACE_LOCKED,
                                                                          memory_order_acquire, memory_order_relaxed))
        return false;
    self->locked[0] = word;
    self->locked_count = 1;
    return true;
}

bool pt_race_atomic_begin(struct pt_race_self *self, uintptr_t address, size_t size)
{
    uintptr_t granule = address & ~(uintptr_t)7, to = address + size;
    if (to - granule <= 8 && pt_race_is_address(address, to) && lock_one(self, granule))
        return true;
    if (!pt_race_is_address(address, to) || to - granule > 8 * sizeof self->locked / sizeof *self->locked)
        return false;
    for (; granule < to; granule += 8) {
        struct pt_race_granule *there = pt_race_granule_of(granule);
        if (!there) {
            pt_race_suspend(self);
            return false;
        }
        pt_race_lock_word(&there->near[0]);
        self->locked[self->locked_count++] = &there->near[0];
    }
    return true;
}

void pt_race_suspend(struct pt_race_self *self)
{
    for (; self->locked_count; self->locked_count--)
        atomic_fetch_and_explicit(self->locked[self->locked_count - 1], ~PT_RACE_LOCKED, memory_order_release);
}

void pt_race_resume(struct pt_race_self *self, uint32_t count)
{
    for (; self->locked_count < count; self->locked_count++)
        pt_race_lock_word(self->locked[self->locked_count]);
}

/* Whether an atomic read gives the thread something that it does not know. */
static bool will_learn(const struct pt_race_self *self, const struct pt_cell *cell, const struct pt_cell_access *access)
{
    for (unsigned i = 0; access->kind & PT_CELL_READS && i < cell->written_count; i++) {
        const struct pt_cell_written *written = &cell->written[i];
        if (written->bytes & access->bytes && pt_hb_acquires(access->order) &&
            (written->published.rest || !pt_hb_knows(&self->hb, written->published.last.at)))
            return true;
    }
    return false;
}

/* In what is locked: each granule has its own cell then. */
static void take_atomic(struct pt_race_self *self, struct pt_race_step *access, uintptr_t from, uintptr_t to,
                        bool *covers)
{
    uintptr_t first = from & ~(uintptr_t)7;
    uint32_t count = self->locked_count;
    bool learns = false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t seen = atomic_load_explicit(self->locked[i], memory_order_relaxed) & ~PT_RACE_LOCKED;
        uint32_t own = pt_race_open(self, (struct pt_race_granule *)self->locked[i], first + 8 * i, seen);
        atomic_store_explicit(self->locked[i], pt_race_word_made(own) | PT_RACE_LOCKED, memory_order_relaxed);
        access->cell.bytes = pt_race_bytes_in(first + 8 * i, from, to);
        learns |= will_learn(self, &pt_race_cells[own].cell, &access->cell);
        pt_cell_acquire(&self->env, &pt_race_cells[own].cell, &self->hb, &access->cell);
    }
    if (learns)
        pt_race_changed(self);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = (uint32_t)atomic_load_explicit(self->locked[i], memory_order_relaxed);
        access->cell.bytes = pt_race_bytes_in(first + 8 * i, from, to);
        covers[i] = pt_cell_check(&self->env, &pt_race_cells[own].cell, &self->hb, &access->cell);
    }
}

/* A granule that is used as it was before: its cell is changed in place, and unlocked. False: it is not that simple. */
static inline bool raise(struct pt_race_self *self, const struct pt_cell_access *access)
{
    uint64_t seen = atomic_load_explicit(self->locked[0], memory_order_relaxed) & ~PT_RACE_LOCKED;
    struct pt_race_cell *cell = &pt_race_cells[(uint32_t)seen];
    if (self->locked_count != 1 || !(seen & PT_RACE_OWN) || (uint32_t)seen & PT_RACE_MANY || cell->raced)
        return false;
    uint8_t *guess = &self->guesses[((uint32_t)seen * UINT32_C(0x9e3779b9) ^ access->place * UINT32_C(0x85ebca6b)) >>
                                    (32 - PT_RACE_GUESS_BITS)];
    struct pt_cell_raised raised = pt_cell_raise_atomic(&self->env, &cell->cell, &self->hb, access, *guess);
    if (raised.learned)
        pt_race_changed(self);
    if (!raised.seen)
        return false;
    *guess = (uint8_t)(raised.seen - cell->cell.seen);
    raised.seen->access.note = pt_race_note_now(self);
    if (access->kind & PT_CELL_WRITES) {
        cell->stamp++;
        seen = pt_race_word_made((uint32_t)seen);
    } else {
        self->log.read = self->hb.clock;
    }
    pt_race_unlock_word(self->locked[0], seen);
    self->locked_count = 0;
    return true;
}

/* What came of it. */
static void settle(struct pt_race_self *self, unsigned kind, unsigned order)
{
    if (!(kind & PT_CELL_WRITES))
        return;
    pt_hb_tick(&self->hb);
    if (pt_hb_releases((enum pt_hb_order)order))
        pt_race_changed(self);
}

static __attribute__((noinline)) void end_slow(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                                               unsigned order, const struct pt_site *site)
{
    bool covers[sizeof self->locked / sizeof *self->locked];
    struct pt_race_step access = pt_race_step_of(kind | PT_CELL_ATOMIC, site);
    uintptr_t first = address & ~(uintptr_t)7;
    access.cell.order = (uint8_t)order;
    access.cell.place = pt_race_place_of(access.site);
    take_atomic(self, &access, address, address + size, covers);
    for (uint32_t i = 0; i < self->locked_count; i++) {
        uint64_t made = atomic_load_explicit(self->locked[i], memory_order_relaxed) & ~PT_RACE_LOCKED;
        const struct pt_race_cell *cell = &pt_race_cells[(uint32_t)made];
        access.cell.bytes = pt_race_bytes_in(first + 8 * i, address, address + size);
        if (kind & PT_CELL_WRITES || self->met_count || !pt_race_is_repeated(self, cell, &access.cell))
            made = pt_race_change_own(self, (uint32_t)made, &access, covers[i]);
        pt_race_unlock_word(self->locked[i], made);
    }
    self->locked_count = 0;
    settle(self, kind, order);
    access.cell.bytes = pt_race_bytes_in(first, address, address + size);
    if (self->met_count)
        pt_race_report(self, first, &access.cell);
}

void pt_race_atomic_end(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                        const struct pt_site *site)
{
    if (pt_race_is_sampled())
        pt_race_window_sync(self, kind & PT_CELL_READS && pt_hb_acquires((enum pt_hb_order)order), site);
    struct pt_cell_access access = {
        /* its note is not looked at */
        .place = site ? pt_race_place_of(site) : 0,
        .kind = (kind | PT_CELL_ATOMIC) & 7,
        .op = (uint8_t)(kind >> PT_RACE_OP_AT),
        .order = (uint8_t)order,
        .bytes = pt_race_bytes_in(address & ~(uintptr_t)7, address, address + size),
    };
    if (site && raise(self, &access))
        settle(self, kind, order);
    else
        end_slow(self, address, size, kind, order, site);
}

void pt_race_atomic_alone(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                          const struct pt_site *site)
{
    for (uintptr_t from = address, to; from < address + size; from = to) {
        to = (from & ~(uintptr_t)7) + 16 < address + size ? (from & ~(uintptr_t)7) + 16 : address + size;
        if (pt_race_atomic_begin(self, from, to - from))
            pt_race_atomic_end(self, from, to - from, kind, order, site);
    }
}
