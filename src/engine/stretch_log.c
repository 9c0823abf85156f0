/*
 * Events that have been met, for those who explore stretches of them (stretch.h): chunks of events with their clocks,
 * found by number. Nothing of a chunk moves while somebody may read it, so that readers need no lock: what they may
 * read they are told by `published`. Cost: one copy of an event and its clock; chunks are used again.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/stretch.h"

enum { EVENTS = 256 };

/* Counts of the clocks of a chunk; a longer one when they grow. */
struct block {
    struct block *next;
    size_t used, cap;
    uint64_t counts[];
};

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
        log->bytes -= sizeof *block + block->cap * sizeof *block->counts;
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

/* Room for so many counts, which will not move. */
static uint64_t *room(struct lat_log *log, struct lat_log_chunk *chunk, size_t count)
{
    struct block *block = chunk->blocks;
    if (!block || block->used + count > block->cap) {
        size_t cap = EVENTS * count + 1;
        block = pt_xmalloc(sizeof *block + cap * sizeof *block->counts);
        *block = (struct block){.next = chunk->blocks, .cap = cap};
        chunk->blocks = block;
        log->bytes += sizeof *block + cap * sizeof *block->counts;
    }
    block->used += count;
    return block->counts + block->used - count;
}

void lat_log_add(struct lat_log *log, const struct lat_logged *event, const uint64_t *counts)
{
    struct lat_log_chunk **place = chunk_of(log, log->end);
    if (!*place)
        *place = chunk_take(log);
    struct lat_logged *to = &(*place)->events[log->end % EVENTS];
    uint64_t *own = room(log, *place, event->clock_len);
    if (event->clock_len)
        memcpy(own, counts, event->clock_len * sizeof *own);
    *to = *event;
    to->counts = own;
    log->end++;
}

const struct lat_logged *lat_log_at(const struct lat_log *log, uint64_t number)
{
    return &(*chunk_of(log, number))->events[number % EVENTS];
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
