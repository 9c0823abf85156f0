/*
 * Sets of monitor states by number. Guarantee: equal sets have equal numbers, whichever worker made them. Cost: a known
 * step or union is a look-up, without the lock where the worker's cache has it; a new one is linear in the sets.
 */
#include "engine/sets.h"

#include <stdlib.h>
#include <string.h>

void pt_sets_init(struct pt_sets *sets, struct pt_monitor *monitor)
{
    sets->monitor = monitor;
    pthread_mutex_init(&sets->lock, NULL);
    pt_strtab_init(&sets->sets);
    pt_map64_init(&sets->steps);
    pt_map64_init(&sets->unions);
    pt_strtab_intern(&sets->sets, "", 0); /* PT_SET_EMPTY */
}

void pt_sets_release(struct pt_sets *sets)
{
    pthread_mutex_destroy(&sets->lock);
    pt_strtab_release(&sets->sets);
    pt_map64_release(&sets->steps);
    pt_map64_release(&sets->unions);
}

size_t pt_sets_bytes(const struct pt_sets *sets)
{
    return pt_strtab_bytes(&sets->sets) + pt_map64_bytes(&sets->steps) + pt_map64_bytes(&sets->unions) +
           pt_monitor_bytes(sets->monitor);
}

static void cache_resize(struct pt_cache *cache, uint32_t bits)
{
    size_t bytes = sizeof *cache->lines << bits;
    free(cache->lines);
    cache->lines = memset(pt_xmalloc(bytes), 0xff, bytes); /* no key is all ones: ids never reach UINT32_MAX */
    cache->shift = 64 - bits;
    cache->misses = 0;
}

void pt_cache_put(struct pt_cache *cache, uint64_t key, uint32_t value)
{
    uint32_t bits = 64 - cache->shift;
    if (bits < cache->most && ++cache->misses > 1u << bits)
        cache_resize(cache, bits + 1);
    *pt_cache_line(cache, key) = (struct pt_cache_line){key, value};
}

static void cache_init(struct pt_cache *cache, uint32_t most)
{
    *cache = (struct pt_cache){.most = most};
    cache_resize(cache, PT_CACHE_FIRST_BITS);
}

void pt_worker_cache_init(struct pt_worker_cache *cache)
{
    cache_init(&cache->step, PT_CACHE_BITS);
    cache_init(&cache->merge, PT_CACHE_BITS);
    cache_init(&cache->apply, PT_CACHE_BITS);
    cache_init(&cache->event, PT_CACHE_BITS);
    cache_init(&cache->effect, PT_CACHE_BITS);
    cache_init(&cache->run, PT_CACHE_BITS);
    cache_init(&cache->values, PT_VALUES_BITS);
    for (uint32_t i = 0; i < PT_JOINT_LINES; i++)
        cache->joints[i].effect = PT_NONE;
}

void pt_worker_cache_release(struct pt_worker_cache *cache)
{
    free(cache->step.lines);
    free(cache->merge.lines);
    free(cache->apply.lines);
    free(cache->event.lines);
    free(cache->effect.lines);
    free(cache->run.lines);
    free(cache->values.lines);
}

pt_set pt_sets_single(struct pt_sets *sets, pt_mstate state)
{
    pthread_mutex_lock(&sets->lock);
    pt_set set = pt_strtab_intern(&sets->sets, (const char *)&state, sizeof state);
    pthread_mutex_unlock(&sets->lock);
    return set;
}

const pt_mstate *pt_sets_members(const struct pt_sets *sets, pt_set set, uint32_t *ret_count)
{
    set &= ~PT_SET_FLAGS;
    *ret_count = pt_strtab_len(&sets->sets, set) / sizeof(pt_mstate);
    return (const pt_mstate *)(const void *)pt_strtab_text(&sets->sets, set); /* arenas align to 16 */
}

static pt_set intern_sorted(struct pt_sets *sets, pt_mstate *states, uint32_t count)
{
    uint32_t distinct = pt_sort_distinct(states, count);
    return pt_strtab_intern(&sets->sets, (const char *)states, distinct * sizeof *states);
}

pt_set pt_sets_of(struct pt_sets *sets, pt_mstate *states, uint32_t count)
{
    return intern_sorted(sets, states, count);
}

static pt_set step_members(struct pt_sets *sets, pt_set set, pt_letter letter)
{
    uint32_t count, len = 0;
    const pt_mstate *members = pt_sets_members(sets, set, &count);
    pt_mstate *next = pt_xmalloc(count * sizeof *next);
    pt_set flags = 0;
    for (uint32_t i = 0; i < count; i++) {
        pt_mstate state = pt_monitor_step(sets->monitor, members[i], letter);
        if (state == PT_MSTATE_BAD)
            flags |= PT_SET_BAD;
        else if (state == PT_MSTATE_ERROR)
            flags |= PT_SET_ERROR;
        else
            next[len++] = state;
    }
    pt_set result = intern_sorted(sets, next, len) | flags;
    free(next);
    return result;
}

pt_set pt_sets_step_slow(struct pt_sets *sets, pt_set set, pt_letter letter)
{
    pthread_mutex_lock(&sets->lock);
    uint32_t *known = pt_map64_at(&sets->steps, (uint64_t)set << 32 | letter);
    if (*known == PT_NONE)
        *known = step_members(sets, set, letter);
    pt_set result = *known;
    pthread_mutex_unlock(&sets->lock);
    return result;
}

static pt_set join_members(struct pt_sets *sets, pt_set a, pt_set b)
{
    uint32_t na, nb;
    const pt_mstate *ma = pt_sets_members(sets, a, &na), *mb = pt_sets_members(sets, b, &nb);
    pt_mstate *both = pt_xmalloc((na + nb) * sizeof *both);
    memcpy(both, ma, na * sizeof *both);
    memcpy(both + na, mb, nb * sizeof *both);
    pt_set result = intern_sorted(sets, both, na + nb) | ((a | b) & PT_SET_FLAGS);
    free(both);
    return result;
}

pt_set pt_sets_union_slow(struct pt_sets *sets, pt_set a, pt_set b)
{
    pthread_mutex_lock(&sets->lock);
    uint32_t *known = pt_map64_at(&sets->unions, (uint64_t)a << 32 | b);
    if (*known == PT_NONE)
        *known = join_members(sets, a, b);
    pt_set result = *known;
    pthread_mutex_unlock(&sets->lock);
    return result;
}

pt_letter pt_sets_apply_slow(struct pt_sets *sets, pt_letter letter, uint32_t effect)
{
    pthread_mutex_lock(&sets->lock);
    pt_letter result = pt_monitor_apply(sets->monitor, letter, effect);
    pthread_mutex_unlock(&sets->lock);
    return result;
}

pt_letter pt_sets_event_slow(struct pt_sets *sets, pt_letter letter, uint32_t event)
{
    pthread_mutex_lock(&sets->lock);
    pt_letter result = pt_monitor_with_event(sets->monitor, letter, event);
    pthread_mutex_unlock(&sets->lock);
    return result;
}

uint32_t pt_sets_joint(struct pt_sets *sets, struct pt_worker_cache *cache, struct pt_joint joint)
{
    uint64_t hash = (joint.bits ^ joint.unknown << 7) * 0x9e3779b97f4a7c15ULL;
    struct pt_joint_line *line = &cache->joints[hash >> 58]; /* of PT_JOINT_LINES */
    if (line->effect != PT_NONE && line->joint.bits == joint.bits && line->joint.unknown == joint.unknown)
        return line->effect;
    pthread_mutex_lock(&sets->lock);
    *line = (struct pt_joint_line){joint, pt_monitor_joint_effect(sets->monitor, joint)};
    pthread_mutex_unlock(&sets->lock);
    return line->effect;
}

pt_mstate pt_sets_run_slow(struct pt_sets *sets, pt_mstate state, pt_letter letter)
{
    pthread_mutex_lock(&sets->lock);
    state = pt_monitor_step(sets->monitor, state, letter);
    pthread_mutex_unlock(&sets->lock);
    return state;
}

pt_letter pt_sets_apply_joint(struct pt_sets *sets, pt_letter letter, uint32_t effect, const struct pt_value *values)
{
    pthread_mutex_lock(&sets->lock);
    letter = pt_monitor_apply_joint(sets->monitor, letter, effect, values);
    pthread_mutex_unlock(&sets->lock);
    return letter;
}

/* Small integers are what is written most, and fit into a key. */
uint32_t pt_sets_effect(struct pt_sets *sets, struct pt_worker_cache *cache, uint32_t var, struct pt_value value)
{
    bool small = value.kind == PT_VALUE_INT && value.i == (int32_t)value.i;
    uint64_t key = (uint64_t)var << 32 | (uint32_t)value.i;
    if (small && pt_cache_line(&cache->effect, key)->key == key)
        return pt_cache_line(&cache->effect, key)->value;
    pthread_mutex_lock(&sets->lock);
    uint32_t effect = pt_monitor_effect(sets->monitor, var, value);
    pthread_mutex_unlock(&sets->lock);
    if (small)
        pt_cache_put(&cache->effect, key, effect);
    return effect;
}
