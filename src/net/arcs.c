#include "net/arcs.h"

#include <stdlib.h>
#include <string.h>

void pt_arcs_add(struct pt_arcs *arcs, uint32_t transition, uint32_t place, bool out)
{
    struct pt_arc arc = {transition, place, out};
    PT_PUSH(arcs->items, arcs->count, arcs->cap, arc);
}

void pt_arcs_release(struct pt_arcs *arcs)
{
    free(arcs->items);
    *arcs = (struct pt_arcs){0};
}

/* The arcs of one direction, by transition, in the order they were added: a counting sort. */
static void take_arcs(const struct pt_arcs *arcs, bool out, struct pt_net *net)
{
    uint32_t first = net->arc_count, *next = pt_xcalloc((size_t)net->transition_count + 1, sizeof *next);
    PT_GROW(net->arcs, net->arc_cap, (size_t)net->arc_count + arcs->count + 1);
    for (uint32_t i = 0; i < arcs->count; i++)
        next[arcs->items[i].transition + 1] += arcs->items[i].out == out;
    for (uint32_t t = 0; t < net->transition_count; t++) {
        uint32_t count = next[t + 1];
        next[t + 1] += next[t];
        *(out ? &net->transitions[t].post_start : &net->transitions[t].pre_start) = first + next[t];
        *(out ? &net->transitions[t].post_count : &net->transitions[t].pre_count) = count;
    }
    for (uint32_t i = 0; i < arcs->count; i++) {
        if (arcs->items[i].out == out)
            net->arcs[first + next[arcs->items[i].transition]++] = arcs->items[i].place;
    }
    net->arc_count = first + next[net->transition_count];
    free(next);
}

/* By what they connect, then by when they were added. */
static int compare_arcs(const void *a, const void *b, void *context)
{
    const struct pt_arc *arcs = context, *x = &arcs[*(const uint32_t *)a], *y = &arcs[*(const uint32_t *)b];
    if (x->transition != y->transition)
        return x->transition < y->transition ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->out != y->out)
        return x->out ? 1 : -1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static uint32_t find_double(const struct pt_arcs *arcs)
{
    uint32_t *order = pt_xmalloc((size_t)arcs->count * sizeof *order), found = PT_NONE;
    for (uint32_t i = 0; i < arcs->count; i++)
        order[i] = i;
    qsort_r(order, arcs->count, sizeof *order, compare_arcs, arcs->items);
    for (uint32_t i = 1; i < arcs->count; i++) {
        const struct pt_arc *x = &arcs->items[order[i - 1]], *y = &arcs->items[order[i]];
        if (x->transition == y->transition && x->place == y->place && x->out == y->out && order[i] < found)
            found = order[i];
    }
    free(order);
    return found;
}

uint32_t pt_arcs_finish(struct pt_arcs *arcs, struct pt_net *net)
{
    uint32_t found = find_double(arcs);
    if (found != PT_NONE)
        return found;
    take_arcs(arcs, false, net);
    take_arcs(arcs, true, net);
    return PT_NONE;
}
