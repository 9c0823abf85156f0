/*
 * The runtime's side of portent.h, except for violations (local/violation.c) and places (channel/place.c): user events,
 * watched objects, blocks and internal events, each to whom it may concern.
 *
 * Guarantee: an event that a property names is recorded with the caller's clock, after the gate has let it pass. Cost:
 * without an observer a load and a branch.
 */
#pragma GCC visibility push(default)
#include "portent.h"
#pragma GCC visibility pop

#include <string.h>

#include "runtime/api.h"
#include "runtime/channel/emit.h"
#include "runtime/channel/full.h"
#include "runtime/channel/gate.h"
#include "runtime/channel/name.h"
#include "runtime/channel/self.h"
#include "runtime/explore/explore.h"
#include "runtime/local/monitor.h"
#include "runtime/record/record.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/watch.h"
#include "runtime/stream/stream.h"

static struct pt_thread *recorder(void)
{
    struct pt_thread *self = pt_channel ? pt_thread_self() : NULL;
    return self && !self->shadow.busy ? self : NULL;
}

/* The same event into the stream, if somebody listens. */
static void stream(enum pt_wire_op op, const char *name, int64_t value)
{
    struct pt_thread *self = pt_wrap_streaming() ? recorder() : NULL;
    if (!self)
        return;
    pt_thread_enter(self);
    pt_stream_named_now(self, op, name, value);
    pt_thread_leave(self);
}

/* A relevant event advances the thread's clock, and so does every event of a thread whose events all count. */
static void emit_mark(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const void *value,
                      uint32_t bytes, bool relevant)
{
    bool counted = (relevant || (self->shadow.full && !pt_record_on)) && pt_full_count(self);
    pt_emit_event(self, kind, object, NULL, value, bytes, counted);
}

/* All user events are one object: a property may speak of their order. */
static void explore(void)
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_USER});
}

void __portent_explore_body(void (*body)(void *), void *context)
{
    pt_explore_body(body, context);
}

/* `kind` is what properties call it, `name` what it is called in traces: of the call of a function that and the values
 * of its arguments. */
static void user_event(const char *kind, const char *name)
{
    explore();
    stream(PT_WIRE_OP_USER, name, 0);
    struct pt_thread *self = pt_is_active() ? recorder() : NULL;
    int64_t event = self ? pt_watch_event(kind) : -1;
    if (!self || (event < 0 && !self->shadow.slow))
        return;
    if (event >= 0)
        pt_gate_before_user(self);
    pt_thread_enter(self);
    uint32_t number = event < 0 && self->shadow.full && !pt_record_on ? pt_emit_name(self, name) : 0;
    if (pt_record_on)
        pt_record_named(self, PT_KIND_OTHER_USER, self->channel->place, name, 0);
    if (event < 0 && (!self->shadow.full || pt_record_on))
        ; /* only its own thread wants to know */
    else if (event >= 0)
        emit_mark(self, PT_KIND_USER, (uint32_t)event, name, kind == name ? 0 : (uint32_t)strlen(name), true);
    else if (number)
        emit_mark(self, PT_KIND_OTHER_USER, number, "", 0, false);
    else
        pt_runtime_lost();
    if (self->shadow.steps)
        pt_monitor_mark(self, PT_KIND_USER, kind, 0);
    if (event >= 0)
        pt_gate_done(self, true, (uint32_t)event);
    pt_thread_leave(self);
}

void __portent_event(const char *name)
{
    user_event(name, name);
}

void pt_api_function_event(const struct pt_site *site, const char *kind, const char *name)
{
    struct pt_thread *self = recorder();
    if (!self)
        return;
    const struct pt_site *place = self->channel->place; /* of an annotation that may be under way */
    self->channel->place = site;
    user_event(kind, name);
    self->channel->place = place;
}

void __portent_watch(const void *address, size_t size, int type, const char *name)
{
    struct pt_thread *self = recorder();
    if (!self || !size || size > UINT32_MAX || !pt_address_ok((uintptr_t)address))
        return;
    pt_thread_enter(self);
    pt_watch_add(&self->shadow, (uintptr_t)address, (uint32_t)size, (uint32_t)type, name);
    pt_thread_leave(self);
}

/* Internal events and blocks concern one thread: they are recorded with its clock and do not advance it, unless the
 * thread is recorded in full. */
static bool marks_are_recorded(const struct pt_thread *self)
{
    return self->shadow.full || pt_keeps & PT_KEEP_MARKS;
}

static struct pt_thread *mark_recorder(void)
{
    struct pt_thread *self = pt_keeps || pt_monitor_on ? recorder() : NULL;
    return self && (self->shadow.slow || marks_are_recorded(self)) ? self : NULL;
}

/* To whom it may concern: the observer, and the thread's own monitor. */
static void take_mark(struct pt_thread *self, enum pt_event_kind kind, const char *name, int64_t value)
{
    bool has_value = kind == PT_KIND_INTERNAL;
    uint32_t number = marks_are_recorded(self) && !pt_record_on ? pt_emit_name(self, name) : 0;
    if (pt_record_on)
        pt_record_named(self, kind, self->channel->place, name, value);
    else if (number)
        emit_mark(self, kind, number, has_value ? (const void *)&value : "", has_value ? sizeof value : 0, false);
    else if (marks_are_recorded(self))
        pt_runtime_lost();
    if (self->shadow.steps)
        pt_monitor_mark(self, kind, name, value);
}

void __portent_internal(const char *name, long long value)
{
    stream(PT_WIRE_OP_INTERNAL, name, value);
    struct pt_thread *self = mark_recorder();
    if (!self)
        return;
    pt_thread_enter(self);
    take_mark(self, PT_KIND_INTERNAL, name, value);
    pt_thread_leave(self);
}

void __portent_begin(const char *name)
{
    stream(PT_WIRE_OP_BEGIN, name, 0);
    struct pt_thread *self = mark_recorder();
    if (!self)
        return;
    pt_thread_enter(self);
    uint32_t number = self->channel->block_count < PT_BLOCK_MAX ? pt_name_number(name) : 0;
    if (number) {
        self->channel->blocks[self->channel->block_count++] = number;
        take_mark(self, PT_KIND_BEGIN, name, 0);
    } else {
        pt_runtime_lost();
    }
    pt_thread_leave(self);
}

/* An end that is not the innermost block's is the program's mistake: it is ignored, and the observer says so once. */
void __portent_end(const char *name)
{
    stream(PT_WIRE_OP_FINISH, name, 0);
    struct pt_thread *self = mark_recorder();
    if (!self)
        return;
    pt_thread_enter(self);
    uint32_t number = pt_name_number(name);
    if (number && self->channel->block_count && self->channel->blocks[self->channel->block_count - 1] == number) {
        self->channel->block_count--;
        take_mark(self, PT_KIND_END, name, 0);
    } else if (!number) {
        pt_runtime_lost();
    } else {
        atomic_fetch_add_explicit(&pt_channel->bad_ends, 1, memory_order_relaxed);
    }
    pt_thread_leave(self);
}
