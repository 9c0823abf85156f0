/* 1-safe Petri nets as plain data: places, some marked, and transitions with their pre- and postsets. */
#ifndef PT_NET_NET_H
#define PT_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/table.h"

struct pt_net_place {
    const char *name; /* NULL where nobody will read it */
    const char *id;   /* how a file calls it where that is not its name; NULL */
    bool marked;
};

struct pt_net_transition {
    const char *name;
    uint32_t pre_start, pre_count;   /* into pt_net.arcs, places; no place twice */
    uint32_t post_start, post_count; /* likewise */
    uint32_t read_count;             /* so many at the end of both are the same places, and only read */
};

struct pt_net {
    struct pt_arena arena; /* names */
    struct pt_net_place *places;
    struct pt_net_transition *transitions;
    uint32_t *arcs;
    uint32_t place_count, transition_count, arc_count;
    size_t place_cap, transition_cap, arc_cap;
};

void pt_net_init(struct pt_net *net);
void pt_net_release(struct pt_net *net);
/* Each returns the id of what it adds. Names are copied and may be NULL. */
uint32_t pt_net_add_place(struct pt_net *net, const char *name, bool marked);
/* `count` unnamed and unmarked places with consecutive ids; returns the first. */
uint32_t pt_net_add_places(struct pt_net *net, uint32_t count);
uint32_t pt_net_add_transition(struct pt_net *net, const char *name, const uint32_t *pre, uint32_t pre_count,
                               const uint32_t *post, uint32_t post_count);
/* The place of this name, or with this id where none has the name; PT_NONE: there is none, or several. */
uint32_t pt_net_find_place(const struct pt_net *net, const char *name, size_t len);
/* Takes an arc from a place and back to it as reading it, where that leaves the transition something to consume and to
 * make; sorts the arcs of each transition for that. What the net can do stays the same. */
void pt_net_find_reads(struct pt_net *net);
void pt_net_name_place(struct pt_net *net, uint32_t place, const char *name);

static inline const uint32_t *pt_net_pre(const struct pt_net *net, uint32_t transition)
{
    return net->arcs + net->transitions[transition].pre_start;
}
static inline const uint32_t *pt_net_post(const struct pt_net *net, uint32_t transition)
{
    return net->arcs + net->transitions[transition].post_start;
}

/* Places that a transition consumes from and makes tokens on come first, those that it reads after them. */
static inline uint32_t pt_net_consumed(const struct pt_net *net, uint32_t transition)
{
    return net->transitions[transition].pre_count - net->transitions[transition].read_count;
}
static inline uint32_t pt_net_made(const struct pt_net *net, uint32_t transition)
{
    return net->transitions[transition].post_count - net->transitions[transition].read_count;
}

#endif
