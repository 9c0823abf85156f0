/*
 * Pages that one thread alone uses (own.h says what that is, and why it is
 * right): how they are taken and given up, and what the owner does with their
 * granules where that is not a word alone.
 *
 * Guarantee: clocks are those of algorithm A, byte by byte, as without it.
 * Cost: taking and giving up are linear in the words of a page, and a system
 * call for whoever takes it from another; both are bounded, for a page by
 * TIMES, for a thread by LOST. A ring that begins anew looks at all words of
 * its thread's pages, and is made long enough for that.
 */
#include "runtime/shadow/own.h"

#include <string.h>

enum {
    THREADS = 64,
    PAGES = 1024 /* of a thread */,
    WORDS = 512,
    TIMES = 32,
    LOST = 1024,
    WORTH = 32 /* words looked at for a clock of a ring */
};

struct owner {
    struct pt_spin lock; /* of what follows, and of the pages' cells */
    struct pt_shadow_self *self;
    uint32_t count, lost;
    pt_own_cell *cells[PAGES];
};

static struct owner owners[THREADS]; /* by slot */
static atomic_bool stopped;
uint32_t pt_own_pages;

static pt_shadow_word *words_of(const pt_own_cell *cell)
{
    struct pt_shadow_leaf *leaf = (struct pt_shadow_leaf *)((uintptr_t)cell & ~(PT_LEAF_ALIGNMENT - 1));
    return leaf->words + (cell - leaf->owners) * WORDS;
}

static uint64_t word_now(const pt_shadow_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED;
}

/* The owner's alone, and it stays so. */
static void set_word(pt_shadow_word *word, uint64_t value)
{
    atomic_store_explicit(word, value | PT_SHADOW_LOCKED, memory_order_relaxed);
}

/* In the word of a granule with a record, where that of the writes' clock is in others: its record has counted clocks,
 * those that are not of the owner's ring. */
#define COUNTED (UINT64_C(1) << PT_SHADOW_WRITE_AT)

static bool is_counted(const struct pt_shadow_self *self, pt_clock_id id)
{
    return id && pt_clock_home(id) >> 32 != self->clock.ring.owner;
}

/* --- all clocks of a page --- */

/* Calls for each reference of a locked word, equal neighbours of a record at
 * once. */
static void each_clock(uint64_t word, void (*visit)(void *context, pt_clock_id id, int64_t references), void *context)
{
    if (!(word & PT_SHADOW_FINE)) {
        visit(context, pt_shadow_access(word), 1);
        visit(context, pt_shadow_write(word), 1);
        return;
    }
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(word)];
    for (unsigned i = 0; i < 8; i++) {
        visit(context, fine->access[i], 1);
        visit(context, fine->write[i], 1);
    }
}

/* Of the owner's ring: they are counted no longer. */
static void uncount(void *context, pt_clock_id id, int64_t references)
{
    struct pt_shadow_self *self = context;
    int64_t *local = id ? pt_self_local_count(&self->clock, id) : NULL;
    if (local)
        *local -= references;
}

/* And again. By the owner itself, or by another thread, in the common count. */
static void count_own(void *context, pt_clock_id id, int64_t references)
{
    uncount(context, id, -references);
}

static void count_other(void *context, pt_clock_id id, int64_t references)
{
    const struct owner *owner = context;
    if (id && pt_clock_home(id) >> 32 == (uint64_t)(owner - owners) + 1)
        pt_clock_acquire(id, references);
}

static void mark(void *context, pt_clock_id id, int64_t references)
{
    struct pt_clock_self *clock = context;
    uint64_t home = id ? pt_clock_home(id) : 0;
    (void)references;
    if (home && home >> 32 == clock->ring.owner)
        clock->ring.marked[(uint32_t)home] = 1;
}

/* Before a ring uses its numbers again: which of them its thread's pages have.
 */
static void mark_all(struct pt_clock_self *clock)
{
    struct owner *owner = &owners[clock->slot];
    pt_spin_lock(&owner->lock);
    for (uint32_t page = 0; page < owner->count; page++) {
        pt_shadow_word *words = words_of(owner->cells[page]);
        uint64_t before = 0;
        for (unsigned i = 0; i < WORDS; i++) {
            uint64_t word = word_now(&words[i]);
            if (word != before)
                each_clock(word, mark, clock);
            before = word;
        }
    }
    pt_spin_unlock(&owner->lock);
}

/* --- taking --- */

/* Whether nothing of a locked granule is to be learned, and nobody else has
 * anything to do with it. */
static bool is_ownable(struct pt_shadow_self *self, uint64_t word)
{
    if (!(word & PT_SHADOW_FINE))
        return pt_self_is_past(&self->clock, pt_shadow_access(word));
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(word)];
    if (fine->watch || fine->readers || fine->bytes)
        return false;
    for (unsigned i = 0; i < 8; i++)
        if (!pt_self_is_past(&self->clock, fine->access[i]))
            return false;
    return true;
}

/* Nothing is waited for: whoever has a granule locked uses the page. */
static bool lock_word(struct pt_shadow_self *self, pt_shadow_word *word)
{
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    /* acquire: as in pt_granule_lock */
    if (seen & PT_SHADOW_LOCKED || !atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_SHADOW_LOCKED,
                                                                            memory_order_acquire, memory_order_relaxed))
        return false;
    if (is_ownable(self, seen))
        return true;
    atomic_store_explicit(word, seen, memory_order_release);
    return false;
}

static bool lock_words(struct pt_shadow_self *self, pt_shadow_word *words)
{
    unsigned count = 0;
    while (count < WORDS && lock_word(self, &words[count]))
        count++;
    if (count == WORDS) {
        atomic_thread_fence(memory_order_release); /* partner: that of a fast read,
                                                      as in pt_granule_lock */
        return true;
    }
    while (count--)
        atomic_store_explicit(&words[count], word_now(&words[count]), memory_order_release);
    return false;
}

static bool may_own(const struct pt_shadow_self *self)
{
    return self->clock.slot < THREADS && !self->slow && self->fast == self->clock.id && self->clock.id &&
           self->clock.ring.owner && pt_clock_home(self->clock.id) >> 32 == self->clock.ring.owner &&
           pt_has_cache(PT_CACHE_OWN) && !atomic_load_explicit(&stopped, memory_order_relaxed);
}

static void add_page(struct pt_shadow_self *self, struct owner *owner, pt_own_cell *cell, uintptr_t address)
{
    pt_shadow_word *words = words_of(cell);
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t word = word_now(&words[i]);
        each_clock(word, uncount, self);
        if (word & PT_SHADOW_FINE) /* perhaps: nobody looks so closely */
            set_word(&words[i], word | COUNTED);
    }
    owner->self = self;
    owner->cells[owner->count++] = cell;
    self->clock.ring.mark = mark_all;
    self->clock.ring.least = owner->count * (WORDS / WORTH);
    pt_shadow_note_use(address);
    __atomic_fetch_add(&pt_own_pages, 1, __ATOMIC_RELAXED);
    /* release: whoever is told of the owner finds it there */
    atomic_fetch_or_explicit(cell, self->clock.slot + 1, memory_order_release);
}

void pt_own_take(struct pt_shadow_self *self, pt_shadow_word *word, uintptr_t address)
{
    static atomic_bool unable; /* there are no barriers for others here */
    if (!may_own(self) || atomic_load_explicit(&unable, memory_order_relaxed))
        return;
    struct owner *owner = &owners[self->clock.slot];
    if (!self->owned && !pt_sys_barrier_in_all()) {
        atomic_store_explicit(&unable, true, memory_order_relaxed);
        return;
    }
    pt_own_cell *cell = pt_own_cell_of(word);
    uint32_t seen = atomic_load_explicit(cell, memory_order_relaxed);
    if (seen & PT_OWN_NUMBER || seen >> PT_OWN_TIMES_AT >= TIMES)
        return;
    pt_spin_lock(&owner->lock);
    self->owned = true;
    if (owner->count < PAGES && owner->lost < LOST && !atomic_load_explicit(&stopped, memory_order_relaxed)) {
        if (lock_words(self, words_of(cell)))
            add_page(self, owner, cell, address);
        else
            atomic_fetch_add_explicit(cell, 1u << PT_OWN_TIMES_AT, memory_order_relaxed);
    }
    pt_spin_unlock(&owner->lock);
    pt_shadow_settle(self);
}

/* --- giving up --- */

/* Whether the owner is in the middle of an access of this word. */
static bool is_under_way(const struct pt_shadow_self *self, const pt_shadow_word *word, const pt_own_cell *cell)
{
    if (atomic_load_explicit(&self->own_at[0], memory_order_relaxed) == cell && self->locked_word == word)
        return true;
    for (const struct pt_locked_range *range = self->locked; range; range = range->outer)
        for (uintptr_t granule = range->low; range->own[0] && granule < range->high; granule += 8)
            if (pt_shadow_peek(granule) == word)
                return true;
    return false;
}

/* The owner is not in the page any more; what was under way there has its
 * granules locked. Both pages of a range are given up together
 * (give_up_entered). */
static void end_accesses(struct pt_shadow_self *self, const pt_own_cell *cell)
{
    for (unsigned i = 0; i < PT_OWN_PLACES; i++)
        if (atomic_load_explicit(&self->own_at[i], memory_order_relaxed) == cell)
            atomic_store_explicit(&self->own_at[i], NULL, memory_order_relaxed);
}

/* With the owner's lock. `self`: the owner, if it is the caller. */
static void give_up(struct owner *owner, pt_own_cell *cell, struct pt_shadow_self *self)
{
    pt_shadow_word *words = words_of(cell);
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t word = word_now(&words[i]);
        if (word & PT_SHADOW_FINE)
            set_word(&words[i], word &= ~COUNTED);
        if (self)
            each_clock(word, count_own, self);
        else
            each_clock(word, count_other, owner);
        if (self && is_under_way(self, &words[i], cell))
            pt_rank_take(PT_RANK_GRANULE);
        else
            atomic_store_explicit(&words[i], word, memory_order_release);
    }
    if (self)
        end_accesses(self, cell);
    uint32_t at = 0;
    while (owner->cells[at] != cell)
        at++;
    owner->cells[at] = owner->cells[--owner->count];
    __atomic_fetch_sub(&pt_own_pages, 1, __ATOMIC_RELAXED);
    uint32_t times = (atomic_load_explicit(cell, memory_order_relaxed) >> PT_OWN_TIMES_AT) + 1;
    atomic_store_explicit(cell, (times < TIMES ? times : TIMES) << PT_OWN_TIMES_AT, memory_order_release);
}

static bool is_inside(struct pt_shadow_self *self, const pt_own_cell *cell)
{
    for (unsigned i = 0; i < PT_OWN_PLACES; i++)
        if (atomic_load_explicit(&self->own_at[i], memory_order_acquire) == cell)
            return true;
    return false;
}

/* With the owner's lock, by another thread. */
static bool take_away(struct owner *owner, pt_own_cell *cell)
{
    uint32_t seen = atomic_load_explicit(cell, memory_order_relaxed);
    if (!(seen & PT_OWN_GOING)) {
        atomic_store_explicit(cell, seen | PT_OWN_GOING, memory_order_seq_cst);
        if (!pt_sys_barrier_in_all()) /* a filter of the program's that nobody told
                                         of */
            pt_runtime_lost();
        owner->lost++;
    }
    if (is_inside(owner->self, cell))
        return false;
    give_up(owner, cell, NULL);
    return true;
}

/* All pages that the thread is in, so that its ranges are locked ones. */
static void give_up_entered(struct pt_shadow_self *self)
{
    for (unsigned i = 0; i < PT_OWN_PLACES; i++) {
        pt_own_cell *cell = atomic_load_explicit(&self->own_at[i], memory_order_relaxed);
        if (!cell)
            continue;
        pt_spin_lock(&owners[self->clock.slot].lock);
        give_up(&owners[self->clock.slot], cell, self);
        pt_spin_unlock(&owners[self->clock.slot].lock);
    }
    for (struct pt_locked_range *range = self->locked; range; range = range->outer)
        range->own[0] = range->own[1] = 0;
}

/* By its owner. */
static void give_up_own(struct pt_shadow_self *self, pt_own_cell *cell)
{
    struct owner *owner = &owners[self->clock.slot];
    if (is_inside(self, cell)) {
        give_up_entered(self);
        return;
    }
    pt_spin_lock(&owner->lock);
    /* else somebody has taken it away meanwhile */
    if ((atomic_load_explicit(cell, memory_order_relaxed) & PT_OWN_NUMBER) == self->clock.slot + 1)
        give_up(owner, cell, self);
    pt_spin_unlock(&owner->lock);
}

bool pt_own_revoke(pt_shadow_word *word)
{
    pt_own_cell *cell = pt_own_cell_of(word);
    struct pt_shadow_self *self = pt_self;
    /* acquire: partner of the release by which it was taken */
    uint32_t number = atomic_load_explicit(cell, memory_order_acquire) & PT_OWN_NUMBER;
    if (number && self && self->owned && number == self->clock.slot + 1) {
        give_up_own(self, cell);
        return true;
    }
    if (!number)
        return false;
    struct owner *owner = &owners[number - 1];
    pt_spin_lock(&owner->lock);
    /* else somebody else has been here */
    bool given = (atomic_load_explicit(cell, memory_order_relaxed) & PT_OWN_NUMBER) != number || take_away(owner, cell);
    pt_spin_unlock(&owner->lock);
    return given;
}

void pt_own_yield(struct pt_shadow_self *self)
{
    if (self->owned)
        give_up_entered(self);
}

void pt_own_end_all(struct pt_shadow_self *self)
{
    if (!self->owned)
        return;
    struct owner *owner = &owners[self->clock.slot];
    pt_spin_lock(&owner->lock);
    while (owner->count)
        give_up(owner, owner->cells[owner->count - 1], self);
    owner->lost = 0;
    owner->self = NULL;
    self->owned = false;
    self->owns = 0;
    self->clock.ring.mark = NULL;
    pt_spin_unlock(&owner->lock);
}

/* True when there is none any more. */
static bool take_one_away(struct owner *owner)
{
    pt_spin_lock(&owner->lock);
    if (owner->count && owner->self == pt_self)
        give_up(owner, owner->cells[owner->count - 1], pt_self);
    else if (owner->count)
        take_away(owner, owner->cells[owner->count - 1]);
    bool none = !owner->count;
    pt_spin_unlock(&owner->lock);
    return none;
}

void pt_own_stop(void)
{
    atomic_store(&stopped, true);
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned turn = 0; !take_one_away(&owners[i]);) /* its owner is in it, and will not be for long */
            pt_spin_await(&owners[i].lock.state, 0, &turn);
}

void pt_own_restart(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        pt_spin_reset(&owners[i].lock);
        owners[i].count = owners[i].lost = 0;
        owners[i].self = NULL;
    }
    __atomic_store_n(&pt_own_pages, 0, __ATOMIC_RELAXED);
}

/* --- granules of an own page --- */

/* A number that one word had is now in so many bytes of a record: true if it is counted. */
static bool spread_count(struct pt_shadow_self *self, pt_clock_id id, unsigned count)
{
    if (!is_counted(self, id))
        return false;
    if (count)
        pt_self_acquire(&self->clock, id, (int64_t)count - 1);
    else
        pt_self_release(&self->clock, id, 1);
    return true;
}

/* An access of some of the bytes in use, or of others beside them: they get a
 * record. */
static void split(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, unsigned bytes, bool write)
{
    uint32_t id = pt_fine_new(self);
    unsigned known = pt_shadow_bytes(seen), others = known & ~bytes, unwritten = write ? others : known;
    pt_clock_id access = pt_shadow_access(seen), written = pt_shadow_write(seen), clock = self->clock.id;
    if (!id)
        return;
    struct pt_fine *fine = &pt_fines[id];
    for (unsigned i = 0; i < 8; i++) {
        fine->access[i] = bytes >> i & 1 ? clock : others >> i & 1 ? access : 0;
        fine->write[i] = unwritten >> i & 1 ? written : write && bytes >> i & 1 ? clock : 0;
    }
    bool counted = spread_count(self, access, (unsigned)__builtin_popcount(others));
    counted |= spread_count(self, written, (unsigned)__builtin_popcount(unwritten));
    set_word(word, id | PT_SHADOW_FINE | (counted ? COUNTED : 0));
}

static bool all_are(const pt_clock_id ids[8], pt_clock_id id)
{
    unsigned different = 0;
    for (unsigned i = 0; i < 8; i++)
        different |= ids[i] ^ id;
    return !different;
}

static void put_fine(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, unsigned bytes, bool write)
{
    uint32_t id = pt_shadow_access(seen);
    struct pt_fine *fine = &pt_fines[id];
    pt_clock_id clock = self->clock.id;
    if (write && bytes == 0xff && !(seen & COUNTED)) { /* without a look at what was there */
        pt_fine_free(self, id);
        set_word(word, pt_shadow_pack(clock, clock, 0xff));
        return;
    }
    for (unsigned i = (unsigned)__builtin_ctz(bytes); bytes >> i; i++) {
        if (!(bytes >> i & 1))
            continue;
        pt_own_drop(self, fine->access[i], 1);
        fine->access[i] = clock;
        if (write) {
            pt_own_drop(self, fine->write[i], 1);
            fine->write[i] = clock;
        }
    }
    /* reads of a part leave it as it is: the next write would need a record again
     */
    pt_clock_id written = fine->write[0];
    if ((write || bytes == 0xff) && all_are(fine->access, clock) && all_are(fine->write, written)) {
        pt_own_drop(self, written, 7);
        pt_fine_free(self, id);
        set_word(word, pt_shadow_pack(clock, written, 0xff));
    }
}

void pt_own_put(struct pt_shadow_self *self, pt_shadow_word *word, unsigned bytes, bool write)
{
    uint64_t seen = word_now(word);
    unsigned known = pt_shadow_bytes(seen);
    pt_clock_id clock = self->clock.id, access = pt_shadow_access(seen), written = pt_shadow_write(seen);
    if (seen & PT_SHADOW_FINE) {
        put_fine(self, word, seen, bytes, write);
    } else if (access == clock && (write ? written == clock : !(bytes & ~known) || !written)) {
        set_word(word, seen | (uint64_t)bytes << PT_SHADOW_BYTES_AT);
    } else if (known & ~bytes || (!write && known != bytes && written)) {
        split(self, word, seen, bytes, write);
    } else {
        pt_own_drop(self, access, 1);
        if (write)
            pt_own_drop(self, written, 1);
        set_word(word, pt_shadow_pack(clock, write ? clock : written, bytes));
    }
}

/* --- ranges --- */

/* A place of its own for a page that the thread has; 0: it does not have it. */
static unsigned enter_page(struct pt_shadow_self *self, uintptr_t granule)
{
    pt_shadow_word *word = pt_shadow_peek(granule);
    if (!word || !(atomic_load_explicit(word, memory_order_relaxed) & PT_SHADOW_LOCKED))
        return 0;
    unsigned place = 1;
    while (place < PT_OWN_PLACES && atomic_load_explicit(&self->own_at[place], memory_order_relaxed))
        place++;
    return place < PT_OWN_PLACES && pt_own_enter(self, word, place) ? place : 0;
}

/* One of at most two pages, both of which must be the thread's. */
bool pt_own_open(struct pt_shadow_self *self, struct pt_locked_range *range)
{
    uintptr_t first = range->low >> 12, last = (range->high - 1) >> 12;
    if (!self->owns || self->fast == PT_NOT_FAST || last - first > 1)
        return false;
    unsigned place = enter_page(self, range->low),
             other = place && last != first ? enter_page(self, range->high - 8) : 0;
    if (place && last != first && !other)
        pt_own_leave(self, place);
    if (!place || (last != first && !other))
        return false;
    range->own[0] = (uint8_t)place;
    range->own[1] = (uint8_t)other;
    return true;
}

/* So many words like this one have V_i now. */
static void drop_run(struct pt_shadow_self *self, uint64_t word, int64_t count, bool write)
{
    if (!count)
        return;
    pt_own_drop(self, pt_shadow_access(word), count);
    if (write)
        pt_own_drop(self, pt_shadow_write(word), count);
}

/* Whole granules; runs of equal words become equal ones. */
static void put_run(struct pt_shadow_self *self, pt_shadow_word *word, size_t count, bool write)
{
    uint64_t run = 0, made = 0; /* 0: none */
    int64_t alike = 0;
    for (pt_shadow_word *end = word + count; word < end; word++) {
        uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
        if (seen == run) {
            atomic_store_explicit(word, made, memory_order_relaxed);
            alike++;
            continue;
        }
        drop_run(self, run, alike, write);
        alike = 0;
        run = 0;
        if (seen & PT_SHADOW_FINE || (!write && pt_shadow_bytes(seen) != 0xff)) {
            pt_own_put(self, word, 0xff, write);
            continue;
        }
        run = seen;
        made = PT_SHADOW_LOCKED | pt_shadow_pack(self->clock.id, write ? self->clock.id : pt_shadow_write(seen), 0xff);
        atomic_store_explicit(word, made, memory_order_relaxed);
        alike = 1;
    }
    drop_run(self, run, alike, write);
}

static unsigned bytes_between(uintptr_t granule, uintptr_t from, uintptr_t to)
{
    unsigned bytes = 0xff;
    if (from > granule)
        bytes &= 0xffu << (from - granule);
    if (to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - to);
    return bytes;
}

/* Within a page. */
static void put_range(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write)
{
    uintptr_t low = from & ~(uintptr_t)7;
    pt_shadow_word *word = pt_shadow_peek(low);
    if (bytes_between(low, from, to) != 0xff) {
        pt_own_put(self, word++, bytes_between(low, from, to), write);
        low += 8;
    }
    if (low >= to)
        return;
    size_t whole = (to - low) >> 3;
    put_run(self, word, whole, write);
    if (low + whole * 8 < to)
        pt_own_put(self, word + whole, bytes_between(low + whole * 8, from, to), write);
}

static void leave_range(struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    pt_own_leave(self, range->own[0]);
    if (range->own[1])
        pt_own_leave(self, range->own[1]);
}

bool pt_own_close(struct pt_shadow_self *self, struct pt_locked_range *range, bool write)
{
    uintptr_t middle = range->own[1] ? (range->high - 1) & ~(uintptr_t)4095 : range->to;
    if (!self->owns) { /* with its present clock it may not use them */
        give_up_entered(self);
        return false;
    }
    put_range(self, range->from, middle, write);
    if (middle < range->to)
        put_range(self, middle, range->to, write);
    self->locked = range->outer;
    leave_range(self, range);
    return true;
}

static void forget(struct pt_shadow_self *self, pt_shadow_word *word, unsigned bytes)
{
    uint64_t seen = word_now(word);
    if (!(seen & PT_SHADOW_FINE)) {
        unsigned left = pt_shadow_bytes(seen) & ~bytes;
        if (!left)
            drop_run(self, seen, 1, true);
        set_word(word, left ? pt_shadow_pack(pt_shadow_access(seen), pt_shadow_write(seen), left) : 0);
        return;
    }
    struct pt_fine *fine = &pt_fines[pt_shadow_access(seen)];
    for (unsigned i = 0; i < 8; i++) {
        if (!(bytes >> i & 1))
            continue;
        pt_own_drop(self, fine->access[i], 1);
        pt_own_drop(self, fine->write[i], 1);
        fine->access[i] = fine->write[i] = 0;
    }
    if (!all_are(fine->access, 0))
        return;
    pt_fine_free(self, pt_shadow_access(seen));
    set_word(word, 0);
}

bool pt_own_forget(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool *ret_any)
{
    struct pt_locked_range range = {
        .from = from, .to = to, .low = from & ~(uintptr_t)7, .high = (to + 7) & ~(uintptr_t)7};
    if (from >= to || !pt_own_open(self, &range))
        return false;
    pt_shadow_word *word = pt_shadow_peek(range.low);
    for (uintptr_t granule = range.low; granule < to; granule += 8, word++) {
        if (!word_now(word))
            continue;
        *ret_any = true;
        forget(self, word, bytes_between(granule, from, to));
    }
    leave_range(self, &range);
    return true;
}
