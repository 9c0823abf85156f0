/*
 * Levels as they pass from who makes them to who fills them: one after the other in a ring of bytes (handed.h).
 *
 * What a line costs that another core has written is up to 0.25 us, and more than a level takes if there are several
 * for each, so a level is as short as can be: what is the same for cuts with the same top is there once, parents are
 * bytes where windows are small, and of the window only the events that came. With windows of 64 cuts that is 150 bytes
 * or so, and levels follow each other without gaps.
 *
 * A message lies in one piece: none begins where the longest one would not have room before the end, which both sides
 * can tell. It is written elsewhere and copied when levels are handed on, many together: stores are seen in their
 * order, so those of the next level would wait for each line that the other core has. And they begin a page: a core
 * that reads lines one after the other fetches the next ones, too, up to the page's end, and would take away those that
 * are just being written.
 *
 * Cost: two copies on one side, one on the other.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/handed.h"

enum { PAGE = 4096, LEAST_BYTES = 32 * PAGE, LONGEST = 6 }; /* so many of the longest messages have room */
/* So far ahead lines are asked for: to read them; and to write them, which is where the next ones that are handed on
 * together come with windows of 64 cuts. */
enum { READ_AHEAD = 8 * LAT_CACHE_LINE, WRITE_AHEAD = 3 * PAGE };
enum { MOST_NARROW = 256 }; /* cuts whose numbers are bytes */

/* Then what is taken out, if anything, the events that came, what they wrote, runs and parents. */
struct head {
    uint64_t end, event_bytes;
    uint32_t pinned; /* saturating */
    uint32_t count;
    pt_mstate observed;
    uint8_t run_count, arrived_count; /* LAT_RANK_SPAN at most */
    bool takes_out;
};

/* Asks for a cache line that another core may have, before it is read. */
static inline void fetch(const void *line)
{
    __builtin_prefetch(line, 0);
}

/* Numbers of cuts take one byte each, or four. A run is its top and how many cuts it has, from 1 on. */
static size_t number_bytes(const struct lat_ring *ring)
{
    return ring->narrow ? 1 : sizeof(uint32_t);
}

static size_t rounded(size_t bytes)
{
    return (bytes + sizeof(lat_word) - 1) / sizeof(lat_word) * sizeof(lat_word);
}

void lat_ring_init(struct lat_ring *ring, const struct pt_lattice *l)
{
    size_t window = l->options->window;
    ring->valued = l->ranks->var_count > 0;
    ring->narrow = window <= MOST_NARROW;
    size_t event = sizeof(struct lat_rank_event) + (ring->valued ? sizeof(struct pt_value) : 0);
    ring->longest = rounded(sizeof(struct head)) + sizeof(lat_word) +
                    rounded(LAT_RANK_SPAN * (event + 1 + number_bytes(ring)) + window * number_bytes(ring));
    size_t bytes = LONGEST * (ring->longest + PAGE);
    ring->size = (bytes > LEAST_BYTES ? bytes : LEAST_BYTES) / PAGE * PAGE;
    ring->bytes = pt_xaligned(PAGE, ring->size);
    ring->draft = pt_xaligned(PAGE, ring->size);
}

void lat_ring_release(struct lat_ring *ring)
{
    free(ring->bytes);
    free(ring->draft);
}

/* Where the next message begins. */
static uint64_t begin(const struct lat_ring *ring, uint64_t position, bool first)
{
    position = first ? (position + PAGE - 1) / PAGE * PAGE : position;
    size_t at = position % ring->size;
    return at + ring->longest > ring->size ? position + (ring->size - at) : position;
}

bool lat_ring_has_room(const struct lat_ring *ring, uint64_t oldest, uint64_t position)
{
    return position + PAGE + 2 * ring->longest - oldest <= ring->size;
}

static unsigned char *put(unsigned char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* How many cuts a run has, without the first, goes where their numbers go. */
static unsigned char *put_narrow(unsigned char *to, const struct lat_rank_level *level)
{
    uint32_t before = 0, runs = level->run_count;
    for (uint32_t i = 0; i < runs; i++) {
        to[i] = (unsigned char)level->runs[i].top;
        to[runs + i] = (unsigned char)(level->runs[i].end - before - 1);
        before = level->runs[i].end;
    }
    to += 2 * (size_t)runs;
    const uint32_t *parents = level->parents, count = level->count; /* bytes could be anything's, for the compiler */
    for (uint32_t at = 0; at < count; at++)
        to[at] = (unsigned char)parents[at];
    return to + count;
}

static unsigned char *put_wide(unsigned char *to, const struct lat_rank_level *level)
{
    uint32_t before = 0, runs = level->run_count;
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t more = level->runs[i].end - before - 1;
        to[i] = (unsigned char)level->runs[i].top;
        memcpy(to + runs + i * sizeof more, &more, sizeof more);
        before = level->runs[i].end;
    }
    return put(to + runs + runs * sizeof(uint32_t), level->parents, level->count * sizeof *level->parents);
}

uint64_t lat_ring_put(const struct lat_ring *ring, uint64_t position, bool first, const struct lat_rank_level *level)
{
    position = begin(ring, position, first);
    unsigned char *start = ring->draft + position % ring->size;
    struct head head = {.end = level->end,
                        .event_bytes = level->event_bytes,
                        .pinned = level->pinned < UINT32_MAX ? (uint32_t)level->pinned : UINT32_MAX,
                        .count = level->count,
                        .observed = level->observed,
                        .run_count = (uint8_t)level->run_count,
                        .arrived_count = (uint8_t)level->arrived_count,
                        .takes_out = level->taken_out != 0};
    unsigned char *to = put(start, &head, sizeof head);
    if (head.takes_out)
        to = put(to, &level->taken_out, sizeof level->taken_out);
    to = put(to, level->arrived, level->arrived_count * sizeof *level->arrived);
    if (ring->valued)
        to = put(to, level->values, level->arrived_count * sizeof *level->values);
    size_t bytes = rounded((size_t)((ring->narrow ? put_narrow : put_wide)(to, level) - start));
    for (size_t at = 0; at < bytes; at += LAT_CACHE_LINE) /* the other one had these long ago */
        pt_fetch_to_write(ring->bytes + (position + WRITE_AHEAD + at) % ring->size);
    return position + bytes;
}

void lat_ring_publish(const struct lat_ring *ring, uint64_t from, uint64_t upto)
{
    for (uint64_t at = from; at < upto;) {
        size_t offset = at % ring->size, bytes = ring->size - offset < upto - at ? ring->size - offset : upto - at;
        memcpy(ring->bytes + offset, ring->draft + offset, bytes);
        at += bytes;
    }
}

static const unsigned char *get(const unsigned char *from, void *to, size_t bytes)
{
    memcpy(to, from, bytes);
    return from + bytes;
}

static const unsigned char *get_narrow(const unsigned char *from, struct lat_rank_level *level)
{
    uint32_t end = 0, runs = level->run_count;
    for (uint32_t i = 0; i < runs; i++)
        level->runs[i] = (struct lat_rank_run){from[i], end += from[runs + i] + 1u};
    from += 2 * (size_t)runs;
    uint32_t *parents = level->parents;
    const uint32_t count = level->count;
    for (uint32_t at = 0; at < count; at++)
        parents[at] = from[at];
    return from + count;
}

static const unsigned char *get_wide(const unsigned char *from, struct lat_rank_level *level)
{
    uint32_t end = 0, runs = level->run_count, more;
    for (uint32_t i = 0; i < runs; i++) {
        memcpy(&more, from + runs + i * sizeof more, sizeof more);
        level->runs[i] = (struct lat_rank_run){from[i], end += more + 1};
    }
    return get(from + runs + runs * sizeof more, level->parents, level->count * sizeof *level->parents);
}

uint64_t lat_ring_get(const struct lat_ring *ring, uint64_t position, bool first, uint64_t handed,
                      struct lat_rank_level *level)
{
    struct head head;
    position = begin(ring, position, first);
    const unsigned char *start = ring->bytes + position % ring->size, *from = get(start, &head, sizeof head);
    level->level++;
    level->end = head.end;
    level->event_bytes = head.event_bytes;
    level->pinned = head.pinned;
    level->count = head.count;
    level->observed = head.observed;
    level->run_count = head.run_count;
    level->arrived_count = head.arrived_count;
    level->taken_out = 0;
    if (head.takes_out)
        from = get(from, &level->taken_out, sizeof level->taken_out);
    level->arrived = (const struct lat_rank_event *)(const void *)from; /* 8 bytes are its alignment, and all before */
    from += level->arrived_count * sizeof *level->arrived;
    level->values = ring->valued ? (const struct pt_value *)(const void *)from : NULL;
    from += ring->valued ? level->arrived_count * sizeof *level->values : 0;
    uint64_t next = position + rounded((size_t)((ring->narrow ? get_narrow : get_wide)(from, level) - start));
    for (uint64_t at = position; at < next && at + READ_AHEAD < handed; at += LAT_CACHE_LINE)
        fetch(ring->bytes + (at + READ_AHEAD) % ring->size);
    return next;
}
