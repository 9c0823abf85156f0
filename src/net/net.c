/*
 * Nets as arrays: places and transitions with numbers, arcs in one array, those of a transition next to each other.
 * Reads are found here: a transition that takes a token and puts it back at once only looks at it, as far as what can
 * be reached goes. Building a net is linear in its arcs; finding a place by its name looks at all of them.
 */
#include "net/net.h"

#include <stdlib.h>
#include <string.h>

void pt_net_init(struct pt_net *net)
{
    *net = (struct pt_net){0};
    pt_arena_init(&net->arena);
}

void pt_net_release(struct pt_net *net)
{
    free(net->places);
    free(net->transitions);
    free(net->arcs);
    pt_arena_release(&net->arena);
    *net = (struct pt_net){0};
}

static const char *copy(struct pt_net *net, const char *name)
{
    return name ? pt_arena_strndup(&net->arena, name, strlen(name)) : NULL;
}

uint32_t pt_net_add_place(struct pt_net *net, const char *name, bool marked)
{
    struct pt_net_place place = {.name = copy(net, name), .marked = marked};
    PT_PUSH(net->places, net->place_count, net->place_cap, place);
    return net->place_count - 1;
}

uint32_t pt_net_add_places(struct pt_net *net, uint32_t count)
{
    uint32_t first = net->place_count;
    PT_GROW(net->places, net->place_cap, (size_t)first + count);
    memset(net->places + first, 0, count * sizeof *net->places);
    net->place_count += count;
    return first;
}

void pt_net_name_place(struct pt_net *net, uint32_t place, const char *name)
{
    net->places[place].name = copy(net, name);
}

static bool is_text(const char *text, const char *name, size_t len)
{
    return text && strlen(text) == len && memcmp(text, name, len) == 0;
}

uint32_t pt_net_find_place(const struct pt_net *net, const char *name, size_t len)
{
    uint32_t by_name = PT_NONE, by_id = PT_NONE, named = 0;
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (is_text(net->places[p].name, name, len)) {
            by_name = p;
            named++;
        }
        if (is_text(net->places[p].id, name, len))
            by_id = p;
    }
    return named == 1 ? by_name : by_id;
}

static uint32_t add_arcs(struct pt_net *net, const uint32_t *places, uint32_t count)
{
    uint32_t start = net->arc_count;
    PT_GROW(net->arcs, net->arc_cap, (size_t)start + count + 1); /* never NULL behind a transition */
    if (count)
        memcpy(net->arcs + start, places, count * sizeof *places);
    net->arc_count += count;
    return start;
}

uint32_t pt_net_add_transition(struct pt_net *net, const char *name, const uint32_t *pre, uint32_t pre_count,
                               const uint32_t *post, uint32_t post_count)
{
    struct pt_net_transition t = {.name = copy(net, name), .pre_count = pre_count, .post_count = post_count};
    t.pre_start = add_arcs(net, pre, pre_count);
    t.post_start = add_arcs(net, post, post_count);
    PT_PUSH(net->transitions, net->transition_count, net->transition_cap, t);
    return net->transition_count - 1;
}

/* Moves at most so many places that are in both sets to the end; returns how many. */
static uint32_t split(uint32_t *places, uint32_t count, const uint8_t *loops, uint32_t most)
{
    uint32_t *last = pt_xmalloc(((size_t)count + 1) * sizeof *last), moved = 0, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (loops[places[i]] == 2 && moved < most)
            last[moved++] = places[i];
        else
            places[kept++] = places[i];
    }
    memcpy(places + kept, last, moved * sizeof *last);
    free(last);
    return moved;
}

void pt_net_find_reads(struct pt_net *net)
{
    uint8_t *loops = pt_xcalloc((size_t)net->place_count + 1, sizeof *loops);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        struct pt_net_transition *at = &net->transitions[t];
        uint32_t *pre = net->arcs + at->pre_start, *post = net->arcs + at->post_start, both = 0;
        for (uint32_t i = 0; i < at->pre_count; i++)
            loops[pre[i]] = 1;
        for (uint32_t i = 0; i < at->post_count; i++)
            both += (loops[post[i]] += loops[post[i]] == 1) == 2;
        /* One that only reads would be the same occurrence again and again: something has to be consumed, and made. */
        uint32_t most = both == at->pre_count || both == at->post_count ? both - (both > 0) : both;
        if (most > 0) {
            (void)pt_sort_distinct(pre, at->pre_count);
            (void)pt_sort_distinct(post, at->post_count);
            at->read_count = split(pre, at->pre_count, loops, most);
            (void)split(post, at->post_count, loops, most);
        }
        for (uint32_t i = 0; i < at->pre_count; i++)
            loops[pre[i]] = 0;
    }
    free(loops);
}
