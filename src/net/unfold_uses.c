/*
 * Who uses a condition, where walks are made: lists of events that consume it, by transition, and of those that read
 * it. Some conditions are used by more and more events as the prefix grows, each after another history, and of these
 * few can be in a run with the event that walks are for. Asking one after the other, mostly to hear no, would cost more
 * for each event the larger the net is.
 *
 * Histories that can be parts of one run have, in every part, paths of which one is a beginning of the other
 * (unfold_trees.c). So a long list is kept by where the histories are in one part, as a radix tree over that part's
 * tree: a *fork* stands for a node below which all of its uses are, and each child for one way on from there. What can
 * fit an event are the uses on its own path, and all behind where that ends; the rest is not looked at. The part is
 * that in which most of the uses have gone apart from the first event that asks, among those in which they move and
 * some others; as long as it is not half of them, the list stays a list. What is left over, if it is much, is looked at
 * in another such part, one by one.
 *
 * Guarantee: no use is left out that can be in one run with the event. Cost: of a use or a question, a logarithm of the
 * part's depth for each fork on the way.
 */
#include "net/unfold_impl.h"

enum { TRIED = 8 }; /* parts, beside those in which a use moves */

/* Puts a use in front of a list. */
static inline void put(struct walk *w, uint32_t use, uint32_t *list)
{
    struct use *u = &w->uses[use];
    u->count = *list ? w->uses[*list - 1].count + 1 : 1;
    u->next = *list;
    *list = use + 1;
}

static uint32_t tip_of_use(const struct unfolder *un, uint32_t use, uint32_t part)
{
    return pt_unfold_tip(un, un->extended[un->walk.uses[use].event].root, part);
}

/* The last node that is on the paths of both. */
static uint32_t meet(const struct walk *w, uint32_t a, uint32_t b)
{
    a = pt_unfold_above(w, a, w->nodes[b].depth);
    b = pt_unfold_above(w, b, w->nodes[a].depth);
    while (a != b) {
        bool jump = w->nodes[a].jump != w->nodes[b].jump;
        a = jump ? w->nodes[a].jump : w->nodes[a].parent;
        b = jump ? w->nodes[b].jump : w->nodes[b].parent;
    }
    return a;
}

/* --- Forks ------------------------------------------------------------------------------------------------------- */

static uint32_t new_fork(struct unfolder *un, uint32_t top)
{
    struct fork fork = {.top = top};
    PT_PUSH(un->walk.forks, un->walk.fork_count, un->walk.fork_cap, fork);
    pt_unfold_walk_charge(un, sizeof fork + sizeof(struct pt_map64_slot));
    return un->walk.fork_count - 1;
}

/* What stands for the child of a fork that is on the way to a node. */
static uint64_t way_on(const struct walk *w, uint32_t fork, uint32_t node)
{
    return (uint64_t)fork << 32 | pt_unfold_above(w, node, w->nodes[w->forks[fork].top].depth + 1);
}

static void add_child(struct unfolder *un, uint32_t fork, uint32_t child, uint32_t node)
{
    struct walk *w = &un->walk;
    *pt_map64_at(&w->ways, way_on(w, fork, node)) = child;
    w->forks[child].next = w->forks[fork].child;
    w->forks[fork].child = child + 1;
}

/* In the place of a child of `parent`, PT_NONE: of the first fork of `kept`, a new one further up, with that as its
 * only child. */
static uint32_t fork_above(struct unfolder *un, struct kept_uses *kept, uint32_t parent, uint32_t child, uint32_t top)
{
    struct walk *w = &un->walk;
    uint32_t fork = new_fork(un, top), below = w->forks[child].top;
    if (parent == PT_NONE) {
        kept->first = fork;
    } else {
        uint32_t *at = &w->forks[parent].child;
        while (*at != child + 1)
            at = &w->forks[*at - 1].next;
        *at = fork + 1;
        w->forks[fork].next = w->forks[child].next;
        *pt_map64_at(&w->ways, way_on(w, parent, below)) = fork;
    }
    add_child(un, fork, child, below);
    return fork;
}

static void insert(struct unfolder *un, struct kept_uses *kept, uint32_t from, uint32_t use);

/* Forks a list that has become long. */
static void divide(struct unfolder *un, struct kept_uses *kept, uint32_t fork)
{
    struct walk *w = &un->walk;
    uint32_t uses = w->forks[fork].uses, top = tip_of_use(un, uses - 1, kept->part);
    for (uint32_t use = uses; use; use = w->uses[use - 1].next)
        top = meet(w, top, tip_of_use(un, use - 1, kept->part));
    w->forks[fork].top = top;
    w->forks[fork].uses = 0;
    for (uint32_t use = uses, next; use; use = next) {
        next = w->uses[use - 1].next;
        insert(un, kept, fork, use - 1);
    }
}

/* Adds a use below a fork; only the first one may be below where it belongs. */
static void insert(struct unfolder *un, struct kept_uses *kept, uint32_t from, uint32_t use)
{
    struct walk *w = &un->walk;
    uint32_t node = tip_of_use(un, use, kept->part), parent = PT_NONE, fork = from;
    while (w->forks[fork].top != PT_NONE) {
        uint32_t top = w->forks[fork].top, both = meet(w, node, top);
        if (both != top)
            fork = fork_above(un, kept, parent, fork, both);
        if (both == node) {
            put(w, use, &w->forks[fork].uses);
            return;
        }
        parent = fork;
        uint32_t child = pt_map64_get(&w->ways, way_on(w, parent, node));
        if (child == PT_NONE) {
            child = new_fork(un, PT_NONE);
            add_child(un, parent, child, node);
        }
        fork = child;
    }
    put(w, use, &w->forks[fork].uses);
    if (w->uses[use].count > (int32_t)w->few_uses)
        divide(un, kept, fork);
}

/* --- Lists ------------------------------------------------------------------------------------------------------- */

/* Lists the events of a list. */
static void list_uses(struct walk *w, uint32_t list)
{
    for (; list; list = w->uses[list - 1].next)
        pt_list_add(&w->asked, w->uses[list - 1].event);
}

/* Whether two paths of a part have gone apart. */
static bool is_apart(const struct walk *w, uint32_t a, uint32_t b)
{
    uint32_t deeper = w->nodes[a].depth >= w->nodes[b].depth ? a : b, other = a ^ b ^ deeper;
    return pt_unfold_above(w, deeper, w->nodes[other].depth) != other;
}

/* How many of those that are listed have gone apart from the event in a part; of the first ones. */
static uint32_t count_apart(const struct unfolder *un, uint32_t part)
{
    const struct walk *w = &un->walk;
    uint32_t count = 0, tip = pt_unfold_tip(un, w->root, part);
    for (uint32_t i = 0; i < w->long_list; i++)
        count += is_apart(w, tip, pt_unfold_tip(un, un->extended[w->asked.items[i]].root, part));
    return count;
}

/* The part in which most have gone apart, PT_NONE: in all of them fewer than half. */
static uint32_t best_part(struct unfolder *un)
{
    struct walk *w = &un->walk;
    uint32_t transition = un->u->events[w->asked.items[0]].transition, start = w->move_start[transition];
    uint32_t moves = w->move_start[transition + 1] - start, best = PT_NONE, most = w->long_list / 2 - 1;
    moves = moves < TRIED ? moves : TRIED;
    w->work += w->long_list;
    for (uint32_t i = 0; i < moves + TRIED; i++) {
        uint32_t part = i < moves ? w->moves[start + i].part : (uint64_t)(i - moves) * w->part_count / TRIED;
        uint32_t apart = count_apart(un, part);
        if (apart > most) {
            most = apart;
            best = part;
        }
    }
    return best;
}

/* Keeps a list, whose events are listed, by a part, if there is one for it; else it is tried again when there are twice
 * as many. */
static void keep_by_part(struct unfolder *un, uint32_t *list)
{
    struct walk *w = &un->walk;
    struct kept_uses kept = {.part = best_part(un), .second = PT_NONE};
    if (kept.part == PT_NONE) {
        w->uses[*list - 1].count = (int32_t)w->long_list - (int32_t)w->asked.count;
        return;
    }
    kept.first = new_fork(un, PT_NONE);
    w->forks[kept.first].uses = *list;
    divide(un, &kept, kept.first);
    *list = LISTED + w->kept_count;
    PT_PUSH(w->kept, w->kept_count, w->kept_cap, kept);
    pt_unfold_walk_charge(un, sizeof kept);
}

/* Where many are left, drops those that have gone apart from the event in a second part, one in which they have. */
static void narrow(struct unfolder *un, struct kept_uses *kept)
{
    struct walk *w = &un->walk;
    uint32_t count = 0;
    if (kept->second == PT_NONE && w->asked.count >= w->long_list && w->asked.count >= kept->again) {
        kept->second = best_part(un);
        kept->again = 2 * w->asked.count;
    }
    if (kept->second == PT_NONE)
        return;
    uint32_t tip = pt_unfold_tip(un, w->root, kept->second);
    for (uint32_t i = 0; i < w->asked.count; i++) {
        uint32_t event = w->asked.items[i];
        if (!is_apart(w, tip, pt_unfold_tip(un, un->extended[event].root, kept->second)))
            w->asked.items[count++] = event;
    }
    w->asked.count = count;
}

static inline void add_use(struct unfolder *un, uint32_t event, uint32_t *list)
{
    struct walk *w = &un->walk;
    uint32_t use = w->use_count++;
    w->uses[use].event = event;
    if (*list < LISTED)
        put(w, use, list);
    else
        insert(un, &w->kept[*list - LISTED], w->kept[*list - LISTED].first, use);
}

void pt_unfold_uses_add(struct unfolder *un, uint32_t event)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    struct walk *w = &un->walk;
    if (event == 0)
        return;
    const struct pt_net_transition *t = &un->net->transitions[e->transition];
    const uint32_t *pre = un->u->pre + e->pre_start, *slots = un->consumer_slot + t->pre_start;
    uint32_t consumed = pt_net_consumed(un->net, e->transition);
    PT_GROW(w->uses, w->use_cap, (size_t)w->use_count + t->pre_count);
    for (uint32_t i = 0; i < t->pre_count; i++) {
        uint32_t group = pt_unfold_groups(un, un->u->condition_place[pre[i]]);
        if (i < consumed)
            group = group > 1 ? slots[i] : 0;
        add_use(un, event, pt_unfold_use_list(un, pre[i], group));
    }
    pt_unfold_walk_charge(un, t->pre_count * sizeof(struct use));
}

/* --- Questions --------------------------------------------------------------------------------------------------- */

/* Lists all uses below a fork. */
static void list_below(struct walk *w, uint32_t fork)
{
    w->below.count = 0;
    pt_list_add(&w->below, fork);
    while (w->below.count > 0) {
        const struct fork *f = &w->forks[w->below.items[--w->below.count]];
        list_uses(w, f->uses);
        for (uint32_t child = f->child; child; child = w->forks[child - 1].next)
            pt_list_add(&w->below, child - 1);
        w->work++;
    }
}

/* Lists those whose histories' paths are a beginning of that to a node, or the other way round. */
static void list_fitting(struct walk *w, const struct kept_uses *kept, uint32_t node)
{
    uint32_t fork = kept->first, depth = w->nodes[node].depth;
    while (fork != PT_NONE) {
        const struct fork *f = &w->forks[fork];
        uint32_t top = f->top, top_depth = top == PT_NONE ? 0 : w->nodes[top].depth;
        w->work++;
        if (top != PT_NONE && depth > top_depth) {
            if (pt_unfold_above(w, node, top_depth) != top)
                return;
            list_uses(w, f->uses);
            fork = pt_map64_get(&w->ways, way_on(w, fork, node));
            continue;
        }
        if (top == PT_NONE || pt_unfold_above(w, top, depth) == node)
            list_below(w, fork);
        return;
    }
}

const struct list *pt_unfold_uses(struct unfolder *un, uint32_t *list)
{
    struct walk *w = &un->walk;
    w->asked.count = 0;
    if (*list < LISTED) {
        list_uses(w, *list);
        if (pt_unfold_is_short(w, *list))
            return &w->asked;
        keep_by_part(un, list);
    }
    if (*list >= LISTED) {
        struct kept_uses *kept = &w->kept[*list - LISTED];
        w->asked.count = 0;
        list_fitting(w, kept, pt_unfold_tip(un, w->root, kept->part));
        narrow(un, kept);
    }
    return &w->asked;
}
