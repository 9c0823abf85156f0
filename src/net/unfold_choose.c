/*
 * Rows or walks. Rows (unfold_co.c) are the cheaper way as long as they are short, and where little is concurrent.
 * Where they have grown, and the net allows, walks (unfold_walk.c) are tried instead; if these turn out to cost more
 * than rows would, all rows are made again, and have to be much longer until walks are tried once more. So the cost is
 * that of the better of both but for a factor, whatever the net. The prefix does not depend on it.
 *
 * What rows would cost is how long they would be, which is looked at for some events by asking about every condition.
 * Batches, after which the choice is made, grow with the prefix, so that this and making all rows again cost less than
 * what they are about.
 */
#include "net/unfold_impl.h"

enum {
    BATCH = 256,  /* extended events, at least */
    SAMPLES = 4,  /* of a batch */
    SPARSE = 8,   /* blocks */
    SEARCH = 100, /* steps of the search for components, for each event */
    LONG_ROW = 4, /* blocks; it is then that walks are tried */
    STEPS = 10,   /* of a walk that take as long as a block of a row, which is read and written, twice */
    LONGER = 8,   /* times as long rows have to be when walks have failed */
};

/* Where the net is large, finding its components may have to wait until that is less than what has been done. */
static void begin_walks(struct unfolder *un)
{
    uint64_t budget = un->options->walk_until ? UINT32_MAX : (uint64_t)un->u->event_count * SEARCH;
    if (!pt_unfold_walk_begin(un, &budget)) {
        pt_unfold_walk_end(un);
        un->choice.settled = budget > 0;
        return;
    }
    pt_unfold_rows_drop(un);
    un->walk.on = true;
    un->choice.walks++;
}

/* Makes all rows, as if walks had never been. */
static void begin_rows(struct unfolder *un)
{
    const struct pt_unfolding *u = un->u;
    pt_unfold_vector_to_lists(un);
    pt_unfold_walk_end(un);
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

/* How many blocks the row would have of the event for which walks are made: one in SPARSE is looked at. */
static uint32_t sample_row(struct unfolder *un)
{
    const struct pt_unfold_event *e = &un->u->events[un->u->event_count - 1];
    uint64_t work = un->walk.work;
    uint32_t blocks = 0, last = PT_NONE;
    for (uint32_t c = 0; c < e->post_start; c++) {
        if (c / 32 % SPARSE != 0) {
            c |= 31;
        } else if (c / 32 != last && pt_unfold_walk_is_co(un, e->post_start, c)) {
            last = c / 32;
            blocks += SPARSE;
        }
    }
    un->walk.work = work;
    return blocks;
}

/* At the end of a batch. */
static void weigh(struct unfolder *un)
{
    struct choice *c = &un->choice;
    if (un->walk.on) {
        double row = (double)c->blocks / SAMPLES;
        if ((double)un->walk.work / c->batch > STEPS * (row + LONG_ROW)) {
            c->long_row = LONGER * (row + LONG_ROW);
            begin_rows(un);
        }
    } else if ((double)c->blocks / c->batch >= c->long_row) {
        begin_walks(un);
    }
    c->extended = 0;
    c->blocks = un->walk.work = 0;
    c->batch = un->u->event_count / 2 > BATCH ? un->u->event_count / 2 : BATCH;
}

void pt_unfold_choose(struct unfolder *un)
{
    const struct pt_unfold_options *o = un->options;
    uint32_t event = un->u->event_count;
    if (un->choice.settled)
        return;
    if (o->walk_until == 0 && un->choice.batch == 0) {
        un->choice.batch = BATCH;
        un->choice.long_row = LONG_ROW;
    } else if (o->walk_until == 0 && un->choice.extended >= un->choice.batch) {
        weigh(un);
    }
    if (o->walk_until == 0)
        return;
    bool walk = event >= o->walk_from && (event < o->walk_until || event / 2 >= o->walk_until);
    if (walk && !un->walk.on)
        begin_walks(un);
    else if (!walk && un->walk.on)
        begin_rows(un);
}

void pt_unfold_make_row(struct unfolder *un, uint32_t transition, const uint32_t *pre, uint32_t count)
{
    un->row_now += 2;
    un->row_indexed = false;
    PT_GROW(un->place_next, un->place_next_cap, un->u->condition_cap);
    if (!un->walk.on)
        pt_unfold_rows_make(un, transition, pre, count);
}

void pt_unfold_keep_row(struct unfolder *un, uint32_t event)
{
    struct choice *c = &un->choice;
    c->extended++;
    if (!un->walk.on) {
        pt_unfold_rows_keep(un, event);
        c->blocks += un->extended[event].older_count;
        return;
    }
    pt_unfold_walk_keep(un, event);
    un->u->walked++;
    if (un->options->walk_until == 0 && c->extended % (c->batch / SAMPLES) == 0)
        c->blocks += sample_row(un);
}
