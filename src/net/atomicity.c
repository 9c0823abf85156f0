/*
 * Verdicts for all blocks. By default: blocks of identical threads share one verdict (reduce.c), the rest are taken in
 * groups, and for each group one net that follows chains of causes (path.c) is unfolded until every block of it has a
 * violation or the prefix is complete. Groups are independent, so several threads may share them; their size is fixed,
 * so that the answer does not depend on how many do. Of a program with many threads, plain violations are looked for
 * before that (quick.c). With `plain` the paper's net is unfolded with colours, all blocks at once; with `contextual`,
 * that with a place per variable and read arcs.
 *
 * Sound and complete for the net of the paper, that is with data abstracted: a violation comes with a witness that has
 * been checked against Definition 3 on the program itself (witness.c); its absence rests on the completeness of the
 * prefix.
 */
#include "net/atomicity.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "net/contract.h"
#include "net/model.h"
#include "net/quick.h"
#include "net/reduce.h"
#include "net/unfold.h"

enum { GROUP = 32 };
enum { MANY_THREADS = 16 }; /* from so many on that differ, plain violations are looked for first */

struct check {
    const struct pt_program *program;
    const struct pt_atomicity_options *options;
    struct pt_reduction reduction;
    struct pt_atomicity *result;
    uint32_t *blocks; /* those that are looked at */
    uint32_t block_count;
    uint32_t next_group;   /* not taken by a thread yet */
    pthread_mutex_t mutex; /* of next_group, result and failure */
    enum pt_status status;
    struct pt_err err;
};

/* The steps of a violation's local configuration, e2 last, and which of them is the guessed begin. */
static uint32_t *violation_steps(const struct pt_model *model, const struct pt_unfolding *u, uint32_t event,
                                 uint32_t *ret_count, uint32_t *ret_begin)
{
    uint32_t events, count = 0, *steps = pt_unfolding_history(u, event, &events);
    *ret_begin = 0;
    for (uint32_t i = 0; i < events; i++) {
        uint32_t t = u->events[steps[i]].transition;
        if (model->meanings[t].role == PT_ROLE_GUESS)
            *ret_begin = count;
        if (model->steps[t] != PT_NONE)
            steps[count++] = model->steps[t];
    }
    *ret_count = count;
    return steps;
}

static bool has_witness(const struct pt_block_verdict *verdict, uint32_t step)
{
    for (uint32_t i = 0; i < verdict->witness_count; i++) {
        const struct pt_witness *w = &verdict->witnesses[i];
        if (w->events[w->later].step == step)
            return true;
    }
    return false;
}

static enum pt_status add_witness(struct check *c, uint32_t block, const uint32_t *steps, uint32_t count,
                                  uint32_t begin, struct pt_err *err)
{
    struct pt_block_verdict *verdict = &c->result->blocks[block];
    struct pt_witness witness;
    if (has_witness(verdict, steps[count - 1]) || (verdict->witness_count > 0 && !c->options->all))
        return PT_OK;
    enum pt_status status = pt_witness_make(c->program, block, steps, count, begin, &c->result->arena, &witness, err);
    if (status != PT_OK)
        return status;
    struct pt_witness *list = pt_arena_alloc(&c->result->arena, (verdict->witness_count + 1) * sizeof *list);
    if (verdict->witness_count)
        memcpy(list, verdict->witnesses, verdict->witness_count * sizeof *list);
    list[verdict->witness_count++] = witness;
    verdict->witnesses = list;
    verdict->atomic = PT_ATOMIC_NO;
    return PT_OK;
}

/* Takes over what an unfolding found; `blocks` are those of the model. */
static enum pt_status take_over(struct check *c, const struct pt_model *model, const uint32_t *blocks,
                                const struct pt_unfolding *u, struct pt_err *err)
{
    struct pt_atomicity *result = c->result;
    for (uint32_t i = 0; i < u->violation_count; i++) {
        uint32_t count, begin;
        uint32_t *steps = violation_steps(model, u, u->violations[i].event, &count, &begin);
        if (model->silent) {
            uint32_t *shown =
                pt_contraction_expand(c->program, &c->reduction, model->silent, steps, count, &begin, &count);
            free(steps);
            steps = shown;
        }
        enum pt_status status = add_witness(c, blocks[u->violations[i].block], steps, count, begin, err);
        free(steps);
        if (status != PT_OK)
            return status;
    }
    for (uint32_t b = 0; b < model->block_count; b++) {
        struct pt_block_verdict *verdict = &result->blocks[blocks[b]];
        if (u->limit.status != PT_OK && verdict->atomic == PT_ATOMIC_YES)
            verdict->atomic = PT_ATOMIC_UNKNOWN;
    }
    if (u->limit.status != PT_OK)
        result->limit = pt_arena_strndup(&result->arena, u->limit.message, strlen(u->limit.message));
    result->events += u->occurrence_count;
    result->histories += u->event_count - 1;
    result->cutoffs += u->cutoff_count;
    result->conditions += u->condition_total;
    result->peak_bytes = u->peak_bytes > result->peak_bytes ? u->peak_bytes : result->peak_bytes;
    return PT_OK;
}

static void report_progress(void *context, uint64_t events)
{
    struct check *c = context;
    pthread_mutex_lock(&c->mutex);
    c->options->progress(c->options->progress_context, events);
    pthread_mutex_unlock(&c->mutex);
}

static enum pt_status unfold_model(struct check *c, const struct pt_model *model, const uint32_t *blocks,
                                   struct pt_err *err)
{
    const struct pt_atomicity_options *o = c->options;
    struct pt_unfold_options options = {.net = &model->net,
                                        .meanings = model->meanings,
                                        .block_threads = model->block_threads,
                                        .block_count = model->block_count,
                                        .restart = model->restart,
                                        .coloured = o->plain,
                                        .drop_settled = !o->plain && !o->all,
                                        .all = o->all,
                                        .event_limit = o->event_limit,
                                        .memory_limit = o->memory_limit / (o->jobs ? o->jobs : 1),
                                        .progress = o->progress ? report_progress : NULL,
                                        .progress_context = c};
    struct pt_unfolding u;
    enum pt_status status = pt_unfold(&options, &u, err);
    if (status != PT_OK)
        return status;
    pthread_mutex_lock(&c->mutex);
    status = take_over(c, model, blocks, &u, err);
    pthread_mutex_unlock(&c->mutex);
    pt_unfolding_release(&u);
    return status;
}

static enum pt_status check_group(struct check *c, uint32_t group, struct pt_err *err)
{
    const uint32_t *blocks = c->blocks + (size_t)group * GROUP;
    uint32_t count = c->block_count - group * GROUP;
    struct pt_model model;
    pt_model_init(&model);
    pt_path_build(c->program, &c->reduction, blocks, count < GROUP ? count : GROUP, &model);
    enum pt_status status = unfold_model(c, &model, blocks, err);
    pt_model_release(&model);
    return status;
}

static void *work(void *context)
{
    struct check *c = context;
    uint32_t groups = (c->block_count + GROUP - 1) / GROUP;
    for (;;) {
        pthread_mutex_lock(&c->mutex);
        uint32_t group = c->next_group++;
        bool go_on = group < groups && c->status == PT_OK;
        pthread_mutex_unlock(&c->mutex);
        if (!go_on)
            return NULL;
        struct pt_err err;
        enum pt_status status = check_group(c, group, &err);
        pthread_mutex_lock(&c->mutex);
        if (status != PT_OK && c->status == PT_OK) {
            c->status = status;
            c->err = err;
        }
        pthread_mutex_unlock(&c->mutex);
    }
}

static void check_groups(struct check *c)
{
    uint32_t groups = (c->block_count + GROUP - 1) / GROUP, started = 0;
    uint32_t helpers = (c->options->jobs < groups ? c->options->jobs : groups);
    pthread_t *threads = pt_xcalloc(helpers, sizeof *threads);
    while (started + 1 < helpers && pthread_create(&threads[started], NULL, work, c) == 0)
        started++;
    (void)work(c);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static void check_plain(struct check *c)
{
    struct pt_model model;
    pt_model_init(&model);
    pt_model_build(c->program,
                   (struct pt_model_options){.variables = true, .read_arcs = c->options->contextual, .guesses = true},
                   &model);
    c->status = unfold_model(c, &model, c->blocks, &c->err);
    pt_model_release(&model);
}

/*
 * Whether a lock that is free can be released, or a thread started twice: by unfolding the net without its variables,
 * on which what can happen does not depend. Not needed where the graphs of the threads show it (reduce.c).
 */
static void check_safety(struct check *c)
{
    struct pt_model model;
    pt_model_init(&model);
    pt_model_build(c->program, (struct pt_model_options){0}, &model);
    struct pt_unfold_options options = {.net = &model.net,
                                        .check_safe = true,
                                        .all = true,
                                        .event_limit = c->options->event_limit,
                                        .memory_limit = c->options->memory_limit,
                                        .progress = c->options->progress ? report_progress : NULL,
                                        .progress_context = c};
    struct pt_unfolding u = {0};
    c->status = pt_unfold(&options, &u, &c->err);
    if (c->status == PT_EINPUT) {
        const struct pt_prog_step *s = &c->program->steps[model.steps[u.unsafe_transition]];
        const char *what =
            s->kind == PT_STEP_SPAWN ? "can start a thread that runs already" : "can happen when nobody holds the lock";
        (void)pt_err_at(&c->err, PT_EINPUT, s->place.file ? s->place.file : "", s->place.line, s->place.column,
                        "'%s' of %s %s", s->text, c->program->threads[s->thread].name, what);
    } else if (c->status == PT_OK) {
        if (u.limit.status != PT_OK)
            c->result->limit = pt_arena_strndup(&c->result->arena, u.limit.message, strlen(u.limit.message));
        pt_unfolding_release(&u);
    }
    pt_model_release(&model);
}

/* The blocks to look at: all, or those of the first of identical threads. */
static void choose_blocks(struct check *c)
{
    const struct pt_program *p = c->program;
    c->blocks = pt_xmalloc((size_t)p->block_count * sizeof *c->blocks);
    for (uint32_t b = 0; b < p->block_count; b++) {
        if (c->options->plain || c->reduction.like[p->blocks[b].thread] == p->blocks[b].thread)
            c->blocks[c->block_count++] = b;
    }
}

static bool has_many_threads(const struct check *c)
{
    uint32_t different = 0;
    for (uint32_t t = 0; t < c->program->thread_count; t++)
        different += c->reduction.like[t] == t;
    return different >= MANY_THREADS;
}

/* Settles the blocks that have a plain violation, and takes them off the list. */
static void check_quickly(struct check *c)
{
    struct pt_quick *quick = pt_quick_new(c->program, &c->reduction);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->block_count; i++) {
        uint32_t block = c->blocks[i], count, begin, *run;
        struct pt_err refused;
        bool found = false;
        while (!found && (run = pt_quick_next(quick, block, &count, &begin)) != NULL) {
            found = add_witness(c, block, run, count, begin, &refused) == PT_OK;
            free(run);
        }
        if (!found)
            c->blocks[kept++] = block;
    }
    c->block_count = kept;
    pt_quick_free(quick);
}

/* The same witness with the roles of two identical threads exchanged. */
static struct pt_witness exchange(struct check *c, const struct pt_witness *w, uint32_t a, uint32_t b)
{
    struct pt_witness copy = *w;
    copy.events = pt_arena_alloc(&c->result->arena, w->count * sizeof *copy.events);
    for (uint32_t i = 0; i < w->count; i++) {
        copy.events[i] = w->events[i];
        uint32_t step = w->events[i].step, thread = c->program->steps[step].thread;
        if (thread == a || thread == b)
            copy.events[i].step = pt_reduction_translate(&c->reduction, step, thread, thread == a ? b : a);
    }
    return copy;
}

/* Gives the blocks of identical threads the verdicts of the first one's. */
static void copy_verdicts(struct check *c)
{
    const struct pt_program *p = c->program;
    uint32_t *first = pt_xmalloc((size_t)p->thread_count * sizeof *first); /* block of each thread */
    memset(first, 0xff, (size_t)p->thread_count * sizeof *first);
    for (uint32_t b = 0; b < p->block_count; b++) {
        uint32_t thread = p->blocks[b].thread, like = c->reduction.like[thread];
        if (first[thread] == PT_NONE)
            first[thread] = b;
        if (like == thread || c->options->plain)
            continue;
        uint32_t model = first[like];
        while (p->blocks[model].thread != like || p->blocks[model].number != p->blocks[b].number)
            model++;
        const struct pt_block_verdict *from = &c->result->blocks[model];
        struct pt_block_verdict *to = &c->result->blocks[b];
        *to = (struct pt_block_verdict){.atomic = from->atomic, .witness_count = from->witness_count};
        to->witnesses = pt_arena_alloc(&c->result->arena, from->witness_count * sizeof *to->witnesses);
        for (uint32_t i = 0; i < from->witness_count; i++)
            to->witnesses[i] = exchange(c, &from->witnesses[i], like, thread);
    }
    free(first);
}

/* The size of the paper's net, which need not be built for it. */
static void count_net(const struct pt_program *p, bool contextual, struct pt_atomicity *result)
{
    result->places = (uint64_t)p->var_count * (contextual ? 1 : p->thread_count) + p->lock_count + (p->block_count > 0);
    result->transitions = p->step_count;
    for (uint32_t t = 0; t < p->thread_count; t++)
        result->places += p->threads[t].node_count;
    for (uint32_t s = 0; s < p->step_count; s++) {
        const struct pt_prog_step *step = &p->steps[s];
        if (step->kind == PT_STEP_BEGIN)
            result->transitions++;
        if (step->kind == PT_STEP_JOIN && p->threads[step->object].stop == PT_NONE)
            result->transitions--;
    }
}

enum pt_status pt_atomicity_check(const struct pt_program *program, const struct pt_atomicity_options *options,
                                  struct pt_atomicity *ret_result, struct pt_err *err)
{
    struct pt_atomicity result = {0};
    struct check c = {.program = program, .options = options, .result = &result, .status = PT_OK};
    pt_arena_init(&result.arena);
    result.blocks = pt_arena_alloc(&result.arena, program->block_count * sizeof *result.blocks);
    pthread_mutex_init(&c.mutex, NULL);
    count_net(program, options->contextual, &result);
    pt_reduction_make(program, &c.reduction);
    choose_blocks(&c);
    if (!c.reduction.safe)
        check_safety(&c);
    if (c.status == PT_OK && !result.limit) {
        if (!options->plain && !options->all && has_many_threads(&c))
            check_quickly(&c);
        if (options->plain)
            check_plain(&c);
        else
            check_groups(&c);
    } else if (c.status == PT_OK) {
        for (uint32_t b = 0; b < program->block_count; b++)
            result.blocks[b].atomic = PT_ATOMIC_UNKNOWN;
    }
    if (c.status == PT_OK)
        copy_verdicts(&c);
    pt_reduction_release(&c.reduction);
    free(c.blocks);
    pthread_mutex_destroy(&c.mutex);
    if (c.status != PT_OK) {
        *err = c.err;
        pt_arena_release(&result.arena);
        return c.status;
    }
    *ret_result = result;
    return PT_OK;
}

void pt_atomicity_release(struct pt_atomicity *result)
{
    pt_arena_release(&result->arena);
    *result = (struct pt_atomicity){0};
}
