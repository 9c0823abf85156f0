/*
 * Holding threads to an order of relevant events (core/gate.h), for `portent confirm`. Without one, which is the rule,
 * each of these costs a load and a branch in places that are slow anyway.
 */
#ifndef PT_RUNTIME_CHANNEL_GATE_H
#define PT_RUNTIME_CHANNEL_GATE_H

#include <stddef.h>

#include "core/gate.h"
#include "runtime/thread/thread.h"

extern struct pt_gate *pt_gate; /* NULL: no order is asked for; set before main */

void pt_gate_start(void);
void pt_gate_wait_write(struct pt_thread *self, uintptr_t address, size_t size);
void pt_gate_wait_read(struct pt_thread *self, uintptr_t address, size_t size);
void pt_gate_wait_user(struct pt_thread *self);
void pt_gate_count(struct pt_thread *self, bool user, uint32_t object);
void pt_gate_note_sync(const void *object, int kind);
void pt_gate_note_wait(const void *object, enum pt_gate_doing doing);
void pt_gate_note_end(struct pt_thread *self);

/* Before an access, with nothing held: waits for the thread's turn if it writes a watched variable; if it reads one,
 * for what the thread's next event causally follows. */
static inline void pt_gate_before_write(struct pt_thread *self, uintptr_t address, size_t size)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_wait_write(self, address, size);
}
static inline void pt_gate_before_read(struct pt_thread *self, uintptr_t address, size_t size)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_wait_read(self, address, size);
}
/* The same before a user event that is relevant. */
static inline void pt_gate_before_user(struct pt_thread *self)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_wait_user(self);
}
/* A relevant event has its number: the next one may come. */
static inline void pt_gate_done(struct pt_thread *self, bool user, uint32_t object)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_count(self, user, object);
}
/* A lock was taken or is about to be given up (kind as in pt_slow_sync). */
static inline void pt_gate_synced(const void *object, int kind)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_note_sync(object, kind);
}
/* Around a call that may block: what for, and PT_GATE_RUNS after it. Waits before a lock is taken as before a read. */
static inline void pt_gate_blocks(const void *object, enum pt_gate_doing doing)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_note_wait(object, doing);
}
static inline void pt_gate_ended(struct pt_thread *self)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_note_end(self);
}

#endif
