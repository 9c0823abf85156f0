/*
 * The logs of threads: rings of blocks, what is gone of them, and those of threads that have ended; and the slots that
 * were replaced.
 *
 * Guarantee: what has a number from `first` on is there as it was written; of what is gone the place is told by the
 * slot itself, unless it has no code. Cost: 16 bytes for a place in a region, 32 more for a region; a lock for a block
 * of 256; 24 bytes for a slot that is replaced.
 */
#include "runtime/race/log.h"

#include "runtime/sys/sys.h"

enum {
    RING = PT_RACE_RING,
    BLOCK = PT_RACE_BLOCK,
    ROOM = PT_RACE_ROOM,
    ENDED = 8 * RING,
    MOST_LATER = RING - 2 * BLOCK
};

struct pt_race_log *pt_race_logs;
/* Threads that have ended, the first one first, and the records that they have together. */
static struct {
    struct pt_spin lock;
    struct pt_race_log *first, *last;
    size_t records;
} ended = {.lock = PT_SPIN(PT_RANK_THREAD)};
_Atomic bool pt_race_learned;
static _Atomic uint32_t highest; /* lane that has a log, plus 1 */

bool pt_race_log_start(void)
{
    pt_race_logs = pt_sys_reserve_table(sizeof *pt_race_logs * PT_RACE_LOG_THREADS);
    return pt_race_logs;
}

static void reset(struct pt_race_log *log)
{
    *log = (struct pt_race_log){.ring = log->ring, .lock = PT_SPIN(PT_RANK_FINE)};
}

void pt_race_log_restart(void)
{
    atomic_store(&pt_race_learned, false);
    for (uint32_t i = 0; i < atomic_load(&highest); i++)
        if (pt_race_logs[i].ring) {
            pt_sys_empty(pt_race_logs[i].ring, PT_RACE_RING_BYTES);
            reset(&pt_race_logs[i]);
        }
    ended.first = ended.last = NULL;
    ended.records = 0;
    pt_spin_reset(&ended.lock);
}

void pt_race_log_begin(struct pt_race_self *self)
{
    uint32_t lane = self->hb.id, seen = atomic_load_explicit(&highest, memory_order_relaxed);
    self->log = (struct pt_race_journal){.region = UINT64_MAX, .epoch = PT_RACE_EPOCH};
    if (lane >= PT_RACE_LOG_THREADS)
        return;
    struct pt_race_log *log = &pt_race_logs[lane];
    if (!log->ring) {
        log->ring = pt_sys_reserve(PT_RACE_RING_BYTES);
        reset(log);
    }
    atomic_store_explicit(&log->owner, self, memory_order_relaxed);
    while (seen <= lane && !atomic_compare_exchange_weak(&highest, &seen, lane + 1))
        ;
    self->log.ring = log->ring;
    self->log.shown = &log->shown;
}

void pt_race_interrupt(uint32_t lane)
{
    if (lane >= PT_RACE_LOG_THREADS)
        return;
    struct pt_race_self *owner = atomic_load_explicit(&pt_race_logs[lane].owner, memory_order_relaxed);
    if (owner) /* it may be another thread's by now, whose region ends for nothing */
        atomic_fetch_or_explicit(&owner->log.epoch, PT_RACE_INTERRUPTED, memory_order_relaxed);
}

/* ---- writing ---- */

/* Under the log's lock: the records of a block are no more. */
static void clear(const struct pt_race_self *self, const struct pt_race_log *log, uint64_t from)
{
    for (uint64_t i = from; i < from + BLOCK; i++) {
        struct pt_race_record *record = pt_race_record_at(log->ring, i);
        if (pt_race_get(&record->about) >> PT_RACE_TYPE_AT == PT_RACE_RECORD_REGION)
            pt_vec_drop(&self->memory, (struct pt_vec *)(uintptr_t)pt_race_get(&record->more));
        pt_race_put(&record->about, 0);
    }
}

/* What the thread knows, for those of its records that are gone. */
static void know(const struct pt_race_self *self, struct pt_race_log *log)
{
    if (log->past)
        pt_vec_drop(&self->memory, log->past);
    log->past = pt_vec_ref(&self->memory, self->hb.past);
}

/* The block that the thread's clock is in, or the next one. Those that it has passed have no records. */
static void enter_block(struct pt_race_self *self)
{
    struct pt_race_log *log = &pt_race_logs[self->hb.id];
    uint64_t clock = self->hb.clock, to = clock % BLOCK > BLOCK - ROOM ? clock / BLOCK + 1 : clock / BLOCK;
    uint64_t from = self->log.end;
    to *= BLOCK;
    if (to + BLOCK - from > RING)
        from = to + BLOCK - RING;
    pt_spin_lock(&log->lock);
    log->block = to;
    know(self, log);
    if (to + BLOCK > RING)
        atomic_store_explicit(&log->first, to + BLOCK - RING, memory_order_relaxed);
    for (; from <= to; from += BLOCK)
        clear(self, log, from);
    pt_spin_unlock(&log->lock);
    if (clock < to)
        self->hb.clock = to;
    self->log.end = to + BLOCK;
    self->log.stop = 0;
}

static uint64_t put(struct pt_race_self *self, uint64_t about, uint64_t more)
{
    uint64_t number = self->hb.clock++;
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    pt_race_put(&record->more, more);
    pt_race_put(&record->about, about);
    return number;
}

/* Room for a record at the thread's clock, and what holds there said. */
static __attribute__((noinline)) void prepare(struct pt_race_self *self)
{
    if (self->hb.clock + ROOM > self->log.end)
        enter_block(self);
    if (self->log.stop)
        return;
    put(self, (uint64_t)PT_RACE_RECORD_REGION << PT_RACE_TYPE_AT | (self->region & PT_RACE_REGION_CLOCK),
        (uintptr_t)pt_vec_ref(&self->memory, self->hb.past));
    put(self, (uint64_t)PT_RACE_RECORD_LOCKS << PT_RACE_TYPE_AT, pt_race_locks_now(self));
    self->log.stop = self->log.end;
}

/* Places that are accessed one after the other are mostly in the same calls. */
static uint32_t stack_now(struct pt_race_self *self)
{
    uint64_t calls = pt_race_calls();
    if (!__portent_calls.depth)
        return 0;
    if (self->log.calls != calls || !self->log.stack) {
        self->log.calls = calls;
        self->log.stack = pt_race_stack_of(self);
    }
    return self->log.stack;
}

static inline uint64_t about_of(uint32_t place, unsigned op)
{
    return (uint64_t)PT_RACE_RECORD_ACCESS << PT_RACE_TYPE_AT | (uint64_t)op << PT_RACE_RECORD_OP_AT |
           (uint64_t)place << PT_RACE_PLACE_AT;
}

static uint64_t put_access(struct pt_race_self *self, const struct pt_site *site, unsigned op)
{
    if (pt_race_epoch(self) & PT_RACE_INTERRUPTED)
        pt_race_changed(self);
    if (__builtin_expect(pt_race_is_used_up(self), 0))
        pt_race_next_lane(self);
    if (!self->log.ring)
        return 0;
    if (self->hb.clock >= self->log.stop)
        prepare(self);
    uint32_t place = pt_race_place_of(site);
    uint64_t number = put(self, about_of(place, op), stack_now(self));
    return pt_race_slot_of(self, number, pt_race_code_of(place), 0);
}

/* One place may be accessed in turn in several calls: those that were there before are kept elsewhere. */
static struct pt_race_made *other_of(struct pt_race_self *self, const struct pt_site *site, uint32_t calls)
{
    uint32_t mixed = (uint32_t)((uintptr_t)site >> 3) ^ calls * UINT32_C(0x9e3779b9) >> 7;
    return &self->log.others[mixed & ((1u << PT_RACE_OTHERS_BITS) - 1)];
}

/* Most are of places that the thread was at in an earlier region, too, in the calls of its latest record. */
static inline bool put_again(struct pt_race_self *self, struct pt_race_made *made, const struct pt_site *site)
{
    const uint64_t codes = (UINT64_C(1) << PT_RACE_NUMBER_AT) - (1u << PT_RACE_CODE_AT);
    uint64_t epoch = pt_race_epoch(self), calls = pt_race_calls();
    bool has_calls = __portent_calls.depth;
    if ((made->key ^ (uintptr_t)site) & (PT_RACE_INTERRUPTED - 1) || made->key == ((uintptr_t)site | epoch) ||
        epoch & PT_RACE_INTERRUPTED || (has_calls && (calls != self->log.calls || !self->log.stack)) ||
        pt_race_is_used_up(self))
        return false;
    if (self->hb.clock >= self->log.stop)
        prepare(self);
    uint64_t number = put(self, about_of(made->place, PT_RACE_OP_ACCESS), has_calls ? self->log.stack : 0);
    made->slot = pt_race_slot_of(self, number, 0, 0) | (made->slot & codes);
    made->calls = (uint32_t)(calls ^ calls >> 32);
    made->last = (uint32_t)self->hb.clock;
    made->key = (uintptr_t)site | epoch;
    return true;
}

__attribute__((noinline)) struct pt_race_made *pt_race_put_made(struct pt_race_self *self, const struct pt_site *site)
{
    struct pt_race_made *made = pt_race_made_of(self, site);
    if (__builtin_expect(put_again(self, made, site), 1))
        return made;
    uint32_t calls = pt_race_calls_now();
    struct pt_race_made *other = other_of(self, site, calls), found = *other;
    bool is_there = pt_race_is_made(self, &found, site) && found.calls == calls;
    if (pt_race_is_made(self, made, site))
        *other_of(self, site, made->calls) = *made;
    if (!is_there) {
        found.slot = put_access(self, site, PT_RACE_OP_ACCESS);
        found.key = (uintptr_t)site | pt_race_epoch(self);
        found.calls = calls;
        found.last = (uint32_t)self->hb.clock;
        found.place = pt_race_place_of(site);
    }
    *made = found;
    return made;
}

struct pt_race_made *pt_race_put_later(struct pt_race_self *self, struct pt_race_made *made, const struct pt_site *site)
{
    self->hb.clock += self->log.read == self->hb.clock; /* what was read in a cell comes before it */
    uint64_t number = pt_race_number_of(made->slot), later = self->hb.clock - 1 - number;
    if (later >= MOST_LATER) { /* its record may soon be gone */
        other_of(self, site, made->calls)->key = made->key = 0;
        return pt_race_put_made(self, site);
    }
    struct pt_race_record *record = pt_race_record_at(self->log.ring, number);
    /* release: whoever reads what is then written finds this */
    atomic_store_explicit(&record->about, (pt_race_get(&record->about) & ~(uint64_t)UINT32_MAX) | later,
                          memory_order_release);
    made->last = (uint32_t)self->hb.clock;
    return made;
}

uint64_t pt_race_put_alone(struct pt_race_self *self, const struct pt_site *site, unsigned op)
{
    uint64_t slot = put_access(self, site, op);
    return self->log.alone = slot ? slot | PT_RACE_WROTE : 0; /* 0: it has no log any more */
}

/* Entries are found while their owner goes on: who has read one looks afterwards whether it was still there. */
void pt_race_evict(struct pt_race_self *self, uintptr_t granule, uint64_t slot)
{
    struct pt_race_log *log = &pt_race_logs[self->hb.id];
    uint32_t number = atomic_load_explicit(&log->evicted, memory_order_relaxed) + 1;
    number += !number;
    self->log.is_short |= number > PT_RACE_EVICTED;
    struct pt_race_evicted *evicted = pt_race_evicted_at(log->ring, number);
    _Atomic uint32_t *head = pt_race_evicted_head(log->ring, granule);
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    uint32_t lives = atomic_load_explicit(pt_race_lives_in(leaf, granule), memory_order_relaxed);
    _Atomic uint16_t *puts = &leaf->puts[pt_race_page_of(granule)];
    uint16_t count = atomic_load_explicit(puts, memory_order_relaxed);
    if (self->log.is_short && count < PT_RACE_BUSY)
        atomic_store_explicit(puts, (uint16_t)(count + 1), memory_order_relaxed);
    atomic_store_explicit(&log->evicted, number, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* partner of the acquire in find_replaced */
    pt_race_put(&evicted->granule, granule);
    pt_race_put(&evicted->slot, slot);
    atomic_store_explicit(&evicted->lives, lives, memory_order_relaxed);
    atomic_store_explicit(&evicted->next, atomic_load_explicit(head, memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(head, number, memory_order_release);
}

/* ---- reading ---- */

static const struct pt_site lost = {.file = "", .function = "[place lost]", .variable = ""};

/* The latest mark of this type before that record. */
static const struct pt_race_record *find_mark(const struct pt_race_log *log, uint64_t number,
                                              enum pt_race_record_type type)
{
    while (pt_race_get(&pt_race_record_at(log->ring, number)->about) >> PT_RACE_TYPE_AT != type)
        number--;
    return pt_race_record_at(log->ring, number);
}

/* No write in the region that this number is of was made later: the region ended with the next mark of one, or goes on.
 * Under the log's lock. */
static uint64_t end_of_writes(const struct pt_race_log *log, uint64_t number)
{
    uint64_t shown = pt_race_get(&log->shown);
    for (uint64_t i = number; i < log->block + BLOCK && i < shown; i++) {
        const struct pt_race_record *record = pt_race_record_at(log->ring, i);
        uint64_t about = pt_race_get(&record->about);
        if (about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_REGION && (about & PT_RACE_REGION_CLOCK) > number)
            return (about & PT_RACE_REGION_CLOCK) - 1;
    }
    return shown;
}

/* Under the log's lock. */
static void read_record(const struct pt_race_self *self, const struct pt_race_log *log, uint64_t number,
                        struct pt_race_logged *out)
{
    const struct pt_race_record *record = pt_race_record_at(log->ring, number);
    const struct pt_race_record *region = find_mark(log, number, PT_RACE_RECORD_REGION);
    uint64_t about = atomic_load_explicit(&record->about, memory_order_acquire);
    uint64_t shown = out->access.kind & PT_CELL_WRITES ? end_of_writes(log, number) : 0;
    out->last = number + (uint32_t)about;
    out->last = shown > out->last ? shown : out->last;
    out->region = pt_race_get(&region->about) & PT_RACE_REGION_CLOCK;
    out->then.past = pt_vec_ref(&self->memory, (struct pt_vec *)(uintptr_t)pt_race_get(&region->more));
    out->access.place = (uint32_t)(about >> PT_RACE_PLACE_AT) & ((1u << PT_RACE_PLACE_BITS) - 1);
    out->access.op = about >> PT_RACE_RECORD_OP_AT & 3;
    out->access.note.stack = (uint32_t)pt_race_get(&record->more);
    out->access.note.locks = (uint32_t)pt_race_get(&find_mark(log, number, PT_RACE_RECORD_LOCKS)->more);
}

/* What a slot says of an access whose record is gone. Its thread knew then no more than when the records went: who
 * learns of it learns that, so that further races may be missed, and none is told that is none. It was perhaps written
 * again as long as the record was there. Under the log's lock. */
static void read_slot(const struct pt_race_self *self, const struct pt_race_log *log, uint64_t slot,
                      struct pt_race_logged *out)
{
    uint32_t code = pt_race_code_in(slot);
    out->last = pt_race_number_of(slot) + (slot & PT_RACE_WROTE ? MOST_LATER : 0);
    out->last = out->last < log->block + BLOCK ? out->last : log->block + BLOCK - 1;
    if (slot & PT_RACE_WROTE && pt_race_get(&log->shown) > out->last) /* its region may go on */
        out->last = pt_race_get(&log->shown);
    out->then.past = pt_vec_ref(&self->memory, log->past);
    out->is_gone = true;
    out->access.place = code ? pt_race_place_at(code) : pt_race_place_of(&lost);
    out->access.note.stack = UINT32_MAX;
}

void pt_race_log_read(const struct pt_race_self *self, uint64_t slot, struct pt_race_logged *out)
{
    struct pt_race_log *log = &pt_race_logs[pt_race_lane_of(slot)];
    uint64_t number = pt_race_number_of(slot);
    *out = (struct pt_race_logged){
        .then = {.id = pt_race_lane_of(slot), .clock = number},
        .access = {.bytes = (uint8_t)slot, .kind = slot & PT_RACE_WROTE ? PT_CELL_WRITES : PT_CELL_READS}};
    pt_spin_lock(&log->lock);
    if (number >= pt_race_get(&log->first))
        read_record(self, log, number, out);
    else
        read_slot(self, log, slot, out);
    pt_spin_unlock(&log->lock);
}

/* Whether the thread knows of all that was written there, as far as it is found without the log's lock. */
static bool knows_last(const struct pt_race_self *self, uint64_t slot)
{
    const struct pt_race_log *log = &pt_race_logs[pt_race_lane_of(slot)];
    uint64_t number = pt_race_number_of(slot), known = pt_vec_at(self->hb.past, pt_race_lane_of(slot));
    uint32_t later = (uint32_t)pt_race_get(&pt_race_record_at(log->ring, number)->about);
    return known >= number + MOST_LATER ||
           (number >= pt_race_get(&log->first) && known >= number + later && known >= pt_race_get(&log->shown));
}

void pt_race_follow(struct pt_race_self *self, const uint64_t *slots, unsigned count, unsigned bytes)
{
    bool learns = false;
    for (unsigned i = 0; i < count; i++) {
        uint64_t slot = slots[i];
        if (!(slot & PT_RACE_WROTE && slot & bytes) || pt_race_lane_of(slot) == self->hb.id || knows_last(self, slot))
            continue;
        struct pt_race_logged logged;
        pt_race_log_read(self, slot, &logged);
        struct pt_hb_stamp last = {pt_epoch_make(logged.then.id, logged.last), logged.then.past};
        learns |= !pt_hb_knows(&self->hb, last.at);
        pt_hb_learn(&self->memory, &self->hb, &last);
        pt_hb_stamp_drop(&self->memory, &last);
    }
    if (learns)
        pt_race_changed(self);
}

void pt_race_log_lose(struct pt_race_logged *logged)
{
    logged->access.place = pt_race_place_of(&lost);
    logged->access.op = PT_RACE_OP_ACCESS;
    logged->access.note = (struct pt_cell_note){.stack = UINT32_MAX};
}

/* Those that this lane has replaced. */
static unsigned find_replaced(const struct pt_race_log *log, uintptr_t granule, uint32_t lives, uint64_t *out,
                              unsigned most)
{
    unsigned count = 0;
    uint32_t all = atomic_load_explicit(&log->evicted, memory_order_acquire);
    if (!all)
        return 0;
    uint32_t number = atomic_load_explicit(pt_race_evicted_head(log->ring, granule), memory_order_acquire);
    for (unsigned steps = 0; number && steps < PT_RACE_EVICTED && count < most; steps++) {
        const struct pt_race_evicted *evicted = pt_race_evicted_at(log->ring, number);
        bool is_its = pt_race_get(&evicted->granule) == granule &&
                      atomic_load_explicit(&evicted->lives, memory_order_relaxed) == lives;
        uint64_t slot = pt_race_get(&evicted->slot);
        uint32_t next = atomic_load_explicit(&evicted->next, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire); /* partner of the release in pt_race_evict */
        all = atomic_load_explicit(&log->evicted, memory_order_relaxed);
        if (all - number >= PT_RACE_EVICTED)
            break;
        if (is_its)
            out[count++] = slot;
        number = next;
    }
    return count;
}

unsigned pt_race_log_replaced(uintptr_t granule, uint64_t *out, unsigned most)
{
    unsigned count = 0;
    uint32_t lives = atomic_load_explicit(pt_race_lives_in(pt_race_leaf_of(granule), granule), memory_order_relaxed);
    for (uint32_t lane = 0; lane < atomic_load_explicit(&highest, memory_order_relaxed) && count < most; lane++)
        count += find_replaced(&pt_race_logs[lane], granule, lives, out + count, most - count);
    return count;
}

/* ---- threads that have ended ---- */

static void forget_records(const struct pt_race_self *self, struct pt_race_log *log)
{
    uint64_t from = log->block + BLOCK > RING ? log->block + BLOCK - RING : 0;
    pt_spin_lock(&log->lock);
    atomic_store_explicit(&log->first, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&log->evicted, 0, memory_order_relaxed);
    for (; from <= log->block; from += BLOCK)
        clear(self, log, from);
    pt_sys_empty(log->ring, PT_RACE_RING_BYTES);
    pt_spin_unlock(&log->lock);
}

static size_t records_of(const struct pt_race_log *log)
{
    return log->block + BLOCK < RING ? (size_t)log->block + BLOCK : RING;
}

static struct pt_race_log *take_oldest(void)
{
    struct pt_race_log *log = ended.records > ENDED ? ended.first : NULL;
    if (log) {
        ended.first = log->next;
        ended.records -= records_of(log);
    }
    return log;
}

void pt_race_log_end(struct pt_race_self *self)
{
    if (!self->log.ring || !self->log.end)
        return;
    struct pt_race_log *log = &pt_race_logs[self->hb.id], *oldest;
    pt_spin_lock(&log->lock);
    know(self, log);
    pt_spin_unlock(&log->lock);
    pt_spin_lock(&ended.lock);
    *(ended.first ? &ended.last->next : &ended.first) = log;
    ended.last = log;
    ended.records += records_of(log);
    oldest = take_oldest();
    pt_spin_unlock(&ended.lock);
    self->log.ring = NULL;
    self->log.region = UINT64_MAX;
    self->log.span = 0;
    while (oldest) {
        forget_records(self, oldest);
        pt_spin_lock(&ended.lock);
        oldest = take_oldest();
        pt_spin_unlock(&ended.lock);
    }
}
