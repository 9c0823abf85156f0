/*
 * Plain accesses: granule after granule, the fast path first, then what the granule's own cell has already, then
 * whatever it takes (granule.c, which has the guarantee).
 *
 * Cost: where a program walks over granules with cells of their own, these are fetched some steps ahead.
 */
#include "runtime/race/granule.h"

enum { AHEAD = 4 };

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
        raised->access.note = (struct pt_cell_note){.stack = pt_race_stack_of(self), .locks = pt_race_locks_now(self)};
        cell->stamp += kind & PT_CELL_WRITES || was_first_reader(&cell->cell, raised);
    }
    return true;
}

static inline void look_ahead(struct pt_race_self *self, const struct pt_race_leaf *leaf, const pt_race_word *word,
                              uintptr_t granule)
{
    bool walks = granule == self->ahead;
    self->ahead = granule + 8;
    if (__builtin_expect(walks, 0))
        fetch_next(self, leaf, word);
    else
        self->steps = 0;
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
static inline bool make_own(struct pt_race_self *self, const struct pt_race_leaf *leaf, pt_race_word *word,
                            uint64_t seen, uintptr_t granule, unsigned bytes, unsigned kind, const struct pt_site *site)
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
        made = pt_race_packed_make(self, seen, bytes, kind, site, &again);
    else if (raise_cell(self, &pt_race_cells[(uint32_t)seen], bytes, kind, site, &again))
        made = pt_race_word_made((uint32_t)seen);
    pt_race_unlock_word(word, made ? made : seen);
    if (made && again) /* once is not worth remembering */
        pt_race_note_key(self, made, key);
    return made;
}

/* An access by a transition that the thread remembers, to another shape. False: nothing has happened. */
static inline bool move(struct pt_race_self *self, const struct pt_race_leaf *leaf, pt_race_word *word, uint64_t seen,
                        uintptr_t granule, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    uint64_t key = pt_race_key(site, bytes, kind), delta = seen >> PT_RACE_DELTA_AT;
    uint32_t from = (uint32_t)seen;
    struct pt_race_entry *entry = pt_race_entry_of(self, key, from);
    if (entry->key != key || entry->from != from || entry->version != self->version ||
        entry->base + delta > entry->known) /* or locked */
        return false;
    if (kind & PT_CELL_WRITES)
        delta = self->hb.clock - entry->made;
    uint32_t to = entry->to;
    if (delta > PT_RACE_DELTA_MAX || (to != from && (entry->credit <= 1 || entry->calls != pt_race_calls() ||
                                                     (!from && !pt_race_is_used(leaf, granule)))))
        return false;
    if (!atomic_compare_exchange_strong_explicit(word, &seen, delta << PT_RACE_DELTA_AT | to, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    if (to != from) {
        entry->credit--;
        entry->moved++;
    }
    return true;
}

/* One that the fast path has not made, by what is known of the granule or of the access. False: nothing has happened.
 * `knows`: what the thread knows is what it knew when the access began. */
static inline bool make(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                        const struct pt_site *site, bool knows)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (!leaf)
        return false;
    pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    if (seen & PT_RACE_OWN)
        return knows && make_own(self, leaf, word, seen, granule, bytes, kind, site);
    return move(self, leaf, word, seen, granule, bytes, kind, site);
}

void pt_race_access_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind,
                        const struct pt_site *site)
{
    uintptr_t granule = address & ~(uintptr_t)7;
    if (!pt_race_is_address(granule, granule + 1))
        return;
    if (!make(self, granule, bytes, kind, site, true)) {
        struct pt_race_step access = pt_race_step_of(kind, site);
        access.cell.bytes = (uint8_t)bytes;
        pt_race_touch(self, granule, &access);
    }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
}

/* The words from `word` on that are of this shape, not locked, and of which the thread knows the last write. */
static size_t count_alike(const pt_race_word *word, size_t most, const struct pt_race_entry *entry)
{
    size_t count = 0;
    while (count < most) {
        uint64_t seen = atomic_load_explicit(&word[count], memory_order_relaxed);
        if ((uint32_t)seen != entry->from || entry->base + (seen >> PT_RACE_DELTA_AT) > entry->known)
            break;
        count++;
    }
    return count;
}

/* An access of whole granules that are next to each other and have one shape: the transition is looked up once. Returns
 * how many were made so, from the first on; all of them are in the leaf. */
static size_t run(struct pt_race_self *self, struct pt_race_leaf *leaf, uintptr_t granule, size_t most, unsigned kind,
                  const struct pt_site *site)
{
    pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t first = atomic_load_explicit(word, memory_order_relaxed);
    struct pt_race_entry *entry = pt_race_entry_of(self, pt_race_key(site, PT_CELL_WHOLE, kind), (uint32_t)first);
    if (first & PT_RACE_OWN || entry->key != pt_race_key(site, PT_CELL_WHOLE, kind) || entry->from != (uint32_t)first ||
        entry->version != self->version)
        return 0;
    size_t count = count_alike(word, most, entry), done = 0;
    uint64_t delta = self->hb.clock - entry->made;
    bool writes = kind & PT_CELL_WRITES, moves = entry->to != entry->from;
    if (!writes && !moves)
        return count;
    if ((writes && delta > PT_RACE_DELTA_MAX) || (moves && entry->calls != pt_race_calls()))
        return 0;
    if (moves && count >= entry->credit)
        count = entry->credit - 1;
    for (; done < count && (entry->from || pt_race_is_used(leaf, granule + 8 * done)); done++) {
        uint64_t seen = atomic_load_explicit(&word[done], memory_order_relaxed);
        uint64_t made = (writes ? delta << PT_RACE_DELTA_AT : seen & ~(uint64_t)UINT32_MAX) | entry->to;
        if ((uint32_t)seen != entry->from || entry->base + (seen >> PT_RACE_DELTA_AT) > entry->known ||
            !atomic_compare_exchange_strong_explicit(&word[done], &seen, made, memory_order_acq_rel,
                                                     memory_order_relaxed))
            break;
    }
    if (moves) {
        entry->credit -= (uint32_t)done;
        entry->moved += (uint32_t)done;
    }
    return done;
}

/* The same wherever they are: returns the first granule that is to be looked at alone. */
static uintptr_t run_on(struct pt_race_self *self, uintptr_t granule, uintptr_t to, unsigned kind,
                        const struct pt_site *site)
{
    uintptr_t end = (granule | ((1u << PT_RACE_LEAF_BITS) - 1)) + 1;
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    size_t most = ((to < end ? to : end) - granule) / 8, done;
    while (leaf && most > 0 && (done = run(self, leaf, granule, most, kind, site)) > 0) {
        granule += 8 * done;
        most -= done;
    }
    return granule;
}

/* Whether the next granule has the same shape: then there may be more of them. */
static bool is_next_alike(uintptr_t granule, uintptr_t to)
{
    uintptr_t next = granule + 8, mask = (1u << PT_RACE_LEAF_BITS) - 1;
    const struct pt_race_leaf *leaf = next < to && next & mask ? pt_race_leaf_of(granule) : NULL;
    if (!leaf)
        return next < to && !pt_race_leaf_of(granule);
    uint64_t here = atomic_load_explicit(&leaf->words[(granule & mask) >> 3], memory_order_relaxed);
    uint64_t there = atomic_load_explicit(&leaf->words[(next & mask) >> 3], memory_order_relaxed);
    return !(here & PT_RACE_OWN) && (uint32_t)here == (uint32_t)there;
}

/* Whether it has, in the middle of an access of several granules: then the others are checked with what it knew before,
 * whose reference makes that another vector. */
static bool has_learned(const struct pt_race_self *self)
{
    return self->before.clock && self->before.past != self->hb.past;
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t to = address + size;
    if (!pt_race_is_address(address, to))
        return;
    struct pt_race_step access = pt_race_step_of(kind, site);
    uintptr_t granule = address & ~(uintptr_t)7;
    self->several = granule + 8 < to;
    for (; granule < to; granule += 8) {
        if (granule >= address && to - granule >= 2 * 8)
            granule = run_on(self, granule, to, kind, access.site);
        if (granule >= to)
            break;
        access.cell.bytes = pt_race_bytes_in(granule, address, to);
        if (!pt_race_fast(self, granule, access.cell.bytes, kind, access.site) &&
            !make(self, granule, access.cell.bytes, kind, access.site, !has_learned(self))) {
            self->alike = is_next_alike(granule, to);
            pt_race_touch(self, granule, &access);
        }
    }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
    if (self->before.clock) {
        pt_vec_drop(&self->memory, self->before.past);
        self->before = (struct pt_hb_thread){0};
    }
    self->several = self->alike = false;
}
