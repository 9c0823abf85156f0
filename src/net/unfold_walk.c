/*
 * Concurrency without rows: found when it is asked for, by walks. Rows of all pairs (unfold_co.c) grow with the square
 * of the prefix where most of it is concurrent; what an event needs of them is what lies at a few places.
 *
 * Let the places be covered by components, in each of which there is one token at most (components.c). The conditions
 * of a component then are a tree (unfold_trees.c): whatever makes one of them consumes another, its parent. A
 * configuration takes one path from the root, and its cut has the end of that path. So a condition b beyond the cut of
 * an event e can be concurrent with e only if in each of its components it is deeper than e's cut is there; and it is,
 * if what b's maker consumes and reads is in the cut or concurrent with e itself, and its maker leaves out none of the
 * reads in e's history of a condition that it consumes. That is a walk down from b, over what its history has beyond
 * e's, that ends at the first condition which is not deep enough; what it finds holds for the other walks for e.
 *
 * What is concurrent with e at a place is a part of the tree of one of its components that begins in e's cut: with a
 * condition the one before it is concurrent, too. So looking ends where walks say no, and neither looks at what comes
 * before the cut nor at what is behind the first that does not fit.
 *
 * A transition that needs a component in which e itself has moved is passed over with all its events.
 *
 * Histories that go far apart have long walks, and one after the other for neighbours. So a walk ends after a few
 * steps, and the two cuts are compared instead (unfold_vector.c): there, what neighbours have asked is remembered. Two
 * conditions neither of which is e's are compared by their makers' cuts, too, unless one is in e's cut: then it is
 * enough to look whether the other's history, which goes with e's, has consumed it.
 *
 * Guarantee: the same relation as that of the rows. Cost for an event: the conditions looked at, and few steps or two
 * cuts for each. Where many events consume one condition that can be more than rows are: unfold_choose.c counts.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

enum answer { NO, YES, ASK };

enum {
    MOST_STEPS = 16, /* of a walk; then cuts are compared */
    FEW_FOUND = 16,  /* conditions; more are sorted before they are put into order one by one */
};

/* Verdicts on events, beside a frame: its history is part of no run with that of the event; of some; it is in that. */
enum { AGAINST, WITH, WITHIN, VERDICTS = 4 };

/* --- One event and the rest ------------------------------------------------------------------------------------- */

void pt_unfold_walk_for(struct unfolder *un, const struct candidate *c)
{
    struct walk *w = &un->walk;
    uint32_t count;
    PT_ROOM(w->verdict, w->verdict_cap, un->u->event_count);
    w->frame++;
    w->event = un->u->event_count;
    for (uint32_t i = 0; i < pt_net_consumed(un->net, c->transition); i++) {
        const uint32_t *parts = pt_unfold_parts(un, pt_net_pre(un->net, c->transition)[i], &count);
        for (uint32_t k = 0; k < count; k++)
            w->blocked[parts[k]] = w->frame;
    }
}

/* Whether a condition can be concurrent with the event, as far as its parts go. */
static inline enum answer look(const struct unfolder *un, uint32_t condition)
{
    const struct walk *w = &un->walk;
    uint32_t count, node = w->condition_node[condition];
    const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[condition], &count);
    for (uint32_t k = 0; k < count; k++) {
        const struct node *tip = &w->nodes[pt_unfold_tip(un, w->root, parts[k])];
        if (w->blocked[parts[k]] == w->frame)
            return NO;
        if (tip->depth >= w->nodes[node + k].depth)
            return tip->token == condition ? YES : NO;
    }
    return ASK;
}

/* Whether a condition is in the cut of the event; or what a mark is the read of. */
static bool is_left(const struct unfolder *un, uint32_t condition)
{
    const struct walk *w = &un->walk;
    uint32_t token = pt_unfold_token_of(un, condition);
    uint32_t part = w->parts[w->place_part[un->u->condition_place[token]]];
    return w->blocked[part] != w->frame && w->nodes[pt_unfold_tip(un, w->root, part)].token == token;
}

/* The part of a mark's first node. */
static uint32_t part_of_mark(const struct unfolder *un, uint32_t mark)
{
    const struct walk *w = &un->walk;
    uint32_t event = un->u->condition_event[mark];
    uint32_t move = w->condition_node[mark] - w->first_node[event];
    return w->moves[w->move_start[un->u->events[event].transition] + move].part;
}

/* Whether a mark of a read of something in the event's cut is in its history. */
static bool was_read(const struct unfolder *un, uint32_t mark)
{
    const struct walk *w = &un->walk;
    uint32_t node = w->condition_node[mark];
    if (!is_left(un, mark))
        return false;
    return pt_unfold_above(w, pt_unfold_tip(un, w->root, part_of_mark(un, mark)), w->nodes[node].depth) == node;
}

/* Whether all reads in the history of the event, itself included, of a condition in its cut are in that of another
 * event that consumes it. */
static bool reads_are_known(const struct unfolder *un, uint32_t consumer, uint32_t condition)
{
    const struct walk *w = &un->walk;
    uint32_t transition = un->u->events[consumer].transition;
    for (uint32_t i = w->move_start[transition]; i < w->move_start[transition + 1]; i++) {
        uint32_t node = w->first_node[consumer] + i - w->move_start[transition];
        uint32_t tip = pt_unfold_tip(un, w->root, w->moves[i].part);
        if (w->nodes[tip].token == condition && w->nodes[tip].condition != condition &&
            pt_unfold_above(w, node, w->nodes[tip].depth) != tip)
            return false;
    }
    return true;
}

/* The same for what an event that is beyond the cut has taken, where something is read; ASK: if its maker can be with
 * it. */
static enum answer look_before(struct unfolder *un, uint32_t event, uint32_t which, uint32_t taken)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    if (which >= un->net->transitions[e->transition].pre_count)
        return was_read(un, taken) ? YES : ASK;
    enum answer answer = look(un, taken);
    if (answer == YES && which < pt_net_consumed(un->net, e->transition) && un->readers[taken].count > 0)
        return reads_are_known(un, event, taken) ? YES : NO;
    return answer;
}

/* All that is on the path leads to an event whose history is not part of a run with that of the event. */
static bool give_up(struct walk *w, uint32_t event)
{
    uint32_t against = VERDICTS * w->frame + AGAINST;
    w->verdict[event] = against;
    for (; w->path.count > 0; w->path.count -= 2)
        w->verdict[w->path.items[w->path.count - 2]] = against;
    return false;
}

/* Of what an event takes, from `at` on: the first whose maker is not known to be with the event, *ret_maker; ASK: that
 * one has to be looked at. YES: there is none. */
static inline enum answer look_at_causes(struct unfolder *un, uint32_t event, uint32_t *at, uint32_t *ret_maker)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    const uint32_t *pre = u->pre + e->pre_start;
    struct walk *w = &un->walk;
    uint32_t count = un->net->transitions[e->transition].pre_count + e->mark_count, with = VERDICTS * w->frame + WITH;
    enum answer answer = YES;
    uint32_t i = *at;
    for (; i < count && answer == YES; i++) {
        /* What a maker that is with it has made is: where it takes something, it is further on than the cut. */
        *ret_maker = u->condition_event[pre[i]];
        if (w->verdict[*ret_maker] != with)
            answer = un->reads ? look_before(un, event, i, pre[i]) : look(un, pre[i]);
        if (answer == YES && w->verdict[*ret_maker] != with)
            w->verdict[*ret_maker] = VERDICTS * w->frame + WITHIN;
    }
    w->work += i - *at;
    *at = i;
    return answer;
}

/* Whether the histories of the event and of another, which the first's does not have, can be parts of one run: goes
 * down from the second, depth first, for some steps. */
static bool is_compatible(struct unfolder *un, uint32_t asked)
{
    struct walk *w = &un->walk;
    struct list *path = &w->path; /* pairs: an event, and how many of what it takes have been looked at */
    uint32_t with = VERDICTS * w->frame + WITH, against = VERDICTS * w->frame + AGAINST;
    uint32_t event = asked, at = 0, maker = 0;
    if (w->verdict[event] >= against)
        return w->verdict[event] == with;
    uint32_t most = un->options->walk_until == 0 ? MOST_STEPS : asked % 4; /* tests want both */
    path->count = 0;
    for (uint32_t steps = 0;; steps++) { /* the event at hand is not on the path */
        if (steps == most) {
            bool both = pt_unfold_vector_fits(un, w->root, un->extended[asked].root);
            w->verdict[asked] = both ? with : against;
            return both;
        }
        enum answer answer = look_at_causes(un, event, &at, &maker);
        if (answer == NO || (answer == ASK && w->verdict[maker] == against))
            return give_up(w, event);
        if (answer == ASK) {
            PT_GROW(path->items, path->cap, (size_t)path->count + 2);
            path->items[path->count++] = event;
            path->items[path->count++] = at;
            event = maker;
            at = 0;
            continue;
        }
        w->verdict[event] = with;
        if (path->count == 0)
            return true;
        path->count -= 2;
        event = path->items[path->count];
        at = path->items[path->count + 1];
    }
}

/* Whether an older condition, or mark, is concurrent with the event. */
static bool is_with(struct unfolder *un, uint32_t condition)
{
    if (un->u->condition_read[condition] != PT_NONE)
        return was_read(un, condition) || is_compatible(un, un->u->condition_event[condition]);
    enum answer answer = look(un, condition);
    return answer == ASK ? is_compatible(un, un->u->condition_event[condition]) : answer == YES;
}

/* Adds the conditions of a component that an event made to the list. */
static inline void add_made(const struct unfolder *un, uint32_t event, uint32_t component, struct list *to)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    uint32_t count, made = pt_net_made(un->net, e->transition);
    for (uint32_t c = e->post_start; c < e->post_start + made; c++) {
        const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[c], &count);
        for (uint32_t k = 0; k < count; k++) {
            if (parts[k] == component)
                pt_list_add(to, c);
        }
    }
}

/* Whether a transition needs a component, beside those of the place, in which the event has moved. */
static bool is_blocked(const struct unfolder *un, uint32_t transition, uint32_t beside)
{
    const struct walk *w = &un->walk;
    uint32_t count;
    for (uint32_t i = 0; i < un->net->transitions[transition].pre_count; i++) {
        uint32_t place = pt_net_pre(un->net, transition)[i];
        const uint32_t *parts = pt_unfold_parts(un, place, &count);
        for (uint32_t k = 0; k < count && place != beside; k++) {
            if (w->blocked[parts[k]] == w->frame)
                return true;
        }
    }
    return false;
}

/* Follows a use in a component. */
static inline void add_user(struct unfolder *un, uint32_t event, uint32_t component)
{
    un->walk.work++;
    if (is_compatible(un, event))
        add_made(un, event, component, &un->walk.found);
}

/* Follows all of a list. */
static void add_users(struct unfolder *un, uint32_t *list, uint32_t component)
{
    const struct walk *w = &un->walk;
    if (pt_unfold_is_short(w, *list)) {
        for (uint32_t use = *list; use != 0; use = w->uses[use - 1].next)
            add_user(un, w->uses[use - 1].event, component);
        return;
    }
    const struct list *uses = pt_unfold_uses(un, list);
    for (uint32_t i = 0; i < uses->count; i++)
        add_user(un, uses->items[i], component);
}

/* Lists all that is concurrent with the event in a component. */
static void look_in(struct unfolder *un, uint32_t component)
{
    struct walk *w = &un->walk;
    struct list *found = &w->found;
    uint32_t token = w->nodes[pt_unfold_tip(un, w->root, component)].token;
    found->count = 0;
    if (w->blocked[component] != w->frame && token < GONE)
        pt_list_add(found, token);
    for (uint32_t i = 0; i < found->count; i++) { /* grows on the way */
        uint32_t at = un->u->condition_place[found->items[i]], groups = pt_unfold_groups(un, at);
        bool mixed = un->consumer_start[at + 1] - un->consumer_start[at] > groups;
        for (uint32_t k = 0; k < groups; k++) {
            if (mixed || !is_blocked(un, un->consumers[un->consumer_start[at] + k], at))
                add_users(un, pt_unfold_use_list(un, found->items[i], k), component);
        }
    }
    if (found->count > FEW_FOUND)
        found->count = pt_sort_distinct(found->items, found->count);
}

/* Puts a condition into the list of those at its place, which begins with the newest. */
static void list_found(struct unfolder *un, uint32_t condition)
{
    uint32_t place = un->u->condition_place[condition], *at = &un->place_head[place];
    if (un->place_stamp[place] != un->row_now)
        *at = PT_NONE;
    un->place_stamp[place] = un->row_now;
    while (*at != PT_NONE && *at > condition)
        at = &un->place_next[*at];
    un->place_next[condition] = *at;
    *at = condition;
}

uint32_t pt_unfold_walk_first(struct unfolder *un, uint32_t place)
{
    struct walk *w = &un->walk;
    uint32_t component = w->parts[w->place_part[place]];
    un->place_head[place] = PT_NONE;
    un->place_stamp[place] = un->row_now;
    if (w->looked[component] == w->frame)
        return PT_NONE; /* it was not among what was found */
    w->looked[component] = w->frame;
    look_in(un, component);
    for (uint32_t i = 0; i < w->found.count; i++) {
        uint32_t condition = w->found.items[i];
        if (w->parts[w->place_part[un->u->condition_place[condition]]] == component) /* others are not asked for here */
            list_found(un, condition);
    }
    return un->place_head[place];
}

/* Whether a condition is in the cut of the event, or a mark in its history and what it is the read of in the cut. */
static bool is_in_cut(const struct unfolder *un, uint32_t condition)
{
    return un->u->condition_read[condition] == PT_NONE ? is_left(un, condition) : was_read(un, condition);
}

/* Whether the maker of a condition, which has to be concurrent with the event, is beyond the event's history. Walks
 * that have found the one have told the other of most. */
static inline bool is_beyond(const struct unfolder *un, uint32_t condition, uint32_t maker)
{
    const struct walk *w = &un->walk;
    uint32_t verdict = w->verdict[maker], frame = VERDICTS * w->frame;
    if (verdict == frame + WITH || verdict == frame + WITHIN)
        return verdict == frame + WITH;
    return maker != w->event && !is_in_cut(un, condition);
}

bool pt_unfold_walk_beyond(struct unfolder *un, const uint32_t *conditions, uint32_t count, uint32_t most)
{
    const struct pt_unfolding *u = un->u;
    struct walk *w = &un->walk;
    struct list *events = &un->only_second;
    uint32_t next = 0;
    PT_ROOM(w->visited, w->visited_cap, u->event_count);
    w->now++;
    events->count = 0;
    for (;;) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t maker = u->condition_event[conditions[i]];
            if (w->visited[maker] == w->now || !is_beyond(un, conditions[i], maker))
                continue;
            w->visited[maker] = w->now;
            pt_list_add(events, maker);
        }
        if (next == events->count || events->count > most)
            return events->count <= most;
        const struct pt_unfold_event *e = &u->events[events->items[next++]];
        conditions = u->pre + e->pre_start;
        count = un->net->transitions[e->transition].pre_count + e->mark_count;
        w->work += count;
    }
}

/* --- Any two ---------------------------------------------------------------------------------------------------- */

/* Whether a cut leaves what a condition or mark needs, of a history that can be in a run with its maker's. */
static bool keeps(const struct unfolder *un, uint32_t root, uint32_t condition)
{
    const struct walk *w = &un->walk;
    uint32_t token = pt_unfold_token_of(un, condition);
    uint32_t part = w->parts[w->place_part[un->u->condition_place[token]]];
    uint32_t depth = w->nodes[w->condition_node[token]].depth;
    uint32_t tip = pt_unfold_tip(un, root, part);
    return w->nodes[tip].depth <= depth || w->nodes[tip].token == token;
}

bool pt_unfold_walk_is_co(struct unfolder *un, uint32_t a, uint32_t b)
{
    uint32_t newer = a > b ? a : b, older = a > b ? b : a;
    uint32_t maker = un->u->condition_event[newer], other = un->u->condition_event[older];
    if (maker == other)
        return newer != older;
    if (maker == un->walk.event)
        return is_with(un, older);
    bool in_newer = is_in_cut(un, newer), in_older = is_in_cut(un, older);
    if (in_newer && in_older)
        return true;
    if (in_older && is_with(un, newer))
        return keeps(un, un->extended[maker].root, older);
    if (in_newer && is_with(un, older))
        return keeps(un, un->extended[other].root, newer);
    uint32_t root = un->extended[maker].root, other_root = un->extended[other].root;
    return pt_unfold_vector_fits(un, root, other_root) && keeps(un, root, older) && keeps(un, other_root, newer);
}
