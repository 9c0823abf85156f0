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
 * Places from which the goal is out of reach are left out by fixed points over the threads' graphs: a guess ends where
 * T can pick up nothing before `end` (`live`), the baton is dropped only where somebody can bring it back to T
 * (`useful`). Where the reduction allows it (reduce.c), superfluous copies of threads and threads that can pick up
 * nothing are left out.
 *
 * Steps that nobody can notice are contracted first (contract.c).
 *
 * Size: linear in the steps and the shared objects they touch.
 */
#include <stdlib.h>
#include <string.h>

#include "net/contract.h"
#include "net/model.h"

enum { BLUE, YELLOW };
enum { MOST_PAIRS = 64 }; /* of spots to pick up from and to drop on, for which one step gets a transition each */

struct path {
    const struct pt_program *program;
    const struct pt_reduction *r;
    struct pt_contraction contraction; /* whose steps are used below, not the program's */
    const uint32_t *blocks;
    uint32_t block_count;
    struct pt_model *model;
    bool *kept; /* by thread */
    /* Spots: a writer's and a reader's per variable, one per lock, and for each thread its start and its end. */
    uint32_t var_spots, lock_spots, thread_spots, spot_count;
    bool *useful;                          /* by spot: a yellow baton there can get back to T */
    uint32_t *control, *carry, *free_lock; /* places: of node 0 by thread; by lock */
    bool **can_drop;                       /* by thread and node: a carrier there can still drop the baton usefully */
    uint32_t *spots[2];                    /* places by colour and spot; PT_NONE: not there yet */
    uint32_t choice;
    uint32_t *picks, *drops; /* spots of the step at hand */
    uint32_t pick_count, drop_count;
    size_t pick_cap, drop_cap;
    uint32_t pre[8], post[8];
    uint32_t pre_count, post_count;
};

/* --- What a step can pick up and drop -------------------------------------------------------------------------- */

static void add_pick(struct path *p, uint32_t spot)
{
    PT_PUSH(p->picks, p->pick_count, p->pick_cap, spot);
}

static void add_drop(struct path *p, uint32_t spot)
{
    PT_PUSH(p->drops, p->drop_count, p->drop_cap, spot);
}

static void touch_variables(struct path *p, const struct pt_prog_step *s)
{
    for (uint32_t i = 0; i < s->read_count + s->write_count; i++) {
        uint32_t var = p->program->accesses[s->access_start + i];
        bool write = i >= s->read_count;
        if (!p->r->shared_var[var])
            continue;
        add_pick(p, p->var_spots + 2 * var);
        if (write)
            add_pick(p, p->var_spots + 2 * var + 1);
        add_drop(p, p->var_spots + 2 * var + !write);
    }
}

/* Lists the spots that a step can pick the baton up from and drop it on. */
static void touch(struct path *p, const struct pt_prog_step *s)
{
    const struct pt_prog_thread *t = &p->program->threads[s->thread];
    p->pick_count = p->drop_count = 0;
    touch_variables(p, s);
    if (s->kind == PT_STEP_ACQUIRE && p->r->shared_lock[s->object])
        add_pick(p, p->lock_spots + s->object);
    if (s->kind == PT_STEP_RELEASE && p->r->shared_lock[s->object])
        add_drop(p, p->lock_spots + s->object);
    if (s->kind == PT_STEP_SPAWN)
        add_drop(p, p->thread_spots + 2 * s->object);
    if (s->kind == PT_STEP_JOIN) {
        add_pick(p, p->thread_spots + 2 * s->object); /* of a thread without steps, which cannot carry it */
        add_pick(p, p->thread_spots + 2 * s->object + 1);
    }
    if (t->spawned && s->from == p->contraction.start[s->thread])
        add_pick(p, p->thread_spots + 2 * s->thread);
    if (s->to == t->stop && p->r->spawns)
        add_drop(p, p->thread_spots + 2 * s->thread + 1);
}

/* --- Fixed points ---------------------------------------------------------------------------------------------- */

static const struct pt_prog_step *step_at(const struct path *p, uint32_t index)
{
    return &p->contraction.steps[p->r->steps[index]];
}

/* The first index from `index` on whose step was not left out. */
static uint32_t next_step(const struct path *p, uint32_t thread, uint32_t index)
{
    while (index < p->r->step_start[thread + 1] && step_at(p, index)->from == PT_NONE)
        index++;
    return index;
}

#define EACH_STEP(p, t, i)                                                                                             \
    for (uint32_t i = next_step(p, t, (p)->r->step_start[t]); i < (p)->r->step_start[(t) + 1];                         \
         i = next_step(p, t, i + 1))

/* Nodes from which a marked node can be reached by steps that `mask` (by node, NULL: all) allows to leave from; the end
 * of `block` (PT_NONE: none) is never passed. `mark` has the marked ones and receives the rest. */
static void reach_back(const struct path *p, uint32_t thread, const bool *mask, uint32_t block, bool *mark)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = p->r->step_start[thread + 1]; i-- > p->r->step_start[thread];) {
            const struct pt_prog_step *s = step_at(p, i);
            if (s->from == PT_NONE || mark[s->from] || !mark[s->to] || (mask && !mask[s->from]) ||
                (s->kind == PT_STEP_END && s->object == block))
                continue;
            mark[s->from] = changed = true;
        }
    }
}

static bool drops_usefully(struct path *p, const struct pt_prog_step *s)
{
    touch(p, s);
    for (uint32_t i = 0; i < p->drop_count; i++) {
        if (p->useful[p->drops[i]])
            return true;
    }
    return false;
}

static void find_droppers(struct path *p, uint32_t thread)
{
    bool *can = p->can_drop[thread];
    EACH_STEP (p, thread, i)
        can[step_at(p, i)->from] |= drops_usefully(p, step_at(p, i));
    reach_back(p, thread, NULL, PT_NONE, can);
}

/* Spots from which the threads can bring a yellow baton to one that is useful already. */
static void find_useful(struct path *p)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t t = 0; t < p->program->thread_count; t++) {
            if (!p->kept[t])
                continue;
            find_droppers(p, t);
            EACH_STEP (p, t, i) {
                const struct pt_prog_step *s = step_at(p, i);
                if (!drops_usefully(p, s) && !p->can_drop[t][s->to])
                    continue;
                for (uint32_t k = 0; k < p->pick_count; k++) {
                    changed |= !p->useful[p->picks[k]];
                    p->useful[p->picks[k]] = true;
                }
            }
        }
    }
}

/* --- Places and transitions ------------------------------------------------------------------------------------ */

static uint32_t spot_place(struct path *p, uint32_t colour, uint32_t spot)
{
    if (p->spots[colour][spot] == PT_NONE)
        p->spots[colour][spot] = pt_net_add_place(&p->model->net, NULL, false);
    return p->spots[colour][spot];
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
        p->post[p->post_count++] = p->control[s->object] + p->contraction.start[s->object];
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
        if (!start(p, s, from, p->control[s->thread] + s->to))
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
        uint32_t post[] = {p->control[s->thread] + s->to, spot_place(p, YELLOW, p->drops[i])};
        (void)pt_model_add(p->model, PT_NONE, nobody, &hub, 1, post, 2);
    }
}

/* All that a thread can do as long as it is not inside the guessed block. */
static void add_thread(struct path *p, uint32_t thread)
{
    EACH_STEP (p, thread, i) {
        uint32_t step = p->r->steps[i];
        const struct pt_prog_step *s = &p->contraction.steps[step];
        if (start(p, s, p->control[thread] + s->from, p->control[thread] + s->to))
            finish(p, step, PT_ROLE_PLAIN, PT_NONE);
        touch(p, s);
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

/* The inside of a guessed block: which nodes, and where the goal can still be reached. By node of its thread. */
struct inside {
    bool *region;
    bool *live;        /* launched: T can still pick the baton up */
    bool *waking;      /* not launched: T can still launch it so that it can come back */
    uint32_t first[2]; /* places of node 0: not launched, launched */
};

/* Nodes reachable from the block's begin before its end. */
static void find_region(const struct path *p, uint32_t thread, uint32_t block, bool *region)
{
    bool changed = true;
    EACH_STEP (p, thread, i) {
        const struct pt_prog_step *s = step_at(p, i);
        if (s->kind == PT_STEP_BEGIN && s->object == block)
            region[s->to] = true;
    }
    while (changed) {
        changed = false;
        EACH_STEP (p, thread, i) {
            const struct pt_prog_step *s = step_at(p, i);
            if (!region[s->from] || region[s->to] || (s->kind == PT_STEP_END && s->object == block))
                continue;
            region[s->to] = changed = true;
        }
    }
}

static bool in_block(const struct inside *in, const struct pt_prog_step *s, uint32_t block)
{
    return in->region[s->from] && !(s->kind == PT_STEP_END && s->object == block);
}

static void find_inside(struct path *p, uint32_t block, struct inside *in)
{
    uint32_t thread = p->program->blocks[block].thread, nodes = p->program->threads[thread].node_count;
    in->region = pt_xcalloc(nodes, sizeof *in->region);
    in->live = pt_xcalloc(nodes, sizeof *in->live);
    in->waking = pt_xcalloc(nodes, sizeof *in->waking);
    find_region(p, thread, block, in->region);
    EACH_STEP (p, thread, i) {
        touch(p, step_at(p, i));
        in->live[step_at(p, i)->from] |= p->pick_count > 0 && in_block(in, step_at(p, i), block);
    }
    reach_back(p, thread, in->region, block, in->live);
    EACH_STEP (p, thread, i) {
        const struct pt_prog_step *s = step_at(p, i);
        touch(p, s);
        in->waking[s->from] |= p->drop_count > 0 && in_block(in, s, block) && in->live[s->to];
    }
    reach_back(p, thread, in->region, block, in->waking);
}

static void release_inside(struct inside *in)
{
    free(in->region);
    free(in->live);
    free(in->waking);
}

/* What is useful to begin with: what T can pick up inside its block. */
static void add_goals(struct path *p, uint32_t block, const struct inside *in)
{
    uint32_t thread = p->program->blocks[block].thread;
    EACH_STEP (p, thread, i) {
        if (!in_block(in, step_at(p, i), block))
            continue;
        touch(p, step_at(p, i));
        for (uint32_t k = 0; k < p->pick_count; k++)
            p->useful[p->picks[k]] = true;
    }
}

/* One step of T inside the guessed block `number` of the group: plainly, launching the baton, and as the goal. */
static void add_inside_step(struct path *p, uint32_t step, uint32_t number, const struct inside *in)
{
    const struct pt_prog_step *s = &p->contraction.steps[step];
    uint32_t waiting = in->first[0], launched = in->first[1];
    touch(p, s);
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
        if (in_block(in, s, block))
            add_inside_step(p, step, number, in);
    }
}

/* Threads beyond the copies that are enough, and threads that can pick nothing up, need not move. */
static void choose_threads(struct path *p)
{
    const struct pt_reduction *r = p->r;
    for (uint32_t t = 0; t < p->program->thread_count; t++)
        p->kept[t] = r->copies == PT_NONE || r->rank[t] <= r->copies;
}

static bool picks_something(struct path *p, uint32_t thread)
{
    EACH_STEP (p, thread, i) {
        touch(p, step_at(p, i));
        for (uint32_t k = 0; k < p->pick_count; k++) {
            if (p->useful[p->picks[k]])
                return true;
        }
    }
    return false;
}

static void drop_bystanders(struct path *p)
{
    if (p->r->copies == PT_NONE)
        return;
    for (uint32_t t = 0; t < p->program->thread_count; t++) {
        bool own = false;
        for (uint32_t b = 0; b < p->block_count; b++)
            own |= p->program->blocks[p->blocks[b]].thread == t;
        p->kept[t] = own || (p->kept[t] && picks_something(p, t));
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
        net->places[p->control[t] + p->contraction.start[t]].marked = !program->threads[t].spawned;
    }
    for (uint32_t l = 0; l < program->lock_count; l++)
        p->free_lock[l] = pt_net_add_place(net, NULL, true);
    p->choice = pt_net_add_place(net, NULL, true);
}

static void build(struct path *p, struct inside *insides)
{
    choose_threads(p);
    for (uint32_t b = 0; b < p->block_count; b++) {
        find_inside(p, p->blocks[b], &insides[b]);
        add_goals(p, p->blocks[b], &insides[b]);
    }
    find_useful(p);
    drop_bystanders(p);
    add_places(p);
    for (uint32_t t = 0; t < p->program->thread_count; t++) {
        if (p->kept[t])
            add_thread(p, t);
    }
    for (uint32_t b = 0; b < p->block_count; b++)
        add_block(p, b, &insides[b]);
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
    p.can_drop = pt_arena_alloc(&arena, program->thread_count * sizeof *p.can_drop);
    for (uint32_t t = 0; t < program->thread_count; t++)
        p.can_drop[t] = pt_arena_alloc(&arena, program->threads[t].node_count * sizeof **p.can_drop);
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
