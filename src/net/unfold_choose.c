/*
 * Rows or walks. Rows (unfold_co.c) are the cheaper way as long as they are short, and where little is concurrent.
 * Where they have grown, and the net allows, walks (unfold_walk.c) are tried instead; if these turn out to cost more
 * than rows would by now, all rows are made again and stay. So the cost is that of the better of both but for a
 * factor, whatever the net. The prefix does not depend on it.
 *
 * What rows would cost by now is taken from what they did when they were left: blocks of an event's row, for each
 * condition there was.
 */
#include "net/unfold_impl.h"

enum {
    BATCH = 256,   /* events, after which the choice is looked at */
    LONG_ROW = 32, /* blocks; it is then that walks are tried */
    STEPS = 8,     /* of a walk, that take as long as a block: it is read and written, twice */
    STRIKES = 2,   /* batches that cost too much */
};

bool pt_unfold_is_co(struct unfolder *un, uint32_t a, uint32_t b)
{
    return un->walk.on ? pt_unfold_walk_is_co(un, a, b) : pt_unfold_rows_is_co(un, a, b);
}

static void begin_walks(struct unfolder *un)
{
    if (!pt_unfold_walk_begin(un)) {
        un->choice.settled = true;
        return;
    }
    pt_unfold_rows_drop(un);
    un->walk.on = true;
}

/* Makes all rows, as if walks had never been. */
static void begin_rows(struct unfolder *un)
{
    const struct pt_unfolding *u = un->u;
    pt_unfold_vector_to_lists(un);
    pt_unfold_walk_end(un);
    un->choice.settled = true;
    if (u->condition_count > 0) {
        PT_ROOM(un->newer, un->newer_cap, u->condition_count - 1);
        un->bytes += u->condition_count * sizeof *un->newer;
    }
    for (uint32_t e = 1; e < u->event_count; e++) {
        const struct pt_unfold_event *at = &u->events[e];
        if (at->cutoff || at->goal)
            continue;
        uint32_t count = un->net->transitions[at->transition].pre_count + at->mark_count;
        pt_unfold_rows_make(un, at->transition, u->pre + at->pre_start, count);
        pt_unfold_rows_keep(un, e);
    }
}

/* At the end of a batch. */
static void weigh(struct unfolder *un)
{
    struct choice *c = &un->choice;
    double conditions = un->u->condition_count, each = (double)c->work / BATCH;
    if (!un->walk.on && each >= LONG_ROW) {
        c->price = each / conditions;
        begin_walks(un);
    } else if (un->walk.on) {
        each = (double)un->walk.work / BATCH;
        c->strikes = each > STEPS * c->price * conditions ? c->strikes + 1 : 0;
        if (c->strikes >= STRIKES)
            begin_rows(un);
    }
    c->extended = 0;
    c->work = un->walk.work = 0;
}

void pt_unfold_choose(struct unfolder *un)
{
    const struct pt_unfold_options *o = un->options;
    uint32_t event = un->u->event_count;
    if (un->choice.settled)
        return;
    if (o->walk_until == 0) {
        if (un->choice.extended >= BATCH)
            weigh(un);
    } else if (!un->walk.on && event >= o->walk_from && event < o->walk_until) {
        begin_walks(un);
    } else if (un->walk.on && event >= o->walk_until) {
        begin_rows(un);
    }
}

void pt_unfold_make_row(struct unfolder *un, uint32_t transition, const uint32_t *pre, uint32_t count)
{
    un->row_now += 2;
    PT_GROW(un->place_next, un->place_next_cap, un->u->condition_cap);
    if (!un->walk.on)
        pt_unfold_rows_make(un, transition, pre, count);
}

uint32_t pt_unfold_first(struct unfolder *un, uint32_t place)
{
    if (!un->walk.on)
        return pt_unfold_rows_first(un, place);
    if (un->place_stamp[place] < un->row_now)
        pt_unfold_walk_place(un, place);
    return un->place_head[place];
}

void pt_unfold_keep_row(struct unfolder *un, uint32_t event)
{
    un->choice.extended++;
    if (un->walk.on) {
        pt_unfold_walk_keep(un, event);
        un->u->walked++;
    } else {
        pt_unfold_rows_keep(un, event);
        un->choice.work += un->extended[event].older_count;
    }
}
