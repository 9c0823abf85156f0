/*
 * Bounded windows: the causality cone as contract section 3 repairs it.
 *
 * Level k + 1 is made from Q, the first L events that are not in every cut of level k. Once an event is in every cut it
 * stays there, so Q's end only moves forward: it is common_total + L, as far as events have arrived, and each field's
 * limit says how much of its thread lies in Q. A level closes when Q is full, the trace has ended, or W candidates
 * exist: events still to come have larger numbers than all in Q, so their candidates would sort behind these.
 *
 * Completeness. `complete` must become false when an event that was not tried at level k was enabled in a kept cut of
 * it. While nothing was dropped every kept cut has a successor that contains it: its least missing event is enabled,
 * and lies in Q unless the cut contains all of Q, but then it is the only cut of its level and the level stays open. So
 * such an event is also enabled in some cut of the *last* level that was closed without it, and it is enough to look
 * there when it enters Q. In orders that are not decided by needs a cut may have no successor that contains it, so
 * there every event that comes into Q late ends completeness: `complete` may then be false where nothing was left out.
 *
 * Guarantee: exactly the cuts of the contract's definition are kept. Cost: what the steps between kept cuts cost, and
 * O(threads) comparisons per candidate where the window drops some (quickselect).
 */
#include <string.h>

#include "engine/lattice_impl.h"

/*
 * Cuts of equal size compare by their event numbers, largest first; the largest number in which they differ belongs to
 * the larger cut. In each thread they differ in a contiguous range, whose last event is the one to look at.
 */
int lat_cut_compare(const struct pt_lattice *l, const struct lat_layout *layout, const uint64_t *a, const uint64_t *b)
{
    uint64_t greatest = 0;
    int result = 0;
    (void)l;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const struct lat_field *field = &layout->fields[f];
        uint32_t x = lat_field_count_in(field, a), y = lat_field_count_in(field, b);
        if (x == y)
            continue;
        uint64_t number = field->number[(x > y ? x : y) - 1];
        if (number > greatest) {
            greatest = number;
            result = x > y ? 1 : -1;
        }
    }
    return result;
}

struct ranking {
    const struct pt_lattice *l;
    const struct lat_part *part;
    uint64_t *top; /* greatest event number of each cut */
};

static int rank_compare(const struct ranking *r, uint32_t i, uint32_t j)
{
    if (r->top[i] != r->top[j])
        return r->top[i] < r->top[j] ? -1 : 1;
    uint32_t words = r->l->layout->words;
    return lat_cut_compare(r->l, r->l->layout, r->part->keys + (size_t)i * words, r->part->keys + (size_t)j * words);
}

static uint64_t top_number(const struct lat_layout *layout, const uint64_t *key)
{
    uint64_t top = 0;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        uint32_t count = lat_field_count_in(&layout->fields[f], key);
        if (count && layout->fields[f].number[count - 1] > top)
            top = layout->fields[f].number[count - 1];
    }
    return top;
}

/* Quickselect: afterwards the first `keep` entries of `order` are the least. Cuts are distinct, so there are no ties.
 */
static void select_least(const struct ranking *r, uint32_t *order, uint32_t count, uint32_t keep)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t pivot = order[low + (high - low) / 2], i = low, j = high - 1;
        for (;;) {
            while (rank_compare(r, order[i], pivot) < 0)
                i++;
            while (rank_compare(r, order[j], pivot) > 0)
                j--;
            if (i >= j)
                break;
            uint32_t swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        uint32_t split = j + 1; /* [low, split) <= pivot <= [split, high) */
        if (split == high)
            split--;
        if (keep <= split)
            high = split;
        else
            low = split;
        if (keep == split)
            return;
    }
}

static void keep_least(struct pt_lattice *l, struct lat_part *part, uint32_t keep)
{
    uint32_t words = l->layout->words;
    PT_GROW(l->ranking.top, l->ranking.top_cap, part->count);
    PT_GROW(l->ranking.order, l->ranking.order_cap, part->count);
    PT_GROW(l->ranking.kept, l->ranking.kept_cap, part->count);
    struct ranking r = {l, part, l->ranking.top};
    uint32_t *order = l->ranking.order;
    bool *kept = l->ranking.kept;
    for (uint32_t i = 0; i < part->count; i++) {
        order[i] = i;
        r.top[i] = top_number(l->layout, part->keys + (size_t)i * words);
    }
    select_least(&r, order, part->count, keep);
    memset(kept, 0, part->count * sizeof *kept);
    for (uint32_t i = 0; i < keep; i++)
        kept[order[i]] = true;
    for (uint32_t from = 0, to = 0; to < keep; from++) { /* in place, in the order they were found */
        if (!kept[from])
            continue;
        memmove(part->keys + (size_t)to * words, part->keys + (size_t)from * words, words * sizeof *part->keys);
        part->runs[to] = part->runs[from];
        part->letters[to] = part->letters[from];
        part->sets[to++] = part->sets[from];
    }
    part->count = keep;
}

/* An event enters Q that the level before did not try. */
static void judge_late_event(struct pt_lattice *l, uint32_t field, uint32_t index)
{
    uint32_t words = l->layout->words;
    if (!l->by_needs && l->level > 0)
        l->finding->complete = false;
    for (uint32_t i = 0; l->finding->complete && i < l->previous.count; i++) {
        const uint64_t *key = l->previous.keys + (size_t)i * words;
        if (lat_field_count_in(&l->layout->fields[field], key) == index && lat_enabled(l, key, field, index))
            l->finding->complete = false;
    }
}

bool lat_q_full(const struct pt_lattice *l)
{
    return l->options->lookahead != PT_ALL && l->q_end == l->common_total + l->options->lookahead;
}

/* Lets arrived events into Q; those that come while the level is open are tried at once. */
static void fill_q(struct pt_lattice *l)
{
    while (l->q_end < l->pushed && !lat_q_full(l)) {
        struct lat_column *column = &l->columns[lat_place_of(l, ++l->q_end).column];
        column->in_q++;
        if (l->ranked)
            continue;
        struct lat_field *field = &l->layout->fields[column->field];
        field->limit++;
        judge_late_event(l, column->field, field->limit - 1);
        if (l->next_open && l->paired)
            lat_pair_newest(l, column->field);
        else if (l->next_open)
            lat_expand_newest(l, l->current, l->next, column->field);
    }
    /* Levels that are remembered, and words, reach so far back at most. */
    enum { REACH = LAT_BOUNDED_LEVELS + 2 * LAT_RANK_SPAN + LAT_RELAY_SLOTS };
    if (l->level > l->line_first + 2 * REACH) {
        uint64_t drop = l->level - REACH - l->line_first;
        l->line_count -= drop;
        memmove(l->line, l->line + drop, l->line_count * sizeof *l->line);
        l->line_first += drop;
    }
}

/* After a level was closed: which events are now in every cut. */
static void settle_common(struct pt_lattice *l)
{
    const struct lat_part *part = &l->current->parts[0];
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        const struct lat_field *field = &l->layout->fields[f];
        struct lat_column *column = &l->columns[field->column];
        uint32_t least = UINT32_MAX;
        if (l->paired) /* the first thread's count rises, the second's falls */
            least = lat_field_count_in(field, &part->keys[f ? part->count - 1 : 0]);
        for (uint32_t i = 0; i < part->count && !l->paired; i++) {
            uint32_t count = lat_field_count_in(field, part->keys + (size_t)i * l->layout->words);
            least = count < least ? count : least;
        }
        column->low = column->common;
        l->common_total += field->base + least - column->common;
        column->common = field->base + least;
    }
}

static void close_level(struct pt_lattice *l)
{
    struct lat_part *candidates = &l->next->parts[0];
    if (l->options->window != PT_ALL && candidates->count > l->options->window) {
        l->finding->complete = false;
        if (l->paired)
            lat_pair_keep(l, (uint32_t)l->options->window);
        else
            keep_least(l, candidates, (uint32_t)l->options->window);
    }
    l->previous.count = 0;
    if (l->finding->complete || (l->judges && !l->ranked)) { /* nobody asks for it otherwise */
        const struct lat_part *old = &l->current->parts[0];
        size_t words = old->count * (size_t)l->layout->words;
        PT_GROW(l->previous.keys, l->previous.cap, words);
        memcpy(l->previous.keys, old->keys, words * sizeof *old->keys);
        l->previous.count = old->count;
    }
    struct lat_level *swap = l->current;
    l->current = l->next;
    l->next = swap;
    l->next_open = false;
    l->level++;
    if (l->ranked)
        lat_ranks_settle(l);
    else
        settle_common(l);
}

/* What Q gives of the next level; false: more events must come before there is anything to do. */
static bool open_next(struct pt_lattice *l)
{
    if (!l->ranked && lat_pair_ready(l)) {
        lat_pair_expand(l);
        return l->next_open = true;
    }
    enum lat_made made = lat_ranks_expand(l);
    if (made == LAT_NOT_MADE)
        lat_expand(l, l->current, l->next);
    return l->next_open = made != LAT_WAIT;
}

/* Makes levels that another thread fills, as far as they can be made of words. False: more events must come first. */
static bool make_ahead(struct pt_lattice *l)
{
    while (!l->stopped && l->ranked && lat_relay_ready(l)) {
        enum lat_made made = lat_ranks_make(l);
        if (made == LAT_WAIT)
            return false;
        if (made == LAT_MADE) {
            lat_relay_made(l);
            fill_q(l);
            continue;
        }
        lat_relay_drain(l);
        if (!l->stopped)
            lat_ranks_leave(l);
    }
    return !l->stopped;
}

static void advance(struct pt_lattice *l)
{
    while (!l->stopped) {
        fill_q(l);
        if (!l->layout && !l->ranked) /* no event at all */
            return;
        if (!make_ahead(l) || (!l->next_open && !open_next(l)))
            return;
        uint32_t candidates = l->next->parts[0].count;
        bool enough = l->options->window != PT_ALL && candidates >= l->options->window;
        if (!candidates || !(lat_q_full(l) || l->ended || enough))
            return;
        close_level(l);
        if (!lat_level_done(l))
            l->stopped = true;
    }
}

void lat_cone_advance(struct pt_lattice *l)
{
    advance(l);
    if (l->ended)
        lat_relay_drain(l);
}

void lat_cone_late_event(struct pt_lattice *l, const struct pt_cut_event *event)
{
    uint32_t known = l->last_level.column_count;
    uint64_t *counts = l->workers[0].counts;
    if (!l->by_needs)
        l->finding->complete = false;
    for (uint32_t i = 0; l->finding->complete && i < l->last_level.count; i++) {
        for (uint32_t c = known; c < l->column_count; c++)
            counts[c] = l->options->counted_before; /* threads that came since have no event there */
        if (known)
            memcpy(counts, l->last_level.counts + (size_t)i * known, known * sizeof *counts);
        if (pt_relation_enabled(&l->relation, counts, event))
            l->finding->complete = false;
    }
}

void lat_cone_stop(struct pt_lattice *l)
{
    if (!l->layout || !l->finding->complete)
        return;
    l->last_level.column_count = l->column_count;
    l->last_level.count = l->previous.count;
    l->last_level.counts = pt_xmalloc(((size_t)l->previous.count * l->column_count + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < l->previous.count; i++)
        lat_counts(l, l->layout, l->previous.keys + (size_t)i * l->layout->words,
                   l->last_level.counts + (size_t)i * l->column_count);
    for (uint32_t c = 0; c < l->column_count; c++) /* arrived, but not in Q when the level was closed */
        for (uint64_t k = l->columns[c].in_q + 1; k <= l->columns[c].arrived; k++) {
            struct pt_cut_event event = lat_cut_event(l, c, k);
            lat_cone_late_event(l, &event);
        }
}
