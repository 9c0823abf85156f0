/*
 * Algorithm A (JMPaX, section 3.4, with the read taking the write clock) on one locked granule.
 *
 *   read:   V_i <- max(V_i, W_x);  A_x <- max(A_x, V_i)
 *   write:  V_i <- max(V_i, A_x);  A_x <- W_x <- V_i
 *
 * W_x <= A_x always, so A_x = V_i says that a read changes nothing. The common shapes are done on the word itself; the
 * others spread it over eight bytes, work there, and pack the result into a word again if its bytes agree.
 *
 * Guarantee: after an access each byte has the clocks that the algorithm gives it, whatever shape the granule has.
 * Cost: a few instructions for the common shapes; joins, linear in the number of threads, where clocks are unordered.
 */
#include "runtime/shadow/granule.h"

#include <string.h>

#include "runtime/shadow/readers.h"
#include "runtime/shadow/watch.h"

struct spread {
    pt_clock_id access[8], write[8];
};

static bool is_fine(uint64_t word)
{
    return word & PT_SHADOW_FINE;
}

static struct pt_fine *fine_of(uint64_t word)
{
    return &pt_fines[pt_shadow_access(word)];
}

static void spread_word(uint64_t word, struct spread *out)
{
    if (is_fine(word)) {
        memcpy(out->access, fine_of(word)->access, sizeof out->access);
        memcpy(out->write, fine_of(word)->write, sizeof out->write);
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        bool known = pt_shadow_bytes(word) >> i & 1;
        out->access[i] = known ? pt_shadow_access(word) : 0;
        out->write[i] = known ? pt_shadow_write(word) : 0;
    }
}

/* References that equal neighbours range are counted together: most granules range one variable. */
static void acquire_each(struct pt_shadow_self *self, const pt_clock_id ids[8])
{
    if (pt_clock_only_rungs())
        return;
    for (unsigned i = 0, j; i < 8; i = j) {
        for (j = i + 1; j < 8 && ids[j] == ids[i]; j++)
            ;
        pt_self_acquire(&self->clock, ids[i], j - i);
    }
}

static void release_each(struct pt_shadow_self *self, const pt_clock_id ids[8])
{
    if (pt_clock_only_rungs())
        return;
    for (unsigned i = 0, j; i < 8; i = j) {
        for (j = i + 1; j < 8 && ids[j] == ids[i]; j++)
            ;
        pt_self_release(&self->clock, ids[i], j - i);
    }
}

/* The references of a record's bytes that change: of what stays the same none is touched, and neighbours that change
 * alike are changed together. */
static void change_each(struct pt_shadow_self *self, pt_clock_id ids[8], const pt_clock_id now[8])
{
    if (pt_clock_only_rungs()) {
        memcpy(ids, now, sizeof ids[0] * 8);
        return;
    }
    for (unsigned i = 0, j; i < 8; i = j) {
        pt_clock_id was = ids[i], is = now[i];
        for (j = i + 1; j < 8 && ids[j] == was && now[j] == is; j++)
            ;
        if (was == is)
            continue;
        pt_self_acquire(&self->clock, is, j - i);
        pt_self_release(&self->clock, was, j - i);
        for (unsigned k = i; k < j; k++)
            ids[k] = is;
    }
}

static void release_word(struct pt_shadow_self *self, uint64_t word)
{
    if (is_fine(word)) {
        release_each(self, fine_of(word)->access);
        release_each(self, fine_of(word)->write);
    } else {
        pt_self_release(&self->clock, pt_shadow_access(word), 1);
        pt_self_release(&self->clock, pt_shadow_write(word), 1);
    }
}

void pt_granule_drop(struct pt_shadow_self *self, uint64_t word)
{
    release_word(self, word);
    if (is_fine(word))
        pt_fine_free(self, pt_shadow_access(word));
}

/* Whether one word can say it: all bytes in use have the same clocks. */
static bool packs(const struct spread *in, unsigned *ret_bytes, unsigned *ret_at)
{
    unsigned bytes = 0, at = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (!in->access[i])
            continue;
        if (bytes && (in->access[i] != in->access[at] || in->write[i] != in->write[at]))
            return false;
        bytes |= 1u << i;
        at = i;
    }
    *ret_bytes = bytes;
    *ret_at = at;
    return true;
}

/* Puts `in` where `word` was; gives the new word. References of the old one are released. */
static uint64_t replace(struct pt_shadow_self *self, uintptr_t address, uint64_t word, const struct spread *in)
{
    unsigned bytes, at;
    if (is_fine(word) && (fine_of(word)->watch || fine_of(word)->readers || !packs(in, &bytes, &at))) {
        struct pt_fine *fine = fine_of(word);
        change_each(self, fine->access, in->access);
        change_each(self, fine->write, in->write);
        return word;
    }
    uint64_t made;
    if (packs(in, &bytes, &at)) {
        pt_self_acquire(&self->clock, in->access[at], 1);
        pt_self_acquire(&self->clock, in->write[at], 1);
        made = bytes ? pt_shadow_pack(in->access[at], in->write[at], bytes) : 0;
        pt_granule_drop(self, word);
    } else {
        uint32_t id = pt_fine_new(self);
        if (!id)
            return word;
        acquire_each(self, in->access);
        acquire_each(self, in->write);
        memcpy(pt_fines[id].access, in->access, sizeof in->access);
        memcpy(pt_fines[id].write, in->write, sizeof in->write);
        made = id | PT_SHADOW_FINE;
        release_word(self, word);
    }
    if (!word && made)
        pt_shadow_note_use(address);
    return made;
}

/* Whether eight clocks are the same. */
static bool are_same(const pt_clock_id ids[8])
{
    pt_clock_id other = 0;
    for (unsigned i = 1; i < 8; i++)
        other |= ids[i] ^ ids[0];
    return !other;
}

static bool are_used(const pt_clock_id access[8])
{
    bool used = true;
    for (unsigned i = 0; i < 8; i++)
        used &= access[i] != 0;
    return used;
}

uint64_t pt_granule_pack(struct pt_shadow_self *self, uintptr_t address, uint64_t word)
{
    struct spread state;
    if (is_fine(word) && pt_clock_only_rungs() && are_used(fine_of(word)->access)) { /* as below, without references */
        const struct pt_fine *fine = fine_of(word);
        if (fine->watch || fine->readers || !are_same(fine->access) || !are_same(fine->write))
            return word;
        uint64_t made = pt_shadow_pack(fine->access[0], fine->write[0], 0xff);
        pt_fine_free(self, pt_shadow_access(word));
        return made;
    }
    spread_word(word, &state);
    return replace(self, address, word, &state);
}

/* Of a granule; the processor's own way is not there on all. */
static unsigned count_bytes(unsigned bytes)
{
    bytes -= bytes >> 1 & 0x55;
    bytes = (bytes & 0x33) + (bytes >> 2 & 0x33);
    return (bytes + (bytes >> 4)) & 0xf;
}

/* One reference was the word's, and `count` records' bytes have it now. */
static void share(struct pt_shadow_self *self, pt_clock_id id, unsigned count)
{
    if (count)
        pt_self_acquire(&self->clock, id, (int64_t)count - 1);
    else
        pt_self_release(&self->clock, id, 1);
}

/* The same of a granule that is in use as a whole, where there are only rungs, which have no references. */
static void split_whole(struct pt_fine *fine, uint64_t word, pt_clock_id rung, unsigned bytes, bool write)
{
    pt_clock_id access = pt_shadow_access(word), written = pt_shadow_write(word);
    for (unsigned i = 0; i < 8; i++) {
        fine->access[i] = access;
        fine->write[i] = written;
    }
    for (unsigned i = (unsigned)__builtin_ctz(bytes); bytes >> i; i++) {
        fine->access[i] = rung;
        if (write)
            fine->write[i] = rung;
    }
}

uint64_t pt_granule_unite(struct pt_shadow_self *self, uint64_t word)
{
    pt_clock_id written = fine_of(word)->write[0];
    pt_fine_free(self, pt_shadow_access(word));
    return pt_shadow_pack(self->clock.id, written, 0xff);
}

uint64_t pt_granule_split(struct pt_shadow_self *self, uint64_t word, unsigned bytes, bool write)
{
    uint32_t id = pt_fine_new(self);
    unsigned known = pt_shadow_bytes(word), others = known & ~bytes, unwritten = write ? others : known;
    pt_clock_id access = pt_shadow_access(word), written = pt_shadow_write(word);
    if (!id)
        return word;
    struct pt_fine *fine = &pt_fines[id];
    if (known == 0xff && pt_clock_only_rungs()) {
        split_whole(fine, word, self->clock.id, bytes, write);
        return id | PT_SHADOW_FINE;
    }
    for (unsigned i = 0; i < 8; i++) {
        fine->access[i] = bytes >> i & 1 ? self->clock.id : others >> i & 1 ? access : 0;
        fine->write[i] = unwritten >> i & 1 ? written : known >> i & 1 ? self->clock.id : 0;
    }
    pt_self_give(&self->clock, (int64_t)count_bytes(bytes) * (1 + write));
    share(self, access, count_bytes(others));
    share(self, written, count_bytes(unwritten));
    return id | PT_SHADOW_FINE;
}

void pt_granule_collect(struct pt_shadow_self *self, uint64_t word)
{
    if (is_fine(word) && fine_of(word)->readers)
        pt_readers_collect(self, pt_shadow_access(word));
}

static void take_each(struct pt_shadow_self *self, const pt_clock_id ids[8], unsigned bytes)
{
    pt_clock_id taken = 0; /* equal neighbours teach nothing more */
    for (unsigned i = 0; i < 8; i++) {
        if (!(bytes >> i & 1) || ids[i] == taken)
            continue;
        taken = ids[i];
        pt_shadow_take(self, taken);
    }
}

void pt_granule_before_read(struct pt_shadow_self *self, uint64_t word, unsigned bytes)
{
    if (!is_fine(word)) {
        if (pt_shadow_bytes(word) & bytes)
            pt_shadow_take(self, pt_shadow_write(word));
        return;
    }
    take_each(self, fine_of(word)->write, bytes);
}

void pt_granule_before_write(struct pt_shadow_self *self, uint64_t word, unsigned bytes)
{
    if (!is_fine(word)) {
        if (pt_shadow_bytes(word) & bytes)
            pt_shadow_take(self, pt_shadow_access(word));
        return;
    }
    take_each(self, fine_of(word)->access, bytes); /* readings were collected before the access: pt_slow_begin */
}

/* max(A, V_i) for each byte read; equal neighbours are joined once, and references to fresh joins are dropped by the
 * caller. */
static uint64_t read_spread(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes)
{
    struct spread state;
    pt_clock_id fresh[8];
    unsigned fresh_count = 0;
    pt_clock_id before = 0, joined = self->clock.id; /* of the byte joined last */
    spread_word(word, &state);
    bool changed = false;
    for (unsigned i = 0; i < 8; i++) {
        if (!(bytes >> i & 1) || state.access[i] == self->clock.id)
            continue;
        if (state.access[i] != before) {
            before = state.access[i];
            joined = self->clock.id;
            if (!pt_self_is_past(&self->clock, before))
                fresh[fresh_count++] = joined = pt_clock_join(&self->clock, before, self->clock.id);
        }
        /* equal clocks under another number: take the thread's, so that next time the numbers agree */
        changed |= state.access[i] != joined;
        state.access[i] = joined;
    }
    /* one that the fast paths left fine (narrow.h) is packed here, where several threads meet */
    uint64_t made = changed || is_fine(word) ? replace(self, address, word, &state) : word;
    for (unsigned i = 0; i < fresh_count; i++)
        pt_clock_release(&self->clock, fresh[i], 1);
    return made;
}

uint64_t pt_granule_after_read(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes)
{
    pt_clock_id clock = self->clock.id, access = pt_shadow_access(word);
    if (!clock)
        return word;
    unsigned known = pt_shadow_bytes(word);
    if (!is_fine(word) && (known & bytes) == bytes) {
        if (access == clock)
            return word;
        if (!pt_self_is_past(&self->clock, access) && pt_clock_leq(clock, access)) {
            if (self->fast == clock && pt_has_cache(PT_CACHE_BETWEEN) && !pt_clock_is_rung(clock))
                pt_granule_note_between(self, word);
            return word;
        }
    }
    if (!is_fine(word) &&
        (word == 0 || (known == bytes && (pt_self_is_past(&self->clock, access) || pt_clock_leq(access, clock)))))
        return pt_granule_raise_access(self, address, word, bytes);
    if ((is_fine(word) || known == bytes) && pt_readers_add(self, address, &word, bytes))
        return word;
    return read_spread(self, address, word, bytes);
}

/* The word of a granule that is written as a whole, in the place of a record that nobody looks at beside it. */
static uint64_t overwrite_fine(struct pt_shadow_self *self, uint64_t word)
{
    pt_granule_drop(self, word);
    pt_self_give(&self->clock, 2);
    return pt_shadow_pack(self->clock.id, self->clock.id, 0xff);
}

uint64_t pt_granule_after_write(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes)
{
    pt_clock_id clock = self->clock.id;
    if (!is_fine(word)) {
        if (pt_shadow_access(word) == clock && pt_shadow_write(word) == clock)
            return clock ? word | (uint64_t)bytes << PT_SHADOW_BYTES_AT : word;
        if ((pt_shadow_bytes(word) & ~bytes) == 0)
            return clock ? pt_granule_raise_both(self, address, word, bytes) : word;
    } else if (bytes == 0xff && clock && !fine_of(word)->watch && !fine_of(word)->readers) {
        return overwrite_fine(self, word);
    }
    struct spread state;
    spread_word(word, &state);
    for (unsigned i = 0; i < 8; i++)
        if (bytes >> i & 1)
            state.access[i] = state.write[i] = clock;
    return replace(self, address, word, &state);
}

void pt_granule_end(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address, unsigned bytes,
                    bool write)
{
    pt_granule_unlock(word, write ? pt_granule_after_write(self, address, seen, bytes)
                                  : pt_granule_after_read(self, address, seen, bytes));
}

uint64_t pt_granule_take_changed(struct pt_shadow_self *self, pt_shadow_word *word, unsigned bytes, bool write)
{
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED;
    self->disturbed = false;
    /* watched since: the access has happened, its event has not */
    if (is_fine(seen) && fine_of(seen)->watch)
        pt_runtime_lost();
    if (write)
        pt_granule_before_write(self, seen, bytes);
    else
        pt_granule_before_read(self, seen, bytes);
    return seen;
}

void pt_granule_end_changed(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address, unsigned bytes,
                            bool write)
{
    pt_granule_end(self, word, pt_granule_take_changed(self, word, bytes, write), address, bytes, write);
}

void pt_granule_note_between(struct pt_shadow_self *self, uint64_t word)
{
    uint64_t clocks = word & PT_SHADOW_CLOCKS;
    unsigned slot = pt_between_slot(clocks);
    if (self->between[slot].clocks != clocks) {
        pt_clock_acquire(pt_shadow_access(clocks), 1);
        pt_clock_acquire(pt_shadow_write(clocks), 1);
        release_word(self, self->between[slot].clocks);
        self->between[slot].clocks = clocks;
    }
    self->between[slot].change = self->clock.changes;
}

void pt_granule_drop_between(struct pt_shadow_self *self)
{
    for (unsigned slot = 0; slot < 1 << PT_BETWEEN_BITS; slot++) {
        release_word(self, self->between[slot].clocks);
        self->between[slot].clocks = 0;
    }
}

struct pt_fine *pt_granule_make_fine(struct pt_shadow_self *self, uintptr_t address, uint64_t *word)
{
    pt_granule_collect(self, *word);
    if (is_fine(*word))
        return fine_of(*word);
    struct spread state;
    spread_word(*word, &state);
    uint32_t id = pt_fine_new(self);
    if (!id)
        return NULL;
    acquire_each(self, state.access);
    acquire_each(self, state.write);
    memcpy(pt_fines[id].access, state.access, sizeof state.access);
    memcpy(pt_fines[id].write, state.write, sizeof state.write);
    release_word(self, *word);
    *word = id | PT_SHADOW_FINE;
    pt_shadow_note_use(address);
    return &pt_fines[id];
}

uint64_t pt_granule_forget(struct pt_shadow_self *self, uintptr_t address, uint64_t word, unsigned bytes)
{
    if (!is_fine(word) && !(pt_shadow_bytes(word) & ~bytes)) {
        release_word(self, word);
        return 0;
    }
    pt_granule_collect(self, word);
    if (is_fine(word) && fine_of(word)->watch)
        pt_watch_end(self, address, fine_of(word), bytes);
    struct spread state;
    spread_word(word, &state);
    for (unsigned i = 0; i < 8; i++)
        if (bytes >> i & 1)
            state.access[i] = state.write[i] = 0;
    return replace(self, address, word, &state);
}
