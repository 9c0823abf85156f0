/* Records to the observer: see core/channel.h for their form. The caller is inside the runtime. */
#ifndef PT_RUNTIME_CHANNEL_EMIT_H
#define PT_RUNTIME_CHANNEL_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/thread/thread.h"

/* In a child that begins anew: no thread is in the middle of anything. The second is in place.c. */
void pt_emit_restart(void);
void pt_place_restart(void);
/* An event with the thread's clock, a relevant one if `counted`. Takes the next number: the caller has locked what the
 * event is about. */
void pt_emit_event(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const struct pt_site *site,
                   const void *value, uint32_t bytes, bool counted);
/* The same about a part of a watched variable; `value` is all of it. */
void pt_emit_part(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const struct pt_site *site,
                  const void *value, uint32_t bytes, bool counted, struct pt_part part);
/* `order` is enum pt_memory_order. */
void pt_emit_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site, bool counted);
/* The same about a piece of memory, with the first `bytes` of it. */
void pt_emit_access(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                    struct pt_access access, size_t bytes, bool counted);
void pt_emit_module(struct pt_thread *self, const char *file, uint64_t base, uint64_t low, uint64_t high);
/* The number of a text that this ring knows; 0 when there are too many. */
uint32_t pt_emit_name(struct pt_thread *self, const char *text);
/* PT_RECORD_INIT or PT_RECORD_FOREIGN: a value without number and clock. */
void pt_emit_value(struct pt_thread *self, enum pt_record_type type, uint32_t object, const struct pt_site *site,
                   const void *value, uint32_t bytes);
void pt_emit_thread(struct pt_thread *self, const struct pt_thread *thread, uint64_t start, const char *name);
void pt_emit_watch(struct pt_thread *self, uint32_t object, uint32_t type, uint32_t size, const char *name);
/* What a synchronisation object is called that debug information knows nothing of. */
void pt_emit_object(struct pt_thread *self, uintptr_t address, const char *name);
/* What a thread found out about a decentralised property, with `what->report` bytes about it. */
void pt_emit_local(struct pt_thread *self, const struct pt_record_local *what, const char *thread, const char *report);
/* What a built-in check found (struct pt_record_found); without bytes: how often by now. */
void pt_emit_found(struct pt_thread *self, uint64_t key, uint64_t count, const char *report, uint32_t bytes);
/* The thread ends: its ring is the observer's. */
void pt_emit_end(struct pt_thread *self);

#endif
