/*
 * Granules that several threads have read since the last write, where the slot of reads does not do. In its place is
 * the number of a row. Each thread has a column, and there in that row the slots of its reads, which it alone writes:
 * what many threads read again and again costs each of them a store into memory of its own, and no lock.
 *
 * A row is of one granule at a time; how many it has been of, its generation, is part of its number. An entry of a
 * column says which number it is of, so that rows are given back without a look at the columns.
 *
 * Guarantee: make.c's. A thread puts its slot and then looks whether the granule is still as it was; who changes the
 * granule locks it, and then looks at the columns. All four are sequentially consistent, so either the slot is seen, or
 * the change is, and then the access is made anew. Cost: of a read a compare-and-swap less than make.c's, of the next
 * write a look at each column. 32 bytes for each thread that reads a granule, and 32 more.
 */
#include "runtime/race/log.h"

#include "runtime/sys/sys.h"

enum { SLOTS = PT_RACE_ENTRY };
#define ROW (((UINT64_C(1) << PT_RACE_ROW_BITS)) - 1)

struct entry {
    _Atomic uint64_t number; /* of the row, with its generation */
    _Atomic uint64_t slots[SLOTS];
};
static struct entry *_Atomic columns[PT_RACE_COLUMNS];
static _Atomic uint32_t used;  /* columns from here on have never had anything */
static _Atomic uint64_t taken; /* a bit for each that a thread has */

static struct pt_race_row *row_of(uint64_t r)
{
    return &pt_race_rows[r & ROW];
}

void pt_race_common_restart(void)
{
    for (uint32_t i = 0; i < atomic_load(&used); i++)
        if (atomic_load(&columns[i]))
            pt_sys_empty(atomic_load(&columns[i]), sizeof(struct entry) << PT_RACE_ROW_BITS);
    atomic_store(&taken, 0);
}

static bool has_memory(unsigned column)
{
    if (atomic_load_explicit(&columns[column], memory_order_relaxed))
        return true;
    struct entry *made = pt_sys_reserve_table(sizeof *made << PT_RACE_ROW_BITS);
    /* release: partner of the acquire of who looks through the columns */
    atomic_store_explicit(&columns[column], made, memory_order_release);
    return made;
}

unsigned pt_race_column_take(void)
{
    uint64_t seen = atomic_load(&taken);
    unsigned column;
    do {
        if (!(~seen & UINT64_MAX >> (64 - PT_RACE_COLUMNS)))
            return PT_RACE_NO_COLUMN;
        column = (unsigned)__builtin_ctzll(~seen);
    } while (!atomic_compare_exchange_weak(&taken, &seen, seen | UINT64_C(1) << column));
    uint32_t count = atomic_load(&used);
    while (count <= column && !atomic_compare_exchange_weak(&used, &count, column + 1))
        ;
    if (has_memory(column))
        return column;
    pt_race_column_give(column);
    return PT_RACE_NO_COLUMN;
}

bool pt_race_columns_are_left(void)
{
    return ~atomic_load_explicit(&taken, memory_order_relaxed) & UINT64_MAX >> (64 - PT_RACE_COLUMNS);
}

void pt_race_column_give(unsigned column)
{
    if (column != PT_RACE_NO_COLUMN)
        atomic_fetch_and(&taken, ~(UINT64_C(1) << column));
}

/* ---- reading ---- */

/* The entry is about this row from now on. */
static void turn_to(struct entry *entry, uint64_t r)
{
    for (unsigned i = 0; i < SLOTS; i++)
        pt_race_put(&entry->slots[i], 0);
    /* release: who finds the number finds no slots of another row */
    atomic_store_explicit(&entry->number, r, memory_order_release);
}

static struct entry *entry_of(unsigned column, uint64_t r)
{
    return &atomic_load_explicit(&columns[column], memory_order_relaxed)[r & ROW];
}

/* Whether another slot of the entry comes after that one and has its bytes. */
static bool is_covered(const struct pt_race_self *self, const struct entry *entry, uint64_t slot)
{
    if (pt_race_thread_of(slot) != self->hb.id)
        return false;
    for (unsigned i = 0; i < SLOTS; i++) {
        uint64_t other = pt_race_get(&entry->slots[i]);
        if (pt_race_thread_of(other) == self->hb.id && pt_race_number_of(other) > pt_race_number_of(slot) &&
            !((uint8_t)slot & ~(unsigned)other))
            return true;
    }
    return false;
}

/* Which slot of the entry becomes that of an access of these bytes: the one of the thread's region, whose bytes are
 * added, one that is not needed beside the access, or none so far; SLOTS: there is no such. */
static unsigned choose(const struct pt_race_self *self, const struct entry *entry, unsigned *bytes)
{
    unsigned chosen = SLOTS;
    bool empty = false;
    for (unsigned i = 0; i < SLOTS; i++) {
        uint64_t slot = pt_race_get(&entry->slots[i]);
        if (pt_race_is_mine(self, slot)) {
            *bytes |= (uint8_t)slot;
            return i;
        }
        bool is_old =
            slot && ((!((uint8_t)slot & ~*bytes) && pt_race_knows(self, slot)) || is_covered(self, entry, slot));
        if (is_old ? chosen == SLOTS || empty : !slot && chosen == SLOTS) {
            chosen = i;
            empty = !slot;
        }
    }
    return chosen;
}

static bool is_unchanged(struct pt_race_pair *pair, uint64_t w, uint64_t r)
{
    return atomic_load(&pair->w) == w && atomic_load(&pair->r) == r;
}

bool pt_race_common_is_read(const struct pt_race_self *self, uint64_t r, unsigned bytes)
{
    if (!pt_race_is_row(r) || self->log.column == PT_RACE_NO_COLUMN)
        return false;
    const struct entry *entry = entry_of(self->log.column, r);
    bool found = false;
    for (unsigned i = 0; i < SLOTS && !found; i++) {
        uint64_t slot = pt_race_get(&entry->slots[i]);
        found = pt_race_is_mine(self, slot) && !(bytes & ~(unsigned)slot);
    }
    return found && pt_race_get(&entry->number) == r;
}

enum pt_race_made pt_race_common_read(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                      uintptr_t granule, unsigned bytes, const struct pt_site *site)
{
    if (self->log.column == PT_RACE_NO_COLUMN)
        return pt_race_chain_read(self, pair, w, r, granule, bytes, site);
    struct entry *entry = entry_of(self->log.column, r);
    if (pt_race_get(&entry->number) != r)
        turn_to(entry, r);
    unsigned all = bytes, at = choose(self, entry, &all);
    if (at == SLOTS)
        return PT_RACE_TWO;
    uint64_t old = pt_race_get(&entry->slots[at]), number = 0;
    if (pt_race_is_mine(self, old))
        number = pt_race_is_logged(self, old, bytes, pt_race_place_of(site));
    uint64_t made = number ? old | bytes : 0;
    if (!number) {
        number = pt_race_log_access(self, granule, bytes, PT_CELL_READS, pt_race_place_of(site), old, 0);
        made = pt_race_slot_of(self, number, all);
    }
    if (made != old) {
        atomic_exchange(&entry->slots[at], made);
        if (!is_unchanged(pair, w, r))
            return PT_RACE_CHANGED;
    }
    if (number != pt_race_number_of(old))
        pt_race_replaced(self, old);
    pt_race_filter_add(self, granule, bytes, PT_CELL_READS, site, number);
    return PT_RACE_MADE;
}

enum pt_race_made pt_race_common_begin(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                       uintptr_t granule, unsigned bytes, const struct pt_site *site)
{
    if (self->log.column == PT_RACE_NO_COLUMN)
        return pt_race_chain_read(self, pair, w, r, granule, bytes, site);
    uint32_t at = pt_race_row_new(self, PT_RACE_ROWS);
    if (!at)
        return PT_RACE_TWO;
    struct pt_race_row *row = &pt_race_rows[at];
    uint64_t made = pt_race_row_word(row, PT_RACE_OWN);
    struct entry *entry = entry_of(self->log.column, made);
    pt_race_put(&row->first, r);
    turn_to(entry, made);
    uint64_t number = pt_race_log_access(self, granule, bytes, PT_CELL_READS, pt_race_place_of(site), 0, 0);
    pt_race_put(&entry->slots[0], pt_race_slot_of(self, number, bytes));
    if (!pt_race_swap(pair, w, r, w, made)) {
        pt_race_row_free(self, at);
        return PT_RACE_CHANGED;
    }
    pt_race_filter_put(self, granule, bytes, PT_CELL_READS, site, number);
    return PT_RACE_MADE;
}

/* ---- all of a row; the granule is locked ---- */

unsigned pt_race_common_slots(uint64_t r, uint64_t *out)
{
    if (pt_race_is_chain(r))
        return pt_race_chain_slots(r, out);
    unsigned count = pt_race_chain_slots(pt_race_get(&row_of(r)->first), out);
    for (unsigned column = 0; column < atomic_load(&used); column++) {
        /* acquire: partner of has_memory's release, and of turn_to's */
        struct entry *entry = atomic_load_explicit(&columns[column], memory_order_acquire);
        if (!entry || atomic_load(&entry[r & ROW].number) != r)
            continue;
        for (unsigned i = 0; i < SLOTS; i++) {
            uint64_t slot = atomic_load(&entry[r & ROW].slots[i]);
            out[count] = slot;
            count += slot != 0;
        }
    }
    return count;
}

void pt_race_common_end(struct pt_race_self *self, uint64_t r)
{
    if (pt_race_is_row(r)) {
        uint64_t first = pt_race_get(&row_of(r)->first);
        pt_race_row_free(self, (uint32_t)(r & ROW));
        r = first;
    }
    pt_race_chain_drop(self, r, 1);
}

bool pt_race_knows_reads(const struct pt_race_self *self, uint64_t r)
{
    uint64_t slots[PT_RACE_COMMON_MOST];
    if (!(r & PT_RACE_OWN))
        return pt_race_knows(self, r);
    unsigned count = pt_race_common_slots(r, slots);
    for (unsigned i = 0; i < count; i++)
        if (!pt_race_knows(self, slots[i]))
            return false;
    return true;
}

bool pt_race_common_has(unsigned column, uint64_t r, uint64_t wanted)
{
    uint64_t slots[PT_RACE_CHAIN_MOST];
    unsigned count = pt_race_chain_slots(pt_race_is_chain(r) ? r : pt_race_get(&row_of(r)->first), slots);
    for (unsigned i = 0; i < count; i++)
        if (slots[i] >> PT_RACE_NUMBER_AT == wanted)
            return true;
    if (pt_race_is_chain(r))
        return false;
    const struct entry *entry = column == PT_RACE_NO_COLUMN ? NULL : entry_of(column, r);
    for (unsigned i = 0; entry && pt_race_get(&entry->number) == r && i < SLOTS; i++)
        if (pt_race_get(&entry->slots[i]) >> PT_RACE_NUMBER_AT == wanted)
            return true;
    return false;
}

/* ---- writing ---- */

/* What a write finds in a row: slots that it replaces come first. TWO: more than one stays. */
static enum pt_race_made look_through(const struct pt_race_self *self, uint64_t *slots, unsigned *count, unsigned bytes,
                                      uint64_t *ret_stays)
{
    unsigned replaced = 0, stays = 0;
    for (unsigned i = 0; i < *count; i++) {
        uint64_t slot = slots[i];
        if (slot & bytes && !pt_race_knows(self, slot))
            return PT_RACE_RACES;
        if (pt_race_is_mine(self, slot) || (uint8_t)slot & ~bytes || !pt_race_knows(self, slot)) {
            stays++;
            *ret_stays = slot;
        } else {
            slots[replaced++] = slot;
        }
    }
    *count = replaced;
    return stays > 1 ? PT_RACE_TWO : PT_RACE_MADE;
}

/* The granule is locked, with these slots; *ret_w: its word. */
static enum pt_race_made write_locked(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w,
                                      uintptr_t granule, unsigned bytes, unsigned kind, const struct pt_site *site,
                                      uint64_t *ret_w)
{
    uint64_t slots[PT_RACE_COMMON_MOST], r = pt_race_get(&pair->r), stays = 0;
    if (w & PT_RACE_OWN || !(r & PT_RACE_OWN))
        return PT_RACE_CHANGED;
    if (w & bytes && !pt_race_knows_write(self, w))
        return PT_RACE_RACES;
    if (w && ((uint8_t)w & ~bytes || !pt_race_knows(self, w) || pt_race_is_mine(self, w)))
        return PT_RACE_TWO;
    unsigned count = pt_race_common_slots(r, slots);
    enum pt_race_made made = look_through(self, slots, &count, bytes, &stays);
    if (made != PT_RACE_MADE)
        return made;
    uint64_t others = count ? pt_race_put_links(self, slots, count) : 0;
    uint64_t number = pt_race_log_access(self, granule, bytes, kind, pt_race_place_of(site), w, others);
    pt_race_put(&pair->r, stays);
    pt_race_common_end(self, r);
    if (!(kind >> PT_RACE_OP_AT))
        pt_race_filter_put(self, granule, bytes, kind, site, number);
    *ret_w = pt_race_slot_of(self, number, bytes);
    return PT_RACE_MADE;
}

enum pt_race_made pt_race_common_write(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule,
                                       unsigned bytes, unsigned kind, const struct pt_site *site)
{
    uint64_t w = pt_race_lock_word(&pair->w);
    enum pt_race_made made = write_locked(self, pair, w, granule, bytes, kind, site, &w);
    pt_race_unlock_word(&pair->w, w);
    return made;
}
