/*
 * Reductions that keep every verdict, and why.
 *
 * Identical threads (same graph, same accesses, neither started nor awaited by another) can be exchanged: that is an
 * automorphism of the program. So a block of one is causally atomic iff the corresponding block of the other is, and a
 * witness for one becomes a witness for the other by exchanging the two.
 *
 * Threads that need not move. Let every release be by a thread that surely holds the lock (`nested`; a data flow over
 * each thread's graph shows it). Then removing all events of one thread from a run leaves a run: variables never block,
 * and locks are only free more often. A violation e1 <= f <= e2 of a block of thread T is a chain of events in which
 * each hop is program order or passes through an object: dropped there by one thread, picked up by the next (path.c).
 * Let c_1 .. c_k be the threads between two visits to T and d_0 .. d_k the objects passed, d_0 dropped by T and d_k
 * picked up by T; a variable counts as two objects, one for what a reader leaves and one for what a writer leaves,
 * since the same accesses pick up either kind. If d_i = d_j for i < j < k, thread c_{j+1} can pick up d_i at once, and
 * if d_i = d_k for i > 0, T can: the threads between drop out of the chain, and one remains. So some violation has k <=
 * 2 * variables + locks, the objects being those that two threads share; the threads off its chain can be removed. Of
 * each kind of identical threads that many and the block's own thread are enough: thousands of identical threads
 * cost no more than a handful.
 */
#include "net/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static void index_steps(const struct pt_program *p, struct pt_reduction *r)
{
    uint32_t *start = r->step_start = pt_xcalloc((size_t)p->thread_count + 2, sizeof *start);
    r->steps = pt_xmalloc((size_t)p->step_count * sizeof *r->steps);
    for (uint32_t s = 0; s < p->step_count; s++)
        start[p->steps[s].thread + 2]++;
    for (uint32_t t = 0; t < p->thread_count; t++)
        start[t + 2] += start[t + 1];
    for (uint32_t s = 0; s < p->step_count; s++)
        r->steps[start[p->steps[s].thread + 1]++] = s;
}

/* Blocks compare by their number within the thread, everything else by its id. */
static uint32_t object_of(const struct pt_program *p, const struct pt_prog_step *s)
{
    bool block = s->kind == PT_STEP_BEGIN || s->kind == PT_STEP_END;
    return block ? p->blocks[s->object].number : s->object;
}

static uint64_t hash_thread(const struct pt_program *p, const struct pt_reduction *r, uint32_t thread)
{
    const struct pt_prog_thread *t = &p->threads[thread];
    uint64_t hash = pt_mix64((uint64_t)t->start << 32 | t->node_count);
    for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1]; i++) {
        const struct pt_prog_step *s = &p->steps[r->steps[i]];
        hash = pt_mix64(hash ^ ((uint64_t)s->from << 32 | s->to)) + object_of(p, s);
        hash = pt_mix64(hash ^ s->kind) + s->read_count;
        for (uint32_t a = 0; a < s->read_count + s->write_count; a++)
            hash = pt_mix64(hash + p->accesses[s->access_start + a] + 1);
    }
    return hash;
}

static bool same_step(const struct pt_program *p, const struct pt_prog_step *a, const struct pt_prog_step *b)
{
    bool same = a->kind == b->kind && a->from == b->from && a->to == b->to && object_of(p, a) == object_of(p, b) &&
                a->read_count == b->read_count && a->write_count == b->write_count;
    for (uint32_t i = 0; same && i < a->read_count + a->write_count; i++)
        same = p->accesses[a->access_start + i] == p->accesses[b->access_start + i];
    return same;
}

static bool identical(const struct pt_program *p, const struct pt_reduction *r, uint32_t x, uint32_t y)
{
    const struct pt_prog_thread *a = &p->threads[x], *b = &p->threads[y];
    uint32_t count = r->step_start[x + 1] - r->step_start[x];
    if (a->spawned || b->spawned || a->start != b->start || a->stop != b->stop || a->node_count != b->node_count ||
        count != r->step_start[y + 1] - r->step_start[y])
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!same_step(p, &p->steps[r->steps[r->step_start[x] + i]], &p->steps[r->steps[r->step_start[y] + i]]))
            return false;
    }
    return true;
}

static void find_identical(const struct pt_program *p, struct pt_reduction *r)
{
    struct pt_map64 first;
    pt_map64_init(&first);
    r->like = pt_xmalloc((size_t)p->thread_count * sizeof *r->like);
    r->rank = pt_xcalloc(p->thread_count, sizeof *r->rank);
    uint32_t *members = pt_xcalloc(p->thread_count, sizeof *members);
    for (uint32_t t = 0; t < p->thread_count; t++) {
        uint32_t *known = pt_map64_at(&first, hash_thread(p, r, t));
        if (*known == PT_NONE)
            *known = t;
        r->like[t] = identical(p, r, *known, t) ? *known : t;
        r->rank[t] = members[r->like[t]]++;
    }
    free(members);
    pt_map64_release(&first);
}

/* Notes that `thread` uses an object; returns whether another thread does too. PT_NONE: nobody yet. */
static bool use(uint32_t *user, uint32_t thread)
{
    if (*user == PT_NONE)
        *user = thread;
    return *user != thread;
}

static void find_shared(const struct pt_program *p, struct pt_reduction *r)
{
    uint32_t *user = pt_xmalloc(((size_t)p->var_count + p->lock_count) * sizeof *user), count = 0;
    bool *written = pt_xcalloc(p->var_count, sizeof *written);
    memset(user, 0xff, ((size_t)p->var_count + p->lock_count) * sizeof *user);
    r->shared_var = pt_xcalloc(p->var_count, sizeof *r->shared_var);
    r->shared_lock = pt_xcalloc(p->lock_count, sizeof *r->shared_lock);
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct pt_prog_step *s = &p->steps[i];
        for (uint32_t a = 0; a < s->read_count + s->write_count; a++) {
            uint32_t var = p->accesses[s->access_start + a];
            r->shared_var[var] |= use(&user[var], s->thread);
            written[var] |= a >= s->read_count;
        }
        if (s->kind == PT_STEP_ACQUIRE || s->kind == PT_STEP_RELEASE)
            r->shared_lock[s->object] |= use(&user[p->var_count + s->object], s->thread);
    }
    for (uint32_t v = 0; v < p->var_count; v++) {
        r->shared_var[v] &= written[v];
        count += 2 * r->shared_var[v];
    }
    for (uint32_t l = 0; l < p->lock_count; l++)
        count += r->shared_lock[l];
    r->copies = count;
    free(user);
    free(written);
}

/*
 * Whether a thread surely holds each lock it releases: forward data flow over its graph, sets of held locks joined by
 * intersection. False also where the sets would take more than a little memory.
 */
static bool thread_is_nested(const struct pt_program *p, const struct pt_reduction *r, uint32_t thread)
{
    enum { MOST_WORDS = 1 << 24 };
    const struct pt_prog_thread *t = &p->threads[thread];
    size_t words = (size_t)p->lock_count / 64 + 1, all = words * t->node_count;
    if (all > MOST_WORDS)
        return false;
    uint64_t *held = pt_xmalloc(all * sizeof *held), *out = pt_xmalloc(words * sizeof *out);
    bool *reached = pt_xcalloc(t->node_count, sizeof *reached), changed = true, ok = true;
    memset(held, 0xff, all * sizeof *held);
    memset(held + t->start * words, 0, words * sizeof *held);
    reached[t->start] = true;
    while (changed) {
        changed = false;
        for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1]; i++) {
            const struct pt_prog_step *s = &p->steps[r->steps[i]];
            uint64_t *to = held + s->to * words, bit = s->object == PT_NONE ? 0 : (uint64_t)1 << (s->object % 64);
            if (!reached[s->from])
                continue;
            memcpy(out, held + s->from * words, words * sizeof *out);
            if (s->kind == PT_STEP_ACQUIRE)
                out[s->object / 64] |= bit;
            if (s->kind == PT_STEP_RELEASE)
                out[s->object / 64] &= ~bit;
            for (size_t w = 0; w < words; w++) {
                changed |= (to[w] & out[w]) != to[w] || !reached[s->to];
                to[w] &= out[w];
            }
            reached[s->to] = true;
        }
    }
    for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1] && ok; i++) {
        const struct pt_prog_step *s = &p->steps[r->steps[i]];
        if (s->kind == PT_STEP_RELEASE && reached[s->from])
            ok = held[s->from * words + s->object / 64] >> (s->object % 64) & 1;
    }
    free(held);
    free(out);
    free(reached);
    return ok;
}

/* Whether a thread's graph leads from one node to another. */
static bool leads_to(const struct pt_program *p, const struct pt_reduction *r, uint32_t thread, uint32_t from,
                     uint32_t to)
{
    bool *reached = pt_xcalloc(p->threads[thread].node_count, sizeof *reached), changed = true;
    reached[from] = true;
    while (changed) {
        changed = false;
        for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1]; i++) {
            const struct pt_prog_step *s = &p->steps[r->steps[i]];
            if (reached[s->from] && !reached[s->to])
                reached[s->to] = changed = true;
        }
    }
    bool found = reached[to];
    free(reached);
    return found;
}

/* Whether each thread has at most one step that starts it, and none of these is in a loop. */
static bool starts_once(const struct pt_program *p, const struct pt_reduction *r)
{
    bool *started = pt_xcalloc(p->thread_count, sizeof *started), once = true;
    for (uint32_t i = 0; i < p->step_count && once; i++) {
        const struct pt_prog_step *s = &p->steps[i];
        if (s->kind != PT_STEP_SPAWN)
            continue;
        once = !started[s->object] && !leads_to(p, r, s->thread, s->to, s->from);
        started[s->object] = true;
    }
    free(started);
    return once;
}

void pt_reduction_make(const struct pt_program *program, struct pt_reduction *r)
{
    *r = (struct pt_reduction){.nested = true};
    index_steps(program, r);
    find_identical(program, r);
    find_shared(program, r);
    for (uint32_t t = 0; t < program->thread_count && r->nested; t++)
        r->nested = r->like[t] != t || thread_is_nested(program, r, t);
    for (uint32_t t = 0; t < program->thread_count; t++)
        r->spawns |= program->threads[t].spawned;
    r->safe = r->nested && starts_once(program, r);
    if (!r->nested || r->spawns)
        r->copies = PT_NONE;
}

void pt_reduction_release(struct pt_reduction *r)
{
    free(r->like);
    free(r->rank);
    free(r->step_start);
    free(r->steps);
    free(r->shared_var);
    free(r->shared_lock);
    *r = (struct pt_reduction){0};
}

uint32_t pt_reduction_translate(const struct pt_reduction *r, uint32_t step, uint32_t from, uint32_t to)
{
    uint32_t low = r->step_start[from], high = r->step_start[from + 1];
    while (high - low > 1) { /* the steps of a thread are listed in ascending order */
        uint32_t middle = low + (high - low) / 2;
        if (r->steps[middle] <= step)
            low = middle;
        else
            high = middle;
    }
    return r->steps[r->step_start[to] + (low - r->step_start[from])];
}
