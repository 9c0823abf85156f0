/*
 * Program to Petri net, as in Fig. 4 of the paper. Places: one per node of a thread's graph, one per lock (marked:
 * free), and n per variable, one for each thread. A read takes its thread's token of the variable and puts it back; a
 * write takes all n. So two reads are independent, and every other pair of accesses is not. A transition per step.
 *
 * With read arcs: one place per variable, which a read reads and a write consumes and puts back. Dependence is the
 * same: a write comes after the reads in its history, and reads are not ordered with each other.
 *
 * With guesses: one marked place `choice` and, beside every `begin`, a second transition that also consumes it, so that
 * one occurrence of one block is guessed per run (contract section 9).
 *
 * A preset starts with its control place, which is what the unfolder's search for co-sets looks at first.
 */
#include "net/model.h"

#include <stdlib.h>

#include "base/buf.h"

void pt_model_init(struct pt_model *model)
{
    *model = (struct pt_model){0};
    pt_net_init(&model->net);
}

void pt_model_release(struct pt_model *model)
{
    pt_net_release(&model->net);
    free(model->meanings);
    free(model->steps);
    free(model->block_threads);
    free(model->silent);
    free(model->restart);
    *model = (struct pt_model){0};
}

uint32_t pt_model_add(struct pt_model *model, uint32_t step, struct pt_meaning meaning, const uint32_t *pre,
                      uint32_t pre_count, const uint32_t *post, uint32_t post_count)
{
    uint32_t t = pt_net_add_transition(&model->net, NULL, pre, pre_count, post, post_count);
    PT_GROW(model->meanings, model->meaning_cap, (size_t)t + 1);
    PT_GROW(model->steps, model->step_cap, (size_t)t + 1);
    model->meanings[t] = meaning;
    model->steps[t] = step;
    return t;
}

struct builder {
    const struct pt_program *program;
    struct pt_model_options options;
    struct pt_model *model;
    uint32_t *nodes;      /* by thread: the place of its node 0 */
    uint32_t locks, vars; /* first place of each; variable v of thread i is vars + v*n + i */
    uint32_t choice;      /* PT_NONE: no guesses */
    uint32_t *pre, *post; /* of the transition being made */
    uint32_t pre_count, post_count;
};

/* How many places a variable has. */
static uint32_t copies(const struct builder *b)
{
    return b->options.read_arcs ? 1 : b->program->thread_count;
}

static void add_places(struct builder *b)
{
    const struct pt_program *p = b->program;
    struct pt_net *net = &b->model->net;
    for (uint32_t t = 0; t < p->thread_count; t++) {
        b->nodes[t] = pt_net_add_places(net, p->threads[t].node_count);
        net->places[b->nodes[t] + p->threads[t].start].marked = !p->threads[t].spawned;
    }
    b->locks = pt_net_add_places(net, p->lock_count);
    b->vars = pt_net_add_places(net, b->options.variables ? p->var_count * copies(b) : 0);
    for (uint32_t i = b->locks; i < net->place_count; i++)
        net->places[i].marked = true;
    b->choice = b->options.guesses && p->block_count ? pt_net_add_place(net, NULL, true) : PT_NONE;
}

static void both(struct builder *b, uint32_t place)
{
    b->pre[b->pre_count++] = place;
    b->post[b->post_count++] = place;
}

static void add_accesses(struct builder *b, const struct pt_prog_step *step)
{
    uint32_t n = copies(b);
    const uint32_t *vars = b->program->accesses + step->access_start;
    for (uint32_t i = 0; i < step->write_count; i++) {
        for (uint32_t t = 0; t < n; t++)
            both(b, b->vars + vars[step->read_count + i] * n + t);
    }
    for (uint32_t i = 0; i < step->read_count; i++)
        both(b, b->vars + vars[i] * n + (b->options.read_arcs ? 0 : step->thread));
}

/* The transition of a step; one that waits for a thread that never ends has none. */
static void add_step(struct builder *b, uint32_t id)
{
    const struct pt_program *p = b->program;
    const struct pt_prog_step *step = &p->steps[id];
    uint32_t target = step->kind == PT_STEP_SPAWN || step->kind == PT_STEP_JOIN ? step->object : PT_NONE;
    struct pt_meaning meaning = {.thread = step->thread, .block = PT_NONE};
    if (step->kind == PT_STEP_JOIN && p->threads[target].stop == PT_NONE)
        return;
    b->pre_count = b->post_count = 0;
    b->pre[b->pre_count++] = b->nodes[step->thread] + step->from;
    b->post[b->post_count++] = b->nodes[step->thread] + step->to;
    if (step->kind == PT_STEP_ACQUIRE)
        b->pre[b->pre_count++] = b->locks + step->object;
    if (step->kind == PT_STEP_RELEASE)
        b->post[b->post_count++] = b->locks + step->object;
    if (step->kind == PT_STEP_SPAWN)
        b->post[b->post_count++] = b->nodes[target] + p->threads[target].start;
    if (step->kind == PT_STEP_JOIN)
        b->pre[b->pre_count++] = b->nodes[target] + p->threads[target].stop;
    if (b->options.variables)
        add_accesses(b, step);
    if (step->kind == PT_STEP_END) {
        meaning.role = PT_ROLE_END;
        meaning.block = step->object;
    }
    uint32_t added = pt_model_add(b->model, id, meaning, b->pre, b->pre_count, b->post, b->post_count);
    if (b->options.variables && b->options.read_arcs)
        b->model->net.transitions[added].read_count = step->read_count;
    if (step->kind == PT_STEP_BEGIN && b->choice != PT_NONE) {
        meaning.role = PT_ROLE_GUESS;
        meaning.block = step->object;
        b->pre[b->pre_count++] = b->choice;
        (void)pt_model_add(b->model, id, meaning, b->pre, b->pre_count, b->post, b->post_count);
    }
}

/* Names for export: p1_3 (thread 1, node 3), lock_m, DATA_1, choice; t1_5_acquire_m_ would tell no more than t5. */
static void add_names(struct builder *b)
{
    const struct pt_program *p = b->program;
    struct pt_net *net = &b->model->net;
    struct pt_buf name;
    pt_buf_init(&name);
    for (uint32_t t = 0; t < p->thread_count; t++) {
        for (uint32_t n = 0; n < p->threads[t].node_count; n++) {
            name.len = 0;
            pt_buf_printf(&name, "p%u_%u", t + 1, n);
            pt_net_name_place(net, b->nodes[t] + n, name.text);
        }
        for (uint32_t v = 0; b->options.variables && v < p->var_count; v++) {
            name.len = 0;
            pt_buf_printf(&name, "%s_%u", p->vars[v], t + 1);
            pt_net_name_place(net, b->vars + v * p->thread_count + t, name.text);
        }
    }
    for (uint32_t l = 0; l < p->lock_count; l++) {
        name.len = 0;
        pt_buf_printf(&name, "lock_%s", p->locks[l]);
        pt_net_name_place(net, b->locks + l, name.text);
    }
    if (b->choice != PT_NONE)
        pt_net_name_place(net, b->choice, "choice");
    for (uint32_t t = 0; t < net->transition_count; t++) {
        const struct pt_prog_step *step = &p->steps[b->model->steps[t]];
        name.len = 0;
        pt_buf_printf(&name, "%s%s [thread %u, line %u]", b->model->meanings[t].role == PT_ROLE_GUESS ? "guess: " : "",
                      step->text, step->thread + 1, step->place.line);
        net->transitions[t].name = pt_arena_strndup(&net->arena, name.text, name.len);
    }
    pt_buf_release(&name);
}

void pt_model_build(const struct pt_program *program, struct pt_model_options options, struct pt_model *model)
{
    struct builder b = {.program = program, .options = options, .model = model};
    uint32_t widest = 0;
    for (uint32_t s = 0; s < program->step_count; s++) {
        const struct pt_prog_step *step = &program->steps[s];
        uint32_t places = step->read_count + step->write_count * program->thread_count;
        widest = places > widest ? places : widest;
    }
    b.nodes = pt_xmalloc((size_t)program->thread_count * sizeof *b.nodes);
    b.pre = pt_xmalloc(((size_t)widest + 3) * sizeof *b.pre);
    b.post = pt_xmalloc(((size_t)widest + 3) * sizeof *b.post);
    add_places(&b);
    for (uint32_t s = 0; s < program->step_count; s++)
        add_step(&b, s);
    if (options.names)
        add_names(&b);
    model->block_count = program->block_count;
    model->block_threads = pt_xmalloc((size_t)program->block_count * sizeof *model->block_threads);
    for (uint32_t i = 0; i < program->block_count; i++)
        model->block_threads[i] = program->blocks[i].thread;
    free(b.nodes);
    free(b.pre);
    free(b.post);
}

uint32_t *pt_model_waiting(const struct pt_program *program, uint32_t *ret_count)
{
    uint32_t *first = pt_xcalloc((size_t)program->thread_count + 1, sizeof *first);
    uint32_t *places = pt_xcalloc((size_t)program->step_count + 1, sizeof *places);
    for (uint32_t t = 0; t < program->thread_count; t++) /* as add_places makes them */
        first[t + 1] = first[t] + program->threads[t].node_count;
    for (uint32_t s = 0; s < program->step_count; s++)
        places[s] = first[program->steps[s].thread] + program->steps[s].from;
    *ret_count = program->step_count ? pt_sort_distinct(places, program->step_count) : 0;
    free(first);
    return places;
}
