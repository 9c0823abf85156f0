/*
 * Bounded windows of many threads: a level that has to drop cuts, made out of words (ranks.h).
 *
 * The contract's order of cuts of equal size (their numbers, largest first, lexicographically) is the order of their
 * words as integers. An event is enabled in a cut iff the cut's word contains what it needs, and the word of the next
 * cut has one bit more. The enabled events of a cut come out one after the other, without a test: take the least one
 * that is missing, and leave out those that need it; the least one of the rest needs nothing that is missing, since
 * what needs a missing event was left out with it. So the work is by steps that exist, however many threads there are;
 * only cuts that are kept get letters, and one look-up of a set's step each: the step of a union is the union of the
 * steps.
 *
 * Only steps up to a limit are made. What is beyond it is greater than all within, so if W cuts are found the W least
 * are among them; else the limit is raised. Where fewer than W cuts are within the window, no event of Q outside of it
 * may be enabled. Whether something is dropped must be known already (`complete` is false), since not all candidates
 * are looked at, and the order must be decided by needs. Otherwise the level is left to expand.c: then keys are made.
 *
 * Guarantee: the level that the cone's definition gives. Cost: per level O(W + steps up to the limit), expected.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/ranks.h"

enum { MOST_KEPT = 1 << 20, LEAST_PATIENCE = 16, MOST_PATIENCE = 4096 };

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
    r->cut_cap = 32;
    while (r->cut_cap < 2 * l->options->window)
        r->cut_cap *= 2;
    r->cuts = pt_xmalloc(r->cut_cap * sizeof *r->cuts);
    r->cut_words = pt_xmalloc(r->cut_cap * sizeof *r->cut_words);
    r->mask = 2 * r->cut_cap - 1; /* never more than half full */
    r->slots = pt_xcalloc((size_t)r->mask + 1, sizeof *r->slots);
    return r;
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
    free(r->rest);
    free(r->cuts);
    free(r->cut_words);
    free(r->slots);
    free(r->scratch);
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
    lat_window_values(l, word, r->memos ? writes : NULL);
    if (r->memos) {
        for (uint32_t i = 0; i < r->var_count; i++)
            hash = (hash ^ writes[i]) * 0x9e3779b97f4a7c15ULL;
        memo = &r->memos[hash >> 58]; /* of LAT_RANK_MEMOS */
        if (memo->effect != PT_NONE && memcmp(memo->writes, writes, r->var_count * sizeof *writes) == 0)
            return memo->effect;
    }
    uint32_t effect = pt_sets_joint(&l->sets, &w->cache, pt_monitor_eval_joint(l->monitor, w->values));
    if (memo) {
        memcpy(memo->writes, writes, sizeof writes);
        memo->effect = effect;
    }
    return effect;
}

static pt_letter module_letter(struct pt_lattice *l, lat_word word, uint32_t user_event)
{
    lat_window_values(l, word, NULL);
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

/* What a run brings to the cut by an event that may be one of the property's. */
static pt_set stepped_set(struct pt_lattice *l, uint32_t at, uint32_t from, uint32_t bit)
{
    struct pt_worker_cache *cache = &l->workers[0].cache;
    uint32_t user_event = l->ranks->window->events[bit].user_event;
    pt_letter letter = l->ranks->cuts[at].letter;
    if (user_event != PT_NONE)
        letter = l->module ? module_letter(l, l->ranks->cut_words[at], user_event)
                           : pt_sets_event(&l->sets, cache, letter, user_event);
    return pt_sets_step(&l->sets, cache, l->current->parts[0].sets[from], letter);
}

/* ---- candidates ---- */

static inline uint32_t slot_of(lat_word word, uint32_t mask)
{
    uint64_t h = ((uint64_t)word ^ (uint64_t)(word >> 64) * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(h >> 40) & mask;
}

/* Room for twice as many cuts. */
static void widen(struct lat_ranks *r)
{
    r->cut_cap *= 2;
    r->cuts = pt_xrealloc(r->cuts, r->cut_cap * sizeof *r->cuts);
    r->cut_words = pt_xrealloc(r->cut_words, r->cut_cap * sizeof *r->cut_words);
    r->mask = 2 * r->mask + 1;
    free(r->slots);
    r->slots = pt_xcalloc((size_t)r->mask + 1, sizeof *r->slots);
    for (uint32_t c = 0; c < r->cut_count; c++) {
        uint32_t s = slot_of(r->cut_words[c], r->mask);
        while (r->slots[s])
            s = (s + 1) & r->mask;
        r->slots[s] = c + 1;
    }
}

/* What the hot loop below looks at. */
struct making {
    const uint64_t *runs; /* of the current level */
    const pt_set *sets;
    const lat_word *after;
    bool plain; /* sets are united before they are stepped, and there are some */
};

static __attribute__((noinline)) void step_first(struct pt_lattice *l, uint32_t at)
{
    struct lat_ranks *r = l->ranks;
    struct lat_rank_cut *cut = &r->cuts[at];
    cut->letter =
        letter_after(l, r->cut_words[at], l->current->parts[0].letters[cut->from], &r->window->events[cut->bit]);
    cut->set = stepped_set(l, at, cut->from, cut->bit);
}

static inline __attribute__((always_inline)) void add_cut(struct pt_lattice *l, const struct making *m, lat_word word,
                                                          uint32_t from, uint32_t bit)
{
    struct lat_ranks *r = l->ranks;
    uint32_t at = r->cut_count++;
    r->cut_words[at] = word;
    r->cuts[at] = (struct lat_rank_cut){m->runs[from], from, bit, 0, m->sets[from]};
    if (!m->plain && !l->counting)
        step_first(l, at);
    if (at + 1 == r->cut_cap)
        widen(r);
}

/* One more way to a cut. */
static inline __attribute__((always_inline)) void join_cut(struct pt_lattice *l, const struct making *m, uint32_t at,
                                                           uint32_t from, uint32_t bit)
{
    struct lat_rank_cut *cut = &l->ranks->cuts[at];
    pt_set set = m->sets[from];
    if (__builtin_add_overflow(cut->runs, m->runs[from], &cut->runs))
        cut->runs = UINT64_MAX;
    if (!m->plain)
        set = l->counting ? cut->set : stepped_set(l, at, from, bit);
    if (set != cut->set)
        cut->set = pt_sets_union(&l->sets, &l->workers[0].cache, cut->set, set);
}

static void begin_cuts(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    uint32_t count = l->current->parts[0].count;
    lat_word window = lat_low_bits(r->window->count);
    r->cut_count = 0;
    memset(r->slots, 0, ((size_t)r->mask + 1) * sizeof *r->slots);
    PT_GROW(r->rest, r->rest_cap, count);
    for (uint32_t i = 0; i < count; i++)
        r->rest[i] = ~r->words[i] & window;
}

/*
 * The cuts of the next level up to the limit that have not been made yet. Words up to the limit often fit into 64 bits,
 * and then it takes half the time: all that is looked at are the lower halves. Who comes to need more begins again.
 */
#define MAKE_CUTS(name, word_type, lowest_bit)                                                                         \
    static void name(struct pt_lattice *l, word_type limit)                                                            \
    {                                                                                                                  \
        struct lat_ranks *r = l->ranks;                                                                                \
        const struct lat_part *part = &l->current->parts[0];                                                           \
        const struct making m = {part->runs, part->sets, r->after, !r->stepped && !l->counting};                       \
        uint32_t count = part->count, mask = r->mask;                                                                  \
        for (uint32_t i = 0; i < count; i++) {                                                                         \
            word_type word = (word_type)r->words[i], missing = (word_type)r->rest[i], next;                            \
            if (word > limit)                                                                                          \
                continue;                                                                                              \
            while (missing && (next = word | (missing & -missing)) <= limit) {                                         \
                uint32_t bit = lowest_bit(missing), s = slot_of(next, mask), at;                                       \
                missing &= (missing - 1) & ~(word_type)m.after[bit];                                                   \
                while ((at = r->slots[s]) && (word_type)r->cut_words[at - 1] != next)                                  \
                    s = (s + 1) & mask;                                                                                \
                if (at) {                                                                                              \
                    join_cut(l, &m, at - 1, i, bit);                                                                   \
                } else {                                                                                               \
                    r->slots[s] = r->cut_count + 1;                                                                    \
                    add_cut(l, &m, next, i, bit);                                                                      \
                    mask = r->mask;                                                                                    \
                }                                                                                                      \
            }                                                                                                          \
            r->rest[i] = missing;                                                                                      \
        }                                                                                                              \
    }
MAKE_CUTS(make_wide_cuts, lat_word, lat_lowest_bit)
MAKE_CUTS(make_narrow_cuts, uint64_t, (uint32_t)__builtin_ctzll)
#undef MAKE_CUTS

static void make_cuts(struct pt_lattice *l, lat_word limit)
{
    if (limit >> 64)
        make_wide_cuts(l, limit);
    else
        make_narrow_cuts(l, (uint64_t)limit);
}

/* The keep-th of the cuts' words; they are distinct. Quickselect. */
static lat_word nth_word(struct lat_ranks *r, uint32_t keep)
{
    PT_GROW(r->scratch, r->scratch_cap, r->cut_count);
    lat_word *words = r->scratch;
    uint32_t low = 0, high = r->cut_count;
    memcpy(words, r->cut_words, r->cut_count * sizeof *words);
    while (high - low > 1) {
        lat_word pivot = words[low + (high - low) / 2];
        uint32_t i = low, j = high - 1;
        for (;;) {
            while (words[i] < pivot)
                i++;
            while (words[j] > pivot)
                j--;
            if (i >= j)
                break;
            lat_word swap = words[i];
            words[i++] = words[j];
            words[j--] = swap;
        }
        uint32_t split = j + 1; /* [low, split) <= pivot <= [split, high) */
        if (split == high)
            split--;
        if (keep <= split)
            high = split;
        else
            low = split;
    }
    return words[low];
}

/* Effects and steps repeat from cut to cut, so the last one is tried before the table. */
struct memo {
    uint32_t a, b, result;
};

/* The cuts up to `last` are the next level. */
static void keep_cuts(struct pt_lattice *l, lat_word last)
{
    struct lat_ranks *r = l->ranks;
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    uint32_t at = 0;
    struct memo effect = {PT_NONE, 0, 0}, step = effect;
    lat_word common = ~(lat_word)0, any = 0, greatest = 0;
    lat_part_reserve(l, to, to->words ? to->words : 1, r->cut_count);
    PT_GROW(r->next_words, r->next_cap, r->cut_count);
    for (uint32_t c = 0; c < r->cut_count; c++) {
        const struct lat_rank_cut *cut = &r->cuts[c];
        lat_word word = r->cut_words[c];
        if (word > last)
            continue;
        common &= word;
        any |= word;
        greatest = word > greatest ? word : greatest;
        r->next_words[at] = word;
        to->runs[at] = cut->runs;
        to->letters[at] = l->counting ? 0 : cut->letter;
        to->sets[at] = l->counting ? PT_SET_EMPTY : cut->set;
        if (!l->counting && !r->stepped) {
            pt_letter before = from->letters[cut->from];
            const struct lat_rank_event *event = &r->window->events[cut->bit];
            if (event->joint || before != effect.a || event->effect != effect.b)
                effect = (struct memo){before, event->effect, letter_after(l, word, before, event)};
            if (effect.result != step.b || cut->set != step.a)
                step = (struct memo){cut->set, effect.result,
                                     pt_sets_step(&l->sets, &l->workers[0].cache, cut->set, effect.result)};
            to->letters[at] = effect.result;
            to->sets[at] = step.result;
            if (event->joint)
                effect.a = PT_NONE;
        }
        at++;
    }
    to->count = at;
    r->common = common;
    r->any = any;
    r->greatest = greatest;
    lat_word *words = r->words;
    size_t cap = r->word_cap;
    r->words = r->next_words;
    r->word_cap = r->next_cap;
    r->next_words = words;
    r->next_cap = cap;
}

/* ---- coming and going ---- */

/* Do the events of the window belong to two threads at most? Then pair.c is faster. */
static bool is_pair(const struct lat_window *window)
{
    uint32_t columns[2], count = 0;
    for (uint32_t k = 0; k < window->count; k++) {
        uint32_t column = window->events[k].column;
        if ((count > 0 && columns[0] == column) || (count > 1 && columns[1] == column))
            continue;
        if (count == 2)
            return false;
        columns[count++] = column;
    }
    return window->count == LAT_RANK_SPAN;
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

/* Somewhat more: the lower half of the gaps is filled, or there is one bit more on top. */
static lat_word raised(lat_word limit)
{
    uint32_t gaps = LAT_RANK_SPAN - lat_bit_count(limit);
    lat_word over = ~limit;
    gaps -= LAT_RANK_SPAN - 1 - lat_highest_bit(limit);
    if (!gaps)
        return limit << 1 | 1;
    for (uint32_t fill = (gaps + 1) / 2; fill; fill--)
        over &= over - 1;
    return over ? limit | (lat_bit(lat_lowest_bit(over)) - 1) : ~(lat_word)0;
}

/* Makes the cuts of the next level and finds the last one to keep. */
static enum lat_made choose(struct pt_lattice *l, lat_word *ret_last)
{
    struct lat_ranks *r = l->ranks;
    uint32_t window = (uint32_t)l->options->window;
    lat_word all = lat_low_bits(r->window->count), limit = r->greatest << 1 | 1;
    begin_cuts(l);
    for (bool narrow = true;; limit = raised(limit)) {
        limit = limit < all && limit > r->greatest ? limit : all;
        if (narrow && limit >> 64) {
            begin_cuts(l);
            narrow = false;
        }
        make_cuts(l, limit);
        if (r->cut_count >= window) {
            *ret_last = r->cut_count > window ? nth_word(r, window) : ~(lat_word)0;
            return LAT_MADE;
        }
        if (limit == all)
            break;
    }
    *ret_last = ~(lat_word)0;
    if (r->window->end < l->q_end && lat_window_misses(l))
        return LAT_NOT_MADE;
    return (l->ended || lat_q_full(l)) && r->cut_count ? LAT_MADE : LAT_WAIT;
}

enum lat_made lat_ranks_expand(struct pt_lattice *l)
{
    uint64_t window = l->options->window;
    lat_word last;
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
    enum lat_made made = is_pair(r->window) ? LAT_NOT_MADE : choose(l, &last);
    if (made == LAT_MADE) {
        keep_cuts(l, last);
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
