/*
 * Granules for which two slots do not do, nor a slot and a row (common.c): mostly, their bytes were written by one at a
 * time. Such a granule has a list of slots; what is made of one follows make.c's rule.
 *
 * Guarantee: make.c's. Whether the thread has made an access before is looked for without the lock: the granule's word
 * is another one each time its list is, or is another granule's (pt_race_many_word). Cost: the granule's lock, and a
 * look at each slot; a list of three has half a cache line.
 */
#include "runtime/race/busy.h"

#define WRITES PT_RACE_WROTE

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

static void fill(struct pt_race_many *many, const uint64_t *slots, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pt_race_put(&many->slots[i], slots[i]);
    atomic_store_explicit(&many->count, (uint8_t)count, memory_order_relaxed);
}
static unsigned count_of(const struct pt_race_many *many)
{
    return atomic_load_explicit(&many->count, memory_order_relaxed);
}

/* A list with these slots, and its number; 0: there is none. */
static uint32_t make_list(struct pt_race_self *self, const uint64_t *slots, unsigned count)
{
    unsigned size = 0;
    while (size < PT_RACE_MANY_SIZES && pt_race_many_room(size) < count)
        size++;
    uint32_t at = size < PT_RACE_MANY_SIZES ? pt_race_many_new(self, size) : 0;
    if (at)
        fill(pt_race_many_at(at), slots, count);
    return at;
}

void pt_race_many_begin(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule)
{
    uint64_t w = pt_race_lock_word(&pair->w), r = pt_race_get(&pair->r), slots[1 + PT_RACE_COMMON_MOST];
    if (!(w & PT_RACE_OWN)) {
        uint32_t at = make_list(self, slots, slots_of(w, r, slots));
        if (at)
            pt_race_common_end(self, r);
        w = at ? pt_race_many_word(pt_race_many_at(at), at) : pt_race_word_made(pt_race_open(self, granule, w, r));
        pt_race_put(&pair->r, 0);
    }
    pt_race_unlock_word(&pair->w, w);
}

/* What an access finds in a list. */
struct look {
    struct pt_race_many *many;
    int mine;        /* the thread's slot of that kind, of its region; -1: none */
    unsigned bytes;  /* of the access, and of that slot */
    uint32_t behind; /* slots that come before the access, have bytes of it, and that it can replace, a bit for each: */
    uint32_t gone;   /* those that it replaces, ... */
    unsigned count;  /* ... and so many of them */
    uint64_t replaced[PT_RACE_MANY_MOST];
};

/* False: it races. Nothing is changed. Slots that have none of its bytes are none of its business. */
static inline bool look_through(const struct pt_race_self *self, struct look *look, unsigned bytes, bool writes)
{
    const struct pt_race_many *many = look->many;
    uint64_t kind = writes ? WRITES : 0;
    unsigned count = count_of(many), all = bytes;
    uint32_t behind = 0;
    int mine = -1;
    for (unsigned i = 0; i < count; i++) {
        uint64_t slot = pt_race_get(&many->slots[i]), wrote = slot & WRITES;
        if (pt_race_is_mine(self, slot ^ kind)) { /* those of the other kind are nobody's then */
            mine = (int)i;
            all |= (uint8_t)slot;
        } else if (slot & bytes && !pt_race_is_mine(self, slot ^ wrote)) {
            if (wrote ? pt_race_knows_write(self, slot ^ wrote) : pt_race_knows(self, slot))
                behind |= (uint32_t)(writes || !wrote) << i;
            else if (wrote || writes)
                return false;
        }
    }
    look->mine = mine;
    look->bytes = all;
    look->behind = behind;
    return true;
}

/* Slots that come before the access have no more bytes than it has not: whoever races with one of the others races with
 * it. What the thread knows now it has known in all its region: so that holds for all bytes that it has accessed. Those
 * that have none are to be taken out of the list; the others that lose some, a bit for each. */
static inline uint32_t replace(struct look *look)
{
    uint32_t less = 0;
    look->gone = look->count = 0;
    for (uint32_t left = look->behind; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t slot = pt_race_get(&look->many->slots[i]);
        if ((uint8_t)slot & ~look->bytes) {
            less |= UINT32_C(1) << i;
        } else {
            look->gone |= UINT32_C(1) << i;
            look->replaced[look->count++] = slot;
        }
    }
    return less;
}

static void lessen(struct pt_race_many *many, uint32_t which, unsigned bytes)
{
    for (; which; which &= which - 1) {
        _Atomic uint64_t *slot = &many->slots[__builtin_ctz(which)];
        pt_race_put(slot, pt_race_get(slot) & ~(uint64_t)bytes);
    }
}

/* Where the thread's slot is to be: where it is, or in the place of one that is gone, or in a new one. The others that
 * are gone have their places taken by the last ones. */
static inline unsigned make_room(struct pt_race_self *self, struct look *look)
{
    struct pt_race_many *many = look->many;
    unsigned count = count_of(many);
    if (!look->count)
        return look->mine >= 0 ? (unsigned)look->mine : count;
    for (unsigned i = 0; i < look->count; i++)
        pt_race_replaced(self, look->replaced[i] & ~WRITES);
    while (look->gone && (look->mine >= 0 || look->gone & (look->gone - 1))) {
        unsigned i = 31u - (unsigned)__builtin_clz(look->gone);
        look->gone ^= UINT32_C(1) << i;
        if (i == --count)
            continue;
        pt_race_put(&many->slots[i], pt_race_get(&many->slots[count]));
        look->mine = look->mine == (int)count ? (int)i : look->mine;
    }
    atomic_store_explicit(&many->count, (uint8_t)count, memory_order_relaxed);
    return look->mine >= 0 ? (unsigned)look->mine : (unsigned)__builtin_ctz(look->gone);
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

/* A longer list with the same slots, if it is full; false: there is none. */
static bool grow(struct pt_race_self *self, uint64_t *word)
{
    const struct pt_race_many *many = pt_race_many_of(*word);
    unsigned count = count_of(many);
    if (count < pt_race_many_room(many->size))
        return true;
    uint32_t at = many->size + 1 < PT_RACE_MANY_SIZES ? pt_race_many_new(self, many->size + 1u) : 0;
    if (!at)
        return false;
    struct pt_race_many *longer = pt_race_many_at(at);
    for (unsigned i = 0; i < count; i++)
        pt_race_put(&longer->slots[i], pt_race_get(&many->slots[i]));
    atomic_store_explicit(&longer->count, (uint8_t)count, memory_order_relaxed);
    release(self, *word);
    *word = pt_race_many_word(longer, at);
    return true;
}

/* A list that two slots can do for, one of each kind, becomes these. */
static inline uint64_t shrink(struct pt_race_self *self, struct pt_race_pair *pair, const struct pt_race_many *many,
                              uint64_t word)
{
    unsigned count = count_of(many);
    if (count > 2)
        return word;
    uint64_t one = pt_race_get(&many->slots[0]), two = count > 1 ? pt_race_get(&many->slots[1]) : 0;
    if (two && !((one ^ two) & WRITES))
        return word;
    uint64_t w = one & WRITES ? one : two & WRITES ? two : 0, r = one & WRITES ? two : one;
    pt_race_put(&pair->r, r);
    release(self, word);
    return w & ~WRITES;
}

/* The thread's slot of the kind, of its region; 0: none. */
static uint64_t head_of(const struct look *look)
{
    return look->mine >= 0 ? pt_race_get(&look->many->slots[look->mine]) & ~WRITES : 0;
}

static uint64_t log_it(struct pt_race_self *self, struct look *look, uintptr_t granule, unsigned bytes, unsigned kind,
                       uint32_t place)
{
    uint64_t head = head_of(look);
    uint64_t others = look->count && !pt_race_wants_proxy(self, granule, kind, head)
                          ? pt_race_put_links(self, look->replaced, look->count)
                          : 0;
    uint64_t number = pt_race_log_access(self, granule, bytes, kind, place, head, others);
    unsigned at = make_room(self, look);
    if (head)
        pt_race_replaced(self, head);
    pt_race_put(&look->many->slots[at],
                pt_race_slot_of(self, number, bytes | (uint8_t)head) | (kind & PT_CELL_WRITES ? WRITES : 0));
    if (at == count_of(look->many))
        atomic_store_explicit(&look->many->count, (uint8_t)(at + 1), memory_order_relaxed);
    return number;
}

/* The number of the record that has the access already, or stands for it; 0: none. */
static uint64_t find_logged(struct pt_race_self *self, const struct look *look, unsigned bytes, unsigned kind,
                            const struct pt_site *site)
{
    uint64_t head = head_of(look), number;
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

/* Under the granule's lock, whose word becomes another. False: it races, or there is no room. */
static bool change(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t *word, uintptr_t granule,
                   unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct look look;
    bool writes = kind & PT_CELL_WRITES;
    look.many = pt_race_many_of(*word);
    if (!look_through(self, &look, bytes, writes))
        return false;
    uint32_t less = replace(&look), place = pt_race_place_of(site);
    if (look.mine < 0 && !look.gone && !grow(self, word))
        return false;
    look.many = pt_race_many_of(*word);
    /* it is locked before it changes: partner in pt_race_many_has and last.c */
    atomic_thread_fence(memory_order_release);
    lessen(look.many, less, look.bytes);
    uint64_t number = find_logged(self, &look, bytes, kind, site);
    if (number) {
        _Atomic uint64_t *slot = &look.many->slots[make_room(self, &look)];
        pt_race_put(slot, pt_race_get(slot) | bytes);
    } else {
        number = log_it(self, &look, granule, bytes, kind, place);
    }
    look.many->next++;
    if (!(kind >> PT_RACE_OP_AT))
        pt_race_filter_add(self, granule, bytes, kind, site, number);
    *word = shrink(self, pair, look.many, pt_race_many_word(look.many, (uint32_t)*word & ~PT_RACE_MANY));
    return true;
}

bool pt_race_many_has(const struct pt_race_self *self, const struct pt_race_pair *pair, uint64_t word,
                      uintptr_t granule, unsigned bytes, unsigned kind)
{
    const struct pt_race_many *many = pt_race_many_of(word);
    uint64_t wrote = kind & PT_CELL_WRITES ? WRITES : 0;
    bool found = false;
    if (!pt_race_is_many(word) || !pt_race_is_busy(pt_race_leaf_of(granule), granule))
        return false;
    unsigned count = count_of(many);
    for (unsigned i = 0; i < count && !found; i++) {
        uint64_t slot = pt_race_get(&many->slots[i]) ^ wrote; /* those of the other kind are nobody's then */
        found = pt_race_is_mine(self, slot) && !(bytes & ~(unsigned)slot);
    }
    atomic_thread_fence(memory_order_acquire); /* partner of the release in change */
    return found && pt_race_get(&pair->w) == word;
}

bool pt_race_many_is_known(const struct pt_race_self *self, uint64_t word)
{
    const struct pt_race_many *many = pt_race_many_of(word);
    unsigned count = count_of(many);
    for (unsigned i = 0; i < count; i++) {
        uint64_t slot = pt_race_get(&many->slots[i]);
        if (!(slot & WRITES ? pt_race_knows_write(self, slot & ~WRITES) : pt_race_knows(self, slot)))
            return false;
    }
    return true;
}

void pt_race_many_drop(struct pt_race_self *self, uint64_t word)
{
    const struct pt_race_many *many = pt_race_many_of(word);
    for (unsigned i = 0; i < count_of(many); i++)
        pt_race_replaced(self, pt_race_get(&many->slots[i]) & ~WRITES);
    release(self, word);
}

bool pt_race_many_make(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *site)
{
    bool plain = !(kind >> PT_RACE_OP_AT);
    if (plain && kind == PT_CELL_READS && pt_race_is_filtered(self, granule, bytes, kind, site))
        return true;
    /* acquire: partner of the release that unlocked it last */
    if (plain &&
        pt_race_many_has(self, pair, atomic_load_explicit(&pair->w, memory_order_acquire), granule, bytes, kind)) {
        if (kind & PT_CELL_WRITES)
            pt_race_show(self);
        return true;
    }
    uint64_t word = pt_race_lock_word(&pair->w);
    if (!(word & PT_RACE_OWN && (uint32_t)word & PT_RACE_MANY)) {
        pt_race_unlock_word(&pair->w, word);
        return pt_race_make(self, pair, granule, bytes, kind, site);
    }
    bool made = change(self, pair, &word, granule, bytes, kind, site);
    pt_race_unlock_word(&pair->w, word);
    return made;
}
