/*
 * Bounded windows of many threads: a level that has to drop cuts, made out of words (ranks.h).
 *
 * The contract's order of cuts of equal size (their numbers, largest first, lexicographically) is the order of their
 * words as integers. An event is enabled in a cut iff the cut's word contains what it needs, and the word of the next
 * cut has one bit more. Let the *parent* of a cut be the cut without its highest event, its *top*: no event of the cut
 * needs that one, so the parent is consistent.
 *
 * Lemma: the parent of every candidate is kept. By induction over levels. Let c be a candidate made from the kept cut
 * w = c - b, where b is not the top h of c. Then h is the top of w, too, and the parent of w, w - h, was kept. It has
 * all that b needs, since b comes before h and does not need it, and b was in Q, since h was: so c - h = (w - h) + b
 * was a candidate of w's level. It is less than w, which was kept, so it was kept.
 *
 * So the candidates are the cuts of the level with an event more that is higher than all they have: each comes once,
 * and they come in ascending order if that event runs through the window, from the lowest on, and the level's cuts are
 * tried in ascending order; the first W are the next level. Nothing is looked up, compared or dropped.
 *
 * Where fewer than W cuts are within the window, no event of Q outside of it may be enabled. Whether something is
 * dropped must be known already (`complete` is false), since not all candidates are looked at, and the order must be
 * decided by needs. Otherwise the level is left to expand.c: then keys are made.
 *
 * Guarantee: the cuts of the level that the cone's definition gives; what they are for the monitor is ranks_fill.c's.
 * Cost: per level O(W) and a comparison for each cut and event that is tried.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/ranks.h"

enum { MOST_KEPT = 1 << 20, LEAST_PATIENCE = 16, MOST_PATIENCE = 64 };

static struct lat_ranks *ranks_new(struct pt_lattice *l)
{
    struct lat_ranks *r = pt_xaligned(LAT_CACHE_LINE, sizeof *r);
    r->stepped = !l->same_letters;
    r->vars = l->module ? l->all_vars : l->joint_vars;
    r->var_count = l->module ? l->var_count : l->joint_count;
    r->writes = pt_xaligned(LAT_CACHE_LINE, (l->var_count + 1) * sizeof *r->writes);
    r->patience = LEAST_PATIENCE;
    r->window = lat_window_new(r, false);
    r->values = r->var_count ? pt_xmalloc(LAT_RANK_SPAN * sizeof *r->values) : NULL;
    r->making.parents = lat_rank_parents(l);
    if (!l->module && l->joint_count && l->joint_count <= LAT_RANK_JOINTS) {
        r->memos = pt_xcalloc(LAT_RANK_MEMOS, sizeof *r->memos);
        for (uint32_t i = 0; i < LAT_RANK_MEMOS; i++)
            r->memos[i].effect = PT_NONE;
    }
    return r;
}

static void links_free(struct lat_rank_links *links)
{
    free(links->first_edge);
    free(links->edges);
    free(links->child);
    free(links->children);
}

void lat_ranks_release(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    lat_relay_quit(l);
    l->ranked = false;
    l->ranks = NULL;
    if (!r)
        return;
    lat_window_free(r->window);
    lat_window_leave(r);
    free(r->values);
    free(r->making.parents);
    free(r->words);
    free(r->next_words);
    free(r->own_words);
    free(r->own_from);
    links_free(&r->here);
    links_free(&r->next);
    free(r->writes);
    free(r->memos);
    free(r);
}

void lat_ranks_remember(struct pt_lattice *l, struct lat_past_level *past)
{
    const struct lat_rank_level *level = l->ranks->filling;
    struct lat_window *window = l->ranks->reading;
    memcpy(past->keys, l->ranks->fill_words, past->count * sizeof(lat_word));
    past->bytes = level->pinned + (window->remembered ? 0 : sizeof *window);
    past->window = window;
    past->observed = level->observed;
    window->remembered++;
}

void lat_ranks_settle(struct pt_lattice *l)
{
    const struct lat_window *window = l->ranks->window;
    l->common_total = window->end - window->count + lat_bit_count(l->ranks->common);
}

uint64_t lat_ranks_level(const struct pt_lattice *l)
{
    return l->ranks->filling->level;
}

/* ---- making the cuts of the next level ---- */

/* The highest events of the current level's cuts, by the words. */
static void find_tops(struct lat_ranks *r)
{
    struct lat_rank_run *run = r->tops;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t top = r->words[i] ? lat_highest_bit(r->words[i]) : 0; /* empty: then it is the only one */
        if (i && run->top != top)
            run++;
        *run = (struct lat_rank_run){top, i + 1};
    }
    r->top_count = (uint32_t)(run - r->tops) + 1;
}

/* What is made from the cuts `from` to `below` by one event: those that have what it needs, which is in one half of the
 * words. Without a branch: whether it is enabled cannot be foreseen. */
static inline uint32_t step(const struct lat_ranks *r, uint32_t from, uint32_t below, uint32_t half, uint64_t need,
                            lat_word bit, uint32_t *parents, uint32_t at)
{
    const lat_halves *words = (const lat_halves *)r->words, top = lat_halves_of(bit);
    const uint64_t(*halves)[2] = (const uint64_t(*)[2])r->words;
    lat_halves *made = (lat_halves *)r->next_words;
    for (uint32_t i = from; i < below; i++) {
        made[at] = words[i] | top;
        parents[at] = i;
        at += (halves[i][half] & need) == need;
    }
    return at;
}

/* The same, whatever it needs. */
static uint32_t step_both(const struct lat_ranks *r, uint32_t from, uint32_t below, lat_word need, lat_word bit,
                          uint32_t *parents, uint32_t at)
{
    for (uint32_t i = from; i < below; i++) {
        r->next_words[at] = r->words[i] | bit;
        parents[at] = i;
        at += (need & ~r->words[i]) == 0;
    }
    return at;
}

/* The least cuts that come after those of the current level, up to `most`: words, and what leads to them. There is room
 * for twice as many. */
static uint32_t make_cuts(struct lat_ranks *r, struct lat_rank_level *level, uint32_t most)
{
    uint32_t below = 0, at = 0, before = 0;
    struct lat_rank_run *run = level->runs;
    if (!r->top_count)
        find_tops(r);
    const struct lat_rank_run *tops = r->tops, *tops_end = r->tops + r->top_count;
    uint32_t lowest = r->words[0] ? tops->top + 1 : 0;
    uint32_t less[LAT_RANK_SPAN]; /* by event from the lowest on: so many words are less than its bit, and lack it */
    for (uint32_t top = lowest; top < r->window->count && at < most; top++) {
        lat_word need = r->need[top], bit = lat_bit(top);
        while (tops < tops_end && (tops->top < top || !lowest))
            below = tops++->end;
        less[top] = below;
        if (need & ~r->any)
            continue;
        uint32_t from = need && lat_highest_bit(need) >= lowest ? less[lat_highest_bit(need)] : 0;
        need &= ~r->common;
        if (need >> 64 == 0)
            at = step(r, from, below, 0, (uint64_t)need, bit, level->parents, at);
        else if ((uint64_t)need == 0)
            at = step(r, from, below, 1, (uint64_t)(need >> 64), bit, level->parents, at);
        else
            at = step_both(r, from, below, need, bit, level->parents, at);
        *run = (struct lat_rank_run){top, at < most ? at : most};
        run += at > before;
        before = at;
    }
    level->run_count = (uint32_t)(run - level->runs);
    return at < most ? at : most;
}

/* The cuts that were made are the next level. */
static void keep_cuts(struct pt_lattice *l, struct lat_rank_level *level, uint32_t count)
{
    struct lat_ranks *r = l->ranks;
    const lat_halves *made = (const lat_halves *)r->next_words;
    lat_halves common = ~(lat_halves){0}, any = {0};
    for (uint32_t at = 0; at < count; at++) {
        common &= made[at];
        any |= made[at];
    }
    level->level = l->level + 1;
    level->end = r->window->end;
    level->arrived = r->window->events + r->told;
    level->values = r->values ? r->values + r->told : NULL;
    level->arrived_count = r->window->count - r->told;
    level->taken_out = r->taken_out;
    level->count = count;
    level->pinned = r->pinned;
    level->event_bytes = l->event_bytes;
    level->observed = lat_trail(l, level->level);
    r->made++;
    r->pinned = 0;
    r->taken_out = 0;
    r->told = r->window->count;
    r->count = count;
    r->common = lat_word_of(common);
    r->any = lat_word_of(any);
    r->top_count = level->run_count;
    memcpy(r->tops, level->runs, level->run_count * sizeof *r->tops);
    lat_word *words = r->words;
    size_t cap = r->word_cap;
    r->words = r->next_words;
    r->word_cap = r->next_cap;
    r->next_words = words;
    r->next_cap = cap;
}

/* ---- coming and going ---- */

/* Have two threads at most pending events? Then pair.c is faster. Asked now and then, as columns may be many. */
static bool is_pair(const struct pt_lattice *l)
{
    enum { NOW_AND_THEN = 64 };
    uint32_t count = 0;
    if (!l->ranked || l->level % NOW_AND_THEN)
        return false;
    for (uint32_t c = 0; c < l->column_count && count <= 2; c++)
        count += l->columns[c].arrived > l->columns[c].common;
    return count <= 2;
}

/* The first level has been made of words: keys and their layout are not needed any more. */
static void enter(struct pt_lattice *l)
{
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        struct lat_column *column = &l->columns[l->layout->fields[f].column];
        column->low = column->common;
    }
    for (uint32_t c = 0; c < l->column_count; c++)
        if (l->columns[c].common > l->columns[c].freed)
            lat_pass(l, c, l->columns[c].common);
    lat_layout_unref(l->layout);
    l->layout = NULL;
    l->ranked = true;
    l->ranks->entered = l->level;
}

void lat_ranks_begin(struct pt_lattice *l)
{
    if (!l->by_needs || l->finding->complete || l->options->window > MOST_KEPT)
        return;
    l->ranks = ranks_new(l);
    lat_window_begin_empty(l);
    l->ranked = true;
    l->ranks->entered = l->level;
}

static void be_patient(struct lat_ranks *r, uint64_t level, uint64_t stayed)
{
    r->patience = stayed > r->patience           ? LEAST_PATIENCE
                  : r->patience >= MOST_PATIENCE ? MOST_PATIENCE
                                                 : 2 * r->patience;
    r->retry = level + r->patience;
}

void lat_ranks_leave(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    struct lat_part *part = &l->current->parts[0];
    if (!l->ranked)
        return;
    l->ranked = false;
    be_patient(r, l->level, l->level - r->entered);
    lat_window_settle(l);
    lat_layout_build(l);
    lat_part_rekey(l, part, l->layout->words);
    lat_part_rekey(l, &l->next->parts[0], l->layout->words);
    l->next->parts[0].count = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        uint64_t *key = part->keys + (size_t)i * l->layout->words;
        memset(key, 0, l->layout->words * sizeof *key);
        for (lat_word word = r->words[i] & ~r->common; word; word &= word - 1) {
            const struct lat_rank_event *event = &r->window->events[lat_lowest_bit(word)];
            const struct lat_field *field = &l->layout->fields[l->columns[event->column].field];
            key[field->word] += (uint64_t)1 << field->shift;
        }
    }
}

static bool has_bit(const struct lat_window *window, uint64_t number)
{
    uint32_t low = 0, high = window->count; /* numbers rise */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (window->events[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < window->count && window->events[low].number == number;
}

/*
 * Let K be a cut of the level with this word. Where the first event that `counts` lack in a column has a bit, or comes
 * after all that have one, they have there what K has, or more; both have as many events, so they are the same cut.
 */
bool lat_ranks_key(const struct pt_lattice *l, const struct lat_past_level *past, const uint64_t *counts, uint64_t *key)
{
    const struct lat_window *window = past->window;
    for (uint32_t c = 0; c < l->column_count; c++) {
        const struct lat_column *column = &l->columns[c];
        if (counts[c] < column->freed)
            return false;
        uint64_t lacks = counts[c] < column->arrived ? lat_event_at(column, counts[c] + 1)->number : UINT64_MAX;
        if (lacks <= window->end && !has_bit(window, lacks))
            return false;
    }
    lat_word word = 0;
    for (uint32_t k = 0; k < window->count; k++)
        word |= (lat_word)(counts[window->events[k].column] >= window->events[k].index) << k;
    memcpy(key, &word, sizeof word);
    return true;
}

/* A stretch has just begun: nobody takes its cuts for those of the cone before they have been compared. */
static bool is_rough(const struct pt_lattice *l)
{
    return l->level < l->rough;
}

/* Makes the cuts of the next level, as many as there are or are kept. */
static enum lat_made choose(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    struct lat_rank_level *level = &r->making;
    uint32_t window = (uint32_t)l->options->window;
    PT_GROW(r->next_words, r->next_cap, 2 * (size_t)window);
    uint32_t count = make_cuts(r, level, window);
    if (count < window) {
        if (!is_rough(l) && r->window->end < l->q_end && lat_window_misses(l))
            return LAT_NOT_MADE;
        if (!count || !(l->ended || lat_q_full(l)))
            return LAT_WAIT;
    }
    keep_cuts(l, level, count);
    return LAT_MADE;
}

enum lat_made lat_ranks_make(struct pt_lattice *l)
{
    lat_window_slide(l);
    return !is_rough(l) && is_pair(l) ? LAT_NOT_MADE : choose(l);
}

enum lat_made lat_ranks_expand(struct pt_lattice *l)
{
    uint64_t window = l->options->window;
    bool too_early = l->ranks && !l->ranked && l->level < l->ranks->retry;
    if (!l->by_needs || l->finding->complete || window > MOST_KEPT || too_early)
        return LAT_NOT_MADE;
    if (!l->ranks)
        l->ranks = ranks_new(l);
    struct lat_ranks *r = l->ranks;
    if (!l->ranked && !lat_window_begin(l)) {
        be_patient(r, l->level, 0);
        return LAT_NOT_MADE;
    }
    enum lat_made made = lat_ranks_make(l);
    if (made == LAT_MADE) {
        lat_ranks_fill(l, &r->making, false);
        lat_relay_skip(l);
        if (!l->ranked)
            enter(l);
    } else if (made == LAT_NOT_MADE) {
        if (l->ranked)
            lat_ranks_leave(l);
        else
            be_patient(r, l->level, 0);
    } else if (!l->ranked) {
        made = LAT_NOT_MADE; /* a level that may stay open is begun with keys */
    }
    return made;
}
