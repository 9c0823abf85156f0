/*
 * What the layers above do at the events of this one. Registered by start.c, before the first thread is known; until
 * then, and in tests that link the layer alone, all of them do nothing.
 *
 * `self` is the calling thread and inside the runtime, except where it says otherwise. Hooks about an access are called
 * while its granules are locked and the clocks of its memory have been taken, but not yet given: so whatever is done
 * there (a number is taken, a property is evaluated) is one step with the access for all other threads. They must not
 * lock granules.
 */
#ifndef PT_RUNTIME_SHADOW_HOOKS_H
#define PT_RUNTIME_SHADOW_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "runtime/clock/clock.h"

struct pt_shadow_self;
struct pt_owned_page;

struct pt_shadow_hooks {
    /* The calling thread, which is not known yet, is made known. NULL when it has ended or nobody observes. */
    struct pt_shadow_self *(*introduce)(void);
    /* The same before an access, or before an operation on a synchronisation object, whose size is 0. NULL too where
     * that is nothing for which the child of a fork would have to be observed. */
    struct pt_shadow_self *(*introduce_at)(uintptr_t address, size_t size, bool write);
    /* The thread has left the runtime, and `attention` is not 0. */
    void (*attend)(struct pt_shadow_self *self);
    /* Every thread that is known and has not ended. */
    void (*each)(void (*visit)(struct pt_shadow_self *self));
    /* While pt_shadow_gated. Before an access, outside of the runtime and with nothing locked: may wait. The site may
     * be NULL: it is not known yet. */
    void (*before_access)(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                          const struct pt_site *site);
    /* While pt_shadow_gated. A watched variable was read; while its granules are locked. */
    void (*gated_read)(struct pt_shadow_self *self, uint32_t object);
    /* While pt_shadow_gated. A lock was taken or is about to be given up, outside of the runtime. */
    void (*locked)(const void *object, int kind);
    /* While PT_ACTIVE_EXPLORES. Before an access, of a kind of core/explore.h, outside of the runtime: may wait. */
    void (*point)(const void *address, size_t size, unsigned kind, const struct pt_site *site);
    /* The thread's clock was `before`, to which it still has a reference. NULL: clocks carry no knowledge. */
    void (*clock_changed)(struct pt_shadow_self *self, pt_clock_id before);

    /* Watched variables (watch.h), by number. One is watched from here on, by the program's own wish, ... */
    void (*watch)(struct pt_shadow_self *self, uint32_t object);
    /* ... and its memory is now as in its `last`. */
    void (*initial)(struct pt_shadow_self *self, uint32_t object);
    /* It was written, to what its `last` has; `kind` is PT_KIND_WRITE or UPDATE. */
    void (*written)(struct pt_shadow_self *self, uint32_t object, enum pt_event_kind kind, const struct pt_site *site);
    /* It was read by a slow thread. */
    void (*read)(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site);
    /* Its memory was found to differ from `last`, which now has what it is: code that is not instrumented wrote it. */
    void (*foreign)(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site);

    /* Where the program records itself. Before a store, with its granules locked; and an access of one granule in which
     * nothing is watched, by a thread without a clock, when it was made (pt_shadow_what).
     */
    void (*opens)(struct pt_shadow_self *self, uintptr_t address, size_t size);
    void (*recorded)(struct pt_shadow_self *self, uint64_t what, const struct pt_site *site, uintptr_t address,
                     uint64_t value);
    /* The same of one that may cross granules, of a page that is used as it is (owned.h). */
    void (*owned)(struct pt_shadow_self *self, uint64_t what, const struct pt_site *site, uintptr_t address,
                  uint64_t value, const struct pt_owned_page *page);
    /* ... and of a piece of memory in at most two of them; `kind` is of memory. */
    void (*owned_piece)(struct pt_shadow_self *self, enum pt_event_kind kind, const struct pt_site *site,
                        uintptr_t address, size_t size);
    /* The thread is about to access this memory, and its pages are not as they should be; its granules are locked, or
     * it will look again. Afterwards it may, with them locked. */
    void (*claims)(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write);
    /* From now on all who access this memory lock granules. */
    void (*shares)(struct pt_shadow_self *self, uintptr_t from, uintptr_t to);

    /* Events of a slow thread that are about no watched variable, unless they would only be counted. */
    void (*access)(struct pt_shadow_self *self, const struct pt_local_event *what);
    void (*sync)(struct pt_shadow_self *self, enum pt_event_kind kind, uintptr_t address, const struct pt_site *site);
    /* `order` is enum pt_memory_order. */
    void (*fence)(struct pt_shadow_self *self, uint8_t order, const struct pt_site *site);
};

/* What is alike in all accesses of a place: their kind, of memory, the marks of struct pt_record_event, and the size.
 */
static inline uint64_t pt_shadow_what(enum pt_event_kind kind, unsigned marks, size_t size)
{
    return (uint64_t)kind | (uint64_t)marks << 8 | (uint64_t)size << 32;
}

#pragma GCC visibility push(hidden)
extern struct pt_shadow_hooks pt_shadow_hooks;
extern bool pt_shadow_gated;         /* threads are made to follow a schedule, or are paused; set before main */
extern _Atomic bool pt_shadow_steps; /* a thread may have to wait before any access: none is fast */
#pragma GCC visibility pop

#endif
