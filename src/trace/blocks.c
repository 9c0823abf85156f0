/*
 * A treap: a search tree by address whose shape is that of random insertions, since a hash of the address decides who
 * is above whom.
 *
 * Cost: expected logarithmic time for each function, and each block removed. Memory: 40 bytes for each of the most
 * blocks that there were at a time.
 */
#include "trace/blocks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

struct pt_block_node {
    struct pt_block block;
    uint32_t left, right; /* PT_NONE: nothing. `right` chains those that are free */
};

void pt_blocks_init(struct pt_blocks *b)
{
    *b = (struct pt_blocks){.root = PT_NONE, .free = PT_NONE};
}

void pt_blocks_release(struct pt_blocks *b)
{
    free(b->nodes);
}

static uint64_t priority(const struct pt_blocks *b, uint32_t node)
{
    return pt_mix64(b->nodes[node].block.low);
}

/* The blocks that begin before `at`, and the others. */
static void split(struct pt_blocks *b, uint32_t tree, uint64_t at, uint32_t *ret_before, uint32_t *ret_rest)
{
    while (tree != PT_NONE) {
        struct pt_block_node *node = &b->nodes[tree];
        if (node->block.low < at) {
            *ret_before = tree;
            ret_before = &node->right;
            tree = node->right;
        } else {
            *ret_rest = tree;
            ret_rest = &node->left;
            tree = node->left;
        }
    }
    *ret_before = *ret_rest = PT_NONE;
}

/* All of `before` begins before all of `rest`. */
static uint32_t merge(struct pt_blocks *b, uint32_t before, uint32_t rest)
{
    uint32_t root, *link = &root;
    while (before != PT_NONE && rest != PT_NONE) {
        bool first = priority(b, before) > priority(b, rest);
        *link = first ? before : rest;
        link = first ? &b->nodes[before].right : &b->nodes[rest].left;
        *(first ? &before : &rest) = *link;
    }
    *link = before == PT_NONE ? rest : before;
    return root;
}

void pt_blocks_add(struct pt_blocks *b, struct pt_block block)
{
    uint32_t before, rest, node = b->free;
    struct pt_block_node made = {block, PT_NONE, PT_NONE};
    if (node != PT_NONE) {
        b->free = b->nodes[node].right;
        b->nodes[node] = made;
    } else {
        node = b->count;
        PT_PUSH(b->nodes, b->count, b->cap, made);
    }
    split(b, b->root, block.low, &before, &rest);
    b->root = merge(b, merge(b, before, node), rest);
}

const struct pt_block *pt_blocks_first(const struct pt_blocks *b, uint64_t low, uint64_t high)
{
    const struct pt_block *first = NULL;
    for (uint32_t at = b->root; at != PT_NONE;) {
        const struct pt_block_node *node = &b->nodes[at];
        bool ends_before = node->block.low <= low && low - node->block.low >= node->block.size;
        if (!ends_before && node->block.low < high)
            first = &node->block;
        at = ends_before ? node->right : node->left;
    }
    return first;
}

void pt_blocks_remove(struct pt_blocks *b, uint64_t low, uint64_t high)
{
    const struct pt_block *block;
    while ((block = pt_blocks_first(b, low, high))) {
        uint32_t before, rest, node;
        uint64_t at = block->low;
        split(b, b->root, at, &before, &rest);
        split(b, rest, at + 1, &node, &rest);
        b->root = merge(b, before, rest);
        b->nodes[node].right = b->free;
        b->free = node;
    }
}
