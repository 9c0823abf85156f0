/*
 * Silence (silence.h): how it begins and ends.
 *
 * Guarantee: clocks are those of algorithm A, as without it. Cost: who ends it has a system call, and waits for the
 * stores that are under way.
 */
#include "runtime/shadow/silence.h"

#include "runtime/shadow/slow.h"
#include "runtime/sys/spin.h"
#include "runtime/sys/sys.h"

#define SETTLE_NS (UINT64_C(1000) * 1000)

_Atomic uintptr_t pt_silence_from, pt_silence_span;
_Atomic bool pt_silence_over = true;
bool pt_silence_lasts;

static struct pt_spin lock = PT_SPIN(PT_RANK_SILENCE); /* of the range, and of the end */

void pt_silence_restart(void)
{
    pt_spin_reset(&lock);
    atomic_store(&pt_silence_over, true);
    atomic_store(&pt_silence_span, 0);
    pt_silence_lasts = false;
}

void pt_silence_start(bool lasts)
{
    if (!pt_has_cache(PT_CACHE_SILENCE) || !pt_sys_is_alone() ||
        (!lasts && (pt_sys_is_quiet() || !pt_sys_start_barriers())))
        return;
    pt_silence_lasts = lasts;
    atomic_store(&pt_silence_over, false);
    pt_runtime_activate(lasts ? PT_ACTIVE_LASTING : PT_ACTIVE_SILENT);
}

static void await_store(struct pt_shadow_self *self)
{
    unsigned turn = 0;
    /* acquire: partner of the release in pt_silence_leave */
    while (atomic_load_explicit(&self->storing, memory_order_acquire))
        pt_spin_await(&self->storing, 1, &turn);
}

/* Everybody sees what was stored before, and has made the stores that he may have begun without seeing it. A seccomp
 * filter may be there by now: what is stored is seen by all after a while, too. */
static void settle(void)
{
    if (!pt_sys_barrier())
        for (uint64_t end = pt_sys_now() + SETTLE_NS; pt_sys_now() < end;)
            ;
    pt_shadow_hooks.each(await_store);
}

void pt_silence_end_now(void)
{
    pt_spin_lock(&lock);
    if (!atomic_load_explicit(&pt_silence_over, memory_order_relaxed)) { /* else somebody else has been here */
        if (!pt_silence_lasts) {
            pt_runtime_deactivate(PT_ACTIVE_SILENT);
            settle();
        }
        atomic_store_explicit(&pt_silence_over, true, memory_order_release);
    }
    pt_spin_unlock(&lock);
}

bool pt_silence_tick(struct pt_shadow_self *self)
{
    if (!(pt_is_silent() || pt_is_lasting()) || self->clock.id || self->slow || !pt_sys_is_alone() ||
        atomic_load_explicit(&pt_silence_over, memory_order_relaxed))
        return false;
    return pt_clock_tick_all(&self->clock);
}

void pt_silence_lead(struct pt_shadow_self *self, pt_clock_id *latest)
{
    if (*latest == self->clock.id)
        return;
    pt_self_give(&self->clock, 1);
    pt_self_pass(&self->clock, *latest, 1);
    *latest = self->clock.id;
}

void pt_silence_widen(uintptr_t low, uintptr_t high)
{
    pt_spin_lock(&lock);
    uintptr_t from = atomic_load_explicit(&pt_silence_from, memory_order_relaxed);
    uintptr_t span = atomic_load_explicit(&pt_silence_span, memory_order_relaxed);
    low = low > PT_SILENCE_ROOM ? low - PT_SILENCE_ROOM : 0;
    if (span) {
        low = from < low ? from : low;
        high = from + span > high ? from + span : high;
    }
    if (low != from || high - low != span) {
        atomic_store(&pt_silence_span, UINTPTR_MAX); /* no access has silence while it changes */
        atomic_store(&pt_silence_from, low);
        atomic_store(&pt_silence_span, high - low);
        if (!atomic_load_explicit(&pt_silence_over, memory_order_relaxed))
            settle();
    }
    pt_spin_unlock(&lock);
}

bool pt_silence_is_outside(uintptr_t address, size_t size)
{
    uintptr_t from = atomic_load_explicit(&pt_silence_from, memory_order_relaxed);
    uintptr_t span = atomic_load_explicit(&pt_silence_span, memory_order_relaxed);
    return !span || (address - from >= span && (address > from || from + PT_SILENCE_ROOM - address >= size));
}

bool pt_silence_spares(uintptr_t address, size_t size)
{
    return pt_silence_is_outside(address, size) || !pt_slow_is_near_watched(address, size);
}

bool pt_silence_resume(struct pt_shadow_self *self)
{
    uintptr_t address = self->store_at;
    uint32_t size = self->store_size;
    if (!size)
        return true;
    atomic_store_explicit(&self->storing, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* as in pt_silence_begin_store */
    if (pt_is_silent() && pt_silence_has(address))
        return false;
    atomic_store_explicit(&self->storing, 0, memory_order_release);
    if (pt_address_ok(address) && pt_address_ok(address + size) &&
        pt_slow_begin(self, address, size, true, &self->late))
        pt_slow_check(self, &self->late);
    return true;
}

void pt_silence_disturbed(struct pt_shadow_self *self, uintptr_t address, size_t size)
{
    struct pt_locked_range range;
    self->disturbed = false;
    if (self->locked == &self->late) {
        pt_slow_end_write(self, &self->late, PT_KIND_WRITE, NULL);
        return;
    }
    if (pt_is_silent() && pt_silence_is_outside(address, size)) /* it was made in silence */
        return;
    pt_runtime_lost();
    if (pt_address_ok(address) && pt_address_ok(address + size) && pt_slow_begin(self, address, size, true, &range))
        pt_slow_end_write(self, &range, PT_KIND_WRITE, NULL);
}

bool pt_silence_begin_piece(struct pt_shadow_self *self, uintptr_t from, size_t read, uintptr_t to, size_t written)
{
    if (!pt_silence_begin_store(self, 0, 0))
        return false;
    if (pt_silence_is_outside(from, read) && pt_silence_is_outside(to, written))
        return true;
    pt_silence_end_store(self, 0, 0);
    return false;
}

bool pt_silence_open(struct pt_shadow_self *self, uintptr_t address, size_t size, struct pt_locked_range *ret_range)
{
    bool stores = atomic_load_explicit(&self->storing, memory_order_relaxed);
    if (!pt_silence_is_outside(address, size) || !(stores ? pt_is_silent() : pt_silence_begin_store(self, 0, 0))) {
        atomic_store_explicit(&self->storing, 0, memory_order_release);
        return false;
    }
    if (stores)
        pt_enter(self);
    *ret_range = (struct pt_locked_range){.from = address, .to = address + size, .silent = true};
    return true;
}

void pt_silence_close(struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    size_t size = range->to - range->from;
    if (!atomic_load_explicit(&self->storing, memory_order_relaxed))
        pt_silence_disturbed(self, range->from, size);
    if (self->busy > 1)
        pt_leave(self);
    else
        pt_silence_end_store(self, range->from, size);
}
