/*
 * Transition-based generalised Büchi automata: building, strongly connected components (Tarjan 1972, with a stack of
 * its own), pruning. All linear in the edges, but for the sorting of edges
 * and the BDD operations.
 */
#include "logic/ltl/tgba.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_GROUP = 1 << 10 }; /* parallel edges up to which it is worth looking for those that others cover */

struct pt_tgba *pt_tgba_new(struct pt_bdds *bdds, uint32_t state_count, uint32_t initial, uint64_t all_marks)
{
    struct pt_tgba *tgba = pt_xcalloc(1, sizeof *tgba);
    tgba->bdds = bdds;
    tgba->state_count = state_count;
    tgba->initial = initial;
    tgba->all_marks = all_marks;
    return tgba;
}

void pt_tgba_free(struct pt_tgba *tgba)
{
    if (!tgba)
        return;
    free(tgba->first);
    free(tgba->edges);
    free(tgba);
}

struct pt_tgba *pt_tgba_copy(const struct pt_tgba *tgba, struct pt_bdds *bdds)
{
    struct pt_tgba *copy = pt_tgba_new(bdds, tgba->state_count, tgba->initial, tgba->all_marks);
    copy->state_based = tgba->state_based;
    struct pt_map64 copied;
    pt_map64_init(&copied);
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        pt_tgba_add(copy, e->src, e->dst, pt_bdd_copy(tgba->bdds, e->label, bdds, &copied), e->marks);
    }
    pt_map64_release(&copied);
    if (!pt_tgba_finish(copy)) {
        pt_tgba_free(copy);
        return NULL;
    }
    return copy;
}

void pt_tgba_add(struct pt_tgba *tgba, uint32_t src, uint32_t dst, pt_bdd label, uint64_t marks)
{
    if (label != PT_BDD_FALSE)
        PT_PUSH(tgba->edges, tgba->edge_count, tgba->edge_cap, ((struct pt_tedge){src, dst, label, marks}));
}

/* By ends, then edges with more marks first, so that an edge is covered by earlier ones only. */
static int compare_edges(const void *a, const void *b)
{
    const struct pt_tedge *e = a, *f = b;
    if (e->src != f->src)
        return e->src < f->src ? -1 : 1;
    if (e->dst != f->dst)
        return e->dst < f->dst ? -1 : 1;
    int me = __builtin_popcountll(e->marks), mf = __builtin_popcountll(f->marks);
    if (me != mf)
        return me > mf ? -1 : 1;
    if (e->marks != f->marks)
        return e->marks < f->marks ? -1 : 1;
    return (e->label > f->label) - (e->label < f->label);
}

/* The label of the edge without what edges[from .. to), between the same states, do with at least its marks. */
static pt_bdd uncovered(struct pt_tgba *tgba, uint32_t from, uint32_t to, struct pt_tedge edge)
{
    pt_bdd label = edge.label;
    for (uint32_t i = from; i < to && label != PT_BDD_FALSE && label != PT_BDD_OVERFLOW; i++)
        if ((tgba->edges[i].marks & edge.marks) == edge.marks)
            label = pt_bdd_ite(tgba->bdds, tgba->edges[i].label, PT_BDD_FALSE, label);
    return label;
}

/* Joins edges that differ in their label only and drops covered letters. Where the BDDs are full, edges stay as they
 * are, which is as good. */
static void join_edges(struct pt_tgba *tgba)
{
    uint32_t kept = 0, group = 0; /* edges[group .. kept) have the ends of the edge at hand */
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        struct pt_tedge e = tgba->edges[i];
        struct pt_tedge *last = kept > 0 ? &tgba->edges[kept - 1] : NULL;
        if (!last || last->src != e.src || last->dst != e.dst)
            group = kept;
        if (kept > group && last->marks == e.marks) {
            pt_bdd joined = pt_bdd_or(tgba->bdds, last->label, e.label);
            if (joined != PT_BDD_OVERFLOW) {
                last->label = joined;
                continue;
            }
        }
        pt_bdd label = kept - group < MAX_GROUP ? uncovered(tgba, group, kept, e) : e.label;
        if (label != PT_BDD_OVERFLOW)
            e.label = label;
        if (e.label != PT_BDD_FALSE)
            tgba->edges[kept++] = e;
    }
    tgba->edge_count = kept;
}

bool pt_tgba_finish(struct pt_tgba *tgba)
{
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        if (tgba->edges[i].label == PT_BDD_OVERFLOW)
            return false;
    if (tgba->edge_count > 0)
        qsort(tgba->edges, tgba->edge_count, sizeof *tgba->edges, compare_edges);
    join_edges(tgba);
    free(tgba->first);
    tgba->first = pt_xcalloc((size_t)tgba->state_count + 1, sizeof *tgba->first);
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        tgba->first[tgba->edges[i].src + 1]++;
    for (uint32_t s = 0; s < tgba->state_count; s++)
        tgba->first[s + 1] += tgba->first[s];
    return true;
}

struct tarjan {
    const struct pt_tgba *tgba;
    struct pt_sccs *sccs;
    uint32_t *low, *next_edge; /* per state; low is 0 until visited */
    uint32_t *open, *path;     /* states without a component yet; states on the search path */
    uint32_t open_len, path_len, visited;
};

static void enter(struct tarjan *t, uint32_t s)
{
    t->low[s] = ++t->visited;
    t->next_edge[s] = t->tgba->first[s];
    t->open[t->open_len++] = s;
    t->path[t->path_len++] = s;
}

/* `index` is the visiting number of s, which heads a component when no edge below it leads further up. */
static void leave(struct tarjan *t, uint32_t s, uint32_t *index)
{
    t->path_len--;
    if (t->low[s] == index[s]) {
        uint32_t member;
        do {
            member = t->open[--t->open_len];
            t->sccs->of[member] = t->sccs->count;
        } while (member != s);
        t->sccs->count++;
    }
    if (t->path_len > 0) {
        uint32_t parent = t->path[t->path_len - 1];
        if (t->sccs->of[s] == PT_NONE && t->low[s] < t->low[parent])
            t->low[parent] = t->low[s];
    }
}

static void search(struct tarjan *t, uint32_t root, uint32_t *index)
{
    enter(t, root);
    index[root] = t->low[root];
    while (t->path_len > 0) {
        uint32_t s = t->path[t->path_len - 1];
        if (t->next_edge[s] == t->tgba->first[s + 1]) {
            leave(t, s, index);
            continue;
        }
        uint32_t dst = t->tgba->edges[t->next_edge[s]++].dst;
        if (t->low[dst] == 0) {
            enter(t, dst);
            index[dst] = t->low[dst];
        } else if (t->sccs->of[dst] == PT_NONE && index[dst] < t->low[s]) {
            t->low[s] = index[dst];
        }
    }
}

void pt_sccs_init(struct pt_sccs *sccs, const struct pt_tgba *tgba)
{
    uint32_t n = tgba->state_count;
    *sccs = (struct pt_sccs){.of = pt_xmalloc(n * sizeof *sccs->of)};
    memset(sccs->of, 0xff, n * sizeof *sccs->of);
    uint32_t *scratch = pt_xcalloc((size_t)n * 5, sizeof *scratch);
    struct tarjan t = {.tgba = tgba,
                       .sccs = sccs,
                       .low = scratch,
                       .next_edge = scratch + n,
                       .open = scratch + 2 * (size_t)n,
                       .path = scratch + 3 * (size_t)n};
    for (uint32_t s = 0; s < n; s++)
        if (t.low[s] == 0)
            search(&t, s, scratch + 4 * (size_t)n);
    free(scratch);
    sccs->cyclic = pt_xcalloc(sccs->count, sizeof *sccs->cyclic);
    sccs->marks = pt_xcalloc(sccs->count, sizeof *sccs->marks);
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        if (sccs->of[e->src] == sccs->of[e->dst]) {
            sccs->cyclic[sccs->of[e->src]] = true;
            sccs->marks[sccs->of[e->src]] |= e->marks;
        }
    }
}

void pt_sccs_release(struct pt_sccs *sccs)
{
    free(sccs->of);
    free(sccs->cyclic);
    free(sccs->marks);
}

/* Per component, whether it reaches an accepting cycle. Components are numbered against the edges, so states in the
 * order of their components know what they lead to. */
static bool *live_components(const struct pt_tgba *tgba, const struct pt_sccs *sccs)
{
    bool *live = pt_xcalloc(sccs->count, sizeof *live);
    uint32_t *start = pt_xcalloc((size_t)sccs->count + 1, sizeof *start);
    uint32_t *order = pt_xmalloc(tgba->state_count * sizeof *order);
    for (uint32_t s = 0; s < tgba->state_count; s++)
        start[sccs->of[s] + 1]++;
    for (uint32_t c = 0; c < sccs->count; c++)
        start[c + 1] += start[c];
    for (uint32_t s = 0; s < tgba->state_count; s++)
        order[start[sccs->of[s]]++] = s;
    for (uint32_t c = 0; c < sccs->count; c++)
        live[c] = pt_scc_accepts(sccs, c, tgba->all_marks);
    for (uint32_t k = 0; k < tgba->state_count; k++) {
        uint32_t s = order[k], c = sccs->of[s];
        for (uint32_t i = tgba->first[s]; i < tgba->first[s + 1] && !live[c]; i++)
            live[c] = live[sccs->of[tgba->edges[i].dst]];
    }
    free(start);
    free(order);
    return live;
}

/* Keeps the states that `live` has and that are reached through such states. */
static void restrict_states(struct pt_tgba *tgba, const struct pt_sccs *sccs, const bool *live)
{
    uint32_t n = tgba->state_count, count = 0;
    uint32_t *number = pt_xmalloc(n * sizeof *number), *queue = pt_xmalloc(n * sizeof *queue);
    memset(number, 0xff, n * sizeof *number);
    queue[count] = tgba->initial;
    number[tgba->initial] = count++;
    for (uint32_t head = 0; head < count; head++)
        for (uint32_t i = tgba->first[queue[head]]; i < tgba->first[queue[head] + 1]; i++) {
            uint32_t dst = tgba->edges[i].dst;
            if (live[sccs->of[dst]] && number[dst] == PT_NONE) {
                queue[count] = dst;
                number[dst] = count++;
            }
        }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        struct pt_tedge e = tgba->edges[i];
        if (number[e.src] == PT_NONE || !live[sccs->of[e.dst]])
            continue;
        e.src = number[e.src], e.dst = number[e.dst];
        tgba->edges[kept++] = e;
    }
    tgba->edge_count = kept;
    tgba->state_count = count;
    tgba->initial = 0;
    free(number);
    free(queue);
}

/* Marks inside a rejecting component decide nothing; all edges of a state of a state-based automaton agree. */
static void clear_marks(struct pt_tgba *tgba, const struct pt_sccs *sccs)
{
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        struct pt_tedge *e = &tgba->edges[i];
        uint32_t c = sccs->of[e->src];
        bool inside = tgba->state_based || c == sccs->of[e->dst];
        if (inside && sccs->cyclic[c] && !pt_scc_accepts(sccs, c, tgba->all_marks))
            e->marks = 0;
    }
}

void pt_tgba_set_idle_marks(struct pt_tgba *tgba, bool set)
{
    struct pt_sccs sccs;
    pt_sccs_init(&sccs, tgba);
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        struct pt_tedge *e = &tgba->edges[i];
        uint32_t c = sccs.of[e->src];
        if (tgba->state_based ? !sccs.cyclic[c] : c != sccs.of[e->dst])
            e->marks = set ? tgba->all_marks : 0;
    }
    pt_sccs_release(&sccs);
}

/* Drops each mark that some other mark implies: wherever the other one is inside a component, it is too. */
static void drop_implied_marks(struct pt_tgba *tgba, const struct pt_sccs *sccs)
{
    uint64_t always[64]; /* per mark: the marks that come with it wherever it stands */
    memset(always, 0xff, sizeof always);
    uint64_t everywhere = tgba->all_marks;
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        uint32_t c = sccs->of[e->src];
        if (c != sccs->of[e->dst] || !pt_scc_accepts(sccs, c, tgba->all_marks))
            continue;
        everywhere &= e->marks;
        for (uint64_t rest = e->marks; rest; rest &= rest - 1)
            always[__builtin_ctzll(rest)] &= e->marks;
    }
    uint64_t keep = tgba->all_marks & ~everywhere;
    for (uint32_t m = 0; m < 64; m++)
        for (uint32_t other = 0; other < 64 && keep >> m & 1; other++)
            if (other != m && keep >> other & 1 && always[other] >> m & 1)
                keep &= ~((uint64_t)1 << m);
    /* A component that rejects must go on doing so: it keeps no mark, so some mark must be asked for. */
    if (!keep)
        keep = tgba->all_marks & -tgba->all_marks;
    tgba->all_marks = keep;
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        tgba->edges[i].marks &= keep;
}

void pt_tgba_prune(struct pt_tgba *tgba)
{
    struct pt_sccs sccs;
    pt_sccs_init(&sccs, tgba);
    clear_marks(tgba, &sccs);
    bool *live = live_components(tgba, &sccs);
    restrict_states(tgba, &sccs, live);
    free(live);
    pt_sccs_release(&sccs);
    bool fits = pt_tgba_finish(tgba); /* no label has overflowed before, and finishing makes none that has */
    assert(fits);
    if (!tgba->state_based && tgba->all_marks) {
        pt_sccs_init(&sccs, tgba);
        drop_implied_marks(tgba, &sccs);
        pt_sccs_release(&sccs);
    }
}
