/*
 * Cuts, markings and cut-offs. The cut of an event, the conditions that its history leaves, is kept for every event
 * that is extended. That of a new one is the cut of its newest cause, changed by what other causes' histories have
 * beyond that one's: so it costs the size of a cut and of the difference, not of a history. It is a list here, or a
 * vector where walks are made (unfold_vector.c), which is changed likewise where that is little, and joined of its
 * causes' vectors where it is much.
 *
 * With the tokens of a list go the marks of reads: of each condition in the cut, the latest reads in the history. A
 * mark goes when its condition does, or when a later read of the same condition, with the former in its history, stands
 * for it.
 *
 * Markings are compared by a 64-bit sum of hashes first and exactly on a hit, so a collision can cost a cut-off but not
 * a wrong answer.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

static void stamp_all(struct unfolder *un, const uint32_t *conditions, uint32_t count, uint32_t stamp)
{
    for (uint32_t i = 0; i < count; i++)
        un->condition_stamp[conditions[i]] = stamp;
}

/* Adds to the cut what an event's history leaves, or what the event makes: tokens, or marks, that are not stamped.
 * Tokens with the stamp after that are the new event's, and not left either; reads of these are. */
static void add_left(struct unfolder *un, uint32_t start, uint32_t count, bool from_cut, uint32_t stamp)
{
    const struct pt_unfolding *u = un->u;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = from_cut ? un->cuts.items[start + i] : start + i, read = u->condition_read[c];
        if (un->condition_stamp[c] < stamp && (read == PT_NONE || un->condition_stamp[read] != stamp))
            pt_list_add(&un->cuts, c);
    }
}

/* What the candidate's history has beyond that of its newest cause. */
static struct list list_beyond(struct unfolder *un, const struct candidate *c, const uint32_t *pre, uint32_t newest)
{
    uint32_t count = un->net->transitions[c->transition].pre_count + c->mark_count;
    if (c->beyond != PT_NONE)
        return (struct list){.items = (uint32_t *)pre + count, .count = c->beyond};
    pt_unfold_sweep(un, pre + newest, 1, pre, count, true);
    return un->only_second;
}

/* The tokens of the cut, and, with `marks`, those. */
static void add_all_left(struct unfolder *un, const struct extended *base, const struct list *beyond, bool marks,
                         uint32_t stamp)
{
    const struct pt_unfolding *u = un->u;
    add_left(un, base->cut + (marks ? base->token_count : 0), marks ? base->mark_count : base->token_count, true,
             stamp);
    for (uint32_t i = 0; i < beyond->count; i++) {
        const struct pt_unfold_event *e = &u->events[beyond->items[i]];
        uint32_t made = pt_net_made(un->net, e->transition);
        add_left(un, e->post_start + (marks ? made : 0), marks ? e->post_count - made : made, false, stamp);
    }
}

static void list_left(struct unfolder *un, const struct candidate *c, const uint32_t *pre, struct extended *cut)
{
    const struct pt_unfolding *u = un->u;
    uint32_t stamp = pt_unfold_stamp(un), own = pt_unfold_stamp(un);
    uint32_t newest = pt_unfold_newest(un, pre, un->net->transitions[c->transition].pre_count + c->mark_count);
    const struct list beyond = list_beyond(un, c, pre, newest);
    const struct extended *base = &un->extended[u->condition_event[pre[newest]]];
    stamp_all(un, pre, pt_net_consumed(un->net, c->transition), own);
    for (uint32_t i = 0; i < beyond.count; i++) {
        const struct pt_unfold_event *e = &u->events[beyond.items[i]];
        stamp_all(un, u->pre + e->pre_start, pt_net_consumed(un->net, e->transition), stamp);
        stamp_all(un, u->over + e->over_start, e->over_count, stamp);
    }
    add_all_left(un, base, &beyond, false, stamp);
    cut->token_count = un->cuts.count - cut->cut;
    if (un->reads)
        add_all_left(un, base, &beyond, true, stamp);
    cut->mark_count = un->cuts.count - cut->cut - cut->token_count;
}

uint32_t pt_unfold_make_root(struct unfolder *un, const struct candidate *c, const uint32_t *pre)
{
    const struct pt_unfolding *u = un->u;
    uint32_t count = un->net->transitions[c->transition].pre_count + c->mark_count;
    if (c->joined && c->joined == un->choice.walks)
        return pt_unfold_vector_begin(un, pre + count);
    if (c->beyond == PT_NONE)
        return pt_unfold_vector_causes(un, pre, count);
    uint32_t newest = u->condition_event[pre[pt_unfold_newest(un, pre, count)]];
    uint32_t root = pt_unfold_vector_copy(un, un->extended[newest].root);
    for (uint32_t i = 0; i < c->beyond; i++)
        pt_unfold_vector_add(un, root, pre[count + i]);
    return root;
}

struct extended pt_unfold_make_cut(struct unfolder *un, const struct candidate *c, const uint32_t *pre)
{
    struct extended cut = {.cut = un->cuts.count};
    if (!un->walk.on) {
        list_left(un, c, pre, &cut);
        return cut;
    }
    cut.root = pt_unfold_make_root(un, c, pre);
    pt_unfold_walk_for(un, c);
    return cut;
}

void pt_unfold_drop_cut(struct unfolder *un, const struct extended *cut)
{
    un->cuts.count = cut->cut;
    if (!un->walk.on)
        return;
    un->walk.roots.count = cut->root;
    un->walk.chunk_count = un->walk.own_chunks;
}

/* --- Markings -------------------------------------------------------------------------------------------------- */

/* The label of what an event makes at a place, as one number. */
static uint64_t label(const struct unfolder *un, uint32_t place, uint8_t colour, uint32_t tag)
{
    return un->options->coloured && colour ? ((uint64_t)tag * 4 + colour) << 32 | place : place;
}

static int compare_labels(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A candidate and what it takes; of an event that is there, its cut has all. */
struct fresh {
    const struct candidate *c;
    const uint32_t *pre;
};

static const uint64_t READ_LABEL = (uint64_t)1 << 63;

/*
 * The colours of reads: of each place in the cut, the strongest of those that have read it, for that is all that the
 * next one to consume it can see. They are part of the marking, as the tokens of readers are in the paper's net.
 */
static uint32_t add_read_labels(struct unfolder *un, const struct extended *cut, const struct fresh *fresh,
                                uint64_t *labels)
{
    const struct pt_unfolding *u = un->u;
    uint32_t count = 0, kept = 0, consumed = fresh ? pt_net_consumed(un->net, fresh->c->transition) : 0;
    const struct list marks = pt_unfold_marks(un, cut);
    for (uint32_t i = 0; i < marks.count; i++) {
        uint32_t mark = marks.items[i], read = u->condition_read[mark];
        const struct pt_unfold_event *e = &u->events[u->condition_event[mark]];
        bool gone = e->colour == PT_ACHROMATIC;
        for (uint32_t k = 0; k < consumed && !gone; k++)
            gone = fresh->pre[k] == read;
        if (!gone)
            labels[count++] = READ_LABEL | label(un, u->condition_place[read], e->colour, e->tag);
    }
    for (uint32_t i = 0; fresh && fresh->c->colour && i < un->net->transitions[fresh->c->transition].read_count; i++)
        labels[count++] =
            READ_LABEL | label(un, u->condition_place[fresh->pre[consumed + i]], fresh->c->colour, fresh->c->tag);
    /* There is one tag in a history, so colours decide; of one place the last in this order is the strongest. */
    qsort(labels, count, sizeof *labels, compare_labels);
    for (uint32_t i = 0; i < count; i++) {
        bool stronger = false;
        for (uint32_t k = i + 1; k < count && !stronger; k++)
            stronger = (uint32_t)labels[k] == (uint32_t)labels[i];
        if (!stronger)
            labels[kept++] = labels[i];
    }
    return kept;
}

/* The labels of a cut and, unless `fresh` is NULL, of what the candidate makes and reads; in an order that is theirs
 * alone. */
static uint64_t *make_labels(struct unfolder *un, const struct extended *cut, const struct fresh *fresh,
                             uint32_t *ret_count)
{
    const struct pt_unfolding *u = un->u;
    uint32_t made = fresh ? pt_net_made(un->net, fresh->c->transition) : 0, count = 0;
    uint32_t reads = fresh ? un->net->transitions[fresh->c->transition].read_count : 0;
    const struct list tokens = pt_unfold_tokens(un, cut, fresh != NULL);
    uint32_t marks = pt_unfold_marks(un, cut).count;
    uint64_t *labels = pt_xmalloc(((size_t)tokens.count + made + marks + reads + 1) * sizeof *labels);
    for (uint32_t i = 0; i < tokens.count; i++) {
        uint32_t token = tokens.items[i];
        const struct pt_unfold_event *e = &u->events[u->condition_event[token]];
        labels[count++] = label(un, u->condition_place[token], e->colour, e->tag);
    }
    for (uint32_t i = 0; i < made; i++)
        labels[count++] = label(un, pt_net_post(un->net, fresh->c->transition)[i], fresh->c->colour, fresh->c->tag);
    qsort(labels, count, sizeof *labels, compare_labels);
    *ret_count = count + add_read_labels(un, cut, fresh, labels + count);
    return labels;
}

static bool is_coloured_cutoff(struct unfolder *un, const struct candidate *c, const uint32_t *pre,
                               const struct extended *cut, uint32_t event)
{
    struct fresh fresh = {c, pre};
    uint32_t count, known_count;
    uint64_t *labels = make_labels(un, cut, &fresh, &count), hash = c->marking;
    for (uint32_t i = 0; i < count; i++)
        hash += labels[i] & READ_LABEL ? pt_mix64(labels[i]) : 0;
    uint32_t *known = pt_map64_at(&un->markings, hash);
    bool same = false;
    if (*known == PT_NONE) {
        *known = event;
    } else {
        uint64_t *known_labels = make_labels(un, &un->extended[*known], NULL, &known_count);
        same = count == known_count && memcmp(labels, known_labels, count * sizeof *labels) == 0;
        free(known_labels);
    }
    free(labels);
    return same;
}

/* Stamps the places that a candidate marks: those of its cut, and what it makes; returns their number. */
static uint32_t stamp_places(struct unfolder *un, const struct candidate *c, const struct list *tokens, uint32_t stamp)
{
    uint32_t made = pt_net_made(un->net, c->transition);
    for (uint32_t i = 0; i < tokens->count; i++)
        un->label_stamp[un->u->condition_place[tokens->items[i]]] = stamp;
    for (uint32_t i = 0; i < made; i++)
        un->label_stamp[pt_net_post(un->net, c->transition)[i]] = stamp;
    return tokens->count + made;
}

/* Whether an event marks exactly the stamped places. */
static bool marks_stamped(struct unfolder *un, uint32_t event, uint32_t stamp, uint32_t count)
{
    const struct list tokens = pt_unfold_tokens(un, &un->extended[event], false);
    for (uint32_t i = 0; i < tokens.count; i++) {
        if (un->label_stamp[un->u->condition_place[tokens.items[i]]] != stamp)
            return false;
    }
    return tokens.count == count;
}

/* Whether the marking is reached by an event with a smaller history, but for one token that could do more there. */
static bool is_covered(struct unfolder *un, const struct candidate *c, const struct extended *cut)
{
    uint32_t made = pt_net_made(un->net, c->transition);
    struct list tokens = pt_unfold_tokens(un, cut, true);
    for (uint32_t i = 0; i < tokens.count + made; i++) {
        uint32_t place = i < tokens.count ? un->u->condition_place[tokens.items[i]]
                                          : pt_net_post(un->net, c->transition)[i - tokens.count];
        uint32_t restart = un->options->restart[place];
        if (restart == PT_NONE)
            continue;
        uint64_t hash = c->marking - pt_unfold_label_hash(un, place, PT_ACHROMATIC, PT_NONE) +
                        pt_unfold_label_hash(un, restart, PT_ACHROMATIC, PT_NONE);
        uint32_t known = pt_map64_get(&un->markings, hash);
        if (known == PT_NONE || un->u->events[known].size >= c->size)
            continue;
        uint32_t stamp = pt_unfold_stamp(un), count = stamp_places(un, c, &tokens, stamp);
        un->label_stamp[place] = 0;
        un->label_stamp[restart] = stamp;
        if (marks_stamped(un, known, stamp, count))
            return true;
        tokens = pt_unfold_tokens(un, cut, true);
    }
    return false;
}

bool pt_unfold_is_cutoff(struct unfolder *un, const struct candidate *c, const uint32_t *pre,
                         const struct extended *cut, uint32_t event)
{
    if (un->options->coloured)
        return is_coloured_cutoff(un, c, pre, cut, event);
    uint32_t known = pt_map64_get(&un->markings, c->marking);
    if (known == PT_NONE) {
        if (un->options->restart && is_covered(un, c, cut))
            return true;
        *pt_map64_at(&un->markings, c->marking) = event;
        return false;
    }
    if (un->walk.on)
        return pt_unfold_vector_same(un, c, cut->root, un->extended[known].root);
    const struct list tokens = pt_unfold_tokens(un, cut, true);
    uint32_t stamp = pt_unfold_stamp(un), count = stamp_places(un, c, &tokens, stamp);
    return marks_stamped(un, known, stamp, count);
}
