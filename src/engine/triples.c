/*
 * Triples: two accesses of a variable in one block, a1 and a2, and one by another thread, b, that conflicts with both,
 * which the recorded run has before a1 or after a2. Of all accesses in the block that can be a1 the latest before a2 is
 * taken: whether there is a run depends on a2 and b alone, since what a2 needs contains a1.
 *
 * A run that has a1 and b, b after a1, and after which a2 is next; or one after which both b and a2 are next, so that b
 * can come first. Of a thread's accesses at one place those that fail with an access of another fail with all later
 * ones of it, because these need more: each is tried until it fails, and then never again (SyncP's way,
 * prediction.md 3.3).
 *
 * Guarantee: in the order `sync` a pair of places is found if and only if there is such a run for two accesses there;
 * in `values` some are added (predict/slices.h). Each run is played before it is shown. That no triple is found does
 * not mean that all runs are serializable; accesses of parts of a variable (b=) are not looked at. Cost:
 * predict/trf.c's for each event, a look-up for each pair of places with that variable for each access, and a closure
 * for each access that is tried and fails, or is found.
 */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "engine/triples_impl.h"

enum { TRIES = 4 };                /* of a pair of places, where locks change places */
#define EFFORT (UINT64_C(1) << 28) /* events that are looked at then */

static void begin_run(struct triples *t, bool beyond)
{
    t->beyond = beyond;
    pt_trf_begin(&t->trf, t->names, &t->memory);
    t->trf.plain = beyond;
    t->precede = (struct pt_precede){.trf = &t->trf, .log = &t->log};
    pt_map64_init(&t->in_blocks);
    pt_map64_init(&t->group_index);
    pt_map64_init(&t->pair_index);
}

static void release_triple(struct triples *t, struct triple *triple)
{
    pt_vec_drop(&t->memory, triple->second.at.past);
    pt_vec_drop(&t->memory, triple->between.at.past);
    pt_vec_drop(&t->memory, triple->taken);
}

/* All but the log and what is known. */
static void end_run(struct triples *t)
{
    for (uint32_t i = 0; i < t->group_count; i++) {
        for (uint32_t k = 0; k < t->groups[i].count; k++)
            pt_vec_drop(&t->memory, t->groups[i].accesses[k].at.past);
        free(t->groups[i].accesses);
    }
    for (uint32_t i = 0; i < t->found_count; i++)
        release_triple(t, &t->found[i]);
    pt_precede_release(&t->precede);
    pt_trf_end(&t->trf);
    pt_map64_release(&t->in_blocks);
    pt_map64_release(&t->group_index);
    pt_map64_release(&t->pair_index);
    free(t->vars);
    free(t->seen);
    free(t->lives);
    free(t->groups);
    free(t->pairs);
    free(t->found);
    t->vars = NULL;
    t->seen = NULL;
    t->lives = NULL;
    t->groups = NULL;
    t->pairs = NULL;
    t->found = NULL;
    t->var_cap = t->seen_cap = t->life_cap = t->group_cap = t->pair_cap = t->found_cap = t->bytes = 0;
    t->seen_count = t->group_count = t->pair_count = t->found_count = 0;
}

struct triples *pt_triples_new(const struct pt_names *names, const struct pt_check_options *options)
{
    struct triples *t = pt_xcalloc(1, sizeof *t);
    t->names = names;
    t->options = *options;
    t->memory = pt_races_memory(&t->pool);
    pt_map64_init(&t->known);
    begin_run(t, false);
    return t;
}

void pt_triples_free(struct triples *t)
{
    if (!t)
        return;
    end_run(t);
    pt_map64_release(&t->known);
    pt_log_release(&t->log);
    pt_witnesses_release(&t->witnesses);
    pt_races_memory_release(&t->pool);
    free(t->threads);
    free(t->marks);
    free(t);
}

size_t pt_triples_bytes(const struct triples *t)
{
    return t->pool.bytes + t->log.bytes + pt_trf_bytes(&t->trf) + t->bytes + t->var_cap * sizeof *t->vars +
           t->group_cap * sizeof *t->groups + t->pair_cap * sizeof *t->pairs + t->seen_cap * sizeof *t->seen;
}

/* ---- what an access is ---- */

static uint32_t life_of(const struct triples *t, uint32_t var)
{
    uint32_t block = var < t->trf.var_cap ? t->trf.vars[var].block : 0;
    return block && block <= t->life_cap ? t->lives[block - 1] : 0;
}

static struct triple_seen *seen_at(struct triples *t, const struct pt_log_event *event)
{
    uint32_t *index = pt_map64_at(&t->in_blocks, (uint64_t)event->object << 32 | event->thread);
    if (*index == PT_NONE) {
        const struct triple_seen none = {0};
        *index = t->seen_count;
        PT_PUSH(t->seen, t->seen_count, t->seen_cap, none);
    }
    struct triple_seen *seen = &t->seen[*index];
    if (seen->began != t->threads[event->thread].began)
        *seen = (struct triple_seen){.began = t->threads[event->thread].began};
    return seen;
}

/* Before it is followed. Its past is the thread's. */
static struct triple_access describe(struct triples *t, const struct pt_log_event *event)
{
    const struct pt_trf_thread *thread = &t->trf.threads[event->thread];
    struct triple_access access = {.at = {event->thread, thread->hb.clock, thread->hb.past},
                                   .event = *event,
                                   .block = PT_NONE,
                                   .life = life_of(t, event->object),
                                   .region = thread->region,
                                   .turn = t->vars[event->object].turn};
    if (!t->threads[event->thread].depth)
        return access;
    struct triple_seen *seen = seen_at(t, event);
    access.block = t->threads[event->thread].block;
    access.any = seen->any;
    access.write = seen->write;
    seen->any = (struct triple_first){*event, thread->hb.clock};
    if (pt_op_writes(event->op))
        seen->write = seen->any;
    return access;
}

const struct triple_first *pt_triples_first(const struct triple_access *second, const struct triple_access *between)
{
    const struct triple_first *first = &second->any;
    if (!pt_op_writes(between->event.op)) {
        if (!pt_op_writes(second->event.op))
            return NULL;
        first = &second->write;
    }
    return first->event.event ? first : NULL;
}

static uint32_t group_of(struct triples *t, const struct triple_access *access)
{
    struct triple_var *var = &t->vars[access->event.object];
    uint64_t kind =
        (uint64_t)access->event.op << 4 | (access->any.event.event != 0) << 1 | (access->write.event.event != 0);
    uint64_t key = pt_mix64((uint64_t)access->event.object << 32 | access->event.loc);
    key = pt_mix64(key + pt_mix64((uint64_t)access->event.thread << 32 | kind) + access->life);
    uint32_t *index = pt_map64_at(&t->group_index, key);
    if (*index == PT_NONE) {
        struct triple_group new = {.var = access->event.object, .next = var->groups ? var->groups - 1 : PT_NONE};
        *index = t->group_count;
        PT_PUSH(t->groups, t->group_count, t->group_cap, new);
        var->groups = t->group_count;
    }
    return *index;
}

/* Of one region, and while no other thread has accessed the variable, the last stands for all. */
static void keep(struct triples *t, uint32_t index, const struct triple_access *access)
{
    struct triple_group *group = &t->groups[index];
    struct triple_access *last = group->count ? &group->accesses[group->count - 1] : NULL;
    if (last && last->region == access->region && last->turn == access->turn) {
        struct pt_vec *past = last->at.past; /* the same */
        *last = *access;
        last->at.past = past;
        return;
    }
    size_t cap = group->cap;
    PT_PUSH(group->accesses, group->count, group->cap, *access);
    t->bytes += (group->cap - cap) * sizeof *access;
    if (access->at.past)
        pt_vec_ref(&t->memory, access->at.past);
}

/* ---- runs ---- */

static struct triple_pair *pair_at(struct triples *t, uint32_t second, uint32_t between)
{
    uint32_t *index = pt_map64_at(&t->pair_index, (uint64_t)second << 32 | between);
    if (*index == PT_NONE) {
        const struct triple_pair none = {0};
        *index = t->pair_count;
        PT_PUSH(t->pairs, t->pair_count, t->pair_cap, none);
    }
    return &t->pairs[*index];
}

static struct pt_vec *ref(const struct triples *t, struct pt_vec *vec)
{
    return vec ? pt_vec_ref(&t->memory, vec) : NULL;
}

struct pt_precede_question pt_triples_ask(const struct triple *triple, struct pt_precede_event events[2])
{
    events[0] = triple->second.at;
    events[1] = triple->between.at;
    if (triple->within)
        events[1].past = triple->taken;
    return (struct pt_precede_question){
        .taken = &events[1], .taken_count = triple->within, .next = events, .next_count = triple->within ? 1 : 2};
}

/* Where locks change places: whether neither needs the other. */
static bool is_possible(struct triples *t, const struct triple *triple)
{
    struct pt_precede_event events[2];
    const struct pt_precede_question q = pt_triples_ask(triple, events);
    if (!t->beyond)
        return pt_precede_sync(&t->precede, &q);
    return pt_vec_at(events[1].past, events[0].thread) < events[0].number &&
           (triple->within || pt_vec_at(events[0].past, events[1].thread) < events[1].number);
}

/* Whether it is one; then it is kept. Where locks change places it is kept to be tried, a few times for each pair. */
static bool try(struct triples *t, struct triple_pair *pair, const struct triple *triple)
{
    if (pt_map64_get(&t->known, pt_triples_key(t, triple)) != PT_NONE) {
        pair->found = true;
        return true;
    }
    if (!is_possible(t, triple))
        return false;
    struct triple copy = *triple;
    ref(t, copy.second.at.past);
    ref(t, copy.between.at.past);
    ref(t, copy.taken);
    PT_PUSH(t->found, t->found_count, t->found_cap, copy);
    pair->found = !t->beyond || ++pair->tries >= TRIES;
    if (!t->beyond)
        *pt_map64_at(&t->known, pt_triples_key(t, triple)) = 1;
    return pair->found;
}

/* b is the present access, the others are accesses that may be a2. */
static void try_earlier(struct triples *t, uint32_t second, uint32_t between, const struct triple_access *b,
                        struct pt_vec *taken, bool within)
{
    struct triple_pair *pair = pair_at(t, second, between);
    const struct triple_group *group = &t->groups[second];
    uint32_t *cursor = within ? &pair->within : &pair->next;
    for (; !pair->found && *cursor < group->count; (*cursor)++) {
        const struct triple triple = {group->accesses[*cursor], *b, taken, within};
        if (pt_triples_first(&triple.second, b) && try(t, pair, &triple))
            return;
    }
}

/* a2 is the present access, the others are accesses before a1 that may be b. */
static void try_later(struct triples *t, uint32_t second, uint32_t between, const struct triple_access *a2)
{
    struct triple_pair *pair = pair_at(t, second, between);
    const struct triple_group *group = &t->groups[between];
    for (; !pair->found && pair->before < group->count; pair->before++) {
        const struct triple triple = {*a2, group->accesses[pair->before], NULL, false};
        const struct triple_first *first = pt_triples_first(a2, &triple.between);
        if (!first || triple.between.event.event > first->event.event || try(t, pair, &triple))
            return;
    }
}

/* With all groups of other threads. `after`: it was followed, and `taken` is what it needs now. */
static void try_groups(struct triples *t, uint32_t own, const struct triple_access *access, bool after)
{
    for (uint32_t i = t->vars[access->event.object].groups - 1; i != PT_NONE; i = t->groups[i].next) {
        const struct triple_group *group = &t->groups[i];
        if (!group->count || group->accesses->at.thread == access->at.thread || group->accesses->life != access->life)
            continue;
        if (group->accesses->any.event.event && pt_triples_first(group->accesses, access))
            try_earlier(t, i, own, access, after ? t->trf.threads[access->at.thread].hb.past : NULL, after);
        if (!after && access->any.event.event && pt_triples_first(access, group->accesses))
            try_later(t, own, i, access);
    }
}

static void on_access(struct triples *t, const struct pt_log_event *event, const struct pt_event *as)
{
    PT_ROOM(t->vars, t->var_cap, event->object);
    struct triple_var *var = &t->vars[event->object];
    if (var->thread != event->thread + 1) {
        var->thread = event->thread + 1;
        var->turn++;
    }
    pt_trf_before_access(&t->trf, as);
    struct triple_access access = describe(t, event);
    ref(t, access.at.past); /* what it reads may replace it */
    uint32_t own = group_of(t, &access);
    try_groups(t, own, &access, false);
    pt_trf_event(&t->trf, as);
    try_groups(t, own, &access, true);
    keep(t, own, &access);
    pt_vec_drop(&t->memory, access.at.past);
}

/* ---- the run ---- */

static void on_block(struct triples *t, const struct pt_log_event *event)
{
    struct triple_thread *thread = &t->threads[event->thread];
    if (event->op == PT_OP_END) {
        thread->depth -= thread->depth > 0;
        return;
    }
    if (thread->depth++)
        return;
    thread->block = event->object;
    thread->began = ++t->block_count;
}

static void follow(struct triples *t, const struct pt_log_event *event)
{
    PT_ROOM(t->threads, t->thread_cap, event->thread);
    struct pt_event as = pt_log_as_event(event);
    if (event->op == PT_OP_BEGIN || event->op == PT_OP_END) {
        on_block(t, event);
        return;
    }
    pt_trf_thread(&t->trf, event->thread);
    if (event->op == PT_OP_ALLOC) {
        PT_ROOM(t->lives, t->life_cap, event->object);
        t->lives[event->object]++;
    }
    if (pt_op_space(event->op) == PT_SPACE_VAR && !event->to)
        on_access(t, event, &as);
    else
        pt_trf_event(&t->trf, &as);
}

void pt_triples_event(struct triples *t, const struct pt_event *event, uint64_t number)
{
    bool block = event->op == PT_OP_BEGIN || event->op == PT_OP_END;
    if (!block && !pt_trf_counts(event->op))
        return;
    const struct pt_log_event as = {.event = number,
                                    .thread = event->thread,
                                    .object = event->object,
                                    .loc = event->loc,
                                    .stack = event->stack,
                                    .from = event->from,
                                    .to = event->to,
                                    .op = event->op,
                                    .atomic = event->order != PT_MEMORY_NONE};
    if (!block)
        pt_log_add(&t->log, event, number);
    else
        PT_PUSH(t->marks, t->mark_count, t->mark_cap, as);
    follow(t, &as);
}

/* Once more, with what events need without what locks add. */
static void follow_again(struct triples *t)
{
    struct pt_log_reader reader;
    uint32_t mark = 0;
    end_run(t);
    begin_run(t, true);
    memset(t->threads, 0, t->thread_cap * sizeof *t->threads);
    for (pt_log_start(&reader, &t->log); pt_log_next(&reader);) {
        while (mark < t->mark_count && t->marks[mark].event < reader.event.event)
            follow(t, &t->marks[mark++]);
        follow(t, &reader.event);
    }
}

static bool find_run(struct triples *t, const struct triple *triple, bool pull, uint64_t *effort)
{
    if (!t->beyond)
        return is_possible(t, triple);
    struct pt_precede_event events[2];
    const struct pt_precede_question q = pt_triples_ask(triple, events);
    return pt_precede_slices(&t->precede, &q, pull, effort);
}

const char *pt_triples_finish(struct triples *t, const struct pt_full_run *run, struct pt_finding *finding)
{
    const char *unknown = NULL;
    uint64_t effort = EFFORT;
    const int most = t->options.order >= PT_CHECK_VALUES ? 1 : 0;
    for (int beyond = 0; beyond <= most; beyond++) {
        if (beyond)
            follow_again(t);
        for (uint32_t i = 0; i < t->found_count && effort; i++) {
            const struct triple *triple = &t->found[i];
            bool done = beyond && pt_map64_get(&t->known, pt_triples_key(t, triple)) != PT_NONE;
            for (int pull = 0; pull <= beyond && !done && effort; pull++)
                done = find_run(t, triple, pull, &effort) && pt_triples_report(t, triple, run, finding);
            if (!beyond && !done)
                unknown = "a run could not be replayed, which is a mistake of Portent's own";
        }
    }
    return unknown;
}
