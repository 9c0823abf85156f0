/* The runtime's side of portent.h, except for violations (violation.c). */
#pragma GCC visibility push(default)
#include "portent.h"
#pragma GCC visibility pop

#include "runtime/emit.h"
#include "runtime/full.h"
#include "runtime/shadow.h"
#include "runtime/watch.h"

static struct pt_thread *recorder(void)
{
    struct pt_thread *self = pt_channel ? pt_thread_self() : NULL;
    return self && !self->busy ? self : NULL;
}

/* A relevant event advances the thread's clock, and so does every event of a thread whose events all count. */
static void emit_mark(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const void *value,
                      uint32_t bytes, bool relevant)
{
    bool counted = (relevant || self->full) && pt_full_count(self);
    pt_emit_event(self, kind, object, NULL, value, bytes, counted);
}

void __portent_event(const char *name)
{
    struct pt_thread *self = pt_is_active() ? recorder() : NULL;
    int64_t event = self ? pt_watch_event(name) : -1;
    if (event < 0 && !(self && self->full))
        return;
    pt_enter(self);
    uint32_t number = event < 0 ? pt_emit_name(self, name) : 0;
    if (event >= 0)
        emit_mark(self, PT_KIND_USER, (uint32_t)event, "", 0, true);
    else if (number)
        emit_mark(self, PT_KIND_OTHER_USER, number, "", 0, false);
    else
        pt_emit_lost();
    pt_leave(self);
}

void __portent_watch(const void *address, size_t size, int type, const char *name)
{
    struct pt_thread *self = recorder();
    if (!self || !size || size > UINT32_MAX || !pt_address_ok((uintptr_t)address))
        return;
    pt_enter(self);
    pt_watch_add(self, (uintptr_t)address, (uint32_t)size, (uint32_t)type, name);
    pt_leave(self);
}

/* Internal events and blocks concern one thread: they are recorded with its clock and do not advance it, unless the
 * thread is recorded in full. */
static struct pt_thread *mark_recorder(void)
{
    struct pt_thread *self = pt_keeps ? recorder() : NULL;
    return self && (self->full || pt_keeps & PT_KEEP_MARKS) ? self : NULL;
}

void __portent_internal(const char *name, long long value)
{
    struct pt_thread *self = mark_recorder();
    if (!self)
        return;
    int64_t kept = value;
    pt_enter(self);
    uint32_t number = pt_emit_name(self, name);
    if (number)
        emit_mark(self, PT_KIND_INTERNAL, number, &kept, sizeof kept, false);
    else
        pt_emit_lost();
    pt_leave(self);
}

void __portent_begin(const char *name)
{
    struct pt_thread *self = mark_recorder();
    if (!self)
        return;
    pt_enter(self);
    uint32_t number = self->block_count < PT_BLOCK_MAX ? pt_emit_name(self, name) : 0;
    if (number) {
        self->blocks[self->block_count++] = number;
        emit_mark(self, PT_KIND_BEGIN, number, "", 0, false);
    } else {
        pt_emit_lost();
    }
    pt_leave(self);
}

/* An end that is not the innermost block's is the program's mistake: it is ignored, and the observer says so once. */
void __portent_end(const char *name)
{
    struct pt_thread *self = mark_recorder();
    if (!self)
        return;
    pt_enter(self);
    uint32_t number = pt_emit_name(self, name);
    if (number && self->block_count && self->blocks[self->block_count - 1] == number) {
        self->block_count--;
        emit_mark(self, PT_KIND_END, number, "", 0, false);
    } else if (!number) {
        pt_emit_lost();
    } else {
        atomic_fetch_add_explicit(&pt_channel->bad_ends, 1, memory_order_relaxed);
    }
    pt_leave(self);
}
