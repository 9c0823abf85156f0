/*
 * Loads, stores and atomic operations of up to 16 bytes.
 *
 * A hook performs the access itself, so the order it records is the order that happened. With nothing to record it is a
 * test of one flag, then the access. Else the fast paths (shadow/fast.h) are tried, those without any change of clocks
 * in the hook itself, the others in its `fast` function, and the slow path (shadow/slow.h) is taken last.
 *
 * Guarantee: an access and its event are one step for all other threads. Cost: with a known clock some ten instructions
 * more than the access, and no write to memory that others read.
 */
#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop

#include "core/explore.h"
#include "runtime/race/life.h"
#include "runtime/shadow/fast.h"
#include "runtime/shadow/narrow.h"
#include "runtime/shadow/native.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/small.h"
#include "runtime/sys/delay.h"

#define COLD __attribute__((noinline))

/* The slow path of one access. */
struct path {
    struct pt_shadow_self *self; /* NULL: not to be recorded */
    bool locked;
    struct pt_locked_range range;
};

static COLD void begin(struct path *path, const void *address, size_t size, int order, bool write,
                       const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)address, size, write);
    if (!self || self->busy || !pt_address_ok((uintptr_t)address)) {
        pt_slow_lost((uintptr_t)address, size);
        self = NULL;
    }
    path->self = self;
    if (!self)
        return;
    pt_shadow_before(self, (uintptr_t)address, size, write, site);
    pt_enter(self);
    path->locked = pt_slow_begin(self, (uintptr_t)address, size, write, &path->range);
    if (path->locked && write)
        pt_slow_check(self, &path->range);
    path->range.order = pt_slow_order(order);
}

static COLD void end_read(struct path *path, const struct pt_site *site)
{
    if (!path->self)
        return;
    if (path->locked)
        pt_slow_end_read(path->self, &path->range, site);
    pt_leave(path->self);
}

static COLD void end_write(struct path *path, enum pt_event_kind kind, const struct pt_site *site)
{
    if (!path->self)
        return;
    if (path->locked)
        pt_slow_end_write(path->self, &path->range, kind, site);
    pt_leave(path->self);
}

/* Accesses of the program are as it wrote them, aligned or not. */
#define ANY(bytes, type) typedef type __attribute__((aligned(1), may_alias)) any##bytes;
ANY(1, uint8_t)
ANY(2, uint16_t)
ANY(4, uint32_t)
ANY(8, uint64_t)
ANY(16, pt_u128)

/* Nothing near it was ever recorded, and this thread has nothing to record there: a leaf would be memory for nothing.
 */
static bool is_untouched(uintptr_t address)
{
    return pt_self && !pt_self->fast && pt_address_ok(address) && !pt_shadow_peek(address);
}

/*
 * Returns the value if the granule is as the read would leave it. acquire, before: partner of pt_granule_unlock. The
 * fence and the second check: whoever locked the granule and wrote the value that was loaded has been seen
 * to have locked or to have unlocked it.
 */
#define READ_IF(test, bytes, type, perform)                                                                            \
    if (test) {                                                                                                        \
        type value = perform;                                                                                          \
        atomic_thread_fence(memory_order_acquire);                                                                     \
        if (__builtin_expect(atomic_load_explicit(word, memory_order_relaxed) == seen, 1)) {                           \
            self->states++;                                                                                            \
            return value;                                                                                              \
        }                                                                                                              \
    }
#define IS_KNOWN(bytes)   pt_fast_read_is_known(self->fast, seen, pt_fast_marks(self, at, bytes))
#define IS_BETWEEN(bytes) pt_fast_read_is_between(self, seen, pt_fast_marks(self, at, bytes))

#define DEFINE_SLOW_READ(name, bytes, type, perform)                                                                   \
    static COLD type slow_##name(const void *address, int order, const struct pt_site *site)                           \
    {                                                                                                                  \
        if (is_untouched((uintptr_t)address) && is_untouched((uintptr_t)address + bytes - 1)) {                        \
            type value = perform;                                                                                      \
            /* acquire: partner of the exchange that publishes a leaf; no writer had one before the load */            \
            atomic_thread_fence(memory_order_acquire);                                                                 \
            if (is_untouched((uintptr_t)address) && is_untouched((uintptr_t)address + bytes - 1)) {                    \
                pt_self->states++;                                                                                     \
                return value;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        struct path path;                                                                                              \
        begin(&path, address, bytes, order, false, site);                                                              \
        type value = perform;                                                                                          \
        end_read(&path, site);                                                                                         \
        return value;                                                                                                  \
    }
/* One that touches two granules. */
#define DEFINE_PAIR_READ(name, bytes, type, perform)                                                                   \
    static COLD type pair_##name(const void *address, int order, const struct pt_site *site)                           \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        struct pt_fast_pair pair;                                                                                      \
        if (self && pt_fast_pair_is_known(self, (uintptr_t)address, bytes, &pair)) {                                   \
            type value = perform;                                                                                      \
            atomic_thread_fence(memory_order_acquire);                                                                 \
            if (__builtin_expect(pt_fast_pair_still(&pair), 1)) {                                                      \
                self->states++;                                                                                        \
                return value;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return slow_##name(address, order, site);                                                                      \
    }
/* One of a granule whose bytes have different clocks (narrow.h). */
#define DEFINE_NARROW_READ(name, bytes, type, perform)                                                                 \
    static COLD type narrow_##name(const void *address, int order, const struct pt_site *site,                         \
                                   struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen)                   \
    {                                                                                                                  \
        uintptr_t at = (uintptr_t)address;                                                                             \
        uint32_t life;                                                                                                 \
        if (pt_narrow_is_known(self, seen, at, bytes, &life)) {                                                        \
            type value = perform;                                                                                      \
            atomic_thread_fence(memory_order_acquire);                                                                 \
            if (__builtin_expect(pt_narrow_still(self, word, seen, at, bytes, life), 1)) {                             \
                self->states++;                                                                                        \
                return value;                                                                                          \
            }                                                                                                          \
        } else if (!self->busy && pt_narrow_begin(self, word, seen, at, bytes, false)) {                               \
            type value = perform;                                                                                      \
            self->states++;                                                                                            \
            pt_narrow_end(self, word, seen, at, bytes, false);                                                         \
            return value;                                                                                              \
        }                                                                                                              \
        return fast_##name(address, order, site, self, word, seen);                                                    \
    }
/* Where the program records itself. */
#define DEFINE_SMALL_READ(name, bytes, type, perform)                                                                  \
    static COLD type small_##name(const void *address, int order, const struct pt_site *site)                          \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        pt_shadow_word *word = pt_small_begin(self, (uintptr_t)address, bytes, false);                                 \
        if (!word)                                                                                                     \
            return slow_##name(address, order, site);                                                                  \
        type value = perform;                                                                                          \
        pt_small_end(self, word, PT_KIND_READ_AT, order, (uintptr_t)address, bytes, site, (uint64_t)value);            \
        return value;                                                                                                  \
    }
/* `perform` is the load. */
#define DEFINE_READ(name, bytes, type, perform)                                                                        \
    DEFINE_SLOW_READ(name, bytes, type, perform)                                                                       \
    DEFINE_PAIR_READ(name, bytes, type, perform)                                                                       \
    DEFINE_SMALL_READ(name, bytes, type, perform)                                                                      \
    static COLD type fast_##name(const void *address, int order, const struct pt_site *site,                           \
                                 struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen)                     \
    {                                                                                                                  \
        uintptr_t at = (uintptr_t)address;                                                                             \
        if (self->records)                                                                                             \
            return small_##name(address, order, site);                                                                 \
        bool busy = self->busy, parts = false;                                                                         \
        if (!busy && pt_fast_lock_evaluated(self, word, seen, at, bytes, false)) {                                     \
            type value = perform;                                                                                      \
            pt_fast_end_evaluated(self, word, seen, at, bytes, PT_KIND_READ_AT, site);                                 \
            return value;                                                                                              \
        }                                                                                                              \
        struct pt_reading *reading = busy ? NULL : pt_readers_at(self, seen, at, pt_bytes_at(at, bytes));              \
        if (reading && pt_readers_clock(reading) == self->clock.id) {                                                  \
            type value = perform;                                                                                      \
            atomic_thread_fence(memory_order_acquire);                                                                 \
            if (pt_readers_still(reading, word, seen)) {                                                               \
                self->states++;                                                                                        \
                return value;                                                                                          \
            }                                                                                                          \
        } else if (reading) {                                                                                          \
            if (pt_readers_begin(self, reading, word, seen)) {                                                         \
                type value = perform;                                                                                  \
                bool counts = pt_readers_done(self, reading);                                                          \
                self->states += counts;                                                                                \
                pt_fast_leave(self);                                                                                   \
                if (counts)                                                                                            \
                    return value;                                                                                      \
            } else {                                                                                                   \
                pt_fast_leave(self);                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        if (seen & PT_SHADOW_LOCKED) {                                                                                 \
            seen = pt_fast_await(word, seen);                                                                          \
            READ_IF(IS_KNOWN(bytes), bytes, type, perform)                                                             \
        }                                                                                                              \
        if (busy || !pt_fast_is_passed(self, seen, pt_bytes_at(at, bytes), false)) {                                   \
            READ_IF(IS_BETWEEN(bytes), bytes, type, perform)                                                           \
            if (busy || !pt_narrow_parts(self, seen, pt_bytes_at(at, bytes)))                                          \
                return slow_##name(address, order, site);                                                              \
            parts = true;                                                                                              \
        }                                                                                                              \
        if (!pt_fast_lock_passed(self, word, seen)) {                                                                  \
            pt_fast_leave(self);                                                                                       \
            return slow_##name(address, order, site);                                                                  \
        }                                                                                                              \
        type value = perform;                                                                                          \
        self->states++;                                                                                                \
        if (parts)                                                                                                     \
            pt_narrow_end_part(self, word, at, bytes, false, seen);                                                    \
        else                                                                                                           \
            pt_fast_end_passed(self, word, at, bytes, false, seen);                                                    \
        return value;                                                                                                  \
    }                                                                                                                  \
    DEFINE_NARROW_READ(name, bytes, type, perform)                                                                     \
    static inline type recorded_##name(const void *address, int order, const struct pt_site *site)                     \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        pt_shadow_word *word = self ? pt_fast_word(at, bytes) : NULL;                                                  \
        if (!word)                                                                                                     \
            return pair_##name(address, order, site);                                                                  \
        uint64_t seen = atomic_load_explicit(word, memory_order_acquire);                                              \
        READ_IF(IS_KNOWN(bytes), bytes, type, perform)                                                                 \
        if (seen & PT_SHADOW_FINE)                                                                                     \
            return narrow_##name(address, order, site, self, word, seen);                                              \
        return fast_##name(address, order, site, self, word, seen);                                                    \
    }

#define DEFINE_SLOW_WRITE(name, bytes, type, kind, atomic, perform)                                                    \
    static COLD type slow_##name(void *address, type value, int op, int order, const struct pt_site *site)             \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        struct path path;                                                                                              \
        begin(&path, address, bytes, atomic ? order : PT_PLAIN, true, site);                                           \
        type result = perform;                                                                                         \
        end_write(&path, kind, site);                                                                                  \
        return result;                                                                                                 \
    }
#define DEFINE_SMALL_WRITE(name, bytes, type, kind, atomic, perform)                                                   \
    static COLD type small_##name(void *address, type value, int op, int order, const struct pt_site *site)            \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        struct pt_shadow_self *self = pt_self;                                                                         \
        pt_shadow_word *word = pt_small_begin(self, (uintptr_t)address, bytes, true);                                  \
        if (!word)                                                                                                     \
            return slow_##name(address, value, op, order, site);                                                       \
        type result = perform;                                                                                         \
        pt_small_end(self, word, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT,                        \
                     atomic ? order : PT_PLAIN, (uintptr_t)address, bytes, site,                                       \
                     kind == PT_KIND_UPDATE ? (uint64_t) * (const any##bytes *)address : (uint64_t)value);             \
        return result;                                                                                                 \
    }
/* `perform` is the store, or the read-modify-write, of `value`; what it evaluates to is returned. */
#define DEFINE_WRITE(name, bytes, type, kind, atomic, perform)                                                         \
    DEFINE_SLOW_WRITE(name, bytes, type, kind, atomic, perform)                                                        \
    DEFINE_SMALL_WRITE(name, bytes, type, kind, atomic, perform)                                                       \
    static COLD type fast_##name(void *address, type value, int op, int order, const struct pt_site *site)             \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        struct pt_shadow_self *self = pt_self;                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        if (self && self->records)                                                                                     \
            return small_##name(address, value, op, order, site);                                                      \
        pt_shadow_word *word = self && !self->busy ? pt_fast_word(at, bytes) : NULL;                                   \
        uint64_t seen = word ? pt_fast_await(word, atomic_load_explicit(word, memory_order_relaxed)) : 0;              \
        bool known = word && pt_fast_write_is_known(self->fast, seen);                                                 \
        if (word && pt_fast_lock_evaluated(self, word, seen, at, bytes, true)) {                                       \
            type result = perform;                                                                                     \
            pt_fast_end_evaluated(self, word, seen, at, bytes, atomic ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);   \
            return result;                                                                                             \
        }                                                                                                              \
        if (word && seen & PT_SHADOW_FINE && pt_narrow_begin(self, word, seen, at, bytes, true)) {                     \
            type result = perform;                                                                                     \
            self->states++;                                                                                            \
            pt_narrow_end(self, word, seen, at, bytes, true);                                                          \
            return result;                                                                                             \
        }                                                                                                              \
        bool parts = word && !known && pt_narrow_parts(self, seen, pt_bytes_at(at, bytes));                            \
        if (!word || (!known && !parts && !pt_fast_is_passed(self, seen, pt_bytes_at(at, bytes), true)))               \
            return slow_##name(address, value, op, order, site);                                                       \
        if (!(known ? pt_fast_lock(self, word, seen) : pt_fast_lock_passed(self, word, seen))) {                       \
            pt_fast_leave(self);                                                                                       \
            return slow_##name(address, value, op, order, site);                                                       \
        }                                                                                                              \
        type result = perform;                                                                                         \
        self->states++;                                                                                                \
        if (known)                                                                                                     \
            pt_fast_end_known(self, word, at, bytes, seen);                                                            \
        else if (parts)                                                                                                \
            pt_narrow_end_part(self, word, at, bytes, true, seen);                                                     \
        else                                                                                                           \
            pt_fast_end_passed(self, word, at, bytes, true, seen);                                                     \
        return result;                                                                                                 \
    }                                                                                                                  \
    /* Another thread was faster. */                                                                                   \
    static COLD type contended_##name(void *address, type value, int op, int order, const struct pt_site *site)        \
    {                                                                                                                  \
        pt_fast_leave(pt_self);                                                                                        \
        return fast_##name(address, value, op, order, site);                                                           \
    }                                                                                                                  \
    static inline type recorded_##name(void *address, type value, int op, int order, const struct pt_site *site)       \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        struct pt_shadow_self *self = pt_self;                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        pt_shadow_word *word = self && !self->busy ? pt_fast_word(at, bytes) : NULL;                                   \
        uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;                                   \
        if (!word || !pt_fast_write_is_known(self->fast, seen))                                                        \
            return fast_##name(address, value, op, order, site);                                                       \
        if (!pt_fast_lock(self, word, seen))                                                                           \
            return contended_##name(address, value, op, order, site);                                                  \
        type result = perform;                                                                                         \
        self->states++;                                                                                                \
        pt_fast_end_known(self, word, at, bytes, seen);                                                                \
        return result;                                                                                                 \
    }

#define DEFINE_SLOW_EXCHANGE(bytes, type)                                                                              \
    static COLD type slow_cas##bytes(void *address, type expected, type desired, int success, int failure,             \
                                     const struct pt_site *site)                                                       \
    {                                                                                                                  \
        struct path path;                                                                                              \
        begin(&path, address, bytes, success, true, site);                                                             \
        type old = native_cas##bytes(address, expected, desired);                                                      \
        path.range.order = pt_slow_order(old == expected ? success : failure);                                         \
        if (old == expected)                                                                                           \
            end_write(&path, PT_KIND_UPDATE, site);                                                                    \
        else /* an exchange that did not happen is a read */                                                           \
            end_read(&path, site);                                                                                     \
        return old;                                                                                                    \
    }
/* Fast only where it is so both as a write and as a read: which one it is shows when the granule is locked. */
#define DEFINE_EXCHANGE(bytes, type)                                                                                   \
    DEFINE_SLOW_EXCHANGE(bytes, type)                                                                                  \
    static inline type recorded_cas##bytes(void *address, type expected, type desired, int success, int failure,       \
                                           const struct pt_site *site)                                                 \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        pt_shadow_word *word = self && !self->busy ? pt_fast_word(at, bytes) : NULL;                                   \
        uint64_t seen = word ? pt_fast_await(word, atomic_load_explicit(word, memory_order_relaxed)) : 0;              \
        uint64_t marks = word ? pt_fast_marks(self, at, bytes) : 0;                                                    \
        bool known = word && pt_fast_write_is_known(self->fast, seen) && (seen & marks) == marks;                      \
        if (!word || (!known && !pt_fast_is_passed(self, seen, pt_bytes_at(at, bytes), false)))                        \
            return slow_cas##bytes(address, expected, desired, success, failure, site);                                \
        if (!(known ? pt_fast_lock(self, word, seen) : pt_fast_lock_passed(self, word, seen))) {                       \
            pt_fast_leave(self);                                                                                       \
            return slow_cas##bytes(address, expected, desired, success, failure, site);                                \
        }                                                                                                              \
        type old = native_cas##bytes(address, expected, desired);                                                      \
        self->states++;                                                                                                \
        if (known)                                                                                                     \
            pt_fast_end_known(self, word, at, bytes, seen);                                                            \
        else                                                                                                           \
            pt_fast_end_passed(self, word, at, bytes, old == expected, seen);                                          \
        return old;                                                                                                    \
    }

#define STORE(bytes)         (*(volatile any##bytes *)address = value)
#define LOAD(bytes)          (*(const volatile any##bytes *)address)
#define ATOMIC_STORE(bytes)  (native_store##bytes(address, value, order), value)
#define ATOMIC_UPDATE(bytes) native_rmw##bytes(address, value, op)

/*
 * Where races are looked for (runtime/race), around what is recorded: a plain store is looked at before it is made and
 * a load after it, so that whoever reads a value finds who wrote it; an atomic operation is made while its race cells
 * are locked, so that they say which one it has read from.
 */
static COLD void race_plain(const void *address, unsigned size, unsigned kind, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)address, size, kind & PT_RACE_WRITE);
    if (!self || self->busy || !self->race)
        return;
    pt_enter(self);
    pt_race_plain(self->race, (uintptr_t)address, size, kind, site);
    pt_leave(self);
}

/* Whether nothing stands in the way of the fast path, where nothing is recorded. */
static inline bool race_is_ready(const struct pt_shadow_self *self, uintptr_t at, unsigned size)
{
    return self && !self->busy && self->race && (at & 7) + size <= 8;
}

/* The fast path, by a thread that is ready; its size and kind are constants. False: nothing has happened. */
__attribute__((always_inline)) static inline bool race_fast(struct pt_shadow_self *self, uintptr_t at, unsigned size,
                                                            unsigned kind, const struct pt_site *site)
{
    self->busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    bool done = pt_race_fast(self->race, at, ((1u << size) - 1) << (at & 7), kind, site);
    if (done)
        self->race->hb.clock += kind >> 1 & 1; /* of a write */
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = 0;
    return done;
}

/* What comes after the fast path where that is not all: the access, or what was deferred meanwhile. */
static inline uint64_t race_rest(bool done, const void *address, unsigned size_and_kind, const struct pt_site *site,
                                 uint64_t value)
{
    struct pt_shadow_self *self = pt_self;
    uintptr_t at = (uintptr_t)address;
    unsigned size = size_and_kind >> 8, kind = size_and_kind & 0xff;
    pt_enter(self);
    if (!done)
        pt_race_access_one(self->race, at, ((1u << size) - 1) << (at & 7), kind, site);
    pt_leave(self);
    return value;
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

/* The last call of a load, whose value goes through it: so the fast path needs no frame. */
static COLD uint64_t rest_of_load(bool done, const void *address, unsigned size, const struct pt_site *site,
                                  uint64_t value)
{
    return race_rest(done, address, size << 8 | PT_RACE_READ, site, value);
}

#define RACING_LOAD(bytes, type)                                                                                       \
    static COLD type slow_racing_load##bytes(const void *address, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        type value = pt_is_recording() ? recorded_load##bytes(address, order, site) : LOAD(bytes);                     \
        race_plain(address, bytes, PT_RACE_READ, site);                                                                \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD type racing_load##bytes(const void *address, int order, const struct pt_site *site)                    \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        if (__builtin_expect(pt_is_recording() || !race_is_ready(self, (uintptr_t)address, bytes), 0))                 \
            return slow_racing_load##bytes(address, order, site);                                                      \
        type value = LOAD(bytes);                                                                                      \
        bool done = race_fast(self, (uintptr_t)address, bytes, PT_RACE_READ, site);                                    \
        if (__builtin_expect(!done || self->attention, 0))                                                             \
            return (type)rest_of_load(done, address, bytes, site, (uint64_t)value);                                    \
        return value;                                                                                                  \
    }
#define RACING_STORE(bytes, type)                                                                                      \
    static COLD type slow_racing_store##bytes(void *address, type value, int op, int order,                            \
                                              const struct pt_site *site)                                              \
    {                                                                                                                  \
        race_plain(address, bytes, PT_RACE_WRITE, site);                                                               \
        return pt_is_recording() ? recorded_store##bytes(address, value, op, order, site) : STORE(bytes);              \
    }                                                                                                                  \
    static COLD type rest_of_store##bytes(bool done, void *address, type value, const struct pt_site *site)            \
    {                                                                                                                  \
        race_rest(done, address, bytes << 8 | PT_RACE_WRITE, site, 0);                                                 \
        return STORE(bytes);                                                                                           \
    }                                                                                                                  \
    static COLD type racing_store##bytes(void *address, type value, int op, int order, const struct pt_site *site)     \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        if (__builtin_expect(pt_is_recording() || !race_is_ready(self, (uintptr_t)address, bytes), 0))                 \
            return slow_racing_store##bytes(address, value, op, order, site);                                          \
        bool done = race_fast(self, (uintptr_t)address, bytes, PT_RACE_WRITE, site);                                   \
        if (__builtin_expect(!done || self->attention, 0))                                                             \
            return rest_of_store##bytes(done, address, value, site);                                                   \
        return STORE(bytes);                                                                                           \
    }
/* The same where nothing else is done: most accesses of a run that only looks for races. Without a frame, and with
 * what a hook gets. */
#define HOT(bytes, type)                                                                                               \
    static COLD type hot_load##bytes(const void *address, const struct pt_site *site)                                  \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        if (__builtin_expect(!race_is_ready(self, (uintptr_t)address, bytes), 0))                                      \
            return slow_racing_load##bytes(address, PT_PLAIN, site);                                                   \
        type value = LOAD(bytes);                                                                                      \
        bool done = race_fast(self, (uintptr_t)address, bytes, PT_RACE_READ, site);                                    \
        if (__builtin_expect(!done || self->attention, 0))                                                             \
            return (type)rest_of_load(done, address, bytes, site, (uint64_t)value);                                    \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD void hot_store##bytes(void *address, type value, const struct pt_site *site)                           \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        bool ready = race_is_ready(self, (uintptr_t)address, bytes);                                                   \
        if (__builtin_expect(!ready, 0)) {                                                                             \
            slow_racing_store##bytes(address, value, 0, 0, site);                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        bool done = race_fast(self, (uintptr_t)address, bytes, PT_RACE_WRITE, site);                                   \
        if (__builtin_expect(!done || self->attention, 0)) {                                                           \
            rest_of_store##bytes(done, address, value, site);                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        STORE(bytes);                                                                                                  \
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

/* Where threads are scheduled, the turn comes first of all: then all that there is beside it. */
#define EXPLORED(name, race, bytes, type, kind, parameters, arguments, perform)                                        \
    static COLD type explored_##name parameters                                                                        \
    {                                                                                                                  \
        pt_shadow_hooks.point(address, bytes, kind, site);                                                             \
        if (pt_is_living())                                                                                            \
            return living_##name arguments;                                                                            \
        if (pt_is_racing())                                                                                            \
            return race(name) arguments;                                                                               \
        return pt_is_recording() ? recorded_##name arguments : perform;                                                \
    }
#define EXPLORED_READ(name, race, bytes, type, kind, perform)                                                          \
    EXPLORED(name, race, bytes, type, kind, (const void *address, int order, const struct pt_site *site),              \
             (address, order, site), perform)
#define EXPLORED_WRITE(name, race, bytes, type, kind, perform)                                                         \
    EXPLORED(name, race, bytes, type, kind,                                                                            \
             (void *address, type value, int op, int order, const struct pt_site *site),                               \
             (address, value, op, order, site), perform)
#define EXPLORED_EXCHANGE(bytes, type)                                                                                 \
    EXPLORED(cas##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_UPDATE,                                            \
             (void *address, type expected, type desired, int success, int failure, const struct pt_site *site),       \
             (address, expected, desired, success, failure, site), native_cas##bytes(address, expected, desired))

/* What the race engine does not follow: it is in a gap of sampling. */
#define BETWEEN(name, type, order, parameters, arguments, perform)                                                     \
    static COLD type between_##name parameters                                                                         \
    {                                                                                                                  \
        uint32_t gap = pt_shadow_skips_atomic(site);                                                                   \
        if (!gap)                                                                                                      \
            return racing_##name arguments;                                                                            \
        type result = pt_is_recording() ? recorded_##name arguments : perform;                                         \
        pt_shadow_skipped_atomic(gap, order, site);                                                                    \
        return result;                                                                                                 \
    }
#define BETWEEN_READ(name, type, perform)                                                                              \
    BETWEEN(name, type, order, (const void *address, int order, const struct pt_site *site), (address, order, site),   \
            perform)
#define BETWEEN_WRITE(name, type, perform)                                                                             \
    BETWEEN(name, type, order, (void *address, type value, int op, int order, const struct pt_site *site),             \
            (address, value, op, order, site), perform)
#define BETWEEN_EXCHANGE(bytes, type)                                                                                  \
    BETWEEN(cas##bytes, type, success == __ATOMIC_RELAXED ? failure : success,                                         \
            (void *address, type expected, type desired, int success, int failure, const struct pt_site *site),        \
            (address, expected, desired, success, failure, site), native_cas##bytes(address, expected, desired))

/* What is done, by what there is to do. */
#define BY_MODE(perform, plain, name, arguments)                                                                       \
    do {                                                                                                               \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            return perform;                                                                                            \
        plain(perform, name, arguments);                                                                               \
        if (__builtin_expect(mode & (PT_ACTIVE_LIVES | PT_ACTIVE_EXPLORES), 0))                                        \
            return mode & PT_ACTIVE_EXPLORES ? explored_##name arguments : living_##name arguments;                    \
        if (mode & PT_ACTIVE_CHOOSES)                                                                                  \
            return plain##_CHOSEN(mode, name) arguments;                                                               \
        return mode & PT_ACTIVE_RACES ? racing_##name arguments : recorded_##name arguments;                           \
    } while (0)
#define ATOMIC(perform, name, arguments)
#define ATOMIC_CHOSEN(mode, name) (mode & PT_ACTIVE_RACES ? racing_##name : between_##name)
#define PLAIN(perform, name, arguments)                                                                                \
    if (mode == PT_ACTIVE_CHOOSES && __builtin_expect(pt_race_is_often(site), 1))                                      \
    return perform
#define PLAIN_CHOSEN(mode, name) chosen_##name
#define CHOOSE_READ(plain, name, type, perform)                                                                        \
    static inline type name(const void *address, int order, const struct pt_site *site)                                \
    {                                                                                                                  \
        BY_MODE(perform, plain, name, (address, order, site));                                                         \
    }
#define CHOOSE_WRITE(plain, name, type, perform)                                                                       \
    static inline type name(void *address, type value, int op, int order, const struct pt_site *site)                  \
    {                                                                                                                  \
        BY_MODE(perform, plain, name, (address, value, op, order, site));                                              \
    }
#define CHOOSE(bytes, type)                                                                                            \
    CHOOSE_READ(PLAIN, load##bytes, type, LOAD(bytes))                                                                 \
    CHOOSE_READ(ATOMIC, atomic_load##bytes, type, native_load##bytes(address))                                         \
    CHOOSE_WRITE(PLAIN, store##bytes, type, STORE(bytes))                                                              \
    CHOOSE_WRITE(ATOMIC, atomic_store##bytes, type, ATOMIC_STORE(bytes))                                               \
    CHOOSE_WRITE(ATOMIC, update##bytes, type, ATOMIC_UPDATE(bytes))                                                    \
    static inline type cas##bytes(void *address, type expected, type desired, int success, int failure,                \
                                  const struct pt_site *site)                                                          \
    {                                                                                                                  \
        BY_MODE(native_cas##bytes(address, expected, desired), ATOMIC, cas##bytes,                                     \
                (address, expected, desired, success, failure, site));                                                 \
    }

/* The same after a pause, perhaps: apart, so that the others need no frame for it. */
#define DEFINE_LATE(bytes, type)                                                                                       \
    static COLD type late_load##bytes(const void *address, int order, const struct pt_site *site)                      \
    {                                                                                                                  \
        pt_delay_atomic(address, order);                                                                               \
        return atomic_load##bytes(address, order, site);                                                               \
    }                                                                                                                  \
    static COLD void late_store##bytes(void *address, type value, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        pt_delay_atomic(address, order);                                                                               \
        (void)atomic_store##bytes(address, value, 0, order, site);                                                     \
    }                                                                                                                  \
    static COLD type late_update##bytes(void *address, type operand, int op, int order, const struct pt_site *site)    \
    {                                                                                                                  \
        pt_delay_atomic(address, order);                                                                               \
        return update##bytes(address, operand, op, order, site);                                                       \
    }                                                                                                                  \
    static COLD type late_cas##bytes(void *address, type expected, type desired, int success, int failure,             \
                                     const struct pt_site *site)                                                       \
    {                                                                                                                  \
        pt_delay_atomic(address, success);                                                                             \
        return cas##bytes(address, expected, desired, success, failure, site);                                         \
    }

#define DEFINE_HOOKS(bytes, type)                                                                                      \
    DEFINE_READ(load##bytes, bytes, type, LOAD(bytes))                                                                 \
    DEFINE_READ(atomic_load##bytes, bytes, type, native_load##bytes(address))                                          \
    DEFINE_WRITE(store##bytes, bytes, type, PT_KIND_WRITE, false, STORE(bytes))                                        \
    DEFINE_WRITE(atomic_store##bytes, bytes, type, PT_KIND_WRITE, true, ATOMIC_STORE(bytes))                           \
    DEFINE_WRITE(update##bytes, bytes, type, PT_KIND_UPDATE, true, ATOMIC_UPDATE(bytes))                               \
    DEFINE_EXCHANGE(bytes, type)                                                                                       \
    RACING_LOAD(bytes, type)                                                                                           \
    RACING_STORE(bytes, type)                                                                                          \
    HOT(bytes, type)                                                                                                   \
    RACING_ATOMIC_LOAD(bytes, type)                                                                                    \
    RACING_ATOMIC(atomic_store##bytes, bytes, type, PT_RACE_WRITE, ATOMIC_STORE(bytes))                                \
    RACING_ATOMIC(update##bytes, bytes, type, PT_RACE_READ | PT_RACE_WRITE, ATOMIC_UPDATE(bytes))                      \
    RACING_EXCHANGE(bytes, type)                                                                                       \
    CHOSEN_LOAD(bytes, type)                                                                                           \
    CHOSEN_STORE(bytes, type)                                                                                          \
    BETWEEN_READ(atomic_load##bytes, type, native_load##bytes(address))                                                \
    BETWEEN_WRITE(atomic_store##bytes, type, ATOMIC_STORE(bytes))                                                      \
    BETWEEN_WRITE(update##bytes, type, ATOMIC_UPDATE(bytes))                                                           \
    BETWEEN_EXCHANGE(bytes, type)                                                                                      \
    LIVING_READ(load##bytes, RACING_SOME, bytes, type, PT_RACE_READ, LOAD(bytes))                                      \
    LIVING_READ(atomic_load##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_READ,                            \
                native_load##bytes(address))                                                                           \
    LIVING_WRITE(store##bytes, RACING_SOME, bytes, type, PT_RACE_WRITE, STORE(bytes))                                  \
    LIVING_WRITE(atomic_store##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_WRITE, ATOMIC_STORE(bytes))    \
    LIVING_WRITE(update##bytes, RACING_ALL, bytes, type, PT_CELL_ATOMIC | PT_RACE_READ | PT_RACE_WRITE,                \
                 ATOMIC_UPDATE(bytes))                                                                                 \
    LIVING_EXCHANGE(bytes, type)                                                                                       \
    EXPLORED_READ(load##bytes, RACING_SOME, bytes, type, PT_EXPLORE_LOAD, LOAD(bytes))                                 \
    EXPLORED_READ(atomic_load##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_LOAD, native_load##bytes(address))    \
    EXPLORED_WRITE(store##bytes, RACING_SOME, bytes, type, PT_EXPLORE_STORE, STORE(bytes))                             \
    EXPLORED_WRITE(atomic_store##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_STORE, ATOMIC_STORE(bytes))         \
    EXPLORED_WRITE(update##bytes, RACING_ALL, bytes, type, PT_EXPLORE_ATOMIC_UPDATE, ATOMIC_UPDATE(bytes))             \
    EXPLORED_EXCHANGE(bytes, type)                                                                                     \
    CHOOSE(bytes, type)                                                                                                \
    DEFINE_LATE(bytes, type)                                                                                           \
    type __portent_load##bytes(const void *address, const struct pt_site *site)                                        \
    {                                                                                                                  \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            return LOAD(bytes);                                                                                        \
        if (mode == PT_ACTIVE_RACES)                                                                                   \
            return hot_load##bytes(address, site);                                                                     \
        if (mode == PT_ACTIVE_RECORDS)                                                                                 \
            return recorded_load##bytes(address, PT_PLAIN, site);                                                      \
        if (mode == (PT_ACTIVE_RECORDS | PT_ACTIVE_FILES))                                                             \
            return small_load##bytes(address, PT_PLAIN, site);                                                         \
        return load##bytes(address, PT_PLAIN, site);                                                                   \
    }                                                                                                                  \
    void __portent_store##bytes(void *address, type value, const struct pt_site *site)                                 \
    {                                                                                                                  \
        unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);                                        \
        if (__builtin_expect(mode == 0, 1))                                                                            \
            STORE(bytes);                                                                                              \
        else if (mode == PT_ACTIVE_RACES)                                                                              \
            hot_store##bytes(address, value, site);                                                                    \
        else if (mode == PT_ACTIVE_RECORDS)                                                                            \
            (void)recorded_store##bytes(address, value, 0, 0, site);                                                   \
        else if (mode == (PT_ACTIVE_RECORDS | PT_ACTIVE_FILES))                                                        \
            (void)small_store##bytes(address, value, 0, 0, site);                                                      \
        else                                                                                                           \
            (void)store##bytes(address, value, 0, 0, site);                                                            \
    }                                                                                                                  \
    type __portent_atomic_load##bytes(const void *address, int order, const struct pt_site *site)                      \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            return late_load##bytes(address, order, site);                                                             \
        return atomic_load##bytes(address, order, site);                                                               \
    }                                                                                                                  \
    void __portent_atomic_store##bytes(void *address, type value, int order, const struct pt_site *site)               \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            late_store##bytes(address, value, order, site);                                                            \
        else                                                                                                           \
            (void)atomic_store##bytes(address, value, 0, order, site);                                                 \
    }                                                                                                                  \
    type __portent_atomic_rmw##bytes(void *address, type operand, int op, int order, const struct pt_site *site)       \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            return late_update##bytes(address, operand, op, order, site);                                              \
        return update##bytes(address, operand, op, order, site);                                                       \
    }                                                                                                                  \
    type __portent_atomic_cas##bytes(void *address, type expected, type desired, int success, int failure,             \
                                     const struct pt_site *site)                                                       \
    {                                                                                                                  \
        if (__builtin_expect(pt_delay_on, 0))                                                                          \
            return late_cas##bytes(address, expected, desired, success, failure, site);                                \
        return cas##bytes(address, expected, desired, success, failure, site);                                         \
    }

DEFINE_HOOKS(1, uint8_t)
DEFINE_HOOKS(2, uint16_t)
DEFINE_HOOKS(4, uint32_t)
DEFINE_HOOKS(8, uint64_t)
DEFINE_HOOKS(16, pt_u128) /* never in one granule: always the slow path */

void __portent_fence(int order, const struct pt_site *site)
{
    unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);
    if (__builtin_expect(mode & PT_ACTIVE_EXPLORES, 0))
        pt_shadow_hooks.point(NULL, 0, PT_EXPLORE_FENCE, site);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(mode, 0))
        pt_slow_fence(order, site);
}
