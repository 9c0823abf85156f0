/*
 * Possible extensions. A new condition can complete the presets of the transitions that consume from its place or read
 * it; the other conditions of such a preset are older ones that are concurrent with it and with each other: they are
 * taken from the new event's row, sorted by places (unfold_co.c), so that what it costs depends on what is concurrent
 * and not on how large the prefix is. Taking older conditions only (those of the same event count by their number)
 * makes every co-set turn up exactly once, when its newest condition is looked at. A new read of a condition makes new
 * histories for those that consume it: they turn up when the newest of these reads is looked at (unfold_read.c).
 *
 * What a candidate means is decided here too: its colour, from the colours of what it consumes (contract section 9,
 * worked out from Definition 3 of the paper), and whether it is a violation.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

uint64_t pt_unfold_label_hash(const struct unfolder *un, uint32_t place, uint8_t colour, uint32_t tag)
{
    uint64_t label = un->options->coloured && colour != PT_ACHROMATIC ? (uint64_t)tag * 4 + colour : 0;
    return pt_mix64((label << 32 | place) + 0x9e3779b97f4a7c15ULL);
}

/* What firing `transition` on these conditions adds to the hash of a marking. */
static uint64_t marking_delta(const struct unfolder *un, const struct candidate *c, const uint32_t *conditions)
{
    const struct pt_unfolding *u = un->u;
    const uint32_t *post = pt_net_post(un->net, c->transition);
    uint64_t delta = 0;
    for (uint32_t i = 0; i < pt_net_made(un->net, c->transition); i++)
        delta += pt_unfold_label_hash(un, post[i], c->colour, c->tag);
    for (uint32_t i = 0; i < pt_net_consumed(un->net, c->transition); i++) {
        const struct pt_unfold_event *e = &u->events[u->condition_event[conditions[i]]];
        delta -= pt_unfold_label_hash(un, u->condition_place[conditions[i]], e->colour, e->tag);
    }
    return delta;
}

/* An event made what the candidate takes, or has read it. */
static void see_colour(const struct pt_unfold_event *e, struct candidate *c, bool *yellow)
{
    *yellow |= e->colour == PT_YELLOW;
    if (e->tag != PT_NONE)
        c->tag = e->tag;
}

/*
 * Fills in the candidate's tag, colour and goal; false: it does not happen. Of the guessed occurrence's thread T, the
 * `end` of that block stops the run and any yellow token consumed before it is the violation; everything else it makes
 * is blue. A foreign event that consumes a blue or yellow token makes yellow ones. A token that is read counts as
 * consumed, and with a consumed one the events of the history that have read it, as if they had put it back: those that
 * the marks stand for, since the others' colours have come down with the conditions.
 */
static bool colour_candidate(const struct unfolder *un, const uint32_t *conditions, const struct list *marks,
                             struct candidate *c)
{
    const struct pt_unfold_options *o = un->options;
    const struct pt_unfolding *u = un->u;
    const struct pt_meaning *meaning = o->meanings ? &o->meanings[c->transition] : NULL;
    bool yellow = false;
    c->tag = PT_NONE;
    for (uint32_t i = 0; i < un->net->transitions[c->transition].pre_count; i++)
        see_colour(&u->events[u->condition_event[conditions[i]]], c, &yellow);
    for (uint32_t i = 0; i < marks->count; i++)
        see_colour(&u->events[u->condition_event[marks->items[i]]], c, &yellow);
    c->goal = meaning && meaning->role == PT_ROLE_GOAL;
    c->colour = PT_ACHROMATIC;
    if (meaning && meaning->role == PT_ROLE_GUESS) {
        c->tag = meaning->block;
        c->colour = PT_BLUE;
    } else if (o->coloured && c->tag != PT_NONE) {
        bool own = meaning->thread == o->block_threads[c->tag];
        if (own && meaning->role == PT_ROLE_END && meaning->block == c->tag)
            return false;
        c->goal = own && yellow;
        c->colour = own ? PT_BLUE : PT_YELLOW;
    }
    return !o->drop_settled || c->tag == PT_NONE || !un->done[c->tag];
}

/* Size, depth and marking of the history: those of its newest cause, and what other causes' histories have beyond, in
 * un->only_second. */
static void measure(const struct unfolder *un, const struct pt_unfold_event *newest, struct candidate *c)
{
    c->size = newest->size + un->only_second.count + 1;
    c->marking = newest->marking + c->delta;
    c->depth = newest->depth;
    for (uint32_t i = 0; i < un->only_second.count; i++) {
        const struct pt_unfold_event *e = &un->u->events[un->only_second.items[i]];
        c->marking += e->delta;
        c->depth = e->depth > c->depth ? e->depth : c->depth;
    }
    c->depth++;
}

/* The same, by the cut of all causes, whose chunks it adds to the conditions. */
static void measure_cut(struct unfolder *un, struct list *conditions, uint32_t newest, struct candidate *c)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[u->condition_event[conditions->items[newest]]];
    struct walk *w = &un->walk;
    uint32_t root = pt_unfold_vector_causes(un, conditions->items, conditions->count), count = conditions->count;
    struct chunk more;
    pt_unfold_vector_sum(un, root, un->extended[e - u->events].root, &more);
    c->joined = un->choice.walks;
    c->size = e->size + more.size + 1;
    c->marking = e->marking + more.delta + c->delta;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t depth = u->events[u->condition_event[conditions->items[i]]].depth + 1;
        c->depth = depth > c->depth ? depth : c->depth;
    }
    for (uint32_t i = 0; i < w->root_count; i++)
        pt_list_add(conditions, w->roots.items[root + i]);
    w->roots.count = root;
}

enum { MOST_BEYOND = 256 }; /* longer lists are made again instead of kept */

enum { FEW_BEYOND = 6 }; /* events; fewer are listed faster than cuts are joined */

/* Lists in un->only_second what the histories of conditions have beyond that of the newest one's maker. False: the
 * causes' cuts tell more about it. */
static bool list_beyond(struct unfolder *un, const struct list *conditions, uint32_t newest)
{
    if (un->walk.on) {
        uint32_t most = un->options->walk_until == 0 ? FEW_BEYOND : un->u->event_count % 4; /* tests want both */
        return un->u->condition_event[conditions->items[newest]] == un->walk.event &&
               pt_unfold_walk_beyond(un, conditions->items, conditions->count, most);
    }
    pt_unfold_sweep(un, conditions->items + newest, 1, conditions->items, conditions->count, true);
    return true;
}

void pt_unfold_add_candidate(struct unfolder *un, uint32_t transition, const uint32_t *conditions,
                             const struct list *marks)
{
    struct candidate c = {.transition = transition, .mark_count = marks->count, .beyond = PT_NONE};
    uint32_t count = un->net->transitions[transition].pre_count;
    if (!colour_candidate(un, conditions, marks, &c))
        return;
    struct list *all = &un->taking;
    all->count = 0;
    for (uint32_t i = 0; i < count; i++)
        pt_list_add(all, conditions[i]);
    for (uint32_t i = 0; i < marks->count; i++)
        pt_list_add(all, marks->items[i]);
    c.delta = marking_delta(un, &c, conditions);
    uint32_t newest = pt_unfold_newest(un, all->items, all->count);
    if (!list_beyond(un, all, newest))
        measure_cut(un, all, newest, &c);
    else
        measure(un, &un->u->events[un->u->condition_event[all->items[newest]]], &c);
    if (!c.joined && un->only_second.count <= MOST_BEYOND)
        c.beyond = un->only_second.count;
    for (uint32_t i = 0; c.beyond != PT_NONE && i < c.beyond; i++)
        pt_list_add(all, un->only_second.items[i]);
    pt_unfold_put(un, &c, all);
}

/* A co-set that is being looked for. */
struct coset {
    uint32_t transition;
    uint32_t fixed;  /* the condition that has to be in it */
    uint32_t newest; /* only conditions below this one, but for the fixed one */
    uint32_t mark;   /* a read of the fixed one that its histories have to have, PT_NONE */
};

/* The first condition from `from` on in its place's part of the row that is concurrent with those chosen before. */
static uint32_t next_fit(struct unfolder *un, const struct coset *s, uint32_t slot, uint32_t from)
{
    for (; from != PT_NONE; from = un->place_next[from]) {
        bool fits = from < s->newest;
        for (uint32_t i = 0; i < slot && fits; i++)
            fits = un->slots[i] == s->fixed || pt_unfold_is_co(un, un->slots[i], from);
        if (fits)
            return from;
    }
    return PT_NONE;
}

/* Whether a read that the mark's event made before has been chosen, too: then that one's turn has found it. */
static bool found_before(const struct unfolder *un, const struct coset *s)
{
    const struct pt_unfolding *u = un->u;
    if (s->mark == PT_NONE)
        return false;
    const struct pt_unfold_event *e = &u->events[u->condition_event[s->mark]];
    for (uint32_t mark = e->post_start + pt_net_made(un->net, e->transition); mark < s->mark; mark++) {
        for (uint32_t i = 0; i < pt_net_consumed(un->net, s->transition); i++) {
            if (un->slots[i] == u->condition_read[mark])
                return true;
        }
    }
    return false;
}

/* Whether there is something for each place that a transition needs beside one. Most have not, where many consume from
 * that one. */
static bool has_all(struct unfolder *un, uint32_t transition, uint32_t beside)
{
    const uint32_t *pre = pt_net_pre(un->net, transition);
    for (uint32_t i = 0; i < un->net->transitions[transition].pre_count; i++) {
        if (pre[i] != beside && pt_unfold_first(un, pre[i]) == PT_NONE)
            return false;
    }
    return true;
}

/* All such co-sets: backtracking over the slots of the preset. */
static void find_cosets(struct unfolder *un, const struct coset *s)
{
    const uint32_t *pre = pt_net_pre(un->net, s->transition);
    uint32_t count = un->net->transitions[s->transition].pre_count;
    uint32_t own = un->u->condition_place[s->fixed];
    uint32_t *slots = un->slots;
    uint32_t slot = 0;
    bool back = false;
    for (;;) {
        if (!back && slot == count) {
            if (!found_before(un, s))
                pt_unfold_histories(un, s->transition, slots, s->mark);
            back = true;
        }
        if (back) {
            if (slot == 0)
                return;
            slot--;
            if (pre[slot] == own)
                continue;
            slots[slot] = next_fit(un, s, slot, un->place_next[slots[slot]]);
        } else {
            slots[slot] = pre[slot] == own ? s->fixed : next_fit(un, s, slot, pt_unfold_first(un, pre[slot]));
        }
        back = slots[slot] == PT_NONE;
        if (!back)
            slot++;
    }
}

/* Makes the event's own conditions part of the row, so that its siblings are found. */
static void index_own(struct unfolder *un, uint32_t start, uint32_t count)
{
    for (uint32_t c = start; c < start + count; c++) {
        uint32_t place = un->u->condition_place[c];
        un->place_next[c] = pt_unfold_first(un, place);
        un->place_head[place] = c;
        un->place_stamp[place] = un->row_now;
    }
}

/* Whether the transition consumes from the place, not only reads it. */
static bool consumes(const struct pt_net *net, uint32_t transition, uint32_t place)
{
    for (uint32_t i = 0; i < pt_net_consumed(net, transition); i++) {
        if (pt_net_pre(net, transition)[i] == place)
            return true;
    }
    return false;
}

void pt_unfold_extend(struct unfolder *un, uint32_t event)
{
    const struct pt_unfolding *u = un->u;
    uint32_t start = u->events[event].post_start, count = u->events[event].post_count;
    uint32_t made = event == 0 ? count : pt_net_made(un->net, u->events[event].transition);
    for (uint32_t mark = start + made; mark < start + count; mark++) {
        uint32_t read = u->condition_read[mark], place = u->condition_place[read];
        struct coset s = {.fixed = read, .newest = start, .mark = mark};
        for (uint32_t k = un->consumer_start[place]; k < un->consumer_start[place + 1]; k++) {
            s.transition = un->consumers[k];
            if (consumes(un->net, s.transition, place) && has_all(un, s.transition, place))
                find_cosets(un, &s);
        }
    }
    index_own(un, start, made);
    for (uint32_t c = start; c < start + made; c++) {
        uint32_t place = u->condition_place[c];
        struct coset s = {.fixed = c, .newest = c, .mark = PT_NONE};
        for (uint32_t k = un->consumer_start[place]; k < un->consumer_start[place + 1]; k++) {
            s.transition = un->consumers[k];
            if (has_all(un, s.transition, place))
                find_cosets(un, &s);
        }
    }
}
