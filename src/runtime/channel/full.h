/*
 * Threads that are recorded in full (PT_KEEP_ALL, PT_KEEP_THREADS): every access, synchronisation, fork and join, in
 * exact order like everything else: the number is taken while the object is locked. Such a thread never takes a fast
 * path through the hooks (its `fast` clock is none), so nothing is missed; other threads do not notice.
 */
#ifndef PT_RUNTIME_CHANNEL_FULL_H
#define PT_RUNTIME_CHANNEL_FULL_H

#include "runtime/thread/thread.h"

/* Is this thread, which is about to start, to be recorded in full? */
bool pt_full_wanted(const struct pt_thread *thread);
/* Advances the thread's clock for the event that is about to be recorded; false where clocks are not kept. */
bool pt_full_count(struct pt_thread *self);
void pt_full_access(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                    size_t size);
/* An access of a watched variable, or of a part of it: what is locked now says which. `value` is all of the variable.
 */
void pt_full_watched(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uint32_t object,
                     const void *value, struct pt_access variable);
/* `order` is enum pt_memory_order. */
void pt_full_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site);
/* An operation on a synchronisation object. */
void pt_full_sync(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address);
void pt_full_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uint32_t other);
/* The variables in [from, to) end, by whatever thread: enum pt_memory_end, or-ed. */
void pt_full_freed(struct pt_thread *self, uintptr_t from, uintptr_t to, unsigned ends);
void pt_full_allocated(struct pt_thread *self, uintptr_t from, size_t size, const struct pt_site *site);
/* Where modules lie: before main, and after each dlopen. */
void pt_full_modules(struct pt_thread *self);

#endif
