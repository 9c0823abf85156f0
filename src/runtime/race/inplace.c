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

#include "runtime/race/packed.h"

enum { AHEAD = 4 };
#define COLD __attribute__((noinline))

/* ---- packed cells ---- */

/* Whether that is the thread's own, of its region. */
static inline bool is_mine(const struct pt_race_self *self, pt_epoch at)
{
    return at - pt_epoch_make(self->hb.id, self->region) <= self->hb.clock - self->region;
}

void pt_race_packed_rewrite(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned bytes)
{
    pt_epoch now = pt_hb_now(&self->hb);
    struct pt_race_last first = pt_race_packed_last(packed), *further = pt_race_packed_further(packed);
    bool mine = is_mine(self, first.at), done = pt_race_last_bytes(&first) & bytes;
    if (mine)
        packed->over = now;
    for (unsigned i = 0; i < packed->further; i++) {
        if (!(pt_race_last_bytes(&further[i]) & bytes))
            continue;
        further[i].at = now;
        if (mine && !done) { /* this one is the latest now */
            packed->past = further[i].past;
            further[i] = first;
            done = true;
        }
    }
}

/* Whether the last writes of these bytes are the thread's own, of its region. */
static inline bool has_written(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned bytes)
{
    struct pt_race_last first = pt_race_packed_last(packed);
    if (is_mine(self, first.at))
        bytes &= ~pt_race_last_bytes(&first);
    for (unsigned i = 0; bytes && i < packed->further; i++)
        if (is_mine(self, pt_race_packed_further(packed)[i].at))
            bytes &= ~pt_race_last_bytes(&pt_race_packed_further(packed)[i]);
    return !bytes;
}

/* The bytes of the thread's entries of this region, which are among these, if these are enough. */
static COLD unsigned enough_of(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which,
                               bool writes)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned count = 0;
    uint32_t said = 0, merged = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        uint32_t key = packed->keys[i];
        if (!is_mine(self, seen[i].at) || key & PT_RACE_KEY_OP)
            continue;
        count++;
        merged |= key;
        if (!writes || key & PT_RACE_KEY_WRITES)
            said |= key;
    }
    return merged & PT_RACE_KEY_MERGED || count >= PT_RACE_ENOUGH ? pt_race_key_bytes(said) : 0;
}

/* As pt_race_is_repeated in granule.c, but for the last writes. *ret_said: of which bytes that is so of any such
 * access; 0: nobody has looked. */
static inline bool is_said(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned alike,
                           unsigned bytes, bool writes, unsigned *ret_said)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned valid = is_mine(self, packed->over) ? pt_race_packed_all(packed) : packed->fresh, left = bytes;
    for (unsigned which = alike & valid; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        if (is_mine(self, seen[i].at))
            left &= ~pt_race_key_bytes(packed->keys[i]);
    }
    if (!left)
        return true;
    bool enough = packed->count >= PT_RACE_ENOUGH;
    for (unsigned merged = valid & pt_race_packed_merged(packed); merged; merged &= merged - 1)
        enough |= is_mine(self, seen[__builtin_ctz(merged)].at);
    *ret_said = enough ? enough_of(self, packed, valid, writes) : 0;
    return !(bytes & ~*ret_said);
}

/* Those of these entries that are not known to come before what the thread does now. */
static inline unsigned unknown_of(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which)
{
    unsigned unknown = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        if (!pt_hb_knows(&self->hb, pt_race_packed_seen(packed)[i].at))
            unknown |= 1u << i;
    }
    return unknown;
}

static void remove_entries(struct pt_race_packed *packed, unsigned which)
{
    struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned kept = 0, fresh = 0;
    for (unsigned i = 0; i < packed->count; i++) {
        if (which >> i & 1)
            continue;
        fresh |= (packed->fresh >> i & 1u) << kept;
        packed->keys[kept] = packed->keys[i];
        seen[kept++] = seen[i];
    }
    packed->count = (uint16_t)kept & 0x1f;
    packed->fresh = (uint16_t)fresh;
}

/* The bytes that the thread has written last when it has written these: with those of its region that are among
 * `with`. */
static inline unsigned bytes_written(const struct pt_race_self *self, const struct pt_race_packed *packed,
                                     unsigned bytes, unsigned with)
{
    struct pt_race_last first = pt_race_packed_last(packed), *further = pt_race_packed_further(packed);
    unsigned mine = bytes;
    if (!(pt_race_last_bytes(&first) & ~with) && is_mine(self, first.at))
        mine |= pt_race_last_bytes(&first);
    for (unsigned i = 0; i < packed->further; i++)
        if (!(pt_race_last_bytes(&further[i]) & ~with) && is_mine(self, further[i].at))
            mine |= pt_race_last_bytes(&further[i]);
    return mine;
}

/* What is left of a last write without these bytes; past 0: nothing, and its reference is dropped. */
static inline struct pt_race_last without(const struct pt_race_self *self, struct pt_race_last last, unsigned bytes)
{
    unsigned left = pt_race_last_bytes(&last) & ~bytes;
    if (left)
        return pt_race_last_make(last.at, pt_race_last_past(&last), left);
    pt_vec_drop(&self->memory, pt_race_last_past(&last));
    return (struct pt_race_last){last.at, 0};
}

/* The same of a write beside which others stay the last ones of their bytes; there is room for one more of them. */
static COLD void settle_beside(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned mine,
                               bool covers)
{
    struct pt_race_last *further = pt_race_packed_further(packed), first = pt_race_packed_last(packed);
    struct pt_race_last now = pt_race_last_make(pt_hb_now(&self->hb), pt_vec_ref(&self->memory, self->hb.past), mine);
    unsigned kept = 0;
    for (unsigned i = 0; i < packed->further; i++) {
        struct pt_race_last left = without(self, further[i], mine);
        if (left.past)
            further[kept++] = left;
    }
    first = without(self, first, mine);
    if (!covers)
        further[kept++] = now;
    else if (first.past)
        further[kept++] = first;
    packed->further = (uint16_t)kept & 0xf;
    packed->past = covers ? now.past : first.past;
}

static inline bool has_room(struct pt_race_self *self, uint32_t *cell, unsigned entries, unsigned further)
{
    const struct pt_race_packed *packed = pt_race_packed_at(*cell);
    return (entries <= pt_race_packed_cap(packed->keys_end) && further <= packed->spare) ||
           pt_race_packed_room(self, cell, entries, further);
}

/* The write has become part of the cell, which may move. False: nothing has happened. */
static inline bool settle_write(struct pt_race_self *self, uint32_t *cell, unsigned bytes, unsigned with, bool covers)
{
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    struct pt_race_last first = pt_race_packed_last(packed);
    unsigned replaced = pt_race_last_bytes(&first), mine = bytes_written(self, packed, bytes, with);
    if (__builtin_expect(covers && !packed->further && !(replaced & ~mine), 1)) {
        struct pt_vec *past = pt_race_last_past(&first);
        packed->past = pt_race_last_make(0, self->hb.past, mine).past;
        if (past != self->hb.past || !replaced) {
            pt_vec_ref(&self->memory, self->hb.past);
            pt_vec_drop(&self->memory, past);
        }
    } else {
        bool more = !covers || replaced & ~mine;
        if (!has_room(self, cell, packed->count, packed->further + more))
            return false;
        packed = pt_race_packed_at(*cell);
        settle_beside(self, packed, mine, covers);
    }
    if (covers) {
        packed->over = pt_hb_now(&self->hb);
        packed->fresh = 0;
    }
    packed->stamp++;
    return true;
}

/* What find_mine says where there is no entry: it becomes one of its own, or it is not that simple. */
enum { NONE = PT_RACE_PACKED_SEEN, NOT_SIMPLE };

/* The entry with which the access becomes one: the thread's, the same of whatever region, or the only one alike if it
 * is of this region; or another thread's that comes before it (race/cell.h, any_thread). */
static inline unsigned find_mine(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned alike,
                                 unsigned bytes)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned found = NONE, same = NONE, other = NONE;
    for (; alike; alike &= alike - 1) {
        unsigned i = (unsigned)__builtin_ctz(alike);
        bool is_same = pt_race_key_bytes(packed->keys[i]) == bytes;
        if (is_mine(self, seen[i].at)) {
            if (found != NONE)
                return NOT_SIMPLE;
            found = i;
        } else if (is_same && pt_epoch_thread(seen[i].at) == self->hb.id) {
            same = i;
        } else if (is_same && self->env.any_thread && !(packed->keys[i] & PT_RACE_KEY_MERGED) &&
                   pt_hb_knows(&self->hb, seen[i].at)) {
            other = i;
        }
    }
    return found != NONE ? found : same != NONE ? same : other;
}

/* Whether nobody but the last writer has read since: it then has to look at the granule when it writes again. */
static inline bool is_first_reader(const struct pt_race_self *self, const struct pt_race_packed *packed)
{
    uint32_t writer = pt_epoch_thread(packed->over);
    if (writer == self->hb.id)
        return false;
    for (unsigned which = packed->fresh; which; which &= which - 1)
        if (pt_epoch_thread(pt_race_packed_seen(packed)[__builtin_ctz(which)].at) != writer)
            return false;
    return true;
}

static inline void note(struct pt_race_self *self, struct pt_race_packed_seen *seen)
{
    struct pt_cell_note now = pt_race_note_now(self);
    seen->stack = now.stack;
    seen->locks = now.locks;
}

/* The thread's older entries of which a wider one has all bytes say nothing more. */
static COLD void widen(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned at, unsigned alike,
                       unsigned bytes)
{
    unsigned gone = 0;
    packed->keys[at] |= bytes << PT_RACE_KEY_BYTES_AT | PT_RACE_KEY_MERGED;
    packed->stamp++;
    for (unsigned which = alike & ~(1u << at); which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        if (pt_epoch_thread(pt_race_packed_seen(packed)[i].at) == self->hb.id &&
            !(pt_race_key_bytes(packed->keys[i]) & ~pt_race_key_bytes(packed->keys[at])))
            gone |= 1u << i;
    }
    if (gone)
        remove_entries(packed, gone);
}

/* The access becomes one with an entry. False: nothing has happened. */
static inline bool raise_entry(struct pt_race_self *self, uint32_t *cell, unsigned alike, unsigned at, unsigned bytes,
                               bool writes, bool covers, bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    struct pt_race_packed_seen *seen = &pt_race_packed_seen(packed)[at];
    unsigned wider = bytes | pt_race_key_bytes(packed->keys[at]);
    bool same = pt_race_key_bytes(packed->keys[at]) == bytes;
    *ret_again = is_mine(self, seen->at);
    if (writes) {
        if (!settle_write(self, cell, bytes, same ? 0 : wider, covers))
            return false;
        packed = pt_race_packed_at(*cell);
        seen = &pt_race_packed_seen(packed)[at];
    } else {
        packed->stamp += is_first_reader(self, packed);
    }
    if (!writes || !covers)
        packed->fresh |= (uint16_t)(1u << at);
    if (same)
        seen->at = pt_hb_now(&self->hb);
    note(self, seen);
    if (wider != pt_race_key_bytes(packed->keys[at]))
        widen(self, packed, at, alike, bytes);
    return true;
}

/* Of a cell with many entries those go that come before its latest write, with no bytes beside those of that: whoever
 * races with them races with it (race/cell.c, pt_cell_thin). */
static COLD void thin(struct pt_race_packed *packed)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    uint32_t writer = pt_epoch_thread(packed->over);
    unsigned over = NONE, gone = 0;
    for (unsigned i = 0; i < packed->count; i++)
        if (packed->keys[i] & PT_RACE_KEY_WRITES && pt_epoch_thread(seen[i].at) == writer &&
            (over == NONE || seen[i].at > seen[over].at))
            over = i;
    if (over == NONE || !packed->over || packed->fresh >> over & 1)
        return;
    for (unsigned i = 0; i < packed->count; i++)
        if (i != over && !(packed->fresh >> i & 1) &&
            !(pt_race_key_bytes(packed->keys[i]) & ~pt_race_key_bytes(packed->keys[over])) &&
            (pt_epoch_thread(seen[i].at) != writer ||
             (seen[i].at < seen[over].at && !(packed->keys[i] & PT_RACE_KEY_MERGED))))
            gone |= 1u << i;
    if (gone)
        remove_entries(packed, gone);
    packed->stamp += gone != 0; /* what others remember of it may be gone */
}

/* The access becomes an entry of its own, of a cell that may move for it. False: it has not. */
static bool append(struct pt_race_self *self, uint32_t *cell, uint32_t key, bool covers)
{
    bool writes = key & PT_RACE_KEY_WRITES;
    if (pt_race_packed_at(*cell)->count >= PT_RACE_SHAPE_SEEN)
        thin(pt_race_packed_at(*cell));
    if (!has_room(self, cell, pt_race_packed_at(*cell)->count + 1u, pt_race_packed_at(*cell)->further) ||
        (writes && !settle_write(self, cell, pt_race_key_bytes(key), 0, covers)))
        return false;
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    unsigned at = packed->count++;
    packed->keys[at] = key;
    if (!writes || !covers)
        packed->fresh |= (uint16_t)(1u << at);
    packed->stamp++;
    pt_race_packed_seen(packed)[at].at = pt_hb_now(&self->hb);
    note(self, &pt_race_packed_seen(packed)[at]);
    return true;
}

/* Whether the last writes of these bytes, of which a read has to learn if it races with them, are known. */
static inline bool knows_writes(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned bytes,
                                bool knows_over)
{
    struct pt_race_last first = pt_race_packed_last(packed);
    bool known = knows_over || !(pt_race_last_bytes(&first) & bytes);
    for (unsigned i = 0; known && i < packed->further; i++)
        known = !(pt_race_last_bytes(&pt_race_packed_further(packed)[i]) & bytes) ||
                pt_hb_knows(&self->hb, pt_race_packed_further(packed)[i].at);
    return known;
}

/* Under the granule's lock, of a cell that may move. False: it was not made, and perhaps races. */
static COLD bool packed_make(struct pt_race_self *self, uint32_t *cell, struct pt_race_looked looked, uint32_t key,
                             bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    bool writes = key & PT_RACE_KEY_WRITES, knows_over = pt_hb_knows(&self->hb, packed->over);
    unsigned bytes = pt_race_key_bytes(key), which = knows_over ? packed->fresh : pt_race_packed_all(packed), said;
    unsigned unknown = unknown_of(self, packed, writes ? which : which & looked.writes);
    if ((unknown && pt_race_packed_overlap(packed, unknown, bytes)) ||
        (!writes && !knows_writes(self, packed, bytes, knows_over)))
        return false;
    if ((!writes || has_written(self, packed, bytes)) && is_said(self, packed, looked.alike, bytes, writes, &said)) {
        if (writes)
            pt_race_packed_rewrite(self, packed, bytes);
        *ret_again = true;
        return true;
    }
    bool covers = writes && knows_over && !unknown;
    unsigned at = find_mine(self, packed, looked.alike, bytes);
    if (at < NONE)
        return raise_entry(self, cell, looked.alike, at, bytes, writes, covers, ret_again);
    return at == NONE && append(self, cell, key, covers);
}

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
    if (!looked.alike || packed->further || !pt_hb_knows(&self->hb, packed->over) ||
        (!writes && packed->fresh & looked.writes))
        return false;
    unsigned at = pick(self, packed, looked.alike, key);
    if (at == NONE)
        return false;
    struct pt_race_packed_seen *seen = &pt_race_packed_seen(packed)[at];
    pt_epoch now = pt_hb_now(&self->hb);
    if (!writes) {
        *ret_again = is_mine(self, seen->at);
        if (!*ret_again || !(packed->fresh >> at & 1)) {
            packed->stamp += is_first_reader(self, packed);
            packed->fresh |= (uint16_t)(1u << at);
            seen->at = now;
            note(self, seen);
        }
        return true;
    }
    struct pt_race_last first = pt_race_packed_last(packed);
    struct pt_vec *past = pt_race_last_past(&first);
    unsigned bytes = pt_race_key_bytes(key);
    if (pt_race_last_bytes(&first) != bytes || unknown_of(self, packed, packed->fresh))
        return false;
    if (!is_mine(self, first.at) || !is_mine(self, seen->at)) {
        packed->past = pt_race_last_make(0, self->hb.past, bytes).past;
        if (past != self->hb.past) {
            pt_vec_ref(&self->memory, self->hb.past);
            pt_vec_drop(&self->memory, past);
        }
        packed->fresh = 0;
        packed->stamp++;
        seen->at = now;
        note(self, seen);
    }
    packed->over = now;
    return true;
}

/* A read that says nothing new, of a cell which nobody has locked: true if that was so throughout. No write of these
 * bytes by another thread has come since it was made first in its region: that would be a race, and the cell not
 * packed. */
static inline bool is_there(struct pt_race_self *self, const pt_race_word *word, uint64_t seen,
                            struct pt_race_looked looked, uint32_t key)
{
    const struct pt_race_packed *packed = pt_race_packed_of(seen);
    unsigned bytes = pt_race_key_bytes(key), said = 0;
    if (!is_said(self, packed, looked.alike, bytes, false, &said))
        return false;
    atomic_thread_fence(memory_order_acquire); /* what was read is of before the word is read again */
    if (atomic_load_explicit(word, memory_order_relaxed) != seen)
        return false;
    if (said && bytes != PT_CELL_WHOLE)
        *pt_race_said_of(self, seen) = (struct pt_race_said){seen, self->version, (uint8_t)said};
    return true;
}

uint64_t pt_race_packed_begin(struct pt_race_self *self, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    bool writes = kind & PT_CELL_WRITES;
    uint32_t cell = pt_race_packed_empty(self, 1, 0);
    if (!cell)
        return 0;
    append(self, &cell, pt_race_packed_key(pt_race_place_of(site), bytes, writes), writes); /* there is room */
    return pt_race_word_made(cell | PT_RACE_PACKED);
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

/* The same access of a cell that is not packed, in place. */
static COLD bool make_unpacked(struct pt_race_self *self, uint64_t seen, unsigned bytes, unsigned kind,
                               const struct pt_site *site, bool *ret_again)
{
    struct pt_race_cell *cell = &pt_race_cells[(uint32_t)seen];
    if (!(kind & PT_CELL_WRITES) || !pt_race_is_again(self, seen, pt_race_key(site, bytes, kind)))
        return raise_cell(self, cell, bytes, kind, site, ret_again);
    pt_race_rewrite_own(self, &cell->cell, bytes); /* made in this region, and nobody has looked since */
    return true;
}

/* An access of a granule with a cell of its own, which is in it already, or is simple to put there: made in place.
 * False: nothing has happened. */
__attribute__((always_inline)) static inline bool make_own(struct pt_race_self *self, const struct pt_race_leaf *leaf,
                                                           pt_race_word *word, uint64_t seen, uintptr_t granule,
                                                           unsigned bytes, unsigned kind, const struct pt_site *site)
{
    bool again = false, packed = seen & PT_RACE_PACKED, writes = kind & PT_CELL_WRITES, made;
    uint32_t cell = (uint32_t)seen & ~PT_RACE_PACKED, key = 0;
    struct pt_race_looked looked = {0, 0};
    if (packed) {
        __builtin_prefetch(pt_race_packed_at(cell), 1);
        __builtin_prefetch((char *)pt_race_packed_at(cell) + 64, 1);
        key = pt_race_packed_key(pt_race_place_of(site), bytes, writes);
    }
    if (seen & PT_RACE_LOCKED || kind >> PT_RACE_OP_AT)
        return false;
    if (packed) { /* its keys are the same as long as its word is */
        looked = pt_race_packed_look(pt_race_packed_at(cell), key);
        /* Where the thread has repeated nothing yet in its region, this will not be the first. */
        if (!writes && self->noted == self->version && is_there(self, word, seen, looked, key)) {
            pt_race_note_key(self, seen, pt_race_key(site, bytes, kind));
            return true;
        }
    }
    /* acquire: partner of the release that unlocked it last */
    if (!atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_RACE_LOCKED, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    look_ahead(self, leaf, word, granule);
    /* What others remember of the word holds after most reads: their stamp is the same. */
    if (packed)
        made = packed_raise(self, pt_race_packed_at(cell), looked, key, &again) ||
               packed_make(self, &cell, looked, key, &again);
    else
        made = make_unpacked(self, seen, bytes, kind, site, &again);
    seen = pt_race_word_made(cell | (packed ? PT_RACE_PACKED : 0));
    pt_race_unlock_word(word, seen);
    if (made && again && !(packed && writes)) /* once is not worth remembering */
        pt_race_note_key(self, seen, pt_race_key(site, bytes, kind));
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
