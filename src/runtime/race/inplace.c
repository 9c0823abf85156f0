/*
 * Plain accesses in place: of a granule with a cell of its own, which has them already of an earlier region, or to
 * which they are simple to add.
 *
 * Guarantee: the cell is afterwards as race/cell.c would have left it, which would have found no race, but for entries
 * that a long cell has forgotten; else nothing has happened. A read that says nothing new changes nothing and takes no
 * lock: it looks at the cell, and at the word before and after that. Cost: a lock of the granule, four keys at a time,
 * a look at the last write and at the accesses since, and the clock, the stack and the locks of one entry; one cache
 * line or two beside that of the word. Where a program walks over granules with cells of their own, these are fetched
 * some steps ahead.
 */
#include "runtime/race/packed.h"

enum { AHEAD = 4, NONE = PT_RACE_PACKED_SEEN };
#define COLD __attribute__((noinline))

/* ---- packed cells ---- */

/* The only entry of the thread at this place, or one of another that comes before it, where that is of the same bytes;
 * NONE: it is not that simple. */
__attribute__((always_inline)) static inline unsigned
pick(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned alike, uint32_t key)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned mine = NONE, other = NONE;
    for (; alike; alike &= alike - 1) {
        unsigned i = (unsigned)__builtin_ctz(alike);
        if (pt_epoch_thread(seen[i].at) == self->hb.id) {
            if (mine != NONE || (packed->keys[i] ^ key) & PT_RACE_KEY_BYTES)
                return NONE;
            mine = i;
        } else if (mine == NONE && packed->keys[i] == key && self->env.any_thread &&
                   pt_hb_knows(&self->hb, seen[i].at)) {
            other = i;
        }
    }
    return mine != NONE ? mine : other;
}

/* The same where there is such an entry, and one last write of these bytes at most, or none: mostly it is that simple.
 * False: nothing has happened. */
__attribute__((always_inline)) static inline bool packed_raise(struct pt_race_self *self, struct pt_race_packed *packed,
                                                               struct pt_race_looked looked, uint32_t key,
                                                               bool *ret_again)
{
    bool writes = key & PT_RACE_KEY_WRITES;
    uint64_t enough = atomic_load_explicit(&packed->enough, memory_order_relaxed);
    unsigned mine = pt_race_packed_mine(self, enough); /* of a trusted cell, all of which is known */
    if (!looked.alike || (packed->further && (writes || !mine)) ||
        (!mine && (!pt_hb_knows(&self->hb, packed->over) || (!writes && packed->fresh & looked.writes))))
        return false;
    unsigned at = pick(self, packed, looked.alike, key);
    if (at == NONE)
        return false;
    struct pt_race_packed_seen *seen = &pt_race_packed_seen(packed)[at];
    pt_epoch now = pt_hb_now(&self->hb);
    if (!writes) {
        *ret_again = pt_race_is_mine(self, seen->at);
        if (!*ret_again || !(packed->fresh >> at & 1)) {
            packed->stamp += pt_race_packed_first_reader(self, packed);
            packed->fresh |= (uint16_t)(1u << at);
            seen->at = now;
            pt_race_packed_note(self, seen);
            if (!mine && pt_race_packed_unknown(self, packed, packed->fresh))
                pt_race_packed_touched(packed);
            else
                pt_race_packed_trust(self, packed, mine | 1u << at, mine ? enough & 0xffff : 0);
        }
        return true;
    }
    struct pt_race_last first = pt_race_packed_last(packed);
    struct pt_vec *past = pt_race_last_past(&first);
    unsigned bytes = pt_race_key_bytes(key);
    if (pt_race_last_bytes(&first) != bytes || (!mine && pt_race_packed_unknown(self, packed, packed->fresh)))
        return false;
    if (!pt_race_is_mine(self, first.at) || !pt_race_is_mine(self, seen->at)) {
        packed->past = pt_race_last_make(0, self->hb.past, bytes).past;
        if (past != self->hb.past) {
            pt_vec_ref(&self->memory, self->hb.past);
            pt_vec_drop(&self->memory, past);
        }
        packed->fresh = 0;
        packed->stamp++;
        pt_race_packed_trust(self, packed, mine | 1u << at, mine ? enough & 0xffff : 0);
        seen->at = now;
        pt_race_packed_note(self, seen);
    } else if (!mine) {
        pt_race_packed_touched(packed); /* of others */
    }
    packed->over = now;
    return true;
}

/* Whether an entry that the thread has made in its region says the access, of a cell whose keys are looked through;
 * `mine`: entries of which that is known, 0: none. */
static inline bool is_repeated(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned alike,
                               unsigned bytes, unsigned mine)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    if (mine)
        alike &= mine;
    else if (!pt_race_is_mine(self, packed->over))
        alike &= packed->fresh;
    for (; alike; alike &= alike - 1) {
        unsigned i = (unsigned)__builtin_ctz(alike);
        if (!(bytes & ~pt_race_key_bytes(packed->keys[i])) && (mine || pt_race_is_mine(self, seen[i].at)))
            return true;
    }
    return false;
}

/* acquire: partner of the release that unlocked it last */
static inline bool lock_as(pt_race_word *word, uint64_t seen)
{
    return atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_RACE_LOCKED, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* A write that is repeated, of bytes that no other has written since: only its clock is new. False: it is not that
 * simple, and nothing has happened. */
static inline bool rewrite(struct pt_race_self *self, pt_race_word *word, uint64_t seen, struct pt_race_packed *packed,
                           unsigned bytes)
{
    struct pt_race_last first = pt_race_packed_last(packed);
    if (packed->further || bytes & ~pt_race_last_bytes(&first) || !pt_race_is_mine(self, first.at) ||
        !lock_as(word, seen)) /* whoever wrote meanwhile has changed the word */
        return false;
    bool known = pt_race_packed_mine(self, atomic_load_explicit(&packed->enough, memory_order_relaxed));
    if (!known) {
        pt_race_packed_touched(packed); /* of others */
        known = !pt_race_packed_unknown(self, packed, packed->fresh);
    }
    if (known)
        packed->over = pt_hb_now(&self->hb);
    pt_race_unlock_word(word, seen);
    return known;
}

/* The same of a write at any place, where that is enough. */
static inline bool rewrite_enough(struct pt_race_self *self, pt_race_word *word, uint64_t seen, unsigned bytes)
{
    if (!lock_as(word, seen))
        return false;
    struct pt_race_packed *packed = pt_race_packed_of(seen);
    bool enough = pt_race_is_enough(self, seen, bytes, true);
    if (enough && !packed->further) /* and the last write is the thread's own */
        packed->over = pt_hb_now(&self->hb);
    else if (enough)
        pt_race_packed_rewrite(self, packed, bytes);
    pt_race_unlock_word(word, seen);
    return enough;
}

/* An access that a packed cell, which nobody has locked, has already, but for the clock of a write. A read changes
 * nothing: true if it was so throughout. No write of these bytes by another thread has come since it was made first in
 * its region: that would be a race, and the cell not packed. False: nothing has happened. */
__attribute__((always_inline)) static inline bool repeat(struct pt_race_self *self, pt_race_word *word, uint64_t seen,
                                                         unsigned alike, unsigned bytes, unsigned kind,
                                                         const struct pt_site *site)
{
    struct pt_race_packed *packed = pt_race_packed_of(seen);
    unsigned mine = pt_race_packed_mine(self, atomic_load_explicit(&packed->enough, memory_order_relaxed));
    if (!is_repeated(self, packed, alike, bytes, mine))
        return false;
    if (kind & PT_CELL_WRITES)
        return rewrite(self, word, seen, packed, bytes);
    atomic_thread_fence(memory_order_acquire); /* what was read is of before the word is read again */
    if (atomic_load_explicit(word, memory_order_relaxed) != seen)
        return false;
    pt_race_note_key(self, seen, pt_race_key(site, bytes, kind));
    return true;
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

/* An access of a granule with a packed cell, which is in it already, or is simple to put there: made in place. False:
 * nothing has happened. */
__attribute__((always_inline)) static inline bool make_packed(struct pt_race_self *self,
                                                              const struct pt_race_leaf *leaf, pt_race_word *word,
                                                              uint64_t seen, uintptr_t granule, unsigned bytes,
                                                              unsigned kind, const struct pt_site *site)
{
    bool again = false, writes = kind & PT_CELL_WRITES;
    uint32_t cell = (uint32_t)seen & ~PT_RACE_PACKED;
    if (pt_race_is_enough(self, seen, bytes, writes) && (!writes || rewrite_enough(self, word, seen, bytes)))
        return true;
    __builtin_prefetch((char *)pt_race_packed_at(cell) + 64);
    uint32_t key = pt_race_packed_key(pt_race_place_of(site), bytes, writes);
    /* Its keys are the same as long as its word is. */
    struct pt_race_looked looked = pt_race_packed_look(pt_race_packed_at(cell), key);
    if (looked.alike && repeat(self, word, seen, looked.alike, bytes, kind, site))
        return true;
    if (!lock_as(word, seen))
        return false;
    look_ahead(self, leaf, word, granule);
    bool made = (looked.alike && packed_raise(self, pt_race_packed_at(cell), looked, key, &again)) ||
                pt_race_packed_make(self, &cell, looked, key, &again);
    /* What others remember of the word holds after most reads: their stamp is the same. */
    seen = pt_race_word_made(cell | PT_RACE_PACKED);
    pt_race_unlock_word(word, seen);
    if (made && again && !writes) /* once is not worth remembering */
        pt_race_note_key(self, seen, pt_race_key(site, bytes, kind));
    return made;
}

/* The same of a cell that is not packed. */
static COLD bool make_unpacked(struct pt_race_self *self, const struct pt_race_leaf *leaf, pt_race_word *word,
                               uint64_t seen, uintptr_t granule, unsigned bytes, unsigned kind,
                               const struct pt_site *site)
{
    struct pt_race_cell *cell = &pt_race_cells[(uint32_t)seen];
    bool again = false, made = true;
    if (!lock_as(word, seen))
        return false;
    look_ahead(self, leaf, word, granule);
    if (!(kind & PT_CELL_WRITES) || !pt_race_is_again(self, seen, pt_race_key(site, bytes, kind)))
        made = raise_cell(self, cell, bytes, kind, site, &again);
    else
        pt_race_rewrite_own(self, &cell->cell, bytes); /* made in this region, and nobody has looked since */
    seen = pt_race_word_made((uint32_t)seen);
    pt_race_unlock_word(word, seen);
    if (made && again)
        pt_race_note_key(self, seen, pt_race_key(site, bytes, kind));
    return made;
}

__attribute__((always_inline)) static inline bool make_own(struct pt_race_self *self, const struct pt_race_leaf *leaf,
                                                           pt_race_word *word, uint64_t seen, uintptr_t granule,
                                                           unsigned bytes, unsigned kind, const struct pt_site *site)
{
    if (seen & PT_RACE_LOCKED || kind >> PT_RACE_OP_AT)
        return false;
    return seen & PT_RACE_PACKED ? make_packed(self, leaf, word, seen, granule, bytes, kind, site)
                                 : make_unpacked(self, leaf, word, seen, granule, bytes, kind, site);
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

/* An access that is not repeated, or not simply so. */
__attribute__((always_inline)) static inline bool make_new(struct pt_race_self *self, uintptr_t granule, unsigned bytes,
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
    return make_new(self, granule, bytes, kind, site);
}

uintptr_t pt_race_make_own(struct pt_race_self *self, uintptr_t granule, uintptr_t from, uintptr_t to, unsigned kind,
                           const struct pt_site *site)
{
    const uintptr_t end = (granule | ((1u << PT_RACE_LEAF_BITS) - 1)) + 1;
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (!leaf)
        return granule;
    pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    for (; granule < to && granule < end; granule += 8, word++) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        unsigned bytes = pt_race_bytes_in(granule, from, to);
        if (!(seen & PT_RACE_OWN) || !make_own(self, leaf, word, seen, granule, bytes, kind, site))
            break;
    }
    return granule;
}

/* The same by whatever it takes. */
static COLD void make_somehow(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                              const struct pt_site *site)
{
    struct pt_race_step access = pt_race_step_of(kind, site);
    access.cell.bytes = (uint8_t)bytes;
    pt_race_touch(self, granule, &access);
}

static COLD void access_one(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind,
                            const struct pt_site *site)
{
    if (!make_new(self, granule, bytes, kind, site))
        make_somehow(self, granule, bytes, kind, site);
    self->hb.clock += kind >> 1 & 1; /* of a write */
}

void pt_race_access_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind,
                        const struct pt_site *site)
{
    uintptr_t granule = address & ~(uintptr_t)7;
    if (!pt_race_is_address(granule, granule + 1))
        return;
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (kind == PT_RACE_WRITE && leaf) { /* what is enough of reads was seen before */
        pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        if (pt_race_is_packed(seen) && !(seen & PT_RACE_LOCKED) && pt_race_is_enough(self, seen, bytes, true) &&
            rewrite_enough(self, word, seen, bytes)) {
            self->hb.clock++;
            return;
        }
    }
    access_one(self, granule, bytes, kind, site);
}
