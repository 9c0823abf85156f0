/*
 * Deadlocks while the program runs: lock-order patterns that become known (held.c) are predicted, threads that really
 * wait for each other (wait.c), or all wait for what nobody can do any more (stuck.c), are observed, and the program is
 * then ended unless on_deadlock=wait.
 *
 * Everything here is called through hooks (events.c), and only while deadlocks=1.
 */
#ifndef PT_RUNTIME_DEADLOCK_DEADLOCK_H
#define PT_RUNTIME_DEADLOCK_DEADLOCK_H

#include "runtime/deadlock/self.h"

/* Beside each thread; 0: deadlocks are not looked for. */
size_t pt_deadlock_part(void);
/* Before the first thread is known, and again in a child that begins anew. */
void pt_deadlock_start(void);
/* In a child that is not observed. */
void pt_deadlock_stop(void);

/* wrap/hooks.h */
void pt_deadlock_locked(const void *object, int kind, const struct pt_site *site, bool waits);
void pt_deadlock_waits(const struct pt_wait *wait);
void pt_deadlock_waited(void);

/* thread/hooks.h */
void pt_deadlock_begun(struct pt_thread *self);
void pt_deadlock_forked(struct pt_thread *self, struct pt_thread *child, const struct pt_site *site);
void pt_deadlock_joined(struct pt_thread *self, struct pt_thread *thread);
void pt_deadlock_ending(struct pt_thread *self);
void pt_deadlock_released(struct pt_thread *self, struct pt_thread *thread);

#endif
