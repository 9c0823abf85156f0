/*
 * Kept pages (kept.h): how they get a keeper and lose it, and pieces of memory in them.
 *
 * Guarantee: clocks are those of algorithm A, byte by byte, as without it. Cost: who opens a page that another thread
 * keeps has a system call and a look at its 512 words. For each page that is bounded by PT_KEPT_TIMES; a keeper that
 * has lost some pages goes on as long as it has had enough of them.
 */
#include "runtime/shadow/kept.h"

#include "runtime/shadow/kept_access.h"
#include "runtime/sys/sys.h"

enum { SLOT_BITS = 6, SLOTS = 1 << SLOT_BITS, WORDS = 512 };
#ifndef PT_KEPT_SWEEP
#define PT_KEPT_SWEEP WORDS /* fewer, where a test has but one granule and goes through all steps */
#endif
enum { LARGE = 256 /* bytes of a piece for which a page is claimed */ };
enum { LOST = 32, WORTH = 256 /* accesses for a page that is lost */ };
#define SETTLE_NS (UINT64_C(1000) * 1000)
_Static_assert(PT_KEPT_TIMES < 1 << (32 - PT_KEPT_TIMES_AT), "they are counted in a cell");

/* Keepers, by slot of threads: a slot's thread always lies at the same place. A number is a slot, and how many threads
 * have had it, from 1 on. */
static struct keeper {
    struct pt_shadow_self *_Atomic self;
    _Atomic uint32_t threads; /* that have been keepers with this slot; the last may be one */
    _Atomic uint32_t lost;    /* pages of the last that others have opened */
    _Atomic uint32_t ended;   /* the last one's number, if it has ended */
} keepers[SLOTS];

static struct pt_spin lock = PT_SPIN(PT_RANK_KEPT); /* of pages that move */
static _Atomic int possible;                        /* 1: there are barriers for all threads, -1: there are none */

void pt_kept_restart(void)
{
    pt_spin_reset(&lock);
}

/* --- who keeps a page --- */

static bool has_barriers(void)
{
    int known = atomic_load_explicit(&possible, memory_order_relaxed);
    if (!known) {
        known = pt_sys_start_barriers() ? 1 : -1;
        atomic_store_explicit(&possible, known, memory_order_relaxed);
    }
    return known > 0 && !pt_sys_is_quiet();
}

/* The thread's number; 0: it has none. */
static uint32_t number_of(struct pt_shadow_self *self)
{
    struct keeper *keeper = &keepers[self->clock.slot % SLOTS];
    if (self->kept_as || self->clock.slot >= SLOTS || self->records || !has_barriers())
        return self->kept_as;
    uint32_t threads = atomic_load_explicit(&keeper->threads, memory_order_relaxed) + 1;
    if (threads >= (PT_KEPT_BY >> SLOT_BITS)) /* numbers are used once */
        return 0;
    atomic_store_explicit(&keeper->self, self, memory_order_relaxed);
    atomic_store_explicit(&keeper->lost, 0, memory_order_relaxed);
    /* release: whoever sees it knows that the one before has ended, and what that did */
    atomic_store_explicit(&keeper->threads, threads, memory_order_release);
    self->kept_as = self->clock.slot | threads << SLOT_BITS;
    return self->kept_as;
}

/* The page becomes the thread's, unless there is a reason against it. */
static void claim(struct pt_shadow_self *self, pt_kept_cell *cell)
{
    uint32_t state = atomic_load_explicit(cell, memory_order_relaxed);
    if (!pt_has_cache(PT_CACHE_KEPT) || self->fast != self->clock.id || !self->clock.id || self->slow ||
        state & PT_KEPT_MOVING || state == PT_KEPT_NEVER)
        return;
    uint32_t number = number_of(self), uses = atomic_load_explicit(&self->keeping, memory_order_relaxed) / 2;
    uint32_t lost =
        number ? atomic_load_explicit(&keepers[self->clock.slot].lost, memory_order_relaxed) : UINT32_MAX / WORTH;
    self->never_keeps = lost >= LOST && uses / WORTH < lost;
    if (self->never_keeps)
        return;
    /* release: whoever sees the number finds the thread */
    atomic_compare_exchange_strong_explicit(cell, &state, state | number, memory_order_release, memory_order_relaxed);
    pt_shadow_settle(self);
}

void pt_kept_end(struct pt_shadow_self *self)
{
    if (self->kept_as) /* release: it is done with all that it has kept */
        atomic_store_explicit(&keepers[self->clock.slot].ended, self->kept_as, memory_order_release);
    self->kept_as = self->keeper = 0;
}

bool pt_kept_suspend(struct pt_shadow_self *self)
{
    if (!(atomic_load_explicit(&self->keeping, memory_order_relaxed) & 1))
        return false;
    pt_kept_exit(self);
    return true;
}

/* --- opening --- */

/* Everybody who is at work with kept granules sees that a page moves; and its keeper is done. A seccomp filter may be
 * there by now: what is stored is seen by all after a while, too. */
static void settle(uint32_t number)
{
    const struct keeper *keeper = &keepers[number % SLOTS];
    struct pt_shadow_self *self = atomic_load_explicit(&keeper->self, memory_order_relaxed);
    unsigned turn = 0;
    if (atomic_load_explicit(&keeper->threads, memory_order_acquire) != number >> SLOT_BITS ||
        atomic_load_explicit(&keeper->ended, memory_order_acquire) == number)
        return;
    if (!pt_sys_barrier())
        for (uint64_t end = pt_sys_now() + SETTLE_NS; pt_sys_now() < end;)
            ;
    /* acquire: partner of the release in pt_kept_exit */
    uint32_t seen = atomic_load_explicit(&self->keeping, memory_order_acquire);
    while (seen & 1 && atomic_load_explicit(&self->keeping, memory_order_acquire) == seen)
        pt_spin_await(&self->keeping, seen, &turn);
}

/* Nobody is at work with the page, or will be without a lock. */
static void sweep(pt_shadow_word *words)
{
    for (unsigned i = 0; i < PT_KEPT_SWEEP; i++)
        if (atomic_load_explicit(&words[i], memory_order_relaxed) & PT_SHADOW_KEPT)
            atomic_fetch_and_explicit(&words[i], ~PT_SHADOW_KEPT, memory_order_release);
}

static void open_page(pt_kept_cell *cell, pt_shadow_word *words)
{
    pt_spin_lock(&lock);
    uint32_t state = atomic_load_explicit(cell, memory_order_relaxed), number = state & PT_KEPT_BY;
    if (number) { /* else somebody else has been here */
        uint32_t times = (state >> PT_KEPT_TIMES_AT) + 1;
        atomic_store_explicit(cell, state | PT_KEPT_MOVING, memory_order_seq_cst);
        settle(number);
        sweep(words);
        if (atomic_load_explicit(&keepers[number % SLOTS].threads, memory_order_relaxed) == number >> SLOT_BITS)
            atomic_fetch_add_explicit(&keepers[number % SLOTS].lost, 1, memory_order_relaxed);
        atomic_store_explicit(cell, times << PT_KEPT_TIMES_AT, memory_order_release);
    }
    pt_spin_unlock(&lock);
}

/* Now and then: whoever has the page may have no use for it any more, or never had one. */
static void consider(struct pt_shadow_self *self, pt_kept_cell *cell, pt_shadow_word *words)
{
    uint32_t by = atomic_load_explicit(cell, memory_order_relaxed) & PT_KEPT_BY;
    if (by && by != self->kept_as)
        open_page(cell, words);
    else if (!by)
        claim(self, cell);
}

void pt_kept_unlock_own(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address, uint64_t value)
{
    pt_kept_cell *cell = pt_kept_cell_of(address);
    uint32_t by = atomic_load_explicit(cell, memory_order_relaxed) & (PT_KEPT_BY | PT_KEPT_MOVING);
    if (by && by == self->keeper && pt_kept_enter(self, address)) {
        pt_granule_unlock(word, value | PT_SHADOW_KEPT);
        pt_kept_exit(self);
        return;
    }
    pt_granule_unlock(word, value);
    if (++self->kept_turn % PT_KEPT_TURN == 0)
        consider(self, cell, word - (address >> 3) % WORDS);
}

void pt_kept_open(pt_shadow_word *word)
{
    struct pt_shadow_leaf *leaf = pt_shadow_leaf_of(word);
    size_t page = (size_t)(word - leaf->words) / WORDS;
    pt_kept_cell *cell = &leaf->keepers[page];
    struct pt_shadow_self *self = pt_self;
    uint32_t number = atomic_load_explicit(cell, memory_order_relaxed) & PT_KEPT_BY;
    if (self && number && number == self->kept_as)
        atomic_fetch_and_explicit(word, ~PT_SHADOW_KEPT, memory_order_release); /* it is not at work */
    else
        open_page(cell, leaf->words + page * WORDS);
}

bool pt_kept_lock(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t granule)
{
    uint32_t keeper = self->keeper;
    self->keeper = self->kept_as; /* with whatever clock */
    bool own = pt_kept_enter(self, granule);
    if (own) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        pt_rank_take(PT_RANK_GRANULE);
        atomic_store_explicit(word, (seen & ~PT_SHADOW_KEPT) | PT_SHADOW_LOCKED, memory_order_relaxed);
        atomic_thread_fence(memory_order_release); /* as in pt_granule_lock */
        pt_kept_exit(self);
    }
    self->keeper = keeper;
    return own;
}

/* --- granules --- */

/* Whether nothing is to be learned of a kept granule: of one that is not fine A is no later than V_i. */
static inline bool teaches_nothing(struct pt_shadow_self *self, uint64_t word)
{
    return !(word & PT_SHADOW_FINE) || pt_narrow_is_past(self, &pt_fines[pt_shadow_access(word)], 0, 8);
}

uintptr_t pt_kept_forget(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t granule, uintptr_t end)
{
    if (!self->keeper || !pt_kept_enter(self, granule))
        return granule;
    for (; granule + 8 <= end; granule += 8, word++) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        if (!(seen & ~PT_SHADOW_KEPT))
            continue;
        if (!(seen & PT_SHADOW_KEPT) || !teaches_nothing(self, seen))
            break;
        if (seen & PT_SHADOW_FINE || !pt_clock_only_rungs())
            pt_granule_drop(self, seen);
        atomic_store_explicit(word, PT_SHADOW_KEPT, memory_order_relaxed);
    }
    pt_kept_exit(self);
    return granule;
}

uint64_t pt_kept_put(struct pt_shadow_self *self, uint64_t word, uintptr_t address, unsigned bytes, bool write)
{
    unsigned known = pt_shadow_bytes(word), first = (unsigned)__builtin_ctz(bytes);
    struct pt_fine *fine = &pt_fines[pt_shadow_access(word)];
    unsigned size = 32 - (unsigned)__builtin_clz(bytes) - first;
    if (!(word & PT_SHADOW_FINE) && known != bytes && !(bytes & ~known) && pt_shadow_access(word) != self->clock.id)
        return pt_granule_split(self, word, bytes, write);
    if (word & PT_SHADOW_FINE && pt_clock_only_rungs()) {
        if (!pt_narrow_unites(fine, size, write))
            return pt_kept_put_rung(self->clock.id, fine, first, size, write) ? pt_granule_pack(self, address, word)
                                                                              : word;
        if (!write)
            return pt_granule_unite(self, word);
    }
    if (!(word & PT_SHADOW_FINE) || pt_narrow_unites(fine, size, write))
        return write ? pt_granule_after_write(self, address, word, bytes)
                     : pt_granule_after_read(self, address, word, bytes);
    bool packs = write && pt_narrow_seems_whole(fine, self->clock.id, first);
    pt_narrow_put(self, fine->access + first, size, true);
    if (write)
        pt_narrow_put(self, fine->write + first, size, false);
    packs |= pt_fine_are_many() && pt_narrow_agrees(fine, self->clock.id);
    return packs ? pt_granule_pack(self, address, word) : word;
}

/* --- pieces --- */

static unsigned bytes_in(const struct pt_locked_range *range, uintptr_t granule)
{
    unsigned bytes = 0xff;
    if (range->from > granule)
        bytes &= 0xffu << (range->from - granule);
    if (range->to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - range->to);
    return bytes;
}

/* The part of a range that lies in one leaf: whole granules, of which the first and the last may be touched in part. */
struct stretch {
    uint64_t *words; /* nobody else changes them */
    size_t count;
    uintptr_t low;
};

static bool next_stretch(const struct pt_locked_range *range, struct stretch *stretch)
{
    uintptr_t low = stretch->count ? stretch->low + stretch->count * 8 : range->low;
    uintptr_t end = (low | ((1u << PT_LEAF_BITS) - 1)) + 1;
    if (low >= range->high)
        return false;
    *stretch =
        (struct stretch){(uint64_t *)pt_shadow_peek(low), ((end < range->high ? end : range->high) - low) >> 3, low};
    return true;
}

/* One granule more of a page that is the thread's own, if there is nothing to learn of it. */
static bool keep_word(struct pt_shadow_self *self, uint64_t *word, uint64_t seen, uintptr_t granule)
{
    if (seen & PT_SHADOW_KEPT)
        return true;
    uint64_t kept = seen | PT_SHADOW_KEPT;
    if (seen & PT_SHADOW_STATE || !pt_self_is_past(&self->clock, pt_shadow_access(seen)))
        return false;
    /* acquire: partner of the release that unlocked it last */
    if (!__atomic_compare_exchange_n(word, &seen, kept, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    if (!seen) /* clocks go into it without a further look */
        pt_shadow_note_use(granule);
    if (pt_self_is_past(&self->clock, pt_shadow_access(seen)))
        return true;
    __atomic_store_n(word, seen, __ATOMIC_RELEASE); /* its number had come to mean another clock meanwhile */
    return false;
}

enum { LINE = 8 }; /* words of a line of the cache */

/* Whether so many words, from that granule's on, are kept, or can be, and nothing is to be learned of them. */
static inline __attribute__((always_inline)) bool is_kept_here(struct pt_shadow_self *self, uint64_t *words,
                                                               uintptr_t granule, unsigned count)
{
    uint64_t all = PT_SHADOW_KEPT, any = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < count; i++) {
        uint64_t seen = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
        all &= seen;
        any |= seen;
    }
    for (unsigned i = 0; !all && i < count; i++)
        if (!keep_word(self, &words[i], __atomic_load_n(&words[i], __ATOMIC_RELAXED), granule + i * 8))
            return false;
    for (unsigned i = 0; any & PT_SHADOW_FINE && i < count; i++) {
        if (!teaches_nothing(self, words[i]))
            return false;
        if (words[i] & PT_SHADOW_FINE)
            __builtin_prefetch(pt_fines[pt_shadow_access(words[i])].write); /* for what follows */
    }
    return true;
}

static bool is_kept(struct pt_shadow_self *self, const struct stretch *stretch)
{
    size_t i = 0;
    for (; i + LINE <= stretch->count; i += LINE)
        if (!is_kept_here(self, stretch->words + i, stretch->low + i * 8, LINE))
            return false;
    for (; i < stretch->count; i++)
        if (!is_kept_here(self, stretch->words + i, stretch->low + i * 8, 1))
            return false;
    return true;
}

static bool are_kept(struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    for (struct stretch stretch = {0}; next_stretch(range, &stretch);)
        if (!is_kept(self, &stretch))
            return false;
    return true;
}

/* V_i into so many words like this one. */
static void put_run(struct pt_shadow_self *self, uint64_t *words, size_t count, bool write)
{
    uint64_t seen = *words, clock = self->clock.id;
    uint64_t made = PT_SHADOW_KEPT | pt_shadow_pack(self->clock.id, write ? clock : pt_shadow_write(seen), 0xff);
    if (made == seen)
        return;
    for (size_t i = 0; i < count; i++)
        words[i] = made;
    pt_self_give(&self->clock, (int64_t)count * (1 + write));
    pt_self_pass(&self->clock, pt_shadow_access(seen), (int64_t)count);
    if (write)
        pt_self_release(&self->clock, pt_shadow_write(seen), (int64_t)count);
}

/* The same with a rung, into words of any clocks: none of them has references. Gives how many could be done so. */
static size_t put_rung(pt_clock_id rung, uint64_t *words, size_t count, bool write)
{
    uint64_t made = PT_SHADOW_KEPT | pt_shadow_pack(rung, rung, 0xff), whole = UINT64_C(0xff) << PT_SHADOW_BYTES_AT;
    size_t i = 0;
    for (; write && i < count && !(words[i] & PT_SHADOW_FINE); i++)
        words[i] = made;
    for (; !write && i < count && (words[i] & (PT_SHADOW_FINE | whole)) == whole; i++)
        words[i] = (words[i] & ~PT_SHADOW_CLOCK) | rung;
    return i;
}

static void put_stretch(struct pt_shadow_self *self, const struct pt_locked_range *range, const struct stretch *stretch,
                        bool write)
{
    bool rung = pt_clock_is_rung(self->clock.id);
    for (size_t i = 0, j; i < stretch->count; i = j) {
        uint64_t seen = stretch->words[i];
        uintptr_t granule = stretch->low + i * 8;
        unsigned bytes = bytes_in(range, granule);
        j = i + 1;
        if (bytes != 0xff || seen & PT_SHADOW_FINE || (!write && pt_shadow_bytes(seen) != 0xff)) {
            stretch->words[i] = PT_SHADOW_KEPT | pt_kept_put(self, seen & ~PT_SHADOW_KEPT, granule, bytes, write);
            continue;
        }
        size_t end = stretch->count - (granule + (stretch->count - i) * 8 > range->to); /* the last, touched in part */
        if (rung) {
            j = i + put_rung(self->clock.id, stretch->words + i, (i < end ? end : i + 1) - i, write);
            continue;
        }
        while (j < end && stretch->words[j] == seen)
            j++;
        put_run(self, stretch->words + i, j - i, write);
    }
}

static void put_range(struct pt_shadow_self *self, const struct pt_locked_range *range, bool write)
{
    for (struct stretch stretch = {0}; next_stretch(range, &stretch);)
        put_stretch(self, range, &stretch, write);
}

/* The page of a large piece becomes the thread's where nobody else was there since it had an event, or ever. */
static void claim_around(struct pt_shadow_self *self, uintptr_t address)
{
    pt_kept_cell *cell = pt_kept_cell_of(address);
    uint32_t state = atomic_load_explicit(cell, memory_order_relaxed);
    uint64_t seen = atomic_load_explicit(pt_shadow_peek(address), memory_order_relaxed);
    if (state & (PT_KEPT_BY | PT_KEPT_MOVING) || state == PT_KEPT_NEVER || seen & PT_SHADOW_STATE)
        return;
    if (!pt_shadow_access(seen) || pt_self_is_own(&self->clock, pt_shadow_access(seen)))
        claim(self, cell);
}

bool pt_kept_begin_piece(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                         struct pt_locked_range *range)
{
    if (self->locked || size > 4096 || !pt_shadow_peek(address) || !pt_shadow_peek(address + size - 1))
        return false;
    if (size >= LARGE && !self->never_keeps) {
        claim_around(self, address);
        claim_around(self, address + size - 1);
    }
    if (!self->keeper)
        return false;
    *range = (struct pt_locked_range){.from = address,
                                      .to = address + size,
                                      .low = address & ~(uintptr_t)7,
                                      .high = (address + size + 7) & ~(uintptr_t)7,
                                      .kept = true};
    self->locked_word = NULL;
    pt_sys_touch_stack();
    if (!pt_kept_enter(self, address))
        return false;
    if (!pt_kept_is_own(self, address + size - 1) || !are_kept(self, range)) {
        pt_kept_exit(self);
        return false;
    }
    self->locked = range;
    if (write) {
        put_range(self, range, true);
        atomic_thread_fence(memory_order_release); /* partner: that of a fast read */
    }
    return true;
}

bool pt_kept_end_piece(struct pt_shadow_self *self, struct pt_locked_range *range, bool write)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (!range->kept)
        return false;
    if (!write)
        put_range(self, range, false);
    self->locked = NULL;
    pt_kept_exit(self);
    return true;
}

uint64_t pt_kept_enter_range(struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    if (!self->keeper || range->watched || range->sync || range->high - range->low > 4096 ||
        !pt_kept_enter(self, range->low))
        return 0;
    if (pt_kept_is_own(self, range->high - 8))
        return PT_SHADOW_KEPT;
    pt_kept_exit(self);
    return 0;
}
