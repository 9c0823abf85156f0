/*
 * Bounded windows of many threads: a level that has to drop cuts, made in the order in which they are kept.
 *
 * Let every event up to number `base` be in all cuts of the level. A cut is then a set of the numbers after it, and as
 * long as those that matter lie within 64, a word: bit j stands for event base + 1 + j. The contract's order of cuts of
 * equal size (their numbers, largest first, lexicographically) is the order of these words as integers. An event is
 * enabled in a cut iff the cut's word contains the word of what it needs; the word of the next cut has one bit more. So
 * candidates are made, merged and chosen by operations on words, and only those that are kept get letters and sets.
 *
 * This serves when at least W candidates lie within the 64 numbers: any other candidate has a larger number, and would
 * be dropped. Whether something is dropped must be known already (`complete` is false), since not all candidates are
 * looked at, and the order must be decided by needs. Otherwise the level is left to expand.c.
 *
 * Guarantee: the level that the cone's definition gives. Cost: per level O(W) words, sorted, and 64 bit tests each.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/lattice_impl.h"

enum { SPAN = 64, AHEAD = 2, SMALL = 12 };

struct lat_rank_edge {
    uint64_t word; /* of the cut it leads to */
    uint32_t from; /* cut of the current level */
    uint32_t bit;  /* the event that is taken */
};

void lat_ranks_release(struct pt_lattice *l)
{
    free(l->ranks.words);
    free(l->ranks.next_words);
    free(l->ranks.edges);
    l->ranks = (struct lat_ranks){0};
}

void lat_ranks_note(struct pt_lattice *l, uint32_t column, uint64_t index)
{
    l->ranks.ring[l->q_end % LAT_RANK_RING] = (struct lat_ranked){column, index};
}

static uint64_t low_bits(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* Lets events into the window as long as there are some and it has room. */
static void fill(struct pt_lattice *l)
{
    struct lat_ranks *r = &l->ranks;
    while (r->count < SPAN && r->base + r->count < l->q_end && l->q_end - r->base - r->count <= LAT_RANK_RING) {
        struct lat_ranked e = r->ring[(r->base + r->count + 1) % LAT_RANK_RING];
        const struct lat_column *column = &l->columns[e.column];
        bool taken = e.index <= column->common; /* in every cut; it may be forgotten */
        struct pt_cut_event event = taken ? (struct pt_cut_event){0} : lat_cut_event(l, e.column, e.index);
        uint64_t need = 0;
        for (uint32_t k = 0; k < r->count && !taken; k++) {
            const struct lat_ranked *other = &r->events[k];
            need |= (uint64_t)(pt_relation_needs(&l->relation, &event, other->column) >= other->index) << k;
        }
        r->needs[r->count] = need;
        r->events[r->count++] = e;
    }
}

/* Forgets the events that are in every cut. */
static void advance(struct lat_ranks *r, uint32_t cuts)
{
    uint64_t common = UINT64_MAX;
    for (uint32_t i = 0; i < cuts; i++)
        common &= r->words[i];
    uint32_t by = common == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~common);
    if (by > r->count)
        by = r->count;
    if (!by)
        return;
    r->base += by;
    r->count -= by;
    memmove(r->events, r->events + by, r->count * sizeof *r->events);
    for (uint32_t k = 0; k < r->count; k++)
        r->needs[k] = r->needs[k + by] >> by;
    for (uint32_t i = 0; i < cuts; i++)
        r->words[i] = by == 64 ? 0 : r->words[i] >> by;
}

/* Words for a level that was made elsewhere; false when its events are no longer known here. */
static bool begin(struct pt_lattice *l)
{
    struct lat_ranks *r = &l->ranks;
    const struct lat_part *part = &l->current->parts[0];
    r->base = l->q_end;
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        const struct lat_field *field = &l->layout->fields[f];
        uint32_t common = (uint32_t)(l->columns[field->column].common - field->base);
        if (common < field->limit && field->number[common] <= r->base)
            r->base = field->number[common] - 1;
    }
    if (l->q_end - r->base >= LAT_RANK_RING)
        return false;
    r->count = 0;
    fill(l);
    PT_GROW(r->words, r->word_cap, part->count);
    for (uint32_t i = 0; i < part->count; i++) {
        const uint64_t *key = part->keys + (size_t)i * l->layout->words;
        r->words[i] = 0;
        for (uint32_t k = 0; k < r->count; k++) {
            const struct lat_column *column = &l->columns[r->events[k].column];
            bool has = r->events[k].index <= column->common; /* then it may have no field */
            if (!has) {
                const struct lat_field *field = &l->layout->fields[column->field];
                has = field->base + lat_field_count_in(field, key) >= r->events[k].index;
            }
            r->words[i] |= (uint64_t)has << k;
        }
        /* The events up to base are in the cut; where not all others are in the window, it has no word. */
        if (r->base + (uint64_t)__builtin_popcountll(r->words[i]) != l->level)
            return false;
    }
    return true;
}

/* The steps from all cuts by events of the first `width` in the window. */
static void find_edges(struct pt_lattice *l, uint32_t width)
{
    struct lat_ranks *r = &l->ranks;
    uint32_t cuts = l->current->parts[0].count;
    r->edge_count = 0;
    for (uint32_t i = 0; i < cuts; i++) {
        uint64_t word = r->words[i];
        PT_GROW(r->edges, r->edge_cap, (size_t)r->edge_count + SPAN);
        for (uint64_t missing = ~word & low_bits(width); missing; missing &= missing - 1) {
            uint32_t bit = (uint32_t)__builtin_ctzll(missing);
            if (pt_set_enabled(word, r->needs[bit]))
                r->edges[r->edge_count++] = (struct lat_rank_edge){word | (uint64_t)1 << bit, i, bit};
        }
    }
}

/* By word; how equal ones follow each other does not matter. */
static void sort_edges(struct lat_rank_edge *edges, uint32_t count)
{
    while (count > SMALL) {
        uint64_t pivot = edges[count / 2].word;
        uint32_t i = 0, j = count - 1;
        for (;;) {
            while (edges[i].word < pivot)
                i++;
            while (edges[j].word > pivot)
                j--;
            if (i >= j)
                break;
            struct lat_rank_edge swap = edges[i];
            edges[i++] = edges[j];
            edges[j--] = swap;
        }
        uint32_t split = j + 1; /* [0, split) <= pivot <= [split, count) */
        if (split == count)
            split--;
        if (split < count - split) { /* the smaller side by recursion: its depth is at most log2 */
            sort_edges(edges, split);
            edges += split;
            count -= split;
        } else {
            sort_edges(edges + split, count - split);
            count = split;
        }
    }
    for (uint32_t i = 1; i < count; i++) {
        struct lat_rank_edge edge = edges[i];
        uint32_t at = i;
        for (; at && edges[at - 1].word > edge.word; at--)
            edges[at] = edges[at - 1];
        edges[at] = edge;
    }
}

/* How many edges lead to the first `keep` cuts; 0 when there are fewer cuts. */
static uint32_t edges_to_keep(const struct lat_ranks *r, uint64_t keep)
{
    uint64_t cuts = 0;
    for (uint32_t e = 0; e < r->edge_count; e++) {
        cuts += e == 0 || r->edges[e].word != r->edges[e - 1].word;
        if (cuts > keep)
            return e;
    }
    return cuts == keep ? r->edge_count : 0;
}

/* What an edge brings to cut `at` of the next level. */
static void follow(struct pt_lattice *l, const struct lat_rank_edge *edge, uint32_t at, bool fresh)
{
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    struct lat_worker *w = &l->workers[0];
    size_t words = l->layout->words;
    const struct lat_field *field = &l->layout->fields[l->columns[l->ranks.events[edge->bit].column].field];
    uint32_t i = edge->from, index = lat_field_count_in(field, from->keys + i * words);
    uint64_t *key = to->keys + at * words;
    if (fresh) {
        memcpy(key, from->keys + i * words, words * sizeof *key);
        key[field->word] += (uint64_t)1 << field->shift;
        to->runs[at] = 0;
        to->letters[at] = l->counting ? 0 : lat_cut_letter(l, w, key, from->letters[i], field, index);
        to->sets[at] = PT_SET_EMPTY;
    }
    if (__builtin_add_overflow(to->runs[at], from->runs[i], &to->runs[at]))
        to->runs[at] = UINT64_MAX;
    if (l->counting)
        return;
    pt_letter letter = lat_event_letter(l, w, key, to->letters[at], field->user_event[index]);
    pt_set set = pt_sets_step(&l->sets, &w->cache, from->sets[i], letter);
    to->sets[at] = fresh ? set : pt_sets_union(&l->sets, &w->cache, to->sets[at], set);
}

bool lat_ranks_expand(struct pt_lattice *l)
{
    struct lat_ranks *r = &l->ranks;
    struct lat_part *to = &l->next->parts[0];
    uint64_t window = l->options->window;
    if (!l->by_needs || l->finding->complete || window == PT_ALL)
        return false;
    if (r->level != l->level + 1 && !begin(l))
        return false;
    r->level = 0;
    uint32_t cuts = l->current->parts[0].count, kept = 0, at = 0;
    advance(r, cuts);
    fill(l);
    uint64_t any = 0;
    for (uint32_t i = 0; i < cuts; i++)
        any |= r->words[i];
    /* Cuts reach little further from level to level: a few numbers past the greatest nearly always give enough. */
    uint32_t reach = any ? 64 - (uint32_t)__builtin_clzll(any) : 0, width = reach + AHEAD;
    for (width = width < r->count ? width : r->count; !kept; width = r->count) {
        find_edges(l, width);
        sort_edges(r->edges, r->edge_count);
        kept = edges_to_keep(r, window);
        if (width == r->count)
            break;
    }
    if (!kept)
        return false;
    lat_part_reserve(l, to, l->layout->words, (uint32_t)window);
    PT_GROW(r->next_words, r->next_cap, window);
    for (uint32_t e = 0; e < kept; e++) {
        bool fresh = e == 0 || r->edges[e].word != r->edges[e - 1].word;
        at += fresh;
        follow(l, &r->edges[e], at - 1, fresh);
        r->next_words[at - 1] = r->edges[e].word;
    }
    to->count = at;
    uint64_t *swap = r->words;
    size_t swap_cap = r->word_cap;
    r->words = r->next_words;
    r->word_cap = r->next_cap;
    r->next_words = swap;
    r->next_cap = swap_cap;
    r->level = l->level + 2; /* the level that is closed now */
    return true;
}
