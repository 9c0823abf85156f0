/*
 * Parts of components. A component (components.c) has one token at most, and its conditions are a tree. Reads go into
 * such trees as marks: one that a history has of a condition comes after that, and before what consumes it. There it
 * has to be in order with others that the history has of the same condition. So are reads by transitions that consume
 * from one component, since that one's token has moved between them; and those by one transition alone. Hence readers
 * are put into groups, and a component is one *part* for each of these, with their marks, or one, if nobody reads.
 *
 * That is the net in which each reader has a place of its own (Vogler, Semenov and Yakovlev 1998), where readers of one
 * group share theirs: parts are its components.
 *
 * Which groups there are is decided greedily, the largest first. What writes what many groups read moves in as many
 * parts; where that is too much, there are no walks.
 */
#include <stdlib.h>
#include <string.h>

#include "net/components.h"
#include "net/unfold_impl.h"

/* By place, its components; by component, the transitions that read in it, and of each of these which of its parts that
 * one's marks are in. */
struct cover {
    uint32_t *start, *components; /* by place */
    struct list *readers, *groups;
    uint32_t *first_part; /* by component, and one more */
};

enum { MOST_GROUPS = 64 }; /* of readers, in a component; and moves of a transition, beside four for each arc */

static void index_components(const struct pt_net *net, const struct pt_components *components, struct cover *ret)
{
    uint32_t *start = ret->start = pt_xcalloc((size_t)net->place_count + 2, sizeof *start);
    ret->components = pt_xmalloc(((size_t)components->place_count + 1) * sizeof *ret->components);
    ret->readers = pt_xcalloc((size_t)components->count + 1, sizeof *ret->readers);
    ret->groups = pt_xcalloc((size_t)components->count + 1, sizeof *ret->groups);
    ret->first_part = pt_xcalloc((size_t)components->count + 1, sizeof *ret->first_part);
    for (uint32_t i = 0; i < components->place_count; i++)
        start[components->places[i] + 2]++;
    for (uint32_t p = 0; p < net->place_count; p++)
        start[p + 2] += start[p + 1];
    for (uint32_t k = 0, i = 0; k < components->count; k++) {
        for (; i < components->ends[k]; i++)
            ret->components[start[components->places[i] + 1]++] = k;
    }
}

/* The readers of each component, in the order of their numbers. */
static void find_readers(const struct pt_net *net, struct cover *cover)
{
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = pt_net_consumed(net, t); i < net->transitions[t].pre_count; i++) {
            uint32_t place = pt_net_pre(net, t)[i];
            for (uint32_t k = cover->start[place]; k < cover->start[place + 1]; k++) {
                struct list *readers = &cover->readers[cover->components[k]];
                if (readers->count == 0 || readers->items[readers->count - 1] != t)
                    pt_list_add(readers, t);
            }
        }
    }
}

/* Whether a transition consumes from a component. */
static bool consumes_from(const struct pt_net *net, const struct cover *cover, uint32_t transition, uint32_t component)
{
    for (uint32_t i = 0; i < pt_net_consumed(net, transition); i++) {
        uint32_t place = pt_net_pre(net, transition)[i];
        for (uint32_t k = cover->start[place]; k < cover->start[place + 1]; k++) {
            if (cover->components[k] == component)
                return true;
        }
    }
    return false;
}

/* The component from which most of the readers that have no group yet consume, PT_NONE: none does. `votes`: by
 * component, 0. */
static uint32_t find_common(const struct pt_net *net, const struct cover *cover, const struct list *readers,
                            const struct list *groups, uint32_t *votes)
{
    uint32_t best = PT_NONE;
    for (uint32_t pass = 0; pass < 2; pass++) { /* the second takes the votes back */
        for (uint32_t i = 0; i < readers->count; i++) {
            uint32_t transition = readers->items[i];
            for (uint32_t n = 0; groups->items[i] == PT_NONE && n < pt_net_consumed(net, transition); n++) {
                uint32_t place = pt_net_pre(net, transition)[n];
                for (uint32_t k = cover->start[place]; k < cover->start[place + 1]; k++) {
                    uint32_t component = cover->components[k];
                    votes[component] = pass ? 0 : votes[component] + 1;
                    if (!pass && (best == PT_NONE || votes[component] > votes[best]))
                        best = component;
                }
            }
        }
    }
    return best;
}

/* Puts the readers of a component into groups, within each of which all consume from one other component; returns their
 * number, PT_NONE: they are too many. */
static uint32_t group_readers(const struct pt_net *net, struct cover *cover, uint32_t component, uint32_t *votes)
{
    const struct list *readers = &cover->readers[component];
    struct list *groups = &cover->groups[component];
    uint32_t count = 0;
    for (uint32_t i = 0; i < readers->count; i++)
        pt_list_add(groups, PT_NONE);
    for (uint32_t first = 0; first < readers->count; first++) {
        if (groups->items[first] != PT_NONE)
            continue;
        uint32_t common = find_common(net, cover, readers, groups, votes);
        if (count == MOST_GROUPS)
            return PT_NONE;
        for (uint32_t i = first; i < readers->count; i++) {
            bool in = common == PT_NONE ? i == first : consumes_from(net, cover, readers->items[i], common);
            if (groups->items[i] == PT_NONE && in)
                groups->items[i] = count;
        }
        count++;
        first -= groups->items[first] == PT_NONE; /* it is in another group than the largest */
    }
    return count;
}

/* The parts of all components. False: there are too many. */
static bool count_parts(const struct pt_net *net, uint32_t components, struct cover *cover)
{
    uint32_t *votes = pt_xcalloc((size_t)components + 1, sizeof *votes), groups = 0;
    for (uint32_t k = 0; k < components && groups != PT_NONE; k++) {
        groups = group_readers(net, cover, k, votes);
        cover->first_part[k + 1] = cover->first_part[k] + (groups ? groups : 1);
    }
    free(votes);
    return groups != PT_NONE;
}

static void release_cover(struct cover *cover, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        free(cover->readers[k].items);
        free(cover->groups[k].items);
    }
    free(cover->readers);
    free(cover->groups);
    free(cover->start);
    free(cover->components);
    free(cover->first_part);
}

/* By place, the parts it is in. */
static void index_parts(struct walk *w, const struct pt_net *net, const struct cover *cover)
{
    uint32_t count = 0;
    size_t cap = 0;
    w->place_part = pt_xmalloc(((size_t)net->place_count + 1) * sizeof *w->place_part);
    for (uint32_t p = 0; p < net->place_count; p++) {
        w->place_part[p] = count;
        for (uint32_t i = cover->start[p]; i < cover->start[p + 1]; i++) {
            const uint32_t *first = &cover->first_part[cover->components[i]];
            for (uint32_t part = first[0]; part < first[1]; part++)
                PT_PUSH(w->parts, count, cap, part);
        }
    }
    w->place_part[net->place_count] = count;
}

/* All parts of a component have one token, in each cut: to compare cuts' tokens the first is enough. */
static void find_firsts(struct walk *w, uint32_t components, const struct cover *cover)
{
    w->one_of_each = pt_xcalloc((size_t)w->root_count + 1, sizeof *w->one_of_each);
    for (uint32_t k = 0; k < components; k++)
        w->one_of_each[cover->first_part[k] / CHUNK] |= 1u << cover->first_part[k] % CHUNK;
}

static void add_move(struct walk *w, uint32_t part, uint32_t post)
{
    struct move move = {part, post, false};
    PT_PUSH(w->moves, w->move_count, w->move_cap, move);
}

/* Where the transition reads: `i`th of what it takes. */
static void add_read_moves(struct walk *w, const struct pt_net *net, const struct cover *cover, uint32_t transition,
                           uint32_t i)
{
    uint32_t place = pt_net_pre(net, transition)[i], consumed = pt_net_consumed(net, transition);
    for (uint32_t k = cover->start[place]; k < cover->start[place + 1]; k++) {
        const struct list *readers = &cover->readers[cover->components[k]];
        uint32_t at = 0;
        while (readers->items[at] != transition)
            at++;
        uint32_t part = cover->first_part[cover->components[k]] + cover->groups[cover->components[k]].items[at];
        add_move(w, part, pt_net_made(net, transition) + i - consumed);
    }
}

/* Events of a transition are counted in the first part in which it moves. */
static void count_first(struct move *moves, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++)
        first = moves[i].part < moves[first].part ? i : first;
    if (count)
        moves[first].counts = true;
}

/* What each transition does. False: too much. */
static bool index_moves(struct unfolder *un, const struct cover *cover)
{
    const struct pt_net *net = un->net;
    struct walk *w = &un->walk;
    uint32_t count;
    w->move_start = pt_xcalloc((size_t)net->transition_count + 1, sizeof *w->move_start);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        uint32_t stamp = t + 1, consumed = pt_net_consumed(net, t);
        for (uint32_t i = 0; i < pt_net_made(net, t); i++) {
            const uint32_t *parts = pt_unfold_parts(un, pt_net_post(net, t)[i], &count);
            for (uint32_t k = 0; k < count; k++) {
                w->blocked[parts[k]] = stamp;
                add_move(w, parts[k], i);
            }
        }
        for (uint32_t i = consumed; i < net->transitions[t].pre_count; i++)
            add_read_moves(w, net, cover, t, i);
        for (uint32_t i = 0; i < consumed; i++) {
            const uint32_t *parts = pt_unfold_parts(un, pt_net_pre(net, t)[i], &count);
            for (uint32_t k = 0; k < count; k++) {
                if (w->blocked[parts[k]] != stamp)
                    add_move(w, parts[k], PT_NONE);
            }
        }
        w->move_start[t + 1] = w->move_count;
        count = w->move_count - w->move_start[t];
        count_first(w->moves + w->move_start[t], count);
        if (count > MOST_GROUPS + 4 * (net->transitions[t].pre_count + net->transitions[t].post_count))
            return false;
    }
    memset(w->blocked, 0, w->part_count * sizeof *w->blocked);
    return true;
}

bool pt_unfold_find_parts(struct unfolder *un, const struct pt_components *components)
{
    struct walk *w = &un->walk;
    struct cover cover;
    index_components(un->net, components, &cover);
    find_readers(un->net, &cover);
    bool fits = count_parts(un->net, components->count, &cover);
    if (fits) {
        w->part_count = cover.first_part[components->count];
        w->root_count = (w->part_count + CHUNK - 1) / CHUNK;
        w->blocked = pt_xcalloc((size_t)w->part_count + 1, sizeof *w->blocked);
        w->looked = pt_xcalloc((size_t)w->part_count + 1, sizeof *w->looked);
        index_parts(w, un->net, &cover);
        find_firsts(w, components->count, &cover);
        fits = index_moves(un, &cover);
    }
    release_cover(&cover, components->count);
    return fits;
}
