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
 * What else leads to c, for its runs and monitor states: if p is its parent and h its top, a step by b from c - b,
 * whose parent is p - b. So the other edges of c are those edges of p whose source, in the level before, has a child
 * with top h. Where that level is not known (this has just begun), they are searched for among the words.
 *
 * Where fewer than W cuts are within the window, no event of Q outside of it may be enabled. Whether something is
 * dropped must be known already (`complete` is false), since not all candidates are looked at, and the order must be
 * decided by needs. Otherwise the level is left to expand.c: then keys are made.
 *
 * Guarantee: the level that the cone's definition gives. Cost: per level O(W + edges) and a comparison for each
 * cut and event that is tried.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/ranks.h"

enum { LONG_CALM = 32 };
enum { MOST_KEPT = 1 << 20, LEAST_PATIENCE = 16, MOST_PATIENCE = 64 };

static struct lat_ranks *ranks_new(struct pt_lattice *l)
{
    struct lat_ranks *r = pt_xaligned(LAT_CACHE_LINE, sizeof *r);
    r->stepped = !l->same_letters;
    r->vars = l->module ? l->all_vars : l->joint_vars;
    r->var_count = l->module ? l->var_count : l->joint_count;
    r->writes = pt_xaligned(sizeof(lat_word), (l->var_count + 1) * sizeof *r->writes);
    r->values = pt_xcalloc(l->var_count, sizeof *r->values);
    r->value_numbers = pt_xcalloc(l->var_count, sizeof *r->value_numbers);
    r->patience = LEAST_PATIENCE;
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
    l->ranked = false;
    l->ranks = NULL;
    if (!r)
        return;
    lat_window_unref(r->window);
    free(r->words);
    free(r->next_words);
    free(r->parents);
    links_free(&r->here);
    links_free(&r->made);
    free(r->writes);
    free(r->values);
    free(r->value_numbers);
    free(r->memos);
    free(r);
}

/* Every event up to this number is in all cuts of a level that has these bits. */
static uint64_t settled_number(const struct lat_window *window)
{
    return window->count ? window->events[0].number - 1 : window->end;
}

void lat_ranks_remember(struct pt_lattice *l, struct lat_past_level *past)
{
    struct lat_ranks *r = l->ranks;
    memcpy(past->keys, r->words, past->count * sizeof *r->words);
    past->settled = settled_number(r->window);
    past->bytes = r->pinned + (r->window->refs == 1 ? sizeof *r->window : 0);
    past->window = r->window;
    r->window->refs++;
    r->pinned = 0;
}

void lat_ranks_settle(struct pt_lattice *l)
{
    const struct lat_window *window = l->ranks->window;
    l->common_total = window->end - window->count + lat_bit_count(l->ranks->common);
}

uint64_t lat_ranks_settled(const struct pt_lattice *l)
{
    return settled_number(l->ranks->window);
}

/* ---- letters and sets ---- */

/* The atoms over several variables in a cut, as an effect on its letter. */
static uint32_t joint_effect(struct pt_lattice *l, lat_word word)
{
    struct lat_ranks *r = l->ranks;
    struct lat_worker *w = &l->workers[0];
    uint64_t writes[LAT_RANK_JOINTS] = {0}, hash = 0;
    struct lat_rank_memo *memo = NULL;
    if (r->memos) {
        lat_window_writes(l, word, writes);
        for (uint32_t i = 0; i < r->var_count; i++)
            hash = (hash ^ writes[i]) * 0x9e3779b97f4a7c15ULL;
        memo = &r->memos[hash >> 58]; /* of LAT_RANK_MEMOS */
        bool known = memo->effect != PT_NONE;
        for (uint32_t i = 0; i < r->var_count && known; i++)
            known = memo->writes[i] == writes[i];
        if (known)
            return memo->effect;
    }
    lat_window_values(l, word);
    uint32_t effect = pt_sets_joint(&l->sets, &w->cache, pt_monitor_eval_joint(l->monitor, w->values));
    if (memo) {
        memcpy(memo->writes, writes, sizeof writes);
        memo->effect = effect;
    }
    return effect;
}

static pt_letter module_letter(struct pt_lattice *l, lat_word word, uint32_t user_event)
{
    lat_window_values(l, word);
    return pt_monitor_letter(l->monitor, l->workers[0].values, user_event); /* no worker is active */
}

/* The letter of a cut that the event makes of one with letter `before`. */
static pt_letter letter_after(struct pt_lattice *l, lat_word word, pt_letter before, const struct lat_rank_event *event)
{
    struct pt_worker_cache *cache = &l->workers[0].cache;
    if (event->joint && l->module)
        return module_letter(l, word, PT_NONE);
    pt_letter letter = event->effect == PT_NONE ? before : pt_sets_apply(&l->sets, cache, before, event->effect);
    return event->joint ? pt_sets_apply(&l->sets, cache, letter, joint_effect(l, word)) : letter;
}

/* ---- cuts of the next level ---- */

/* The least cuts that come after those of the current level, up to `most`: words, parents and links, without edges. */
static uint32_t make_cuts(struct pt_lattice *l, uint32_t most)
{
    struct lat_ranks *r = l->ranks;
    struct lat_rank_links *made = &r->made;
    uint32_t count = l->current->parts[0].count, below = 0, at = 0;
    const lat_word *words = r->words;
    for (uint32_t i = 0; i < count; i++)
        made->child[i] = most;
    uint32_t top = words[0] ? lat_highest_bit(words[0]) + 1 : 0;
    for (; top < r->window->count; top++) {
        lat_word need = r->need[top], bit = lat_bit(top);
        while (below < count && words[below] < bit)
            below++;
        if (need & ~r->any)
            continue;
        for (uint32_t i = 0; i < below; i++) {
            if (need & ~words[i])
                continue;
            r->next_words[at] = words[i] | bit;
            r->parents[at] = i;
            made->children[at] = (struct lat_rank_child){top, made->child[i]};
            made->child[i] = at;
            if (++at == most)
                return at;
        }
    }
    return at;
}

static void add_edge(struct lat_rank_links *made, uint32_t from, uint32_t bit)
{
    struct lat_rank_edge edge = {from, bit};
    PT_PUSH(made->edges, made->edge_count, made->edge_cap, edge);
}

/* The edges of a cut but that of its parent, by the words. */
static void search_edges(struct pt_lattice *l, lat_word word, uint32_t top)
{
    struct lat_ranks *r = l->ranks;
    for (lat_word rest = word & ~r->common & ~lat_bit(top); rest; rest &= rest - 1) {
        lat_word source = word & ~(rest & -rest);
        uint32_t low = 0, high = l->current->parts[0].count;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (r->words[middle] < source)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < l->current->parts[0].count && r->words[low] == source)
            add_edge(&r->made, low, lat_lowest_bit(rest));
    }
}

/* The same, by the edges of the parent. */
static inline void follow_edges(struct lat_ranks *r, uint32_t parent, uint32_t top)
{
    const struct lat_rank_links *here = &r->here;
    struct lat_rank_child *children = here->children;
    const struct lat_rank_edge *e = here->edges + here->first_edge[parent];
    const struct lat_rank_edge *end = here->edges + here->first_edge[parent + 1];
    uint32_t nobody = (uint32_t)here->children_cap - 1;
    PT_GROW(r->made.edges, r->made.edge_cap, r->made.edge_count + (size_t)(end - e));
    struct lat_rank_edge *to = r->made.edges + r->made.edge_count;
    children[nobody].top = top;
    for (; e < end; e++) {
        uint32_t child = here->child[e->from];
        while (children[child].top != top)
            child = children[child].sibling;
        *to = (struct lat_rank_edge){child, e->bit};
        to += child != nobody;
    }
    r->made.edge_count = (uint32_t)(to - r->made.edges);
}

/* The edges of the cut, its parent's first. */
static inline void find_edges(struct pt_lattice *l, uint32_t at)
{
    struct lat_ranks *r = l->ranks;
    uint32_t parent = r->parents[at], top = r->made.children[at].top;
    r->made.first_edge[at] = r->made.edge_count;
    add_edge(&r->made, parent, top);
    if (r->linked)
        follow_edges(r, parent, top);
    else
        search_edges(l, r->next_words[at], top);
}

/*
 * Once all runs are too many to count and all sets are the same, a cut gets from one edge what it would from all, and
 * the others are not looked for. They would have to be searched for if that ends, so it must have lasted for a while.
 */
static bool is_calm(const struct pt_lattice *l, const struct lat_part *part, uint32_t count)
{
    if (l->ranks->stepped || l->counting)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (part->runs[i] != UINT64_MAX || part->sets[i] != part->sets[0])
            return false;
    return true;
}

/* Effects and steps repeat from cut to cut, so the last one is tried before the table. */
struct memo {
    uint32_t a, b, result;
};

/* What a run brings to the cut by an event that may be one of the property's. */
static pt_set stepped_set(struct pt_lattice *l, lat_word word, pt_letter letter, const struct lat_rank_edge *edge)
{
    struct pt_worker_cache *cache = &l->workers[0].cache;
    uint32_t user_event = l->ranks->window->events[edge->bit].user_event;
    if (user_event != PT_NONE)
        letter = l->module ? module_letter(l, word, user_event) : pt_sets_event(&l->sets, cache, letter, user_event);
    return pt_sets_step(&l->sets, cache, l->current->parts[0].sets[edge->from], letter);
}

/* Who brings the letter does not matter; best an event that leaves atoms over several variables alone. */
static const struct lat_rank_edge *bringer(const struct lat_ranks *r, uint32_t at)
{
    const struct lat_rank_edge *edges = r->made.edges, *first = &edges[r->made.first_edge[at]];
    for (const struct lat_rank_edge *e = first; r->var_count && e < edges + r->made.edge_count; e++)
        if (!r->window->events[e->bit].joint)
            return e;
    return first;
}

/* Runs, letter and set of a cut whose edges are the last ones. */
static inline void fill_cut(struct pt_lattice *l, uint32_t at, struct memo *effect, struct memo *step)
{
    struct lat_ranks *r = l->ranks;
    struct pt_worker_cache *cache = &l->workers[0].cache;
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    const struct lat_rank_edge *edge = &r->made.edges[r->made.first_edge[at]];
    const struct lat_rank_edge *end = &r->made.edges[r->made.edge_count];
    uint64_t runs = 0;
    pt_set set = from->sets[edge->from];
    for (const struct lat_rank_edge *e = edge; e < end; e++) {
        if (__builtin_add_overflow(runs, from->runs[e->from], &runs))
            runs = UINT64_MAX;
        if (from->sets[e->from] != set && !r->stepped)
            set = pt_sets_union(&l->sets, cache, set, from->sets[e->from]);
    }
    to->runs[at] = runs;
    to->letters[at] = 0;
    to->sets[at] = PT_SET_EMPTY;
    if (l->counting)
        return;
    const struct lat_rank_edge *by = bringer(r, at);
    const struct lat_rank_event *event = &r->window->events[by->bit];
    pt_letter before = from->letters[by->from];
    if (event->joint || before != effect->a || event->effect != effect->b)
        *effect = (struct memo){event->joint ? PT_NONE : before, event->effect,
                                letter_after(l, r->next_words[at], before, event)};
    to->letters[at] = effect->result;
    if (r->stepped) {
        set = stepped_set(l, r->next_words[at], effect->result, edge);
        while (++edge < end)
            set = pt_sets_union(&l->sets, cache, set, stepped_set(l, r->next_words[at], effect->result, edge));
    } else {
        if (set != step->a || effect->result != step->b)
            *step = (struct memo){set, effect->result, pt_sets_step(&l->sets, cache, set, effect->result)};
        set = step->result;
    }
    to->sets[at] = set;
}

/* The same of all cuts where edges tell nothing; whether that goes on. */
static bool fill_calm(struct pt_lattice *l, uint32_t count)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    const struct lat_rank_event *events = r->window->events;
    const pt_set set = from->sets[0];
    struct memo effect = {PT_NONE, 0, 0}, step = {PT_NONE, 0, 0};
    bool same = true;
    for (uint32_t at = 0; at < count; at++) {
        const struct lat_rank_event *event = &events[r->made.children[at].top];
        pt_letter before = from->letters[r->parents[at]];
        if (event->joint || before != effect.a || event->effect != effect.b)
            effect = (struct memo){event->joint ? PT_NONE : before, event->effect,
                                   letter_after(l, r->next_words[at], before, event)};
        if (step.a || effect.result != step.b)
            step = (struct memo){0, effect.result, pt_sets_step(&l->sets, &l->workers[0].cache, set, effect.result)};
        to->runs[at] = UINT64_MAX;
        to->letters[at] = effect.result;
        to->sets[at] = step.result;
        same = same && step.result == to->sets[0];
    }
    return same;
}

/* The cuts that were made are the next level. */
static void keep_cuts(struct pt_lattice *l, uint32_t count)
{
    struct lat_ranks *r = l->ranks;
    struct memo effect = {PT_NONE, 0, 0}, step = effect;
    lat_word common = ~(lat_word)0, any = 0;
    struct lat_part *to = &l->next->parts[0];
    r->made.edge_count = 0;
    lat_part_reserve(l, to, to->words ? to->words : 1, count);
    bool link = r->calm < LONG_CALM;
    for (uint32_t at = 0; link && at < count; at++) {
        find_edges(l, at);
        fill_cut(l, at, &effect, &step);
    }
    r->made.first_edge[count] = r->made.edge_count;
    bool calm = link ? is_calm(l, to, count) : fill_calm(l, count);
    r->calm = calm ? r->calm + link : 0;
    r->linked = link;
    to->count = count;
    for (uint32_t at = 0; at < count; at++) {
        common &= r->next_words[at];
        any |= r->next_words[at];
    }
    r->common = common;
    r->any = any;
    lat_word *words = r->words;
    size_t cap = r->word_cap;
    r->words = r->next_words;
    r->word_cap = r->next_cap;
    r->next_words = words;
    r->next_cap = cap;
    struct lat_rank_links links = r->here;
    r->here = r->made;
    r->made = links;
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
    lat_layout_unref(l->layout);
    l->layout = NULL;
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

static void reserve(struct pt_lattice *l, uint32_t most)
{
    struct lat_ranks *r = l->ranks;
    PT_GROW(r->next_words, r->next_cap, most);
    PT_GROW(r->parents, r->parent_cap, most);
    PT_GROW(r->made.first_edge, r->made.first_edge_cap, (size_t)most + 1);
    if (r->made.children_cap != (size_t)most + 1) {
        r->made.children_cap = (size_t)most + 1;
        r->made.children = pt_xrealloc(r->made.children, r->made.children_cap * sizeof *r->made.children);
    }
    PT_GROW(r->made.child, r->made.child_cap, l->current->parts[0].count);
}

/* Makes the cuts of the next level, as many as there are or are kept. */
static enum lat_made choose(struct pt_lattice *l, uint32_t *ret_count)
{
    struct lat_ranks *r = l->ranks;
    uint32_t window = (uint32_t)l->options->window;
    reserve(l, window);
    *ret_count = make_cuts(l, window);
    if (*ret_count == window)
        return LAT_MADE;
    if (r->window->end < l->q_end && lat_window_misses(l))
        return LAT_NOT_MADE;
    return (l->ended || lat_q_full(l)) && *ret_count ? LAT_MADE : LAT_WAIT;
}

enum lat_made lat_ranks_expand(struct pt_lattice *l)
{
    uint64_t window = l->options->window;
    uint32_t count;
    if (!l->by_needs || l->finding->complete || window > MOST_KEPT || (l->ranks && l->level < l->ranks->retry))
        return LAT_NOT_MADE;
    if (!l->ranks)
        l->ranks = ranks_new(l);
    struct lat_ranks *r = l->ranks;
    if (!l->ranked && !lat_window_begin(l)) {
        be_patient(r, l->level, 0);
        return LAT_NOT_MADE;
    }
    lat_window_slide(l);
    enum lat_made made = is_pair(l) ? LAT_NOT_MADE : choose(l, &count);
    if (made == LAT_MADE) {
        keep_cuts(l, count);
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
