/*
 * Where stretches begin, and what two of them are compared by (stretch.h).
 *
 * A lattice can begin at any cut of the actual run: what is before is in all its cuts. Of that cut the front knows the
 * values, the letter and the state of the actual run; how many runs lead there and in which states others bring
 * monitors to it, nobody knows yet. The guess is: too many to count, as after some tens of levels, and what a level
 * that was explored lately had at the actual run's cut.
 *
 * Until the first check a stretch, unless it begins with a row, has nothing but levels of words (ranks.h), with the
 * events that have bits: a thread whose next one is beyond these has to wait. So its first levels may lack cuts, as
 * they do anyway.
 *
 * Theorem: let two explorations have the same cuts at level k, each with the same letter, set of states and number of
 * runs. Then they have the same levels from there on. For which events are in Q follows from the cuts (the first L that
 * are not in all), the cuts of level k + 1 are the first W of those that Q's events make of them, and letter, set and
 * runs of each follow from those of the cuts that lead to it.
 *
 * A snapshot is the level in words (ranks.h) of which nothing is left but the cuts: without the bits of events that are
 * in all cuts, or that are later than all that some cut has. Then h, the latest event, and the events up to it that
 * have bits, by number, say which events all cuts have: all up to h but these. So two snapshots with the same events
 * and words are the same cuts.
 *
 * Or it is a row (pair.c): its first cut, and how many there are, say all of them, since each has one event of the one
 * thread more than the one before, and one of the other less. What other threads have done is in all cuts, and both
 * have as many events: so two rows whose first cuts have as many of these two threads have the same of the others.
 *
 * Completeness is judged by the level before, too (cone.c), so that where nothing is left out so far two rows are the
 * same if those before them are. A stretch may leave out what the cone does not, before it has joined: what it has left
 * out, and how wide it was, is told from one snapshot to the next (passages), and counts from where it joined on.
 *
 * Cost: a start is copied with its variables, lanes and tenants, a snapshot with its cuts.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/stretch.h"

static void *copy(const void *from, size_t bytes)
{
    void *to = pt_xmalloc(bytes + 1);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

void lat_start_take(const struct pt_lattice *front, pt_set guess, bool row, struct lat_start *ret_start)
{
    *ret_start = (struct lat_start){
        .number = front->pushed,
        .values = copy(front->freed_values, front->var_count * sizeof *front->freed_values),
        .numbers = copy(front->freed_numbers, front->var_count * sizeof *front->freed_numbers),
        .lanes = copy(front->columns, front->column_count * sizeof *front->columns),
        .lane_count = front->column_count,
        .tenants = copy(front->tenants, front->tenant_count * sizeof *front->tenants),
        .tenant_count = front->tenant_count,
        .letter = front->observed_letter,
        .observed = front->observed_state,
        .set = guess,
        .row = row,
    };
}

void lat_start_release(struct lat_start *start)
{
    free(start->values);
    free(start->numbers);
    free(start->lanes);
    free(start->tenants);
    *start = (struct lat_start){0};
}

/* Nothing is left of what was explored. */
static void clear(struct pt_lattice *l)
{
    lat_history_release(l);
    lat_ranks_release(l);
    for (uint32_t c = 0; c < l->column_count; c++) {
        lat_free_events(l, &l->columns[c], l->columns[c].arrived);
        free(l->columns[c].events);
    }
    l->column_count = 0;
    if (l->column_of_lane_cap)
        memset(l->column_of_lane, 0xff, l->column_of_lane_cap * sizeof *l->column_of_lane);
    pt_relation_release(&l->relation);
    pt_relation_init(&l->relation, l->options->order);
    lat_layout_unref(l->layout);
    l->layout = NULL;
    l->previous.count = 0;
    l->passed_head = l->passed_count = 0;
    l->line_count = 0;
    l->trail_count = 0;
    l->next_open = l->paired = l->ended = l->stopped = false;
    lat_level_release(l, l->current);
    lat_level_release(l, l->next);
    *l->finding = (struct pt_finding){.arena = l->finding->arena};
}

static void take_lanes(struct pt_lattice *l, const struct lat_start *start)
{
    for (uint32_t c = 0; c < start->lane_count; c++) {
        const struct lat_column *from = &start->lanes[c];
        struct lat_column *column = lat_column_of(l, from->lane);
        column->tenant = from->tenant;
        column->arrived = column->freed = column->common = column->low = column->in_q = from->arrived;
    }
    l->tenant_count = start->tenant_count;
    PT_GROW(l->tenants, l->tenant_cap, start->tenant_count);
    if (start->tenant_count)
        memcpy(l->tenants, start->tenants, start->tenant_count * sizeof *l->tenants);
}

void lat_start_begin(struct pt_lattice *l, const struct lat_start *start, bool remembers)
{
    struct lat_part *part = &l->current->parts[0];
    clear(l);
    take_lanes(l, start);
    if (l->var_count) {
        memcpy(l->freed_values, start->values, l->var_count * sizeof *l->freed_values);
        memcpy(l->freed_numbers, start->numbers, l->var_count * sizeof *l->freed_numbers);
    }
    l->started = true;
    l->finding->complete = l->judges = start->complete;
    l->remembers = remembers;
    l->borrows = !remembers;
    l->level = l->pushed = l->common_total = l->q_end = start->number;
    l->line_first = l->trail_first = start->number;
    l->rough = lat_check_level(start->number, 0);
    l->waiting = (uint32_t)(start->number % LAT_PUSH_BATCH); /* as if all events had come */
    PT_PUSH(l->trail, l->trail_count, l->trail_cap, start->observed);
    lat_part_reserve(l, part, 1, 1);
    part->count = 1;
    part->keys[0] = 0;
    part->runs[0] = UINT64_MAX;
    part->letters[0] = start->letter;
    part->sets[0] = start->set;
    part->calm = PT_NONE;
    if (remembers)
        lat_history_push(l);
    if (!start->row)
        lat_ranks_begin(l);
}

/* ---- snapshots ---- */

void lat_snapshot_init(struct lat_snapshot *snapshot, const struct pt_lattice *l)
{
    size_t window = l->options->window;
    snapshot->words = pt_xaligned(LAT_CACHE_LINE, window * sizeof *snapshot->words);
    snapshot->letters = pt_xmalloc(window * sizeof *snapshot->letters);
    snapshot->sets = pt_xmalloc(window * sizeof *snapshot->sets);
}

void lat_snapshot_release(struct lat_snapshot *snapshot)
{
    free(snapshot->words);
    free(snapshot->letters);
    free(snapshot->sets);
}

/* The row before, by which what comes late is judged: its cuts are in any order, but they follow each other. */
static void take_previous(const struct pt_lattice *l, struct lat_snapshot *to)
{
    const struct lat_field *field = &l->layout->fields[0];
    uint32_t least = UINT32_MAX, greatest = 0;
    for (uint32_t i = 0; i < l->previous.count; i++) {
        uint32_t count = lat_field_count_in(field, &l->previous.keys[i]);
        least = count < least ? count : least;
        greatest = count > greatest ? count : greatest;
    }
    to->events[to->event_count++] = l->previous.count;
    to->events[to->event_count++] = field->base + least;
    to->events[to->event_count++] = field->base + greatest;
}

static void take_row(const struct pt_lattice *l, struct lat_snapshot *to)
{
    to->row = true;
    for (uint32_t f = 0; f < l->layout->field_count; f++) {
        const struct lat_field *field = &l->layout->fields[f];
        to->events[to->event_count++] = l->columns[field->column].lane;
        to->events[to->event_count++] = field->base + lat_field_count_in(field, &l->current->parts[0].keys[0]);
    }
    if (l->judges)
        take_previous(l, to);
}

static void take_words(const struct pt_lattice *l, struct lat_snapshot *to)
{
    const struct lat_ranks *r = l->ranks;
    uint32_t count = l->current->parts[0].count;
    to->row = false;
    lat_word keep = lat_low_bits(lat_highest_bit(r->any) + 1) & ~r->common;
    for (lat_word rest = keep; rest; rest &= rest - 1)
        to->events[to->event_count++] = r->window->events[lat_lowest_bit(rest)].number;
    memcpy(to->words, r->words, count * sizeof *to->words);
    lat_pack_words(to->words, count, keep);
}

static bool is_crowded(const struct lat_part *part)
{
    for (uint32_t i = 0; i < part->count; i++)
        if (part->runs[i] != UINT64_MAX)
            return false;
    return true;
}

/* Of a row, or a level of words, to whose cuts more runs lead than can be counted. */
static void snapshot_take(const struct pt_lattice *l, struct lat_snapshot *to)
{
    const struct lat_part *part = &l->current->parts[0];
    to->count = 0;
    to->event_count = 0;
    to->states = l->finding->states;
    if (!part->count || !is_crowded(part))
        return;
    if (l->ranked && l->ranks->any)
        take_words(l, to);
    else if (!l->ranked && l->paired)
        take_row(l, to);
    else
        return;
    memcpy(to->letters, part->letters, part->count * sizeof *to->letters);
    memcpy(to->sets, part->sets, part->count * sizeof *to->sets);
    to->count = part->count;
}

bool lat_snapshot_same(const struct lat_snapshot *a, const struct lat_snapshot *b)
{
    return a->count && a->count == b->count && a->row == b->row && a->event_count == b->event_count &&
           memcmp(a->events, b->events, a->event_count * sizeof *a->events) == 0 &&
           (a->row || memcmp(a->words, b->words, a->count * sizeof *a->words) == 0) &&
           memcmp(a->letters, b->letters, a->count * sizeof *a->letters) == 0 &&
           memcmp(a->sets, b->sets, a->count * sizeof *a->sets) == 0;
}

uint64_t lat_check_level(uint64_t from, uint32_t check)
{
    enum { FIRST = 64 };
    return check < LAT_CHECKS && from != UINT64_MAX ? from + ((uint64_t)FIRST << check) : UINT64_MAX;
}

void lat_stretch_aim(struct pt_lattice *l)
{
    const struct lat_stretch *s = l->stretch;
    uint64_t head = lat_check_level(s->start.number, s->head_count), tail = lat_check_level(s->end, s->tail_count);
    l->check = head < tail ? head : tail;
}

/* From here on it is looked at anew: what was before a stretch has joined does not count. Levels of words are such that
 * something has been left out. */
static void pass(struct lat_stretch *s, const struct pt_lattice *l)
{
    s->passages[s->passage_count++] = (struct lat_passage){l->level, l->finding->width, l->finding->complete};
    l->finding->width = 0;
    l->finding->complete = l->judges && !l->ranked;
}

void lat_stretch_check(struct pt_lattice *l)
{
    struct lat_stretch *s = l->stretch;
    uint32_t heads = s->head_count, tails = s->tail_count;
    pass(s, l);
    if (l->level == lat_check_level(s->start.number, heads)) {
        snapshot_take(l, &s->heads[heads]);
        atomic_store_explicit(&s->head_count, heads + 1, memory_order_release);
    }
    if (l->level == lat_check_level(s->end, tails)) {
        snapshot_take(l, &s->tails[tails]);
        atomic_store_explicit(&s->tail_count, tails + 1, memory_order_release);
    }
    lat_stretch_aim(l);
}
