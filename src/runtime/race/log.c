/*
 * The logs of threads: rings of blocks, what is gone of them, and those of threads that have ended.
 *
 * Guarantee: what has a number from `first` on is there as it was written. Of what is gone it is known between which
 * clocks it was made, as long as CLOCKS blocks have not followed; later only before which. Cost: 16 bytes for an
 * access, 32 more for a region, 16 for other calls; a lock for a block of 256.
 */
#include "runtime/race/log.h"

#include "runtime/sys/sys.h"

enum {
    RING = PT_RACE_LOG_RING,
    BLOCK = PT_RACE_LOG_BLOCK,
    CLOCKS = 1 << 16,
    ROOM = 4, /* slots that one access may need: two marks, where the one before it is, and itself */
    ENDED = 4 * RING
};

struct pt_race_log *pt_race_logs;
/* Threads that have ended, the first one first, and the slots that they have together. */
static struct {
    struct pt_spin lock;
    struct pt_race_log *first, *last;
    size_t slots;
} ended = {.lock = PT_SPIN(PT_RANK_THREAD)};
static _Atomic uint32_t highest; /* number of a thread that has a log, plus 1 */

bool pt_race_log_start(void)
{
    pt_race_logs = pt_sys_reserve_table(sizeof *pt_race_logs * PT_RACE_LOG_THREADS);
    return pt_race_logs != NULL;
}

static void reset(struct pt_race_log *log)
{
    struct pt_race_slot *slots = log->slots;
    _Atomic uint64_t *clocks = log->clocks;
    *log = (struct pt_race_log){.slots = slots, .clocks = clocks, .lock = PT_SPIN(PT_RANK_FINE)};
}

void pt_race_log_restart(void)
{
    for (uint32_t i = 0; i < atomic_load(&highest); i++) {
        struct pt_race_log *log = &pt_race_logs[i];
        if (!log->slots)
            continue;
        pt_sys_empty(log->slots, RING * sizeof *log->slots);
        pt_sys_empty(log->clocks, CLOCKS * sizeof *log->clocks);
        reset(log);
    }
    ended.first = ended.last = NULL;
    ended.slots = 0;
    pt_spin_reset(&ended.lock);
}

void pt_race_log_begin(struct pt_race_self *self)
{
    uint32_t number = self->hb.id, seen = atomic_load_explicit(&highest, memory_order_relaxed);
    self->solo = (struct pt_race_solo){.top = UINT64_MAX, .epoch = PT_RACE_EPOCH};
    if (number >= PT_RACE_LOG_THREADS)
        return;
    struct pt_race_log *log = &pt_race_logs[number];
    if (!log->slots) {
        log->clocks = pt_sys_reserve(CLOCKS * sizeof *log->clocks);
        log->slots = log->clocks ? pt_sys_reserve(RING * sizeof *log->slots) : NULL;
        reset(log);
    }
    while (seen <= number && !atomic_compare_exchange_weak(&highest, &seen, number + 1))
        ;
    if (!log->slots)
        return;
    self->solo.slots = log->slots;
    self->solo.top = PT_RACE_SOLO >> PT_RACE_SOLO_THREAD_AT | number;
}

static struct pt_race_slot *slot_at(const struct pt_race_log *log, uint64_t number)
{
    return &log->slots[number & (RING - 1)];
}

/* Under the log's lock: these slots are no more. */
static void clear(const struct pt_race_self *self, const struct pt_race_log *log, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        struct pt_race_slot *slot = slot_at(log, i);
        uint64_t a = pt_race_slot_get(&slot->a);
        if (a >> PT_RACE_SLOT_TYPE_AT == PT_RACE_SLOT_REGION)
            pt_vec_drop(&self->memory, (struct pt_vec *)(uintptr_t)(a & PT_RACE_SLOT_PAST));
        pt_race_slot_put(&slot->a, 0);
    }
}

static void enter_block(struct pt_race_self *self)
{
    struct pt_race_log *log = &pt_race_logs[self->hb.id];
    uint64_t from = self->solo.stop;
    pt_spin_lock(&log->lock);
    atomic_store_explicit(&log->block, from, memory_order_relaxed);
    pt_race_slot_put(&log->clocks[from / BLOCK % CLOCKS], self->hb.clock);
    if (from >= RING) {
        /* seq_cst: whoever reads a slot without the lock asks for `first` after it, and for the clocks after that */
        atomic_store(&log->first, from + BLOCK - RING);
        clear(self, log, from, from + BLOCK);
    }
    pt_spin_unlock(&log->lock);
    self->solo.at = from;
    self->solo.stop = from + BLOCK;
    self->solo.region_due = self->solo.note_due = true;
}

static void put_mark(struct pt_race_solo *solo, uint64_t a, uint64_t b)
{
    struct pt_race_slot *slot = &solo->slots[solo->at++ & (RING - 1)];
    pt_race_slot_put(&slot->a, a);
    pt_race_slot_put(&slot->b, b);
}

__attribute__((noinline)) void pt_race_log_prepare(struct pt_race_self *self)
{
    struct pt_race_solo *solo = &self->solo;
    struct pt_cell_note note = pt_race_note_now(self);
    if (solo->at + ROOM > solo->stop)
        enter_block(self);
    if (solo->region_due)
        put_mark(solo,
                 (uint64_t)PT_RACE_SLOT_REGION << PT_RACE_SLOT_TYPE_AT |
                     (uintptr_t)pt_vec_ref(&self->memory, self->hb.past),
                 self->region);
    if (solo->note_due || note.stack != solo->noted.id || note.locks != solo->locks)
        put_mark(solo, (uint64_t)PT_RACE_SLOT_NOTE << PT_RACE_SLOT_TYPE_AT, (uint64_t)note.stack << 32 | note.locks);
    solo->region_due = solo->note_due = false;
    const struct pt_calls *calls = &__portent_calls;
    uint32_t count = calls->depth < PT_FOUND_FRAMES ? calls->depth : PT_FOUND_FRAMES;
    solo->noted.id = note.stack;
    solo->noted.depth = calls->depth;
    if (calls->depth <= PT_CALLS)
        memcpy(solo->noted.frames, &calls->frames[calls->depth - count], count * sizeof *calls->frames);
    solo->locks = note.locks;
}

void pt_race_log_bounds(const struct pt_race_log *log, uint64_t number, uint64_t *ret_least, uint64_t *ret_most)
{
    uint64_t block = number / BLOCK, end = atomic_load_explicit(&log->end, memory_order_acquire);
    *ret_least = pt_race_slot_get(&log->clocks[block % CLOCKS]);
    *ret_most = pt_race_slot_get(&log->clocks[(block + 2) % CLOCKS]); /* then it was not made again: race.h */
    atomic_thread_fence(memory_order_acquire);
    uint64_t latest = atomic_load_explicit(&log->block, memory_order_relaxed) / BLOCK;
    if (latest < block + 2)
        *ret_most = end; /* or else it would be there */
    if (latest >= block + CLOCKS)
        *ret_least = 0; /* that was another block's, and so the other one may be: of a later time */
}

/* ---- threads that have ended ---- */

static void forget_slots(const struct pt_race_self *self, struct pt_race_log *log)
{
    pt_spin_lock(&log->lock);
    uint64_t to = atomic_load_explicit(&log->block, memory_order_relaxed) + BLOCK;
    uint64_t from = atomic_load_explicit(&log->first, memory_order_relaxed);
    atomic_store(&log->first, UINT64_MAX);
    clear(self, log, from, to);
    pt_sys_empty(log->slots, RING * sizeof *log->slots);
    pt_spin_unlock(&log->lock);
}

static struct pt_race_log *take_oldest(void)
{
    struct pt_race_log *log = ended.slots > ENDED ? ended.first : NULL;
    if (log) {
        uint64_t slots = atomic_load_explicit(&log->block, memory_order_relaxed) + BLOCK;
        ended.first = log->next;
        ended.slots -= slots < RING ? slots : RING;
    }
    return log;
}

void pt_race_log_end(struct pt_race_self *self)
{
    if (!self->solo.slots || !self->solo.stop)
        return;
    struct pt_race_log *log = &pt_race_logs[self->hb.id], *oldest;
    pt_spin_lock(&log->lock);
    log->past = pt_vec_ref(&self->memory, self->hb.past);
    atomic_store_explicit(&log->end, self->hb.clock, memory_order_release);
    pt_spin_unlock(&log->lock);
    pt_spin_lock(&ended.lock);
    *(ended.first ? &ended.last->next : &ended.first) = log;
    ended.last = log;
    ended.slots += self->solo.stop < RING ? self->solo.stop : RING;
    oldest = take_oldest();
    pt_spin_unlock(&ended.lock);
    self->solo.slots = NULL;
    self->solo.top = UINT64_MAX;
    while (oldest) {
        forget_slots(self, oldest);
        pt_spin_lock(&ended.lock);
        oldest = take_oldest();
        pt_spin_unlock(&ended.lock);
    }
}
