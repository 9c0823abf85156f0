/*
 * Rungs (clock/ladder.h): how they are made, and what they stand for.
 *
 * Guarantee: a rung knows of all relevant events before it, and there is none once an event does not. Cost: a lock and
 * a copy of the vector for each event, linear in the lanes; nothing for anybody who has a rung.
 */
#include "runtime/clock/ladder.h"

#include <string.h>

#include "runtime/clock/self.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

#ifndef PT_LADDER_MARK
#define PT_LADDER_MARK 4096 /* rungs from one mark to the next; fewer where a test is to meet many */
#endif
#ifndef PT_LADDER_MOST
#define PT_LADDER_MOST (PT_CLOCK_RUNG - 1)
#endif
enum { MARKS = PT_LADDER_MOST / PT_LADDER_MARK + 1, FIRST_ROOM = 64 };

struct pt_clock_pair *pt_clock_rungs;
_Atomic bool pt_clock_climbs;

static struct {
    struct pt_spin lock;
    uint32_t last; /* how many there are */
    struct pt_clock_pair *now;
    uint32_t count, room; /* pairs of the last one */
} ladder = {.lock = PT_SPIN(PT_RANK_CLOCK)};

/* Vectors on the way: of rung i * PT_LADDER_MARK, once that is made; none where there was no memory. */
static struct {
    struct pt_clock_pair *pairs;
    uint32_t count;
} marks[MARKS];

void pt_clock_ladder_start(void)
{
    if (!pt_has_cache(PT_CACHE_LADDER))
        return;
    if (!pt_clock_rungs)
        pt_clock_rungs = pt_sys_reserve_table(sizeof *pt_clock_rungs * ((size_t)PT_LADDER_MOST + 1));
    atomic_store_explicit(&pt_clock_climbs, pt_clock_rungs != NULL, memory_order_relaxed);
}

void pt_clock_ladder_restart(void)
{
    pt_spin_reset(&ladder.lock);
    atomic_store_explicit(&pt_clock_climbs, false, memory_order_relaxed);
    if (ladder.last)
        pt_sys_empty(pt_clock_rungs, sizeof *pt_clock_rungs * ((size_t)PT_LADDER_MOST + 1));
    memset(marks, 0, (ladder.last / PT_LADDER_MARK + 1) * sizeof *marks);
    ladder.now = NULL; /* of which a thread that is not here may have been making another one */
    ladder.last = ladder.count = ladder.room = 0;
}

/* --- vectors --- */

/* A sorted vector with room for one more takes a pair in; true if that is a new lane's. */
static bool put(struct pt_clock_pair *pairs, uint32_t count, struct pt_clock_pair pair)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pairs[middle].lane < pair.lane)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_new = low == count || pairs[low].lane != pair.lane;
    if (is_new)
        memmove(pairs + low + 1, pairs + low, (count - low) * sizeof *pairs);
    pairs[low] = pair;
    return is_new;
}

static bool make_room(void)
{
    uint32_t room = ladder.room ? 2 * ladder.room : FIRST_ROOM;
    struct pt_clock_pair *pairs = pt_sys_reserve(room * sizeof *pairs);
    if (!pairs)
        return false;
    if (ladder.count)
        memcpy(pairs, ladder.now, ladder.count * sizeof *pairs);
    if (ladder.now)
        pt_sys_release(ladder.now, ladder.room * sizeof *pairs);
    ladder.now = pairs;
    ladder.room = room;
    return true;
}

static bool begin(void)
{
    const struct pt_clock_snapshot *first = &pt_clocks[0];
    while (ladder.room < first->count)
        if (!make_room())
            return false;
    if (first->count)
        memcpy(ladder.now, first->pairs, first->count * sizeof *ladder.now);
    ladder.count = first->count;
    return true;
}

static void set_mark(uint32_t rung)
{
    size_t bytes = ladder.count * sizeof *ladder.now;
    struct pt_clock_pair *pairs = pt_sys_reserve(bytes);
    if (!pairs)
        return;
    memcpy(pairs, ladder.now, bytes);
    marks[rung / PT_LADDER_MARK].count = ladder.count;
    marks[rung / PT_LADDER_MARK].pairs = pairs;
}

/* --- rungs --- */

/* Room in the view that is not of the thread's clock. Without memory recording has stopped, and it has none. */
static struct pt_clock_view *take_view(struct pt_clock_self *self, pt_clock_id id, uint32_t room)
{
    struct pt_clock_view *view = &self->views[self->views[0].id == self->id && self->id];
    if (view->room < room) {
        pt_pool_give(&self->pool, view->pairs);
        view->pairs = pt_pool_take(&self->pool, room * sizeof *view->pairs);
        view->room = view->pairs ? room : 0;
    }
    view->id = id;
    view->count = 0;
    return view;
}

static void note_view(struct pt_clock_self *self, pt_clock_id id)
{
    struct pt_clock_view *view = take_view(self, id, ladder.room);
    if (view->room < ladder.count)
        return;
    memcpy(view->pairs, ladder.now, ladder.count * sizeof *view->pairs);
    view->count = ladder.count;
}

/* Under the lock. */
static pt_clock_id next_rung(struct pt_clock_self *self, uint64_t count)
{
    uint32_t last = ladder.last;
    if (!atomic_load_explicit(&pt_clock_climbs, memory_order_relaxed) || last == PT_LADDER_MOST ||
        self->id != (last ? PT_CLOCK_RUNG | last : 0) || (!last && !begin()) ||
        (ladder.count == ladder.room && !make_room()))
        return 0;
    if (!self->lane.taken)
        pt_clock_lane_take(self, count, (struct pt_clock_pairs){ladder.now, ladder.count});
    struct pt_clock_pair event = {self->lane.number, self->lane.base + count};
    ladder.count += put(ladder.now, ladder.count, event);
    pt_clock_rungs[++last] = event;
    ladder.last = last;
    if (last % PT_LADDER_MARK == 0)
        set_mark(last);
    note_view(self, PT_CLOCK_RUNG | last);
    return PT_CLOCK_RUNG | last;
}

pt_clock_id pt_clock_climb(struct pt_clock_self *self, uint64_t count)
{
    if (!atomic_load_explicit(&pt_clock_climbs, memory_order_relaxed))
        return 0;
    pt_spin_lock(&ladder.lock);
    pt_clock_id id = next_rung(self, count);
    if (!id)
        atomic_store_explicit(&pt_clock_climbs, false, memory_order_relaxed);
    pt_spin_unlock(&ladder.lock);
    return id;
}

static struct pt_clock_view *make_view(struct pt_clock_self *self, pt_clock_id id)
{
    uint32_t rung = id & ~(uint32_t)PT_CLOCK_RUNG, mark = rung / PT_LADDER_MARK;
    while (mark && !marks[mark].pairs)
        mark--;
    const struct pt_clock_pair *from = mark ? marks[mark].pairs : pt_clocks[0].pairs;
    uint32_t count = mark ? marks[mark].count : pt_clocks[0].count;
    struct pt_clock_view *view = take_view(self, id, count + rung - mark * PT_LADDER_MARK);
    if (!view->room)
        return view;
    if (count)
        memcpy(view->pairs, from, count * sizeof *from);
    for (uint32_t i = mark * PT_LADDER_MARK + 1; i <= rung; i++)
        count += put(view->pairs, count, pt_clock_rungs[i]);
    view->count = count;
    return view;
}

struct pt_clock_pairs pt_clock_pairs_of(struct pt_clock_self *self, pt_clock_id id)
{
    if (!pt_clock_is_rung(id))
        return (struct pt_clock_pairs){pt_clocks[id].pairs, pt_clocks[id].count};
    const struct pt_clock_view *view = &self->views[0];
    if (view->id != id)
        view = &self->views[1];
    if (view->id != id)
        view = make_view(self, id);
    return (struct pt_clock_pairs){view->pairs, view->count};
}

void pt_clock_drop_views(struct pt_clock_self *self)
{
    for (unsigned i = 0; i < 2; i++) {
        pt_pool_give(&self->pool, self->views[i].pairs);
        self->views[i] = (struct pt_clock_view){0};
    }
}
