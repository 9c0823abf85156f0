/*
 * A few threads over shadow memory, in one real thread that plays them in turn, each beside what algorithm A makes of
 * it with plain vectors: one clock for accesses and one for writes for every byte.
 */
#ifndef PT_TESTS_SHADOW_MODEL_H
#define PT_TESTS_SHADOW_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/shadow/readers.h"
#include "runtime/shadow/self.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/runtime.h"

enum { MODEL_THREADS = 5, MODEL_BYTES = 96 };

/* Relevant events of a thread before its first one here: counts pass 2^32 on the way. */
#define MODEL_BEFORE ((UINT64_C(1) << 32) - 100)

#define PLAIN_COUNTS MODEL_THREADS
#include "plain_vectors.h"

static struct {
    struct pt_shadow_self self;
    struct vector clock;
} model_threads[MODEL_THREADS];

static _Alignas(8) unsigned char model_memory[MODEL_BYTES];
static struct {
    struct vector access, write;
} model_bytes[MODEL_BYTES];

static inline struct vector vector_of(pt_clock_id id)
{
    static struct pt_clock_self viewer;
    struct vector vector = {0};
    struct pt_clock_pairs clock = pt_clock_pairs_of(&viewer, id);
    for (uint32_t i = 0; id && i < clock.count; i++)
        vector.count[clock.pairs[i].lane] = clock.pairs[i].count;
    return vector;
}

static inline struct pt_shadow_self *model_play(unsigned thread)
{
    pt_self = &model_threads[thread].self;
    return pt_self;
}

static inline void model_check(unsigned thread)
{
    struct vector found = vector_of(model_threads[thread].self.clock.id);
    assert_memory_equal(&found, &model_threads[thread].clock, sizeof found);
    assert_int_equal(model_threads[thread].self.busy, 0);
}

static inline void model_tick(unsigned thread)
{
    pt_shadow_tick(model_play(thread));
    uint64_t *count = &model_threads[thread].clock.count[thread];
    *count = *count ? *count + 1 : MODEL_BEFORE + 1;
}

static inline void model_read(unsigned thread, unsigned from, unsigned size)
{
    struct vector *clock = &model_threads[thread].clock;
    for (unsigned i = from; i < from + size; i++)
        vector_join(clock, &model_bytes[i].write);
    for (unsigned i = from; i < from + size; i++)
        vector_join(&model_bytes[i].access, clock);
}

static inline void model_write(unsigned thread, unsigned from, unsigned size)
{
    struct vector *clock = &model_threads[thread].clock;
    for (unsigned i = from; i < from + size; i++)
        vector_join(clock, &model_bytes[i].access);
    for (unsigned i = from; i < from + size; i++)
        model_bytes[i].access = model_bytes[i].write = *clock;
}

/* A channel with a configuration that names nothing, so that variables can be watched. */
static inline int model_start(void **state)
{
    static struct {
        struct pt_channel channel;
        struct pt_config config;
    } own;
    (void)state;
    own.channel.config_offset = offsetof(__typeof__(own), config);
    own.channel.config_bytes = sizeof own.config;
    pt_channel = &own.channel;
    if (!pt_clock_start() || !pt_shadow_start() || !pt_watch_start())
        return -1;
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        model_threads[i].self.clock.slot = model_threads[i].self.clock.number = i;
        model_threads[i].self.clock.events = MODEL_BEFORE;
        pt_shadow_refresh(&model_threads[i].self);
    }
    atomic_store(&pt_active, true);
    return 0;
}

/* The next test begins with clocks that know of all that was, and with memory that nobody has touched. */
static inline int model_forget(void **state)
{
    (void)state;
    uintptr_t from = (uintptr_t)model_memory;
    pt_shadow_clear(model_play(0), from, from + sizeof model_memory, false);
    for (uintptr_t at = from; at < from + sizeof model_memory; at += 8)
        if (pt_shadow_peek(at) && atomic_load(pt_shadow_peek(at)) & PT_SHADOW_KEPT) /* it goes on keeping them */
            pt_kept_open(pt_shadow_peek(at));
    memset(model_bytes, 0, sizeof model_bytes);
    return 0;
}

#endif
