/*
 * Concurrency without rows: found when it is asked for, by walks. Rows of all pairs (unfold_co.c) grow with the square
 * of the prefix where most of it is concurrent; what an event needs of them is what lies at a few places.
 *
 * Let the places be covered by components, in each of which there is one token at most (components.c). The conditions
 * of a component then are a tree: whatever makes one of them consumes another, its parent. A configuration takes one
 * path from the root, and its cut has the end of that path. So a condition b beyond the cut of an event e can be
 * concurrent with e only if in each of its components it is deeper than e's cut is there; and it is, if what b's maker
 * consumes and reads is in the cut or concurrent with e itself, and its maker leaves out none of the reads in e's
 * history of a condition that it consumes. That is a walk down from b, over what its history has beyond e's, that
 * ends at the first condition which is not deep enough; what it finds holds for the other walks for e.
 *
 * What is concurrent with e at a place is a part of the tree of one of its components that begins in e's cut: with a
 * condition the one before it is concurrent, too. So looking ends where walks say no, and neither looks at what comes
 * before the cut nor at what is behind the first that does not fit.
 *
 * A transition that needs a component in which e itself has moved is passed over with all its events.
 *
 * Two conditions neither of which is e's are compared by what their histories have alone, beyond e's where both are
 * concurrent with e.
 *
 * Guarantee: the same relation as that of the rows. Cost for an event: the conditions looked at, and what these have in
 * their histories beyond e's. Where many events consume one condition, or histories go far apart, that can be more than
 * rows are: unfold_choose.c counts.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

enum answer { NO, YES, ASK };

/* Verdicts on events, beside a frame: its history is part of no run with that of the event; of some; it is in that. */
enum { AGAINST, WITH, WITHIN, VERDICTS = 4 };

/* --- One event and the rest ------------------------------------------------------------------------------------- */

void pt_unfold_walk_for(struct unfolder *un, const struct candidate *c, const uint32_t *pre, const struct extended *cut)
{
    const struct pt_unfolding *u = un->u;
    struct walk *w = &un->walk;
    uint32_t consumed = pt_net_consumed(un->net, c->transition), count;
    PT_ROOM(w->left, w->left_cap, u->condition_count);
    PT_ROOM(w->pinned, w->pinned_cap, u->condition_count);
    PT_ROOM(w->taken, w->taken_cap, u->condition_count);
    PT_ROOM(w->verdict, w->verdict_cap, u->event_count);
    PT_ROOM(w->visited, w->visited_cap, u->event_count);
    w->frame++;
    w->event = u->event_count;
    w->root = cut->root;
    w->closed = false;
    w->marks.count = 0;
    for (uint32_t i = 0; i < consumed; i++) {
        const uint32_t *parts = pt_unfold_parts(un, u->condition_place[pre[i]], &count);
        for (uint32_t k = 0; k < count; k++)
            w->blocked[parts[k]] = w->frame;
    }
    for (uint32_t i = 0; i < cut->mark_count; i++) {
        uint32_t mark = un->cuts.items[cut->cut + i];
        w->left[mark] = w->frame;
        pt_list_add(&w->marks, mark);
    }
    for (uint32_t i = consumed; i < un->net->transitions[c->transition].pre_count; i++)
        w->pinned[pre[i]] = w->frame;
}

/* Whether a condition can be concurrent with the event, as far as its components go. */
static inline enum answer look(const struct unfolder *un, uint32_t condition)
{
    const struct walk *w = &un->walk;
    for (const struct node *node = w->nodes + w->node_start[condition];; node++) {
        struct tip tip = pt_unfold_tip(un, w->root, node->component);
        if (w->blocked[node->component] == w->frame)
            return NO;
        if (tip.condition == condition)
            return YES;
        if (tip.condition == PT_NONE || tip.depth >= node->depth)
            return NO;
        if (node->last)
            return ASK;
    }
}

/* Whether a condition is in the cut of the event; or a mark, as far as was_read has looked. */
static bool is_left(const struct unfolder *un, uint32_t condition)
{
    const struct walk *w = &un->walk;
    uint32_t place = un->u->condition_place[condition];
    if (place == PT_NONE)
        return w->left[condition] == w->frame;
    uint32_t part = w->parts[w->part_start[place]];
    return w->blocked[part] != w->frame && pt_unfold_tip(un, w->root, part).condition == condition;
}

/* Adds to the list the marks of reads of the same condition that a mark stands for, down to `least`. */
static void add_older_reads(struct unfolder *un, uint32_t event, uint32_t read, uint32_t least, struct list *to)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    struct walk *w = &un->walk;
    for (uint32_t k = 0; k < e->over_count; k++) {
        uint32_t mark = u->over[e->over_start + k];
        if (u->condition_read[mark] != read || mark < least || w->taken[mark] == w->now)
            continue;
        w->taken[mark] = w->now;
        pt_list_add(to, mark);
    }
}

/* Whether a mark is in the history of an event that consumes what it is a read of. */
static bool knows(struct unfolder *un, uint32_t event, uint32_t mark)
{
    const struct pt_unfolding *u = un->u;
    struct list *marks = &un->walk.options;
    un->walk.now++;
    marks->count = 0;
    add_older_reads(un, event, u->condition_read[mark], mark, marks);
    for (uint32_t i = 0; i < marks->count; i++) { /* grows on the way */
        if (marks->items[i] == mark)
            return true;
        un->walk.work++;
        add_older_reads(un, u->condition_event[marks->items[i]], u->condition_read[mark], mark, marks);
    }
    return false;
}

/* Whether all reads in the history of the event, itself included, of a condition in its cut are in that of another
 * event that consumes it. */
static bool reads_are_known(struct unfolder *un, uint32_t consumer, uint32_t condition)
{
    const struct walk *w = &un->walk;
    if (w->pinned[condition] == w->frame)
        return false;
    for (uint32_t i = 0; i < w->marks.count; i++) {
        uint32_t mark = w->marks.items[i];
        if (un->u->condition_read[mark] == condition && !knows(un, consumer, mark))
            return false;
    }
    return true;
}

/* Whether a mark of a read of something in the event's cut is in its history: the latest are in the cut, and stand for
 * others. */
static bool was_read(struct unfolder *un, uint32_t mark)
{
    const struct pt_unfolding *u = un->u;
    struct walk *w = &un->walk;
    if (!is_left(un, u->condition_read[mark]))
        return false;
    if (w->left[mark] == w->frame || w->closed)
        return w->left[mark] == w->frame;
    w->closed = true;
    w->now++;
    w->options.count = 0;
    for (uint32_t i = 0; i < w->marks.count; i++)
        pt_list_add(&w->options, w->marks.items[i]);
    for (uint32_t i = 0; i < w->options.count; i++) { /* grows on the way */
        uint32_t known = w->options.items[i];
        w->left[known] = w->frame;
        add_older_reads(un, u->condition_event[known], u->condition_read[known], 0, &w->options);
    }
    w->work += w->options.count;
    return w->left[mark] == w->frame;
}

/* The same for what an event that is beyond the cut has taken, where something is read; ASK: if its maker can be with
 * it. */
static enum answer look_before(struct unfolder *un, uint32_t event, uint32_t which, uint32_t taken)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    if (which >= un->net->transitions[e->transition].pre_count)
        return was_read(un, taken) ? YES : ASK;
    enum answer answer = look(un, taken);
    if (answer == YES && which < pt_net_consumed(un->net, e->transition))
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
 * down from the second, depth first. */
static bool is_compatible(struct unfolder *un, uint32_t event)
{
    struct walk *w = &un->walk;
    struct list *path = &w->path; /* pairs: an event, and how many of what it takes have been looked at */
    uint32_t with = VERDICTS * w->frame + WITH, against = VERDICTS * w->frame + AGAINST, at = 0, maker = 0;
    if (w->verdict[event] >= against)
        return w->verdict[event] == with;
    path->count = 0;
    for (;;) { /* the event at hand is not on the path */
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
static void add_made(const struct unfolder *un, uint32_t event, uint32_t component, struct list *to)
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

/* Follows the uses of a condition, of one group, in a component. */
static void add_users(struct unfolder *un, uint32_t last, uint32_t component)
{
    struct walk *w = &un->walk;
    for (uint32_t use = last; use != 0; use = w->uses[use - 1].next) {
        w->work++;
        if (is_compatible(un, w->uses[use - 1].event))
            add_made(un, w->uses[use - 1].event, component, &w->found);
    }
}

uint32_t pt_unfold_walk_first(struct unfolder *un, uint32_t place)
{
    struct walk *w = &un->walk;
    struct list *found = &w->found;
    uint32_t component = w->parts[w->part_start[place]], kept = 0;
    found->count = 0;
    if (w->blocked[component] != w->frame && pt_unfold_tip(un, w->root, component).condition < GONE)
        pt_list_add(found, pt_unfold_tip(un, w->root, component).condition);
    for (uint32_t i = 0; i < found->count; i++) { /* grows on the way */
        uint32_t at = un->u->condition_place[found->items[i]], groups = pt_unfold_groups(un, at);
        bool mixed = un->consumer_start[at + 1] - un->consumer_start[at] > groups;
        for (uint32_t k = 0; k < groups; k++) {
            if (mixed || !is_blocked(un, un->consumers[un->consumer_start[at] + k], at))
                add_users(un, w->users.items[w->user_start[found->items[i]] + k], component);
        }
    }
    for (uint32_t i = 0; i < found->count; i++) {
        if (un->u->condition_place[found->items[i]] == place)
            found->items[kept++] = found->items[i];
    }
    kept = kept > 1 ? pt_sort_distinct(found->items, kept) : kept;
    un->place_head[place] = PT_NONE;
    un->place_stamp[place] = un->row_now;
    for (uint32_t i = 0; i < kept; i++) {
        un->place_next[found->items[i]] = un->place_head[place];
        un->place_head[place] = found->items[i];
    }
    return un->place_head[place];
}

/* Whether the maker of a condition, which has to be concurrent with the event, is beyond the event's history. Walks
 * that have found the one have told the other of most. */
static inline bool is_beyond(struct unfolder *un, uint32_t condition, uint32_t maker)
{
    const struct walk *w = &un->walk;
    uint32_t verdict = w->verdict[maker], frame = VERDICTS * w->frame;
    if (verdict == frame + WITH || verdict == frame + WITHIN)
        return verdict == frame + WITH;
    if (maker == w->event || is_left(un, condition))
        return false;
    return un->u->condition_read[condition] == PT_NONE || !was_read(un, condition);
}

/* Lists the events that the histories of conditions have beyond that of the event; all have to be concurrent with it.
 * Stamps them with w->now. */
static void list_beyond(struct unfolder *un, const uint32_t *conditions, uint32_t count, struct list *ret_events)
{
    const struct pt_unfolding *u = un->u;
    struct walk *w = &un->walk;
    uint32_t next = 0;
    w->now++;
    ret_events->count = 0;
    for (;;) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t maker = u->condition_event[conditions[i]];
            if (w->visited[maker] == w->now || !is_beyond(un, conditions[i], maker))
                continue;
            w->visited[maker] = w->now;
            pt_list_add(ret_events, maker);
        }
        if (next == ret_events->count)
            return;
        const struct pt_unfold_event *e = &u->events[ret_events->items[next++]];
        conditions = u->pre + e->pre_start;
        count = un->net->transitions[e->transition].pre_count + e->mark_count;
        w->work += count;
    }
}

bool pt_unfold_walk_beyond(struct unfolder *un, uint32_t event, const uint32_t *conditions, uint32_t count)
{
    if (!un->walk.on || event != un->walk.event)
        return false;
    list_beyond(un, conditions, count, &un->only_second);
    return true;
}

/* --- Any two ---------------------------------------------------------------------------------------------------- */

/* What has to be left for a condition to be left: itself, or what it is the read of. */
static uint32_t token_of(const struct unfolder *un, uint32_t condition)
{
    uint32_t read = un->u->condition_read[condition];
    return read == PT_NONE ? condition : read;
}

/* Stamps what the events consume. */
static void take_all(struct unfolder *un, const struct list *events, uint32_t stamp)
{
    const struct pt_unfolding *u = un->u;
    for (uint32_t i = 0; i < events->count; i++) {
        const struct pt_unfold_event *e = &u->events[events->items[i]];
        for (uint32_t k = 0; k < pt_net_consumed(un->net, e->transition); k++)
            un->walk.taken[u->pre[e->pre_start + k]] = stamp;
    }
}

/* Whether one of the events consumes or reads what has the stamp. */
static bool takes_taken(const struct unfolder *un, const struct list *events, uint32_t stamp)
{
    const struct pt_unfolding *u = un->u;
    for (uint32_t i = 0; i < events->count; i++) {
        const struct pt_unfold_event *e = &u->events[events->items[i]];
        for (uint32_t k = 0; k < un->net->transitions[e->transition].pre_count; k++) {
            if (un->walk.taken[u->pre[e->pre_start + k]] == stamp)
                return true;
        }
    }
    return false;
}

/* Lists what the histories of two conditions that are concurrent with the event have alone, as pt_unfold_sweep does,
 * which would look at all events that are newer than the oldest of these. */
static void tell_apart(struct unfolder *un, uint32_t a, uint32_t b)
{
    struct walk *w = &un->walk;
    uint32_t firsts = 0, seconds = 0;
    list_beyond(un, &b, 1, &un->only_second);
    list_beyond(un, &a, 1, &un->only_first);
    for (uint32_t i = 0; i < un->only_second.count; i++) {
        uint32_t event = un->only_second.items[i];
        if (w->visited[event] == w->now)
            w->visited[event]--; /* both have it */
        else
            un->only_second.items[seconds++] = event;
    }
    for (uint32_t i = 0; i < un->only_first.count; i++) {
        if (w->visited[un->only_first.items[i]] == w->now)
            un->only_first.items[firsts++] = un->only_first.items[i];
    }
    un->only_first.count = firsts;
    un->only_second.count = seconds;
}

/* By what each of the histories has alone: neither consumes what the other's consumes or reads, or the condition
 * itself. */
static bool are_concurrent(struct unfolder *un, uint32_t a, uint32_t b)
{
    struct walk *w = &un->walk;
    if (is_with(un, a) && is_with(un, b)) {
        tell_apart(un, a, b);
    } else {
        pt_unfold_sweep(un, &a, 1, &b, 1, false);
        w->work += un->touched.count;
    }
    take_all(un, &un->only_first, ++w->now);
    if (w->taken[token_of(un, b)] == w->now || takes_taken(un, &un->only_second, w->now))
        return false;
    take_all(un, &un->only_second, ++w->now);
    return w->taken[token_of(un, a)] != w->now && !(un->reads && takes_taken(un, &un->only_first, w->now));
}

bool pt_unfold_walk_is_co(struct unfolder *un, uint32_t a, uint32_t b)
{
    const struct walk *w = &un->walk;
    uint32_t newer = a > b ? a : b, older = a > b ? b : a, maker = un->u->condition_event[newer];
    if (maker == un->u->condition_event[older])
        return newer != older;
    if (maker == w->event)
        return is_with(un, older);
    if (is_left(un, a) && is_left(un, b))
        return true;
    return are_concurrent(un, a, b);
}
