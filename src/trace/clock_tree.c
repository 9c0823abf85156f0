/*
 * Clocks as trees with a fan of 16, nodes counted by reference.
 *
 * Guarantee: a node that is reached from two clocks is never written; a join that adds nothing to an operand's node
 * gives that very node, so that those who know the same have the same nodes. Cost: get and raise O(levels), of which
 * there are as many as the largest thread id has hexadecimal digits, less one; join and news visit the nodes that
 * differ.
 */
#include "trace/clock_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One whose content the caller fills. */
static struct pt_tree_node *node_take(struct pt_tree_pool *pool)
{
    struct pt_tree_node *node = pool->spare;
    if (node)
        pool->spare = node->next_spare;
    else
        node = pt_xmalloc(sizeof *node);
    node->refs = 1;
    pool->bytes += sizeof *node;
    return node;
}

static struct pt_tree_node *node_new(struct pt_tree_pool *pool)
{
    struct pt_tree_node *node = node_take(pool);
    memset(node->child, 0, sizeof node->child);
    return node;
}

void pt_tree_pool_release(struct pt_tree_pool *pool)
{
    for (struct pt_tree_node *node = pool->spare, *next; node; node = next) {
        next = node->next_spare;
        free(node);
    }
    *pool = (struct pt_tree_pool){0};
}

static struct pt_tree_node *node_ref(struct pt_tree_node *node)
{
    if (node)
        node->refs++;
    return node;
}

static void node_unref(struct pt_tree_pool *pool, struct pt_tree_node *node, uint32_t level)
{
    if (!node || --node->refs)
        return;
    for (uint32_t i = 0; level && i < PT_TREE_FAN; i++)
        node_unref(pool, node->child[i], level - 1);
    node->next_spare = pool->spare;
    pool->spare = node;
    pool->bytes -= sizeof *node;
}

uint64_t pt_tree_span(const struct pt_tree *tree)
{
    return tree->root ? UINT64_C(1) << (tree->levels + 1) * PT_TREE_BITS : 0;
}

const uint64_t *pt_tree_leaf(const struct pt_tree *tree, uint32_t first)
{
    const struct pt_tree_node *node = first < pt_tree_span(tree) ? tree->root : NULL;
    for (uint32_t level = tree->levels; level && node; level--)
        node = node->child[first >> level * PT_TREE_BITS & (PT_TREE_FAN - 1)];
    return node ? node->count : NULL;
}

struct pt_tree pt_tree_copy(const struct pt_tree *tree)
{
    node_ref(tree->root);
    return *tree;
}

void pt_tree_release(struct pt_tree_pool *pool, struct pt_tree *tree)
{
    node_unref(pool, tree->root, tree->levels);
    *tree = (struct pt_tree){0};
}

/* Until it has so many levels: what it was becomes the first child. */
static void grow(struct pt_tree_pool *pool, struct pt_tree *tree, uint32_t levels)
{
    for (; tree->levels < levels; tree->levels++) {
        if (!tree->root)
            continue;
        struct pt_tree_node *above = node_new(pool);
        above->child[0] = tree->root;
        tree->root = above;
    }
}

/* The node in *place, for writing: a copy where others have it too. */
static struct pt_tree_node *own(struct pt_tree_pool *pool, struct pt_tree_node **place, uint32_t level)
{
    struct pt_tree_node *node = *place;
    if (node && node->refs == 1)
        return node;
    *place = node ? node_take(pool) : node_new(pool);
    if (!node)
        return *place;
    memcpy((*place)->child, node->child, sizeof node->child);
    for (uint32_t i = 0; level && i < PT_TREE_FAN; i++)
        node_ref(node->child[i]);
    node->refs--;
    return *place;
}

void pt_tree_raise(struct pt_tree_pool *pool, struct pt_tree *tree, uint32_t thread, uint64_t count)
{
    uint32_t levels = tree->levels;
    if (pt_tree_get(tree, thread) >= count)
        return;
    while ((uint64_t)thread >> (levels + 1) * PT_TREE_BITS)
        levels++;
    grow(pool, tree, levels);
    struct pt_tree_node **place = &tree->root;
    for (uint32_t level = tree->levels; level; level--)
        place = &own(pool, place, level)->child[thread >> level * PT_TREE_BITS & (PT_TREE_FAN - 1)];
    own(pool, place, 0)->count[thread & (PT_TREE_FAN - 1)] = count;
}

static struct pt_tree_node *join_nodes(struct pt_tree_pool *pool, struct pt_tree_node *a, struct pt_tree_node *b,
                                       uint32_t level);

static struct pt_tree_node *join_leaves(struct pt_tree_pool *pool, struct pt_tree_node *a, struct pt_tree_node *b)
{
    uint32_t a_less = 0, b_less = 0;
    for (uint32_t i = 0; i < PT_TREE_FAN; i++) {
        a_less |= a->count[i] < b->count[i];
        b_less |= b->count[i] < a->count[i];
    }
    if (!a_less || !b_less)
        return node_ref(a_less ? b : a);
    struct pt_tree_node *node = node_take(pool);
    for (uint32_t i = 0; i < PT_TREE_FAN; i++)
        node->count[i] = a->count[i] > b->count[i] ? a->count[i] : b->count[i];
    return node;
}

/* Their join, with a reference for the caller. */
static struct pt_tree_node *join_nodes(struct pt_tree_pool *pool, struct pt_tree_node *a, struct pt_tree_node *b,
                                       uint32_t level)
{
    if (a == b || !a || !b)
        return node_ref(a ? a : b);
    if (!level)
        return join_leaves(pool, a, b);
    struct pt_tree_node *joined[PT_TREE_FAN];
    bool is_a = true, is_b = true;
    for (uint32_t i = 0; i < PT_TREE_FAN; i++) {
        joined[i] = join_nodes(pool, a->child[i], b->child[i], level - 1);
        is_a &= joined[i] == a->child[i];
        is_b &= joined[i] == b->child[i];
    }
    if (is_a || is_b) {
        for (uint32_t i = 0; i < PT_TREE_FAN; i++)
            node_unref(pool, joined[i], level - 1);
        return node_ref(is_a ? a : b);
    }
    struct pt_tree_node *node = node_take(pool);
    memcpy(node->child, joined, sizeof joined);
    return node;
}

void pt_tree_join(struct pt_tree_pool *pool, struct pt_tree *tree, const struct pt_tree *other)
{
    struct pt_tree with = pt_tree_copy(other);
    uint32_t levels = tree->levels > with.levels ? tree->levels : with.levels;
    grow(pool, tree, levels);
    grow(pool, &with, levels);
    struct pt_tree_node *joined = join_nodes(pool, tree->root, with.root, levels);
    node_unref(pool, tree->root, levels);
    tree->root = joined;
    pt_tree_release(pool, &with);
}

static bool node_news(const struct pt_tree_node *now, const struct pt_tree_node *before, uint32_t level, uint32_t first,
                      pt_tree_take take, void *context)
{
    if (now == before)
        return true;
    if (!now) /* no node is all zero */
        return false;
    for (uint32_t i = 0; level && i < PT_TREE_FAN; i++)
        if (!node_news(now->child[i], before ? before->child[i] : NULL, level - 1, first | i << level * PT_TREE_BITS,
                       take, context))
            return false;
    if (level)
        return true;
    for (uint32_t i = 0; before && i < PT_TREE_FAN; i++)
        if (now->count[i] < before->count[i])
            return false;
    take(context, first, now->count);
    return true;
}

bool pt_tree_news(const struct pt_tree *tree, const struct pt_tree *before, pt_tree_take take, void *context)
{
    return (!before->root || before->levels == tree->levels) &&
           node_news(tree->root, before->root, tree->levels, 0, take, context);
}
