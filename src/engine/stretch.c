/*
 * The cone of one property by two threads, each with stretches of the trace (stretch.h). Levels are made one after the
 * other, each from the one before, and are too small to be divided; but what a level has does not depend on what was
 * long ago, so that somebody can begin further on, and be right.
 *
 * The caller meets events: it follows the actual run and logs what comes. Stretches are the caller's and the other
 * thread's by turns. While the caller reads the other's next one, the other begins it; then the caller begins one of
 * its own at the events that follow, and goes on with it until the other is done. So each does as much as it can, and
 * reading is shared by that the caller's stretches are shorter.
 *
 * What is at the head of the chain is known to be right. When it has gone as far beyond its end as the next one's check
 * is beyond its begin, both are compared; where they are the same, the next one is the head (stretch_start.c has the
 * theorem), and otherwise both go on to the next check. If they do not join at any, or if there is something to tell of
 * the head's levels (a violation, an error), one thread goes on, and has to have the history from which witnesses are
 * made. Stretches have none; so what the head has explored is explored once more from where the last but one began, or
 * even an earlier one, by that one thread, which is then in every respect where it would have been without all this.
 * (Stretches begin after a multiple of the events after which the history forgets some, so that it has the same.)
 *
 * Levels are rows (pair.c) or such of words (ranks.h); others, which narrow cones of three threads and more have,
 * cannot be compared. Not for windows of which the history could not keep its greatest number of levels. Cones do not
 * join while fewer runs lead to them than cannot be counted, nor while a thread is silent whose last event nobody
 * needs: the whole one keeps a cut without that event, which a stretch begins with.
 *
 * Guarantee: the same findings as by one thread. Cost: what one thread has, and for each stretch a start, snapshots,
 * and the levels up to the check twice; an event is copied once more for each of the two. Memory: some tens of
 * thousands of events, and a level or two for each stretch.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/stretch.h"

/* Where a stretch may begin: after a multiple of so many events. lat_history_shrink drops so many levels at a time. */
enum { STRIDE = LAT_HISTORY_STRIDE };
/* Events of the other's stretches, and the least of the caller's. */
enum { LENGTH = 482 * STRIDE, LEAST = 64 * STRIDE };
/* Those where some have joined at this check or later. */
enum { LATE = 2, LATE_LENGTH = 2 * LENGTH };
/* Levels: of words before a thread is worth starting; that are timed before; after which it is judged; and until it is
 * tried again, if it was no use. */
enum { WARM_UP = 256, TRIAL = 1024, JUDGED = 4 * LENGTH, WAIT = 1 << 18, TEST_WAIT = 400 };
#define WORTH_KEEPING 0.9
enum { MOST_LANES = 1024, MOST_TENANTS = 4096 };
/* What levels after one with this distance may need of the history. */
enum { REACH = LAT_BOUNDED_LEVELS + STRIDE };

/* ---- when ---- */

static bool fits_history(const struct pt_lattice *l)
{
    enum { EACH = 32, BESIDES = 2048 }; /* bytes of a cut, of a level */
    return l->options->window <= (l->history.budget / LAT_BOUNDED_LEVELS - BESIDES) / EACH;
}

static bool suits(const struct pt_lattice *l)
{
    return !l->module && !l->most && !l->observed_over && l->column_count <= MOST_LANES &&
           l->tenant_count <= MOST_TENANTS && fits_history(l);
}

bool lat_stretch_waits(const struct pt_lattice *l)
{
    const struct pt_analysis_options *o = l->options;
    return o->relays && o->stretch != PT_NO_STRETCHES && !o->memory_limit && !o->exhaustive &&
           l->level + TRIAL >= l->stretch_again && suits(l);
}

bool lat_stretch_hopes(const struct pt_lattice *l)
{
    return l->stretch || (!l->options->relays_wait && lat_stretch_waits(l));
}

static bool in_tests(const struct pt_lattice *l)
{
    return l->options->stretch != 0;
}

static uint64_t time_of(const struct pt_lattice *l)
{
    return l->options->now ? l->options->now() : 0;
}

/* Whether it is time; the last levels before that are timed. */
static bool is_due(struct pt_lattice *l)
{
    uint64_t entered = l->ranked ? l->ranks->entered : 0;
    if (!l->stretch_due || l->stretch_due < entered)
        l->stretch_due = l->level + (in_tests(l) ? 1 : WARM_UP + TRIAL);
    if (l->pace_level < entered || l->level + TRIAL < l->stretch_due) {
        l->pace_level = l->level;
        l->pace_since = time_of(l);
    }
    return l->level >= l->stretch_due;
}

/* ---- stretches ---- */

static struct pt_lattice *lattice_new(struct lat_stretches *st)
{
    const struct pt_lattice *root = st->root;
    struct pt_lattice *l = pt_lattice_new(root->monitor, root->names, &st->options, pt_finding_new());
    l->sets = root->sets;
    if (root->var_count) {
        memcpy(l->initial, root->initial, root->var_count * sizeof *l->initial);
        memcpy(l->initial_given, root->initial_given, root->var_count * sizeof *l->initial_given);
    }
    return l;
}

/* One that is not in the chain. */
struct lat_stretch *lat_stretch_take(struct lat_stretches *st)
{
    struct lat_stretch *s = st->pool + 1;
    for (uint32_t i = 0; i < st->count; i++)
        if (st->chain[i] == s) {
            s++;
            i = UINT32_MAX; /* from the first one on */
        }
    if (s->lattice)
        return s;
    s->lattice = lattice_new(st);
    for (uint32_t i = 0; i < LAT_CHECKS; i++) {
        lat_snapshot_init(&s->heads[i], st->root);
        lat_snapshot_init(&s->tails[i], st->root);
    }
    return s;
}

static struct lat_stretch *last(struct lat_stretches *st)
{
    return st->chain[st->count - 1];
}

/* What the caller has explored last; NULL: nothing that it still has. */
static const struct pt_lattice *own_last(struct lat_stretches *st)
{
    const struct pt_lattice *l = NULL;
    for (uint32_t i = 0; i < st->count; i++)
        if (!st->chain[i]->other && st->chain[i]->lattice->current->parts[0].count)
            l = st->chain[i]->lattice;
    return l;
}

/* The actual run's cut, which is the least of its level: the first one, but for a row. */
static uint32_t actual_cut(const struct pt_lattice *l)
{
    const struct lat_part *part = &l->current->parts[0];
    uint32_t least = 0;
    for (uint32_t i = 1; !l->ranked && l->paired && i < part->count; i++)
        if (lat_cut_compare(l, l->layout, &part->keys[i], &part->keys[least]) < 0)
            least = i;
    return least;
}

/* The set of that cut, where the caller has explored last. */
static pt_set guess(struct lat_stretches *st, const struct pt_lattice *l)
{
    pt_set set = pt_sets_single(st->root->sets, st->front->observed_state);
    if (!l)
        return set;
    return pt_sets_union_slow(st->root->sets, set, l->current->parts[0].sets[actual_cut(l)] & ~PT_SET_FLAGS);
}

/* With its start. */
void lat_stretch_reset(struct lat_stretch *s, bool other)
{
    s->other = other;
    s->tried = 0;
    s->joined = UINT64_MAX;
    s->fed = s->start.number;
    s->end = s->goal = UINT64_MAX;
    s->head_count = s->tail_count = 0;
    s->halted = s->finished = false;
    s->rested = 0;
    s->passage_count = 0;
    s->lattice->stretch = s;
}

/* The last one ends here, and another one begins. */
static void begin_next(struct lat_stretches *st, bool other)
{
    struct lat_stretch *before = last(st), *s = lat_stretch_take(st);
    uint64_t number = st->front->pushed;
    lat_start_release(&s->start);
    const struct pt_lattice *known = own_last(st);
    lat_start_take(st->front, guess(st, known), known && !known->ranked && known->paired, &s->start);
    s->start.complete = st->finding->complete;
    lat_stretch_reset(s, other);
    before->end = number;
    before->goal = lat_check_level(number, 0);
    st->chain[st->count++] = s;
    st->handing = other;
    if (other)
        lat_other_give(st, s);
    else
        lat_start_begin(s->lattice, &s->start, false);
    lat_other_wake(st);
}

/* ---- joining ---- */

/* What the head has explored up to here is known, and may have to be explored again. */
static void remember(struct lat_stretches *st, struct lat_stretch *head, uint64_t joined)
{
    if (head->lattice != st->origin) {
        struct lat_explored explored = {.start = head->start,
                                        .joined = head->joined,
                                        .states = head->all_states,
                                        .width = head->all_width,
                                        .complete = head->all_complete};
        head->start = (struct lat_start){0};
        PT_PUSH(st->explored, st->explored_count, st->explored_cap, explored);
    }
    uint32_t drop = 0; /* those before one that is early enough */
    for (uint32_t i = 0; i < st->explored_count && st->explored[i].joined + REACH <= joined; i++) {
        drop = i;
        st->origin_needed = false;
    }
    for (uint32_t i = 0; i < drop; i++)
        lat_start_release(&st->explored[i].start);
    st->explored_count -= drop;
    if (drop)
        memmove(st->explored, st->explored + drop, st->explored_count * sizeof *st->explored);
    if (!st->origin_needed)
        lat_log_forget(&st->log, st->explored[0].start.number + 1);
}

/* The first two of the chain have, with this check. */
static void join(struct lat_stretches *st, uint32_t check)
{
    struct lat_stretch *head = st->chain[0], *next = st->chain[1];
    lat_stretch_sum(st, head, head->lattice, head->joined);
    st->finding->states += head->tails[check].states - head->states;
    next->joined = lat_check_level(next->start.number, check);
    next->states = next->heads[check].states;
    next->all_states = st->finding->states;
    next->all_width = st->finding->width;
    next->all_complete = st->finding->complete;
    st->finding->levels = next->joined + 1;
    st->root->joins++;
    if (!in_tests(st->origin) && check >= LATE) /* what is explored twice is to be little of it */
        st->length = LATE_LENGTH;
    if (head->other)
        lat_other_give(st, NULL);
    remember(st, head, next->joined);
    st->count--;
    memmove(st->chain, st->chain + 1, st->count * sizeof *st->chain);
}

/* It has to go so far. That may be beyond its end, where the one before takes long to join. */
static void want(struct lat_stretches *st, struct lat_stretch *s, uint64_t level)
{
    if (s->goal >= level)
        return;
    atomic_store_explicit(&s->goal, level, memory_order_release);
    lat_other_wake(st);
}

void lat_stretch_run_own(struct lat_stretches *st, struct lat_stretch *s)
{
    if (!s->other)
        (void)lat_stretch_run(st, s, s->goal, st->published);
}

/* Two that agree before the first of them has joined are both right from there on alone. */
static bool is_right_at(const struct lat_stretch *head, const struct lat_stretch *next, uint32_t check)
{
    return lat_check_level(next->start.number, check) >= head->joined;
}

/* Joins what can be, as far as that is known. */
enum lat_poll lat_stretch_poll(struct lat_stretches *st)
{
    while (st->count > 1) {
        struct lat_stretch *head = st->chain[0], *next = st->chain[1];
        uint32_t check = head->tried;
        want(st, head, lat_check_level(head->end, check));
        want(st, next, lat_check_level(next->start.number, check));
        lat_stretch_run_own(st, head);
        lat_stretch_run_own(st, next);
        bool tail = lat_stretch_rests(head) && head->tail_count > check;
        bool both = tail && atomic_load_explicit(&next->head_count, memory_order_acquire) > check;
        if (both && is_right_at(head, next, check) && lat_snapshot_same(&head->tails[check], &next->heads[check])) {
            join(st, check);
        } else if (both) {
            if (++head->tried == LAT_CHECKS)
                return LAT_FAILS;
        } else if (tail) {
            return lat_stretch_rests(next) && next->halted ? LAT_FAILS : LAT_GOES_ON;
        } else {
            return lat_stretch_rests(head) && head->halted ? LAT_TELLS : LAT_GOES_ON;
        }
    }
    return lat_stretch_rests(st->chain[0]) && st->chain[0]->halted ? LAT_TELLS : LAT_GOES_ON;
}

void lat_stretch_publish(struct lat_stretches *st)
{
    atomic_store_explicit(&st->published, st->log.end, memory_order_release);
    lat_other_wake(st);
}

/* ---- the caller ---- */

/* The events so far, as far as what follows them needs it. */
static struct pt_lattice *front_new(struct lat_stretches *st)
{
    const struct pt_lattice *from = st->origin;
    struct pt_lattice *front = lattice_new(st);
    pt_finding_free(front->finding);
    front->finding = st->finding;
    front->options = st->root->options;
    front->meets = true;
    front->started = true;
    front->pushed = from->pushed;
    for (uint32_t c = 0; c < from->column_count; c++) {
        struct lat_column *column = lat_column_of(front, from->columns[c].lane);
        column->tenant = from->columns[c].tenant;
        column->arrived = column->freed = from->columns[c].arrived;
    }
    front->tenant_count = from->tenant_count;
    PT_GROW(front->tenants, front->tenant_cap, from->tenant_count);
    if (from->tenant_count)
        memcpy(front->tenants, from->tenants, from->tenant_count * sizeof *front->tenants);
    for (uint32_t v = 0; v < from->var_count; v++) {
        const struct pt_cut_event *last = &from->last_write[v];
        bool known = last->index && last->index > from->columns[last->column].freed;
        front->freed_values[v] = from->observed_values[v];
        front->freed_numbers[v] =
            known ? lat_event_at(&from->columns[last->column], last->index)->number : from->freed_numbers[v];
    }
    lat_stretch_take_over(front, st->origin);
    return front;
}

/* The first stretch is what was explored so far. It has a history, and goes on having one. */
static void begin_first(struct lat_stretches *st)
{
    struct lat_stretch *s = &st->pool[0];
    struct pt_lattice *l = st->origin;
    s->lattice = l;
    for (uint32_t i = 0; i < LAT_CHECKS; i++)
        lat_snapshot_init(&s->tails[i], l);
    s->start.number = s->fed = l->pushed;
    s->joined = l->level;
    s->goal = s->end = UINT64_MAX;
    s->head_count = LAT_CHECKS;
    l->finding = pt_finding_new();
    l->finding->complete = l->judges = st->finding->complete;
    l->stretch = s;
    l->remembers = true;
    st->chain[st->count++] = s;
}

static bool may_begin(struct pt_lattice *l)
{
    return l->pushed % STRIDE == 0 && !l->stopped && (l->ranked ? !l->ranks->relay : lat_has_crowded_row(l)) &&
           lat_stretch_hopes(l) && is_due(l);
}

void lat_stretch_begin(struct pt_lattice *root)
{
    struct pt_lattice *l = lat_heir(root);
    if (!may_begin(l))
        return;
    struct lat_stretches *st = pt_xaligned(LAT_CACHE_LINE, sizeof *st);
    st->root = root;
    st->origin = l;
    st->origin_needed = true;
    st->finding = l->finding;
    st->options = *root->options;
    st->options.relays = false;
    st->options.interrupted = NULL;
    st->began_states = l->finding->states;
    st->began_width = l->finding->width;
    st->began_complete = l->finding->complete;
    st->began_level = l->level;
    st->began = time_of(l);
    st->length = in_tests(l) ? l->options->stretch * (uint64_t)STRIDE : LENGTH;
    st->least = in_tests(l) ? l->options->stretch * (uint64_t)STRIDE / 2 : LEAST;
    st->published = l->pushed + 1;
    lat_log_init(&st->log, l->pushed + 1);
    st->front = front_new(st);
    begin_first(st);
    root->stretches = st;
    if (lat_other_start(st)) {
        begin_next(st, true);
        return;
    }
    l->stretch_again = UINT64_MAX; /* never */
    lat_stretch_end_with(st, lat_stretch_restore(st));
}

/* Has it paid? Asked once, after some stretches. */
static bool is_slower(struct lat_stretches *st)
{
    const struct pt_lattice *l = st->origin;
    uint64_t level = st->chain[0]->joined;
    if (st->judged || !l->options->now || in_tests(l) || level < st->began_level + JUDGED)
        return false;
    st->judged = true;
    double alone = (double)(st->began - l->pace_since) / (double)(st->began_level - l->pace_level);
    double each = (double)(time_of(l) - st->began) / (double)(level - st->began_level);
    return each > WORTH_KEEPING * alone;
}

/* Stops, and for a while nobody tries again. */
static void give_up(struct lat_stretches *st)
{
    struct pt_lattice *root = st->root;
    uint64_t wait = 2 * st->origin->stretch_wait, least = in_tests(st->origin) ? TEST_WAIT : WAIT;
    wait = wait > least ? wait : least;
    lat_stretch_end(root);
    struct pt_lattice *l = lat_heir(root);
    l->stretch_wait = wait;
    l->stretch_again = l->level + wait;
    l->stretch_due = 0;
}

/* After some events. */
static void go_on(struct lat_stretches *st)
{
    const struct pt_analysis_options *o = st->root->options;
    uint64_t number = st->front->pushed;
    struct lat_stretch *newest = last(st);
    lat_stretch_publish(st);
    for (uint32_t i = 0; i < st->count; i++)
        lat_stretch_run_own(st, st->chain[i]);
    enum lat_poll found = lat_stretch_poll(st);
    if (found == LAT_FAILS || is_slower(st) || lat_log_is_full(&st->log)) {
        give_up(st);
        return;
    }
    if (found == LAT_TELLS || st->front->observed_over || st->front->column_count > MOST_LANES ||
        st->front->tenant_count > MOST_TENANTS || (o->interrupted && o->interrupted(o->context))) {
        lat_stretch_end(st->root);
        return;
    }
    if (o->progress && number / STRIDE % 64 == 0)
        o->progress(o->context, st->finding->property, st->finding->levels, st->finding->states);
    bool room = st->count < LAT_STRETCHES;
    if (st->handing && room && number - newest->start.number >= st->length)
        begin_next(st, false);
    else if (!st->handing && room && !st->given && number - newest->start.number >= st->least)
        begin_next(st, true);
}

enum pt_status lat_stretch_push(struct pt_lattice *root, const struct pt_event *event, uint32_t lane, uint32_t var,
                                uint32_t user_event, const struct pt_clock *clock, struct pt_err *err)
{
    struct lat_stretches *st = root->stretches;
    struct pt_lattice *front = st->front;
    struct lat_column *column = lat_column_of(front, lane);
    struct pt_cut_event e = {(uint32_t)(column - front->columns), column->arrived + 1, clock, event->object, event->op};
    uint32_t effect;
    enum pt_status status = lat_meet(front, &e, event, var, user_event, &effect, err);
    if (status != PT_OK) { /* it may have been over before */
        lat_stretch_end(root);
        return lat_heir(root)->stopped ? pt_lattice_push(root, event, lane, var, user_event, NULL, err) : status;
    }
    (void)lat_tenant_of(front, column, event->thread);
    column->arrived++;
    column->freed++;
    if (var != PT_NONE) {
        front->freed_values[var] = event->value;
        front->freed_numbers[var] = front->pushed;
    }
    struct lat_logged logged = {.line = event->line,
                                .value = event->value,
                                .thread = event->thread,
                                .object = event->object,
                                .loc = event->loc,
                                .lane = lane,
                                .var = var,
                                .user_event = user_event,
                                .effect = effect,
                                .observed = front->observed_state,
                                .op = event->op};
    lat_log_add(&st->log, &logged, clock);
    if (front->pushed % STRIDE == 0 || front->observed_over)
        go_on(st);
    return PT_OK;
}
