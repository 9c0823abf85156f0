/*
 * How two threads at stretches (stretch.c) become one again: at the end of the trace, when all stretches have joined,
 * with the last one's lattice; and before, with a lattice that is in every respect where one thread would be, its
 * history included. That is the one with which all began, as long as the history reaches back to what it explored, and
 * else one that begins once more where a stretch did, early enough that all that is remembered in the end is known to
 * be right.
 *
 * Guarantee: as stretch.c. Cost: before the end, some stretches are explored once more, by one thread.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/stretch.h"

static void lattice_free(struct pt_lattice *l)
{
    struct pt_finding *finding = l->finding;
    pt_lattice_free(l);
    pt_finding_free(finding);
}

static void stretch_release(struct lat_stretch *s)
{
    lat_start_release(&s->start);
    for (uint32_t i = 0; i < LAT_CHECKS; i++) {
        lat_snapshot_release(&s->heads[i]);
        lat_snapshot_release(&s->tails[i]);
    }
    if (s->lattice)
        lattice_free(s->lattice);
}

/* ---- one thread goes on ---- */

void lat_stretch_sum(struct lat_stretches *st, const struct lat_stretch *s, const struct pt_lattice *l, uint64_t level)
{
    uint64_t width = l->finding->width;
    bool complete = l->finding->complete;
    for (uint32_t i = 0; i < s->passage_count; i++) {
        const struct lat_passage *p = &s->passages[i];
        if (p->level <= level)
            continue;
        complete = complete && p->complete;
        width = p->width > width ? p->width : width;
    }
    st->finding->complete = st->finding->complete && complete;
    st->finding->width = width > st->finding->width ? width : st->finding->width;
}

/* A lattice that is known to be right, of which `states` are in the finding, tells what there is to tell again. */
static void resume(struct lat_stretches *st, const struct lat_stretch *s, struct pt_lattice *l, uint64_t joined,
                   uint64_t states)
{
    struct pt_finding *own = l->finding;
    bool halted = l->stopped;
    lat_stretch_sum(st, s, l, joined);
    st->finding->states += own->states - states;
    st->finding->levels = halted ? l->level : l->level + 1;
    l->finding = st->finding;
    l->options = st->root->options;
    l->stretch = NULL;
    l->judges = false;
    l->stopped = false;
    pt_finding_free(own);
    if (halted && !lat_level_done(l)) {
        l->stopped = true;
        lat_forget(l);
    }
}

static void take_rest(struct lat_stretches *st, struct pt_lattice *l)
{
    while (l->pushed + 1 < st->log.end)
        lat_take_logged(l, lat_log_at(&st->log, l->pushed + 1));
}

/* Begins where the first of what was explored did, with a history, and tells from where it is known to be right on. */
static struct pt_lattice *explore_again(struct lat_stretches *st)
{
    struct lat_explored *from = &st->explored[0];
    uint32_t check = 0;
    while (lat_check_level(from->start.number, check) != from->joined)
        check++;
    st->count = 0;
    struct lat_stretch *s = lat_stretch_take(st);
    struct pt_lattice *l = s->lattice;
    lat_start_release(&s->start);
    s->start = from->start;
    from->start = (struct lat_start){0};
    lat_stretch_reset(s, false);
    lat_start_begin(l, &s->start, true);
    st->over = false;
    (void)lat_stretch_run(st, s, from->joined, st->log.end);
    s->lattice = NULL;
    st->finding->states = from->states;
    st->finding->width = from->width;
    st->finding->complete = from->complete;
    resume(st, s, l, from->joined, s->heads[check].states);
    return l;
}

/* Where one thread would be now, with its history. The other one has ended. */
struct pt_lattice *lat_stretch_restore(struct lat_stretches *st)
{
    struct pt_lattice *l = st->origin;
    if (st->origin_needed) {
        st->pool[0].lattice = NULL;
        st->finding->states = st->began_states;
        st->finding->width = st->began_width;
        st->finding->complete = st->began_complete;
        resume(st, &st->pool[0], l, st->began_level, 0);
    } else {
        l = explore_again(st);
    }
    take_rest(st, l);
    return l;
}

/* The actual run, as it was followed meanwhile. */
void lat_stretch_take_over(struct pt_lattice *l, const struct pt_lattice *front)
{
    if (l->var_count) {
        memcpy(l->observed_values, front->observed_values, l->var_count * sizeof *l->observed_values);
        memcpy(l->last_write, front->last_write, l->var_count * sizeof *l->last_write);
    }
    l->observed_state = front->observed_state;
    l->observed_letter = front->observed_letter;
    l->observed_over = front->observed_over;
    l->observed_bad = front->observed_bad;
    l->busy_ns = front->busy_ns;
}

/* It may be the root, which stays, without what it has explored. */
static void release_origin(struct lat_stretches *st)
{
    struct lat_stretch *first = &st->pool[0];
    struct pt_finding *own = first->lattice ? first->lattice->finding : NULL;
    if (first->lattice == st->root) {
        st->root->stretch = NULL;
        lat_forget(st->root);
        st->root->finding = st->finding;
        pt_finding_free(own);
        first->lattice = NULL;
    }
}

static void stretches_free(struct lat_stretches *st)
{
    release_origin(st);
    for (uint32_t i = 0; i <= LAT_STRETCHES; i++)
        stretch_release(&st->pool[i]);
    for (uint32_t i = 0; i < st->explored_count; i++)
        lat_start_release(&st->explored[i].start);
    free(st->explored);
    st->front->finding = pt_finding_new();
    lattice_free(st->front);
    lat_log_release(&st->log);
    free(st);
}

/* All of them together, as they are in the end, or what the first one had before. */
static uint64_t peak_of(const struct lat_stretches *st)
{
    uint64_t bytes = st->log.bytes + pt_sets_bytes(st->root->sets);
    for (uint32_t i = 0; i <= LAT_STRETCHES; i++) {
        const struct pt_lattice *l = st->pool[i].lattice;
        bytes += l ? atomic_load(&l->bytes) + l->history.bytes + l->event_bytes : 0;
    }
    return bytes > st->origin->peak ? bytes : st->origin->peak;
}

/* One thread goes on, with this lattice, which is no stretch any more. */
void lat_stretch_end_with(struct lat_stretches *st, struct pt_lattice *l)
{
    struct pt_lattice *root = st->root;
    uint64_t peak = peak_of(st);
    l->peak = peak > l->peak ? peak : l->peak;
    lat_stretch_take_over(l, st->front);
    if (root->options->now) /* with the reading of events: nobody took the time of one without the other */
        l->busy_ns += root->options->now() - st->began;
    l->stretch_again = st->origin->stretch_again;
    l->stretch_wait = st->origin->stretch_wait;
    stretches_free(st);
    root->heir = l == root ? NULL : l;
    root->stretches = NULL;
}

void lat_stretch_end(struct pt_lattice *root)
{
    struct lat_stretches *st = root->stretches;
    if (!st)
        return;
    lat_other_quit(st);
    lat_stretch_end_with(st, lat_stretch_restore(st));
}

void lat_stretch_drop(struct pt_lattice *root)
{
    struct lat_stretches *st = root->stretches;
    if (!st)
        return;
    lat_other_quit(st);
    root->heir = NULL; /* it is the origin */
    stretches_free(st);
    root->stretches = NULL;
}

/* It is all explored: what it says is the answer. */
static void finish_with(struct lat_stretches *st, struct lat_stretch *s)
{
    struct pt_lattice *l = s->lattice;
    lat_other_quit(st);
    s->lattice = NULL;
    lat_own_clocks(l);
    resume(st, s, l, s->joined, s->states);
    lat_stretch_end_with(st, l);
}

void lat_stretch_finish(struct pt_lattice *root)
{
    struct lat_stretches *st = root->stretches;
    if (!st)
        return;
    lat_stretch_publish(st);
    st->over = true;
    lat_other_wake(st);
    for (;;) {
        const struct lat_stretch *other = st->given;
        uint32_t heads = other ? other->head_count : 0, count = st->count;
        for (uint32_t i = 0; i < st->count; i++)
            lat_stretch_run_own(st, st->chain[i]);
        enum lat_poll found = lat_stretch_poll(st);
        struct lat_stretch *head = st->chain[0];
        bool done = lat_stretch_rests(head) && head->finished;
        bool waits = other && other == st->given && !lat_stretch_rests(other);
        if (found != LAT_GOES_ON || (!done && !waits && count == st->count)) { /* the second: not expected */
            lat_stretch_end(root);
            return;
        }
        if (done) {
            finish_with(st, head);
            return;
        }
        if (waits)
            lat_other_wait(st, other, heads);
    }
}
