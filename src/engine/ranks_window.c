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

void lat_window_free(struct lat_window *window)
{
    free(window->values);
    free(window->settled);
    free(window);
}

void lat_window_forget(struct lat_window *window)
{
    if (window && --window->remembered == 0 && window->left)
        lat_window_free(window);
}

void lat_window_leave(struct lat_ranks *r)
{
    struct lat_window *window = r->reading;
    r->reading = NULL;
    if (!window)
        return;
    window->left = true;
    if (!window->remembered)
        lat_window_free(window);
}

struct lat_window *lat_window_new(const struct lat_ranks *r, bool valued)
{
    struct lat_window *window = pt_xmalloc(sizeof *window);
    window->count = 0;
    window->remembered = 0;
    window->left = false;
    window->values = valued && r->var_count ? pt_xmalloc(LAT_RANK_SPAN * sizeof *window->values) : NULL;
    window->settled = valued && r->var_count ? pt_xmalloc(r->var_count * sizeof *window->settled) : NULL;
    return window;
}

/* The event with this bit is one more of its column's. */
static void group(struct pt_lattice *l, uint32_t bit)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_rank_event *event = &r->window->events[bit];
    uint32_t *number = &l->columns[event->column].group;
    if (*number >= r->group_count || r->groups[*number].column != event->column) {
        *number = r->group_count++;
        r->groups[*number] = (struct lat_rank_group){0, event->index, event->column};
        r->group_firsts[*number] = event->index;
        r->group_lanes[*number] = l->columns[event->column].lane;
    }
    r->groups[*number].bits |= lat_bit(bit);
    r->groups[*number].last = event->index;
}

/* The groups from `from` on, 64 at most, of which it needs some event, as bits; its own column's may be missing.
 * Without a branch: most groups have none, and which ones have cannot be foreseen. */
static uint64_t needed_groups(const struct lat_ranks *r, uint32_t from, const struct pt_clock *needs)
{
    enum { HALF = 64 };
    const uint32_t *lanes = r->group_lanes + from, len = needs->len;
    const uint64_t *firsts = r->group_firsts + from, *counts = needs->counts;
    uint32_t count = r->group_count <= from || !len ? 0 : r->group_count - from;
    uint64_t found = 0;
    for (uint32_t g = 0; g < (count < HALF ? count : HALF); g++) {
        uint32_t lane = lanes[g];
        uint64_t known = counts[lane < len ? lane : 0];
        found |= (uint64_t)(lane < len && known >= firsts[g]) << g;
    }
    return found;
}

/* The events of the window that it needs. */
static lat_word needed(const struct pt_lattice *l, const struct pt_cut_event *event)
{
    const struct lat_ranks *r = l->ranks;
    uint32_t own = l->columns[event->column].group;
    bool has_own = own < r->group_count && r->groups[own].column == event->column;
    lat_word need = has_own ? r->groups[own].bits : 0; /* they came before it */
    lat_word rest = (lat_word)needed_groups(r, 64, event->needs) << 64 | needed_groups(r, 0, event->needs);
    for (; rest; rest &= rest - 1) {
        const struct lat_rank_group *group = &r->groups[lat_lowest_bit(rest)];
        uint64_t count = pt_relation_needs(&l->relation, event, group->column);
        lat_word bits = group->bits;
        for (uint64_t last = group->last; last > count; last = r->window->events[lat_highest_bit(bits)].index)
            bits &= ~lat_bit(lat_highest_bit(bits));
        need |= bits;
    }
    return need;
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
    r->need[at] = needed(l, &event);
    group(l, at);
    if (r->values)
        r->values[at] = e->value;
    r->pinned += sizeof *e + e->clock_len * sizeof(uint64_t);
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

void lat_pack_words(lat_word *words, uint32_t count, lat_word keep)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("bmi2")) {
        pack_all_bmi2(words, count, keep);
        return;
    }
#endif
    pack_all(words, count, keep);
}

/* What the events that are taken out leave of the window's variables. Later ones have higher bits. */
static void keep_values(const struct lat_ranks *r, const struct lat_window *from, lat_word out, struct lat_window *to)
{
    for (uint32_t i = 0; i < r->var_count; i++) {
        to->settled[i] = from->settled[i];
        for (lat_word rest = out; rest; rest &= rest - 1) {
            uint32_t bit = lat_lowest_bit(rest);
            if (from->events[bit].var == r->vars[i])
                to->settled[i] = (struct lat_rank_value){from->values[bit], from->events[bit].number};
        }
    }
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
    for (uint32_t g = 0; g < r->group_count; g++)
        if (r->groups[g].bits & r->common)
            lat_pass(l, r->groups[g].column, l->columns[r->groups[g].column].common);
}

/* Events that are taken out are in every cut: no cut that is made has one of them for its top, and no source of an edge
 * lacks one, so nobody asks for them again. */
static void renumber(struct lat_ranks *r, uint32_t count, lat_word keep)
{
    uint32_t number[LAT_RANK_SPAN], kept = 0;
    for (uint32_t bit = 0; bit < LAT_RANK_SPAN; bit++)
        number[bit] = keep & lat_bit(bit) ? kept++ : PT_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *top = &r->here.children[i].top;
        *top = *top == PT_NONE ? PT_NONE : number[*top];
    }
    for (uint32_t e = 0; e < r->here.edge_count; e++)
        r->here.edges[e].bit = r->here.edges[e].bit == PT_NONE ? PT_NONE : number[r->here.edges[e].bit];
}

/* One more event of the window of who fills. */
static inline void take_in(struct lat_ranks *r, const struct lat_rank_event *event, const struct pt_value *value)
{
    struct lat_window *window = r->reading;
    uint32_t at = window->count++;
    window->events[at] = *event;
    if (!window->values)
        return;
    window->values[at] = *value;
    if (event->var != PT_NONE)
        r->writes[event->var] |= lat_bit(at);
}

static void nothing_written(struct lat_ranks *r)
{
    for (uint32_t i = 0; i < r->var_count; i++)
        r->writes[r->vars[i]] = 0;
}

/* Levels that are remembered still have the old window. */
static void follow(struct lat_ranks *r, lat_word out)
{
    struct lat_window *old = r->reading, *new = lat_window_new(r, true);
    keep_values(r, old, out, new);
    nothing_written(r);
    r->reading = new;
    for (lat_word rest = ~out & lat_low_bits(old->count); rest; rest &= rest - 1) {
        uint32_t bit = lat_lowest_bit(rest);
        take_in(r, &old->events[bit], old->values ? &old->values[bit] : NULL);
    }
    r->reading = old;
    lat_window_leave(r);
    r->reading = new;
}

void lat_window_read(struct pt_lattice *l, const struct lat_rank_level *level)
{
    struct lat_ranks *r = l->ranks;
    if (level->taken_out) {
        if (r->linked)
            renumber(r, r->from_count, ~level->taken_out);
        follow(r, level->taken_out);
    }
    for (uint32_t i = 0; i < level->arrived_count; i++)
        take_in(r, &level->arrived[i], level->values ? &level->values[i] : NULL);
    r->reading->end = level->end;
}

/* Takes out the events that are in every cut. */
static void take_out(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    struct lat_window *window = r->window;
    uint32_t count = 0;
    lat_word keep = ~r->common & lat_low_bits(window->count);
    lat_window_settle(l);
    for (lat_word rest = keep; rest; rest &= rest - 1, count++) {
        uint32_t bit = lat_lowest_bit(rest);
        if (r->values)
            r->values[count] = r->values[bit];
        r->need[count] = r->need[bit];
        window->events[count] = window->events[bit];
    }
    r->told = lat_bit_count(keep & lat_low_bits(r->told));
    window->count = count;
    r->group_count = 0;
    for (uint32_t bit = 0; bit < count; bit++)
        group(l, bit);
    lat_pack_words(r->need, count, keep);
    lat_pack_words(r->words, r->count, keep);
    lat_pack_words(&r->any, 1, keep);
    r->top_count = 0;
    r->taken_out |= r->common; /* no level was made since the last time, or there was none */
    r->common = 0;
}

void lat_window_slide(struct pt_lattice *l)
{
    if (lat_bit_count(l->ranks->common) >= WORTH_SLIDING)
        take_out(l);
    fill(l);
}

void lat_window_rewind(struct pt_lattice *l, const lat_word *words, uint32_t count)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_window *window = r->reading;
    r->window->count = window->count;
    r->window->end = window->end;
    memcpy(r->window->events, window->events, window->count * sizeof *window->events);
    PT_GROW(r->words, r->word_cap, count);
    memcpy(r->words, words, count * sizeof *words);
    r->count = count;
    r->top_count = 0;
    r->common = ~(lat_word)0;
    r->any = 0;
    for (uint32_t i = 0; i < count; i++) {
        r->common &= words[i];
        r->any |= words[i];
    }
    for (uint32_t c = 0; c < l->column_count; c++)
        l->columns[c].common = l->columns[c].arrived;
    for (uint64_t number = l->pushed; number > window->end; number--) {
        struct lat_place place = lat_place_of(l, number);
        l->columns[place.column].common = place.index - 1;
    }
    lat_word lacking = ~r->common & lat_low_bits(window->count);
    while (lacking) { /* the first one of a column comes last */
        uint32_t bit = lat_highest_bit(lacking);
        l->columns[window->events[bit].column].common = window->events[bit].index - 1;
        lacking &= ~lat_bit(bit);
    }
    for (uint32_t c = 0; c < l->column_count; c++)
        l->columns[c].low = l->columns[c].common;
}

/* What the events that are in all cuts from the start leave of the window's variables. The others have bits. */
static void values_before(struct pt_lattice *l)
{
    const struct lat_ranks *r = l->ranks;
    for (uint32_t i = 0; i < r->var_count; i++) {
        uint32_t v = r->vars[i];
        struct lat_rank_value *settled = &r->reading->settled[i];
        *settled =
            (struct lat_rank_value){l->freed_numbers[v] ? l->freed_values[v] : l->initial[v], l->freed_numbers[v]};
        for (uint32_t c = 0; c < l->column_count; c++) {
            const struct lat_column *column = &l->columns[c];
            for (uint64_t k = column->freed + 1; k <= column->common; k++) {
                const struct lat_event *e = lat_event_at(column, k);
                if (e->var == v && e->number > settled->number)
                    *settled = (struct lat_rank_value){e->value, e->number};
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

/* An event that came long ago. */
struct old {
    uint64_t number;
    struct lat_place place;
};

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

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct old *)a)->number, y = ((const struct old *)b)->number;
    return (x > y) - (x < y);
}

/*
 * Lets in the events that are not in every cut and that came before all that the line still has: the last ones of
 * threads that have been silent since. From the window's end on the line has all of them then. False: they are too
 * many.
 */
static bool let_in_old(struct pt_lattice *l)
{
    struct old old[LAT_RANK_SPAN];
    uint32_t count = 0;
    uint64_t first = l->q_end + 1; /* of the others */
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        const struct lat_field *field = &l->layout->fields[f];
        uint32_t i = (uint32_t)(l->columns[field->column].common - field->base);
        for (; i < field->limit && field->number[i] <= l->line_first; i++) {
            if (count == LAT_RANK_SPAN)
                return false;
            old[count++] = (struct old){field->number[i], {field->base + i + 1, field->column}};
        }
        if (i < field->limit && field->number[i] < first)
            first = field->number[i];
    }
    qsort(old, count, sizeof *old, by_number);
    for (uint32_t i = 0; i < count; i++)
        let_in(l, old[i].number, old[i].place);
    l->ranks->window->end = first - 1;
    return true;
}

/* No event has a bit yet, no cut a word. */
static void empty(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    lat_window_leave(r);
    r->reading = lat_window_new(r, true);
    nothing_written(r);
    r->window->count = 0;
    r->told = 0;
    r->group_count = 0;
    r->count = l->current->parts[0].count;
    r->top_count = 0;
    r->common = r->any = r->taken_out = 0;
    r->linked = false;
    r->calm = 0;
    PT_GROW(r->words, r->word_cap, r->count);
    values_before(l);
}

void lat_window_begin_empty(struct pt_lattice *l)
{
    empty(l);
    l->ranks->window->end = l->level;
    l->ranks->words[0] = 0;
}

bool lat_window_begin(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_part *part = &l->current->parts[0];
    empty(l);
    if (!let_in_old(l))
        return false;
    fill(l);
    r->common = ~(lat_word)0;
    for (uint32_t i = 0; i < part->count; i++) {
        lat_word word = word_of_key(l, part->keys + (size_t)i * l->layout->words);
        /* Events before the end without a bit are in the cut; where not all others have one, it has no word. */
        if (r->window->end - r->window->count + lat_bit_count(word) != l->level)
            return false;
        r->words[i] = word;
        r->common &= word;
        r->any |= word;
    }
    for (; r->told < r->window->count; r->told++)
        take_in(r, &r->window->events[r->told], r->values ? &r->values[r->told] : NULL);
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

/* The last write of the i-th variable in the cut; PT_NONE: it was taken out. */
static inline uint32_t last_write(const struct lat_ranks *r, uint32_t i, lat_word word)
{
    lat_word writes = r->writes[r->vars[i]] & word;
    return writes ? lat_highest_bit(writes) : PT_NONE;
}

void lat_window_values(struct pt_lattice *l, lat_word word)
{
    const struct lat_ranks *r = l->ranks;
    const struct lat_window *window = r->reading;
    for (uint32_t i = 0; i < r->var_count; i++) {
        uint32_t last = last_write(r, i, word);
        l->workers[0].values[r->vars[i]] = last == PT_NONE ? window->settled[i].value : window->values[last];
    }
}

void lat_window_writes(const struct pt_lattice *l, lat_word word, uint64_t *ret_writes)
{
    const struct lat_ranks *r = l->ranks;
    const struct lat_window *window = r->reading;
    for (uint32_t i = 0; i < r->var_count; i++) {
        uint32_t last = last_write(r, i, word);
        ret_writes[i] = last == PT_NONE ? window->settled[i].number : window->events[last].number;
    }
}
