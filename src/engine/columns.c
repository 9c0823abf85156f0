/*
 * Events by thread, and the packing of cuts.
 *
 * A layout gives each thread with pending events a field; it lasts until an event does not fit or a level has to begin
 * elsewhere, and then all cuts are packed again. Guarantee: two cuts of a layout are the same iff their words are.
 * Cost: an event is packed once per layout, O(threads); a new layout costs what the pending events and the kept cuts
 * do; bounded windows leave room in the fields, and words for the fields of threads to come, so that layouts are rare.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/lattice_impl.h"

void lat_column_grow(struct lat_column *column)
{
    enum { FIRST = 16 };
    uint64_t cap = column->events ? column->mask + 1 : 0;
    if (column->arrived - column->freed < cap)
        return;
    struct lat_column grown = *column;
    cap = cap ? 2 * cap : FIRST;
    grown.events = pt_xmalloc(cap * sizeof *grown.events);
    grown.mask = cap - 1;
    for (uint64_t k = column->freed + 1; k <= column->arrived; k++)
        *lat_event_at(&grown, k) = *lat_event_at(column, k);
    free(column->events);
    *column = grown;
}

uint64_t *lat_counts_at_start(const struct pt_lattice *l, uint32_t columns)
{
    uint64_t *counts = pt_xmalloc(((size_t)columns + 1) * sizeof *counts);
    for (uint32_t c = 0; c < columns; c++)
        counts[c] = l->options->counted_before;
    return counts;
}

/* What a forgotten event leaves behind is its value, for the states in which it was the last write. */
void lat_free_events(struct pt_lattice *l, struct lat_column *column, uint64_t upto)
{
    enum { AHEAD = 8 };
    while (column->freed < upto) {
        if (!l->borrows && column->arrived - column->freed > AHEAD) /* it was used long ago */
            __builtin_prefetch(lat_event_at(column, column->freed + 1 + AHEAD)->clock, 1);
        struct lat_event *e = lat_event_at(column, column->freed + 1);
        if (e->var != PT_NONE && e->number > l->freed_numbers[e->var]) {
            l->freed_numbers[e->var] = e->number;
            l->freed_values[e->var] = e->value;
        }
        l->event_bytes -= sizeof *e;
        if (!l->borrows)
            pt_clock_unref(e->clock);
        free(e->last);
        column->freed++;
    }
}

void lat_pass(struct pt_lattice *l, uint32_t column, uint64_t upto)
{
    struct lat_passed passed = {l->level, upto, column};
    if (l->passed_head > 64 && l->passed_head > l->passed_count / 2) {
        l->passed_count -= l->passed_head;
        memmove(l->passed, l->passed + l->passed_head, l->passed_count * sizeof *l->passed);
        l->passed_head = 0;
    }
    PT_PUSH(l->passed, l->passed_count, l->passed_cap, passed);
}

void lat_free_passed(struct pt_lattice *l, uint64_t level)
{
    for (; l->passed_head < l->passed_count && l->passed[l->passed_head].level < level; l->passed_head++)
        lat_free_events(l, &l->columns[l->passed[l->passed_head].column], l->passed[l->passed_head].upto);
}

void lat_unpass(struct pt_lattice *l, uint64_t level)
{
    while (l->passed_count > l->passed_head && l->passed[l->passed_count - 1].level >= level)
        l->passed_count--;
}

void lat_layout_unref(struct lat_layout *layout)
{
    if (!layout || --layout->refs)
        return;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        free(layout->fields[f].need);
        free(layout->fields[f].lacked);
        free(layout->fields[f].effect);
        free(layout->fields[f].user_event);
        free(layout->fields[f].joint);
        free(layout->fields[f].alike);
        free(layout->fields[f].quiet);
        free(layout->fields[f].number);
    }
    free(layout->fields);
    free(layout->guard);
    free(layout->settled);
    free(layout);
}

static uint32_t bits_for(uint64_t greatest)
{
    return greatest ? 64 - (uint32_t)__builtin_clzll(greatest) : 1;
}

/*
 * How wide a field should be. Bounded windows leave room, so that the layout lasts for many levels: twice what is
 * pending, and whatever else one word can give each field for nothing.
 */
static uint32_t field_bits(const struct pt_lattice *l, uint32_t pending, uint32_t pending_columns)
{
    enum { ENOUGH = 12 };
    if (l->full)
        return bits_for(pending);
    uint32_t columns = pending_columns ? pending_columns : 1; /* never 0, but an analyser cannot see that */
    uint32_t bits = bits_for(2 * (uint64_t)pending + 14), share = 64 / columns;
    share = share > ENOUGH ? ENOUGH : share - (share > 0);
    return bits > share ? bits : share;
}

/* Where so many threads have pending events, room is left for as many again, or at least some. */
enum { MANY_FIELDS = 16 };

/* One field per column with events above the common ones; first fit into words. */
static struct lat_layout *layout_new(struct pt_lattice *l)
{
    struct lat_layout *layout = pt_xcalloc(1, sizeof *layout);
    layout->refs = 1;
    layout->words = 1;
    uint32_t used = 0;
    size_t cap = 0;
    uint32_t pending_columns = 0;
    for (uint32_t c = 0; c < l->column_count; c++)
        pending_columns += l->columns[c].arrived > l->columns[c].low;
    for (uint32_t c = 0; c < l->column_count; c++) {
        struct lat_column *column = &l->columns[c];
        uint32_t pending = (uint32_t)(column->arrived - column->low);
        column->field = PT_NONE;
        if (!pending)
            continue;
        uint32_t bits = field_bits(l, pending, pending_columns);
        if (used + bits + 1 > 64) {
            layout->words++;
            used = 0;
        }
        struct lat_field field = {.column = c, .base = column->low, .word = layout->words - 1, .shift = used};
        field.mask = ((uint64_t)1 << bits) - 1;
        used += bits + 1;
        column->field = layout->field_count;
        PT_PUSH(layout->fields, layout->field_count, cap, field);
    }
    layout->last_word = layout->words - 1;
    layout->last_used = used;
    if (!l->full && layout->field_count >= MANY_FIELDS)
        layout->words += layout->words / 4 + 1;
    layout->column_count = l->column_count;
    layout->settled = pt_xcalloc(l->column_count, sizeof *layout->settled);
    for (uint32_t c = 0; c < l->column_count; c++)
        layout->settled[c] = l->columns[c].arrived;
    layout->guard = pt_xcalloc(layout->words, sizeof *layout->guard);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        struct lat_field *field = &layout->fields[f];
        layout->guard[field->word] |= (field->mask + 1) << field->shift;
        if (field->mask > layout->fields[layout->split].mask)
            layout->split = f;
    }
    return layout;
}

/* Needs event k, from 0 and not the first, nothing that the one before it does not, but that one? */
static bool learned_nothing(const struct lat_field *field, uint32_t words, uint32_t k)
{
    const uint64_t *need = field->need + (size_t)k * words;
    bool same = true;
    for (uint32_t w = 0; w < words; w++)
        same = same && need[w] == (need - words)[w] + (w == field->word ? (uint64_t)1 << field->shift : 0);
    return same;
}

/* Enters the next event of a field: what it needs, packed. */
static void field_fill(struct pt_lattice *l, struct lat_layout *layout, struct lat_field *field)
{
    uint64_t index = field->base + field->filled + 1;
    uint32_t words = layout->words;
    const struct lat_event *e = lat_event_at(&l->columns[field->column], index);
    struct pt_cut_event event = lat_cut_event(l, field->column, index);
    if ((field->filled & (field->filled - 1)) == 0) { /* 0 and powers of two: room for twice as many */
        size_t cap = field->filled ? 2 * (size_t)field->filled : 1;
        field->need = pt_xrealloc(field->need, cap * words * sizeof *field->need);
        field->lacked = pt_xrealloc(field->lacked, cap * sizeof *field->lacked);
        field->effect = pt_xrealloc(field->effect, cap * sizeof *field->effect);
        field->user_event = pt_xrealloc(field->user_event, cap * sizeof *field->user_event);
        field->joint = pt_xrealloc(field->joint, cap * sizeof *field->joint);
        field->alike = pt_xrealloc(field->alike, cap * sizeof *field->alike);
        field->quiet = pt_xrealloc(field->quiet, cap * sizeof *field->quiet);
        field->number = pt_xrealloc(field->number, cap * sizeof *field->number);
    }
    uint64_t *need = field->need + (size_t)field->filled * words;
    memset(need, 0, words * sizeof *need);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const struct lat_field *other = &layout->fields[f];
        uint64_t count = pt_relation_needs(&l->relation, &event, other->column);
        if (count > other->base)
            need[other->word] |= (count - other->base) << other->shift;
    }
    uint32_t k = field->filled++;
    atomic_init(&field->lacked[k], 0);
    field->effect[k] = e->effect;
    field->user_event[k] = e->user_event;
    field->joint[k] = e->joint;
    field->number[k] = e->number;
    bool same = k && !e->joint && !field->joint[k - 1] && e->effect == field->effect[k - 1] &&
                e->user_event == field->user_event[k - 1];
    field->alike[k] = same ? field->alike[k - 1] + 1 : 1;
    field->quiet[k] = same && learned_nothing(field, words, k) ? field->quiet[k - 1] + 1 : 1;
}

static void set_limits(struct pt_lattice *l)
{
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        struct lat_field *field = &l->layout->fields[f];
        field->limit = (uint32_t)(l->columns[field->column].in_q - field->base);
    }
}

/* The same cuts, packed the new way. `room`: for how many the array is made, at least `count`. */
static uint64_t *repack(uint64_t *keys, uint32_t count, uint32_t room, const struct lat_layout *from,
                        const struct lat_layout *to, const uint32_t *field_of_column)
{
    uint64_t *new_keys = pt_xcalloc((size_t)room * to->words, sizeof *new_keys);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < from->field_count; f++) {
            const struct lat_field *old = &from->fields[f];
            uint32_t g = field_of_column[old->column];
            if (g == PT_NONE)
                continue; /* all its events are in every cut */
            const struct lat_field *new = &to->fields[g];
            uint64_t above = old->base + lat_field_count_in(old, keys + (size_t)i * from->words) - new->base;
            new_keys[(size_t)i * to->words + new->word] |= above << new->shift;
        }
    free(keys);
    return new_keys;
}

static void repack_level(struct pt_lattice *l, struct lat_level *level, const struct lat_layout *from,
                         const struct lat_layout *to, const uint32_t *field_of_column)
{
    for (uint32_t p = 0; p < level->part_count; p++) {
        struct lat_part *part = &level->parts[p];
        part->keys = repack(part->keys, part->count, part->cap, from, to, field_of_column);
        atomic_fetch_sub(&l->bytes, (size_t)part->cap * part->words * sizeof *part->keys);
        part->words = to->words;
        atomic_fetch_add(&l->bytes, (size_t)part->cap * part->words * sizeof *part->keys);
    }
}

void lat_layout_build(struct pt_lattice *l)
{
    struct lat_layout *old = l->layout;
    l->layout = layout_new(l);
    l->paired = l->paired && l->next_open && lat_pair_fits(l->layout);
    uint32_t *field_of = pt_xmalloc(l->column_count * sizeof *field_of);
    for (uint32_t c = 0; c < l->column_count; c++)
        field_of[c] = l->columns[c].field;
    if (old) {
        repack_level(l, l->current, old, l->layout, field_of);
        if (!l->next_open)
            l->next->parts[0].count = 0;
        repack_level(l, l->next, old, l->layout, field_of);
        l->previous.keys = repack(l->previous.keys, l->previous.count, l->previous.count, old, l->layout, field_of);
        l->previous.cap = (size_t)l->previous.count * l->layout->words;
        lat_layout_unref(old);
    }
    free(field_of);
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        struct lat_field *field = &l->layout->fields[f];
        while (field->base + field->filled < l->columns[field->column].arrived)
            field_fill(l, l->layout, field);
    }
    set_limits(l);
    lat_workers_layout(l);
}

/*
 * A field for a thread that has not been seen before, in bits that nothing has used: in the cuts that are packed so far
 * they are 0, as is their count of the thread's events, and no event before needs one of them. It comes last, as its
 * column does. False: there is no room.
 */
static bool append_field(struct pt_lattice *l, uint32_t c)
{
    struct lat_layout *layout = l->layout;
    struct lat_column *column = &l->columns[c];
    uint64_t before = l->options->counted_before;
    if (!layout || c + 1 != l->column_count || column->arrived != before + 1 || layout->field_count < MANY_FIELDS)
        return false;
    uint32_t bits = field_bits(l, 1, layout->field_count + 1);
    bool next_word = layout->last_used + bits + 1 > 64;
    if (layout->last_word + next_word >= layout->words)
        return false;
    layout->last_word += next_word;
    layout->last_used = next_word ? 0 : layout->last_used;
    struct lat_field field = {.column = c, .base = before, .word = layout->last_word, .shift = layout->last_used};
    field.mask = ((uint64_t)1 << bits) - 1;
    layout->last_used += bits + 1;
    layout->guard[field.word] |= (field.mask + 1) << field.shift;
    column->field = layout->field_count;
    layout->fields = pt_xrealloc(layout->fields, (layout->field_count + 1) * sizeof field);
    layout->fields[layout->field_count++] = field;
    field_fill(l, layout, &layout->fields[column->field]);
    layout->fields[column->field].limit = (uint32_t)(column->in_q - before);
    return true;
}

void lat_layout_add(struct pt_lattice *l, uint32_t column)
{
    uint32_t f = l->columns[column].field;
    if (f == PT_NONE && append_field(l, column))
        return;
    if (!l->layout || f == PT_NONE ||
        l->columns[column].arrived - l->layout->fields[f].base > l->layout->fields[f].mask)
        lat_layout_build(l);
    else
        field_fill(l, l->layout, &l->layout->fields[f]);
}

void lat_counts(const struct pt_lattice *l, const struct lat_layout *layout, const uint64_t *key, uint64_t *counts)
{
    for (uint32_t c = 0; c < l->column_count; c++)
        counts[c] = c < layout->column_count ? layout->settled[c] : l->options->counted_before;
    for (uint32_t f = 0; f < layout->field_count; f++)
        counts[layout->fields[f].column] = layout->fields[f].base + lat_field_count_in(&layout->fields[f], key);
}

bool lat_key(const struct pt_lattice *l, const struct lat_layout *layout, const uint64_t *counts, uint64_t *key)
{
    memset(key, 0, layout->words * sizeof *key);
    uint32_t fields = 0;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const struct lat_field *field = &layout->fields[f];
        uint64_t count = counts[field->column];
        if (count < field->base || count - field->base > field->mask)
            return false;
        key[field->word] |= (count - field->base) << field->shift;
    }
    for (uint32_t c = 0; c < l->column_count; c++) {
        if (fields < layout->field_count && layout->fields[fields].column == c)
            fields++; /* fields stand in the order of their columns */
        else if (counts[c] != (c < layout->column_count ? layout->settled[c] : l->options->counted_before))
            return false;
    }
    return true;
}

/*
 * Writes of one variable are totally ordered, and a cut contains what its events need: the last write in a cut is the
 * one with the greatest number. Forgotten events are in every cut, so any remembered write in the cut comes after them.
 */
void lat_values_of(const struct pt_lattice *l, const uint64_t *counts, const uint32_t *vars, uint32_t count,
                   struct pt_value *values)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = vars[i];
        uint64_t best = l->freed_numbers[v];
        values[v] = best ? l->freed_values[v] : l->initial[v];
        for (uint32_t c = 0; c < l->column_count; c++) {
            const struct lat_column *column = &l->columns[c];
            uint64_t k = counts[c];
            if (k > column->freed && l->is_joint[v])
                k = lat_event_at(column, k)->last[v];
            while (k > column->freed && lat_event_at(column, k)->var != v)
                k--;
            if (k > column->freed && lat_event_at(column, k)->number > best) {
                best = lat_event_at(column, k)->number;
                values[v] = lat_event_at(column, k)->value;
            }
        }
    }
}
