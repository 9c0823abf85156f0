/*
 * The window of ranks.h: which events have a bit, what follows from each, and the values of variables in a cut.
 *
 * Guarantee: a word and the window say exactly what a key and the layout do. Cost: an event is compared with those of
 * the window once, when it comes in; taking events out is put off until some can go at once, and packs each word anew.
 */
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "engine/ranks.h"

enum { WORTH_SLIDING = 16 };

void lat_window_unref(struct lat_window *window)
{
    if (window && --window->refs == 0)
        free(window);
}

static const struct lat_event *event_at(const struct pt_lattice *l, const struct lat_rank_event *event)
{
    return lat_event_at(&l->columns[event->column], event->index);
}

static void let_in(struct pt_lattice *l, uint64_t number, struct lat_place place)
{
    struct lat_ranks *r = l->ranks;
    struct lat_window *window = r->window;
    uint32_t at = window->count++;
    const struct lat_event *e = lat_event_at(&l->columns[place.column], place.index);
    struct pt_cut_event event = lat_cut_event(l, place.column, place.index);
    window->events[at] =
        (struct lat_rank_event){number, place.index, place.column, e->effect, e->user_event, e->var, e->joint};
    lat_word need = 0;
    for (uint32_t k = 0; k < at; k++) {
        const struct lat_rank_event *other = &window->events[k];
        bool needs = pt_relation_needs(&l->relation, &event, other->column) >= other->index;
        need |= (lat_word)needs << k;
    }
    r->need[at] = need;
    if (e->var != PT_NONE)
        r->writes[e->var] |= lat_bit(at);
    r->pinned += sizeof *e + e->clock->len * sizeof(uint64_t);
}

static void fill(struct pt_lattice *l)
{
    struct lat_window *window = l->ranks->window;
    while (window->count < LAT_RANK_SPAN && window->end < l->q_end) {
        struct lat_place place = lat_place_of(l, ++window->end);
        if (place.index > l->columns[place.column].common) /* else it is in every cut, and may be forgotten */
            let_in(l, window->end, place);
    }
}

/* The bits of a word that are in `keep`, packed. */
static inline lat_word packed(lat_word word, lat_word keep)
{
    lat_word result = 0;
    uint32_t at = 0;
    while (keep) { /* run by run */
        uint32_t skip = lat_lowest_bit(keep);
        keep >>= skip;
        word >>= skip;
        uint32_t run = ~keep ? lat_lowest_bit(~keep) : LAT_RANK_SPAN;
        result |= (word & lat_low_bits(run)) << at;
        at += run;
        if (run == LAT_RANK_SPAN)
            break;
        keep >>= run;
        word >>= run;
    }
    return result;
}

static void pack_all(lat_word *words, uint32_t count, lat_word keep)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = packed(words[i], keep);
}

#ifdef __x86_64__
__attribute__((target("bmi2"))) static void pack_all_bmi2(lat_word *words, uint32_t count, lat_word keep)
{
    uint64_t low = (uint64_t)keep, high = (uint64_t)(keep >> 64);
    int at = __builtin_popcountll(low);
    for (uint32_t i = 0; i < count; i++)
        words[i] = _pext_u64((uint64_t)words[i], low) |
                   (at < 64 ? (lat_word)_pext_u64((uint64_t)(words[i] >> 64), high) << at
                            : (lat_word)_pext_u64((uint64_t)(words[i] >> 64), high) << 64);
}
#endif

static void pack(lat_word *words, uint32_t count, lat_word keep)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("bmi2")) {
        pack_all_bmi2(words, count, keep);
        return;
    }
#endif
    pack_all(words, count, keep);
}

/* Remembered levels still refer to the old one. */
static struct lat_window *own_window(struct lat_window *window)
{
    if (window->refs == 1)
        return window;
    struct lat_window *own = pt_xmalloc(sizeof *own);
    memcpy(own, window, offsetof(struct lat_window, events) + window->count * sizeof *window->events);
    own->refs = 1;
    window->refs--;
    return own;
}

/* What the events that are taken out leave of the window's variables. */
static void keep_values(struct pt_lattice *l, lat_word out)
{
    struct lat_ranks *r = l->ranks;
    for (uint32_t i = 0; i < r->var_count; i++) {
        uint32_t v = r->vars[i];
        lat_word gone = r->writes[v] & out;
        if (!gone)
            continue;
        const struct lat_rank_event *event = &r->window->events[lat_highest_bit(gone)];
        r->value_numbers[v] = event->number;
        r->values[v] = event_at(l, event)->value;
    }
    for (uint32_t i = 0; i < r->var_count; i++)
        pack(&r->writes[r->vars[i]], 1, ~out);
}

void lat_window_settle(struct pt_lattice *l)
{
    const struct lat_ranks *r = l->ranks;
    for (lat_word common = r->common; common; common &= common - 1) {
        const struct lat_rank_event *event = &r->window->events[lat_lowest_bit(common)];
        struct lat_column *column = &l->columns[event->column];
        if (event->index > column->common)
            column->common = event->index;
        column->low = column->common;
    }
}

/* Events that are taken out are in every cut: no cut that is made has one of them for its top, and no source of an edge
 * lacks one, so nobody asks for them again. */
static void renumber(struct lat_ranks *r, uint32_t count, lat_word keep)
{
    uint32_t number[LAT_RANK_SPAN], kept = 0;
    for (uint32_t bit = 0; bit < LAT_RANK_SPAN; bit++)
        number[bit] = keep & lat_bit(bit) ? kept++ : PT_NONE;
    for (uint32_t i = 0; r->linked && i < count; i++) {
        uint32_t *top = &r->here.children[i].top;
        *top = *top == PT_NONE ? PT_NONE : number[*top];
    }
    for (uint32_t e = 0; r->linked && e < r->here.edge_count; e++)
        r->here.edges[e].bit = r->here.edges[e].bit == PT_NONE ? PT_NONE : number[r->here.edges[e].bit];
}

/* Takes out the events that are in every cut. */
static void take_out(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    lat_word keep = ~r->common & lat_low_bits(r->window->count);
    uint32_t kept = 0;
    lat_window_settle(l);
    keep_values(l, r->common);
    r->window = own_window(r->window);
    for (lat_word rest = keep; rest; rest &= rest - 1) {
        uint32_t bit = lat_lowest_bit(rest);
        r->window->events[kept] = r->window->events[bit];
        r->need[kept++] = r->need[bit];
    }
    r->window->count = kept;
    pack(r->need, kept, keep);
    renumber(r, l->current->parts[0].count, keep);
    pack(r->words, l->current->parts[0].count, keep);
    pack(&r->any, 1, keep);
    r->common = 0;
}

void lat_window_slide(struct pt_lattice *l)
{
    if (lat_bit_count(l->ranks->common) >= WORTH_SLIDING)
        take_out(l);
    fill(l);
}

/* What the events that are in all cuts from the start leave of the window's variables. The others have bits. */
static void values_before(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    for (uint32_t i = 0; i < r->var_count; i++) {
        uint32_t v = r->vars[i];
        r->value_numbers[v] = l->freed_numbers[v];
        r->values[v] = l->freed_numbers[v] ? l->freed_values[v] : l->initial[v];
    }
    memset(r->writes, 0, l->var_count * sizeof *r->writes);
    for (uint32_t c = 0; r->var_count && c < l->column_count; c++) {
        const struct lat_column *column = &l->columns[c];
        for (uint64_t k = column->freed + 1; k <= column->common; k++) {
            const struct lat_event *e = lat_event_at(column, k);
            if (e->var != PT_NONE && e->number > r->value_numbers[e->var]) {
                r->value_numbers[e->var] = e->number;
                r->values[e->var] = e->value;
            }
        }
    }
}

/* The word of a cut of the current level, as its key has it. */
static lat_word word_of_key(const struct pt_lattice *l, const uint64_t *key)
{
    const struct lat_window *window = l->ranks->window;
    lat_word word = 0;
    for (uint32_t k = 0; k < window->count; k++) {
        const struct lat_field *field = &l->layout->fields[l->columns[window->events[k].column].field];
        bool has = field->base + lat_field_count_in(field, key) >= window->events[k].index;
        word |= (lat_word)has << k;
    }
    return word;
}

struct sorted {
    lat_word word;
    uint32_t i;
};

static int by_word(const void *a, const void *b)
{
    lat_word x = ((const struct sorted *)a)->word, y = ((const struct sorted *)b)->word;
    return (x > y) - (x < y);
}

/* Brings the cuts of the current level into the order of their words. */
static void sort(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_part *part = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    uint32_t words = l->layout->words, count = part->count;
    struct sorted *order = pt_xaligned(sizeof(lat_word), count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct sorted){r->words[i], i};
    qsort(order, count, sizeof *order, by_word);
    lat_part_reserve(l, to, words, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = order[i].i;
        r->words[i] = order[i].word;
        memcpy(to->keys + (size_t)i * words, part->keys + (size_t)from * words, words * sizeof *to->keys);
        to->runs[i] = part->runs[from];
        to->letters[i] = part->letters[from];
        to->sets[i] = part->sets[from];
    }
    to->count = count;
    free(order);
    struct lat_level *swap = l->current;
    l->current = l->next;
    l->next = swap;
}

bool lat_window_begin(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_part *part = &l->current->parts[0];
    uint64_t first = l->q_end + 1; /* the first event that is not in every cut */
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        const struct lat_field *field = &l->layout->fields[f];
        uint32_t common = (uint32_t)(l->columns[field->column].common - field->base);
        if (common < field->limit && field->number[common] < first)
            first = field->number[common];
    }
    if (first <= l->line_first)
        return false;
    lat_window_unref(r->window);
    r->window = pt_xmalloc(sizeof *r->window);
    r->window->refs = 1;
    r->window->count = 0;
    r->window->end = first - 1;
    values_before(l);
    fill(l);
    PT_GROW(r->words, r->word_cap, part->count);
    r->common = ~(lat_word)0;
    r->any = 0;
    r->linked = false;
    r->calm = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        lat_word word = word_of_key(l, part->keys + (size_t)i * l->layout->words);
        /* Events before the end without a bit are in the cut; where not all others have one, it has no word. */
        if (r->window->end - r->window->count + lat_bit_count(word) != l->level)
            return false;
        r->words[i] = word;
        r->common &= word;
        r->any |= word;
    }
    sort(l);
    return true;
}

/* Where the events that no cut has begin, in each column that has one in the window. */
struct stop {
    uint32_t column;
    uint64_t index;
};

static bool is_stopped(const struct pt_lattice *l, const struct stop *stops, uint32_t count, struct lat_place place)
{
    for (uint32_t s = 0; s < count; s++)
        if (stops[s].column == place.column)
            return true; /* it comes after an event that no cut has */
    struct pt_cut_event event = lat_cut_event(l, place.column, place.index);
    for (uint32_t s = 0; s < count; s++)
        if (pt_relation_needs(&l->relation, &event, stops[s].column) >= stops[s].index)
            return true;
    return false;
}

bool lat_window_misses(struct pt_lattice *l)
{
    const struct lat_ranks *r = l->ranks;
    struct stop stops[LAT_RANK_SPAN];
    uint32_t count = 0;
    for (lat_word none = ~r->any & lat_low_bits(r->window->count); none; none &= none - 1) {
        const struct lat_rank_event *event = &r->window->events[lat_lowest_bit(none)];
        uint32_t s = 0;
        while (s < count && stops[s].column != event->column)
            s++;
        if (s == count)
            stops[count++] = (struct stop){event->column, event->index};
    }
    for (uint64_t number = r->window->end + 1; number <= l->q_end; number++)
        if (!is_stopped(l, stops, count, lat_place_of(l, number)))
            return true;
    return false;
}

/* The last write of the i-th variable in the cut; NULL: it was taken out. */
static inline const struct lat_rank_event *last_write(const struct lat_ranks *r, uint32_t i, lat_word word)
{
    lat_word writes = r->writes[r->vars[i]] & word;
    return writes ? &r->window->events[lat_highest_bit(writes)] : NULL;
}

void lat_window_values(struct pt_lattice *l, lat_word word)
{
    const struct lat_ranks *r = l->ranks;
    for (uint32_t i = 0; i < r->var_count; i++) {
        const struct lat_rank_event *last = last_write(r, i, word);
        l->workers[0].values[r->vars[i]] = last ? event_at(l, last)->value : r->values[r->vars[i]];
    }
}

void lat_window_writes(const struct pt_lattice *l, lat_word word, uint64_t *ret_writes)
{
    const struct lat_ranks *r = l->ranks;
    for (uint32_t i = 0; i < r->var_count; i++) {
        const struct lat_rank_event *last = last_write(r, i, word);
        ret_writes[i] = last ? last->number : r->value_numbers[r->vars[i]];
    }
}
