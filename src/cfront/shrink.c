/*
 * The same behaviour in fewer nodes: silent links are followed once and for all, then nodes with equal futures are
 * merged.
 *
 * Kept are the start and the targets of labelled links; each gets the labelled links that can be reached from it
 * silently. Merging is Moore's partition refinement, by hashing each node's (label, class) pairs until the number of
 * classes stays the same: at most as many rounds as there are nodes, usually a handful.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/graph.h"

enum { NODE_START = 0, NODE_STOP = 1 };

struct shrinker {
    const struct pt_cf_link *links;
    uint32_t *first;   /* by node: index into by_from; [node + 1] is the end */
    uint32_t *by_from; /* link numbers */
    uint32_t *kept;    /* by node: number among kept nodes, PT_NONE */
    uint32_t kept_count;
    struct pt_cf_link *closed; /* between kept nodes, sorted by `from` */
    size_t closed_count, closed_cap;
    bool *stops; /* by kept node: the thread may end without doing anything more */
    uint32_t *class_of;
};

static void index_links(struct shrinker *s, size_t count, uint32_t node_count)
{
    s->first = pt_xcalloc((size_t)node_count + 2, sizeof *s->first);
    s->by_from = pt_xcalloc(count + 1, sizeof *s->by_from);
    for (size_t i = 0; i < count; i++)
        s->first[s->links[i].from + 1]++;
    for (uint32_t n = 0; n < node_count; n++)
        s->first[n + 1] += s->first[n];
    uint32_t *next = pt_xcalloc((size_t)node_count + 1, sizeof *next);
    memcpy(next, s->first, node_count * sizeof *next);
    for (size_t i = 0; i < count; i++)
        s->by_from[next[s->links[i].from]++] = (uint32_t)i;
    free(next);
}

static uint32_t keep(struct shrinker *s, uint32_t node, uint32_t *order)
{
    if (s->kept[node] == PT_NONE) {
        order[s->kept_count] = node;
        s->kept[node] = s->kept_count++;
    }
    return s->kept[node];
}

/* The labelled links that leave `node` after any number of silent ones. */
static void close_node(struct shrinker *s, uint32_t node, uint32_t *seen, uint32_t *stack, uint32_t *order)
{
    uint32_t me = s->kept[node], height = 0, mark = me + 1;
    stack[height++] = node;
    seen[node] = mark;
    while (height > 0) {
        uint32_t at = stack[--height];
        if (at == NODE_STOP)
            s->stops[me] = true;
        for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++) {
            const struct pt_cf_link *link = &s->links[s->by_from[i]];
            if (link->label != PT_NONE) {
                struct pt_cf_link closed = {me, link->label, keep(s, link->to, order)};
                PT_PUSH(s->closed, s->closed_count, s->closed_cap, closed);
            } else if (seen[link->to] != mark) {
                seen[link->to] = mark;
                stack[height++] = link->to;
            }
        }
    }
}

static int by_all(const void *a, const void *b)
{
    const struct pt_cf_link *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static void close_all(struct shrinker *s, uint32_t node_count)
{
    uint32_t *seen = pt_xcalloc((size_t)node_count + 1, sizeof *seen),
             *stack = pt_xcalloc((size_t)node_count + 1, sizeof *stack);
    uint32_t *order = pt_xcalloc((size_t)node_count + 1, sizeof *order);
    s->kept = pt_xmalloc((size_t)node_count * sizeof *s->kept);
    s->stops = pt_xcalloc((size_t)node_count + 1, sizeof *s->stops);
    for (uint32_t n = 0; n < node_count; n++)
        s->kept[n] = PT_NONE;
    keep(s, NODE_START, order);
    for (uint32_t i = 0; i < s->kept_count; i++)
        close_node(s, order[i], seen, stack, order);
    free(seen);
    free(stack);
    free(order);
}

/* One round of refinement; returns the number of classes. */
static uint32_t refine(struct shrinker *s)
{
    struct pt_cf_link *pairs = pt_xcalloc(s->closed_count + 1, sizeof *pairs);
    for (size_t i = 0; i < s->closed_count; i++)
        pairs[i] = (struct pt_cf_link){s->closed[i].from, s->closed[i].label, s->class_of[s->closed[i].to]};
    qsort(pairs, s->closed_count, sizeof *pairs, by_all);
    struct pt_strtab keys;
    pt_strtab_init(&keys);
    uint32_t *key = pt_xcalloc(2 * s->closed_count + 2, sizeof *key), *fresh = pt_xcalloc(s->kept_count, sizeof *fresh);
    size_t at = 0;
    for (uint32_t n = 0; n < s->kept_count; n++) {
        size_t len = 0;
        key[len++] = s->stops[n];
        for (; at < s->closed_count && pairs[at].from == n; at++) {
            if (len > 1 && key[len - 2] == pairs[at].label && key[len - 1] == pairs[at].to)
                continue;
            key[len++] = pairs[at].label;
            key[len++] = pairs[at].to;
        }
        fresh[n] = pt_strtab_intern(&keys, (const char *)key, len * sizeof *key);
    }
    uint32_t classes = keys.count;
    memcpy(s->class_of, fresh, s->kept_count * sizeof *fresh);
    pt_strtab_release(&keys);
    free(pairs);
    free(key);
    free(fresh);
    return classes;
}

static void add(struct pt_cf_small *to, uint32_t from, uint32_t label, uint32_t target)
{
    struct pt_cf_link link = {from, label, target};
    PT_PUSH(to->links, to->count, to->cap, link);
}

static void write_out(struct shrinker *s, uint32_t classes, bool ends, struct pt_cf_small *ret)
{
    bool *done = pt_xcalloc((size_t)classes + 1, sizeof *done),
         *leaves = pt_xcalloc((size_t)classes + 1, sizeof *leaves);
    *ret = (struct pt_cf_small){.node_count = classes, .start = s->class_of[0], .stop = PT_NONE};
    for (size_t i = 0; i < s->closed_count; i++)
        leaves[s->class_of[s->closed[i].from]] = true;
    for (uint32_t n = 0; n < s->kept_count && ends; n++)
        if (s->stops[n] && !leaves[s->class_of[n]])
            ret->stop = s->class_of[n];
    size_t at = 0;
    for (uint32_t n = 0; n < s->kept_count; n++) { /* one member speaks for its class */
        uint32_t class = s->class_of[n];
        size_t begin = ret->count;
        for (; at < s->closed_count && s->closed[at].from == n; at++) {
            uint32_t target = s->class_of[s->closed[at].to];
            bool repeated = done[class];
            for (size_t k = begin; k < ret->count && !repeated; k++)
                repeated = ret->links[k].label == s->closed[at].label && ret->links[k].to == target;
            if (!repeated)
                add(ret, class, s->closed[at].label, target);
        }
        if (!done[class] && ends && s->stops[n] && leaves[class]) {
            if (ret->stop == PT_NONE)
                ret->stop = ret->node_count++;
            add(ret, class, PT_CF_RETURN, ret->stop);
        }
        done[class] = true;
    }
    free(done);
    free(leaves);
}

void pt_cf_shrink(const struct pt_cf_link *links, size_t count, uint32_t node_count, bool ends, struct pt_cf_small *ret)
{
    struct shrinker s = {.links = links};
    index_links(&s, count, node_count);
    close_all(&s, node_count);
    if (!ends)
        memset(s.stops, 0, s.kept_count * sizeof *s.stops);
    s.class_of = pt_xcalloc((size_t)s.kept_count + 1, sizeof *s.class_of);
    uint32_t classes = 0, now = 1;
    while (now != classes) {
        classes = now;
        now = refine(&s);
    }
    write_out(&s, classes, ends, ret);
    free(s.first);
    free(s.by_from);
    free(s.kept);
    free(s.closed);
    free(s.stops);
    free(s.class_of);
}
