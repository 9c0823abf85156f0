/* What busy pages need that is not on the shortest way (busy.h). */
#include "runtime/race/busy.h"

_Atomic bool pt_race_is_short;

uint64_t pt_race_put_proxy(struct pt_race_self *self, unsigned kind, uint32_t place)
{
    pt_race_log_room(self);
    uint64_t number = self->hb.clock++, key = pt_race_proxy_key(self, kind, place);
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    bool writes = kind & PT_CELL_WRITES;
    pt_race_put(&record->about, (uint64_t)PT_RACE_RECORD_PROXY << PT_RACE_TYPE_AT |
                                    (uint64_t)writes << PT_RACE_RECORD_OP_AT | (uint64_t)place << PT_RACE_PLACE_AT |
                                    (uint64_t)PT_CELL_WHOLE << PT_RACE_BYTES_AT |
                                    (uint64_t)PT_RACE_COUNT << PT_RACE_COUNT_AT | pt_race_hash_of(place));
    pt_race_put(&record->same, 0);
    pt_race_put(&record->other, 0);
    pt_race_put(&record->more, PT_RACE_ANOTHER);
    pt_race_share(self->log.ring, number);
    *pt_race_proxy_of(self, key) = (struct pt_race_proxy){key, number, pt_race_calls()};
    return number;
}

bool pt_race_busy_widen(struct pt_race_self *self, struct pt_race_pair *pair, unsigned bytes, unsigned kind,
                        const struct pt_site *site)
{
    bool writes = kind & PT_CELL_WRITES;
    uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
    uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire), slot = writes ? w : r;
    if (w & PT_RACE_CELL || !pt_race_is_mine(self, slot) ||
        !pt_race_is_of_proxy(self, slot, kind, pt_race_place_of(site)) ||
        (w & bytes && !pt_race_knows_write(self, w)) ||
        (writes && (r & PT_RACE_OWN || (r & bytes && !pt_race_knows(self, r)))))
        return false;
    if (writes)
        pt_race_show(self);
    return pt_race_swap(pair, w, r, writes ? w | bytes : w, writes ? r : r | bytes);
}

/* A pair of slots, and what becomes of it. */
struct turn {
    uint64_t w, r, new_w, new_r;
};

/* What becomes of a granule with these slots: the same as in make.c, where it is simple. False: it is not. */
static bool turn_to(const struct pt_race_self *self, uint64_t w, uint64_t r, bool writes, uint64_t slot,
                    struct turn *out)
{
    uint64_t old = writes ? w : r;
    *out = (struct turn){w, r, w, r};
    if (w & PT_RACE_CELL)
        return false;
    if (pt_race_is_mine(self, old))
        return (uint8_t)old == PT_CELL_WHOLE;
    if (r & PT_RACE_OWN || !pt_race_knows_write(self, w) || !pt_race_knows(self, r))
        return false;
    out->new_w = writes ? slot : w;
    out->new_r = !writes ? slot : pt_race_is_mine(self, r) ? r : 0;
    return true;
}

uintptr_t pt_race_busy_run(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, uintptr_t end,
                           unsigned kind, const struct pt_site *site)
{
    uint64_t slot = pt_race_slot_of(self, pt_race_find_proxy(self, kind, pt_race_place_of(site)), PT_CELL_WHOLE);
    bool writes = kind & PT_CELL_WRITES;
    struct turn turn = {.w = PT_RACE_LOCKED}; /* of the granule before this one: mostly it is the same */
    for (; granule < end; granule += 8) {
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
        bool is_same = w == turn.w && r == turn.r;
        if (!is_same && !turn_to(self, w, r, writes, slot, &turn))
            break;
        if (w != turn.new_w || r != turn.new_r) {
            if (!pt_race_swap(pair, w, r, turn.new_w, turn.new_r))
                break;
            if (!is_same) /* where it is, granules share the record */
                pt_race_replaced(self, writes ? w : r);
        }
        pt_race_fetch(pair++);
    }
    return granule;
}
