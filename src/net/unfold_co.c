/*
 * Concurrency, kept in compressed rows: of each condition, the conditions that are concurrent with it, as blocks of 32
 * of which none is empty. Those that are older than its event's are one row for all conditions of the event; its
 * siblings are known by their numbers; those that are newer come in the order of their numbers, and are added at the
 * end. So the relation takes a few bytes for each pair, or less where they lie together, and not a bit for every pair
 * of conditions there is.
 *
 * The row of a new event is the intersection of the rows of what it consumes and reads; what it reads stays concurrent
 * with what it makes. Two conditions are concurrent here if some configuration leaves both, whoever has read them. An
 * event that consumes a condition comes after the reads in its history and excludes all others: so whatever comes after
 * another read is taken out of the row. (In cunf's words this is concurrency of generating histories; marks stand for
 * reading ones.)
 *
 * Cost of one row: the shortest of the rows, and a logarithm for each of its blocks and other row.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

/* The first block from `from` on whose number is not below `index`: steps that double, then halve. */
static uint32_t seek(const struct block *blocks, uint32_t count, uint32_t from, uint32_t index)
{
    uint32_t step = 1, low = from;
    if (low >= count || blocks[low].index >= index)
        return low;
    while (low + step < count && blocks[low + step].index < index) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < count ? low + step : count;
    while (high - low > 1) { /* blocks[low] is below, blocks[high] is not */
        uint32_t middle = low + (high - low) / 2;
        if (blocks[middle].index < index)
            low = middle;
        else
            high = middle;
    }
    return high;
}

bool pt_unfold_is_co(const struct unfolder *un, uint32_t a, uint32_t b)
{
    uint32_t newer = a > b ? a : b, older = a > b ? b : a;
    uint32_t event = un->u->condition_event[newer];
    if (older >= un->u->events[event].post_start)
        return older != newer; /* both are made by one event */
    const struct extended *x = &un->extended[event];
    uint32_t at = seek(x->older, x->older_count, 0, older / 32);
    return at < x->older_count && x->older[at].index == older / 32 && (x->older[at].bits >> (older % 32) & 1);
}

static void add_block(struct row *row, uint32_t index, uint32_t bits)
{
    if (bits == 0)
        return;
    if (row->count > 0 && row->blocks[row->count - 1].index == index) {
        row->blocks[row->count - 1].bits |= bits;
        return;
    }
    if (row->count == row->cap) { /* most rows stay short, and there are many */
        row->cap = row->cap ? row->cap * 2 : 2;
        row->blocks = pt_xrealloc(row->blocks, row->cap * sizeof *row->blocks);
    }
    row->blocks[row->count++] = (struct block){index, bits};
}

/* Those of the conditions start .. end - 1 that are in block `index`. */
static uint32_t range_bits(uint32_t start, uint32_t end, uint32_t index)
{
    uint64_t first = (uint64_t)index * 32, bits = 0xffffffff;
    if (start >= first + 32 || end <= first)
        return 0;
    if (start > first)
        bits &= ~(uint64_t)0 << (start - first);
    if (end < first + 32)
        bits &= ((uint64_t)1 << (end - first)) - 1;
    return (uint32_t)bits;
}

static void add_range(struct row *row, uint32_t start, uint32_t end)
{
    for (uint32_t index = start / 32; start < end && index <= (end - 1) / 32; index++)
        add_block(row, index, range_bits(start, end, index));
}

/* The whole row of a condition. `stays`: itself included. */
static void copy_row(struct unfolder *un, uint32_t condition, bool stays, struct row *row)
{
    uint32_t event = un->u->condition_event[condition];
    const struct pt_unfold_event *e = &un->u->events[event];
    const struct extended *x = &un->extended[event];
    const struct row *newer = &un->newer[condition];
    row->count = 0;
    PT_GROW(row->blocks, row->cap, (size_t)x->older_count + newer->count + 8);
    if (x->older_count)
        memcpy(row->blocks, x->older, x->older_count * sizeof *x->older);
    row->count = x->older_count;
    add_range(row, e->post_start, stays ? e->post_start + e->post_count : condition);
    if (!stays)
        add_range(row, condition + 1, e->post_start + e->post_count);
    for (uint32_t i = 0; i < newer->count; i++)
        add_block(row, newer->blocks[i].index, newer->blocks[i].bits);
}

/* Leaves in the row what the condition's has, too. `shared`: its event's older ones have been intersected already. */
static void intersect(struct unfolder *un, uint32_t condition, bool stays, bool shared, struct row *row)
{
    uint32_t event = un->u->condition_event[condition];
    const struct pt_unfold_event *e = &un->u->events[event];
    const struct extended *x = &un->extended[event];
    const struct row *newer = &un->newer[condition];
    uint32_t older_at = 0, newer_at = 0, kept = 0, end = e->post_start + e->post_count;
    for (uint32_t i = 0; i < row->count; i++) {
        struct block block = row->blocks[i];
        uint32_t bits = range_bits(e->post_start, end, block.index);
        if (!stays && condition / 32 == block.index)
            bits &= ~(1u << (condition % 32));
        if (block.index <= e->post_start / 32 && shared) {
            bits |= range_bits(0, e->post_start, block.index);
        } else if (block.index <= e->post_start / 32) {
            older_at = seek(x->older, x->older_count, older_at, block.index);
            if (older_at < x->older_count && x->older[older_at].index == block.index)
                bits |= x->older[older_at].bits;
        }
        if (block.index >= end / 32) {
            newer_at = seek(newer->blocks, newer->count, newer_at, block.index);
            if (newer_at < newer->count && newer->blocks[newer_at].index == block.index)
                bits |= newer->blocks[newer_at].bits;
        }
        block.bits &= bits;
        if (block.bits)
            row->blocks[kept++] = block;
    }
    row->count = kept;
}

static void clear_range(struct row *row, uint32_t start, uint32_t end)
{
    uint32_t at = seek(row->blocks, row->count, 0, start / 32);
    for (; at < row->count && row->blocks[at].index <= (end - 1) / 32; at++)
        row->blocks[at].bits &= ~range_bits(start, end, row->blocks[at].index);
}

/* Takes out what comes after a read of something consumed that is not in the event's history, and marks of the reads
 * that are, which nobody needs any more. */
static void exclude_reads(struct unfolder *un, uint32_t consumed, const uint32_t *conditions, uint32_t count)
{
    uint32_t stamp = pt_unfold_know_reads(un, consumed, conditions, count);
    for (uint32_t i = 0; i < consumed; i++) {
        const struct list *watchers = &un->watchers[conditions[i]], *readers = &un->readers[conditions[i]];
        for (uint32_t k = 0; k < watchers->count; k += 2) {
            const struct pt_unfold_event *e = &un->u->events[watchers->items[k]];
            if (un->condition_stamp[watchers->items[k + 1]] != stamp && e->post_count > 0)
                clear_range(&un->row, e->post_start, e->post_start + e->post_count);
        }
        for (uint32_t k = 0; k < readers->count; k++)
            clear_range(&un->row, readers->items[k], readers->items[k] + 1);
    }
}

void pt_unfold_make_row(struct unfolder *un, uint32_t transition, const uint32_t *conditions, uint32_t count)
{
    uint32_t consumed = pt_net_consumed(un->net, transition), shortest = 0, least = PT_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size =
            un->extended[un->u->condition_event[conditions[i]]].older_count + un->newer[conditions[i]].count;
        if (size < least) {
            least = size;
            shortest = i;
        }
    }
    copy_row(un, conditions[shortest], shortest >= consumed, &un->row);
    uint32_t previous = un->u->condition_event[conditions[shortest]];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = un->u->condition_event[conditions[i]];
        if (i != shortest)
            intersect(un, conditions[i], i >= consumed, event == previous, &un->row);
        previous = event;
    }
    bool was_read = false;
    for (uint32_t i = 0; un->reads && i < consumed; i++)
        was_read |= un->readers[conditions[i]].count > 0;
    if (was_read)
        exclude_reads(un, consumed, conditions, count);
}

void pt_unfold_index_row(struct unfolder *un)
{
    PT_GROW(un->place_next, un->place_next_cap, un->u->condition_cap);
    uint32_t now = ++un->row_now;
    for (uint32_t i = 0; i < un->row.count; i++) {
        for (uint32_t bits = un->row.blocks[i].bits; bits; bits &= bits - 1) {
            uint32_t condition = un->row.blocks[i].index * 32 + (uint32_t)__builtin_ctz(bits);
            uint32_t place = un->u->condition_place[condition];
            if (place == PT_NONE)
                continue; /* a mark */
            un->place_next[condition] = un->place_stamp[place] == now ? un->place_head[place] : PT_NONE;
            un->place_head[place] = condition;
            un->place_stamp[place] = now;
        }
    }
}

void pt_unfold_keep_row(struct unfolder *un, uint32_t event)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    struct extended *x = &un->extended[event];
    uint32_t kept = 0, start = e->post_start, end = start + e->post_count;
    x->older = pt_xmalloc(((size_t)un->row.count + 1) * sizeof *x->older);
    for (uint32_t i = 0; i < un->row.count; i++) {
        uint32_t index = un->row.blocks[i].index;
        if (un->row.blocks[i].bits == 0)
            continue;
        x->older[kept++] = un->row.blocks[i];
        for (uint32_t bits = un->row.blocks[i].bits; bits; bits &= bits - 1) {
            struct row *newer = &un->newer[index * 32 + (uint32_t)__builtin_ctz(bits)];
            size_t before = newer->cap;
            add_range(newer, start, end);
            un->bytes += (newer->cap - before) * sizeof *newer->blocks;
        }
    }
    x->older_count = kept;
    un->bytes += kept * sizeof *x->older;
}
