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
 * Adding an event to the rows of all that is concurrent with it is a write here and there for each. Where that is much,
 * events wait in a window of 64 conditions at most, and are added together; until then their own rows are asked.
 *
 * Where most of the prefix is concurrent, rows grow with it: then unfold_walk.c is the better way.
 *
 * Cost of one row: the shortest of the rows, and a logarithm for each of its blocks and other row; and its conditions.
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

bool pt_unfold_rows_is_co(const struct unfolder *un, uint32_t a, uint32_t b)
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
    if (row->count > 0 && row->last == index) {
        row->blocks[row->count - 1].bits |= bits;
        return;
    }
    if (row->count == row->cap) { /* most rows stay short, and there are many */
        row->cap += row->cap < 2 ? 2 : row->cap < 64 ? row->cap : row->cap / 2;
        row->blocks = pt_xrealloc(row->blocks, row->cap * sizeof *row->blocks);
    }
    row->last = index;
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

enum { WINDOW = 64, LARGE_ROW = 400 }; /* conditions */

/* The conditions of the window that are newer than this one and concurrent with it, as bits. */
static uint64_t window_bits(const struct unfolder *un, uint32_t condition)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < un->window.count; i++) {
        const struct pt_unfold_event *e = &un->u->events[un->window.items[i]];
        if (e->post_start <= condition || !pt_unfold_rows_is_co(un, e->post_start, condition))
            continue;
        uint64_t own = e->post_count == WINDOW ? ~(uint64_t)0 : ((uint64_t)1 << e->post_count) - 1;
        bits |= own << (e->post_start - un->window_start);
    }
    return bits;
}

/* Those of them that are in block `index`. */
static uint32_t window_block(const struct unfolder *un, uint64_t bits, uint32_t index)
{
    uint64_t first = (uint64_t)index * 32;
    if (first >= un->window_start)
        return first - un->window_start < WINDOW ? (uint32_t)(bits >> (first - un->window_start)) : 0;
    return un->window_start - first < 32 ? (uint32_t)(bits << (un->window_start - first)) : 0;
}

static void add_window(const struct unfolder *un, uint64_t bits, struct row *row)
{
    for (uint32_t index = un->window_start / 32; bits && index <= (un->window_start + WINDOW - 1) / 32; index++)
        add_block(row, index, window_block(un, bits, index));
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
    row->last = row->count ? row->blocks[row->count - 1].index : 0;
    add_range(row, e->post_start, stays ? e->post_start + e->post_count : condition);
    if (!stays)
        add_range(row, condition + 1, e->post_start + e->post_count);
    for (uint32_t i = 0; i < newer->count; i++)
        add_block(row, newer->blocks[i].index, newer->blocks[i].bits);
    add_window(un, window_bits(un, condition), row);
}

/* Leaves in the row what the condition's has, too. `shared`: its event's older ones have been intersected already. */
static void intersect(struct unfolder *un, uint32_t condition, bool stays, bool shared, struct row *row)
{
    uint32_t event = un->u->condition_event[condition];
    const struct pt_unfold_event *e = &un->u->events[event];
    const struct extended *x = &un->extended[event];
    const struct row *newer = &un->newer[condition];
    uint32_t older_at = 0, newer_at = 0, kept = 0, end = e->post_start + e->post_count;
    uint64_t window = window_bits(un, condition);
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
            bits |= window ? window_block(un, window, block.index) : 0;
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

void pt_unfold_rows_make(struct unfolder *un, uint32_t transition, const uint32_t *conditions, uint32_t count)
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

/* Sorts the whole row by places, but for those that have been looked at. */
static void index_row(struct unfolder *un)
{
    un->row_indexed = true;
    for (uint32_t i = 0; i < un->row.count; i++) {
        for (uint32_t bits = un->row.blocks[i].bits; bits; bits &= bits - 1) {
            uint32_t condition = un->row.blocks[i].index * 32 + (uint32_t)__builtin_ctz(bits);
            uint32_t place = un->u->condition_place[condition];
            if (place == PT_NONE || un->place_stamp[place] == un->row_now)
                continue; /* a mark, or done */
            un->place_next[condition] = un->place_stamp[place] > un->row_now ? un->place_head[place] : PT_NONE;
            un->place_head[place] = condition;
            un->place_stamp[place] = un->row_now + 1;
        }
    }
}

/* Looks through the conditions of one place for those in the row, newest first. */
static void index_place(struct unfolder *un, uint32_t place)
{
    uint32_t *link = &un->place_head[place];
    un->place_stamp[place] = un->row_now;
    for (uint32_t c = un->newest[place]; c != PT_NONE; c = un->older[c]) {
        uint32_t at = seek(un->row.blocks, un->row.count, 0, c / 32);
        if (at < un->row.count && un->row.blocks[at].index == c / 32 && (un->row.blocks[at].bits >> (c % 32) & 1)) {
            *link = c;
            link = &un->place_next[c];
        }
    }
    *link = PT_NONE;
}

uint32_t pt_unfold_rows_first(struct unfolder *un, uint32_t place)
{
    if (un->place_size[place] < un->row.count) /* a row has more conditions than blocks */
        index_place(un, place);
    else
        index_row(un);
    return un->place_stamp[place] >= un->row_now ? un->place_head[place] : PT_NONE;
}

/* The row of a condition gets bits of the window, or the conditions start .. end - 1. */
static void add_newer(struct unfolder *un, uint32_t condition, uint64_t bits, uint32_t start, uint32_t end)
{
    struct row *newer = &un->newer[condition];
    size_t before = newer->cap;
    if (bits)
        add_window(un, bits, newer);
    else
        add_range(newer, start, end);
    un->bytes += (newer->cap - before) * sizeof *newer->blocks;
}

/* Rows and columns change places: bit i of word k for bit k of word i. By halves, quarters and so on. */
static void transpose(uint32_t *words)
{
    uint32_t mask = 0x0000ffff;
    for (uint32_t step = 16; step; step /= 2, mask ^= mask << step)
        for (uint32_t k = 0; k < 32; k = (k + step + 1) & ~step) {
            uint32_t swap = (words[k] >> step ^ words[k + step]) & mask;
            words[k] ^= swap << step;
            words[k + step] ^= swap;
        }
}

/* From a word for each condition of the window to one for each condition of a block. */
static void turn(uint32_t *words, uint64_t *ret_words)
{
    transpose(words);
    transpose(words + 32);
    for (uint32_t k = 0; k < 32; k++)
        ret_words[k] = (uint64_t)words[32 + k] << 32 | words[k];
}

/* The same, bit by bit. */
static void scatter(const uint32_t *words, uint64_t *ret_words)
{
    memset(ret_words, 0, 32 * sizeof *ret_words);
    for (uint32_t i = 0; i < WINDOW; i++)
        for (uint32_t bits = words[i]; bits; bits &= bits - 1)
            ret_words[__builtin_ctz(bits)] |= (uint64_t)1 << i;
}

/* Adds block `index` of the rows of the window's events, which are at `at`, to the rows of its conditions. */
static void flush_block(struct unfolder *un, uint32_t index, uint32_t *at)
{
    enum { FEW = 12 };
    uint32_t rows[WINDOW] = {0}, all = 0, count = 0;
    uint64_t columns[32];
    for (uint32_t i = 0; i < un->window.count; i++) {
        const struct extended *x = &un->extended[un->window.items[i]];
        const struct pt_unfold_event *e = &un->u->events[un->window.items[i]];
        if (at[i] >= x->older_count || x->older[at[i]].index != index)
            continue;
        uint32_t own = x->older[at[i]++].bits;
        all |= own;
        count++;
        for (uint32_t c = e->post_start; c < e->post_start + e->post_count; c++)
            rows[c - un->window_start] = own;
    }
    if (count > FEW)
        turn(rows, columns);
    else
        scatter(rows, columns);
    for (; all; all &= all - 1)
        add_newer(un, index * 32 + (uint32_t)__builtin_ctz(all), columns[__builtin_ctz(all)], 0, 0);
}

static void flush_window(struct unfolder *un)
{
    uint32_t at[WINDOW] = {0};
    for (;;) {
        uint32_t least = PT_NONE;
        for (uint32_t i = 0; i < un->window.count; i++) {
            const struct extended *x = &un->extended[un->window.items[i]];
            if (at[i] < x->older_count && x->older[at[i]].index < least)
                least = x->older[at[i]].index;
        }
        if (least == PT_NONE)
            break;
        flush_block(un, least, at);
    }
    un->window.count = 0;
}

/* Sees to it that the event is in the rows of what its own has. */
static void spread_row(struct unfolder *un, uint32_t event, uint32_t conditions)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    const struct extended *x = &un->extended[event];
    uint32_t start = e->post_start, end = start + e->post_count;
    bool waits = conditions >= LARGE_ROW && e->post_count > 0 && e->post_count <= WINDOW;
    if (un->window.count > 0 && (!waits || end - un->window_start > WINDOW))
        flush_window(un);
    if (waits) {
        if (un->window.count == 0)
            un->window_start = start / 32 * 32 + WINDOW >= end ? start / 32 * 32 : start;
        pt_list_add(&un->window, event);
        return;
    }
    for (uint32_t i = 0; i < x->older_count; i++) {
        for (uint32_t bits = x->older[i].bits; bits; bits &= bits - 1)
            add_newer(un, x->older[i].index * 32 + (uint32_t)__builtin_ctz(bits), 0, start, end);
    }
}

void pt_unfold_rows_keep(struct unfolder *un, uint32_t event)
{
    struct extended *x = &un->extended[event];
    uint32_t kept = 0, conditions = 0;
    x->older = pt_xmalloc(((size_t)un->row.count + 1) * sizeof *x->older);
    for (uint32_t i = 0; i < un->row.count; i++) {
        if (un->row.blocks[i].bits == 0)
            continue;
        x->older[kept++] = un->row.blocks[i];
        conditions += (uint32_t)__builtin_popcount(un->row.blocks[i].bits);
    }
    x->older_count = kept;
    un->bytes += kept * sizeof *x->older;
    spread_row(un, event, conditions);
}

void pt_unfold_rows_drop(struct unfolder *un)
{
    for (uint32_t i = 0; i < un->u->event_count; i++) {
        un->bytes -= un->extended[i].older_count * sizeof *un->extended[i].older;
        free(un->extended[i].older);
        un->extended[i].older = NULL;
        un->extended[i].older_count = 0;
    }
    for (uint32_t i = 0; i < un->u->condition_count && i < un->newer_cap; i++) {
        un->bytes -= un->newer[i].cap * sizeof *un->newer[i].blocks + sizeof *un->newer;
        free(un->newer[i].blocks);
    }
    free(un->newer);
    un->newer = NULL;
    un->newer_cap = 0;
    un->window.count = 0;
}
