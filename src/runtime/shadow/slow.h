/*
 * An access: the granules it touches are locked from before the access until its clocks are in place and its events
 * have their numbers. Where it touches a watched variable, the granules of the whole variable are locked, since its
 * whole value is recorded.
 */
#ifndef PT_RUNTIME_SHADOW_SLOW_H
#define PT_RUNTIME_SHADOW_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/race/choose.h"
#include "runtime/shadow/self.h"
#include "runtime/shadow/shadow.h"

/* The order that the compiler calls by this number; consume is done as acquire. PT_PLAIN: no atomic access. */
enum { PT_PLAIN = -1 };
static inline uint8_t pt_slow_order(int order)
{
    static const uint8_t orders[] = {
        [__ATOMIC_RELAXED] = PT_MEMORY_RELAXED, [__ATOMIC_CONSUME] = PT_MEMORY_ACQUIRE,
        [__ATOMIC_ACQUIRE] = PT_MEMORY_ACQUIRE, [__ATOMIC_RELEASE] = PT_MEMORY_RELEASE,
        [__ATOMIC_ACQ_REL] = PT_MEMORY_ACQ_REL, [__ATOMIC_SEQ_CST] = PT_MEMORY_SEQ_CST,
    };
    if (order == PT_PLAIN)
        return PT_MEMORY_NONE;
    return order >= 0 && (size_t)order < sizeof orders ? orders[order] : PT_MEMORY_SEQ_CST;
}

/* Before the access; one that may write is then alone with the memory, without it there may be reads through readings
 * (readers.h). False when there is no shadow to range (out of memory): the access is then not recorded. */
bool pt_slow_begin(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                   struct pt_locked_range *range);
/* An event of which no atom speaks: all there is to do about it while the thread is quiet, and not recorded. */
static inline bool pt_slow_only_counts(struct pt_shadow_self *self)
{
    if (self->fast == PT_NOT_FAST)
        return false;
    self->states++;
    return true;
}
/* Before the program's store, in what pt_slow_begin has locked: does memory have what was recorded last? If not, code
 * that is not instrumented wrote it, which is reported with the store. */
void pt_slow_check(struct pt_shadow_self *self, const struct pt_locked_range *range);
/* Before an access, with nothing locked: where threads follow a schedule, this one may have to wait. */
static inline void pt_shadow_before(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                                    const struct pt_site *site)
{
    if (__builtin_expect(pt_shadow_gated, 0))
        pt_shadow_hooks.before_access(self, address, size, write, site);
}
/* An access that is not recorded: by a handler that thread/signal.c does not know of, inside the runtime, or by a
 * thread that has ended. If it touches something watched, an event is lost. */
void pt_slow_lost(uintptr_t address, size_t size);
/* Whether a watched variable lies in one of the granules: a look that takes no lock. */
bool pt_slow_is_near_watched(uintptr_t address, size_t size);
/* Does an access there touch a watched variable? Nothing is locked before or after. */
bool pt_slow_is_watched(struct pt_shadow_self *self, uintptr_t address, size_t size);
/* After the access: clocks and events, and all is unlocked. */
void pt_slow_end_read(struct pt_shadow_self *self, struct pt_locked_range *range, const struct pt_site *site);
void pt_slow_end_write(struct pt_shadow_self *self, struct pt_locked_range *range, enum pt_event_kind kind,
                       const struct pt_site *site);
/* For path.c, with nothing locked; neither is an event of the program's. What is in memory there, for who reads it;
 * false: it cannot be read. And: the watched variable, which lies where it lies now, has the value that is there, which
 * is an event of it (or, unless it is `later`, its first value). */
bool pt_slow_look(struct pt_shadow_self *self, uintptr_t address, size_t size, void *ret);
void pt_slow_say(struct pt_shadow_self *self, uint32_t object, bool later, const struct pt_site *site);
/* A fence of the program, in the compiler's number. */
void pt_slow_fence(int order, const struct pt_site *site);
/* A fault of the program in the middle of an access: its handler may run, and may never return (signal.c). */
void pt_slow_suspend(struct pt_locked_range *range);
void pt_slow_resume(struct pt_shadow_self *self, struct pt_locked_range *range);
/* Whether the race engine leaves out a plain access of the calling thread at this place, while PT_ACTIVE_CHOOSES.
 * Asked once for each. */
bool pt_slow_leaves_out(const struct pt_site *site);
static inline bool pt_shadow_leaves_out(const struct pt_site *site)
{
    struct pt_race_self *race = pt_self ? pt_self->race : NULL;
    if (pt_is_between() && pt_race_is_often(site))
        return true;
    return race && !pt_race_takes(race, site) &&
           pt_slow_leaves_out(site); /* who it is shows later, if it does not yet */
}
/* Around an atomic operation in a gap of sampling (race/window.h). 0: it is to be followed; else what the other one
 * needs to know, which takes it for followed if it should have been. */
static inline uint32_t pt_shadow_skips_atomic(const struct pt_site *site)
{
    const struct pt_shadow_self *self = pt_self;
    /* acquire: what is done in the window comes after it was opened */
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_acquire);
    bool follows =
        __builtin_expect(now & 1 || !pt_race_is_often(site), 0) && self && self->race && !self->busy && !self->racing;
    return follows ? 0 : now & ~1u;
}
void pt_slow_skipped_atomic(uint32_t gap, bool acquires, const struct pt_site *site);
static inline void pt_shadow_skipped_atomic(uint32_t gap, int order, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_self;
    bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
    if (!self || !self->race || self->busy)
        return;
    struct pt_race_window *window = &self->race->window;
    if (__builtin_expect(atomic_load_explicit(&pt_race_windows, memory_order_acquire) == gap && window->number == gap &&
                             (!acquires || window->known == gap) && window->left > 1,
                         1))
        window->left--;
    else
        pt_slow_skipped_atomic(gap, acquires, site);
}
/* Where races or lifetimes are looked for: an access of any size by the calling thread, before the store or after the
 * load. */
void pt_slow_race(const void *address, size_t size, unsigned kind, const struct pt_site *site);
static inline void pt_shadow_race(const void *address, size_t size, unsigned kind, const struct pt_site *site)
{
    enum { LOOKS = PT_ACTIVE_RACES | PT_ACTIVE_LIVES };
    unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);
    if (__builtin_expect(mode & LOOKS, 0) || __builtin_expect(mode & PT_ACTIVE_CHOOSES && !pt_race_is_often(site), 0))
        if (size)
            pt_slow_race(address, size, kind, site);
}
/* A stretch of accesses of a twin (core/look.h). */
void pt_shadow_look(const unsigned char *behind_call, const uintptr_t *arguments);
void pt_shadow_look_start(void); /* before the first */
extern bool pt_look_saves_all;
/* What a function of the library has read, or is about to: for races, for lifetimes, and for who is recorded in full.
 */
void pt_slow_read(const void *address, size_t size, const struct pt_site *site);
/* The same of an atomic operation that is not made in between: before it what it writes, after it what it reads. */
void pt_slow_race_atomic(const void *address, size_t size, unsigned kind, int order, const struct pt_site *site);
/* acq, rel, wait, notify, sync write their object; racq, rrel read it (contract 3). Its clock is in the shadow of its
 * first bytes, which no instrumented code touches, so that it ends with its memory. `order`: the kind that it is for
 * races, which may order less, and in recordings of everything, where a `sync` says so by its memory order. `part`: the
 * object that it really is, of several that the program knows as one. */
void pt_slow_sync_at(const void *object, const void *part, int kind, int order, const struct pt_site *site);
static inline void pt_slow_sync_as(const void *object, int kind, int order, const struct pt_site *site)
{
    pt_slow_sync_at(object, object, kind, order, site);
}
/* A lock was taken by a call that does not wait for it, or not for ever: recordings say so. */
static inline void pt_slow_tried(const void *object, int kind, int order, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_self;
    if (self)
        self->tries = true;
    pt_slow_sync_as(object, kind, order, site);
    if (self)
        self->tries = false;
}
static inline void pt_slow_sync(const void *object, int kind, const struct pt_site *site)
{
    pt_slow_sync_as(object, kind, kind, site);
}
/* The thread is about to take this lock: its shadow will be wanted, and that of what lies behind it, which is often
 * what the lock protects. */
static inline void pt_slow_expect(const void *object)
{
    pt_shadow_word *word =
        pt_is_recording() && pt_address_ok((uintptr_t)object) ? pt_shadow_peek((uintptr_t)object) : NULL;
    if (word) {
        pt_sys_prefetch_write((const void *)word);
        pt_sys_prefetch_write((const void *)(word + 8));
        pt_sys_prefetch_write((const void *)(word + 16));
    }
}
/* Kinds beside those of enum pt_event_kind: no event of the program, even where a thread is recorded in full. */
enum { PT_SYNC_QUIET_READ = PT_KIND_COUNT, PT_SYNC_QUIET_WRITE };

#endif
