/*
 * Reads that a thread makes of many granules, one after the other, at one place: loops over data that several threads
 * read. What a read makes of the slot of reads of a granule depends on that slot, the place, the bytes and what the
 * thread knows, and not on the granule. So for granules whose slots of reads are equal it is found out once in a region
 * (struct pt_race_loop), and costs the others a compare-and-swap: they share one record of the log, and where several
 * threads have read them, one chain of slots.
 *
 * A chain is made of links, each with a slot and what was there before; nothing of it ever changes. Only the thread
 * whose slot a link has brings granules to it, and counts them; until it stops doing so it holds the link itself
 * (HOLD). So a link is free when its count is 0.
 *
 * Where several threads read few granules again and again, rows are better (common.c): a chain is made only when some
 * granules have got rows by the same read, or many are read at once.
 *
 * Guarantee: make.c's. A read of a loop has the clock of the first one; the README says what that means. Cost: for a
 * granule as make.c, without a record; a chain of n slots has n - 1 links of 32 bytes, for any number of granules.
 */
#include "runtime/race/log.h"

enum { MOST = PT_RACE_CHAIN_MOST };
#define HOLD (UINT32_C(1) << 31)
#define ROW  ((UINT64_C(1) << PT_RACE_ROW_BITS) - 1)

static struct pt_race_row *link_of(uint64_t r)
{
    return &pt_race_rows[r & ROW];
}

/* ---- chains ---- */

unsigned pt_race_chain_slots(uint64_t r, uint64_t *out)
{
    unsigned count = 0;
    while (pt_race_is_chain(r) && count < MOST - 1) {
        out[count++] = pt_race_get(&link_of(r)->slot);
        r = pt_race_get(&link_of(r)->first);
    }
    out[count] = r;
    return count + 1;
}

void pt_race_chain_drop(struct pt_race_self *self, uint64_t r, uint32_t count)
{
    while (count && pt_race_is_chain(r) && atomic_fetch_sub(&link_of(r)->count, count) == count) {
        uint64_t first = pt_race_get(&link_of(r)->first);
        pt_race_row_free(self, (uint32_t)(r & ROW));
        r = first;
        count = 1;
    }
}

/* A link with so many that name it, which names `first`; 0: there is no room. */
static uint64_t link_to(struct pt_race_self *self, uint64_t first, uint64_t slot, uint32_t count)
{
    uint32_t at = pt_race_row_new(self, PT_RACE_LINKS);
    if (!at)
        return 0;
    struct pt_race_row *link = &pt_race_rows[at];
    pt_race_put(&link->first, first);
    pt_race_put(&link->slot, slot);
    atomic_store(&link->count, count);
    return pt_race_row_word(link, PT_RACE_CHAIN);
}

/* ---- what a read makes of the slots ---- */

struct change {
    uint64_t mine; /* the thread's slot of its region; 0: none */
    uint64_t kept[MOST], replaced[MOST];
    unsigned kept_count, replaced_count;
    bool is_last; /* `mine` was the last that came, and the others are as they were before that */
};

static void split(const struct pt_race_self *self, uint64_t r, unsigned bytes, struct change *change)
{
    unsigned count = r ? pt_race_chain_slots(r, change->kept) : 0;
    change->mine = 0;
    change->kept_count = change->replaced_count = 0;
    for (unsigned i = 0; i < count; i++)
        if (pt_race_is_mine(self, change->kept[i]))
            change->mine = change->kept[i];
    change->is_last = change->mine && pt_race_is_chain(r) && change->kept[0] == change->mine;
    bytes |= (uint8_t)change->mine; /* what the thread knows now it has known in all its region */
    for (unsigned i = 0; i < count; i++) {
        uint64_t slot = change->kept[i];
        if (slot == change->mine)
            continue;
        if (pt_race_knows(self, slot) && !((uint8_t)slot & ~bytes))
            change->replaced[change->replaced_count++] = slot;
        else
            change->kept[change->kept_count++] = slot;
    }
}

/* Puts a record like that one, of a loop, of these bytes, too; its number. */
static uint64_t copy(struct pt_race_self *self, uint64_t number, unsigned bytes, uint64_t same)
{
    struct pt_race_record *ring = self->log.ring;
    uint64_t about = pt_race_get(&pt_race_record_at(ring, number)->about);
    uint64_t more = pt_race_get(&pt_race_record_at(ring, number)->more);
    uint64_t other = pt_race_get(&pt_race_record_at(ring, number)->other);
    uint64_t first = about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_LOOP ? number - (more & PT_RACE_LATER) : number;
    uint64_t made = pt_race_log_alone(self, (uintptr_t)(more >> PT_RACE_MORE_AT) << 3, 0, PT_CELL_READS,
                                       pt_race_place_in(about), same, other);
    struct pt_race_record *record = pt_race_record_at(ring, made);
    about = (about & ~(UINT64_MAX << PT_RACE_TYPE_AT | (uint64_t)PT_RACE_RUN << PT_RACE_RUN_AT)) |
            (uint64_t)bytes << PT_RACE_BYTES_AT | (uint64_t)PT_RACE_RECORD_LOOP << PT_RACE_TYPE_AT;
    pt_race_put(&record->about, about);
    pt_race_share(ring, made);
    uint64_t earlier = made - first < PT_RACE_LATER ? made - first : PT_RACE_LATER;
    pt_race_put(&record->more, (more >> PT_RACE_MORE_AT << PT_RACE_MORE_AT) | earlier);
    return made;
}

/* The log has the access at the place, in a record that others share, without these bytes: that one and those after it
 * are made anew. The slot in the place of `mine`; 0: it has not. */
static uint64_t copy_wider(struct pt_race_self *self, uint64_t mine, unsigned bytes, uint32_t place)
{
    uint64_t slots[PT_RACE_STEPS + 1] = {mine}, about = 0;
    unsigned count = 0;
    do {
        if (!pt_race_is_mine(self, slots[count]) || !pt_race_is_there(self, pt_race_number_of(slots[count])))
            return 0;
        const struct pt_race_record *record = pt_race_record_at(self->log.ring, pt_race_number_of(slots[count]));
        about = pt_race_get(&record->about);
        slots[++count] = pt_race_get(&record->same);
    } while (pt_race_place_in(about) != place && count < PT_RACE_STEPS);
    if (pt_race_place_in(about) != place || about >> PT_RACE_TYPE_AT != PT_RACE_RECORD_LOOP)
        return 0;
    uint64_t same = slots[count];
    unsigned added = bytes;
    while (count-- > 0) {
        uint64_t number = copy(self, pt_race_number_of(slots[count]), added, same);
        same = pt_race_slot_of(self, number, (uint8_t)slots[count] | bytes);
        added = 0;
    }
    return same;
}

/* Logs the read for all granules of the loop; the thread's slot, and *ret_number, of the record that has it. */
static uint64_t log_it(struct pt_race_self *self, const struct change *change, uintptr_t granule, unsigned bytes,
                       uint32_t place, uint64_t *ret_number)
{
    uint64_t mine = change->mine, wider;
    if (mine && !change->replaced_count && (*ret_number = pt_race_is_logged(self, mine, bytes, place)) != 0)
        return mine | bytes;
    if (mine && !change->replaced_count && (wider = copy_wider(self, mine, bytes, place)) != 0) {
        *ret_number = pt_race_number_of(wider);
        return wider;
    }
    uint64_t others = change->replaced_count ? pt_race_put_links(self, change->replaced, change->replaced_count) : 0;
    uint64_t number = pt_race_log_alone(self, granule, bytes, PT_CELL_READS, place, mine, others);
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    pt_race_put(&record->about, (pt_race_get(&record->about) & ~(UINT64_MAX << PT_RACE_TYPE_AT)) |
                                    (uint64_t)PT_RACE_RECORD_LOOP << PT_RACE_TYPE_AT);
    pt_race_share(self->log.ring, number);
    *ret_number = number;
    return pt_race_slot_of(self, number, bytes | (uint8_t)mine);
}

/* What r becomes when the thread's slot is this; so many will name it. 0: there is no room. */
static uint64_t build(struct pt_race_self *self, uint64_t r, const struct change *change, uint64_t mine, uint32_t count)
{
    if (change->mine == mine && !change->replaced_count)
        return r;
    if (!change->kept_count)
        return mine;
    uint64_t first = change->is_last ? pt_race_get(&link_of(r)->first) : r, made;
    if (change->replaced_count || (change->mine && !change->is_last)) {
        first = change->kept[change->kept_count - 1];
        for (unsigned i = change->kept_count - 1; i-- > 0; first = made)
            if ((made = link_to(self, first, change->kept[i], 1)) == 0) {
                pt_race_chain_drop(self, first, 1);
                return 0;
            }
    } else if (pt_race_is_chain(first)) {
        atomic_fetch_add(&link_of(first)->count, 1);
    }
    made = link_to(self, first, mine, count);
    if (!made)
        pt_race_chain_drop(self, first, 1);
    return made;
}

/* What a read makes of `from`, which so many will name; it is logged, *ret_number, and remembered. 0: there is no room.
 * The granule is locked. */
static uint64_t change_it(struct pt_race_self *self, uint64_t from, uintptr_t granule, unsigned bytes,
                          const struct pt_site *site, uint32_t count, uint64_t *ret_number)
{
    struct change change;
    split(self, from, bytes, &change);
    if (change.kept_count == MOST)
        return 0;
    uint64_t mine = log_it(self, &change, granule, bytes, pt_race_place_of(site), ret_number);
    uint64_t to = build(self, from, &change, mine, count);
    if (to)
        pt_race_filter_put(self, granule, bytes, PT_CELL_READS, site, *ret_number);
    return to;
}

/* How many granules with that slot of reads get rows before others get a chain: none, if the thread's slot alone will
 * do. */
static unsigned rows_before(const struct pt_race_self *self, uint64_t r, unsigned bytes)
{
    if (!r || !pt_race_columns_are_left()) /* who has none could not read them */
        return 0;
    if (pt_race_is_chain(r))
        return PT_RACE_LOOP_FEWER;
    bool alone = pt_race_is_mine(self, r) || (!((uint8_t)r & ~bytes) && pt_race_knows(self, r));
    return alone ? 0 : PT_RACE_LOOP_ROWS;
}

enum pt_race_made pt_race_loop_make(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                    uintptr_t granule, unsigned bytes, const struct pt_site *site,
                                    struct pt_race_loop *loop)
{
    if (loop->to) { /* its record is gone, or is of other calls */
        pt_race_loop_leave(self, loop);
    } else if (loop->seen < rows_before(self, r, bytes)) {
        loop->seen++;
        return PT_RACE_AGAIN;
    }
    uint64_t word = pt_race_lock_word(&pair->w);
    enum pt_race_made made = PT_RACE_CHANGED;
    if (word == w && pt_race_get(&pair->r) == r) {
        loop->to = change_it(self, r, granule, bytes, site, HOLD, &loop->number);
        loop->used = loop->to && loop->to != r;
        loop->calls = pt_race_calls();
        made = loop->to ? PT_RACE_MADE : PT_RACE_AGAIN;
        if (loop->to)
            pt_race_put(&pair->r, loop->to);
    }
    pt_race_unlock_word(&pair->w, word);
    return made;
}

enum pt_race_made pt_race_chain_read(struct pt_race_self *self, struct pt_race_pair *pair, uint64_t w, uint64_t r,
                                     uintptr_t granule, unsigned bytes, const struct pt_site *site)
{
    uint64_t word = pt_race_lock_word(&pair->w), number;
    enum pt_race_made made = PT_RACE_CHANGED;
    if (word == w && pt_race_get(&pair->r) == r) {
        _Atomic uint64_t *chain = pt_race_is_row(r) ? &link_of(r)->first : &pair->r;
        uint64_t from = pt_race_get(chain), to = change_it(self, from, granule, bytes, site, 1, &number);
        made = to ? PT_RACE_MADE : PT_RACE_TWO;
        if (to && to != from) {
            pt_race_put(chain, to);
            pt_race_chain_drop(self, from, 1);
        }
    }
    pt_race_unlock_word(&pair->w, word);
    return made;
}

void pt_race_loop_leave(struct pt_race_self *self, struct pt_race_loop *loop)
{
    if (loop->to && loop->to != loop->from) {
        if (pt_race_is_chain(loop->to)) {
            atomic_fetch_add(&link_of(loop->to)->count, loop->used);
            pt_race_chain_drop(self, loop->to, HOLD);
        }
        pt_race_chain_drop(self, loop->from, loop->used);
    }
    loop->to = 0;
    loop->used = 0;
}

void pt_race_loop_end(struct pt_race_self *self)
{
    for (unsigned i = 0; i < 1u << PT_RACE_LOOP_BITS; i++) {
        pt_race_loop_leave(self, &self->log.loops[i]);
        self->log.loops[i] = (struct pt_race_loop){0};
    }
}
