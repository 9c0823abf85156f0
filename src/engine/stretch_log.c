/*
 * Events that have been met, for those who explore stretches of them (stretch.h): chunks of events with their clocks,
 * found by number. Nothing of a chunk moves while somebody may read it, so that readers need no lock: what they may
 * read they are told by `published`. Cost: one copy of an event and its clock; chunks are used again.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/stretch.h"

enum { EVENTS = 256 };

/* The clocks of a chunk, in words; a longer one when they grow. */
struct block {
    struct block *next;
    size_t used, cap;
    uint64_t words[];
};
enum { HEAD = sizeof(struct pt_clock) / sizeof(uint64_t) };

struct lat_log_chunk {
    struct lat_log_chunk *next; /* of a spare one */
    struct block *blocks;       /* the latest first */
    struct lat_logged events[EVENTS];
};

void lat_log_init(struct lat_log *log, uint64_t first)
{
    *log = (struct lat_log){.first = first, .end = first};
}

static struct lat_log_chunk **chunk_of(const struct lat_log *log, uint64_t number)
{
    return (struct lat_log_chunk **)&log->chunks[number / EVENTS % LAT_LOG_CHUNKS];
}

static void free_blocks(struct lat_log *log, struct block *block)
{
    for (struct block *next; block; block = next) {
        next = block->next;
        log->bytes -= sizeof *block + block->cap * sizeof *block->words;
        free(block);
    }
}

static void free_chunk(struct lat_log *log, struct lat_log_chunk *chunk)
{
    if (!chunk)
        return;
    free_blocks(log, chunk->blocks);
    free(chunk);
}

void lat_log_release(struct lat_log *log)
{
    for (uint32_t i = 0; i < LAT_LOG_CHUNKS; i++)
        free_chunk(log, log->chunks[i]);
    for (struct lat_log_chunk *chunk = log->spare, *next; chunk; chunk = next) {
        next = chunk->next;
        free_chunk(log, chunk);
    }
}

bool lat_log_is_full(const struct lat_log *log)
{
    return log->end / EVENTS - log->first / EVENTS >= LAT_LOG_CHUNKS - 1;
}

static struct lat_log_chunk *chunk_take(struct lat_log *log)
{
    struct lat_log_chunk *chunk = log->spare;
    if (chunk) {
        log->spare = chunk->next;
    } else {
        chunk = pt_xmalloc(sizeof *chunk);
        chunk->blocks = NULL;
        log->bytes += sizeof *chunk;
    }
    return chunk;
}

/* Room for a clock, which will not move. */
static struct pt_clock *room(struct lat_log *log, struct lat_log_chunk *chunk, uint32_t len)
{
    struct block *block = chunk->blocks;
    size_t words = HEAD + (size_t)len;
    if (!block || block->used + words > block->cap) {
        size_t cap = EVENTS * words;
        block = pt_xmalloc(sizeof *block + cap * sizeof *block->words);
        *block = (struct block){.next = chunk->blocks, .cap = cap};
        chunk->blocks = block;
        log->bytes += sizeof *block + cap * sizeof *block->words;
    }
    block->used += words;
    return (struct pt_clock *)(block->words + block->used - words);
}

/* Another core has read what will be written here soon, and has to give it back first: it is asked in time. */
static void fetch_ahead(const struct lat_log_chunk *chunk, const struct lat_logged *event)
{
    enum { AHEAD = 12 };
    if (event + AHEAD >= chunk->events + EVENTS)
        return;
    const char *from = (const char *)(event + AHEAD);
    pt_fetch_to_write(from);
    pt_fetch_to_write(from + sizeof *event - 1);
    const struct block *block = chunk->blocks;
    size_t words = HEAD + (size_t)event->clock->len, first = block->used + (AHEAD - 1) * words;
    for (size_t at = first; at < first + words && at < block->cap; at += LAT_CACHE_LINE / sizeof *block->words)
        pt_fetch_to_write(block->words + at);
}

void lat_log_add(struct lat_log *log, const struct lat_logged *event, const struct pt_clock *clock)
{
    struct lat_log_chunk **place = chunk_of(log, log->end);
    if (!*place)
        *place = chunk_take(log);
    struct lat_logged *to = &(*place)->events[log->end % EVENTS];
    struct pt_clock *own = room(log, *place, clock->len);
    own->pool = NULL;
    own->refs = 0;
    own->len = clock->len;
    memcpy(own->counts, clock->counts, clock->len * sizeof *own->counts);
    *to = *event;
    to->clock = own;
    log->end++;
    fetch_ahead(*place, to);
}

const struct lat_logged *lat_log_at(const struct lat_log *log, uint64_t number)
{
    return &(*chunk_of(log, number))->events[number % EVENTS];
}

void lat_log_fetch(const struct lat_log *log, uint64_t number, uint64_t upto)
{
    enum { AHEAD = 8, CLOCK_AHEAD = 4 };
    if (number + AHEAD >= upto)
        return;
    const char *event = (const char *)lat_log_at(log, number + AHEAD);
    __builtin_prefetch(event);
    __builtin_prefetch(event + sizeof(struct lat_logged) - 1);
    const struct pt_clock *clock = lat_log_at(log, number + CLOCK_AHEAD)->clock;
    const char *end = (const char *)(clock->counts + clock->len);
    for (const char *line = (const char *)clock; line < end; line += LAT_CACHE_LINE)
        __builtin_prefetch(line);
}

void lat_log_forget(struct lat_log *log, uint64_t before)
{
    for (; log->first / EVENTS < before / EVENTS; log->first += EVENTS) {
        struct lat_log_chunk *chunk = *chunk_of(log, log->first);
        *chunk_of(log, log->first) = NULL;
        if (chunk->blocks) { /* the latest is the longest */
            free_blocks(log, chunk->blocks->next);
            chunk->blocks->next = NULL;
            chunk->blocks->used = 0;
        }
        chunk->next = log->spare;
        log->spare = chunk;
    }
}
