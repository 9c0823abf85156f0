/*
 * The table of clock snapshots. Numbers index a lazily committed array; the pairs come from chunks cut into
 * power-of-two classes, and a number keeps its room for life, so recycling is pushing it on the free list of its class:
 * first the thread's own list, half of which moves to the common one when it gets long (a producer makes snapshots that
 * its consumer releases).
 *
 * Cost: comparing and joining are linear in the number of lanes (lane.h). Bound: 2^25 snapshots
 * at a time; beyond that recording stops and the verdict is unknown.
 */
#include "runtime/clock/impl.h"

#include <string.h>

#include "runtime/clock/ladder.h"
#include "runtime/clock/self.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

enum { BATCH = 32, CHUNK = 1 << 20, FIRST_PAIRS = 16 };

struct pt_clock_snapshot *pt_clocks;
static struct pt_clock_pair first_pairs[FIRST_PAIRS]; /* of number 0 */

struct room {
    struct room *next;
};

static struct {
    struct pt_spin lock;
    uint32_t numbers; /* used so far; 0 is the empty clock */
    unsigned char *chunk;
    size_t chunk_left;
    pt_clock_id free[PT_CLOCK_CLASSES];
    struct room *rooms[PT_CLOCK_CLASSES]; /* pairs that numbers in rings outgrew */
} common = {.lock = PT_SPIN(PT_RANK_CLOCK), .numbers = 1};

bool pt_clock_start(void)
{
    pt_clocks = pt_sys_reserve_table(sizeof *pt_clocks << PT_CLOCK_BITS);
    return pt_clocks && pt_clock_ring_start() && pt_clock_lanes_start();
}

void pt_clock_restart(void)
{
    pt_sys_empty(pt_clocks, sizeof *pt_clocks << PT_CLOCK_BITS);
    pt_clock_ring_restart();
    pt_clock_ladder_restart();
    pt_clock_lanes_restart();
    pt_spin_reset(&common.lock);
    common.numbers = 1;
    common.chunk_left = 0;
    memset(common.free, 0, sizeof common.free);
    memset(common.rooms, 0, sizeof common.rooms);
}

/* Aligned for a struct room. */
static void *carve_pairs(uint32_t size_class)
{
    size_t bytes = sizeof(struct pt_clock_pair) * (2u << size_class);
    if (bytes > CHUNK / 2)
        return pt_sys_reserve(bytes);
    if (common.chunk_left < bytes) {
        common.chunk = pt_sys_reserve(CHUNK);
        common.chunk_left = common.chunk ? CHUNK : 0;
        if (!common.chunk)
            return NULL;
    }
    void *pairs = common.chunk;
    common.chunk += bytes;
    common.chunk_left -= bytes;
    return pairs;
}

/* One with more room rather than a new one: the rings of threads that end leave numbers that have grown, and the next
 * threads ask for small ones. */
static pt_clock_id take_free(uint32_t size_class)
{
    while (size_class < PT_CLOCK_CLASSES && !common.free[size_class])
        size_class++;
    pt_clock_id id = size_class < PT_CLOCK_CLASSES ? common.free[size_class] : 0;
    if (id)
        common.free[size_class] = pt_clocks[id].next_free;
    return id;
}

struct taken {
    pt_clock_id id;              /* 0: there is none */
    struct pt_clock_pair *pairs; /* of a new number; NULL: it has some */
};

/* Under the common lock: a number with room of this class at least. A new one is not touched yet. */
static struct taken take_common(uint32_t size_class)
{
    struct taken taken = {.id = take_free(size_class)};
    if (taken.id || common.numbers == PT_CLOCK_RUNG)
        return taken;
    taken.pairs = carve_pairs(size_class);
    if (taken.pairs)
        taken.id = common.numbers++;
    return taken;
}

static pt_clock_id refill(struct pt_clock_self *self, uint32_t size_class)
{
    struct taken taken[BATCH];
    unsigned wanted = size_class > 8 ? 1 : BATCH, count = 0;
    pt_spin_lock(&common.lock);
    while (count < wanted && (taken[count] = take_common(size_class)).id)
        count++;
    pt_spin_unlock(&common.lock);
    for (unsigned i = 0; i < count; i++) {
        struct pt_clock_snapshot *clock = &pt_clocks[taken[i].id];
        if (taken[i].pairs) {
            clock->pairs = taken[i].pairs;
            clock->size_class = size_class;
        }
        clock->next_free = self->cache.free[size_class].first;
        self->cache.free[size_class].first = taken[i].id;
        self->cache.free[size_class].count++;
    }
    return self->cache.free[size_class].first;
}

static uint32_t class_for(uint32_t pairs)
{
    return pairs <= 2 ? 0 : 31 - (uint32_t)__builtin_clz(pairs - 1);
}

pt_clock_id pt_clock_make(struct pt_clock_self *self, uint32_t pairs)
{
    uint32_t size_class = class_for(pairs);
    pt_clock_id id = 0;
    if (size_class < PT_CLOCK_CLASSES) {
        id = self->cache.free[size_class].first;
        if (!id)
            id = refill(self, size_class);
    }
    if (!id) {
        pt_runtime_give_up();
        return 0;
    }
    self->cache.free[size_class].first = pt_clocks[id].next_free;
    self->cache.free[size_class].count--;
    pt_clocks[id].knows = (struct pt_knows){0};
    atomic_store_explicit(&pt_clocks[id].references, 1, memory_order_relaxed);
    return id;
}

void pt_clock_recycle(struct pt_clock_self *self, pt_clock_id id)
{
    uint32_t size_class = pt_clocks[id].size_class;
    pt_know_release(self, pt_clocks[id].knows);
    pt_clocks[id].next_free = self->cache.free[size_class].first;
    self->cache.free[size_class].first = id;
    if (++self->cache.free[size_class].count < 4 * BATCH)
        return;
    pt_spin_lock(&common.lock);
    while (self->cache.free[size_class].count > 2 * BATCH) {
        pt_clock_id given = self->cache.free[size_class].first;
        self->cache.free[size_class].first = pt_clocks[given].next_free;
        self->cache.free[size_class].count--;
        pt_clocks[given].next_free = common.free[size_class];
        common.free[size_class] = given;
    }
    pt_spin_unlock(&common.lock);
}

void pt_clock_flush(struct pt_clock_self *self)
{
    pt_clock_drop_views(self);
    pt_spin_lock(&common.lock);
    for (uint32_t c = 0; c < PT_CLOCK_CLASSES; c++) {
        for (pt_clock_id id = self->cache.free[c].first, next; id; id = next) {
            next = pt_clocks[id].next_free;
            pt_clocks[id].next_free = common.free[c];
            common.free[c] = id;
        }
    }
    memset(&self->cache, 0, sizeof self->cache);
    pt_spin_unlock(&common.lock);
}

bool pt_clock_leq(pt_clock_id a, pt_clock_id b)
{
    if (a == b || !a)
        return true;
    if (pt_clock_is_rung(a) || pt_clock_is_rung(b))
        return pt_clock_is_rung(a) && a <= pt_clock_rung_of(b);
    const struct pt_clock_snapshot *x = &pt_clocks[a], *y = &pt_clocks[b];
    if (x->count > y->count)
        return false;
    uint32_t j = 0;
    for (uint32_t i = 0; i < x->count; i++, j++) {
        while (j < y->count && y->pairs[j].lane < x->pairs[i].lane)
            j++;
        if (j == y->count || y->pairs[j].lane != x->pairs[i].lane || y->pairs[j].count < x->pairs[i].count)
            return false;
    }
    return pt_know_leq(x->knows, y->knows);
}

/* Larger room for a number in the thread's ring. */
static bool enlarge(pt_clock_id id, uint32_t size_class)
{
    struct pt_clock_snapshot *clock = &pt_clocks[id];
    pt_spin_lock(&common.lock);
    struct room *room = size_class < PT_CLOCK_CLASSES ? common.rooms[size_class] : NULL;
    if (room)
        common.rooms[size_class] = room->next;
    else if (size_class < PT_CLOCK_CLASSES)
        room = carve_pairs(size_class);
    if (room) {
        void *pairs = clock->pairs;
        struct room *outgrown = pairs;
        outgrown->next = common.rooms[clock->size_class];
        common.rooms[clock->size_class] = outgrown;
        clock->pairs = (void *)room;
        clock->size_class = size_class;
    }
    pt_spin_unlock(&common.lock);
    return room != NULL;
}

/* A number for the thread's own next clock: the one that its ring gave, or a common one. */
static pt_clock_id prepare(struct pt_clock_self *self, pt_clock_id id, uint32_t pairs)
{
    if (!id)
        return pt_clock_make(self, pairs);
    pt_know_release(self, pt_clocks[id].knows);
    pt_clocks[id].knows = (struct pt_knows){0};
    pt_clocks[id].count = 0;
    if (class_for(pairs) > pt_clocks[id].size_class && !enlarge(id, class_for(pairs))) {
        self->ring.local[self->ring.position] = 0;
        pt_runtime_give_up();
        return 0;
    }
    return id;
}

static pt_clock_id make_own(struct pt_clock_self *self, uint32_t pairs)
{
    return prepare(self, pt_clock_ring_next(self), pairs);
}

static uint32_t merge_pairs(struct pt_clock_pairs x, struct pt_clock_pairs y, struct pt_clock_pair *out)
{
    uint32_t i = 0, j = 0, n = 0;
    while (i < x.count || j < y.count) {
        if (j == y.count || (i < x.count && x.pairs[i].lane < y.pairs[j].lane))
            out[n++] = x.pairs[i++];
        else if (i == x.count || y.pairs[j].lane < x.pairs[i].lane)
            out[n++] = y.pairs[j++];
        else {
            out[n++] = x.pairs[i].count > y.pairs[j].count ? x.pairs[i] : y.pairs[j];
            i++, j++;
        }
    }
    return n;
}

/* They are not both rungs. */
static pt_clock_id merge(struct pt_clock_self *self, pt_clock_id a, pt_clock_id b, bool own)
{
    struct pt_clock_pairs x = pt_clock_pairs_of(self, a), y = pt_clock_pairs_of(self, b);
    pt_clock_id id = own ? make_own(self, x.count + y.count) : pt_clock_make(self, x.count + y.count);
    pt_clock_id first = pt_clock_rung_of(a), second = pt_clock_rung_of(b);
    if (!id)
        return 0;
    pt_clocks[id].count = merge_pairs(x, y, pt_clocks[id].pairs);
    pt_clocks[id].knows = pt_know_join(self, pt_clocks[a].knows, pt_clocks[b].knows);
    pt_clocks[id].rung = first > second ? first : second;
    return id;
}

pt_clock_id pt_clock_join(struct pt_clock_self *self, pt_clock_id a, pt_clock_id b)
{
    pt_clock_id result = pt_clock_leq(a, b) ? b : pt_clock_leq(b, a) ? a : 0;
    if (!result && (a || b))
        return merge(self, a, b, false);
    pt_clock_acquire(result, 1);
    return result;
}

pt_clock_id pt_clock_next_join(struct pt_clock_self *self, pt_clock_id b)
{
    if (!pt_clock_leq(self->id, b))
        return merge(self, self->id, b, true);
    pt_clock_acquire(b, 1);
    return b;
}

pt_clock_id pt_clock_next_tick(struct pt_clock_self *self, uint64_t count)
{
    pt_clock_id id = pt_clock_climb(self, count);
    if (id)
        return id;
    struct pt_clock_pairs x = pt_clock_pairs_of(self, self->id);
    uint32_t at = 0;
    if (!self->lane.taken)
        pt_clock_lane_take(self, count, x);
    while (at < x.count && x.pairs[at].lane < self->lane.number)
        at++;
    uint32_t rest = at < x.count && x.pairs[at].lane == self->lane.number ? at + 1 : at;
    id = make_own(self, at + 1 + x.count - rest);
    if (!id)
        return 0;
    struct pt_clock_pair *out = pt_clocks[id].pairs;
    if (at)
        memcpy(out, x.pairs, at * sizeof *out);
    out[at] = (struct pt_clock_pair){self->lane.number, self->lane.base + count};
    if (x.count > rest)
        memcpy(out + at + 1, x.pairs + rest, (x.count - rest) * sizeof *out);
    pt_clocks[id].count = at + 1 + x.count - rest;
    pt_clocks[id].rung = pt_clock_rung_of(self->id);
    if (self->id)
        pt_clocks[id].knows = pt_know_share(self, pt_clocks[self->id].knows);
    return id;
}

bool pt_clock_tick_all(struct pt_clock_self *self)
{
    struct pt_clock_snapshot *clock = &pt_clocks[0];
    uint32_t at = 0;
    if (!self->lane.taken)
        pt_clock_lane_take(self, self->events + 1, (struct pt_clock_pairs){clock->pairs, clock->count});
    while (at < clock->count && clock->pairs[at].lane != self->lane.number)
        at++;
    bool is_last = at == clock->count && (!at || clock->pairs[at - 1].lane < self->lane.number);
    if (at == clock->count && (!is_last || at == FIRST_PAIRS))
        return false;
    clock->pairs = first_pairs;
    clock->count += at == clock->count;
    clock->pairs[at] = (struct pt_clock_pair){self->lane.number, self->lane.base + ++self->events};
    self->changes++;
    return true;
}

pt_clock_id pt_clock_next_knows(struct pt_clock_self *self, struct pt_knows knows)
{
    struct pt_clock_pairs x = pt_clock_pairs_of(self, self->id);
    pt_clock_id id = make_own(self, x.count);
    if (!id) {
        pt_know_release(self, knows);
        return 0;
    }
    if (x.count)
        memcpy(pt_clocks[id].pairs, x.pairs, x.count * sizeof *x.pairs);
    pt_clocks[id].count = x.count;
    pt_clocks[id].rung = pt_clock_rung_of(self->id);
    pt_clocks[id].knows = knows;
    return id;
}

pt_clock_id pt_clock_next_says(struct pt_clock_self *self, uint32_t place, uint32_t cap, size_t entry_bytes,
                               size_t text, struct pt_fact **ret_fact)
{
    struct pt_clock_pairs x = pt_clock_pairs_of(self, self->id);
    struct pt_knows known = pt_clocks[self->id].knows; /* of the empty one: nothing */
    pt_clock_id id = pt_clock_ring_next(self);
    struct pt_clock_snapshot *clock = &pt_clocks[id];
    struct pt_fact *fact = NULL;
    if (id && !text && class_for(x.count) <= clock->size_class)
        fact = pt_know_say_again(self, known, place, cap, &clock->knows);
    if (!fact) {
        id = prepare(self, id, x.count);
        clock = &pt_clocks[id];
        fact = id ? pt_fact_new(self, place, entry_bytes, text) : NULL;
        if (!fact)
            return 0; /* the number is lost, as is all that would be recorded from here on */
        clock->knows = pt_know_say(self, known, fact);
    }
    for (uint32_t i = 0; i < x.count; i++)
        clock->pairs[i] = x.pairs[i];
    clock->count = x.count;
    clock->rung = pt_clock_rung_of(self->id);
    *ret_fact = fact;
    return id;
}
