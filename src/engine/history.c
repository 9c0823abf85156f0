/*
 * What is remembered of finished levels, so that a violation's run can be rebuilt without storing edges.
 *
 * Full exploration: all events stay in memory, so any level can be made again from an earlier one. Levels at multiples
 * of a stride are kept; when they outgrow the budget, the stride doubles. Bounded windows: events are forgotten, so the
 * latest levels are kept without gaps, as many as the budget holds, and with them the events they need. They are never
 * more than a few thousand: a witness is rarely longer, and what is written and dropped at the rate of events had
 * better stay in the cache.
 *
 * Guarantee: within the budget any level can be had again (full), or the latest ones without gaps (bounded). Cost: one
 * copy of each level that is kept; making a level again costs what making it did, from the nearest one kept before.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/share.h"

/* Memory of one level. Those of bounded windows come and go at the rate of events, so they are used again. */
struct lat_block {
    struct lat_block *next;
    uint32_t class; /* PT_NONE: too large to be kept */
    _Alignas(uint64_t) unsigned char data[];
};

enum { SMALLEST_BLOCK = 64 };
enum {
    AT_ONCE = LAT_HISTORY_STRIDE - 1,
    AHEAD = 4
}; /* room that is made for later levels; that are looked at before */

/*
 * Of full explorations not every level is copied even while there is room: the copies were a quarter of the time of one
 * job, nearly all of it the kernel's for their pages, which it gives and takes back one at a time however many jobs
 * there are. What is missing is made again if there is a violation, and then below its cut only.
 */
enum { FIRST_STRIDE = 16 };

static struct lat_block *block_take(struct lat_history *h, size_t size, bool many_workers)
{
    uint32_t class = 0;
    while (class < LAT_BLOCK_CLASSES && (size_t)SMALLEST_BLOCK << class < size)
        class ++;
    struct lat_block *block;
    if (class == LAT_BLOCK_CLASSES) {
        block = many_workers ? pt_xlarge(sizeof *block + size) : pt_xmalloc(sizeof *block + size);
        block->class = PT_NONE;
    } else if (h->spare[class]) {
        block = h->spare[class];
        h->spare[class] = block->next;
    } else {
        block = pt_xmalloc(sizeof *block + ((size_t)SMALLEST_BLOCK << class));
        block->class = class;
    }
    return block;
}

static void block_give_back(struct lat_history *h, struct lat_block *block)
{
    if (!block)
        return;
    if (block->class == PT_NONE) {
        free(block);
    } else {
        block->next = h->spare[block->class];
        h->spare[block->class] = block;
    }
}

void lat_past_level_release(struct pt_lattice *l, struct lat_past_level *past)
{
    block_give_back(&l->history, past->block);
    lat_layout_unref(past->layout);
    lat_window_forget(past->window);
    past->block = NULL; /* all of it would be a string instruction, which costs more than the rest of this */
    past->layout = NULL;
    past->window = NULL;
}

/*
 * What stays in memory because the level does: under a bounded window the events that became common to all cuts with
 * it, and its layout if no level before has it.
 */
static size_t pinned_bytes(const struct pt_lattice *l)
{
    const struct lat_layout *layout = l->layout;
    size_t bytes = 0, cap = 0;
    if (l->full)
        return 0;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const struct lat_column *column = &l->columns[layout->fields[f].column];
        for (uint64_t k = column->low + 1; k <= column->common; k++)
            bytes += sizeof(struct lat_event) + lat_event_at(column, k)->clock_len * sizeof(uint64_t);
        cap += layout->fields[f].filled;
    }
    if (layout->refs == 1)
        bytes += layout->column_count * sizeof *layout->settled + cap * ((size_t)layout->words + 3) * sizeof(uint64_t);
    return bytes;
}

struct copying {
    const struct lat_level *level;
    const struct lat_past_level *past;
};

/* By the workers, as levels are made: else this would be what they wait for. */
static void copy_part(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context)
{
    const struct copying *copying = context;
    const struct lat_past_level *past = copying->past;
    const struct lat_part *part = &copying->level->parts[number];
    size_t at = 0, words = past->words;
    (void)w;
    for (uint32_t p = 0; p < number; p++)
        at += copying->level->parts[p].count;
    if (!part->count)
        return;
    if (past->row && past->one_letter && past->one_set) { /* the commonest of all */
        past->keys[0] = part->keys[0];
        past->letters[0] = part->letters[0];
        past->sets[0] = part->sets[0];
        return;
    }
    if (!l->ranked)
        memcpy(past->keys + at * words, part->keys, (past->row ? 1 : part->count) * words * sizeof *past->keys);
    memcpy(past->letters + at, part->letters, (past->one_letter ? 1 : part->count) * sizeof *past->letters);
    memcpy(past->sets + at, part->sets, (past->one_set ? 1 : part->count) * sizeof *past->sets);
}

static bool has_one_letter(const struct lat_part *part)
{
    pt_letter difference = 0;
    for (uint32_t i = 1; i < part->count; i++)
        difference |= part->letters[i] ^ part->letters[0];
    return part->count && !difference;
}

/* The arrays follow each other; of each there are so many. */
static void place(struct lat_past_level *past, size_t keys, size_t letters, size_t sets)
{
    past->letters = (pt_letter *)(past->keys + keys);
    past->sets = past->letters + letters;
    past->common = past->sets + sets;
}

void lat_past_level_fill(struct pt_lattice *l, const struct lat_level *level, uint64_t number,
                         struct lat_past_level *past)
{
    past->level = number; /* one by one: see lat_past_level_release */
    past->layout = l->layout;
    past->window = NULL;
    past->bytes = 0;
    size_t words = l->ranked ? LAT_RANK_WORDS : l->layout ? l->layout->words : 1;
    past->words = (uint32_t)words;
    past->count = 0;
    for (uint32_t p = 0; p < level->part_count; p++)
        past->count += level->parts[p].count;
    uint32_t fields = past->fields = l->layout ? l->layout->field_count : 0;
    past->row = l->paired && !l->ranked;
    past->distance = past->row && past->count > 1 ? level->parts[0].keys[1] - level->parts[0].keys[0] : 0;
    past->one_letter = past->row ? level->parts[0].alike : !l->full && has_one_letter(&level->parts[0]);
    past->one_set = (l->paired || l->ranked) && level->parts[0].calm != PT_NONE;
    size_t keys = (past->row ? 1 : past->count) * words;
    size_t letters = past->one_letter ? 1 : past->count, sets = past->one_set ? 1 : past->count;
    size_t bytes = keys * sizeof *past->keys + letters * sizeof *past->letters + sets * sizeof *past->sets;
    size_t size = bytes + fields * sizeof *past->common;
    bool own = keys == 1 && letters == 1 && sets == 1 && size <= sizeof past->own && !l->full; /* others are moved */
    past->block = own ? NULL : block_take(&l->history, size, lat_has_many_workers(l));
    past->keys = own ? past->own : (uint64_t *)(void *)past->block->data;
    place(past, keys, letters, sets);
    if (level->part_count == 1)
        copy_part(l, NULL, 0, &(struct copying){level, past});
    else
        lat_pool_run(l, past->count, copy_part, &(struct copying){level, past}, level->part_count);
    if (l->layout) {
        for (uint32_t f = 0; f < l->layout->field_count; f++)
            past->common[f] = (uint32_t)(l->columns[l->layout->fields[f].column].common - l->layout->fields[f].base);
        past->bytes = l->layout->field_count * sizeof *past->common + pinned_bytes(l);
        l->layout->refs++;
    }
    if (l->ranked)
        lat_ranks_remember(l, past);
    else
        past->observed = lat_trail(l, number);
    past->bytes += sizeof *past + bytes;
}

/* Forgets the oldest level. */
static void drop_oldest(struct pt_lattice *l)
{
    struct lat_history *h = &l->history;
    struct lat_past_level *oldest = lat_past_at(h, 0);
    if (h->count > AHEAD && lat_past_at(h, AHEAD)->block) /* it was written long ago */
        __builtin_prefetch(lat_past_at(h, AHEAD)->block);
    h->bytes -= oldest->bytes;
    lat_past_level_release(l, oldest);
    h->head = h->head + 1 < h->cap ? h->head + 1 : 0;
    h->count--;
}

/* Forgets the events that only levels before the oldest one needed. */
static void free_before(struct pt_lattice *l)
{
    if (!l->history.count)
        return;
    const struct lat_past_level *oldest = lat_past_at(&l->history, 0);
    lat_relay_forget(l, oldest->level);
    /* Events that are in every cut may still have bits: while there are words, lat_relay_forget alone forgets some. */
    for (uint32_t f = 0; f < oldest->fields && !l->ranked; f++) {
        const struct lat_field *field = &oldest->layout->fields[f];
        struct lat_column *column = &l->columns[field->column];
        uint64_t common = field->base + oldest->common[f];
        /* Not past `low`: when only the current level is left, a new layout still begins there. */
        lat_free_events(l, column, common < column->low ? common : column->low);
    }
}

/* Room for one more level. Those of bounded windows are never more than fit into a ring of that size. */
static void grow(struct pt_lattice *l, struct lat_history *h)
{
    enum { FIRST = 64, MOST_BOUNDED = LAT_BOUNDED_LEVELS + 1 };
    if (h->count < h->cap)
        return;
    struct lat_history grown = *h;
    grown.cap = h->cap ? 2 * h->cap : FIRST;
    if (!l->full && h->cap < MOST_BOUNDED && grown.cap > MOST_BOUNDED)
        grown.cap = MOST_BOUNDED;
    grown.levels = pt_xmalloc(grown.cap * sizeof *grown.levels);
    grown.head = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        struct lat_past_level *past = &grown.levels[i];
        *past = *lat_past_at(h, i);
        if (past->block)
            continue;
        past->keys = past->own;
        place(past, 1, 1, 1);
    }
    free(h->levels);
    *h = grown;
}

static void double_stride(struct pt_lattice *l)
{
    struct lat_history *h = &l->history;
    uint32_t kept = 0;
    h->stride *= 2;
    for (uint32_t i = 0; i < h->count; i++) {
        struct lat_past_level *past = lat_past_at(h, i);
        if (past->level % h->stride == 0) {
            *lat_past_at(h, kept++) = *past;
        } else {
            h->bytes -= past->bytes;
            lat_past_level_release(l, past);
        }
    }
    h->count = kept;
}

static bool too_much(const struct pt_lattice *l)
{
    return lat_any(l, l->history.bytes > l->history.budget);
}

void lat_history_shrink(struct pt_lattice *l, size_t budget)
{
    struct lat_history *h = &l->history;
    h->budget = budget;
    uint32_t count = h->count;
    bool many = !l->full && count > LAT_BOUNDED_LEVELS; /* then some go together */
    while (h->count > 1 && (too_much(l) || (many && h->count > LAT_BOUNDED_LEVELS - AT_ONCE))) {
        if (l->full)
            double_stride(l);
        else
            drop_oldest(l);
    }
    if (h->count != count && !l->full)
        free_before(l);
}

void lat_history_push(struct pt_lattice *l)
{
    struct lat_history *h = &l->history;
    if (l->full && l->level % h->stride != 0)
        return;
    grow(l, h);
    struct lat_past_level *past = lat_past_at(h, h->count);
    lat_past_level_fill(l, l->current, l->ranked ? lat_ranks_level(l) : l->level, past);
    h->bytes += past->bytes;
    h->count++;
    lat_history_shrink(l, h->budget);
}

void lat_history_release(struct pt_lattice *l)
{
    struct lat_history *h = &l->history;
    for (uint32_t i = 0; i < h->count; i++)
        lat_past_level_release(l, lat_past_at(h, i));
    free(h->levels);
    for (uint32_t class = 0; class < LAT_BLOCK_CLASSES; class ++)
        for (struct lat_block *block = h->spare[class], *next; block; block = next) {
            next = block->next;
            free(block);
        }
    *h = (struct lat_history){.stride = l->full ? FIRST_STRIDE : 1, .budget = h->budget};
}

void lat_free_common(struct pt_lattice *l)
{
    lat_free_passed(l, UINT64_MAX);
    for (uint32_t f = 0; l->layout && f < l->layout->field_count; f++) {
        struct lat_column *column = &l->columns[l->layout->fields[f].column];
        lat_free_events(l, column, column->low);
    }
}
