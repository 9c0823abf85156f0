/*
 * Making threads follow an order of relevant events (core/gate.h), for `portent confirm`. Without one, which is the
 * rule, each of these costs a load and a branch in places that are slow anyway.
 */
#ifndef PT_RUNTIME_CHANNEL_GATE_H
#define PT_RUNTIME_CHANNEL_GATE_H

#include <stddef.h>

#include "core/gate.h"
#include "runtime/thread/thread.h"

extern struct pt_gate *pt_gate; /* NULL: no order is asked for; set before main */

void pt_gate_start(void);
void pt_gate_stop(void);
/* For pt_shadow_hooks and pt_wrap_hooks. Before an access: if it writes a watched variable, waits for the thread's
 * turn; if it reads one, for what the thread's next event causally follows. After the schedule, whatever it accesses,
 * waits until the thread has the floor. */
void pt_gate_before_access(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                           const struct pt_site *site);
void pt_gate_before_free(const void *memory, size_t size);
/* A lock was taken or is about to be given up. */
void pt_gate_note_lock(const void *object, int kind);
/* A watched variable was read; while its granules are locked. */
void pt_gate_note_read(struct pt_thread *self, uint32_t object);
/* Around a call that may block; before a lock is taken waits as before a read. */
void pt_gate_note_wait(const void *object, enum pt_gate_doing doing, const struct pt_site *site);

void pt_gate_wait_user(struct pt_thread *self);
void pt_gate_count(struct pt_thread *self, bool user, uint32_t object);
void pt_gate_note_end(struct pt_thread *self);
/* An assertion has failed: the observer will want to know which. */
void pt_gate_note_failure(const char *assertion, const char *file, unsigned line);

/* Before a user event that is relevant, with nothing locked: waits for the thread's turn. */
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
static inline void pt_gate_ended(struct pt_thread *self)
{
    if (__builtin_expect(pt_gate != NULL, 0))
        pt_gate_note_end(self);
}

#endif
