/*
 * Granules for which two slots do not do: several threads have read them since the last write, or their bytes were
 * accessed by one at a time. Such a granule has a list of slots; what is made of one follows make.c's rule.
 *
 * Guarantee: make.c's. Cost: the granule's lock, and a look at each slot; a list of three has half a cache line.
 */
#include "runtime/race/log.h"

#include <string.h>

#define WRITES PT_RACE_WROTE

struct pt_race_many *pt_race_many_of(uint64_t word)
{
    return pt_race_many_at((uint32_t)word & ~PT_RACE_MANY);
}

/* The stamp changes whenever a list does under its lock, and begins with another number for each list: who reads a list
 * without the lock finds out whether it has changed meanwhile. */
#define STAMPS (((UINT64_C(1) << 30) - 1) << 32)

static uint64_t word_of(uint32_t at, uint64_t stamp)
{
    return PT_RACE_OWN | PT_RACE_MANY | at | (stamp & STAMPS);
}
static uint64_t next_stamp(uint64_t word)
{
    return (word & STAMPS) + (UINT64_C(1) << 32);
}

static void release(struct pt_race_self *self, uint64_t word)
{
    pt_race_many_free(self, (uint32_t)word & ~PT_RACE_MANY);
}

void pt_race_many_end(struct pt_race_self *self, uint64_t word)
{
    release(self, word);
}

void pt_race_many_begin(struct pt_race_self *self, struct pt_race_pair *pair)
{
    uint64_t w = pt_race_lock_word(&pair->w), r = pt_race_get(&pair->r);
    uint32_t at = w & PT_RACE_OWN ? 0 : pt_race_many_new(self, 0);
    if (at) {
        struct pt_race_many *many = pt_race_many_at(at);
        many->count = 0;
        if (w)
            many->slots[many->count++] = w | WRITES;
        if (r)
            many->slots[many->count++] = r;
        pt_race_put(&pair->r, 0);
        w = word_of(at, (uint64_t)self->hb.id << 48 | (uint64_t)self->log.lists++ << 32);
    }
    pt_race_unlock_word(&pair->w, w);
}

/* What an access finds in a list. */
struct look {
    struct pt_race_many *many;
    int mine;       /* the thread's slot of that kind, of its region; -1: none */
    unsigned count; /* slots that it replaces */
    uint64_t replaced[PT_RACE_MANY_MOST];
};

/* False: it races, and nothing has happened. What it replaces is taken out of the list. */
static bool look_through(const struct pt_race_self *self, struct look *look, unsigned bytes, bool writes)
{
    struct pt_race_many *many = look->many;
    uint32_t gone = 0;
    unsigned all = bytes;
    look->mine = -1;
    for (unsigned i = 0; i < many->count; i++)
        if (!((many->slots[i] ^ (writes ? WRITES : 0)) & WRITES) && pt_race_is_mine(self, many->slots[i] & ~WRITES)) {
            look->mine = (int)i;
            all |= (uint8_t)many->slots[i]; /* what the thread knows now it has known in all its region */
        }
    for (unsigned i = 0; i < many->count; i++) {
        uint64_t slot = many->slots[i] & ~WRITES;
        bool wrote = many->slots[i] & WRITES;
        if (pt_race_is_mine(self, slot))
            continue;
        if (!(wrote ? pt_race_knows_write(self, slot) : pt_race_knows(self, slot))) {
            if (slot & bytes && (wrote || writes))
                return false;
        } else if (!((uint8_t)slot & ~all) && (writes || !wrote)) {
            gone |= UINT32_C(1) << i;
        }
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < many->count; i++) {
        if (gone >> i & 1) {
            look->replaced[look->count++] = many->slots[i];
        } else {
            look->mine = look->mine == (int)i ? (int)kept : look->mine;
            many->slots[kept++] = many->slots[i];
        }
    }
    many->count = (uint16_t)kept;
    return true;
}

/* Slots that do not fit into a record become one that does. */
static uint64_t put_links(struct pt_race_self *self, const uint64_t *slots, unsigned count)
{
    uint64_t last = slots[0];
    for (unsigned i = 1; i < count; i += 2) {
        if (self->hb.clock >= self->log.stop)
            pt_race_log_prepare(self);
        uint64_t number = self->hb.clock++;
        struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
        pt_race_put(&record->same, last);
        pt_race_put(&record->other, slots[i]);
        pt_race_put(&record->more, i + 1 < count ? slots[i + 1] : 0);
        pt_race_put(&record->about, (uint64_t)PT_RACE_RECORD_LINKS << PT_RACE_TYPE_AT);
        last = pt_race_slot_of(self, number, 0);
    }
    return last;
}

/* A longer list with the same slots; false: there is none. */
static bool grow(struct pt_race_self *self, uint64_t *word)
{
    const struct pt_race_many *many = pt_race_many_of(*word);
    if (many->count < pt_race_many_room(many->size))
        return true;
    uint32_t at = many->size + 1 < PT_RACE_MANY_SIZES ? pt_race_many_new(self, many->size + 1u) : 0;
    if (!at)
        return false;
    struct pt_race_many *longer = pt_race_many_at(at);
    memcpy(longer->slots, many->slots, many->count * sizeof *many->slots);
    longer->count = many->count;
    release(self, *word);
    *word = word_of(at, *word);
    return true;
}

/* A list that two slots can do for, one of each kind, becomes these. */
static uint64_t shrink(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t word)
{
    const struct pt_race_many *many = pt_race_many_of(word);
    uint64_t one = many->slots[0], two = many->count > 1 ? many->slots[1] : 0;
    if (many->count > 2 || (two && !((one ^ two) & WRITES)))
        return word;
    uint64_t w = one & WRITES ? one : two & WRITES ? two : 0, r = one & WRITES ? two : one;
    pt_race_put(&pair->r, r);
    release(self, word);
    return w & ~WRITES;
}

static uint64_t log_it(struct pt_race_self *self, struct look *look, uintptr_t granule, unsigned bytes, unsigned kind,
                       uint32_t place)
{
    struct pt_race_many *many = look->many;
    bool writes = kind & PT_CELL_WRITES;
    uint64_t head = look->mine >= 0 ? many->slots[look->mine] & ~WRITES : 0;
    uint64_t others = look->count ? put_links(self, look->replaced, look->count) : 0;
    uint64_t number = pt_race_log_access(self, granule, bytes, kind, place, head, others);
    unsigned at = look->mine >= 0 ? (unsigned)look->mine : many->count++;
    many->slots[at] = pt_race_slot_of(self, number, bytes | (uint8_t)head) | (writes ? WRITES : 0);
    return number;
}

/* Under the granule's lock, whose word may become another. False: it races, or there is no room. */
static bool change(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t *word, uintptr_t granule,
                   unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct look look;
    uint32_t place = pt_race_place_of(site);
    bool writes = kind & PT_CELL_WRITES;
    look.count = 0;
    if (!grow(self, word))
        return false;
    look.many = pt_race_many_of(*word);
    if (!look_through(self, &look, bytes, writes))
        return false;
    uint64_t head = look.mine >= 0 ? look.many->slots[look.mine] & ~WRITES : 0, number = 0;
    if (head && !(kind >> PT_RACE_OP_AT) && !look.count && !(writes && self->several) &&
        (number = pt_race_is_logged(self, head, bytes, place)) != 0 &&
        (!writes || pt_race_rewrite(self, head, bytes, site)))
        look.many->slots[look.mine] |= bytes;
    else
        number = log_it(self, &look, granule, bytes, kind, place);
    if (!(kind >> PT_RACE_OP_AT))
        pt_race_filter_add(self, granule, bytes, kind, site, number);
    *word = shrink(self, pair, *word);
    return true;
}

static uint64_t slot_at(const struct pt_race_many *many, unsigned i)
{
    return __atomic_load_n(&many->slots[i], __ATOMIC_RELAXED);
}

/* Which slot of the list is the thread's own read of these bytes, of an earlier region; -1: none, or a write is there
 * that the thread does not know. */
static int find_older(const struct pt_race_self *self, const struct pt_race_many *many, unsigned bytes)
{
    unsigned count = __atomic_load_n(&many->count, __ATOMIC_RELAXED);
    int found = -1;
    for (unsigned i = 0; i < count && i < PT_RACE_MANY_MOST; i++) {
        uint64_t slot = slot_at(many, i);
        if (slot & WRITES && slot & bytes && !pt_race_knows_write(self, slot & ~WRITES))
            return -1;
        if (!(slot & WRITES) && pt_race_thread_of(slot) == self->hb.id && (uint8_t)slot == bytes &&
            !pt_race_is_mine(self, slot))
            found = (int)i;
    }
    return found;
}

/* What many threads read again and again: each changes its own slot, without the lock. False: that was not possible, or
 * somebody had the lock meanwhile; then it is to be done with the lock, whatever is there by now. Whoever takes the
 * lock after the last look finds the new slot; a slot of the thread's own with that number is nowhere but in this list.
 */
static bool renew(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                  const struct pt_site *site)
{
    uint64_t word = atomic_load_explicit(&pair->w, memory_order_acquire);
    if (word >> 62 != 1 || !((uint32_t)word & PT_RACE_MANY))
        return false;
    struct pt_race_many *many = pt_race_many_of(word);
    int at = find_older(self, many, bytes);
    uint64_t old = at < 0 ? 0 : slot_at(many, (unsigned)at);
    atomic_thread_fence(memory_order_acquire);
    if (at < 0 || pt_race_get(&pair->w) != word || pt_race_thread_of(old) != self->hb.id || (uint8_t)old != bytes)
        return false;
    uint64_t number = pt_race_log_access(self, granule, bytes, PT_CELL_READS, pt_race_place_of(site), old, 0);
    if (!__atomic_compare_exchange_n(&many->slots[at], &old, pt_race_slot_of(self, number, bytes), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) ||
        atomic_load(&pair->w) != word)
        return false;
    pt_race_filter_put(self, granule, bytes, PT_CELL_READS, site, number);
    return true;
}

bool pt_race_many_make(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *site)
{
    bool plain = !(kind >> PT_RACE_OP_AT);
    if (plain && kind == PT_CELL_READS && pt_race_is_filtered(self, granule, bytes, kind, site))
        return true;
    if (kind == PT_CELL_READS && renew(self, pair, granule, bytes, site))
        return true;
    uint64_t word = pt_race_lock_word(&pair->w);
    if (!(word & PT_RACE_OWN && (uint32_t)word & PT_RACE_MANY)) {
        pt_race_unlock_word(&pair->w, word);
        return pt_race_make(self, pair, granule, bytes, kind, site);
    }
    bool made = change(self, pair, &word, granule, bytes, kind, site);
    if (word & PT_RACE_OWN)
        word = word_of((uint32_t)word & ~PT_RACE_MANY, next_stamp(word));
    pt_race_unlock_word(&pair->w, word);
    return made;
}
