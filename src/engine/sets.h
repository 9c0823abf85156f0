/*
 * Sets of monitor states, hash-consed: equal sets have equal ids, so that merging two cuts' sets and stepping a set by
 * a letter are table look-ups once seen. Shared by the workers of one exploration: each has a private cache in front,
 * and a miss takes the lock. Ids depend on who came first; nothing that leaves the engine may depend on ids.
 */
#ifndef PT_ENGINE_SETS_H
#define PT_ENGINE_SETS_H

#include <pthread.h>

#include "base/table.h"
#include "logic/monitor/monitor.h"

typedef uint32_t pt_set;
enum { PT_SET_EMPTY = 0 };
/* Flags on a set's id: a run that leads here has just become bad; an atom that matters had no value. */
#define PT_SET_BAD   0x80000000u
#define PT_SET_ERROR 0x40000000u
#define PT_SET_FLAGS (PT_SET_BAD | PT_SET_ERROR)

struct pt_sets {
    struct pt_monitor *monitor;
    pthread_mutex_t lock; /* guards everything below and the monitor */
    struct pt_strtab sets;
    struct pt_map64 steps, unions;
};

enum { PT_CACHE_FIRST_BITS = 3, PT_CACHE_BITS = 10, PT_VALUES_BITS = 14 };
/* A direct-mapped cache of one worker for one of the functions below. It grows while it misses: there may be thousands
 * of properties that need next to none. */
struct pt_cache {
    struct pt_cache_line {
        uint64_t key;
        uint32_t value;
    } * lines;
    uint32_t shift;  /* of a 64-bit hash: to the number of a line */
    uint32_t misses; /* since it grew */
    uint32_t most;   /* bits: so far it grows */
};
enum { PT_JOINT_LINES = 64 };
struct pt_worker_cache {
    struct pt_cache step, merge, apply, event;
    struct pt_cache effect, run; /* of the actual run alone */
    struct pt_cache values;      /* joint.c */
    struct pt_joint_line {
        struct pt_joint joint;
        uint32_t effect; /* PT_NONE: none here yet */
    } joints[PT_JOINT_LINES];
};

void pt_sets_init(struct pt_sets *sets, struct pt_monitor *monitor);
void pt_sets_release(struct pt_sets *sets);
size_t pt_sets_bytes(const struct pt_sets *sets);
void pt_worker_cache_init(struct pt_worker_cache *cache);
void pt_worker_cache_release(struct pt_worker_cache *cache);
/* Puts a value in that was missed. */
void pt_cache_put(struct pt_cache *cache, uint64_t key, uint32_t value);

pt_set pt_sets_single(struct pt_sets *sets, pt_mstate state);
/* Of these states, which are put in order. */
pt_set pt_sets_of(struct pt_sets *sets, pt_mstate *states, uint32_t count);
/* The members; valid until the next set is made. */
const pt_mstate *pt_sets_members(const struct pt_sets *sets, pt_set set, uint32_t *ret_count);
/* The states reached from `set` by `letter`; flagged when some member became bad or could not be evaluated. */
pt_set pt_sets_step_slow(struct pt_sets *sets, pt_set set, pt_letter letter);
/* The union; flags are kept. */
pt_set pt_sets_union_slow(struct pt_sets *sets, pt_set a, pt_set b);
pt_letter pt_sets_apply_slow(struct pt_sets *sets, pt_letter letter, uint32_t effect);
pt_letter pt_sets_event_slow(struct pt_sets *sets, pt_letter letter, uint32_t event);
pt_mstate pt_sets_run_slow(struct pt_sets *sets, pt_mstate state, pt_letter letter);
/* pt_monitor_effect, and pt_monitor_apply_joint. */
uint32_t pt_sets_effect(struct pt_sets *sets, struct pt_worker_cache *cache, uint32_t var, struct pt_value value);
pt_letter pt_sets_apply_joint(struct pt_sets *sets, pt_letter letter, uint32_t effect, const struct pt_value *values);
/* The effect that an evaluation of the atoms over several variables amounts to. */
uint32_t pt_sets_joint(struct pt_sets *sets, struct pt_worker_cache *cache, struct pt_joint joint);

static inline struct pt_cache_line *pt_cache_line(const struct pt_cache *cache, uint64_t key)
{
    return &cache->lines[(key * 0x9e3779b97f4a7c15ULL) >> cache->shift];
}

#define PT_CACHED(name, member, slow)                                                                                  \
    static inline uint32_t name(struct pt_sets *sets, struct pt_worker_cache *cache, uint32_t a, uint32_t b)           \
    {                                                                                                                  \
        uint64_t key = (uint64_t)a << 32 | b;                                                                          \
        const struct pt_cache_line *line = pt_cache_line(&cache->member, key);                                         \
        if (line->key == key)                                                                                          \
            return line->value;                                                                                        \
        uint32_t value = slow(sets, a, b);                                                                             \
        pt_cache_put(&cache->member, key, value);                                                                      \
        return value;                                                                                                  \
    }
PT_CACHED(pt_sets_step, step, pt_sets_step_slow)
PT_CACHED(pt_sets_apply, apply, pt_sets_apply_slow)
PT_CACHED(pt_sets_event, event, pt_sets_event_slow)
PT_CACHED(pt_sets_run, run, pt_sets_run_slow) /* pt_monitor_step */
PT_CACHED(pt_sets_union_cached, merge, pt_sets_union_slow)
#undef PT_CACHED

static inline pt_set pt_sets_union(struct pt_sets *sets, struct pt_worker_cache *cache, pt_set a, pt_set b)
{
    return a == b ? a : pt_sets_union_cached(sets, cache, a, b);
}

#endif
