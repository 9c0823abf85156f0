/*
 * Granules for which two slots do not do, nor a slot and a row (common.c): mostly, their bytes were written by one at a
 * time. Such a granule has a list of slots; what is made of one follows make.c's rule.
 *
 * Guarantee: make.c's. Cost: the granule's lock, and a look at each slot; a list of three has half a cache line.
 */
#include "runtime/race/busy.h"

#include <string.h>

#define WRITES PT_RACE_WROTE

struct pt_race_many *pt_race_many_of(uint64_t word)
{
    return pt_race_many_at((uint32_t)word & ~PT_RACE_MANY);
}

static uint64_t word_of(uint32_t at)
{
    return PT_RACE_OWN | PT_RACE_MANY | at;
}

static void release(struct pt_race_self *self, uint64_t word)
{
    pt_race_many_free(self, (uint32_t)word & ~PT_RACE_MANY);
}

void pt_race_many_end(struct pt_race_self *self, uint64_t word)
{
    release(self, word);
}

/* The slots of a granule that has no cell; at most one more than a row has. */
static unsigned slots_of(uint64_t w, uint64_t r, uint64_t *out)
{
    unsigned count = 0;
    if (w)
        out[count++] = w | WRITES;
    if (r & PT_RACE_OWN)
        return count + pt_race_common_slots(r, out + count);
    if (r)
        out[count++] = r;
    return count;
}

/* A list with these slots, and its number; 0: there is none. */
static uint32_t make_list(struct pt_race_self *self, const uint64_t *slots, unsigned count)
{
    unsigned size = 0;
    while (size < PT_RACE_MANY_SIZES && pt_race_many_room(size) < count)
        size++;
    uint32_t at = size < PT_RACE_MANY_SIZES ? pt_race_many_new(self, size) : 0;
    if (at) {
        memcpy(pt_race_many_at(at)->slots, slots, count * sizeof *slots);
        pt_race_many_at(at)->count = (uint16_t)count;
    }
    return at;
}

void pt_race_many_begin(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule)
{
    uint64_t w = pt_race_lock_word(&pair->w), r = pt_race_get(&pair->r), slots[1 + PT_RACE_COMMON_MOST];
    if (!(w & PT_RACE_OWN)) {
        uint32_t at = make_list(self, slots, slots_of(w, r, slots));
        if (at)
            pt_race_common_end(self, r);
        w = at ? word_of(at) : pt_race_word_made(pt_race_open(self, granule, w, r));
        pt_race_put(&pair->r, 0);
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

uint64_t pt_race_put_links(struct pt_race_self *self, const uint64_t *slots, unsigned count)
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
    *word = word_of(at);
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
    uint64_t others = look->count && !pt_race_wants_proxy(self, granule, kind, head)
                          ? pt_race_put_links(self, look->replaced, look->count)
                          : 0;
    uint64_t number = pt_race_log_access(self, granule, bytes, kind, place, head, others);
    unsigned at = look->mine >= 0 ? (unsigned)look->mine : many->count++;
    many->slots[at] = pt_race_slot_of(self, number, bytes | (uint8_t)head) | (writes ? WRITES : 0);
    return number;
}

/* The number of the record that has the access already, or stands for it; 0: none. */
static uint64_t find_logged(struct pt_race_self *self, const struct look *look, unsigned bytes, unsigned kind,
                            const struct pt_site *site)
{
    uint64_t head = look->mine >= 0 ? look->many->slots[look->mine] & ~WRITES : 0, number;
    bool writes = kind & PT_CELL_WRITES;
    if (!head || kind >> PT_RACE_OP_AT)
        return 0;
    if (pt_race_is_of_proxy(self, head, kind, pt_race_place_of(site))) {
        if (writes)
            pt_race_show(self);
        return pt_race_number_of(head);
    }
    if (look->count || (writes && self->several) ||
        (number = pt_race_is_logged(self, head, bytes, pt_race_place_of(site))) == 0 ||
        (writes && !pt_race_rewrite(self, head, bytes, site)))
        return 0;
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
    uint64_t number = find_logged(self, &look, bytes, kind, site);
    if (number)
        look.many->slots[look.mine] |= bytes;
    else
        number = log_it(self, &look, granule, bytes, kind, place);
    if (!(kind >> PT_RACE_OP_AT))
        pt_race_filter_add(self, granule, bytes, kind, site, number);
    *word = shrink(self, pair, *word);
    return true;
}

/* Of a busy page: whether the thread has accessed all these bytes in its region, in that way. */
static bool has_all(struct pt_race_self *self, uint64_t word, uintptr_t granule, unsigned bytes, unsigned kind)
{
    if (!pt_race_is_busy(pt_race_leaf_of(granule), granule))
        return false;
    const struct pt_race_many *many = pt_race_many_of(word);
    bool found = false;
    for (unsigned i = 0; i < many->count && !found; i++)
        found = !((many->slots[i] ^ (kind & PT_CELL_WRITES ? WRITES : 0)) & WRITES) &&
                !(bytes & ~(unsigned)many->slots[i]) && pt_race_is_mine(self, many->slots[i] & ~WRITES);
    if (found && kind & PT_CELL_WRITES)
        pt_race_show(self);
    return found;
}

bool pt_race_many_make(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *site)
{
    bool plain = !(kind >> PT_RACE_OP_AT);
    if (plain && kind == PT_CELL_READS && pt_race_is_filtered(self, granule, bytes, kind, site))
        return true;
    uint64_t word = pt_race_lock_word(&pair->w);
    if (!(word & PT_RACE_OWN && (uint32_t)word & PT_RACE_MANY)) {
        pt_race_unlock_word(&pair->w, word);
        return pt_race_make(self, pair, granule, bytes, kind, site);
    }
    bool made =
        (plain && has_all(self, word, granule, bytes, kind)) || change(self, pair, &word, granule, bytes, kind, site);
    pt_race_unlock_word(&pair->w, word);
    return made;
}
