/*
 * What the cuts of a level that was made of words (ranks.c) are for the monitor: how many runs lead to them, their
 * letters and their sets.
 *
 * What leads to a cut c: if p is its parent and h its top, the step by h from p, and for any other event b a step from
 * c - b, whose parent is p - b. So the other edges of c are those edges of p whose source, in the level before, has a
 * child with top h. Where that level's edges are not known (this has just begun), they are searched for among the
 * words.
 *
 * Guarantee: that of expand.c. Nothing is read but the level as it was made, its window, and the level before: others
 * may be made meanwhile (relay.c). Cost: per level O(W + edges).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/ranks.h"

enum { LONG_CALM = 32 };

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
    uint32_t effect = pt_sets_joint(l->sets, &w->cache, pt_monitor_eval_joint(l->monitor, w->values));
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
    pt_letter letter = event->effect == PT_NONE ? before : pt_sets_apply(l->sets, cache, before, event->effect);
    return event->joint ? pt_sets_apply(l->sets, cache, letter, joint_effect(l, word)) : letter;
}

/* ---- edges ---- */

static void add_edge(struct lat_rank_links *made, uint32_t from, uint32_t bit)
{
    struct lat_rank_edge edge = {from, bit};
    PT_PUSH(made->edges, made->edge_count, made->edge_cap, edge);
}

/* The edges of a cut but that of its parent, by the words. */
static void search_edges(struct lat_ranks *r, lat_word word, uint32_t top, lat_word common)
{
    for (lat_word rest = word & ~common & ~lat_bit(top); rest; rest &= rest - 1) {
        lat_word source = word & ~(rest & -rest);
        uint32_t low = 0, high = r->from_count;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (r->fill_from[middle] < source)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < r->from_count && r->fill_from[low] == source)
            add_edge(&r->next, low, lat_lowest_bit(rest));
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
    PT_GROW(r->next.edges, r->next.edge_cap, r->next.edge_count + (size_t)(end - e));
    struct lat_rank_edge *to = r->next.edges + r->next.edge_count;
    children[nobody].top = top;
    for (; e < end; e++) {
        uint32_t child = here->child[e->from];
        while (children[child].top != top)
            child = children[child].sibling;
        *to = (struct lat_rank_edge){child, e->bit};
        to += child != nobody;
    }
    r->next.edge_count = (uint32_t)(to - r->next.edges);
}

/* The edges of the cut, its parent's first. `common`: of the level before, where they are searched for. */
static inline void find_edges(struct lat_ranks *r, uint32_t at, uint32_t parent, uint32_t top, lat_word common)
{
    r->next.children[at] = (struct lat_rank_child){top, r->next.child[parent]};
    r->next.child[parent] = at;
    r->next.first_edge[at] = r->next.edge_count;
    add_edge(&r->next, parent, top);
    if (r->linked)
        follow_edges(r, parent, top);
    else
        search_edges(r, r->fill_words[at], top, common);
}

/* ---- levels ---- */

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
    uint32_t user_event = l->ranks->reading->events[edge->bit].user_event;
    if (user_event != PT_NONE)
        letter = l->module ? module_letter(l, word, user_event) : pt_sets_event(l->sets, cache, letter, user_event);
    return pt_sets_step(l->sets, cache, l->current->parts[0].sets[edge->from], letter);
}

/* Who brings the letter does not matter; best an event that leaves atoms over several variables alone. */
static const struct lat_rank_edge *bringer(const struct lat_ranks *r, uint32_t at)
{
    const struct lat_rank_edge *edges = r->next.edges, *first = &edges[r->next.first_edge[at]];
    for (const struct lat_rank_edge *e = first; r->var_count && e < edges + r->next.edge_count; e++)
        if (!r->reading->events[e->bit].joint)
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
    const struct lat_rank_edge *edge = &r->next.edges[r->next.first_edge[at]];
    const struct lat_rank_edge *end = &r->next.edges[r->next.edge_count];
    const lat_word word = r->fill_words[at];
    uint64_t runs = 0;
    pt_set set = from->sets[edge->from];
    for (const struct lat_rank_edge *e = edge; e < end; e++) {
        if (__builtin_add_overflow(runs, from->runs[e->from], &runs))
            runs = UINT64_MAX;
        if (from->sets[e->from] != set && !r->stepped)
            set = pt_sets_union(l->sets, cache, set, from->sets[e->from]);
    }
    to->runs[at] = runs;
    to->letters[at] = 0;
    to->sets[at] = PT_SET_EMPTY;
    if (l->counting)
        return;
    const struct lat_rank_edge *by = bringer(r, at);
    const struct lat_rank_event *event = &r->reading->events[by->bit];
    pt_letter before = from->letters[by->from];
    if (event->joint || before != effect->a || event->effect != effect->b)
        *effect = (struct memo){event->joint ? PT_NONE : before, event->effect, letter_after(l, word, before, event)};
    to->letters[at] = effect->result;
    if (r->stepped) {
        set = stepped_set(l, word, effect->result, edge);
        while (++edge < end)
            set = pt_sets_union(l->sets, cache, set, stepped_set(l, word, effect->result, edge));
    } else {
        if (set != step->a || effect->result != step->b)
            *step = (struct memo){set, effect->result, pt_sets_step(l->sets, cache, set, effect->result)};
        set = step->result;
    }
    to->sets[at] = set;
}

/* The same of all cuts where edges tell nothing; whether that goes on. Cuts of a run whose parents have one letter get
 * one, which all but atoms over several variables do. */
static bool fill_calm(struct pt_lattice *l)
{
    const struct lat_rank_level *level = l->ranks->filling;
    const pt_letter *befores = l->current->parts[0].letters;
    const pt_set set = l->current->parts[0].sets[0];
    struct lat_part *to = &l->next->parts[0];
    pt_letter *letters = to->letters;
    pt_set *sets = to->sets, first = PT_NONE;
    const uint32_t *parents = level->parents;
    struct memo step = {PT_NONE, 0, 0};
    struct pt_sets *const known = l->sets;
    bool same = true;
    for (uint32_t i = 0, at = 0; i < level->run_count; i++) {
        const struct lat_rank_event *event = &l->ranks->reading->events[level->runs[i].top];
        const uint32_t end = level->runs[i].end;
        while (at < end) {
            pt_letter before = befores[parents[at]], letter = letter_after(l, l->ranks->fill_words[at], before, event);
            if (step.a || letter != step.b)
                step = (struct memo){0, letter, pt_sets_step(known, &l->workers[0].cache, set, letter)};
            first = first == PT_NONE ? step.result : first;
            same = same && step.result == first;
            const pt_set after = step.result;
            const uint32_t upto = event->joint ? at + 1 : end;
            do {
                letters[at] = letter;
                sets[at] = after;
            } while (++at < upto && befores[parents[at]] == before);
        }
    }
    memset(to->runs, 0xff, level->count * sizeof *to->runs);
    return same;
}

static void reserve_links(struct lat_rank_links *links, uint32_t most, uint32_t from, uint32_t count)
{
    PT_GROW(links->first_edge, links->first_edge_cap, (size_t)count + 1);
    if (links->children_cap != (size_t)most + 1) {
        links->children_cap = (size_t)most + 1;
        links->children = pt_xrealloc(links->children, links->children_cap * sizeof *links->children);
    }
    PT_GROW(links->child, links->child_cap, from);
    for (uint32_t i = 0; i < from; i++)
        links->child[i] = most;
    links->edge_count = 0;
}

/* All cuts with all their edges; whether these tell nothing. */
static bool fill_linked(struct pt_lattice *l, const struct lat_rank_level *level)
{
    struct lat_ranks *r = l->ranks;
    struct memo effect = {PT_NONE, 0, 0}, step = effect;
    lat_word common = ~(lat_word)0;
    reserve_links(&r->next, (uint32_t)l->options->window, r->from_count, level->count);
    for (uint32_t i = 0; !r->linked && i < r->from_count; i++)
        common &= r->fill_from[i];
    for (uint32_t i = 0, at = 0; i < level->run_count; i++)
        for (; at < level->runs[i].end; at++) {
            find_edges(r, at, level->parents[at], level->runs[i].top, common);
            fill_cut(l, at, &effect, &step);
        }
    r->next.first_edge[level->count] = r->next.edge_count;
    struct lat_rank_links links = r->here;
    r->here = r->next;
    r->next = links;
    return is_calm(l, &l->next->parts[0], level->count);
}

/* The words of the level, and of that before it: those of who makes levels, where that is the same thread, or made once
 * more, which takes less than getting them from another core. */
static void take_words(struct lat_ranks *r, const struct lat_rank_level *level, bool ahead)
{
    if (!ahead) {
        r->fill_words = r->words;
        r->fill_from = r->next_words;
        return;
    }
    lat_word *from = r->own_words;
    r->own_words = r->own_from;
    r->own_from = from;
    const uint32_t *parents = level->parents;
    const lat_halves *sources = (const lat_halves *)from;
    lat_halves *words = (lat_halves *)r->own_words;
    for (uint32_t i = 0, at = 0; i < level->run_count; i++) {
        const lat_halves top = lat_halves_of(lat_bit(level->runs[i].top));
        for (const uint32_t end = level->runs[i].end; at < end; at++)
            words[at] = sources[parents[at]] | top;
    }
    r->fill_words = r->own_words;
    r->fill_from = from;
}

void lat_ranks_fill(struct pt_lattice *l, const struct lat_rank_level *level, bool ahead)
{
    struct lat_ranks *r = l->ranks;
    struct lat_part *to = &l->next->parts[0];
    r->from_count = l->current->parts[0].count;
    lat_window_read(l, level);
    if (ahead && level->taken_out)
        lat_pack_words(r->own_words, r->from_count, ~level->taken_out);
    take_words(r, level, ahead);
    r->filling = level;
    lat_part_reserve(l, to, to->words ? to->words : 1, level->count);
    bool link = r->calm < LONG_CALM;
    bool calm = link ? fill_linked(l, level) : fill_calm(l);
    r->calm = calm ? r->calm + link : 0;
    to->calm = calm && level->count ? to->sets[0] : PT_NONE;
    r->linked = link;
    to->count = level->count;
}
