/*
 * Recording everything into a file. The caller is inside the runtime and has locked what the event is about; nothing
 * is locked but what the shadow has.
 */
#ifndef PT_RUNTIME_RECORD_RECORD_H
#define PT_RUNTIME_RECORD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/thread/thread.h"

/* What is recorded goes into a file; set before the first thread is known. */
extern bool pt_record_on;

/* Opens the file that the options name, if they name one: before the first thread is known. False when it cannot be
 * written, which was reported. */
bool pt_record_start(void);
/* The same in the child of a fork that is observed for itself: where its parent was not recorded, it is not. */
bool pt_record_restart(void);
/* Begins to write, when the first thread is known. */
bool pt_record_begin(void);
/* Nothing will be recorded after all: the file says why. */
void pt_record_abandon(const char *why);
/* The size of what is kept beside a thread. */
size_t pt_record_part(void);
/* The process ends: what there is goes into the file. */
void pt_record_finish(void);
/* In the child of a fork: the file is its parent's. */
void pt_record_forget(void);

/* `order` is enum pt_memory_order; `kind` is of memory. */
void pt_record_access(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                      size_t size);
/* The same of a variable that is watched: its writes follow the time, wherever it lies. */
void pt_record_watched(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                       size_t size);
/* The same of one that lies in a granule; `what` is pt_shadow_what, `value` what it has read or left. */
void pt_record_small(struct pt_shadow_self *self, uint64_t what, const struct pt_site *site, uintptr_t address,
                     uint64_t value);
/* The same of one of at most 8 bytes on a page that is used without a lock (shadow/owned.h). */
void pt_record_owned(struct pt_shadow_self *self, uint64_t what, const struct pt_site *site, uintptr_t address,
                     uint64_t value, const struct pt_owned_page *page);
/* The same of a piece of memory of at most a page. */
void pt_record_owned_piece(struct pt_shadow_self *self, enum pt_event_kind kind, const struct pt_site *site,
                           uintptr_t address, size_t size);
/* Pages change hands, as hooks.h has it. */
void pt_record_claims(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write);
void pt_record_shares(struct pt_shadow_self *self, uintptr_t from, uintptr_t to);
/* Before a store: what is there now may be what was there first. */
void pt_record_opens(struct pt_shadow_self *self, uintptr_t address, size_t size);
void pt_record_sync(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address);
void pt_record_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site);
/* fork, join and the end of a thread; `other` is NULL for the last. */
void pt_record_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                      struct pt_thread *other);
/* enum pt_memory_end, or-ed. */
void pt_record_freed(struct pt_thread *self, uintptr_t from, uintptr_t to, unsigned ends);
void pt_record_allocated(struct pt_thread *self, uintptr_t from, size_t size, const struct pt_site *site);
/* Annotations, of an object that the program names. */
void pt_record_named(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, const char *name,
                     int64_t value);
/* From here on memory that is locked has a name, and the value `last`. */
struct pt_watched;
void pt_record_name(struct pt_thread *self, const struct pt_watched *named);
/* The thread writes nothing more. */
void pt_record_ended(struct pt_thread *self);

/* Definitions. */
void pt_record_define_thread(const struct pt_thread *thread, uint64_t start, const char *name);
void pt_record_define_object(uintptr_t address, const char *name);
void pt_record_define_modules(void);

#endif
