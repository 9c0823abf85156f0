/*
 * Clocks of records as clocks of threads.
 *
 * The program counts by lanes (core/channel.h), and a record's clock has a pair for each lane. Here a count in a lane
 * is a count of the one thread whose event it is; those that were in the lane before it have ended, and whoever knows
 * that event knows all of theirs. So they are not named, as long as the clock is not a short one, which people read:
 * that would cost each event all threads that ever were. Whoever completes clocks knows from `behind` of the thread's
 * first clock that they belong to it (clock_state.h).
 *
 * Guarantee: an event's clock, completed, is the one that the program has, whatever lanes there are, and `lanes` of a
 * program that says nonsense are followed to an end, as a thread comes behind one that was in its lane before it. Cost:
 * O(pairs), and O(log of the threads that were in it) for a lane that was taken over.
 */
#include <stdlib.h>

#include "trace/channel_impl.h"
#include "trace/clock_state.h"

/* --- counts --- */

/* A count of the program's as one of ours. */
static uint64_t translate(const struct thread *thread, uint64_t count)
{
    if (count >= thread->count)
        return thread->yielded;
    uint32_t low = 0, high = thread->gap_count; /* the first gap that ends at or after it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (thread->gaps[middle].last < count)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t missing = low ? thread->gaps[low - 1].missing : 0;
    if (low < thread->gap_count) { /* it may lie inside that gap */
        const struct gap *gap = &thread->gaps[low];
        uint64_t first = gap->last - (gap->missing - missing) + 1;
        if (count >= first)
            return first - 1 - missing;
    }
    return count - missing;
}

/* The thread's own next count; false when it does not rise. */
static bool count_event(struct thread *thread, uint64_t count)
{
    if (count <= thread->count)
        return false;
    if (count > thread->count + 1) {
        uint64_t missing = thread->gap_count ? thread->gaps[thread->gap_count - 1].missing : 0;
        struct gap gap = {count - 1, missing + count - 1 - thread->count};
        PT_PUSH(thread->gaps, thread->gap_count, thread->gap_cap, gap);
    }
    thread->count = count;
    thread->yielded++;
    return true;
}

/* --- lanes --- */

static struct lane *lane_at(struct pt_channel_reader *r, uint32_t number)
{
    size_t old = r->lane_of_cap;
    PT_GROW(r->lane_of, r->lane_of_cap, (size_t)number + 1);
    for (size_t i = old; i < r->lane_of_cap; i++)
        r->lane_of[i] = PT_NONE;
    if (r->lane_of[number] == PT_NONE) {
        r->lane_of[number] = r->lane_count;
        PT_PUSH(r->lanes, r->lane_count, r->lane_cap, (struct lane){0});
    }
    return &r->lanes[r->lane_of[number]];
}

static const struct lane *lane_of(const struct pt_channel_reader *r, uint32_t number)
{
    uint32_t index = number < r->lane_of_cap ? r->lane_of[number] : PT_NONE;
    return index == PT_NONE ? NULL : &r->lanes[index];
}

static bool are_followed(const struct pt_channel_reader *r)
{
    return r->lane_count > 0;
}

/* The thread, by its index, whose event is that of a pair, and its own count of it. PT_NONE: it is not known. */
static inline uint32_t thread_of(const struct pt_channel_reader *r, struct pt_clock_pair pair, uint64_t *ret_count)
{
    const struct lane *lane = are_followed(r) ? lane_of(r, pair.lane) : NULL;
    uint32_t low = 0, high = lane ? lane->count : 0;
    while (low < high) { /* the first who came there after the event */
        uint32_t middle = low + (high - low) / 2;
        if (r->threads[lane->followers[middle]].base + r->counted_before < pair.count)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t index = low ? lane->followers[low - 1] : chan_index_of(r, pair.lane);
    *ret_count = low ? pair.count - r->threads[index].base : pair.count;
    return index;
}

static bool has_events(const struct pt_channel_reader *r, uint32_t index)
{
    return index != PT_NONE && r->threads[index].yielded > r->counted_before;
}

/* Of those in the lane, the last one of whom an event has arrived; PT_NONE: there is none. */
static uint32_t last_in(const struct pt_channel_reader *r, const struct lane *lane, uint32_t number)
{
    for (uint32_t i = lane->count; i-- > 0;)
        if (has_events(r, lane->followers[i]))
            return lane->followers[i];
    uint32_t first = chan_index_of(r, number);
    return has_events(r, first) ? first : PT_NONE;
}

/* The thread of the record says that it has taken over a lane. False when that makes no sense: it has said so before,
 * or is the first one of a lane itself; or the lane is that of one who was not, or has had more events. */
static bool follow(struct pt_channel_reader *r, uint32_t number, struct pt_clock_pair said)
{
    struct thread *self = chan_thread_at(r, number);
    uint32_t index = chan_index_of(r, number), first = chan_index_of(r, said.lane);
    if (!self || said.lane >= CHAN_MAX_THREADS || said.lane == number || self->follows || has_events(r, index) ||
        lane_of(r, number) || (first != PT_NONE && r->threads[first].follows))
        return false;
    struct lane *lane = lane_at(r, said.lane);
    if (lane->count && r->threads[lane->followers[lane->count - 1]].base >= said.count)
        return false;
    self->follows = true;
    self->base = said.count;
    self->behind = last_in(r, lane, said.lane);
    PT_PUSH(lane->followers, lane->count, lane->cap, index);
    return true;
}

/* --- clocks --- */

static int by_thread(const void *a, const void *b)
{
    const struct pt_clock_entry *x = a, *y = b;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* In order of threads, for people who read a trace; long clocks are not read, and sorting them would be most of the
 * work with many threads. */
static void sort_clock(struct pt_clock_entry *clock, uint32_t count)
{
    enum { LONG = 32 };
    bool sorted = true;
    for (uint32_t i = 1; i < count && sorted; i++)
        sorted = clock[i - 1].thread < clock[i].thread;
    if (!sorted && count <= LONG)
        qsort(clock, count, sizeof *clock, by_thread);
}

/* Appends to reader->clock[0 .. *count) what the thread of this index is known to have done, each thread once. */
static void add_entry(struct pt_channel_reader *r, uint32_t *count, uint32_t index, uint64_t known)
{
    struct thread *thread = &r->threads[index];
    if (thread->in_clock != r->clocks) {
        thread->in_clock = r->clocks;
        thread->clock_at = (*count)++;
        r->clock[thread->clock_at] = (struct pt_clock_entry){thread->name, known};
        r->clock_threads[thread->clock_at] = index;
    } else if (r->clock[thread->clock_at].count < known) {
        r->clock[thread->clock_at].count = known;
    }
}

static void add_behind(struct pt_channel_reader *r, uint32_t *count, uint32_t index)
{
    uint32_t behind = r->threads[index].behind;
    if (behind != PT_NONE)
        add_entry(r, count, behind, r->threads[behind].yielded);
}

/* The pair as an entry. Of a record's own thread: its count, if that is more. */
static void add_pair(struct pt_channel_reader *r, uint32_t *count, struct pt_clock_pair pair, uint32_t number,
                     uint64_t *own)
{
    uint64_t of_thread;
    uint32_t index = thread_of(r, pair, &of_thread);
    if (pair.lane == number || (index != PT_NONE && r->threads[index].number == number)) {
        *own = of_thread > *own ? of_thread : *own;
        return;
    }
    /* A thread of which no event has arrived is not known to anybody here; the one that it is behind is. */
    uint64_t known = has_events(r, index) ? translate(&r->threads[index], of_thread) : 0;
    if (known)
        add_entry(r, count, index, known);
    else if (index != PT_NONE)
        add_behind(r, count, index);
}

static void make_room(struct pt_channel_reader *r, size_t pairs)
{
    size_t most =
        pairs + PT_CLOCK_SHORT + 3; /* one too many for a short one, and the thread's own, and who it follows */
    PT_GROW(r->clock, r->clock_cap, most);
    PT_GROW(r->clock_threads, r->clock_thread_cap, most);
}

bool chan_take_clock(struct pt_channel_reader *r, const struct pt_record_event *record, struct chan_clock *ret_clock)
{
    uint32_t count = 0, from = record->marks & PT_MARK_LANE ? 1 : 0;
    uint64_t own = 0;
    struct pt_clock_pair pair;
    const unsigned char *pairs = r->record + sizeof *record;
    if (from) {
        memcpy(&pair, pairs, sizeof pair);
        if (!record->clock_count || !follow(r, record->thread, pair))
            return false;
    }
    make_room(r, record->clock_count);
    r->clocks++;
    for (uint32_t i = from; i < record->clock_count; i++) {
        memcpy(&pair, pairs + i * sizeof pair, sizeof pair);
        add_pair(r, &count, pair, record->thread, &own);
    }
    struct thread *self = chan_thread_at(r, record->thread);
    if (!self || self->over || (record->marks & PT_COUNTED && !count_event(self, own)))
        return false;
    r->counting += record->marks & PT_COUNTED && self->yielded == r->counted_before + 1;
    uint32_t index = chan_index_of(r, record->thread);
    chan_name_of(r, self);
    add_entry(r, &count, index, self->yielded);
    if (from) /* all of it is known from here on */
        add_behind(r, &count, index);
    for (uint32_t i = 0; are_followed(r) && i < count && count <= PT_CLOCK_SHORT; i++)
        add_behind(r, &count, r->clock_threads[i]);
    sort_clock(r->clock, count);
    *ret_clock = (struct chan_clock){count, 0};
    if (from && self->behind != PT_NONE)
        ret_clock->behind = r->threads[self->behind].name + 1;
    return true;
}

void chan_release_clocks(struct pt_channel_reader *r)
{
    for (uint32_t i = 0; i < r->lane_count; i++)
        free(r->lanes[i].followers);
    free(r->lanes);
    free(r->lane_of);
    free(r->clock);
    free(r->clock_threads);
}
