/*
 * Plain accesses in place: of a granule with a cell of its own, which has them already of an earlier region, or to
 * which they are simple to add.
 *
 * Guarantee: the cell is afterwards as race/cell.c would have left it, which would have found no race; else nothing has
 * happened. Cost: what an access makes of cells of one form is remembered by the thread (struct pt_race_fit), so that
 * it takes a lock of the granule, a look at the last write and at the accesses since, and the clock, the stack and the
 * locks of one entry; one cache line or two beside that of the word. Where a program walks over granules with cells of
 * their own, these are fetched some steps ahead.
 */
#include <string.h>

#include "runtime/race/form.h"

enum { AHEAD = 4 };
#define COLD __attribute__((noinline))

/* ---- packed cells ---- */

void pt_race_packed_rewrite(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned bytes)
{
    const struct pt_race_form *form = &pt_race_forms[packed->form];
    pt_epoch now = pt_hb_now(&self->hb);
    if (form->written[0] & bytes)
        packed->written = now;
    for (unsigned i = 1; i < form->written_count; i++)
        if (form->written[i] & bytes)
            pt_race_further(packed, form)[i - 1] = now;
    if (pt_epoch_thread(packed->over) == self->hb.id && pt_epoch_clock(packed->over) >= self->region)
        packed->over = now;
}

static inline struct pt_race_fit *fit_of(struct pt_race_self *self, uint16_t id, unsigned bytes, unsigned kind,
                                         const struct pt_site *site)
{
    uint64_t key = pt_race_key(site, bytes, kind), mixed = (key ^ (uint64_t)id << 29) * UINT64_C(0x9e3779b97f4a7c15);
    struct pt_race_fit *fit = &self->fits[mixed >> (64 - PT_RACE_FIT_BITS)];
    if (__builtin_expect(fit->key != key || fit->form != id, 0))
        pt_race_fit_make(fit, key, id, bytes, kind, site);
    return fit;
}

static inline bool knows_all(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which)
{
    for (; which; which &= which - 1)
        if (!pt_hb_knows(&self->hb, packed->seen[__builtin_ctz(which)].at))
            return false;
    return true;
}

/* The last writes, of which a write by the thread takes the place of some. How many there are then; 0: it cannot be
 * done in place. */
static COLD unsigned gather(const struct pt_race_self *self, struct pt_race_packed *packed, struct pt_race_taken taken,
                            pt_epoch *kept)
{
    const struct pt_race_form *form = &pt_race_forms[packed->form];
    unsigned count = 0;
    for (unsigned i = 0; i < form->written_count; i++) {
        pt_epoch at = i ? pt_race_further(packed, form)[i - 1] : packed->written;
        if (taken.absorbed >> i & 1 && (pt_epoch_thread(at) != self->hb.id || pt_epoch_clock(at) < self->region))
            return 0;
        if (!(taken.replaced >> i & 1))
            kept[count++] = at;
    }
    if (count > 0 && packed->past != self->hb.past)
        return 0;
    kept[count++] = pt_hb_now(&self->hb);
    return count;
}

/* The write has become part of the cell, which has the form that it is to have. */
static inline void settle_write(struct pt_race_self *self, struct pt_race_packed *packed, const pt_epoch *kept,
                                unsigned count)
{
    packed->written = kept[0];
    for (unsigned i = 1; i < count; i++)
        pt_race_further(packed, &pt_race_forms[packed->form])[i - 1] = kept[i];
    if (packed->past != self->hb.past) {
        pt_vec_drop(&self->memory, packed->past);
        packed->past = pt_vec_ref(&self->memory, self->hb.past);
    }
    packed->fresh = 0;
    packed->over = pt_hb_now(&self->hb);
    packed->stamp++;
}

/* What find_mine says where there is no entry: it becomes one of its own, or it is not that simple. */
enum { NONE = PT_RACE_SHAPE_SEEN, NOT_SIMPLE };

/* The entry with which the access becomes one: the thread's, the same of whatever region, or the only one alike if it
 * is of this region; or another thread's that comes before it (race/cell.h, any_thread). */
static inline unsigned find_mine(const struct pt_race_self *self, const struct pt_race_packed *packed,
                                 const struct pt_race_fit *fit)
{
    unsigned found = NONE, older = 0;
    if (__builtin_expect(fit->only < NONE, 1)) {
        pt_epoch at = packed->seen[fit->only].at;
        return pt_epoch_thread(at) == self->hb.id || (self->env.any_thread && fit->single && pt_hb_knows(&self->hb, at))
                   ? fit->only
                   : NONE;
    }
    for (unsigned which = fit->same; which; which &= which - 1)
        if (pt_epoch_thread(packed->seen[__builtin_ctz(which)].at) == self->hb.id)
            return (unsigned)__builtin_ctz(which);
    for (unsigned which = fit->alike; which; which &= which - 1) {
        unsigned at = (unsigned)__builtin_ctz(which);
        if (pt_epoch_thread(packed->seen[at].at) != self->hb.id)
            continue;
        if (pt_epoch_clock(packed->seen[at].at) < self->region)
            older++;
        else if (found != NONE)
            return NOT_SIMPLE;
        else
            found = at;
    }
    if (found != NONE)
        return older ? NOT_SIMPLE : found;
    for (unsigned which = self->env.any_thread ? fit->single : 0; which; which &= which - 1)
        if (pt_hb_knows(&self->hb, packed->seen[__builtin_ctz(which)].at))
            return (unsigned)__builtin_ctz(which);
    return NONE;
}

/* Whether nobody but the last writer has read since: it then has to look at the granule when it writes again. */
static inline bool is_first_reader(const struct pt_race_self *self, const struct pt_race_packed *packed)
{
    uint32_t writer = pt_epoch_thread(packed->over);
    if (writer == self->hb.id)
        return false;
    for (unsigned which = packed->fresh; which; which &= which - 1)
        if (pt_epoch_thread(packed->seen[__builtin_ctz(which)].at) != writer)
            return false;
    return true;
}

static inline void note(struct pt_race_self *self, struct pt_race_packed *packed, unsigned at)
{
    struct pt_cell_note now = pt_race_note_now(self);
    packed->seen[at].stack = now.stack;
    packed->seen[at].locks = now.locks;
}

/* The access becomes one with an entry. */
__attribute__((always_inline)) static inline bool raise_entry(struct pt_race_self *self, struct pt_race_packed *packed,
                                                              struct pt_race_fit *fit, unsigned at, unsigned bytes,
                                                              unsigned kind, bool *ret_again)
{
    bool writes = kind & PT_CELL_WRITES, same = fit->same >> at & 1;
    *ret_again =
        pt_epoch_thread(packed->seen[at].at) == self->hb.id && pt_epoch_clock(packed->seen[at].at) >= self->region;
    if (!writes && same) {
        if (packed->fresh >> at & 1 && *ret_again)
            return true;
    } else {
        pt_epoch kept[PT_CELL_BYTES + 1];
        unsigned count = 0;
        if (fit->at != at)
            pt_race_fit_next(fit, at, bytes, kind);
        if (fit->quick) {
            kept[0] = pt_hb_now(&self->hb);
            count = 1;
        } else if (!fit->to || (writes && (count = gather(self, packed, fit->taken, kept)) == 0)) {
            return false;
        }
        packed->form = fit->to;
        if (writes)
            settle_write(self, packed, kept, count);
    }
    if (!writes) {
        packed->stamp += is_first_reader(self, packed);
        packed->fresh |= (uint8_t)(1u << at);
    }
    if (same)
        packed->seen[at].at = pt_hb_now(&self->hb);
    note(self, packed, at);
    return true;
}

/* As bytes_said and has_written in granule.c, where one of the thread's entries is of several accesses. */
static COLD bool is_said(struct pt_race_self *self, uint64_t seen, const struct pt_race_fit *fit, unsigned bytes,
                         bool writes)
{
    struct pt_race_packed *packed = pt_race_packed_of(seen);
    const struct pt_race_form *form = &pt_race_forms[packed->form];
    bool over = pt_epoch_thread(packed->over) == self->hb.id && pt_epoch_clock(packed->over) >= self->region;
    unsigned mine = 0, said = 0, left = bytes;
    for (unsigned i = 0; i < form->count; i++) {
        pt_epoch at = packed->seen[i].at;
        if (pt_epoch_thread(at) != self->hb.id || pt_epoch_clock(at) < self->region || form->seen[i].op ||
            !(packed->fresh >> i & 1 || over))
            continue;
        mine |= 1u << i;
        if (!writes || form->writes >> i & 1)
            said |= form->seen[i].bytes;
    }
    if (!(mine & fit->merged) || bytes & ~said)
        return false;
    if (!writes) {
        if (bytes != PT_CELL_WHOLE)
            *pt_race_said_of(self, seen) = (struct pt_race_said){seen, self->version, (uint8_t)said};
        return true;
    }
    for (unsigned i = 0; i < form->written_count; i++) {
        pt_epoch at = i ? pt_race_further(packed, form)[i - 1] : packed->written;
        if (pt_epoch_thread(at) == self->hb.id && pt_epoch_clock(at) >= self->region)
            left &= ~(unsigned)form->written[i];
    }
    if (left)
        return false;
    pt_race_packed_rewrite(self, packed, bytes);
    return true;
}

/* The access becomes an entry of its own, of a cell that may move for it. Its word; 0: nothing has happened. */
static uint64_t append(struct pt_race_self *self, uint32_t cell, struct pt_race_fit *fit, unsigned bytes, unsigned kind,
                       const struct pt_site *site)
{
    struct pt_race_packed *packed = pt_race_packed_at(cell);
    bool writes = kind & PT_CELL_WRITES;
    pt_epoch kept[PT_CELL_BYTES + 1];
    if (!fit->tried)
        pt_race_fit_longer(fit, bytes, kind, site);
    if (!fit->longer)
        return 0;
    const struct pt_race_form *form = &pt_race_forms[packed->form];
    unsigned count = form->written_count, at = form->count;
    if (writes && (count = gather(self, packed, fit->longer_taken, kept)) == 0)
        return 0;
    for (unsigned i = 1; !writes && i < count; i++) /* the first stays where it is */
        kept[i] = pt_race_further(packed, form)[i - 1];
    if (packed->units != fit->units) {
        uint32_t moved = pt_race_packed_new(self, fit->units);
        if (!moved)
            return 0;
        struct pt_race_packed *to = pt_race_packed_at(moved);
        uint32_t stamp = to->stamp;
        memcpy(to, packed, sizeof *packed + at * sizeof *packed->seen);
        to->stamp = stamp;
        to->units = fit->units;
        pt_race_packed_free(self, cell, packed->units);
        packed = to;
        cell = moved;
    }
    packed->form = fit->longer;
    if (writes) {
        settle_write(self, packed, kept, count);
    } else {
        for (unsigned i = 1; i < count; i++)
            pt_race_further(packed, &pt_race_forms[fit->longer])[i - 1] = kept[i];
        packed->fresh |= (uint8_t)(1u << at);
        packed->stamp++;
    }
    packed->seen[at].at = pt_hb_now(&self->hb);
    note(self, packed, at);
    return pt_race_word_made(cell | PT_RACE_PACKED);
}

__attribute__((always_inline)) static inline uint64_t packed_make(struct pt_race_self *self, uint64_t seen,
                                                                  unsigned bytes, unsigned kind,
                                                                  const struct pt_site *site, bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_of(seen);
    struct pt_race_fit *fit = fit_of(self, packed->form, bytes, kind, site);
    bool writes = kind & PT_CELL_WRITES;
    if (!pt_hb_knows(&self->hb, packed->over) ||
        !knows_all(self, packed, packed->fresh & (writes ? 0xffu : fit->writes)))
        return 0;
    unsigned at = find_mine(self, packed, fit);
    if (__builtin_expect(at < NONE, 1))
        return raise_entry(self, packed, fit, at, bytes, kind, ret_again) ? pt_race_word_made((uint32_t)seen) : 0;
    if (at == NOT_SIMPLE)
        return 0;
    if (fit->merged && is_said(self, seen, fit, bytes, writes)) {
        *ret_again = true;
        return seen;
    }
    return append(self, (uint32_t)seen & ~PT_RACE_PACKED, fit, bytes, kind, site);
}

uint64_t pt_race_packed_begin(struct pt_race_self *self, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct pt_race_fit *fit = fit_of(self, 0, bytes, kind, site); /* form 0 has no entries */
    if (!fit->tried)
        pt_race_fit_longer(fit, bytes, kind, site);
    uint32_t cell = fit->longer ? pt_race_packed_new(self, fit->units) : 0;
    if (!cell)
        return 0;
    struct pt_race_packed *packed = pt_race_packed_at(cell);
    *packed = (struct pt_race_packed){.stamp = packed->stamp, .units = fit->units};
    return append(self, cell, fit, bytes, kind, site);
}

/* ---- granules ---- */

static void fetch_cell(const pt_race_word *word)
{
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    const char *cell = pt_race_is_packed(seen) ? (const char *)pt_race_packed_of(seen)
                                               : (const char *)&pt_race_cells[(uint32_t)seen & ~PT_RACE_PACKED];
    __builtin_prefetch(cell);
    __builtin_prefetch(cell + sizeof *pt_race_cells - 1);
}

/* Who walks over granules with cells of their own waits for memory twice in each, the cell and its entries. So they are
 * fetched some steps ahead. */
static __attribute__((noinline)) void fetch_next(struct pt_race_self *self, const struct pt_race_leaf *leaf,
                                                 const pt_race_word *word)
{
    uint32_t steps = ++self->steps;
    if (word + AHEAD * 2 >= leaf->words + sizeof leaf->words / sizeof *leaf->words)
        return;
    __builtin_prefetch(word + AHEAD * 2);
    for (unsigned i = steps == 1 ? 1 : AHEAD; i <= AHEAD; i++)
        fetch_cell(word + i);
    uint64_t near = atomic_load_explicit(word + AHEAD / 2, memory_order_relaxed);
    if (steps > AHEAD / 2 && !pt_race_is_packed(near))
        __builtin_prefetch(
            __atomic_load_n(&pt_race_cells[(uint32_t)near & ~PT_RACE_PACKED].cell.seen, __ATOMIC_RELAXED));
}

/* As in packed.c, of a cell that is not packed, in which the read has just been made. */
static bool was_first_reader(const struct pt_cell *cell, const struct pt_cell_seen *made)
{
    uint32_t writer = pt_epoch_thread(cell->over);
    if (writer == pt_epoch_thread(made->at))
        return false;
    for (uint32_t i = 0; i < cell->count; i++)
        if (cell->seen[i].fresh && &cell->seen[i] != made && pt_epoch_thread(cell->seen[i].at) != writer)
            return false;
    return true;
}

static bool raise_cell(struct pt_race_self *self, struct pt_race_cell *cell, unsigned bytes, unsigned kind,
                       const struct pt_site *site, bool *ret_again)
{
    struct pt_cell_access access = {.place = pt_race_place_of(site), .kind = (uint8_t)kind, .bytes = (uint8_t)bytes};
    struct pt_cell_seen *raised = NULL;
    /* A write of all bytes may leave nothing else of a cell this large. */
    if (cell->raced || (kind & PT_CELL_WRITES && bytes == PT_CELL_WHOLE && cell->cell.count >= PT_RACE_SHAPE_SEEN) ||
        !pt_cell_raise(&self->env, &cell->cell, &self->hb, &access, self->region, &raised))
        return false;
    *ret_again = !raised || kind & PT_CELL_WRITES;
    if (raised) {
        raised->access.note = pt_race_note_now(self);
        cell->stamp += kind & PT_CELL_WRITES || was_first_reader(&cell->cell, raised);
    }
    return true;
}

/* Members of a structure are mostly accessed together. */
static inline void fetch_neighbour(const pt_race_word *word)
{
    uint64_t near = (uintptr_t)(word + 1) & 63 ? atomic_load_explicit(word + 1, memory_order_relaxed) : 0;
    if (pt_race_is_packed(near))
        __builtin_prefetch(pt_race_packed_of(near));
}

static inline void look_ahead(struct pt_race_self *self, const struct pt_race_leaf *leaf, const pt_race_word *word,
                              uintptr_t granule)
{
    bool walks = granule == self->ahead;
    self->ahead = granule + 8;
    if (__builtin_expect(walks, 0))
        fetch_next(self, leaf, word);
    else {
        self->steps = 0;
        fetch_neighbour(word);
    }
}

/* A write that the thread has made in this region, and nobody has looked since. */
static inline bool rewrite(struct pt_race_self *self, uint64_t seen, unsigned bytes, unsigned kind, uint64_t key)
{
    if (!(kind & PT_CELL_WRITES) || !pt_race_is_again(self, seen, key))
        return false;
    if (pt_race_is_packed(seen))
        pt_race_packed_rewrite(self, pt_race_packed_of(seen), bytes);
    else
        pt_race_rewrite_own(self, &pt_race_cells[(uint32_t)seen].cell, bytes);
    return true;
}

/* An access of a granule with a cell of its own, which is in it already, or is simple to put there: made in place.
 * False: nothing has happened. */
__attribute__((always_inline)) static inline bool make_own(struct pt_race_self *self, const struct pt_race_leaf *leaf,
                                                           pt_race_word *word, uint64_t seen, uintptr_t granule,
                                                           unsigned bytes, unsigned kind, const struct pt_site *site)
{
    uint64_t made = 0, key = pt_race_key(site, bytes, kind);
    bool again = false, packed = seen & PT_RACE_PACKED;
    if (packed) {
        __builtin_prefetch(pt_race_packed_of(seen), 1);
        __builtin_prefetch(pt_race_packed_of(seen) + 2, 1);
    }
    /* acquire: partner of the release that unlocked it last */
    if (seen & PT_RACE_LOCKED || kind >> PT_RACE_OP_AT ||
        !atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_RACE_LOCKED, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    if (rewrite(self, seen, bytes, kind, key)) {
        pt_race_unlock_word(word, seen);
        return true;
    }
    look_ahead(self, leaf, word, granule);
    /* What others remember of the word holds after most reads: their stamp is the same. */
    if (packed)
        made = packed_make(self, seen, bytes, kind, site, &again);
    else if (raise_cell(self, &pt_race_cells[(uint32_t)seen], bytes, kind, site, &again))
        made = pt_race_word_made((uint32_t)seen);
    pt_race_unlock_word(word, made ? made : seen);
    if (made && again) /* once is not worth remembering */
        pt_race_note_key(self, made, key);
    return made;
}

bool pt_race_move(struct pt_race_self *self, pt_race_word *word, uint64_t seen, struct pt_race_entry *entry,
                  unsigned kind)
{
    uint64_t delta = seen >> PT_RACE_DELTA_AT;
    if (entry->credit <= 1 || entry->calls != pt_race_calls() || !(uint32_t)seen)
        return false;
    if (kind & PT_CELL_WRITES)
        delta = self->hb.clock - entry->made;
    else if (entry->made && entry->made != self->hb.clock)
        return false;
    if (delta > PT_RACE_DELTA_MAX ||
        !atomic_compare_exchange_strong_explicit(word, &seen, delta << PT_RACE_DELTA_AT | entry->to,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    entry->credit--;
    return true;
}

/* An access of a granule that nothing is known of, by a transition that the thread remembers. False: nothing has
 * happened. */
static inline bool begin(struct pt_race_self *self, const struct pt_race_leaf *leaf, pt_race_word *word,
                         uintptr_t granule, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    uint64_t key = pt_race_key(site, bytes, kind), seen = 0;
    struct pt_race_entry *entry = pt_race_entry_of(self, key, 0);
    uint64_t delta = kind & PT_CELL_WRITES ? self->hb.clock - entry->made : 0;
    if (entry->key != key || entry->from || entry->version != self->version || entry->credit <= 1 ||
        entry->calls != pt_race_calls() || delta > PT_RACE_DELTA_MAX || !pt_race_is_used(leaf, granule) ||
        !atomic_compare_exchange_strong_explicit(word, &seen, delta << PT_RACE_DELTA_AT | entry->to,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    entry->credit--;
    return true;
}

__attribute__((always_inline)) static inline bool make(struct pt_race_self *self, uintptr_t granule, unsigned bytes,
                                                       unsigned kind, const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (!leaf)
        return false;
    pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    if (seen & PT_RACE_OWN)
        return make_own(self, leaf, word, seen, granule, bytes, kind, site);
    return !seen && begin(self, leaf, word, granule, bytes, kind, site);
}

bool pt_race_make(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                  const struct pt_site *site)
{
    return make(self, granule, bytes, kind, site);
}

void pt_race_access_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind,
                        const struct pt_site *site)
{
    uintptr_t granule = address & ~(uintptr_t)7;
    if (!pt_race_is_address(granule, granule + 1))
        return;
    if (!make(self, granule, bytes, kind, site)) {
        struct pt_race_step access = pt_race_step_of(kind, site);
        access.cell.bytes = (uint8_t)bytes;
        pt_race_touch(self, granule, &access);
    }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
}
