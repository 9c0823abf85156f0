/*
 * What a plain access makes of a packed cell: it becomes one with an entry, or an entry of its own, and the last write
 * of its bytes.
 *
 * Guarantee: the cell is afterwards as race/cell.c would have left it, which would have found no race, but for entries
 * that a long cell has forgotten; else the access was not made. Cost: some hundred instructions, and twice that where
 * last writes of other bytes stay beside it.
 */
#include "runtime/race/packed.h"

#define COLD __attribute__((noinline))

/* ---- last writes ---- */

void pt_race_packed_rewrite(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned bytes)
{
    pt_epoch now = pt_hb_now(&self->hb);
    struct pt_race_last first = pt_race_packed_last(packed), *further = pt_race_packed_further(packed);
    bool mine = pt_race_is_mine(self, first.at), done = pt_race_last_bytes(&first) & bytes;
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
    if (pt_race_is_mine(self, first.at))
        bytes &= ~pt_race_last_bytes(&first);
    for (unsigned i = 0; bytes && i < packed->further; i++)
        if (pt_race_is_mine(self, pt_race_packed_further(packed)[i].at))
            bytes &= ~pt_race_last_bytes(&pt_race_packed_further(packed)[i]);
    return !bytes;
}

/* The bytes that the thread has written last when it has written these: with those of its region that are among
 * `with`. */
static inline unsigned bytes_written(const struct pt_race_self *self, const struct pt_race_packed *packed,
                                     unsigned bytes, unsigned with)
{
    struct pt_race_last first = pt_race_packed_last(packed), *further = pt_race_packed_further(packed);
    unsigned mine = bytes;
    if (!(pt_race_last_bytes(&first) & ~with) && pt_race_is_mine(self, first.at))
        mine |= pt_race_last_bytes(&first);
    for (unsigned i = 0; i < packed->further; i++)
        if (!(pt_race_last_bytes(&further[i]) & ~with) && pt_race_is_mine(self, further[i].at))
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

/* ---- entries ---- */

/* What these entries of the thread's region say, where they are enough: of reads, and above that of writes. */
static inline unsigned enough_of(const struct pt_race_packed *packed, unsigned which)
{
    uint32_t all = 0, written = 0;
    unsigned count = 0;
    for (; which; which &= which - 1) {
        uint32_t key = packed->keys[__builtin_ctz(which)];
        if (key & PT_RACE_KEY_OP)
            continue;
        count++;
        all |= key;
        written |= key & PT_RACE_KEY_WRITES ? key : 0;
    }
    if (all & PT_RACE_KEY_MERGED || count >= PT_RACE_ENOUGH)
        return pt_race_key_bytes(all) | pt_race_key_bytes(written) << 8;
    /* Whoever races with a further access of bytes that the thread has written races with that write. */
    return count >= PT_RACE_SHAPE_SEEN ? pt_race_key_bytes(written) * 0x101 : 0;
}

/* Those of these entries that are of the thread's region. */
static inline unsigned mine_of(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which)
{
    const struct pt_race_packed_seen *seen = pt_race_packed_seen(packed);
    unsigned mine = 0;
    for (; which; which &= which - 1) {
        unsigned i = (unsigned)__builtin_ctz(which);
        mine |= (pt_race_is_mine(self, seen[i].at) ? 1u : 0) << i;
    }
    return mine;
}

unsigned pt_race_packed_enough(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which,
                               bool writes)
{
    return enough_of(packed, mine_of(self, packed, which)) >> (writes ? 8 : 0) & 0xff;
}

/* Which bytes need no more accesses of the thread in its region, wherever they stand, as long as the cell stays as it
 * is; `trusted`: all else that is in it comes before these. */
static COLD void note_enough(const struct pt_race_self *self, struct pt_race_packed *packed, bool trusted)
{
    struct pt_race_last first = pt_race_packed_last(packed);
    bool over = pt_race_is_mine(self, first.at);
    unsigned written = over ? pt_race_last_bytes(&first) : 0;
    unsigned mine = mine_of(self, packed, over ? pt_race_packed_all(packed) : packed->fresh);
    for (unsigned i = 0; i < packed->further; i++)
        if (pt_race_is_mine(self, pt_race_packed_further(packed)[i].at))
            written |= pt_race_last_bytes(&pt_race_packed_further(packed)[i]);
    pt_race_packed_trust(self, packed, trusted ? mine : 0, enough_of(packed, mine) & (written << 8 | 0xff));
}

/* As many as may be enough. */
static inline bool many(unsigned entries)
{
    return __builtin_popcount(entries) >= PT_RACE_SHAPE_SEEN;
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
        if (pt_race_is_mine(self, seen[i].at)) {
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

/* The access becomes one with an entry. The cell is not trusted after it, unless the caller says so. False: nothing has
 * happened. */
static inline bool raise_entry(struct pt_race_self *self, uint32_t *cell, unsigned alike, unsigned at, unsigned bytes,
                               bool writes, bool covers, bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    struct pt_race_packed_seen *seen = &pt_race_packed_seen(packed)[at];
    unsigned wider = bytes | pt_race_key_bytes(packed->keys[at]);
    bool same = pt_race_key_bytes(packed->keys[at]) == bytes;
    *ret_again = pt_race_is_mine(self, seen->at);
    if (writes) {
        if (!settle_write(self, cell, bytes, same ? 0 : wider, covers))
            return false;
        packed = pt_race_packed_at(*cell);
        seen = &pt_race_packed_seen(packed)[at];
    } else {
        packed->stamp += pt_race_packed_first_reader(self, packed);
    }
    if (!writes || !covers)
        packed->fresh |= (uint16_t)(1u << at);
    if (same)
        seen->at = pt_hb_now(&self->hb);
    pt_race_packed_note(self, seen);
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
static inline bool append(struct pt_race_self *self, uint32_t *cell, uint32_t key, bool covers)
{
    bool writes = key & PT_RACE_KEY_WRITES;
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    if (packed->count >= PT_RACE_SHAPE_SEEN && packed->count == pt_race_packed_cap(packed->keys_end))
        thin(packed);
    if (!has_room(self, cell, packed->count + 1u, packed->further) ||
        (writes && !settle_write(self, cell, pt_race_key_bytes(key), 0, covers)))
        return false;
    packed = pt_race_packed_at(*cell);
    unsigned at = packed->count++;
    packed->keys[at] = key;
    if (!writes || !covers)
        packed->fresh |= (uint16_t)(1u << at);
    packed->stamp++;
    pt_race_packed_seen(packed)[at].at = pt_hb_now(&self->hb);
    pt_race_packed_note(self, &pt_race_packed_seen(packed)[at]);
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

/* The access becomes part of a cell, which comes before it if `known`, and of which these entries are known to be the
 * thread's own in its region. False: it has not. */
static inline bool put(struct pt_race_self *self, uint32_t *cell, unsigned alike, uint32_t key, bool covers, bool known,
                       uint64_t enough, bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    bool writes = key & PT_RACE_KEY_WRITES;
    unsigned bytes = pt_race_key_bytes(key), count = packed->count,
             at = alike ? find_mine(self, packed, alike, bytes) : NONE;
    bool wider = at < NONE && bytes & ~pt_race_key_bytes(packed->keys[at]);
    if (at > NONE)
        return false;
    bool made = at < NONE ? raise_entry(self, cell, alike, at, bytes, writes, covers, ret_again)
                          : append(self, cell, key, covers);
    packed = pt_race_packed_at(*cell);
    unsigned mine = (uint32_t)enough >> PT_RACE_MINE_AT | 1u << (at == NONE ? count : at);
    if (!known || !made)
        pt_race_packed_touched(packed);
    else if (wider || packed->count != count + (at == NONE) || many(mine))
        note_enough(self, packed, true);
    else
        pt_race_packed_trust(self, packed, mine, enough & 0xffff);
    return made;
}

/* Whether the thread's own entries say the access, of a cell that it has looked at before in its region. */
static inline bool is_said(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned alike,
                           unsigned bytes, bool writes, uint64_t enough)
{
    unsigned left = bytes;
    for (alike &= pt_race_packed_mine(self, enough); alike; alike &= alike - 1)
        left &= ~pt_race_key_bytes(packed->keys[__builtin_ctz(alike)]);
    return !left || !(bytes & ~(unsigned)(enough >> (writes ? 8 : 0)) & 0xff);
}

bool pt_race_packed_make(struct pt_race_self *self, uint32_t *cell, struct pt_race_looked looked, uint32_t key,
                         bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_at(*cell);
    uint64_t enough = atomic_load_explicit(&packed->enough, memory_order_relaxed);
    bool writes = key & PT_RACE_KEY_WRITES;
    unsigned bytes = pt_race_key_bytes(key), said = 0;
    if (pt_race_packed_mine(self, enough)) {
        if ((writes && !has_written(self, packed, bytes)) ||
            !is_said(self, packed, looked.alike, bytes, writes, enough))
            return put(self, cell, looked.alike, key, writes, true, enough, ret_again);
        if (writes)
            pt_race_packed_rewrite(self, packed, bytes);
        *ret_again = true;
        return true;
    }
    bool knows_over = pt_hb_knows(&self->hb, packed->over);
    unsigned unknown = pt_race_packed_unknown(self, packed, knows_over ? packed->fresh : pt_race_packed_all(packed));
    unsigned against = writes ? unknown : unknown & looked.writes;
    if ((against && pt_race_packed_overlap(packed, against, bytes)) ||
        (!writes && !knows_writes(self, packed, bytes, knows_over)))
        return false;
    if ((!writes || has_written(self, packed, bytes)) &&
        pt_race_packed_says(self, packed, looked.alike, bytes, writes, &said)) {
        if (writes) {
            pt_race_packed_touched(packed); /* of others */
            pt_race_packed_rewrite(self, packed, bytes);
        }
        if (said)
            note_enough(self, packed, false);
        *ret_again = true;
        return true;
    }
    bool known = knows_over && !unknown && knows_writes(self, packed, PT_CELL_WHOLE, true);
    return put(self, cell, looked.alike, key, writes && knows_over && !unknown, known, 0, ret_again);
}

uint64_t pt_race_packed_begin(struct pt_race_self *self, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    bool writes = kind & PT_CELL_WRITES;
    uint32_t cell = pt_race_packed_empty(self, 1, 0);
    if (!cell)
        return 0;
    append(self, &cell, pt_race_packed_key(pt_race_place_of(site), bytes, writes), writes); /* there is room */
    pt_race_packed_trust(self, pt_race_packed_at(cell), 1, 0);
    return pt_race_word_made(cell | PT_RACE_PACKED);
}
