/*
 * The net behind the verdicts: follows one chain of causes instead of colouring everything.
 *
 * A violation of Definition 3 is a chain e1 -> .. -> f -> .. -> e2 in which every hop is either program order or a
 * token that one event makes and the next consumes: a lock, a variable, the start or the end of a thread. Between two
 * visits to the block's thread T it stays outside T. Since variables never block anybody, the only thing about a
 * variable that matters is whether the chain passes through it. So the net has no variable places; it has one baton:
 *
 *   - T's guessed `begin` consumes `choice` and puts T into a copy of the block's inside (not launched);
 *   - a step of T there may drop the baton on an object it touches (launched), a blue spot of that object;
 *   - a foreign step that touches the object may pick it up; its thread then carries it (a copy of its control places),
 * and may drop it, at once or later, on a spot of an object it touches, now a yellow one;
 *   - a step of T inside the block that touches an object with the yellow baton is the goal: e2.
 *
 * A variable has two spots, for what a writer and what a reader leaves: any access picks up the former, a write the
 * latter (this is all that "the last write and the readers since then" comes to). A baton that lies on an object stays
 * there however many others access it, since all later conflicting accesses are causally after the one that dropped it.
 *
 * Exact: every hop of the baton is a dependence of the paper's net, so a goal is a violation; and the chain of any
 * violation can be followed by baton, since dropping and picking up are always optional. There is one baton, so readers
 * of a flag, which give the paper's encoding 2^n histories of one write, give at most n here.
 *
 * Places from which the goal is out of reach are left out by fixed points over the threads' graphs (path_reach.c): a
 * guess ends where T can pick up nothing before `end` (`live`), the baton is dropped only where somebody can bring it
 * back to T (`useful`). Where the reduction allows it (reduce.c), superfluous copies of threads and threads that can
 * pick up nothing are left out. A thread that can matter no more goes to one place, `gone`, and its having been there
 * is forgotten (unfold.c, `restart`): otherwise every set of threads that are through with a lock is a marking.
 *
 * Steps that nobody can notice are contracted first (contract.c).
 *
 * Size: linear in the steps and the shared objects they touch.
 */
#include <stdlib.h>
#include <string.h>

#include "net/path_impl.h"

enum { MOST_PAIRS = 64 }; /* of spots to pick up from and to drop on, for which one step gets a transition each */

/* --- Places and transitions ------------------------------------------------------------------------------------ */

static uint32_t spot_place(struct path *p, uint32_t colour, uint32_t spot)
{
    if (p->spots[colour][spot] == PT_NONE)
        p->spots[colour][spot] = pt_net_add_place(&p->model->net, NULL, false);
    return p->spots[colour][spot];
}

/* Where a thread stands without the baton. */
static uint32_t standing(const struct path *p, uint32_t thread, uint32_t node)
{
    return p->needed[thread][node] ? p->control[thread] + node : p->gone[thread];
}

/* Starts a transition of step `s` from one control place to another, with what the step does to locks and threads.
 * False: it waits for a thread that never ends. */
static bool start(struct path *p, const struct pt_prog_step *s, uint32_t from, uint32_t to)
{
    const struct pt_prog_thread *threads = p->program->threads;
    p->pre_count = p->post_count = 0;
    p->pre[p->pre_count++] = from;
    if (to != PT_NONE)
        p->post[p->post_count++] = to;
    switch ((enum pt_step_kind)s->kind) {
    case PT_STEP_ACQUIRE:
        p->pre[p->pre_count++] = p->free_lock[s->object];
        break;
    case PT_STEP_RELEASE:
        p->post[p->post_count++] = p->free_lock[s->object];
        break;
    case PT_STEP_SPAWN:
        p->post[p->post_count++] = standing(p, s->object, p->contraction.start[s->object]);
        break;
    case PT_STEP_JOIN:
        if (threads[s->object].stop == PT_NONE)
            return false;
        p->pre[p->pre_count++] = p->control[s->object] + threads[s->object].stop;
        break;
    default:
        break;
    }
    return true;
}

static void finish(struct path *p, uint32_t step, uint8_t role, uint32_t block)
{
    struct pt_meaning meaning = {.thread = p->program->steps[step].thread, .block = block, .role = role};
    (void)pt_model_add(p->model, step, meaning, p->pre, p->pre_count, p->post, p->post_count);
}

/* A foreign step that picks the baton up (spot PT_NONE: has it already), and keeps it or drops it. */
static void add_carrying(struct path *p, uint32_t step, uint32_t colour, uint32_t spot)
{
    const struct pt_prog_step *s = &p->contraction.steps[step];
    uint32_t from = (spot == PT_NONE ? p->carry : p->control)[s->thread] + s->from;
    if (p->can_drop[s->thread][s->to] && start(p, s, from, p->carry[s->thread] + s->to)) {
        if (spot != PT_NONE)
            p->pre[p->pre_count++] = spot_place(p, colour, spot);
        finish(p, step, PT_ROLE_PLAIN, PT_NONE);
    }
    for (uint32_t i = 0; i < p->drop_count; i++) {
        if (!p->useful[p->drops[i]] || (colour == YELLOW && p->drops[i] == spot))
            continue; /* the latter: picking it up changes nothing */
        if (!start(p, s, from, standing(p, s->thread, s->to)))
            return;
        if (spot != PT_NONE)
            p->pre[p->pre_count++] = spot_place(p, colour, spot);
        p->post[p->post_count++] = spot_place(p, YELLOW, p->drops[i]);
        finish(p, step, PT_ROLE_PLAIN, PT_NONE);
    }
}

/* A foreign step that picks the baton up (spot PT_NONE: has it already) and leads to `hub`. */
static void add_pick_to(struct path *p, uint32_t step, uint32_t colour, uint32_t spot, uint32_t hub)
{
    const struct pt_prog_step *s = &p->contraction.steps[step];
    uint32_t from = (spot == PT_NONE ? p->carry : p->control)[s->thread] + s->from;
    if (!start(p, s, from, hub))
        return;
    if (spot != PT_NONE)
        p->pre[p->pre_count++] = spot_place(p, colour, spot);
    finish(p, step, PT_ROLE_PLAIN, PT_NONE);
}

/*
 * The same as add_carrying for all spots of a step that touches many: one place stands between picking up and dropping,
 * left by transitions that are no steps of the program. So there are as many as picks and drops, not as many as pairs
 * of them.
 */
static void add_wide(struct path *p, uint32_t step)
{
    const struct pt_prog_step *s = &p->contraction.steps[step];
    struct pt_meaning nobody = {.thread = s->thread, .block = PT_NONE};
    uint32_t hub = pt_net_add_place(&p->model->net, NULL, false), carry = p->carry[s->thread] + s->to;
    add_pick_to(p, step, YELLOW, PT_NONE, hub);
    for (uint32_t k = 0; k < p->pick_count; k++) {
        if (!p->useful[p->picks[k]])
            continue;
        add_pick_to(p, step, BLUE, p->picks[k], hub);
        add_pick_to(p, step, YELLOW, p->picks[k], hub);
    }
    if (p->can_drop[s->thread][s->to])
        (void)pt_model_add(p->model, PT_NONE, nobody, &hub, 1, &carry, 1);
    for (uint32_t i = 0; i < p->drop_count; i++) {
        if (!p->useful[p->drops[i]])
            continue;
        uint32_t post[] = {standing(p, s->thread, s->to), spot_place(p, YELLOW, p->drops[i])};
        (void)pt_model_add(p->model, PT_NONE, nobody, &hub, 1, post, 2);
    }
}

/* All that a thread can do as long as it is not inside the guessed block. */
static void add_thread(struct path *p, uint32_t thread)
{
    EACH_STEP (p, thread, i) {
        uint32_t step = p->r->steps[i];
        const struct pt_prog_step *s = &p->contraction.steps[step];
        if (p->needed[thread][s->from] && start(p, s, p->control[thread] + s->from, standing(p, thread, s->to)))
            finish(p, step, PT_ROLE_PLAIN, PT_NONE);
        pt_path_touch(p, s);
        if ((uint64_t)p->pick_count * p->drop_count > MOST_PAIRS) {
            add_wide(p, step);
            continue;
        }
        add_carrying(p, step, YELLOW, PT_NONE);
        for (uint32_t k = 0; k < p->pick_count; k++) {
            if (!p->useful[p->picks[k]])
                continue;
            add_carrying(p, step, BLUE, p->picks[k]);
            add_carrying(p, step, YELLOW, p->picks[k]);
        }
    }
}

/* One step of T inside the guessed block `number` of the group: plainly, launching the baton, and as the goal. */
static void add_inside_step(struct path *p, uint32_t step, uint32_t number, const struct inside *in)
{
    const struct pt_prog_step *s = &p->contraction.steps[step];
    uint32_t waiting = in->first[0], launched = in->first[1];
    pt_path_touch(p, s);
    if (in->waking[s->to] && start(p, s, waiting + s->from, waiting + s->to))
        finish(p, step, PT_ROLE_PLAIN, PT_NONE);
    if (in->live[s->to] && start(p, s, launched + s->from, launched + s->to))
        finish(p, step, PT_ROLE_PLAIN, PT_NONE);
    for (uint32_t i = 0; i < p->drop_count && in->live[s->to]; i++) {
        if (!p->useful[p->drops[i]] || !start(p, s, waiting + s->from, launched + s->to))
            continue;
        p->post[p->post_count++] = spot_place(p, BLUE, p->drops[i]);
        finish(p, step, PT_ROLE_PLAIN, PT_NONE);
    }
    for (uint32_t i = 0; i < p->pick_count; i++) {
        if (!start(p, s, launched + s->from, PT_NONE))
            continue;
        p->pre[p->pre_count++] = spot_place(p, YELLOW, p->picks[i]);
        p->post_count = 0;
        finish(p, step, PT_ROLE_GOAL, number);
    }
}

static void add_block(struct path *p, uint32_t number, struct inside *in)
{
    uint32_t block = p->blocks[number], thread = p->program->blocks[block].thread;
    uint32_t nodes = p->program->threads[thread].node_count;
    in->first[0] = pt_net_add_places(&p->model->net, 2 * nodes);
    in->first[1] = in->first[0] + nodes;
    EACH_STEP (p, thread, i) {
        uint32_t step = p->r->steps[i];
        const struct pt_prog_step *s = &p->contraction.steps[step];
        if (s->kind == PT_STEP_BEGIN && s->object == block && in->waking[s->to]) {
            p->pre_count = p->post_count = 0;
            p->pre[p->pre_count++] = p->control[thread] + s->from;
            p->pre[p->pre_count++] = p->choice;
            p->post[p->post_count++] = in->first[0] + s->to;
            finish(p, step, PT_ROLE_GUESS, number);
        }
        if (pt_path_in_block(in, s, block))
            add_inside_step(p, step, number, in);
    }
}

static void add_places(struct path *p)
{
    const struct pt_program *program = p->program;
    struct pt_net *net = &p->model->net;
    for (uint32_t t = 0; t < program->thread_count; t++) {
        if (!p->kept[t])
            continue;
        p->control[t] = pt_net_add_places(net, program->threads[t].node_count);
        p->carry[t] = pt_net_add_places(net, program->threads[t].node_count);
        p->gone[t] = pt_net_add_place(net, NULL, false);
        net->places[standing(p, t, p->contraction.start[t])].marked = !program->threads[t].spawned;
    }
    for (uint32_t l = 0; l < program->lock_count; l++)
        p->free_lock[l] = pt_net_add_place(net, NULL, true);
    p->choice = pt_net_add_place(net, NULL, true);
}

/* A thread that is gone might as well not have moved. */
static void fill_restart(struct path *p)
{
    uint32_t *restart = p->model->restart = pt_xmalloc(p->model->net.place_count * sizeof *restart);
    memset(restart, 0xff, p->model->net.place_count * sizeof *restart);
    for (uint32_t t = 0; t < p->program->thread_count; t++) {
        uint32_t start = p->contraction.start[t];
        if (p->kept[t] && p->needed[t][start])
            restart[p->gone[t]] = p->control[t] + start;
    }
}

static void build(struct path *p, struct inside *insides)
{
    pt_path_reach(p, insides);
    add_places(p);
    for (uint32_t t = 0; t < p->program->thread_count; t++) {
        if (p->kept[t])
            add_thread(p, t);
    }
    for (uint32_t b = 0; b < p->block_count; b++)
        add_block(p, b, &insides[b]);
    fill_restart(p);
}

static void release_inside(struct inside *in)
{
    free(in->region);
    free(in->live);
    free(in->waking);
}

void pt_path_build(const struct pt_program *program, const struct pt_reduction *reduction, const uint32_t *blocks,
                   uint32_t block_count, struct pt_model *model)
{
    struct path p = {.program = program, .r = reduction, .blocks = blocks, .block_count = block_count, .model = model};
    struct pt_arena arena; /* of the tables */
    pt_arena_init(&arena);
    p.lock_spots = 2 * program->var_count;
    p.thread_spots = p.lock_spots + program->lock_count;
    p.spot_count = p.thread_spots + 2 * program->thread_count;
    p.kept = pt_arena_alloc(&arena, program->thread_count * sizeof *p.kept);
    p.useful = pt_arena_alloc(&arena, p.spot_count * sizeof *p.useful);
    p.control = pt_arena_alloc(&arena, program->thread_count * sizeof *p.control);
    p.carry = pt_arena_alloc(&arena, program->thread_count * sizeof *p.carry);
    p.free_lock = pt_arena_alloc(&arena, program->lock_count * sizeof *p.free_lock);
    p.gone = pt_arena_alloc(&arena, program->thread_count * sizeof *p.gone);
    p.awaited = pt_arena_alloc(&arena, program->thread_count * sizeof *p.awaited);
    p.needed = pt_arena_alloc(&arena, program->thread_count * sizeof *p.needed);
    p.can_drop = pt_arena_alloc(&arena, program->thread_count * sizeof *p.can_drop);
    for (uint32_t t = 0; t < program->thread_count; t++) {
        p.can_drop[t] = pt_arena_alloc(&arena, program->threads[t].node_count * sizeof **p.can_drop);
        p.needed[t] = pt_arena_alloc(&arena, program->threads[t].node_count * sizeof **p.needed);
    }
    for (uint32_t c = BLUE; c <= YELLOW; c++) {
        p.spots[c] = pt_arena_alloc(&arena, p.spot_count * sizeof *p.spots[c]);
        memset(p.spots[c], 0xff, p.spot_count * sizeof *p.spots[c]);
    }
    pt_contraction_make(program, reduction, blocks, block_count, &p.contraction);
    struct inside *insides = pt_arena_alloc(&arena, block_count * sizeof *insides);
    build(&p, insides);
    for (uint32_t b = 0; b < block_count; b++)
        release_inside(&insides[b]);
    model->silent = p.contraction.silent; /* the model's from here on */
    p.contraction.silent = NULL;
    pt_contraction_release(&p.contraction);
    model->block_count = block_count;
    model->block_threads = pt_xmalloc(block_count * sizeof *model->block_threads);
    for (uint32_t b = 0; b < block_count; b++)
        model->block_threads[b] = program->blocks[blocks[b]].thread;
    free(p.picks);
    free(p.drops);
    pt_arena_release(&arena);
}
