/*
 * Possible extensions. A new condition can complete the presets of the transitions that consume from its place; the
 * other conditions of such a preset are older ones that are concurrent with it and with each other. Taking older
 * conditions only (those of the same event count by their number) makes every co-set turn up exactly once, when its
 * newest condition is looked at.
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
    const struct pt_net_transition *t = &un->net->transitions[c->transition];
    const uint32_t *post = pt_net_post(un->net, c->transition);
    uint64_t delta = 0;
    for (uint32_t i = 0; i < t->post_count; i++)
        delta += pt_unfold_label_hash(un, post[i], c->colour, c->tag);
    for (uint32_t i = 0; i < t->pre_count; i++) {
        const struct pt_unfold_event *e = &u->events[u->condition_event[conditions[i]]];
        delta -= pt_unfold_label_hash(un, u->condition_place[conditions[i]], e->colour, e->tag);
    }
    return delta;
}

/*
 * Fills in the candidate's tag, colour and goal; false: it does not happen. Of the guessed occurrence's thread T, the
 * `end` of that block stops the run and any yellow token consumed before it is the violation; everything else it makes
 * is blue. A foreign event that consumes a blue or yellow token makes yellow ones.
 */
static bool colour_candidate(const struct unfolder *un, const uint32_t *conditions, struct candidate *c)
{
    const struct pt_unfold_options *o = un->options;
    const struct pt_unfolding *u = un->u;
    const struct pt_meaning *meaning = o->meanings ? &o->meanings[c->transition] : NULL;
    bool yellow = false;
    c->tag = PT_NONE;
    for (uint32_t i = 0; i < un->net->transitions[c->transition].pre_count; i++) {
        const struct pt_unfold_event *e = &u->events[u->condition_event[conditions[i]]];
        yellow |= e->colour == PT_YELLOW;
        if (e->tag != PT_NONE)
            c->tag = e->tag;
    }
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

/* Size, depth and marking of the local configuration. Where one event made all the conditions they follow from its. */
static void measure(struct unfolder *un, const uint32_t *conditions, struct candidate *c)
{
    const struct pt_unfolding *u = un->u;
    uint32_t pre_count = un->net->transitions[c->transition].pre_count, first = u->condition_event[conditions[0]];
    bool single = true;
    for (uint32_t i = 1; i < pre_count && single; i++)
        single = u->condition_event[conditions[i]] == first;
    c->delta = marking_delta(un, c, conditions);
    if (single) {
        c->size = u->events[first].size + 1;
        c->depth = u->events[first].depth + 1;
        c->marking = u->events[first].marking + c->delta;
        return;
    }
    uint32_t count = pt_unfold_visit(un, conditions, pre_count);
    c->size = count + 1;
    c->marking = c->delta;
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_unfold_event *e = &u->events[un->history[i]];
        c->marking += e->delta;
        c->depth = e->depth > c->depth ? e->depth : c->depth;
    }
    c->depth++;
}

/* A co-set that enables a transition was found. */
static void add_candidate(struct unfolder *un, uint32_t transition, const uint32_t *conditions)
{
    struct candidate c = {.transition = transition};
    if (!colour_candidate(un, conditions, &c))
        return;
    measure(un, conditions, &c);
    pt_unfold_put(un, &c, conditions);
}

/* Whether `condition` is concurrent with all conditions chosen for the slots before `slot`, and with `newest`. */
static bool fits(const struct unfolder *un, uint32_t newest, uint32_t slot, uint32_t condition)
{
    if (!pt_unfold_is_co(un, newest, condition))
        return false;
    for (uint32_t i = 0; i < slot; i++) {
        uint32_t other = un->slots[i];
        if (other == newest)
            continue;
        if (other > condition ? !pt_unfold_is_co(un, other, condition) : !pt_unfold_is_co(un, condition, other))
            return false;
    }
    return true;
}

/* The next condition after `from` in a place's list that fits a slot; PT_NONE: there is none. */
static uint32_t next_fit(const struct unfolder *un, uint32_t newest, uint32_t slot, uint32_t from)
{
    while (from != PT_NONE && !(from < newest && fits(un, newest, slot, from)))
        from = un->older[from];
    return from;
}

/* All co-sets for `transition` whose newest condition is `newest`: backtracking over the slots of its preset. */
static void find_cosets(struct unfolder *un, uint32_t transition, uint32_t newest)
{
    const uint32_t *pre = pt_net_pre(un->net, transition);
    uint32_t count = un->net->transitions[transition].pre_count;
    uint32_t own = un->u->condition_place[newest];
    uint32_t *slots = un->slots;
    uint32_t slot = 0;
    bool back = false;
    for (;;) {
        if (!back && slot == count) {
            add_candidate(un, transition, slots);
            back = true;
        }
        if (back) {
            if (slot == 0)
                return;
            slot--;
            if (pre[slot] == own)
                continue;
            slots[slot] = next_fit(un, newest, slot, un->older[slots[slot]]);
        } else {
            slots[slot] = pre[slot] == own ? newest : next_fit(un, newest, slot, un->newest[pre[slot]]);
        }
        back = slots[slot] == PT_NONE;
        if (!back)
            slot++;
    }
}

void pt_unfold_extend(struct unfolder *un, uint32_t event)
{
    const struct pt_unfolding *u = un->u;
    uint32_t count = event == 0 ? u->condition_count : un->net->transitions[u->events[event].transition].post_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t condition = u->events[event].post_start + i;
        uint32_t place = u->condition_place[condition];
        for (uint32_t k = un->consumer_start[place]; k < un->consumer_start[place + 1]; k++)
            find_cosets(un, un->consumers[k], condition);
    }
}
