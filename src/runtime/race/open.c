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
#include "runtime/race/busy.h"

#include <string.h>

enum {
    FIRST = 1 + PT_RACE_COMMON_MOST, /* slots that a granule has at most */
    KEPT = 2 * FIRST + 48,           /* each may be of bytes whose place is lost, too */
    STEPS = 512,
    VISITED = 1024
};

struct found {
    struct pt_race_logged kept[KEPT];
    unsigned count;
    uintptr_t granule;
    uint64_t stack[STEPS]; /* slots that are still to be looked at, with their kinds */
    unsigned depth;
    uint64_t visited[VISITED];
};

static void push(struct found *found, uint64_t slot)
{
    uint64_t key = (slot & ~PT_RACE_WROTE) >> PT_RACE_NUMBER_AT;
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 54);
    if (!slot || found->depth == STEPS)
        return;
    for (unsigned tries = 0; tries < VISITED; tries++, at = (at + 1) % VISITED) {
        if (found->visited[at] == key)
            return;
        if (!found->visited[at]) {
            found->visited[at] = key;
            found->stack[found->depth++] = slot;
            return;
        }
    }
}

/* A slot of reads, or a row of them. */
static void push_reads(struct found *found, uint64_t r)
{
    uint64_t slots[PT_RACE_COMMON_MOST];
    unsigned count = 1;
    if (r & PT_RACE_OWN)
        count = pt_race_common_slots(r, slots);
    else
        slots[0] = r;
    for (unsigned i = 0; i < count; i++)
        push(found, slots[i]);
}

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

/* Takes the latest of the slots, so that of accesses that agree the last one is found first. */
static uint64_t pop(struct found *found)
{
    unsigned latest = 0;
    const uint64_t number = PT_RACE_NUMBER_MAX << PT_RACE_NUMBER_AT;
    for (unsigned i = 1; i < found->depth; i++)
        if ((found->stack[i] & number) > (found->stack[latest] & number))
            latest = i;
    uint64_t slot = found->stack[latest];
    found->stack[latest] = found->stack[--found->depth];
    return slot;
}

/* The access that comes before this one, of its thread, kind and region, whose bytes the slot has, too; 0: none. */
static uint64_t before_in_region(const struct pt_race_logged *logged)
{
    uint64_t slot = logged->before[0];
    bool writes = logged->access.kind & PT_CELL_WRITES;
    bool is_same = slot && pt_race_thread_of(slot) == logged->then.id && !(slot & PT_RACE_WROTE) == !writes;
    return is_same && pt_race_number_of(slot) >= logged->region ? slot : 0;
}

/* What the slot says beside the access of its record is another one's: that is before_in_region. */
static uint64_t take(const struct pt_race_self *self, struct found *found, uint64_t slot)
{
    struct pt_race_logged *logged = &found->kept[found->count];
    pt_race_log_read(self, found->granule, slot, logged);
    for (unsigned i = 0; i < 3; i++)
        push(found, logged->before[i]);
    if (logged->is_links)
        return 0;
    uint64_t before = logged->is_gone ? 0 : before_in_region(logged);
    if (is_among(found, logged)) {
        pt_vec_drop(&self->memory, logged->then.past);
        return before;
    }
    found->count++;
    if (logged->others && found->count < KEPT)
        found->kept[found->count++] = pt_race_log_others(self, logged);
    return before;
}

/* The granule's slots first, with all that each stands for, since they are never gone; and then what came before
 * them. */
static void collect(const struct pt_race_self *self, struct found *found)
{
    uint64_t slots[FIRST];
    unsigned count = found->depth;
    memcpy(slots, found->stack, count * sizeof *slots);
    found->depth = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t slot = take(self, found, slots[i]);
        while (slot && found->count + 2 * (count - i) < KEPT)
            slot = take(self, found, slot);
    }
    for (unsigned steps = 0; found->depth && steps < STEPS && found->count < KEPT; steps++)
        take(self, found, pop(found));
}

static bool knows(const struct pt_race_logged *b, const struct pt_race_logged *a)
{
    return a->then.clock <= pt_vec_at(b->then.past, a->then.id);
}

/* Where both seem to know the other, one that is gone has learned it later. */
static bool is_before(const struct pt_race_logged *a, const struct pt_race_logged *b)
{
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

/* Which bytes a write that was made again had is not known: it may be any that the thread has written in its region. */
static void share_times(struct found *found)
{
    for (unsigned i = 0; i < found->count; i++) {
        const struct pt_race_logged *again = &found->kept[i];
        for (unsigned j = 0; j < found->count && again->last > again->then.clock; j++) {
            struct pt_race_logged *write = &found->kept[j];
            if (write->then.id == again->then.id && write->region == again->region && write->last < again->last)
                write->last = again->last;
        }
    }
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

uint32_t pt_race_open(struct pt_race_self *self, uintptr_t granule, uint64_t w, uint64_t r)
{
    if (w & PT_RACE_OWN && !((uint32_t)w & PT_RACE_MANY))
        return (uint32_t)w;
    pt_race_calm(granule);
    uint32_t own = pt_race_cell_new(self);
    pt_race_cells[own].stamp++;
    if (!w && !r)
        return own;
    if (!self->opening)
        self->opening = self->memory.take(self->memory.context, sizeof(struct found));
    struct found *found = self->opening;
    found->count = found->depth = 0;
    found->granule = granule;
    memset(found->visited, 0, sizeof found->visited);
    if (w & PT_RACE_OWN) {
        const struct pt_race_many *many = pt_race_many_of(w);
        unsigned count = atomic_load_explicit(&many->count, memory_order_relaxed);
        for (unsigned i = 0; i < count; i++)
            push(found, pt_race_get(&many->slots[i]));
        pt_race_many_end(self, w);
    } else {
        push(found, w ? w | PT_RACE_WROTE : 0);
        push_reads(found, r);
        pt_race_common_end(self, r);
    }
    collect(self, found);
    share_times(found);
    replay(self, &pt_race_cells[own].cell, found);
    return own;
}

void pt_race_open_end(struct pt_race_self *self)
{
    if (self->opening)
        self->memory.give(self->memory.context, self->opening, sizeof(struct found));
    self->opening = NULL;
}
