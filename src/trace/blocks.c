/*
 * Small blocks that begin where a granule does, as nearly all do, are found by their granules. The others are in a
 * treap: a search tree by address whose shape is that of random insertions, since a hash of the address decides who is
 * above whom.
 *
 * Cost: of a small block by its granules, for each function and each block removed; of others, expected logarithmic
 * time in how many of them there are. To find that memory has no block costs by its granules, where there were small
 * ones in their pages. Memory: 40 bytes for each of the most blocks that there were at a time, and 4 for each granule
 * in pages with small ones.
 */
#include "trace/blocks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

enum { SMALL = 2048 };

struct pt_block_node {
    struct pt_block block;
    uint32_t left, right; /* PT_NONE: nothing. `right` chains those that are free */
};

void pt_blocks_init(struct pt_blocks *b)
{
    *b = (struct pt_blocks){.root = PT_NONE, .free = PT_NONE};
    pt_pages_begin(&b->pages, PT_PAGE_GRANULES * sizeof(uint32_t));
}

void pt_blocks_release(struct pt_blocks *b)
{
    free(b->nodes);
    pt_pages_release(&b->pages);
}

/* --- the tree --- */

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

static const struct pt_block *first_in_tree(const struct pt_blocks *b, uint64_t low, uint64_t high)
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

static void remove_from_tree(struct pt_blocks *b, uint64_t low)
{
    uint32_t before, rest, node;
    split(b, b->root, low, &before, &rest);
    split(b, rest, low + 1, &node, &rest);
    b->root = merge(b, before, rest);
    b->nodes[node].right = b->free;
    b->free = node;
}

/* --- the granules --- */

static bool is_small(const struct pt_block *block)
{
    return block->size <= SMALL && !(block->low & 7);
}

static void set_granules(struct pt_blocks *b, const struct pt_block *block, uint32_t number)
{
    for (uint64_t at = block->low; at < block->low + block->size; at += 8) {
        uint32_t *page = pt_pages_at(&b->pages, at >> PT_PAGE_BITS, true);
        page[(at >> 3) % PT_PAGE_GRANULES] = number;
    }
}

static void remove_small(struct pt_blocks *b, const struct pt_block *block)
{
    const uint32_t *page = pt_pages_at(&b->pages, block->low >> PT_PAGE_BITS, false);
    uint32_t node = page[(block->low >> 3) % PT_PAGE_GRANULES] - 1;
    set_granules(b, block, 0);
    b->nodes[node].right = b->free;
    b->free = node;
}

/* In a page, where there is one. */
static const struct pt_block *first_in_page(const struct pt_blocks *b, const struct pt_page *in, uint64_t low,
                                            uint64_t high)
{
    const uint32_t *numbers = in->granules;
    uint64_t from = in->page << PT_PAGE_BITS, to = from + (1 << PT_PAGE_BITS);
    from = from < low ? low : from;
    to = to > high ? high : to;
    for (uint64_t granule = from >> 3; granule <= (to - 1) >> 3; granule++) {
        uint32_t number = numbers[granule % PT_PAGE_GRANULES];
        const struct pt_block *block = number ? &b->nodes[number - 1].block : NULL;
        if (block && block->low < high && block->low + block->size > low)
            return block;
    }
    return NULL;
}

static const struct pt_block *first_small(const struct pt_blocks *b, uint64_t low, uint64_t high)
{
    uint64_t first = low >> PT_PAGE_BITS, last = (high - 1) >> PT_PAGE_BITS;
    const struct pt_block *found = NULL, *block;
    if (last - first >= b->pages.count) {
        for (uint32_t i = 0; i < b->pages.count; i++) {
            const struct pt_page *page = &b->pages.pages[i];
            block = page->page >= first && page->page <= last ? first_in_page(b, page, low, high) : NULL;
            if (block && (!found || block->low < found->low))
                found = block;
        }
        return found;
    }
    for (uint64_t page = first; page <= last && !found; page++) {
        struct pt_page at = {page, pt_pages_find(&b->pages, page)};
        found = at.granules ? first_in_page(b, &at, low, high) : NULL;
    }
    return found;
}

/* --- both --- */

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
    if (is_small(&block)) {
        set_granules(b, &block, node + 1);
        return;
    }
    split(b, b->root, block.low, &before, &rest);
    b->root = merge(b, merge(b, before, node), rest);
}

const struct pt_block *pt_blocks_first(const struct pt_blocks *b, uint64_t low, uint64_t high)
{
    if (low >= high)
        return NULL;
    const struct pt_block *small = first_small(b, low, high), *other = first_in_tree(b, low, high);
    return !small || (other && other->low < small->low) ? other : small;
}

void pt_blocks_remove(struct pt_blocks *b, uint64_t low, uint64_t high)
{
    const struct pt_block *block;
    while ((block = pt_blocks_first(b, low, high))) {
        struct pt_block gone = *block;
        if (is_small(&gone))
            remove_small(b, &gone);
        else
            remove_from_tree(b, gone.low);
    }
}
