/*
 * Pages change hands (shadow/owned.h): who may use which without locking granules, and from which stamp on.
 *
 * A page gets a floor when it changes: above the latest stamp of every thread. So all that was done in it before comes
 * before all that is done from then on, and while one thread owns it, or all only read, no stamp of a granule is
 * needed. That the threads' stamps are all there is follows from owned.h: who was at the page without a lock has been
 * waited for, its stamp included, and where somebody has a granule locked the page becomes shared, which is ordered by
 * its granules' words as before.
 *
 * Guarantee: as stamp.h. Cost: one membarrier for each change, of which a page has CHANGES; then it is shared, until
 * its memory ends.
 */
#include "runtime/explore/explore.h"
#include "runtime/record/impl.h"
#include "runtime/record/stamp.h"

enum { CHANGES = 6, CROWD = 64 };
_Static_assert(CHANGES < 1 << PT_OWNED_STATE_AT, "they are counted in a page's state");
#define SETTLE_NS (UINT64_C(1000) * 1000)

static struct {
    struct pt_spin lock;
    struct pt_record_self *live; /* threads that record */
    uint32_t count;
    uint64_t ended; /* the latest stamp of those that do not any more */
    bool possible;
} own = {.lock = PT_SPIN(PT_RANK_RECORD)};

void pt_own_start(void)
{
    pt_spin_reset(&own.lock);
    own.live = NULL;
    own.count = 0;
    own.ended = 0;
    own.possible = !pt_explore_on && pt_sys_start_barriers();
}

void pt_own_begin(struct pt_thread *thread)
{
    struct pt_record_self *self = thread->record;
    if (self->shadow)
        return;
    pt_spin_lock(&own.lock);
    self->shadow = &thread->shadow;
    self->after = own.live;
    self->before = NULL;
    if (own.live)
        own.live->before = self;
    own.live = self;
    own.count++;
    thread->shadow.owns = own.possible ? PT_OWNED_BY + self->thread : 0;
    pt_spin_unlock(&own.lock);
}

void pt_own_end(struct pt_record_self *self)
{
    if (!self->shadow)
        return;
    pt_spin_lock(&own.lock);
    self->shadow->owns = 0;
    own.ended = pt_stamp_highest(own.ended, self->stamp);
    if (self->before)
        self->before->after = self->after;
    else
        own.live = self->after;
    if (self->after)
        self->after->before = self->before;
    own.count--;
    self->shadow = NULL;
    pt_spin_unlock(&own.lock);
}

static uint32_t state_of(const struct pt_owned_page *page)
{
    return atomic_load_explicit(&page->state, memory_order_relaxed);
}

static bool is_nobodys(uint32_t state)
{
    return state >> PT_OWNED_STATE_AT == PT_OWNED_FRESH;
}

/* Whether somebody has locked a granule of the page, other than those in [from, to), or something is known of one. */
static bool has_words(uintptr_t page, uintptr_t from, uintptr_t to)
{
    const pt_shadow_word *word = pt_shadow_peek(page);
    for (uintptr_t at = page; word && at < page + PT_OWNED_PAGE; at += 8, word++)
        if ((at < from || at >= to) && atomic_load_explicit(word, memory_order_acquire))
            return true;
    return false;
}

/* Everybody who uses a page as it is sees that some are moving, or is done. A seccomp filter may be there by now: what
 * is stored is seen by all after a while, too. */
static void settle(const struct pt_shadow_self *self)
{
    if (!pt_sys_barrier())
        for (uint64_t end = pt_sys_now() + SETTLE_NS; pt_sys_now() < end;)
            ;
    for (const struct pt_record_self *other = own.live; other; other = other->after) {
        unsigned turn = 0;
        /* acquire: partner of the release in pt_owned_close */
        uint32_t seen = atomic_load_explicit(&other->shadow->owning, memory_order_acquire);
        while (other->shadow != self && seen & 1 &&
               atomic_load_explicit(&other->shadow->owning, memory_order_acquire) == seen)
            pt_spin_await(&other->shadow->owning, seen, &turn);
    }
}

static uint64_t latest(void)
{
    uint64_t stamp = own.ended;
    for (const struct pt_record_self *other = own.live; other; other = other->after)
        stamp = pt_stamp_highest(stamp, __atomic_load_n(&other->stamp, __ATOMIC_RELAXED));
    return stamp;
}

/* Whose the page will be. */
static uint32_t next_owner(const struct pt_shadow_self *self, const struct pt_stamp_leaf *leaf, uint32_t before,
                           bool write)
{
    if (!self->owns || pt_stamp_is_named(leaf) || own.count > CROWD || pt_sys_is_quiet() ||
        (before & PT_OWNED_CHANGES) >= CHANGES)
        return PT_OWNED_SHARED;
    return write || is_nobodys(before) ? self->owns : PT_OWNED_READ;
}

/* The pages that are not as they should be are moving. Whether any was of somebody. */
static bool move(uintptr_t from, uintptr_t to, bool (*fits)(const struct pt_shadow_self *, uint32_t, bool),
                 const struct pt_shadow_self *self, bool write)
{
    bool any = false;
    for (uintptr_t at = from; at < to; at += PT_OWNED_PAGE) {
        struct pt_owned_page *page = pt_owned_page_at(at);
        if (!page || fits(self, state_of(page) >> PT_OWNED_STATE_AT, write))
            continue;
        page->before = state_of(page);
        any |= !is_nobodys(page->before);
        atomic_store_explicit(&page->state, PT_OWNED_MOVING << PT_OWNED_STATE_AT, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_seq_cst); /* partner: the lock of a granule, before its page is looked at */
    return any;
}

static void arrive(struct pt_owned_page *page, uint32_t of, bool changed, uint64_t floor)
{
    uint64_t before = atomic_load_explicit(&page->floor, memory_order_relaxed);
    atomic_store_explicit(&page->floor, pt_stamp_highest(before, floor), memory_order_relaxed);
    uint32_t changes = (page->before & PT_OWNED_CHANGES) + (changed && of != PT_OWNED_SHARED);
    /* release: partner of the acquire of whoever may use it now */
    atomic_store_explicit(&page->state, of << PT_OWNED_STATE_AT | changes, memory_order_release);
}

static bool is_moving(const struct pt_owned_page *page)
{
    return page && state_of(page) >> PT_OWNED_STATE_AT == PT_OWNED_MOVING;
}

static bool fits_access(const struct pt_shadow_self *self, uint32_t of, bool write)
{
    return of == PT_OWNED_SHARED || (self->owns && of == self->owns) || (of == PT_OWNED_READ && !write);
}

static bool fits_all(const struct pt_shadow_self *self, uint32_t of, bool write)
{
    (void)self, (void)write;
    return of == PT_OWNED_SHARED;
}

static bool fits_end(const struct pt_shadow_self *self, uint32_t of, bool write)
{
    return fits_access(self, of, write) || of == PT_OWNED_FRESH;
}

static bool fits_static(const struct pt_shadow_self *self, uint32_t of, bool write)
{
    (void)self, (void)write;
    return of == PT_OWNED_SHARED || of == PT_OWNED_FRESH;
}

static uintptr_t page_below(uintptr_t at)
{
    return at & ~(uintptr_t)(PT_OWNED_PAGE - 1);
}

static void make_leaves(uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = page_below(from); at < to; at += PT_OWNED_PAGE)
        (void)pt_stamp_leaf_of(at);
}

void pt_record_claims(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write)
{
    uintptr_t low = from & ~(uintptr_t)7, high = (to + 7) & ~(uintptr_t)7;
    make_leaves(from, to);
    pt_spin_lock(&own.lock);
    bool any = move(page_below(from), to, fits_access, self, write);
    if (any)
        settle(self);
    for (uintptr_t at = page_below(from); at < to; at += PT_OWNED_PAGE) {
        struct pt_owned_page *page = pt_owned_page_at(at);
        if (!is_moving(page))
            continue;
        uint32_t of = next_owner(self, pt_stamp_leaf_at(at), page->before, write);
        if (of != PT_OWNED_SHARED && has_words(at, low, high))
            of = PT_OWNED_SHARED;
        bool fresh = is_nobodys(page->before);
        arrive(page, of, !fresh, fresh ? 0 : latest() + 1);
    }
    pt_spin_unlock(&own.lock);
}

static void share(const struct pt_shadow_self *self, uintptr_t from, uintptr_t to,
                  bool (*fits)(const struct pt_shadow_self *, uint32_t, bool))
{
    pt_spin_lock(&own.lock);
    if (move(page_below(from), to, fits, self, true))
        settle(self);
    uint64_t floor = latest() + 1;
    for (uintptr_t at = page_below(from); at < to; at += PT_OWNED_PAGE) {
        struct pt_owned_page *page = pt_owned_page_at(at);
        if (is_moving(page))
            arrive(page, PT_OWNED_SHARED, true, floor);
    }
    pt_spin_unlock(&own.lock);
}

void pt_record_shares(struct pt_shadow_self *self, uintptr_t from, uintptr_t to)
{
    make_leaves(from, to);
    share(self, from, to, fits_all);
}

void pt_own_extent(const struct pt_shadow_self *self, uintptr_t from, uintptr_t to)
{
    for (uintptr_t at = page_below(from); at < to; at += PT_OWNED_PAGE) {
        const struct pt_owned_page *page = pt_owned_page_at(at);
        if (page && !fits_end(self, state_of(page) >> PT_OWNED_STATE_AT, true)) {
            share(self, at, to, fits_end);
            return;
        }
    }
}

void pt_own_forget(uintptr_t from, uintptr_t to)
{
    uintptr_t low = page_below(from + PT_OWNED_PAGE - 1), high = page_below(to);
    if (low >= high)
        return;
    pt_spin_lock(&own.lock);
    for (uintptr_t at = low; at < high; at += PT_OWNED_PAGE) {
        struct pt_owned_page *page = pt_owned_page_at(at);
        if (page && !is_nobodys(state_of(page)))
            atomic_store_explicit(&page->state, 0, memory_order_relaxed);
    }
    pt_spin_unlock(&own.lock);
}

void pt_own_share_static(uintptr_t low, uintptr_t high)
{
    uintptr_t leaf = (uintptr_t)1 << PT_STAMP_LEAF_BITS;
    share(NULL, low & ~(leaf - 1), (high + leaf - 1) & ~(leaf - 1), fits_static);
}
