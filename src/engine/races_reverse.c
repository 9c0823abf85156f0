/*
 * Races that a run has in which sections of locks come in another order, or reads see other writes of their values
 * (contract section 3, `values`): of the pairs of places without a race so far, those of which no access needs the
 * other are tried by the two-slice witness (predict/slices.h), and those that it has no run for by the search of
 * `values` (engine/meeting.h). There a read needs the write that it saw only where no other one has left its value, so
 * pairs that are left open by needs without other reads are asked about as well.
 *
 * Guarantee: none is reported whose run predict/replay.c, or for the latter order/possible.c, has not played. That
 * there is none is not said: the finding's `order` stays what was looked through to its end. Of each pair of places
 * MEETS pairs of accesses are asked about; where these are all, and the effort lasts, every race of
 * `values` is found: both accesses are next after a run, so that neither is needed by the other in all of them. Cost:
 * the recorded events are followed twice more, without closing, and then a few passes over them for each pair that is
 * tried, EFFORT events in all; a search takes what --effort says.
 */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "engine/races_predict.h"

enum {
    TRIES = 4,          /* of a pair of places, by slices */
    MEETS = 32,         /* and by searches, where reads may see other writes */
    CANDIDATES = 10000, /* in all, of each */
};
#define EFFORT (UINT64_C(1) << 28) /* events that are looked at */

struct reverse {
    struct races *r;
    struct races_predict candidates; /* its `found`; and `index`: how many there are of a pair of places */
    struct pt_map64 asked;           /* pairs of accesses */
    bool blind;                      /* reads need the write that they saw only where it is the only one */
    struct reverse_block {
        uint64_t made, freed; /* its latest alloc and free; 0: none */
    } * blocks;
    size_t block_cap;
    struct pt_map64 told; /* by thread and block: the alloc that is told */
};

static uint64_t target_key(uint32_t thread, uint64_t number)
{
    return (uint64_t)thread << 40 | number;
}

static uint64_t pair_key(const struct pt_syncp_race *race)
{
    return pt_mix64(target_key(race->first->thread, race->first_number)) +
           target_key(race->second->thread, race->second_number);
}

static bool keep_candidate(void *context, const struct pt_syncp_race *race)
{
    struct reverse *reverse = context;
    struct races *r = reverse->r;
    struct races_predict *c = &reverse->candidates;
    uint64_t key = pt_races_predicted_key(r, race), pair = pair_key(race);
    uint32_t most = reverse->blind ? MEETS : TRIES;
    struct races_predicted candidate = {
        .key = key, .var = race->first->var, .first = race->first->thread, .second = race->second->thread};
    if (!pt_races_predicted_is_asked(r, &candidate) || pt_map64_get(&r->predict->index, key) != PT_NONE ||
        c->count == CANDIDATES)
        return true;
    if (pt_map64_get(&reverse->asked, pair) != PT_NONE)
        return false;
    uint32_t *tries = pt_map64_at(&c->index, key);
    *tries = *tries == PT_NONE ? 1 : *tries + 1;
    if (*tries <= most) {
        *pt_map64_at(&reverse->asked, pair) = 0;
        pt_races_predicted_add(c, key, race);
    }
    return *tries >= most;
}

/* A possible run says nothing about memory (order/possible.h), so the search is told that accesses and frees need the
 * alloc before them, of each thread the first one, and that needs the free before it. */
static void tell_needs(struct reverse *reverse, const struct pt_log_event *event)
{
    const struct pt_trf *trf = &reverse->candidates.trf;
    struct pt_meeting *meeting = &reverse->r->predict->meeting;
    bool alloc = event->op == PT_OP_ALLOC, frees = event->op == PT_OP_FREE;
    uint32_t block = alloc || frees ? event->object + 1 : 0;
    if (pt_op_space(event->op) == PT_SPACE_VAR)
        block = trf->vars[event->object].block;
    if (!block)
        return;
    PT_ROOM(reverse->blocks, reverse->block_cap, block);
    struct reverse_block *of = &reverse->blocks[block];
    uint64_t needed = alloc ? of->freed : of->made;
    uint32_t *told = pt_map64_at(&reverse->told, (uint64_t)event->thread << 32 | block);
    if (needed && (alloc || *told != (uint32_t)needed))
        pt_meeting_need(meeting, event->event, needed);
    *told = (uint32_t)(alloc ? event->event : needed);
    if (alloc || frees)
        *(alloc ? &of->made : &of->freed) = event->event;
}

/* Follows the run once more, for what events need without what locks add. */
static void collect(struct reverse *reverse)
{
    struct races_predict *c = &reverse->candidates;
    struct pt_log_reader reader;
    for (pt_log_start(&reader, &reverse->r->predict->log); pt_log_next(&reader);) {
        struct pt_event event = pt_log_as_event(&reader.event);
        c->trf.blind = reverse->blind && pt_meeting_is_free(&reverse->r->predict->meeting, reader.event.event);
        pt_syncp_event(&c->syncp, &event);
        pt_trf_event(&c->trf, &event);
        if (!reverse->blind)
            tell_needs(reverse, &reader.event);
    }
}

static uint32_t same_locks(struct pt_strtab *to, const struct pt_strtab *from, uint32_t set)
{
    return set == PT_NONE ? PT_NONE : pt_strtab_intern(to, pt_strtab_text(from, set), pt_strtab_len(from, set));
}

/* Sets of locks as the first pass has them, of which reports speak. */
static void number_locks(struct reverse *reverse)
{
    struct races_predict *c = &reverse->candidates;
    struct pt_strtab *sets = &reverse->r->predict->syncp.lock_sets;
    for (uint32_t i = 0; i < c->count; i++) {
        c->found[i].first_locks = same_locks(sets, &c->syncp.lock_sets, c->found[i].first_locks);
        c->found[i].second_locks = same_locks(sets, &c->syncp.lock_sets, c->found[i].second_locks);
    }
}

/* Both ways that the witness can be made. */
static bool try(struct races *r, const struct races_predict *c, const struct races_predicted *race, uint64_t *effort)
{
    uint32_t threads = c->trf.thread_count, known = r->predict->trf.thread_count; /* with those that did nothing */
    threads = threads > known ? threads : known;
    uint64_t *first = pt_xcalloc((size_t)threads + 1, sizeof *first), *upto = pt_xmalloc((threads + 1) * sizeof *upto);
    const struct pt_slices_target targets[] = {{race->first, race->first_number}, {race->second, race->second_number}};
    bool found = false;
    for (int pull = 0; pull < 2 && !found && *effort; pull++) {
        memset(upto, 0, (threads + 1) * sizeof *upto);
        memcpy(upto, race->set, race->threads * sizeof *upto);
        found = pt_slices_find(&c->trf, &r->predict->log, targets, 2, pull, first, upto, effort) &&
                pt_races_predicted_report(r, race, first, upto, "values");
    }
    free(first);
    free(upto);
    return found;
}

static void try_all(struct reverse *reverse)
{
    struct races_predict *known = reverse->r->predict, *c = &reverse->candidates;
    uint64_t effort = EFFORT;
    for (uint32_t i = 0; i < c->count && effort; i++)
        if (pt_map64_get(&known->index, c->found[i].key) == PT_NONE && try(reverse->r, c, &c->found[i], &effort))
            *pt_map64_at(&known->index, c->found[i].key) = 0;
}

/* ---- the search ---- */

/* The events that pairs without a race are made of, by thread and number. */
static struct pt_log_event *find_events(struct reverse *reverse, struct pt_map64 *index)
{
    const struct races_predict *c = &reverse->candidates;
    struct pt_log_event *events = pt_xcalloc(2 * (size_t)c->count + 1, sizeof *events);
    uint64_t *seen = pt_xcalloc((size_t)c->trf.thread_count + 1, sizeof *seen);
    struct pt_log_reader reader;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        *pt_map64_at(index, target_key(c->found[i].first, c->found[i].first_number)) = 0;
        *pt_map64_at(index, target_key(c->found[i].second, c->found[i].second_number)) = 0;
    }
    for (pt_log_start(&reader, &reverse->r->predict->log); pt_log_next(&reader);) {
        uint64_t key = target_key(reader.event.thread, ++seen[reader.event.thread]);
        if (pt_map64_get(index, key) == PT_NONE)
            continue;
        *pt_map64_at(index, key) = count;
        events[count++] = reader.event;
    }
    free(seen);
    return events;
}

static void meet_all(struct reverse *reverse)
{
    struct races_predict *known = reverse->r->predict, *c = &reverse->candidates;
    struct pt_map64 index;
    if (!known->meeting.log || !c->count)
        return;
    pt_map64_init(&index);
    struct pt_log_event *events = find_events(reverse, &index);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct races_predicted *race = &c->found[i];
        const struct pt_log_event *one = &events[pt_map64_get(&index, target_key(race->first, race->first_number))],
                                  *other = &events[pt_map64_get(&index, target_key(race->second, race->second_number))];
        const uint64_t both[] = {one->event, other->event};
        if (pt_map64_get(&known->index, race->key) != PT_NONE || !pt_meeting_find(&known->meeting, both, 2))
            continue;
        pt_races_predicted_meet(reverse->r, race, one, other);
        *pt_map64_at(&known->index, race->key) = 0;
    }
    free(events);
    pt_map64_release(&index);
}

static bool is_open(void *context, const struct pt_syncp_group *one, const struct pt_syncp_group *other)
{
    return pt_races_predicted_is_open(((struct reverse *)context)->r, one, other);
}

/* Pairs that are left open, first by what accesses need if reads see what they saw, then by what they need anyway. */
static void ask(struct reverse *reverse)
{
    struct races *r = reverse->r;
    struct races_predict *c = &reverse->candidates;
    *c = (struct races_predict){0};
    pt_trf_begin(&c->trf, r->names, &r->predict->memory);
    c->trf.plain = c->trf.settles = true;
    c->trf.futures = r->predict->trf.futures;
    c->trf.future_count = r->predict->trf.future_count;
    for (uint32_t i = 0; i < r->thread_count; i++) /* those act, and what they race with is kept */
        if (r->threads[i].begun && !r->threads[i].forked)
            pt_trf_thread(&c->trf, i);
    pt_syncp_begin(&c->syncp, &c->trf, keep_candidate, reverse);
    c->syncp.asks_for = is_open;
    c->syncp.wanted = r->predict->candidates;
    pt_map64_init(&c->index);
    collect(reverse);
    number_locks(reverse);
    if (!reverse->blind)
        try_all(reverse);
    meet_all(reverse);
    for (uint32_t i = 0; i < c->count; i++)
        free(c->found[i].set);
    free(c->found);
    pt_syncp_end(&c->syncp);
    pt_trf_end(&c->trf);
    pt_map64_release(&c->index);
}

/* Whether two accesses may be found of which none needs the other by what reads saw: not where all of each variable did
 * in the order `sync`, and locks added nothing to what they need. */
static bool may_be_apart(const struct races_predict *p)
{
    bool apart = p->trf.added || p->own;
    for (size_t i = 0; i < p->syncp.var_cap && !apart; i++)
        apart = p->syncp.vars[i].asks && p->candidates[i];
    return apart;
}

void pt_races_reverse(struct races *r)
{
    struct reverse reverse = {.r = r};
    if (!r->predict->looked_for && !r->predict->own)
        return; /* all that is asked for was found */
    pt_map64_init(&reverse.asked);
    pt_map64_init(&reverse.told);
    if (may_be_apart(r->predict) || r->predict->meeting.log)
        ask(&reverse);
    reverse.blind = true;
    if (r->predict->meeting.log)
        ask(&reverse);
    pt_map64_release(&reverse.asked);
    pt_map64_release(&reverse.told);
    free(reverse.blocks);
}
