/*
 * Pages that one thread alone uses, or that are only read, where the program records itself: whoever may use a page as
 * it is accesses it without locking granules. Most memory is of that kind, and a compare-and-swap for each access is a
 * good part of what recording costs.
 *
 * A page is *fresh*, *owned* by a thread, *read* by whoever likes, or *shared*: then granules are locked. Who finds it
 * in a state that does not allow what it is about to do has it changed (`claims` in hooks.h), under one lock for all.
 *
 * Why an access and its event are still one step for all others. Who uses a page as it is says so first (`owning` is
 * odd), and then looks whether it still may. Who changes the page makes it *moving*, has every processor pass a barrier
 * (membarrier), and then waits for those who were at it: so either it sees them, or they see that the page moves. And
 * an access that locks its granules looks at the page afterwards, while who changes it looks at all locks of granules
 * after it has made it moving: if one is taken, the page becomes shared. A page that is shared stays so until its
 * memory ends.
 */
#ifndef PT_RUNTIME_SHADOW_OWNED_H
#define PT_RUNTIME_SHADOW_OWNED_H

#include "runtime/shadow/fast.h"
#include "runtime/shadow/hooks.h"
#include "runtime/shadow/self.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"

enum { PT_OWNED_LEAF_BITS = 21, PT_OWNED_PAGE_BITS = 12, PT_OWNED_PAGE = 1 << PT_OWNED_PAGE_BITS };
enum { PT_OWNED_PAGES = 1 << (PT_OWNED_LEAF_BITS - PT_OWNED_PAGE_BITS) };

/* Of pages, above the low bits; from PT_OWNED_BY on a thread's number is added. */
enum { PT_OWNED_FRESH, PT_OWNED_SHARED, PT_OWNED_READ, PT_OWNED_MOVING, PT_OWNED_BY };
enum { PT_OWNED_STATE_AT = 4, PT_OWNED_CHANGES = (1 << PT_OWNED_STATE_AT) - 1 };

struct pt_owned_page {
    _Atomic uint32_t state; /* as above, and in the low bits how often it has changed hands */
    uint32_t before;        /* while it is moving: what it was */
    _Atomic uint64_t floor; /* runtime/record: no event here has a lower stamp from now on */
};

/* By address, first pages of leaves; made by runtime/record. NULL: nothing is recorded by the program itself. */
extern struct pt_owned_page *_Atomic *pt_owned_leaves;

static inline struct pt_owned_page *pt_owned_page_at(uintptr_t address)
{
    /* acquire: partner of the exchange that publishes a leaf */
    struct pt_owned_page *leaf =
        atomic_load_explicit(&pt_owned_leaves[address >> PT_OWNED_LEAF_BITS], memory_order_acquire);
    return leaf ? leaf + (address >> PT_OWNED_PAGE_BITS & (PT_OWNED_PAGES - 1)) : NULL;
}

/* Whether the thread may use the page without a lock. */
static inline bool pt_owned_may(const struct pt_shadow_self *self, const struct pt_owned_page *page, bool write)
{
    /* acquire: partner of the release that made it so */
    uint32_t of = atomic_load_explicit(&page->state, memory_order_acquire) >> PT_OWNED_STATE_AT;
    return (of == self->owns && of != PT_OWNED_FRESH) || (of == PT_OWNED_READ && !write);
}

/* Whether the thread, which has locked the granules of [from, to), may access them; else it claims them. */
bool pt_owned_covers(const struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write);
static inline void pt_owned_check(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write)
{
    if (!self->records)
        return;
    const struct pt_owned_page *page = pt_owned_page_at(from);
    if (__builtin_expect(page != NULL, 1) && (from ^ (to - 1)) >> PT_OWNED_PAGE_BITS == 0 &&
        atomic_load_explicit(&page->state, memory_order_acquire) >> PT_OWNED_STATE_AT == PT_OWNED_SHARED)
        return; /* most of those that lock */
    if (__builtin_expect(!pt_owned_covers(self, from, to, write), 0))
        pt_shadow_hooks.claims(self, from, to, write);
}

/* An access is at an end, in whatever way. */
static inline void pt_owned_close(struct pt_shadow_self *self)
{
    /* release: partner of the acquire of who waits for it */
    uint32_t owning = atomic_load_explicit(&self->owning, memory_order_relaxed);
    atomic_store_explicit(&self->owning, owning + 1, memory_order_release);
}

/* A fault in the middle of such an access: true if there is one. Its page becomes shared; and when the handler has
 * returned, its granules are locked. */
bool pt_owned_suspend(struct pt_shadow_self *self);
void pt_owned_resume(struct pt_shadow_self *self);
/* The end of an access that was disturbed like this. */
void pt_owned_end_disturbed(struct pt_shadow_self *self, uint64_t what, const struct pt_site *site, uintptr_t address,
                            uint64_t value);

/* Of at most a page, plain: the same for a whole piece of memory. True: the thread has entered the runtime, and may
 * access it until the end, which leaves it; false: granules are to be locked, and nothing has happened. */
bool pt_owned_begin_piece(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write);
void pt_owned_end_piece(struct pt_shadow_self *self, enum pt_event_kind kind, uintptr_t address, size_t size,
                        const struct pt_site *site);

#define OWNED_INLINE static inline __attribute__((always_inline))

/* The page, which stays as it is until the end; NULL: granules are to be locked. */
OWNED_INLINE const struct pt_owned_page *pt_owned_begin(struct pt_shadow_self *self, uintptr_t address, size_t size,
                                                        bool write)
{
    if (size > 8 ||
        __builtin_expect(!self || !self->records || self->steps || self->busy || self->care || pt_shadow_gated ||
                             (address & (PT_OWNED_PAGE - 1)) + size > PT_OWNED_PAGE || !pt_address_ok(address),
                         0))
        return NULL;
    const struct pt_owned_page *page = pt_owned_page_at(address);
    if (__builtin_expect(!page || !pt_owned_may(self, page, write), 0))
        return NULL;
    pt_sys_touch_stack();
    self->busy = 1;
    self->owned_at = address | (uint64_t)size << PT_ADDRESS_BITS;
    atomic_store_explicit(&self->owning, atomic_load_explicit(&self->owning, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* for other threads: the barrier of who changes the page */
    if (__builtin_expect(pt_owned_may(self, page, write), 1))
        return page;
    pt_owned_close(self);
    pt_fast_leave(self);
    return NULL;
}

/* As pt_small_end. */
OWNED_INLINE void pt_owned_end(struct pt_shadow_self *self, const struct pt_owned_page *page, enum pt_event_kind kind,
                               int order, uintptr_t address, size_t size, const struct pt_site *site, uint64_t value)
{
    uint8_t as = pt_slow_order(order);
    bool stores = as && kind == PT_KIND_WRITE_AT;
    unsigned marks = (unsigned)as << PT_MARK_ORDER | (stores ? PT_MARK_STORE : 0);
    uint64_t what = pt_shadow_what(stores ? PT_KIND_UPDATE_AT : kind, marks, size);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(self->disturbed, 0)) {
        pt_owned_end_disturbed(self, what, site, address, value);
    } else {
        pt_shadow_hooks.owned(self, what, site, address, value, page);
        pt_owned_close(self);
    }
    pt_fast_leave(self);
}

#undef OWNED_INLINE

#endif
