/* The inside of relay.c: levels of words on their way from who makes them to who fills them (handed.c). */
#ifndef PT_ENGINE_HANDED_H
#define PT_ENGINE_HANDED_H

#include "engine/ranks.h"

/* Nobody changes it; positions in it, which only rise, are those of the two. */
struct lat_ring {
    unsigned char *bytes;
    unsigned char *draft; /* of who makes: the same, before it is handed on */
    size_t size, longest; /* of a message */
    bool narrow, valued;  /* numbers of cuts are bytes; what events wrote is asked for */
};

void lat_ring_init(struct lat_ring *ring, const struct pt_lattice *l);
void lat_ring_release(struct lat_ring *ring);
/* Whether another message can be put at `position` while those from `oldest` on are needed. */
bool lat_ring_has_room(const struct lat_ring *ring, uint64_t oldest, uint64_t position);
/* Both return the position after the message. `first`: of those that are handed on together. */
uint64_t lat_ring_put(const struct lat_ring *ring, uint64_t position, bool first, const struct lat_rank_level *level);
/* What was put between these positions can be got from here on. */
void lat_ring_publish(const struct lat_ring *ring, uint64_t from, uint64_t upto);
/* Into a level that is the one before, with its own memory for parents; `handed`: what is before may be looked at. What
 * came stays in the ring. */
uint64_t lat_ring_get(const struct lat_ring *ring, uint64_t position, bool first, uint64_t handed,
                      struct lat_rank_level *level);

#endif
