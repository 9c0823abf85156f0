/*
 * What can still lead to the goal: fixed points over the threads' graphs, so that path.c leaves out the rest of its
 * net.
 *
 *   - inside a guessed block, where T can still pick the baton up, and where it can still launch it;
 *   - spots from which the other threads can bring the baton back to T (`useful`);
 *   - nodes from which a thread that does not carry the baton can still matter (`needed`): it can pick it up usefully,
 * a block to look at can begin, it can release a lock, start a thread that matters, or end where somebody who matters
 *     waits for that. At all other nodes it is as good as gone.
 *
 * Cost: a few passes over the steps for each.
 */
#include <stdlib.h>

#include "net/path_impl.h"

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
void pt_path_touch(struct path *p, const struct pt_prog_step *s)
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
        if (p->contraction.start[s->object] == p->program->threads[s->object].stop) /* no steps: it cannot carry it */
            add_pick(p, p->thread_spots + 2 * s->object);
        add_pick(p, p->thread_spots + 2 * s->object + 1);
    }
    if (t->spawned && s->from == p->contraction.start[s->thread])
        add_pick(p, p->thread_spots + 2 * s->thread);
    if (s->to == t->stop && p->r->spawns)
        add_drop(p, p->thread_spots + 2 * s->thread + 1);
}

/* --- Fixed points ---------------------------------------------------------------------------------------------- */

/* Nodes from which a marked node can be reached by steps that `mask` (by node, NULL: all) allows to leave from; the end
 * of `block` (PT_NONE: none) is never passed. `mark` has the marked ones and receives the rest. */
static void reach_back(const struct path *p, uint32_t thread, const bool *mask, uint32_t block, bool *mark)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = p->r->step_start[thread + 1]; i-- > p->r->step_start[thread];) {
            const struct pt_prog_step *s = pt_path_step(p, i);
            if (s->from == PT_NONE || mark[s->from] || !mark[s->to] || (mask && !mask[s->from]) ||
                (s->kind == PT_STEP_END && s->object == block))
                continue;
            mark[s->from] = changed = true;
        }
    }
}

static bool drops_usefully(struct path *p, const struct pt_prog_step *s)
{
    pt_path_touch(p, s);
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
        can[pt_path_step(p, i)->from] |= drops_usefully(p, pt_path_step(p, i));
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
                const struct pt_prog_step *s = pt_path_step(p, i);
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

/* Nodes reachable from the block's begin before its end. */
static void find_region(const struct path *p, uint32_t thread, uint32_t block, bool *region)
{
    bool changed = true;
    EACH_STEP (p, thread, i) {
        const struct pt_prog_step *s = pt_path_step(p, i);
        if (s->kind == PT_STEP_BEGIN && s->object == block)
            region[s->to] = true;
    }
    while (changed) {
        changed = false;
        EACH_STEP (p, thread, i) {
            const struct pt_prog_step *s = pt_path_step(p, i);
            if (!region[s->from] || region[s->to] || (s->kind == PT_STEP_END && s->object == block))
                continue;
            region[s->to] = changed = true;
        }
    }
}

bool pt_path_in_block(const struct inside *in, const struct pt_prog_step *s, uint32_t block)
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
        pt_path_touch(p, pt_path_step(p, i));
        in->live[pt_path_step(p, i)->from] |= p->pick_count > 0 && pt_path_in_block(in, pt_path_step(p, i), block);
    }
    reach_back(p, thread, in->region, block, in->live);
    EACH_STEP (p, thread, i) {
        const struct pt_prog_step *s = pt_path_step(p, i);
        pt_path_touch(p, s);
        in->waking[s->from] |= p->drop_count > 0 && pt_path_in_block(in, s, block) && in->live[s->to];
    }
    reach_back(p, thread, in->region, block, in->waking);
}

/* What is useful to begin with: what T can pick up inside its block. */
static void add_goals(struct path *p, uint32_t block, const struct inside *in)
{
    uint32_t thread = p->program->blocks[block].thread;
    EACH_STEP (p, thread, i) {
        if (!pt_path_in_block(in, pt_path_step(p, i), block))
            continue;
        pt_path_touch(p, pt_path_step(p, i));
        for (uint32_t k = 0; k < p->pick_count; k++)
            p->useful[p->picks[k]] = true;
    }
}

/* Threads beyond the copies that are enough, and threads that can pick nothing up, need not move. */
static void choose_threads(struct path *p)
{
    const struct pt_reduction *r = p->r;
    for (uint32_t t = 0; t < p->program->thread_count; t++)
        p->kept[t] = r->copies == PT_NONE || r->rank[t] <= r->copies;
}

static bool picks_usefully(struct path *p, const struct pt_prog_step *s)
{
    pt_path_touch(p, s);
    for (uint32_t k = 0; k < p->pick_count; k++) {
        if (p->useful[p->picks[k]])
            return true;
    }
    return false;
}

static bool picks_something(struct path *p, uint32_t thread)
{
    EACH_STEP (p, thread, i) {
        if (picks_usefully(p, pt_path_step(p, i)))
            return true;
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

/* --- What is needed --------------------------------------------------------------------------------------------- */

static bool begins_group_block(const struct path *p, const struct pt_prog_step *s)
{
    bool found = false;
    for (uint32_t b = 0; b < p->block_count && s->kind == PT_STEP_BEGIN; b++)
        found |= p->blocks[b] == s->object;
    return found;
}

/* Whether the step matters by itself, the baton being elsewhere. */
static bool step_matters(struct path *p, const struct pt_prog_step *s)
{
    if (s->kind == PT_STEP_SPAWN && p->needed[s->object][p->contraction.start[s->object]])
        return true;
    return s->kind == PT_STEP_RELEASE || begins_group_block(p, s) || picks_usefully(p, s);
}

/* Whether somebody who matters can make this join. In a thread with a block to look at, or with the baton, all do. */
static bool join_matters(struct path *p, const struct pt_prog_step *s)
{
    bool own = false;
    for (uint32_t b = 0; b < p->block_count; b++)
        own |= p->program->blocks[p->blocks[b]].thread == s->thread;
    return own || p->needed[s->thread][s->to] || p->can_drop[s->thread][s->to] || drops_usefully(p, s) ||
           picks_usefully(p, s);
}

static void find_needed(struct path *p)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t t = 0; t < p->program->thread_count; t++) {
            uint32_t stop = p->program->threads[t].stop, start = p->contraction.start[t];
            if (!p->kept[t])
                continue;
            bool before = p->needed[t][start];
            if (p->awaited[t])
                p->needed[t][stop] = true;
            EACH_STEP (p, t, i)
                p->needed[t][pt_path_step(p, i)->from] |= step_matters(p, pt_path_step(p, i));
            reach_back(p, t, NULL, PT_NONE, p->needed[t]);
            changed |= p->needed[t][start] != before;
            EACH_STEP (p, t, i) {
                const struct pt_prog_step *s = pt_path_step(p, i);
                if (s->kind != PT_STEP_JOIN || p->awaited[s->object] ||
                    p->program->threads[s->object].stop == PT_NONE || !join_matters(p, s))
                    continue;
                p->awaited[s->object] = changed = true;
            }
        }
    }
}

void pt_path_reach(struct path *p, struct inside *insides)
{
    choose_threads(p);
    for (uint32_t b = 0; b < p->block_count; b++) {
        find_inside(p, p->blocks[b], &insides[b]);
        add_goals(p, p->blocks[b], &insides[b]);
    }
    find_useful(p);
    drop_bystanders(p);
    find_needed(p);
}
