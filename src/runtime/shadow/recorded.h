/*
 * How loads, stores and atomic operations of up to 16 bytes are recorded: macros that define functions by the size and
 * kind of the access, for access.c alone.
 *
 * Guarantee: an access and its event are one step for all other threads. The fast paths (fast.h, narrow.h) are tried,
 * those without any change of clocks first, and the slow path (slow.h) is taken last.
 */
#ifndef PT_RUNTIME_SHADOW_RECORDED_H
#define PT_RUNTIME_SHADOW_RECORDED_H

#include "runtime/shadow/fast.h"
#include "runtime/shadow/kept_access.h"
#include "runtime/shadow/narrow.h"
#include "runtime/shadow/native.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/small.h"

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
#define NARROW_IF_KNOWN(bytes, type, perform)                                                                          \
    uint32_t life;                                                                                                     \
    if (pt_narrow_is_known(self, seen, at, bytes, &life)) {                                                            \
        type value = perform;                                                                                          \
        atomic_thread_fence(memory_order_acquire);                                                                     \
        if (__builtin_expect(pt_narrow_still(self, word, seen, at, bytes, life), 1)) {                                 \
            self->states++;                                                                                            \
            return value;                                                                                              \
        }                                                                                                              \
    }
#define DEFINE_NARROW_READ(name, bytes, type, perform)                                                                 \
    static COLD type narrow_##name(const void *address, int order, const struct pt_site *site,                         \
                                   struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen)                   \
    {                                                                                                                  \
        uintptr_t at = (uintptr_t)address;                                                                             \
        NARROW_IF_KNOWN(bytes, type, perform)                                                                          \
        if (!self->busy && pt_narrow_begin(self, word, seen, at, bytes, false)) {                                      \
            type value = perform;                                                                                      \
            self->states++;                                                                                            \
            pt_narrow_end(self, word, seen, at, bytes, false);                                                         \
            return value;                                                                                              \
        }                                                                                                              \
        return fast_##name(address, order, site, self, word, seen);                                                    \
    }
/* One of a granule that somebody keeps (kept.h): the short way, and what it leaves to others by calls at its end, so
 * that it needs no frame. */
#define DEFINE_KEPT_READ(name, bytes, type, perform)                                                                   \
    static COLD type rest_##name(const void *address, int order, const struct pt_site *site,                           \
                                 struct pt_shadow_self *self, pt_shadow_word *word)                                    \
    {                                                                                                                  \
        uint64_t seen;                                                                                                 \
        if (!pt_kept_begin(self, word, (uintptr_t)address, bytes, &seen))                                              \
            return slow_##name(address, order, site);                                                                  \
        type value = perform;                                                                                          \
        self->states++;                                                                                                \
        pt_kept_end_read(self, word, seen, (uintptr_t)address, bytes);                                                 \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD type long_##name(struct pt_shadow_self *self, pt_shadow_word *word, const void *address,               \
                                 uint64_t seen)                                                                        \
    {                                                                                                                  \
        type value = perform;                                                                                          \
        self->states++;                                                                                                \
        pt_kept_end_read(self, word, seen & ~PT_SHADOW_KEPT, (uintptr_t)address, bytes);                               \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD type faulted_##name(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t at, type value)       \
    {                                                                                                                  \
        pt_granule_end_changed(self, word, at, pt_bytes_at(at, bytes), false);                                         \
        pt_fast_leave(self);                                                                                           \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD type attended_##name(struct pt_shadow_self *self, type value)                                          \
    {                                                                                                                  \
        pt_shadow_hooks.attend(self);                                                                                  \
        return value;                                                                                                  \
    }                                                                                                                  \
    static COLD type kept_##name(const void *address, int order, const struct pt_site *site,                           \
                                 struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen)                     \
    {                                                                                                                  \
        uintptr_t at = (uintptr_t)address;                                                                             \
        NARROW_IF_KNOWN(bytes, type, perform)                                                                          \
        enum pt_kept_way way = pt_kept_begin_rung(self, word, at, bytes, false, &seen);                                \
        if (way == PT_KEPT_LONG)                                                                                       \
            return long_##name(self, word, address, seen);                                                             \
        if (way == PT_KEPT_NO_WAY)                                                                                     \
            return rest_##name(address, order, site, self, word);                                                      \
        type value = perform;                                                                                          \
        self->states++;                                                                                                \
        if (!pt_fast_kept(self))                                                                                       \
            return faulted_##name(self, word, at, value);                                                              \
        pt_kept_put_short(self, word, seen, at, bytes, false);                                                         \
        return pt_kept_leave(self) ? attended_##name(self, value) : value;                                             \
    }
/* Where the program records itself. */
#define DEFINE_SMALL_READ(name, bytes, type, perform)                                                                  \
    static COLD type small_##name(const void *address, int order, const struct pt_site *site)                          \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        const struct pt_owned_page *page = pt_owned_begin(self, (uintptr_t)address, bytes, false);                     \
        if (__builtin_expect(page != NULL, 1)) {                                                                       \
            type value = perform;                                                                                      \
            pt_owned_end(self, page, PT_KIND_READ_AT, order, (uintptr_t)address, bytes, site, (uint64_t)value);        \
            return value;                                                                                              \
        }                                                                                                              \
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
            pt_fast_end_passed(self, word, at, bytes, false, seen, true);                                              \
        return value;                                                                                                  \
    }                                                                                                                  \
    DEFINE_NARROW_READ(name, bytes, type, perform)                                                                     \
    DEFINE_KEPT_READ(name, bytes, type, perform)                                                                       \
    static inline type recorded_##name(const void *address, int order, const struct pt_site *site)                     \
    {                                                                                                                  \
        struct pt_shadow_self *self = pt_self;                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        pt_shadow_word *word = self ? pt_fast_word(at, bytes) : NULL;                                                  \
        if (!word)                                                                                                     \
            return pair_##name(address, order, site);                                                                  \
        uint64_t seen = atomic_load_explicit(word, memory_order_acquire);                                              \
        READ_IF(IS_KNOWN(bytes), bytes, type, perform)                                                                 \
        if (seen & PT_SHADOW_KEPT)                                                                                     \
            return kept_##name(address, order, site, self, word, seen);                                                \
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
        const struct pt_owned_page *page = pt_owned_begin(self, (uintptr_t)address, bytes, true);                      \
        if (__builtin_expect(page != NULL, 1)) {                                                                       \
            type result = perform;                                                                                     \
            pt_owned_end(self, page, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT,                    \
                         atomic ? order : PT_PLAIN, (uintptr_t)address, bytes, site,                                   \
                         kind == PT_KIND_UPDATE ? (uint64_t) * (const any##bytes *)address : (uint64_t)value);         \
            return result;                                                                                             \
        }                                                                                                              \
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
            pt_fast_end_passed(self, word, at, bytes, true, seen, true);                                               \
        return result;                                                                                                 \
    }                                                                                                                  \
    /* Of a granule that somebody keeps (kept.h), as reads. */                                                         \
    static COLD type rest_##name(void *address, type value, int op, int order, const struct pt_site *site,             \
                                 struct pt_shadow_self *self, pt_shadow_word *word)                                    \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        uint64_t seen;                                                                                                 \
        if (!pt_kept_begin(self, word, (uintptr_t)address, bytes, &seen))                                              \
            return fast_##name(address, value, op, order, site);                                                       \
        pt_kept_put_write(self, word, seen, (uintptr_t)address, bytes);                                                \
        type result = perform;                                                                                         \
        self->states++;                                                                                                \
        pt_kept_end_write(self, word, (uintptr_t)address, bytes);                                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    static COLD type long_##name(void *address, type value, int op, int order, struct pt_shadow_self *self,            \
                                 pt_shadow_word *word, uint64_t seen)                                                  \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        pt_kept_put_write(self, word, seen & ~PT_SHADOW_KEPT, (uintptr_t)address, bytes);                              \
        type result = perform;                                                                                         \
        self->states++;                                                                                                \
        pt_kept_end_write(self, word, (uintptr_t)address, bytes);                                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    static COLD type faulted_##name(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t at, type result)      \
    {                                                                                                                  \
        pt_granule_end_changed(self, word, at, pt_bytes_at(at, bytes), true);                                          \
        pt_fast_leave(self);                                                                                           \
        return result;                                                                                                 \
    }                                                                                                                  \
    static COLD type attended_##name(struct pt_shadow_self *self, type result)                                         \
    {                                                                                                                  \
        pt_shadow_hooks.attend(self);                                                                                  \
        return result;                                                                                                 \
    }                                                                                                                  \
    static COLD type kept_##name(void *address, type value, int op, int order, const struct pt_site *site,             \
                                 struct pt_shadow_self *self, pt_shadow_word *word)                                    \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        uint64_t seen;                                                                                                 \
        enum pt_kept_way way = pt_kept_begin_rung(self, word, at, bytes, true, &seen);                                 \
        if (way == PT_KEPT_LONG)                                                                                       \
            return long_##name(address, value, op, order, self, word, seen);                                           \
        if (way == PT_KEPT_NO_WAY)                                                                                     \
            return rest_##name(address, value, op, order, site, self, word);                                           \
        pt_kept_put_short(self, word, seen, at, bytes, true);                                                          \
        atomic_thread_fence(memory_order_release); /* as in pt_kept_begin_write */                                     \
        type result = perform;                                                                                         \
        self->states++;                                                                                                \
        if (!pt_fast_kept(self))                                                                                       \
            return faulted_##name(self, word, at, result);                                                             \
        return pt_kept_leave(self) ? attended_##name(self, result) : result;                                           \
    }                                                                                                                  \
    static COLD type known_##name(void *address, type value, int op, int order, const struct pt_site *site,            \
                                  struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen)                    \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        if (!pt_fast_lock(self, word, seen)) { /* another thread was faster */                                         \
            pt_fast_leave(self);                                                                                       \
            return fast_##name(address, value, op, order, site);                                                       \
        }                                                                                                              \
        type result = perform;                                                                                         \
        self->states++;                                                                                                \
        pt_fast_end_known(self, word, (uintptr_t)address, bytes, seen);                                                \
        return result;                                                                                                 \
    }                                                                                                                  \
    static inline type recorded_##name(void *address, type value, int op, int order, const struct pt_site *site)       \
    {                                                                                                                  \
        (void)op, (void)order;                                                                                         \
        struct pt_shadow_self *self = pt_self;                                                                         \
        uintptr_t at = (uintptr_t)address;                                                                             \
        pt_shadow_word *word = self && !self->busy ? pt_fast_word(at, bytes) : NULL;                                   \
        uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;                                   \
        if (seen & PT_SHADOW_KEPT)                                                                                     \
            return kept_##name(address, value, op, order, site, self, word);                                           \
        if (word && pt_fast_write_is_known(self->fast, seen))                                                          \
            return known_##name(address, value, op, order, site, self, word, seen);                                    \
        return fast_##name(address, value, op, order, site);                                                           \
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
    }                                                                                                                  \
    static inline type small_cas##bytes(void *address, type expected, type desired, int success, int failure,          \
                                        const struct pt_site *site)                                                    \
    {                                                                                                                  \
        return slow_cas##bytes(address, expected, desired, success, failure, site);                                    \
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
            pt_fast_end_passed(self, word, at, bytes, old == expected, seen, false);                                   \
        return old;                                                                                                    \
    }

#define STORE(bytes)         (*(volatile any##bytes *)address = value)
#define LOAD(bytes)          (*(const volatile any##bytes *)address)
#define ATOMIC_STORE(bytes)  (native_store##bytes(address, value, order), value)
#define ATOMIC_UPDATE(bytes) native_rmw##bytes(address, value, op)

#endif
