/*
 * Vector clocks of very many threads: immutable trees that share what they have in common. A clock that differs from
 * another in one count costs one path of small nodes, and joining two of them visits only what differs, so ten
 * thousand threads that know of each other need no ten thousand times ten thousand counts.
 */
#ifndef PT_TRACE_CLOCK_TREE_H
#define PT_TRACE_CLOCK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PT_TREE_BITS = 4, PT_TREE_FAN = 1 << PT_TREE_BITS };

struct pt_tree_node {
    union {
        struct pt_tree_node *child[PT_TREE_FAN]; /* NULL: all zero */
        uint64_t count[PT_TREE_FAN];             /* of a leaf */
        struct pt_tree_node *next_spare;
    };
    uint32_t refs;
};

/* Where nodes come from and go to. All zero: there are none. */
struct pt_tree_pool {
    struct pt_tree_node *spare;
    size_t bytes; /* of the nodes that are in use */
};
void pt_tree_pool_release(struct pt_tree_pool *pool); /* after its last clock */

/* All zero: the empty clock. Copied by pt_tree_copy alone. */
struct pt_tree {
    struct pt_tree_node *root;
    uint32_t levels; /* of inner nodes above the leaves */
};

struct pt_tree pt_tree_copy(const struct pt_tree *tree);
void pt_tree_release(struct pt_tree_pool *pool, struct pt_tree *tree);
/* The thread's count becomes at least this. */
void pt_tree_raise(struct pt_tree_pool *pool, struct pt_tree *tree, uint32_t thread, uint64_t count);
/* Each count becomes the larger of the two. */
void pt_tree_join(struct pt_tree_pool *pool, struct pt_tree *tree, const struct pt_tree *other);
/* The counts of PT_TREE_FAN threads from `first` on, a multiple of that; NULL: all zero. */
const uint64_t *pt_tree_leaf(const struct pt_tree *tree, uint32_t first);
static inline uint64_t pt_tree_get(const struct pt_tree *tree, uint32_t thread)
{
    const uint64_t *leaf = NULL;
    if (tree->levels)
        leaf = pt_tree_leaf(tree, thread);
    else if (tree->root && thread < PT_TREE_FAN)
        leaf = tree->root->count;
    return leaf ? leaf[thread & (PT_TREE_FAN - 1)] : 0;
}
/* For each leaf with other counts than `before` has there: take(context, its first thread, its counts). False, as soon
 * as that is seen, where a count is less than before, or that clock has another number of levels and is not empty. */
typedef void (*pt_tree_take)(void *context, uint32_t first, const uint64_t *counts);
bool pt_tree_news(const struct pt_tree *tree, const struct pt_tree *before, pt_tree_take take, void *context);
/* All threads that have a count are below this. */
uint64_t pt_tree_span(const struct pt_tree *tree);

#endif
