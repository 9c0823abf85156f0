/*
 * What threads do beside accesses of memory: fences, locks and other synchronisation. And the way from any of these,
 * and from accesses of any size, to the race engine and to lifetimes (runtime/race).
 *
 * Guarantee: as slow.c for what is recorded; the race engine hears of each once. Cost: an operation on an object whose
 * clock is known takes no lock.
 */
#include "runtime/race/life.h"
#include "runtime/shadow/fast.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/small.h"

/* An event like any other, for who counts them: it only has no object. */
void pt_slow_fence(int order, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_is_active() ? pt_shadow_caller() : NULL;
    if (!self || self->busy)
        return;
    pt_enter(self);
    if (self->race && (pt_is_racing() || pt_is_between()))
        pt_race_fence(self->race, pt_race_order(order));
    if (pt_is_recording() && !pt_slow_only_counts(self))
        pt_shadow_hooks.fence(self, pt_slow_order(order), site);
    pt_leave(self);
}

/* There is no value to read or write: an access that would leave the word as it is has happened when the word was seen.
 */
static bool sync_fast(struct pt_shadow_self *self, uintptr_t at, bool write, int kind, const struct pt_site *site)
{
    pt_shadow_word *word = pt_fast_word(at, 4);
    if (!word)
        return false;
    bool counts = kind < PT_KIND_COUNT;
    /* acquire: partner of the release that unlocked it last */
    uint64_t seen = pt_fast_await(word, atomic_load_explicit(word, memory_order_acquire));
    uint64_t marks = pt_fast_marks(self, at, 4);
    if (write ? pt_fast_write_is_known(self->fast, seen) && (seen & marks) == marks
              : pt_fast_read_is_known(self->fast, seen, marks) || pt_fast_read_is_between(self, seen, marks)) {
        self->states += counts;
        return true;
    }
    if (counts && pt_fast_lock_evaluated(self, word, seen, at, 4, write)) {
        pt_fast_end_evaluated_sync(self, word, seen, at, (enum pt_event_kind)kind, site, write);
        return true;
    }
    if (!pt_fast_is_passed(self, seen, pt_bytes_at(at, 4), write))
        return false;
    if (!pt_fast_lock_passed(self, word, seen)) {
        pt_fast_leave(self);
        return false;
    }
    self->states += counts;
    pt_fast_end_passed(self, word, at, 4, write, seen, false);
    return true;
}

bool pt_slow_leaves_out(const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_self;
    if (self->busy) /* a handler that came by a way of its own: nobody looks at what it does */
        return false;
    pt_enter(self);
    bool out = pt_race_choose(self->race, site);
    pt_leave(self);
    return out;
}

void pt_slow_skipped_atomic(uint32_t gap, bool acquires, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_self;
    pt_enter(self);
    if (atomic_load_explicit(&pt_race_windows, memory_order_acquire) != gap)
        pt_race_window_missed(self->race);
    else
        pt_race_window_sync(self->race, acquires, site);
    pt_leave(self);
}

void pt_slow_race(const void *address, size_t size, unsigned kind, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)address, size, kind & PT_RACE_WRITE);
    if (!self || self->busy || !self->race || (pt_race_chooses && pt_shadow_leaves_out(site)))
        return;
    pt_enter(self);
    if (pt_is_living())
        pt_life_access(self->race, (uintptr_t)address, size, kind, site, (uintptr_t)__builtin_frame_address(0));
    if (pt_is_racing()) {
        pt_race_access(self->race, (uintptr_t)address, size, kind, site);
        pt_race_window_spend(self->race, size);
    }
    pt_leave(self);
}

void pt_slow_race_atomic(const void *address, size_t size, unsigned kind, int order, const struct pt_site *site)
{
    bool looks = pt_is_racing() || pt_is_living() || pt_is_between();
    struct pt_shadow_self *self = looks ? pt_shadow_caller_at((uintptr_t)address, size, true) : NULL;
    if (!self || self->busy || !self->race)
        return;
    pt_enter(self);
    if (pt_is_living())
        pt_life_access(self->race, (uintptr_t)address, size, kind | PT_CELL_ATOMIC, site,
                       (uintptr_t)__builtin_frame_address(0));
    if (pt_is_between() && kind & PT_RACE_READ)
        pt_race_window_sync(self->race, pt_hb_acquires((enum pt_hb_order)pt_race_order(order)), NULL);
    if (pt_is_racing())
        pt_race_atomic_alone(self->race, (uintptr_t)address, size, kind, pt_race_order(order), site);
    pt_leave(self);
}

static void race_sync(struct pt_shadow_self *self, uintptr_t object, int kind, const struct pt_site *site)
{
    pt_enter(self);
    if (kind < PT_KIND_COUNT)
        pt_race_sync(self->race, object, (unsigned)kind, site);
    else if (kind == PT_SYNC_QUIET_WRITE)
        pt_race_take(self->race, object);
    else
        pt_race_publish(self->race, object);
    pt_leave(self);
}

/* Locks, while the thread has them. A condition, a barrier or a semaphore may be gone by right when a thread that
 * waited for it comes back. */
static bool is_of_lock(int kind)
{
    return kind == PT_KIND_ACQ || kind == PT_KIND_REL || kind == PT_KIND_RACQ || kind == PT_KIND_RREL;
}

static void look_at_lock(struct pt_shadow_self *self, uintptr_t object, const struct pt_site *site)
{
    pt_enter(self);
    pt_life_access(self->race, object, 1, PT_RACE_READ | PT_RACE_WRITE | PT_CELL_ATOMIC, site,
                   (uintptr_t)__builtin_frame_address(0));
    pt_leave(self);
}

void pt_slow_sync_at(const void *object, const void *part, int kind, int order, const struct pt_site *site)
{
    bool write = kind < PT_KIND_COUNT ? pt_op_writes(pt_kind_op((unsigned)kind)) : kind == PT_SYNC_QUIET_WRITE;
    if (!pt_is_active() || !pt_address_ok((uintptr_t)object))
        return;
    if (__builtin_expect(pt_shadow_gated, 0))
        pt_shadow_hooks.locked(object, kind);
    struct pt_shadow_self *self = pt_shadow_caller_at((uintptr_t)object, 0, write);
    if (!self || self->busy)
        return;
    if (pt_is_living() && self->race && is_of_lock(kind))
        look_at_lock(self, (uintptr_t)object, site);
    if (self->race)
        race_sync(self, (uintptr_t)part, order, site);
    if (!pt_is_recording() || pt_is_silent() || pt_is_lasting() || sync_fast(self, (uintptr_t)part, write, kind, site))
        return;
    struct pt_locked_range range;
    pt_shadow_word *small =
        kind < PT_KIND_COUNT && kind == order ? pt_small_begin(self, (uintptr_t)part, 4, false) : NULL;
    if (small) {
        pt_shadow_hooks.sync(self, (enum pt_event_kind)kind, (uintptr_t)part, site);
        pt_small_unlock(self, small);
        return;
    }
    pt_enter(self);
    if (pt_slow_begin(self, (uintptr_t)part, 4, write, &range)) {
        range.sync = (uint16_t)kind;
        if (order != kind)
            range.order = order == PT_KIND_WAIT ? PT_MEMORY_ACQUIRE : PT_MEMORY_RELEASE;
        if (write)
            pt_slow_end_write(self, &range, PT_KIND_WRITE, site);
        else
            pt_slow_end_read(self, &range, site);
    }
    pt_leave(self);
}
