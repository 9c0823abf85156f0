/*
 * Copy on write in two levels: a vector is a list of chunks, and both have reference counts. A join looks only at
 * chunks that the two vectors do not share, and where one side's chunk is above the other's it is shared from then on;
 * so after a lock has gone around among 512 threads nearly all their chunks are the same ones.
 *
 * Guarantee: exact; what is shared never changes. Cost: a join takes one comparison per chunk, and PT_VEC_CHUNK of them
 * for each chunk that differs; a copy takes one reference per chunk.
 */
#include "race/vec.h"

#include <string.h>

static uint32_t refer(const struct pt_race_memory *memory, uint32_t *refs)
{
    return memory->shared ? __atomic_add_fetch(refs, 1, __ATOMIC_RELAXED) : ++*refs;
}

/* Acquire and release: who frees it has seen all that others did with it. */
static bool is_last(const struct pt_race_memory *memory, uint32_t *refs)
{
    return (memory->shared ? __atomic_sub_fetch(refs, 1, __ATOMIC_ACQ_REL) : --*refs) == 0;
}

/* Nobody else can begin to refer to what only we refer to. */
static bool is_ours(const struct pt_race_memory *memory, const uint32_t *refs)
{
    return (memory->shared ? __atomic_load_n(refs, __ATOMIC_ACQUIRE) : *refs) == 1;
}

static size_t bytes_of(uint32_t count)
{
    return sizeof(struct pt_vec) + count * sizeof(struct pt_vec_chunk *);
}

static void drop_chunk(const struct pt_race_memory *memory, struct pt_vec_chunk *chunk)
{
    if (chunk && is_last(memory, &chunk->refs))
        memory->give(memory->context, chunk, sizeof *chunk);
}

struct pt_vec *pt_vec_ref(const struct pt_race_memory *memory, struct pt_vec *vec)
{
    if (vec)
        refer(memory, &vec->refs);
    return vec;
}

void pt_vec_drop(const struct pt_race_memory *memory, struct pt_vec *vec)
{
    if (!vec || !is_last(memory, &vec->refs))
        return;
    for (uint32_t i = 0; i < vec->count; i++)
        drop_chunk(memory, vec->chunks[i]);
    memory->give(memory->context, vec, bytes_of(vec->count));
}

/* Makes *vec one that only we refer to, of at least so many chunks. */
static struct pt_vec *own(const struct pt_race_memory *memory, struct pt_vec **vec, uint32_t count)
{
    struct pt_vec *old = *vec;
    if (old && old->count >= count && is_ours(memory, &old->refs))
        return old;
    if (old && old->count > count)
        count = old->count;
    struct pt_vec *mine = memory->take(memory->context, bytes_of(count));
    mine->refs = 1;
    mine->count = count;
    for (uint32_t i = 0; i < count; i++) {
        mine->chunks[i] = old && i < old->count ? old->chunks[i] : NULL;
        if (mine->chunks[i])
            refer(memory, &mine->chunks[i]->refs);
    }
    pt_vec_drop(memory, old);
    return *vec = mine;
}

/* The same for a chunk of a vector that is ours. */
static struct pt_vec_chunk *own_chunk(const struct pt_race_memory *memory, struct pt_vec *vec, uint32_t index)
{
    struct pt_vec_chunk *old = vec->chunks[index];
    if (old && is_ours(memory, &old->refs))
        return old;
    struct pt_vec_chunk *mine = memory->take(memory->context, sizeof *mine);
    if (old)
        memcpy(mine->at, old->at, sizeof mine->at);
    else
        memset(mine->at, 0, sizeof mine->at);
    mine->refs = 1;
    drop_chunk(memory, old);
    return vec->chunks[index] = mine;
}

void pt_vec_raise(const struct pt_race_memory *memory, struct pt_vec **vec, uint32_t thread, uint64_t clock)
{
    if (pt_vec_at(*vec, thread) >= clock)
        return;
    uint32_t index = thread / PT_VEC_CHUNK;
    struct pt_vec *mine = own(memory, vec, index + 1);
    own_chunk(memory, mine, index)->at[thread % PT_VEC_CHUNK] = clock;
}

/* Bit 0: somewhere a is above b; bit 1: somewhere b is above a. By the signs of differences, which processors have in
 * vectors and comparisons of 64 bits they have not; no clock gets to 2^63. */
static unsigned compare(const struct pt_vec_chunk *a, const struct pt_vec_chunk *b)
{
    uint64_t above = 0, below = 0;
    for (int i = 0; i < PT_VEC_CHUNK; i++) {
        above |= b->at[i] - a->at[i];
        below |= a->at[i] - b->at[i];
    }
    return (unsigned)(above >> 63 | below >> 63 << 1);
}

static void join_chunk(const struct pt_race_memory *memory, struct pt_vec **vec, uint32_t index,
                       struct pt_vec_chunk *from, uint32_t count)
{
    struct pt_vec_chunk *old = *vec && index < (*vec)->count ? (*vec)->chunks[index] : NULL;
    unsigned differ = old ? compare(old, from) : 2;
    if (!(differ & 2))
        return;
    struct pt_vec *mine = own(memory, vec, count);
    if (differ == 2) {
        refer(memory, &from->refs);
        drop_chunk(memory, old);
        mine->chunks[index] = from;
        return;
    }
    struct pt_vec_chunk *chunk = own_chunk(memory, mine, index);
    for (int i = 0; i < PT_VEC_CHUNK; i++)
        chunk->at[i] = chunk->at[i] > from->at[i] ? chunk->at[i] : from->at[i];
}

void pt_vec_join(const struct pt_race_memory *memory, struct pt_vec **vec, struct pt_vec *from)
{
    if (!from || *vec == from)
        return;
    if (!*vec) {
        *vec = pt_vec_ref(memory, from);
        return;
    }
    for (uint32_t i = 0; i < from->count; i++)
        if (from->chunks[i] && !(i < (*vec)->count && (*vec)->chunks[i] == from->chunks[i]))
            join_chunk(memory, vec, i, from->chunks[i], from->count);
}

/* The same of vectors of one chunk: no more than one is made. */
static void learn_small(const struct pt_race_memory *memory, struct pt_vec **vec, const struct pt_vec_chunk *from,
                        uint32_t thread, uint64_t clock)
{
    struct pt_vec *old = *vec;
    struct pt_vec_chunk *had = old->chunks[0], *chunk = had;
    bool ours = is_ours(memory, &old->refs);
    if (!ours || !is_ours(memory, &had->refs)) {
        chunk = memory->take(memory->context, sizeof *chunk);
        chunk->refs = 1;
    }
    for (int i = 0; i < PT_VEC_CHUNK; i++)
        chunk->at[i] = had->at[i] > from->at[i] ? had->at[i] : from->at[i];
    chunk->at[thread] = clock;
    if (chunk == had)
        return;
    if (ours) {
        drop_chunk(memory, had);
        old->chunks[0] = chunk;
        return;
    }
    struct pt_vec *mine = memory->take(memory->context, bytes_of(1));
    mine->refs = mine->count = 1;
    mine->chunks[0] = chunk;
    *vec = mine;
    pt_vec_drop(memory, old);
}

void pt_vec_learn(const struct pt_race_memory *memory, struct pt_vec **vec, struct pt_vec *from, uint32_t thread,
                  uint64_t clock)
{
    if (*vec && from && (*vec)->count == 1 && from->count == 1 && (*vec)->chunks[0] && from->chunks[0] &&
        thread < PT_VEC_CHUNK && from->chunks[0]->at[thread] < clock) {
        learn_small(memory, vec, from->chunks[0], thread, clock);
        return;
    }
    pt_vec_join(memory, vec, from);
    pt_vec_raise(memory, vec, thread, clock);
}

bool pt_vec_is_within(const struct pt_vec *vec, const struct pt_vec *other, uint32_t but)
{
    for (uint32_t i = 0; vec && vec != other && i < vec->count; i++) {
        const struct pt_vec_chunk *chunk = vec->chunks[i], *have = other && i < other->count ? other->chunks[i] : NULL;
        for (uint32_t k = 0; chunk && chunk != have && k < PT_VEC_CHUNK; k++)
            if (chunk->at[k] > (have ? have->at[k] : 0) && i * PT_VEC_CHUNK + k != but)
                return false;
    }
    return true;
}
