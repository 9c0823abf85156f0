/*
 * Races that the recorded run does not have, but another run of the same events has (contract section 10): all of the
 * order `sync`, found by predict/syncp.h in a second look at the events, which are kept packed, where there are
 * variables that may have one (races_guarded.c). Pairs of places that the recorded run has a race at are left to that;
 * of the others each becomes a finding with the run that leads there as its witness. A variable all of whose pairs of
 * places are told is not looked at any more, and the second look ends when no variable is left.
 *
 * Guarantee: a race is reported only after predict/replays.c, or where sections change places predict/replay.c, has
 * played its run, at the end of which both accesses must be next. Cost: a few bytes for each event (predict/log.c);
 * where some variable may have a race that of predict/trf.c for each event and of predict/syncp.c for accesses of such
 * variables; a pass over the events for every 512 findings, and one for each that has a witness.
 */
#include <stdlib.h>
#include <string.h>

#include "core/finding_key.h"
#include "core/hash.h"
#include "engine/predict.h"
#include "engine/races_predict.h"

/* What a variable is called in a finding's key: blocks have numbers as they come, which say nothing. */
static const char *key_name(const struct races *r, uint32_t var)
{
    return var < r->var_cap && r->vars[var].heap ? "0x" : pt_name(r->names, PT_SPACE_VAR, var);
}

uint64_t pt_races_predicted_key(const struct races *r, const struct pt_syncp_race *race)
{
    const char *name = key_name(r, race->first->var);
    return pt_finding_key_race((struct pt_finding_side){pt_name(r->names, PT_SPACE_LOC, race->first->loc), name},
                               (struct pt_finding_side){pt_name(r->names, PT_SPACE_LOC, race->second->loc), name});
}

void pt_races_predicted_add(struct races_predict *p, uint64_t key, const struct pt_syncp_race *race)
{
    uint32_t threads = p->trf.thread_count;
    struct races_predicted new = {.key = key,
                                  .at = p->at,
                                  .var = race->first->var,
                                  .first = race->first->thread,
                                  .second = race->second->thread,
                                  .first_number = race->first_number,
                                  .second_number = race->second_number,
                                  .first_locks = race->first->locks,
                                  .second_locks = race->second->locks,
                                  .set = pt_xcalloc((size_t)threads + 1, sizeof *new.set),
                                  .threads = threads};
    memcpy(new.set, race->set, threads * sizeof *new.set);
    pt_trf_complete(&p->trf, new.set);
    PT_PUSH(p->found, p->count, p->cap, new);
}

/* Whether the check alone asks, whoever the threads are. */
static bool asks_alone(const struct races *r)
{
    return r->asker_count == 1 && !r->askers[0].wants;
}

static bool look_up(const struct races *r, const struct pt_syncp_group *one, const struct pt_syncp_group *other)
{
    const struct pt_syncp_race race = {.first = one, .second = other};
    const struct races_predicted asked = {
        .key = pt_races_predicted_key(r, &race), .var = one->var, .first = one->thread, .second = other->thread};
    return pt_map64_get(&r->predict->index, asked.key) == PT_NONE && pt_races_predicted_is_asked(r, &asked);
}

/* What pt_races_predicted_is_open keeps of the two places. */
static uint32_t *open_at(struct races_predict *p, const struct pt_syncp_group *one, const struct pt_syncp_group *other)
{
    return pt_map64_at(&p->open,
                       pt_mix64((uint64_t)one->loc << 32 | other->loc) + one->var * UINT64_C(0x9e3779b97f4a7c15));
}

/* Many pairs of groups have the same places; where the check alone asks, these decide. */
bool pt_races_predicted_is_open(struct races *r, const struct pt_syncp_group *one, const struct pt_syncp_group *other)
{
    if (!asks_alone(r))
        return look_up(r, one, other);
    uint32_t *open = open_at(r->predict, one, other);
    if (*open == PT_NONE)
        *open = look_up(r, one, other);
    return *open;
}

static bool is_open(void *context, const struct pt_syncp_group *one, const struct pt_syncp_group *other)
{
    return pt_races_predicted_is_open(context, one, other);
}

static bool asks(void *context, uint32_t var, uint32_t loc, uint32_t other_loc)
{
    const struct pt_syncp_group one = {.var = var, .loc = loc}, other = {.var = var, .loc = other_loc};
    return look_up(context, &one, &other);
}

/* The variables that the second look is for; NULL: none. */
static bool *find_candidates(struct races *r)
{
    return pt_guarded_candidates(&r->predict->guarded, r->names, r->predict->roots, asks_alone(r) ? asks : NULL, r);
}

/* The places have a race, which is told once; perhaps the variable was looked at for these alone. */
static void close_places(struct races *r, const struct pt_syncp_race *race)
{
    struct races_predict *p = r->predict;
    uint32_t var = race->first->var;
    if (!asks_alone(r))
        return;
    *open_at(p, race->first, race->second) = *open_at(p, race->second, race->first) = false;
    p->syncp.vars[var].told++;
    if (!pt_guarded_is_open(&p->guarded, r->names, p->roots, var, asks, r)) {
        (p->own ? p->own : p->candidates)[var] = false;
        p->looked_for--;
    }
}

static bool found(void *context, const struct pt_syncp_race *race)
{
    struct races *r = context;
    struct races_predict *p = r->predict;
    uint64_t key = pt_races_predicted_key(r, race);
    uint32_t *index = pt_map64_at(&p->index, key);
    if (*index != PT_NONE)
        return true;
    if (p->count > PT_CHECK_FINDINGS_MAX && !p->own) /* else others may have found earlier ones of that pair */
        return true;
    *index = p->count;
    pt_races_predicted_add(p, key, race);
    close_places(r, race);
    return true;
}

struct races_predict *pt_races_predict_begin(struct races *r)
{
    struct races_predict *p = pt_xcalloc(1, sizeof *p);
    p->memory = pt_races_memory(&p->pool);
    pt_trf_begin(&p->trf, r->names, &p->memory);
    p->trf.forgets = p->trf.settles = true;
    pt_syncp_begin(&p->syncp, &p->trf, found, r);
    p->syncp.asks_for = is_open;
    p->syncp.found = found;
    pt_map64_init(&p->index);
    pt_map64_init(&p->open);
    pt_guarded_begin(&p->guarded);
    pt_meeting_begin(&p->meeting, r->names, &r->options);
    p->trf.bounded = r->options.near && r->options.near != PT_ALL;
    if (p->trf.bounded)
        p->step = r->options.near / 2 + 1;
    return p;
}

bool pt_races_predicts_all(const struct races_predict *p)
{
    return !p->step;
}

void pt_races_predict_free(struct races_predict *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        free(p->found[i].set);
    free(p->found);
    free(p->ended);
    free(p->futures);
    free(p->candidates);
    free(p->own);
    pt_guarded_end(&p->guarded);
    pt_syncp_end(&p->syncp);
    pt_vec_drop(&p->memory, p->steps[0]);
    pt_vec_drop(&p->memory, p->steps[1]);
    pt_trf_end(&p->trf);
    pt_log_release(&p->log);
    pt_witnesses_release(&p->witnesses);
    pt_meeting_end(&p->meeting);
    pt_map64_release(&p->index);
    pt_map64_release(&p->open);
    pt_races_memory_release(&p->pool);
    free(p);
}

size_t pt_races_predict_bytes(const struct races_predict *p)
{
    return p->pool.bytes + p->log.bytes + pt_trf_bytes(&p->trf) + pt_syncp_bytes(&p->syncp) +
           p->future_cap * sizeof *p->futures + pt_meeting_bytes(&p->meeting) + pt_guarded_bytes(&p->guarded) +
           p->count * (sizeof *p->found + p->trf.thread_count * sizeof *p->found->set);
}

static void take_step(struct races_predict *p)
{
    if (p->steps[0])
        pt_trf_raise(&p->trf, p->steps[0]);
    p->steps[0] = p->steps[1];
    p->steps[1] = pt_trf_now(&p->trf);
    p->syncp.prune_at = 0;
}

void pt_races_predict_keep(struct races_predict *p, const struct pt_event *event)
{
    pt_meeting_event(&p->meeting, event);
}

/* The event is the next one of the log. */
static void note_future(struct races_predict *p, const struct pt_event *event)
{
    PT_ROOM(p->futures, p->future_cap, event->thread);
    if (event->op == PT_OP_JOIN) {
        PT_ROOM(p->futures, p->future_cap, event->object);
        struct pt_trf_future *joined = &p->futures[event->object];
        joined->joiner = event->thread + 1;
        joined->joined_from = p->futures[event->thread].asks_until;
    } else if (pt_op_space(event->op) != PT_SPACE_LOCK && pt_op_space(event->op) != PT_SPACE_OTHER) {
        p->futures[event->thread].asks_until = p->log.count + 1;
    }
}

void pt_races_predict_event(struct races *r, const struct pt_event *event)
{
    struct races_predict *p = r->predict;
    if (event->op == PT_OP_STATE && strcmp(pt_name(r->names, PT_SPACE_STATE, event->object), "ended") == 0) {
        struct races_ended ended = {p->log.count, event->thread};
        PT_PUSH(p->ended, p->ended_count, p->ended_cap, ended);
    }
    if (!pt_trf_counts(event->op))
        return;
    note_future(p, event);
    pt_guarded_event(&p->guarded, event);
    pt_log_add(&p->log, event, r->run.events);
}

/* ---- the second look ---- */

/* Threads that nobody forked, which know nothing of the others until they act; `all`: and others. */
static uint32_t begin_threads(struct races *r, bool all)
{
    uint32_t begun = 0;
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (!r->threads[i].begun || (r->threads[i].forked && !all))
            continue;
        pt_trf_thread(&r->predict->trf, i);
        begun++;
    }
    return begun;
}

/* Ends with the run, or once all races that are asked for were found. False: there was not enough memory for all. */
static bool follow(struct races *r)
{
    struct races_predict *p = r->predict;
    struct pt_log_reader reader;
    uint64_t index = 0;
    uint32_t ended = 0;
    for (pt_log_start(&reader, &p->log); p->looked_for && pt_log_next(&reader); index++) {
        struct pt_event event = pt_log_as_event(&reader.event);
        for (; ended < p->ended_count && p->ended[ended].at <= index; ended++)
            pt_trf_thread(&p->trf, p->ended[ended].thread)->ended = true;
        if (p->step && (index + 1) % p->step == 0)
            take_step(p);
        p->at = index;
        pt_syncp_event(&p->syncp, &event);
        pt_trf_event(&p->trf, &event);
        if (index % RACES_WATCH_EVERY == 0) {
            pt_races_watch_memory(r);
            if (!r->predict || r->run.stopped)
                return false;
        }
    }
    begin_threads(r, true); /* runs are played with all of them */
    return true;
}

/* ---- findings ---- */

static const char *const *list_locks(const struct races *r, struct pt_finding *f, uint32_t set)
{
    const struct pt_strtab *sets = &r->predict->syncp.lock_sets;
    uint32_t count = set == PT_NONE ? 0 : pt_strtab_len(sets, set) / (uint32_t)sizeof(uint32_t);
    const char **names = pt_arena_alloc(&f->arena, (count + 1) * sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id;
        memcpy(&id, pt_strtab_text(sets, set) + i * sizeof id, sizeof id);
        names[i] = pt_name(r->names, PT_SPACE_LOCK, id >> 1);
    }
    return names;
}

static struct pt_side make_side(const struct races *r, struct pt_finding *f, const struct pt_log_event *event,
                                uint32_t locks)
{
    struct pt_cell_access access = {
        .place = event->loc, .op = event->op, .note = {event->event, event->stack, PT_NONE}};
    struct pt_side side = pt_races_side(r, f, &access, event->thread, f->object);
    side.locks = list_locks(r, f, locks);
    return side;
}

/* Whether the two accesses, which are next after a run, are the race's. */
static bool is_race(const uint64_t *upto, const struct races_predicted *race, const struct pt_log_event *one,
                    const struct pt_log_event *other)
{
    return one && other && upto[race->first] + 1 == race->first_number &&
           upto[race->second] + 1 == race->second_number && one->thread != other->thread &&
           (pt_op_writes(one->op) || one->op == PT_OP_FREE || pt_op_writes(other->op) || other->op == PT_OP_FREE);
}

/* `run`: what leads there; NULL: the meeting has it. */
static void report(struct races *r, struct pt_finding *whose, const struct races_predicted *race,
                   const struct pt_log_event *one, const struct pt_log_event *other, const char *order,
                   const struct pt_replay_run *run)
{
    struct races_predict *p = r->predict;
    struct pt_finding *f = pt_races_add(whose, PT_HOW_PREDICTED);
    if (!f)
        return;
    f->order = order;
    f->object = pt_name(r->names, PT_SPACE_VAR, race->var);
    f->count = 1; /* that there are more is not asked */
    f->sides = pt_arena_alloc(&f->arena, 2 * sizeof *f->sides);
    f->sides[0] = make_side(r, f, one, race->first_locks);
    f->sides[1] = make_side(r, f, other, race->second_locks);
    f->side_count = 2;
    if (race->var < r->var_cap && r->vars[race->var].heap)
        pt_races_tell_block(r, f, pt_races_block_of(r, race->var, &(bool){0}));
    if (run)
        pt_predict_witness(&p->witnesses, f, r->names, &p->log, run);
    else
        pt_meeting_witness(&p->meeting, &p->witnesses, f);
}

static bool is_asked(const struct races *r, const struct races_asker *asker, const struct races_predicted *race)
{
    return pt_races_is_asked(r, asker, race->key, pt_name(r->names, PT_SPACE_VAR, race->var), race->first,
                             race->second);
}

bool pt_races_predicted_is_asked(const struct races *r, const struct races_predicted *race)
{
    for (uint32_t i = 0; i < r->asker_count; i++)
        if (is_asked(r, &r->askers[i], race))
            return true;
    return false;
}

/* To all who ask for it. */
static void tell(struct races *r, const struct races_predicted *race, const struct pt_log_event *one,
                 const struct pt_log_event *other, const char *order, const struct pt_replay_run *run)
{
    for (uint32_t i = 0; i < r->asker_count; i++)
        if (is_asked(r, &r->askers[i], race))
            report(r, r->askers[i].finding, race, one, other, order, run);
}

bool pt_races_predicted_report(struct races *r, const struct races_predicted *race, const uint64_t *first,
                               const uint64_t *upto, const char *order)
{
    struct races_predict *p = r->predict;
    struct pt_replay replay;
    const struct pt_replay_run run = {first, upto, p->trf.thread_count};
    bool possible = pt_replay_play(&replay, &p->log, &run);
    const struct pt_log_event *one = possible ? pt_replay_next(&replay, race->first) : NULL,
                              *other = possible ? pt_replay_next(&replay, race->second) : NULL;
    possible = possible && is_race(upto, race, one, other);
    if (possible)
        tell(r, race, one, other, order, &run);
    pt_replay_end(&replay);
    return possible;
}

void pt_races_predicted_meet(struct races *r, const struct races_predicted *race, const struct pt_log_event *one,
                             const struct pt_log_event *other)
{
    tell(r, race, one, other, "values", NULL);
}

/* Some races of the order `sync`, whose runs are played together. */
static void report_some(struct races *r, const struct races_predicted *const *races, uint32_t count)
{
    struct races_predict *p = r->predict;
    struct pt_replays_run runs[PT_REPLAYS] = {0};
    uint32_t asked[PT_REPLAYS][2];
    struct pt_replays replays;
    for (uint32_t i = 0; i < count; i++) {
        asked[i][0] = races[i]->first;
        asked[i][1] = races[i]->second;
        runs[i] = (struct pt_replays_run){races[i]->set, asked[i], 2};
    }
    pt_replays_play(&replays, &p->log, runs, count, p->trf.thread_count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_replay_run run = {races[i]->set, races[i]->set, p->trf.thread_count};
        const struct pt_log_event *one = pt_replays_next(&replays, i, races[i]->first),
                                  *other = pt_replays_next(&replays, i, races[i]->second);
        if (pt_replays_possible(&replays, i) && is_race(run.upto, races[i], one, other))
            tell(r, races[i], one, other, "sync", &run);
        else
            r->run.unknown = "a race's witness could not be replayed, which is a mistake of Portent's own";
    }
    pt_replays_end(&replays);
}

static void report_found(struct races *r)
{
    struct races_predict *p = r->predict;
    const struct races_predicted *some[PT_REPLAYS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        struct races_predicted *race = &p->found[i];
        if (!pt_races_predicted_is_asked(r, race))
            continue;
        race->set = pt_xrealloc(race->set, (p->trf.thread_count + 1) * sizeof *race->set);
        for (; race->threads < p->trf.thread_count; race->threads++)
            race->set[race->threads] = 0;
        some[count++] = race;
        if (count == PT_REPLAYS) {
            report_some(r, some, count);
            count = 0;
        }
    }
    if (count)
        report_some(r, some, count);
}

void pt_races_predict_finish(struct races *r)
{
    struct races_predict *p = r->predict;
    p->trf.futures = p->futures;
    p->trf.future_count = (uint32_t)p->future_cap;
    p->roots = begin_threads(r, false);
    p->syncp.wanted = p->candidates = find_candidates(r);
    bool divides = pt_races_divides(r);
    if (!divides && !pt_group_leads(r->options.group))
        return;
    if (p->candidates && divides) {
        p->syncp.wanted = p->own = pt_xcalloc((size_t)r->names->space[PT_SPACE_VAR].count + 1, sizeof *p->own);
        pt_races_keep_own(r, p->candidates, p->own);
    }
    for (uint32_t i = 0; p->candidates && i < r->names->space[PT_SPACE_VAR].count; i++)
        p->looked_for += p->syncp.wanted[i];
    if (!p->candidates || !follow(r))
        return;
    if (divides)
        pt_races_gather(r);
    if (!pt_group_leads(r->options.group))
        return; /* the first process reports */
    report_found(r);
    if (p->syncp.late && !r->run.unknown)
        r->run.unknown = "a thread that nobody forked begins after accesses were forgotten that it may race with";
    if (r->options.order >= PT_CHECK_VALUES)
        pt_races_reverse(r);
    if (p->meeting.mistake)
        r->run.unknown = p->meeting.mistake;
}
