/*
 * The hooks of shadow, thread and wrap, put together: to whom an event goes, and in which order. First the event
 * stream, which has no part in clocks; then the observer's record, which may advance the thread's clock; then the
 * thread's own monitor, which sees the clock that the record has.
 *
 * Guarantee: for an access all of it happens while its granules are locked (shadow/hooks.h). Cost: a test of a flag for
 * each who may want the event.
 */
#include "runtime/events.h"

#include "runtime/channel/emit.h"
#include "runtime/channel/full.h"
#include "runtime/channel/gate.h"
#include "runtime/channel/resolve.h"
#include "runtime/deadlock/deadlock.h"
#include "runtime/explore/explore.h"
#include "runtime/local/embedded.h"
#include "runtime/found/found.h"
#include "runtime/local/monitor.h"
#include "runtime/local/race_properties.h"
#include "runtime/local/violation.h"
#include "runtime/race/life.h"
#include "runtime/record/record.h"
#include "runtime/race/window.h"
#include "runtime/shadow/watch.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/delay.h"

extern void *__libc_stack_end; /* glibc's: where the first thread's stack begins */

/* --- accesses --- */

static void on_watch(struct pt_shadow_self *self, uint32_t object)
{
    struct pt_watched *watched = &pt_watched[object];
    watched->local = pt_monitor_on ? pt_monitor_variable(watched->name) : 0;
    pt_race_properties_watched(object);
    pt_emit_watch(pt_thread_of(self), object, watched->type, watched->size, watched->name);
}

static void on_initial(struct pt_shadow_self *self, uint32_t object)
{
    const struct pt_watched *watched = &pt_watched[object];
    pt_emit_value(pt_thread_of(self), PT_RECORD_INIT, object, NULL, watched->last, watched->size);
    if (self->records && watched->given)
        pt_record_name(pt_thread_of(self), watched);
}

/* In a recording, a watched variable is memory like any other, which it has once, whatever names it has. What a
 * bit-field shares with its neighbours is recorded as a whole. */
static void record_watched(struct pt_thread *self, const struct pt_watched *watched, enum pt_event_kind kind,
                           const struct pt_site *site)
{
    const struct pt_locked_range *range = self->shadow.locked;
    uintptr_t from = pt_watch_address(watched), to = from + watched->size;
    if (range && range->from > from)
        from = range->from;
    if (range && range->to < to)
        to = range->to;
    if (from < to && !watched->bit_size &&
        !pt_watch_is_told((uint32_t)(watched - pt_watched), range ? range->from : from, range ? range->to : to))
        pt_record_watched(self, kind, site, from, to - from);
}

static void on_written(struct pt_shadow_self *shadow, uint32_t object, enum pt_event_kind kind,
                       const struct pt_site *site)
{
    struct pt_thread *self = pt_thread_of(shadow);
    const struct pt_watched *watched = &pt_watched[object];
    pt_stream_write(self, kind, object, site);
    if (pt_record_on)
        record_watched(self, watched, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);
    if (shadow->full && !pt_record_on) {
        pt_full_watched(self, kind, site, object, watched->last,
                        (struct pt_access){pt_watch_address(watched), watched->size});
        pt_gate_done(self, false, object);
    } else {
        if (!watched->quiet)
            pt_emit_event(self, kind, object, site, watched->last, watched->size, pt_full_count(self));
        pt_gate_done(self, false, object);
    }
    if (watched->local)
        pt_monitor_written(self, object);
    if (shadow->steps)
        pt_monitor_watched(self, object, kind, site);
}

static void on_read(struct pt_shadow_self *shadow, uint32_t object, const struct pt_site *site)
{
    struct pt_thread *self = pt_thread_of(shadow);
    const struct pt_watched *watched = &pt_watched[object];
    uintptr_t address = pt_watch_address(watched);
    if (pt_record_on)
        record_watched(self, watched, PT_KIND_READ_AT, site);
    else if (shadow->full)
        pt_full_watched(self, PT_KIND_READ, site, object, (const void *)address,
                        (struct pt_access){address, watched->size});
    if (shadow->steps)
        pt_monitor_watched(self, object, PT_KIND_READ, site);
}

static void on_foreign(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site)
{
    const struct pt_watched *watched = &pt_watched[object];
    atomic_fetch_add_explicit(&pt_channel->foreign_writes, 1, memory_order_relaxed);
    pt_emit_value(pt_thread_of(self), PT_RECORD_FOREIGN, object, site, watched->last, watched->size);
}

static void on_access(struct pt_shadow_self *self, const struct pt_local_event *what)
{
    if (pt_record_on)
        pt_record_access(pt_thread_of(self), (enum pt_event_kind)what->kind, what->site, what->address, what->size);
    else if (self->full)
        pt_full_access(pt_thread_of(self), (enum pt_event_kind)what->kind, what->site, what->address, what->size);
    if (self->steps)
        pt_monitor_access(pt_thread_of(self), what);
}

static void on_sync(struct pt_shadow_self *self, enum pt_event_kind kind, uintptr_t address, const struct pt_site *site)
{
    if (pt_record_on)
        pt_record_sync(pt_thread_of(self), kind, site, address);
    else if (self->full)
        pt_full_sync(pt_thread_of(self), kind, site, address);
    if (self->steps)
        pt_monitor_other(pt_thread_of(self), kind, address, site);
}

static void on_fence(struct pt_shadow_self *self, uint8_t order, const struct pt_site *site)
{
    if (pt_record_on)
        pt_record_fence(pt_thread_of(self), order, site);
    else if (self->full)
        pt_full_fence(pt_thread_of(self), order, site);
    if (self->steps)
        pt_monitor_other(pt_thread_of(self), PT_KIND_FENCE, PT_NO_OBJECT, site);
}

/* --- races --- */

static bool on_race_met(uint64_t key)
{
    return pt_found_is_new(pt_thread_now(), key);
}

/* Of a thread that was made behind our back nobody knows what comes before it, unless it says so itself: what it does
 * is not judged. */
static void meet_races(struct pt_thread *self, bool foreign)
{
    if (!pt_races_wanted || self->shadow.race)
        return;
    if (foreign && pt_thread_number(self) && !self->ordered) {
        pt_wrap_expect_several();
        pt_runtime_lost_stranger();
        return;
    }
    self->shadow.race = pt_race_begin(pt_thread_number(self), NULL, NULL);
}

/* --- lifetimes --- */

/* Of the first thread no more than what the kernel leaves free for it at first. */
static void meet_stack(struct pt_thread *self)
{
    enum { FIRST_STACK = 8 << 20 };
    uintptr_t high = (uintptr_t)(self->stack_size ? (void *)pthread_self() : __libc_stack_end);
    if (!pt_race_looks.lives || !self->shadow.race)
        return;
    if (!self->stack_size && pt_thread_number(self)) {
        pt_life_forget_stacks();
        return;
    }
    uintptr_t low = self->stack_size ? pt_thread_stack_low(self) : high - FIRST_STACK;
    pt_life_stack_begins(low, high);
    pt_life_own_stack(self->shadow.race, low, high);
}

/* --- while threads are gated: they follow a schedule, or are paused --- */

static void on_before_access(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                             const struct pt_site *site)
{
    if (pt_gate)
        pt_gate_before_access(self, address, size, write, site);
}

static void on_frees(const void *memory, size_t size)
{
    if (pt_gate)
        pt_gate_before_free(memory, size);
}

static void on_gated_read(struct pt_shadow_self *self, uint32_t object)
{
    if (pt_gate)
        pt_gate_note_read(pt_thread_of(self), object);
}

/* What others may see at once is recorded before it is done: it may come later. */
static void on_locked(const void *object, int kind)
{
    if (pt_gate)
        pt_gate_note_lock(object, kind);
    if (pt_delay_on && (kind == PT_KIND_REL || kind == PT_KIND_NOTIFY || kind == PT_KIND_SYNC))
        pt_delay_sync();
}

static void on_blocks(const void *object, enum pt_gate_doing doing, const struct pt_site *site)
{
    if (pt_delay_on && doing != PT_GATE_RUNS && doing != PT_GATE_SLEEPS)
        pt_delay_sync();
    if (pt_gate)
        pt_gate_note_wait(object, doing, site);
}

static void on_fails(const char *assertion, const char *file, unsigned line)
{
    if (pt_gate)
        pt_gate_note_failure(assertion, file, line);
}

/* --- threads --- */

static void on_meet(struct pt_thread *self, bool foreign)
{
    if (foreign && pt_explore_on && pt_thread_number(self))
        pt_explore_meets();
    meet_races(self, foreign);
    meet_stack(self);
    if (foreign && pt_monitor_on)
        pt_monitor_name_thread(self);
    if (foreign)
        pt_race_properties_thread(self);
    self->shadow.full = pt_full_wanted(self);
    self->shadow.records = self->shadow.full && pt_record_on;
    if (pt_delay_on)
        pt_delay_thread(pt_thread_number(self));
}

static void name_thread(struct pt_thread *self, const struct pt_thread *thread, uint64_t start, const char *name)
{
    pt_emit_thread(self, thread, start, name);
    if (pt_record_on)
        pt_record_define_thread(thread, start, name);
}

/* What threads do to each other; `other` is NULL for the end of one. */
static void record_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                          struct pt_thread *other)
{
    if (pt_record_on)
        pt_record_thread(self, kind, site, other);
    else if (self->shadow.full)
        pt_full_thread(self, kind, site, other ? pt_thread_number(other) : 0);
}

static void on_begun(struct pt_thread *self, bool foreign)
{
    name_thread(self, self, self->runs, "");
    if (pt_wrap_looks)
        pt_deadlock_begun(self);
    if (self->shadow.race)
        pt_race_window_begun(self->shadow.race);
    pt_monitor_begin(self);
    pt_stream_thread(self, PT_WIRE_OP_START, self->parent, self->runs);
    if (foreign && pt_monitor_on)
        pt_monitor_introduce(self, NULL);
}

/* A thread in full has an event of whom it starts; where properties are decentralised, the parent knows of it. The
 * child has its parent's clock, this event included. */
static void on_forked(struct pt_thread *self, struct pt_thread *child, const struct pt_site *site)
{
    pt_stream_thread(self, PT_WIRE_OP_FORK, pt_thread_number(child), child->runs);
    if (self->shadow.race)
        child->shadow.race = pt_race_begin(pt_thread_number(child), self->shadow.race, site);
    if (pt_monitor_on)
        pt_monitor_name_thread(child);
    pt_race_properties_thread(child);
    name_thread(self, child, child->runs, "");
    if (pt_wrap_looks)
        pt_deadlock_forked(self, child, site);
    if (!self->shadow.full && !pt_monitor_on)
        return;
    if (pt_monitor_on)
        pt_monitor_introduce(child, self);
    record_thread(self, PT_KIND_FORK, site, child);
    if (self->shadow.steps)
        pt_monitor_thread(self, PT_KIND_FORK, child, site);
    pt_thread_inherit(child, self);
}

static void on_not_forked(struct pt_thread *self, struct pt_thread *child)
{
    name_thread(self, child, 0, "");
    if (self->shadow.race && child->shadow.race)
        pt_race_join(self->shadow.race, child->shadow.race);
}

static void on_named(struct pt_thread *self, struct pt_thread *thread, const char *name)
{
    name_thread(self, thread, thread->runs, name);
    if (pt_races_wanted && !pt_channel->ring_max) /* an observer knows the names by the numbers */
        pt_race_named(pt_thread_number(thread), name);
    if (pt_monitor_on)
        pt_monitor_rename(self, thread, name);
    pt_race_properties_named(thread, name);
    pt_stream_renamed(self, thread);
}

static void on_joined(struct pt_thread *self, struct pt_thread *thread, const struct pt_site *site)
{
    pt_stream_thread(self, PT_WIRE_OP_JOIN, pt_thread_number(thread), 0);
    if (pt_wrap_looks)
        pt_deadlock_joined(self, thread);
    if (self->shadow.race && thread->shadow.race)
        pt_race_join(self->shadow.race, thread->shadow.race);
    record_thread(self, PT_KIND_JOIN, site, thread);
    if (self->shadow.steps)
        pt_monitor_thread(self, PT_KIND_JOIN, thread, site);
}

/* Without it the last thing an ended thread did would be an access, and whoever joins it would seem to race with that.
 */
static void on_ending(struct pt_thread *self)
{
    pt_gate_ended(self);
    if (pt_wrap_looks)
        pt_deadlock_ending(self);
    record_thread(self, PT_KIND_ENDED, NULL, NULL);
    if (self->shadow.steps)
        pt_monitor_other(self, PT_KIND_ENDED, PT_NO_OBJECT, NULL);
}

static void on_ended(struct pt_thread *self)
{
    pt_monitor_end(self);
    pt_race_window_ended();
    if (self->shadow.race)
        pt_race_end(self->shadow.race);
    pt_stream_thread(self, PT_WIRE_OP_END, 0, 0);
    pt_stream_end(self);
    if (pt_channel)
        pt_emit_end(self);
    if (pt_record_on)
        pt_record_ended(self);
    if (pt_explore_on)
        pt_explore_end();
}

static void on_released(struct pt_thread *self, struct pt_thread *thread)
{
    if (pt_wrap_looks)
        pt_deadlock_released(self, thread);
    if (pt_race_looks.lives)
        pt_life_stack_released(pt_thread_number(thread));
    if (thread->shadow.race)
        pt_race_release(thread->shadow.race);
    thread->shadow.race = NULL;
    pt_monitor_drop(self, thread);
}

/* --- libraries --- */

static void on_opened(struct pt_thread *self)
{
    pt_thread_enter(self);
    atomic_store(&pt_channel->built, 1);
    if (pt_record_on)
        pt_record_define_modules();
    if (pt_runtime_records_full() ||
        ((pt_monitor_block || pt_races_wanted || pt_runtime_config()->checks) && pt_channel->ring_max))
        pt_full_modules(self);
    pt_resolve_watched(self, pt_embedded_is_other);
    pt_race_properties_resolve();
    pt_stream_modules();
    pt_thread_leave(self);
    pt_embedded_opened();
}

/* --- objects --- */

static void on_named_object(struct pt_thread *self, const void *object, const char *name)
{
    pt_thread_enter(self);
    pt_emit_object(self, (uintptr_t)object, name);
    if (pt_record_on)
        pt_record_define_object((uintptr_t)object, name);
    pt_thread_leave(self);
}

/* --- memory --- */

static void on_freed(struct pt_thread *self, uintptr_t from, uintptr_t to, unsigned ends)
{
    if (pt_record_on)
        pt_record_freed(self, from, to, ends);
    else
        pt_full_freed(self, from, to, ends);
}

static void on_allocated(struct pt_thread *self, uintptr_t from, size_t size, const struct pt_site *site)
{
    if (pt_record_on)
        pt_record_allocated(self, from, size, site);
    else
        pt_full_allocated(self, from, size, site);
}

void pt_events_register(void)
{
    pt_race_hooks = (struct pt_race_hooks){pt_race_properties_asked, pt_race_properties_apart, on_race_met,
                                           pt_race_properties_found};
    pt_shadow_hooks = (struct pt_shadow_hooks){
        .introduce = pt_thread_introduce,
        .introduce_at = pt_thread_introduce_at,
        .attend = pt_thread_attend,
        .each = pt_thread_each_shadow,
        .before_access = on_before_access,
        .gated_read = on_gated_read,
        .locked = on_locked,
        .point = pt_explore_access,
        .watch = on_watch,
        .initial = on_initial,
        .written = on_written,
        .read = on_read,
        .foreign = on_foreign,
        .opens = pt_record_opens,
        .recorded = pt_record_small,
        .owned = pt_record_owned,
        .owned_piece = pt_record_owned_piece,
        .claims = pt_record_claims,
        .shares = pt_record_shares,
        .access = on_access,
        .sync = on_sync,
        .fence = on_fence,
    };
    pt_thread_hooks = (struct pt_thread_hooks){
        .meet = on_meet,
        .begun = on_begun,
        .forked = on_forked,
        .not_forked = on_not_forked,
        .named = on_named,
        .joined = on_joined,
        .freed = on_freed,
        .allocated = on_allocated,
        .leaves = pt_wrap_leaves,
        .ending = on_ending,
        .ended = on_ended,
        .last = pt_wrap_last_ends,
        .released = on_released,
        .violated = pt_violation_attend,
    };
    pt_wrap_hooks = (struct pt_wrap_hooks){
        .synced = pt_stream_synced,
        .active = pt_stream_active,
        .contended = pt_stream_contended,
        .blocks = on_blocks,
        .frees = on_frees,
        .fails = on_fails,
        .locked = pt_deadlock_locked,
        .waits = pt_deadlock_waits,
        .waited = pt_deadlock_waited,
        .opened = on_opened,
        .named = on_named_object,
    };
}
