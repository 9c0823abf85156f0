/*
 * Where races and lifetimes are looked for (runtime/race), around what is recorded: macros that define functions by the
 * size and kind of the access, for access.c alone.
 *
 * A plain store is looked at before it is made and a load after it, so that whoever reads a value finds who wrote it;
 * an atomic operation is made while its race cells are locked, so that they say which one it has read from.
 */
#ifndef PT_RUNTIME_SHADOW_RACING_H
#define PT_RUNTIME_SHADOW_RACING_H

#include "runtime/race/fast.h"
#include "runtime/race/life.h"
#include "runtime/shadow/recorded.h"

static COLD void race_plain(const void *address, unsigned size, unsigned kind, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)address, size, kind & PT_RACE_WRITE);
    if (!self || self->busy || !self->race)
        return;
    pt_enter(self);
    pt_race_plain(self->race, (uintptr_t)address, size, kind, site);
    pt_leave(self);
}

/* Whether the thread's accesses are looked at, and nothing stands in the way of that. */
static inline bool race_is_ready(const struct pt_shadow_self *self)
{
    return self && !self->busy && self->race;
}

/* The bytes of an access in the granule of its first one and, from bit 8 on, in the next. */
static inline unsigned race_bytes(const void *address, unsigned size)
{
    return ((1u << size) - 1) << ((uintptr_t)address & 7);
}

/* Whether an access of these bytes of one granule, by a thread that is ready, is known; its size and kind are
 * constants.
 */
__attribute__((always_inline)) static inline bool race_knows(struct pt_shadow_self *self, const void *address,
                                                             unsigned size, unsigned kind, const struct pt_site *site)
{
    return pt_race_glance_at(self->race, (uintptr_t)address, race_bytes(address, size), kind, site) == PT_RACE_KNOWN;
}

/* NULL: nothing is locked. */
static struct pt_shadow_self *race_begin(const void *address, size_t size)
{
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)address, size, true);
    if (!self || self->busy || self->racing || !self->race)
        return NULL;
    pt_shadow_before(self, (uintptr_t)address, size, true, NULL); /* once more while recorded, and then at once */
    self->racing = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (pt_race_atomic_begin(self->race, (uintptr_t)address, size))
        return self;
    pt_shadow_raced(self);
    return NULL;
}

static void race_end(struct pt_shadow_self *self, const void *address, size_t size, unsigned kind, int order,
                     const struct pt_site *site)
{
    if (!self)
        return;
    pt_enter(self);
    pt_race_atomic_end(self->race, (uintptr_t)address, size, kind, pt_race_order(order), site);
    pt_leave(self);
    pt_shadow_raced(self);
}

/* What comes after a glance that is not all. It is the last call of a load, whose value goes through it: so the glance
 * needs no frame. */
static COLD uint64_t rest_of_load(const void *address, unsigned size, const struct pt_site *site, uint64_t value)
{
    struct pt_shadow_self *self = pt_self;
    unsigned bytes = race_bytes(address, size);
    pt_enter(self);
    pt_race_read_one(self->race, (uintptr_t)address, bytes, site);
    pt_leave(self);
    return value;
}

/* The same of a read that its thread follows up by a write. */
static COLD uint64_t rest_of_peek(const void *address, unsigned size, const struct pt_site *site, uint64_t value)
{
    struct pt_shadow_self *self = pt_self;
    unsigned bytes = race_bytes(address, size);
    pt_enter(self);
    if (!pt_race_may_peek(self->race, (uintptr_t)address, bytes))
        pt_race_read_one(self->race, (uintptr_t)address, bytes, site);
    pt_leave(self);
    return value;
}

/* The same of a load of bytes of two granules, with the glance. */
static COLD uint64_t rest_of_two(const void *address, unsigned size, const struct pt_site *site, uint64_t value)
{
    struct pt_shadow_self *self = pt_self;
    unsigned bytes = race_bytes(address, size);
    uintptr_t at = (uintptr_t)address;
    if (pt_race_glance_at(self->race, at, bytes & PT_CELL_WHOLE, PT_RACE_READ, site) == PT_RACE_KNOWN &&
        pt_race_glance_at(self->race, at + 8, bytes >> 8, PT_RACE_READ, site) == PT_RACE_KNOWN)
        return value;
    pt_enter(self);
    pt_race_access(self->race, at, size, PT_RACE_READ, site);
    pt_leave(self);
    return value;
}

static inline void before_store(const void *address, unsigned size, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_self;
    unsigned bytes = race_bytes(address, size);
    pt_enter(self);
    pt_race_write_one(self->race, (uintptr_t)address, bytes, site);
    pt_leave(self);
}

/* Where nothing is done but to look for races: most accesses of such a run. Without a frame, and with what a hook
 * gets. */
#define HOT(bytes, type)                                                                                               \
    static COLD type slow_racing_load##bytes(const void *address, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        type value = pt_is_recording() ? recorded_load##bytes(address, order, site) : LOAD(bytes);                     \
        race_plain(address, bytes, PT_RACE_READ, site);                                                                \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD type slow_racing_store##bytes(void *address, type value, int op, int order,                            \
                                              const struct pt_site *site)                                              \
    {                                                                                                                  \
        race_plain(address, bytes, PT_RACE_WRITE, site);                                                               \
        return pt_is_recording() ? recorded_store##bytes(address, value, op, order, site) : STORE(bytes);              \
    }                                                                                                                  \
    static COLD type rest_of_store##bytes(void *address, type value, const struct pt_site *site)                       \
    {                                                                                                                  \
        before_store(address, bytes, site);                                                                            \
        return STORE(bytes);                                                                                           \
    }                                                                                                                  \
    static COLD type hot_load##bytes(const void *address, const struct pt_site *site)                                  \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        if (__builtin_expect(!race_is_ready(self), 0))                                                                 \
            return slow_racing_load##bytes(address, PT_PLAIN, site);                                                   \
        type value = LOAD(bytes);                                                                                      \
        if (__builtin_expect(race_bytes(address, bytes) > PT_CELL_WHOLE, 0))                                           \
            return (type)rest_of_two(address, bytes, site, (uint64_t)value);                                           \
        if (__builtin_expect(race_knows(self, address, bytes, PT_RACE_READ, site), 1))                                 \
            return value;                                                                                              \
        return (type)rest_of_load(address, bytes, site, (uint64_t)value);                                              \
    }                                                                                                                  \
    static COLD type hot_peek##bytes(const void *address, const struct pt_site *site)                                  \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        unsigned in = race_bytes(address, bytes);                                                                      \
        if (__builtin_expect(!race_is_ready(self) || in > PT_CELL_WHOLE, 0))                                           \
            return slow_racing_load##bytes(address, PT_PLAIN, site);                                                   \
        type value = LOAD(bytes);                                                                                      \
        if (__builtin_expect(pt_race_peeks_own(self->race, (uintptr_t)address, in), 1))                                \
            return value;                                                                                              \
        return (type)rest_of_peek(address, bytes, site, (uint64_t)value);                                              \
    }                                                                                                                  \
    static COLD type hot_store##bytes(void *address, type value, const struct pt_site *site)                           \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        unsigned in = race_bytes(address, bytes);                                                                      \
        if (__builtin_expect(!race_is_ready(self) || in > PT_CELL_WHOLE, 0))                                           \
            return slow_racing_store##bytes(address, value, 0, 0, site);                                               \
        if (__builtin_expect(race_knows(self, address, bytes, PT_RACE_WRITE, site), 1))                                \
            return STORE(bytes);                                                                                       \
        return rest_of_store##bytes(address, value, site);                                                             \
    }
#define RACING_LOAD(bytes, type)                                                                                       \
    static COLD type racing_load##bytes(const void *address, int order, const struct pt_site *site)                    \
    {                                                                                                                  \
        if (__builtin_expect(pt_is_recording(), 0))                                                                    \
            return slow_racing_load##bytes(address, order, site);                                                      \
        return hot_load##bytes(address, site);                                                                         \
    }
#define RACING_STORE(bytes, type)                                                                                      \
    static COLD type racing_store##bytes(void *address, type value, int op, int order, const struct pt_site *site)     \
    {                                                                                                                  \
        if (__builtin_expect(pt_is_recording(), 0))                                                                    \
            return slow_racing_store##bytes(address, value, op, order, site);                                          \
        return hot_store##bytes(address, value, site);                                                                 \
    }
#define RACING_ATOMIC_LOAD(bytes, type)                                                                                \
    static COLD type racing_atomic_load##bytes(const void *address, int order, const struct pt_site *site)             \
    {                                                                                                                  \
        struct pt_shadow_self *self = race_begin(address, bytes);                                                      \
        type value =                                                                                                   \
            pt_is_recording() ? recorded_atomic_load##bytes(address, order, site) : native_load##bytes(address);       \
        race_end(self, address, bytes, PT_RACE_READ, order, site);                                                     \
        return value;                                                                                                  \
    }
#define RACING_ATOMIC(name, bytes, type, kind, perform)                                                                \
    static COLD type racing_##name(void *address, type value, int op, int order, const struct pt_site *site)           \
    {                                                                                                                  \
        struct pt_shadow_self *self = race_begin(address, bytes);                                                      \
        type result = pt_is_recording() ? recorded_##name(address, value, op, order, site) : perform;                  \
        race_end(self, address, bytes, kind, order, site);                                                             \
        return result;                                                                                                 \
    }
#define RACING_EXCHANGE(bytes, type)                                                                                   \
    static COLD type racing_cas##bytes(void *address, type expected, type desired, int success, int failure,           \
                                       const struct pt_site *site)                                                     \
    {                                                                                                                  \
        struct pt_shadow_self *self = race_begin(address, bytes);                                                      \
        type old = pt_is_recording() ? recorded_cas##bytes(address, expected, desired, success, failure, site)         \
                                     : native_cas##bytes(address, expected, desired);                                  \
        bool done = old == expected;                                                                                   \
        race_end(self, address, bytes, done ? PT_RACE_READ | PT_RACE_WRITE : PT_RACE_READ, done ? success : failure,   \
                 site);                                                                                                \
        return old;                                                                                                    \
    }

/* A plain access of which the race engine looks at some. */
#define CHOSEN_LOAD(bytes, type)                                                                                       \
    static COLD type chosen_load##bytes(const void *address, int order, const struct pt_site *site)                    \
    {                                                                                                                  \
        if (!pt_race_skips(site) && !pt_shadow_leaves_out(site))                                                       \
            return racing_load##bytes(address, order, site);                                                           \
        return pt_is_recording() ? recorded_load##bytes(address, order, site) : LOAD(bytes);                           \
    }
#define CHOSEN_STORE(bytes, type)                                                                                      \
    static COLD type chosen_store##bytes(void *address, type value, int op, int order, const struct pt_site *site)     \
    {                                                                                                                  \
        if (!pt_race_skips(site) && !pt_shadow_leaves_out(site))                                                       \
            return racing_store##bytes(address, value, op, order, site);                                               \
        return pt_is_recording() ? recorded_store##bytes(address, value, op, order, site) : STORE(bytes);              \
    }
/* Where lifetimes are looked at, whether the memory is there comes first of all. */
static void look_at_life(const void *address, size_t size, unsigned kind, const struct pt_site *site, const void *frame)
{
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)address, size, kind & PT_RACE_WRITE);
    if (!self || self->busy || !self->race)
        return;
    pt_shadow_before(self, (uintptr_t)address, size, kind & PT_RACE_WRITE, site); /* it may end meanwhile */
    pt_enter(self);
    pt_life_access(self->race, (uintptr_t)address, size, kind, site, (uintptr_t)frame);
    pt_leave(self);
}
#define RACING_ALL(name)  racing_##name
#define RACING_SOME(name) (pt_race_chooses ? chosen_##name : racing_##name)
#define LIVING(name, race, bytes, type, kind, parameters, arguments, perform)                                          \
    static COLD type living_##name parameters                                                                          \
    {                                                                                                                  \
        look_at_life(address, bytes, kind, site, __builtin_frame_address(0));                                          \
        if (pt_is_racing())                                                                                            \
            return race(name) arguments;                                                                               \
        return pt_is_recording() ? recorded_##name arguments : perform;                                                \
    }
#define LIVING_READ(name, race, bytes, type, kind, perform)                                                            \
    LIVING(name, race, bytes, type, kind, (const void *address, int order, const struct pt_site *site),                \
           (address, order, site), perform)
#define LIVING_WRITE(name, race, bytes, type, kind, perform)                                                           \
    LIVING(name, race, bytes, type, kind, (void *address, type value, int op, int order, const struct pt_site *site),  \
           (address, value, op, order, site), perform)
#define LIVING_EXCHANGE(bytes, type)                                                                                   \
    LIVING(cas##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_READ | PT_RACE_WRITE,                         \
           (void *address, type expected, type desired, int success, int failure, const struct pt_site *site),         \
           (address, expected, desired, success, failure, site), native_cas##bytes(address, expected, desired))

#endif
