/*
 * A cell of a granule that had none, made of what the logs have of it, when an access comes that races or is atomic.
 *
 * Guarantee: the accesses that are found, from the granule's slots back, are put into the cell as race/cell.c would
 * have done when they were made, in an order that happens-before allows; none of them races with another. Of accesses
 * that agree in thread, place, kind and bytes the last one stays, which is all that race/cell.c wants. Not found is
 * what is gone of a log, and what is further back than STEPS accesses, or when KEPT were found that differ: then some
 * places of a race are not told. What the slots themselves say is never gone, so that there is a race is told in any
 * case, and with its latest places (last.c).
 *
 * Cost: some hundred instructions for each access, once for a granule.
 */
#include "runtime/race/log.h"

#include <string.h>

enum {
    KEPT = PT_RACE_MANY_MOST + 512, /* accesses that differ */
    ALL = PT_RACE_MANY_MOST + 4096, /* that are looked at */
};

struct found {
    struct pt_race_logged kept[KEPT];
    unsigned count;
    uint64_t slots[ALL];
    unsigned all;
};

static bool is_among(const struct found *found, const struct pt_race_logged *logged)
{
    for (unsigned i = 0; i < found->count; i++) {
        const struct pt_race_logged *kept = &found->kept[i];
        if (kept->then.id == logged->then.id && kept->access.place == logged->access.place &&
            kept->access.kind == logged->access.kind && kept->access.op == logged->access.op &&
            kept->access.bytes == logged->access.bytes && kept->then.clock >= logged->then.clock)
            return true;
    }
    return false;
}

static void keep(const struct pt_race_self *self, struct found *found, const struct pt_race_logged *logged)
{
    if (found->count == KEPT || is_among(found, logged))
        pt_vec_drop(&self->memory, logged->then.past);
    else
        found->kept[found->count++] = *logged;
}

static bool is_merged(uint64_t slot)
{
    return slot & PT_RACE_MERGED;
}

/* Bytes of a slot of several places which others of its region do not explain: where they were accessed is lost. */
static void take_merged(const struct pt_race_self *self, struct found *found, uint64_t slot)
{
    const uint64_t same = ~(PT_RACE_WROTE - 1) & ~((UINT64_C(1) << PT_RACE_THREAD_AT) - 1 - UINT8_MAX - PT_RACE_WROTE);
    struct pt_race_logged logged;
    pt_race_log_read(self, slot, &logged);
    for (unsigned i = 0; i < found->all && !logged.is_gone; i++) {
        uint64_t other = found->slots[i];
        if (!is_merged(other) && !((other ^ slot) & same) && pt_race_number_of(other) >= logged.region &&
            pt_race_number_of(other) <= pt_race_number_of(slot))
            logged.access.bytes &= (uint8_t)~other;
    }
    pt_race_log_lose(&logged);
    if (logged.access.bytes)
        keep(self, found, &logged);
    else
        pt_vec_drop(&self->memory, logged.then.past);
}

/* The granule's slots, and if there are so many that some may have been replaced, those. */
static void collect(const struct pt_race_self *self, struct found *found, unsigned count, uintptr_t granule)
{
    found->all = count;
    if (count >= PT_RACE_SLOTS)
        found->all += pt_race_log_replaced(granule, found->slots + count, ALL - count);
    for (unsigned i = 0; i < found->all; i++) {
        struct pt_race_logged logged;
        if (is_merged(found->slots[i])) {
            take_merged(self, found, found->slots[i]);
            continue;
        }
        pt_race_log_read(self, found->slots[i], &logged);
        keep(self, found, &logged);
    }
}

static bool knows(const struct pt_race_logged *b, const struct pt_race_logged *a)
{
    return a->then.clock <= pt_vec_at(b->then.past, a->then.id);
}

/* Where both seem to know the other, one that is gone has learned it later. */
static bool is_before(const struct pt_race_logged *a, const struct pt_race_logged *b)
{
    if (a->then.id == b->then.id && a->then.clock == b->then.clock) /* of one place: x++ reads first */
        return a->access.kind < b->access.kind;
    if (a->then.id == b->then.id)
        return a->then.clock < b->then.clock;
    return knows(b, a) && !(b->is_gone && knows(a, b));
}

/* One that comes after no other that is left. */
static unsigned pick(const struct found *found)
{
    unsigned picked = 0;
    for (unsigned i = 1; i < found->count; i++)
        if (is_before(&found->kept[i], &found->kept[picked]))
            picked = i;
    return picked;
}

/* Of a write that was made again, and of one of different bytes, none is later than the last time. */
static void make_late(struct pt_cell *cell, const struct pt_race_logged *logged)
{
    pt_epoch last = pt_epoch_make(logged->then.id, logged->last);
    if (!(logged->access.kind & PT_CELL_WRITES))
        return;
    for (unsigned i = 0; i < cell->written_count; i++)
        if (pt_epoch_thread(cell->written[i].stamp.at) == logged->then.id &&
            cell->written[i].bytes & logged->access.bytes && cell->written[i].stamp.at < last)
            cell->written[i].stamp.at = last;
    if (pt_epoch_thread(cell->over) == logged->then.id && cell->over < last)
        cell->over = last;
}

static void ignore(void *context, const struct pt_cell_seen *earlier)
{
    (void)context;
    (void)earlier;
}

static void replay(const struct pt_race_self *self, struct pt_cell *cell, struct found *found)
{
    struct pt_cell_env env = self->env;
    env.race = ignore;
    while (found->count) {
        unsigned at = pick(found);
        struct pt_race_logged *logged = &found->kept[at];
        env.merge_from = 0;
        /* what a write that is gone seems to know may have been made after it, and is not to hide behind it */
        env.any_thread = self->env.any_thread && !logged->is_gone;
        bool covers = pt_cell_check(&env, cell, &logged->then, &logged->access) && !logged->is_gone;
        pt_cell_record(&env, cell, &logged->then, &logged->access, covers);
        make_late(cell, logged);
        pt_vec_drop(&self->memory, logged->then.past);
        *logged = found->kept[--found->count];
    }
}

/* The slots of a granule, which has none any more; how many there are. */
static unsigned take_slots(struct pt_race_self *self, struct pt_race_granule *granule, uint64_t first, uint64_t *out)
{
    unsigned count = 0;
    if (first & PT_RACE_OWN) {
        const struct pt_race_many *many = pt_race_many_of(first);
        memcpy(out, many->slots, (count = many->count) * sizeof *out);
        pt_race_many_end(self, first);
        return count;
    }
    for (unsigned i = 0; i < PT_RACE_SLOTS; i++) {
        uint64_t slot = i ? pt_race_get(pt_race_slot_at(granule, i)) : first;
        if (!slot)
            break;
        out[count++] = slot;
        if (i)
            pt_race_put(pt_race_slot_at(granule, i), 0);
    }
    return count;
}

uint32_t pt_race_open(struct pt_race_self *self, struct pt_race_granule *granule, uintptr_t address, uint64_t first)
{
    if (first & PT_RACE_OWN && !((uint32_t)first & PT_RACE_MANY))
        return (uint32_t)first;
    uint32_t own = pt_race_cell_new(self);
    pt_race_cells[own].stamp++;
    pt_race_is_written(address);
    if (!self->opening)
        self->opening = self->memory.take(self->memory.context, sizeof(struct found));
    struct found *found = self->opening;
    found->count = 0;
    unsigned count = take_slots(self, granule, first, found->slots);
    if (!count)
        return own;
    collect(self, found, count, address);
    replay(self, &pt_race_cells[own].cell, found);
    return own;
}

void pt_race_open_end(struct pt_race_self *self)
{
    if (self->opening)
        self->memory.give(self->memory.context, self->opening, sizeof(struct found));
    self->opening = NULL;
}
