/*
 * Minimisation of a deterministic automaton with BDD labels, by partition refinement in the manner of Hopcroft, told
 * as Valmari and Franceschinis ("Simple O(m log n) time Markov chain lumping", 2010) do for weights: a splitter block
 * gives each state the label under which it goes there, and states of one block with different labels part. BDDs are
 * canonical, so comparing labels is comparing ids, and no letter is enumerated. When a block parts, its largest piece
 * need not be a splitter: the labels of one state are disjoint, so the label into that piece follows from the labels
 * into the block and into the other pieces.
 *
 * Cost: O(m log n) label operations, plus sorting; m edges, n states.
 */
#include "logic/ere/node.h"

#include <stdlib.h>

#include "base/mem.h"

struct touched {
    uint32_t block;
    pt_bdd label;
    uint32_t state;
};

struct source {
    uint32_t state;
    pt_bdd label;
};

struct partition {
    uint32_t *members;  /* states, those of one block adjacent */
    uint32_t *place;    /* per state: where it stands in members */
    uint32_t *block_of; /* per state; the caller's */
    uint32_t *begin, *end;
    bool *queued;
    uint32_t *queue;
    uint32_t blocks, queued_count;
};

static int by_block_and_label(const void *left, const void *right)
{
    const struct touched *a = left, *b = right;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->label != b->label)
        return a->label < b->label ? -1 : 1;
    return a->state < b->state ? -1 : a->state > b->state;
}

static void enqueue(struct partition *part, uint32_t block)
{
    if (!part->queued[block]) {
        part->queued[block] = true;
        part->queue[part->queued_count++] = block;
    }
}

/* Moves the states of one label out of their block into a new one. */
static void cut_off(struct partition *part, const struct touched *group, uint32_t count)
{
    uint32_t old = group[0].block, made = part->blocks++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t state = group[i].state, at = part->place[state], last = --part->end[old];
        uint32_t other = part->members[last];
        part->members[at] = other;
        part->place[other] = at;
        part->members[last] = state;
        part->place[state] = last;
        part->block_of[state] = made;
    }
    part->begin[made] = part->end[old];
    part->end[made] = part->begin[made] + count;
    part->queued[made] = false;
}

/* Splits one block; `list` are its touched states, sorted by label. Untouched states have label false. */
static void split(struct partition *part, const struct touched *list, uint32_t count)
{
    uint32_t block = list[0].block, before = part->blocks;
    bool all = count == part->end[block] - part->begin[block];
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && list[next].label == list[i].label;)
            next++;
        if (i > 0 || !all)
            cut_off(part, list + i, next - i);
    }
    if (part->blocks == before)
        return;
    uint32_t largest = block;
    for (uint32_t b = before; b < part->blocks; b++)
        if (part->end[b] - part->begin[b] > part->end[largest] - part->begin[largest])
            largest = b;
    bool was_queued = part->queued[block];
    if (was_queued || largest != block)
        enqueue(part, block);
    for (uint32_t b = before; b < part->blocks; b++)
        if (was_queued || largest != b)
            enqueue(part, b);
}

/* The edges, turned round: sources of state d are list[at[d]] .. list[at[d + 1] - 1]. */
static struct source *sources(uint32_t count, const uint32_t *first, const struct pt_edge *edges, uint32_t *at)
{
    struct source *list = pt_xmalloc((first[count] + 1) * sizeof *list);
    for (uint32_t e = 0; e < first[count]; e++)
        at[edges[e].dst + 1]++;
    for (uint32_t s = 0; s < count; s++)
        at[s + 1] += at[s];
    for (uint32_t s = count; s-- > 0;)
        for (uint32_t e = first[s + 1]; e-- > first[s];)
            list[--at[edges[e].dst + 1]] = (struct source){.state = s, .label = edges[e].label};
    /* at[d + 1] has come down to where d's sources begin; shift it into place. */
    for (uint32_t s = 0; s < count; s++)
        at[s] = at[s + 1];
    at[count] = first[count];
    return list;
}

/* Refines until no splitter is left; false on overflow of the BDD manager. */
static bool refine(struct partition *part, struct pt_bdds *bdds, const struct source *list, const uint32_t *at,
                   pt_bdd *into, struct touched *touched)
{
    while (part->queued_count > 0) {
        uint32_t splitter = part->queue[--part->queued_count], count = 0;
        part->queued[splitter] = false;
        for (uint32_t i = part->begin[splitter]; i < part->end[splitter]; i++) {
            uint32_t dst = part->members[i];
            for (uint32_t e = at[dst]; e < at[dst + 1]; e++) {
                uint32_t src = list[e].state;
                if (into[src] == PT_BDD_FALSE)
                    touched[count++] = (struct touched){.block = part->block_of[src], .state = src};
                into[src] = pt_bdd_or(bdds, into[src], list[e].label);
                if (into[src] == PT_BDD_OVERFLOW)
                    return false;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            touched[i].label = into[touched[i].state];
            into[touched[i].state] = PT_BDD_FALSE;
        }
        qsort(touched, count, sizeof *touched, by_block_and_label);
        for (uint32_t i = 0, next; i < count; i = next) {
            for (next = i + 1; next < count && touched[next].block == touched[i].block;)
                next++;
            split(part, touched + i, next - i);
        }
    }
    return true;
}

uint32_t pt_ere_partition(struct pt_bdds *bdds, uint32_t count, const uint32_t *first, const struct pt_edge *edges,
                          uint32_t *block_of)
{
    uint32_t *words = pt_xcalloc((size_t)count * 6 + 1, sizeof *words); /* one allocation for the arrays below */
    struct partition part = {.members = words,
                             .place = words + count,
                             .block_of = block_of,
                             .begin = words + (size_t)count * 2,
                             .end = words + (size_t)count * 3,
                             .queue = words + (size_t)count * 4,
                             .blocks = 1};
    uint32_t *at = words + (size_t)count * 5;
    part.queued = pt_xcalloc(count, sizeof *part.queued);
    for (uint32_t s = 0; s < count; s++) {
        part.members[s] = part.place[s] = s;
        block_of[s] = 0;
    }
    part.end[0] = count;
    enqueue(&part, 0);
    struct source *list = sources(count, first, edges, at);
    pt_bdd *into = pt_xcalloc(count, sizeof *into);
    struct touched *touched = pt_xmalloc((count + (size_t)1) * sizeof *touched);
    bool done = refine(&part, bdds, list, at, into, touched);
    free(touched);
    free(into);
    free(list);
    free(part.queued);
    free(words);
    return done ? part.blocks : 0;
}
