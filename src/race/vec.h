/*
 * Vectors of clocks that many share: an immutable snapshot with a reference count, cut into chunks that snapshots share
 * among themselves. Whoever has the only reference may change it; all others take a copy of what they change.
 */
#ifndef PT_RACE_VEC_H
#define PT_RACE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where memory comes from. `take` never fails: whoever cannot get memory ends the work by other means. */
struct pt_race_memory {
    void *(*take)(void *context, size_t bytes);
    void (*give)(void *context, void *memory, size_t bytes);
    void *context;
    bool shared; /* several threads use it: references are counted by atomic operations */
};

enum { PT_VEC_CHUNK = 16 }; /* clocks in a chunk: two cache lines */

struct pt_vec_chunk {
    uint32_t refs;
    uint64_t at[PT_VEC_CHUNK];
};

struct pt_vec {
    uint32_t refs, count;          /* chunks */
    struct pt_vec_chunk *chunks[]; /* NULL: all 0 */
};

/* The clock of a thread; 0 where there is none. */
static inline uint64_t pt_vec_at(const struct pt_vec *vec, uint32_t thread)
{
    if (!vec || thread / PT_VEC_CHUNK >= vec->count)
        return 0;
    const struct pt_vec_chunk *chunk = vec->chunks[thread / PT_VEC_CHUNK];
    return chunk ? chunk->at[thread % PT_VEC_CHUNK] : 0;
}

struct pt_vec *pt_vec_ref(const struct pt_race_memory *memory, struct pt_vec *vec);
void pt_vec_drop(const struct pt_race_memory *memory, struct pt_vec *vec);
/* These change what *vec refers to, which may become another vector; `from` stays as it is. */
void pt_vec_join(const struct pt_race_memory *memory, struct pt_vec **vec, struct pt_vec *from);
void pt_vec_raise(const struct pt_race_memory *memory, struct pt_vec **vec, uint32_t thread, uint64_t clock);
/* Both in turn: what a moment of that thread knows, and the moment itself, which is news. */
void pt_vec_learn(const struct pt_race_memory *memory, struct pt_vec **vec, struct pt_vec *from, uint32_t thread,
                  uint64_t clock);
/* Whether no clock of `vec`, but perhaps that of one thread, is above that of `other`. */
bool pt_vec_is_within(const struct pt_vec *vec, const struct pt_vec *other, uint32_t but);

#endif
