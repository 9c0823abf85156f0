/*
 * What libstdc++ has out of line of std::list, std::map, std::set and their kin: links of list nodes, and balancing of
 * red-black trees (Guibas and Sedgewick; Cormen et al., chapter 13). Its own definitions are in its shared object, not
 * instrumented, so that the links would change without an event. These take their place in programs: the build compiles
 * this file, with counted_body.c, to bitcode, and containers.c puts what a module calls into that module, to be
 * rewritten with it.
 *
 * The names are those of libstdc++, for people and for the linker, and the layouts its ABI's, which have not changed
 * since GCC 3.4. A tree's header has the root as its parent, and the first and the last node as its children; it is
 * red, as the root never is.
 *
 * Guarantee: trees and lists are as libstdc++ would leave them, balanced by the same rules; both may work on one object
 * (tests/programs/cc/containers.cpp compares them). Cost: as there, and the hooks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So that the place of an access is that of the call. */
#define INLINED __attribute__((always_inline))

struct list_node {
    struct list_node *next, *prev;
};

/* ---- lists ---- */

void _M_hook(struct list_node *self,
             struct list_node *position) __asm__("_ZNSt8__detail15_List_node_base7_M_hookEPS0_");
INLINED void _M_hook(struct list_node *self, struct list_node *position)
{
    self->next = position;
    self->prev = position->prev;
    position->prev->next = self;
    position->prev = self;
}

void _M_unhook(const struct list_node *self) __asm__("_ZNSt8__detail15_List_node_base9_M_unhookEv");
INLINED void _M_unhook(const struct list_node *self)
{
    struct list_node *next = self->next, *prev = self->prev;
    prev->next = next;
    next->prev = prev;
}

/* Moves [first, last) to before `self`. */
void _M_transfer(struct list_node *self, struct list_node *first,
                 struct list_node *last) __asm__("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_");
INLINED void _M_transfer(struct list_node *self, struct list_node *first, struct list_node *last)
{
    if (self == last)
        return;
    struct list_node *end = last->prev;
    end->next = self;
    first->prev->next = last;
    last->prev = first->prev;
    self->prev->next = first;
    first->prev = self->prev;
    self->prev = end;
}

void _M_reverse(struct list_node *self) __asm__("_ZNSt8__detail15_List_node_base10_M_reverseEv");
INLINED void _M_reverse(struct list_node *self)
{
    struct list_node *node = self;
    do {
        struct list_node *next = node->next;
        node->next = node->prev;
        node->prev = next;
        node = next;
    } while (node != self);
}

/* The neighbours of a head's list get to know that it is somewhere else now; an empty one has itself. */
static inline INLINED void adopt(struct list_node *head, const struct list_node *was, struct list_node links)
{
    if (links.next == was) {
        head->next = head->prev = head;
        return;
    }
    *head = links;
    head->next->prev = head->prev->next = head;
}

void swap(struct list_node *one, struct list_node *two) __asm__("_ZNSt8__detail15_List_node_base4swapERS0_S1_");
INLINED void swap(struct list_node *one, struct list_node *two)
{
    struct list_node first = *one, second = *two;
    adopt(one, two, second);
    adopt(two, one, first);
}

/* ---- trees ---- */

enum colour { RED, BLACK };

struct tree_node {
    enum colour colour;
    struct tree_node *parent, *left, *right;
};

static bool is_black(const struct tree_node *node)
{
    return !node || node->colour == BLACK;
}

static struct tree_node *first_of(struct tree_node *node)
{
    while (node->left)
        node = node->left;
    return node;
}

static struct tree_node *last_of(struct tree_node *node)
{
    while (node->right)
        node = node->right;
    return node;
}

/* What hung from `parent` as `old`, which may be the root, is `now` instead. */
static void replace_child(struct tree_node *header, struct tree_node *parent, const struct tree_node *old,
                          struct tree_node *now)
{
    if (parent == header)
        header->parent = now;
    else if (parent->left == old)
        parent->left = now;
    else
        parent->right = now;
    if (now)
        now->parent = parent;
}

/* The child on that side comes up, and the node down on the other. */
static void rotate(struct tree_node *header, struct tree_node *node, bool to_left)
{
    struct tree_node *up = to_left ? node->right : node->left;
    struct tree_node *between = to_left ? up->left : up->right;
    if (to_left)
        node->right = between;
    else
        node->left = between;
    if (between)
        between->parent = node;
    replace_child(header, node->parent, node, up);
    if (to_left)
        up->left = node;
    else
        up->right = node;
    node->parent = up;
}

void _Rb_tree_insert_and_rebalance(
    bool left, struct tree_node *node, struct tree_node *parent,
    struct tree_node *header) __asm__("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_");
void _Rb_tree_insert_and_rebalance(bool left, struct tree_node *node, struct tree_node *parent,
                                   struct tree_node *header)
{
    node->parent = parent;
    node->left = node->right = NULL;
    node->colour = RED;
    if (parent == header) {
        header->parent = header->left = header->right = node;
    } else if (left) {
        parent->left = node;
        if (header->left == parent)
            header->left = node;
    } else {
        parent->right = node;
        if (header->right == parent)
            header->right = node;
    }
    while (node != header->parent && node->parent->colour == RED) {
        struct tree_node *above = node->parent->parent;
        bool on_left = node->parent == above->left;
        struct tree_node *uncle = on_left ? above->right : above->left;
        if (!is_black(uncle)) {
            node->parent->colour = uncle->colour = BLACK;
            above->colour = RED;
            node = above;
            continue;
        }
        if (node == (on_left ? node->parent->right : node->parent->left)) {
            node = node->parent;
            rotate(header, node, on_left);
        }
        node->parent->colour = BLACK;
        above->colour = RED;
        rotate(header, above, !on_left);
    }
    header->parent->colour = BLACK;
}

/* A black node is missing on the way to `node`, which may be none, below `parent`. */
static void restore_black(struct tree_node *header, struct tree_node *node, struct tree_node *parent)
{
    while (node != header->parent && is_black(node)) {
        bool on_left = node == parent->left;
        struct tree_node *sibling = on_left ? parent->right : parent->left;
        if (sibling->colour == RED) {
            sibling->colour = BLACK;
            parent->colour = RED;
            rotate(header, parent, on_left);
            sibling = on_left ? parent->right : parent->left;
        }
        struct tree_node *near = on_left ? sibling->left : sibling->right;
        struct tree_node *far = on_left ? sibling->right : sibling->left;
        if (is_black(near) && is_black(far)) {
            sibling->colour = RED;
            node = parent;
            parent = parent->parent;
            continue;
        }
        if (is_black(far)) {
            near->colour = BLACK;
            sibling->colour = RED;
            rotate(header, sibling, !on_left);
            sibling = near;
            far = on_left ? sibling->right : sibling->left;
        }
        sibling->colour = parent->colour;
        parent->colour = far->colour = BLACK;
        rotate(header, parent, on_left);
        return;
    }
    if (node)
        node->colour = BLACK;
}

/* The node has no more than one child, which takes its place. */
static struct tree_node *cut_out(struct tree_node *header, struct tree_node *node)
{
    struct tree_node *child = node->left ? node->left : node->right;
    replace_child(header, node->parent, node, child);
    if (header->left == node)
        header->left = child ? first_of(child) : node->parent;
    if (header->right == node)
        header->right = child ? last_of(child) : node->parent;
    return child;
}

/* The next node takes the node's place and colour, and gives its own to the place where it was. */
static struct tree_node *put_next_in(struct tree_node *header, struct tree_node *node, struct tree_node **ret_below)
{
    struct tree_node *next = first_of(node->right), *child = next->right;
    enum colour colour = next->colour;
    *ret_below = next->parent == node ? next : next->parent;
    if (next->parent != node) {
        replace_child(header, next->parent, next, child);
        next->right = node->right;
        node->right->parent = next;
    }
    next->left = node->left;
    node->left->parent = next;
    replace_child(header, node->parent, node, next);
    next->colour = node->colour;
    node->colour = colour;
    return child;
}

struct tree_node *_Rb_tree_rebalance_for_erase(struct tree_node *node, struct tree_node *header) __asm__(
    "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_");
struct tree_node *_Rb_tree_rebalance_for_erase(struct tree_node *node, struct tree_node *header)
{
    struct tree_node *below = node->parent;
    bool inner = node->left && node->right;
    struct tree_node *child = inner ? put_next_in(header, node, &below) : cut_out(header, node);
    if (node->colour == BLACK)
        restore_black(header, child, below);
    return node;
}

static struct tree_node *next_of(struct tree_node *node)
{
    if (node->right)
        return first_of(node->right);
    struct tree_node *above = node->parent;
    while (node == above->right) {
        node = above;
        above = above->parent;
    }
    return node->right != above ? above : node; /* else the root is the last, and `node` the header */
}

static struct tree_node *before(struct tree_node *node)
{
    if (node->colour == RED && node->parent->parent == node)
        return node->right; /* the header's: the last */
    if (node->left)
        return last_of(node->left);
    struct tree_node *above = node->parent;
    while (node == above->left) {
        node = above;
        above = above->parent;
    }
    return above;
}

struct tree_node *_Rb_tree_increment(struct tree_node *node) __asm__("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base");
struct tree_node *_Rb_tree_increment(struct tree_node *node)
{
    return next_of(node);
}

struct tree_node *
_Rb_tree_increment_const(struct tree_node *node) __asm__("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base");
struct tree_node *_Rb_tree_increment_const(struct tree_node *node)
{
    return next_of(node);
}

struct tree_node *_Rb_tree_decrement(struct tree_node *node) __asm__("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base");
struct tree_node *_Rb_tree_decrement(struct tree_node *node)
{
    return before(node);
}

struct tree_node *
_Rb_tree_decrement_const(struct tree_node *node) __asm__("_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base");
struct tree_node *_Rb_tree_decrement_const(struct tree_node *node)
{
    return before(node);
}

/* One bitcode for all. */
#include "instrument/counted_body.c"
