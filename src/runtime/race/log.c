/*
 * The logs of threads: rings of blocks, what is gone of them, and those of threads that have ended.
 *
 * Guarantee: what has a number from `first` on is there as it was written. Cost: 32 bytes for an access, 64 more for a
 * region, 32 for other calls; a lock for a block of 256.
 */
#include "runtime/race/busy.h"

#include "runtime/sys/sys.h"

enum {
    RING = PT_RACE_RING,
    BLOCK = PT_RACE_BLOCK,
    ROOM = 8, /* records that one access may need: two marks, links, and itself */
    ENDED = 8 * RING
};

struct pt_race_log *pt_race_logs;
_Atomic bool pt_race_learned;
/* Threads that have ended, the first one first, and the records that they have together. */
static struct {
    struct pt_spin lock;
    struct pt_race_log *first, *last;
    size_t records;
} ended = {.lock = PT_SPIN(PT_RANK_THREAD)};
static _Atomic uint32_t highest; /* number of a thread that has a log, plus 1 */

bool pt_race_log_start(void)
{
    pt_race_logs = pt_sys_reserve_table(sizeof *pt_race_logs * PT_RACE_LOG_THREADS);
    return pt_race_logs && pt_race_last_start();
}

static void reset(struct pt_race_log *log)
{
    *log = (struct pt_race_log){.ring = log->ring, .lock = PT_SPIN(PT_RANK_FINE)};
}

void pt_race_log_restart(void)
{
    atomic_store(&pt_race_learned, false);
    atomic_store(&pt_race_is_short, false);
    for (uint32_t i = 0; i < atomic_load(&highest); i++)
        if (pt_race_logs[i].ring) {
            pt_sys_empty(pt_race_logs[i].ring, PT_RACE_RING_BYTES);
            reset(&pt_race_logs[i]);
        }
    pt_race_last_restart();
    pt_race_common_restart();
    ended.first = ended.last = NULL;
    ended.records = 0;
    pt_spin_reset(&ended.lock);
}

void pt_race_log_begin(struct pt_race_self *self)
{
    uint32_t number = self->hb.id, seen = atomic_load_explicit(&highest, memory_order_relaxed);
    self->log = (struct pt_race_journal){.column = PT_RACE_NO_COLUMN, .region = UINT64_MAX, .epoch = PT_RACE_EPOCH};
    if (number >= PT_RACE_LOG_THREADS)
        return;
    struct pt_race_log *log = &pt_race_logs[number];
    if (!log->ring) {
        log->ring = pt_sys_reserve(PT_RACE_RING_BYTES);
        reset(log);
    }
    while (seen <= number && !atomic_compare_exchange_weak(&highest, &seen, number + 1))
        ;
    self->log.ring = log->ring;
    self->log.shown = &log->shown;
    self->log.column = log->column = (uint8_t)pt_race_column_take();
}

/* Under the log's lock: the records of a block are no more. */
static void clear(const struct pt_race_self *self, const struct pt_race_log *log, uint64_t from)
{
    for (uint64_t i = from; i < from + BLOCK; i += 64) {
        uint64_t others = BLOCK < 64 ? ~(((UINT64_C(1) << BLOCK % 64) - 1) << i % 64) : 0;
        pt_race_bits_of(log->ring, i)->replaced &= others;
        pt_race_bits_of(log->ring, i)->shared &= others;
    }
    for (uint64_t i = from; i < from + BLOCK; i++) {
        struct pt_race_record *record = pt_race_record_at(log->ring, i);
        if (pt_race_get(&record->about) >> PT_RACE_TYPE_AT == PT_RACE_RECORD_REGION)
            pt_vec_drop(&self->memory, (struct pt_vec *)(uintptr_t)pt_race_get(&record->same));
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
    for (uint64_t i = from; i <= to; i += BLOCK) /* not under the log's lock, as that of a granule may be taken */
        if (i >= RING)
            pt_race_last_keep(log->ring, self->hb.id, i - RING);
    pt_spin_lock(&log->lock);
    log->block = to;
    know(self, log);
    if (to + BLOCK > RING) {
        if (!atomic_load_explicit(&pt_race_is_short, memory_order_relaxed)) /* all threads look at it all the time */
            atomic_store_explicit(&pt_race_is_short, true, memory_order_relaxed);
        atomic_store_explicit(&log->first, to + BLOCK - RING, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_release); /* before the block is written: partner in pt_race_knows_last */
    for (; from <= to; from += BLOCK)
        clear(self, log, from);
    pt_spin_unlock(&log->lock);
    if (clock < to)
        self->hb.clock = to;
    self->log.end = to + BLOCK;
    self->log.stop = 0;
    if (to > PT_RACE_NUMBER_MAX - 2 * RING)
        pt_runtime_stop("a thread has made more accesses than races can be told apart by");
}

static void put_mark(struct pt_race_self *self, enum pt_race_record_type type, uint64_t same, uint64_t other)
{
    struct pt_race_record *record = pt_race_record_at(self->log.ring, self->hb.clock++);
    pt_race_put(&record->same, same);
    pt_race_put(&record->other, other);
    pt_race_put(&record->about, (uint64_t)type << PT_RACE_TYPE_AT);
}

__attribute__((noinline)) void pt_race_log_prepare(struct pt_race_self *self)
{
    if (self->hb.clock + ROOM > self->log.end)
        enter_block(self);
    if (!self->log.stop)
        put_mark(self, PT_RACE_RECORD_REGION, (uintptr_t)pt_vec_ref(&self->memory, self->hb.past), self->region);
    struct pt_cell_note note = pt_race_note_now(self);
    put_mark(self, PT_RACE_RECORD_NOTE, (uint64_t)note.stack << 32 | note.locks, 0);
    self->log.calls = pt_race_calls();
    self->log.stop = self->log.end;
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

static struct pt_vec *past_of(const struct pt_race_record *region)
{
    return (struct pt_vec *)(uintptr_t)pt_race_get(&region->same);
}

/* No write of a busy page in the region that this number is of was made later: the region ended with the next mark of
 * one, or goes on. Under the log's lock. */
static uint64_t end_of_writes(const struct pt_race_log *log, uint64_t number)
{
    uint64_t first = pt_race_get(&log->first), shown = atomic_load_explicit(&log->shown, memory_order_acquire);
    for (uint64_t i = number > first ? number : first; i < log->block + BLOCK && i < shown; i++) {
        const struct pt_race_record *record = pt_race_record_at(log->ring, i);
        if (pt_race_get(&record->about) >> PT_RACE_TYPE_AT == PT_RACE_RECORD_REGION &&
            pt_race_get(&record->other) > number)
            return pt_race_get(&record->other) - 1;
    }
    return shown;
}

/* The write was perhaps made again without a note. */
static void make_late(const struct pt_race_log *log, uint64_t number, struct pt_race_logged *out)
{
    uint64_t last = end_of_writes(log, number);
    out->last = last > out->last ? last : out->last;
}

/* Under the log's lock. */
static void read_record(const struct pt_race_self *self, const struct pt_race_log *log, uintptr_t granule,
                        uint64_t slot, struct pt_race_logged *out)
{
    uint64_t number = pt_race_number_of(slot);
    const struct pt_race_record *record = pt_race_record_at(log->ring, number);
    uint64_t about = pt_race_get(&record->about), more = pt_race_get(&record->more);
    out->before[0] = pt_race_get(&record->same);
    out->before[1] = pt_race_get(&record->other);
    if (about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_LINKS) {
        out->before[2] = more;
        out->is_links = true;
        return;
    }
    if (pt_race_is_write(about) && out->before[0])
        out->before[0] |= PT_RACE_WROTE;
    const struct pt_race_record *region = find_mark(log, number, PT_RACE_RECORD_REGION),
                                *note = find_mark(log, number, PT_RACE_RECORD_NOTE);
    out->last = about >> PT_RACE_TYPE_AT == PT_RACE_RECORD_LOOP ? number - (more & PT_RACE_LATER)
                                                                : number + (more & PT_RACE_LATER);
    out->then = (struct pt_hb_thread){.id = pt_race_thread_of(slot),
                                      .clock = more & PT_RACE_ANOTHER ? number : out->last,
                                      .past = pt_vec_ref(&self->memory, past_of(region))};
    if (pt_race_is_write(about) && pt_race_was_busy(granule))
        make_late(log, number, out);
    out->region = pt_race_get(&region->other);
    out->access = pt_race_access_in(about, (uint8_t)slot);
    out->access.note = pt_race_note_in(pt_race_get(&note->same));
}

/* What a slot says of an access whose record is gone. Its thread knew then no more than when the records went: who
 * learns of it learns that, so that further races may be missed, and none is told that is none. Under the log's lock.
 */
static void read_slot(const struct pt_race_self *self, const struct pt_race_log *log, uintptr_t granule, uint64_t slot,
                      struct pt_race_logged *out)
{
    uint64_t number = pt_race_number_of(slot);
    out->then = (struct pt_hb_thread){
        .id = pt_race_thread_of(slot), .clock = number, .past = pt_vec_ref(&self->memory, log->past)};
    out->region = out->last = number;
    out->is_gone = true;
    if (!pt_race_last_find(granule, slot, &out->access))
        out->access = (struct pt_cell_access){
            .place = pt_race_place_of(&lost), .bytes = (uint8_t)slot, .note = {.stack = UINT32_MAX}};
    out->access.bytes &= (uint8_t)slot;
    out->access.kind = slot & PT_RACE_WROTE ? PT_CELL_WRITES : PT_CELL_READS;
    out->others = (uint8_t)((unsigned)slot & ~out->access.bytes);
    if (slot & PT_RACE_WROTE && pt_race_was_busy(granule))
        make_late(log, number, out);
}

struct pt_race_logged pt_race_log_others(const struct pt_race_self *self, const struct pt_race_logged *logged)
{
    struct pt_race_logged others = *logged;
    others.then.past = pt_vec_ref(&self->memory, logged->then.past);
    others.access.place = pt_race_place_of(&lost);
    others.access.bytes = logged->others;
    others.access.op = PT_RACE_OP_ACCESS;
    others.access.note = (struct pt_cell_note){.stack = UINT32_MAX};
    return others;
}

void pt_race_log_read(const struct pt_race_self *self, uintptr_t granule, uint64_t slot, struct pt_race_logged *out)
{
    struct pt_race_log *log = &pt_race_logs[pt_race_thread_of(slot)];
    uint64_t number = pt_race_number_of(slot);
    *out = (struct pt_race_logged){0};
    pt_spin_lock(&log->lock);
    if (number >= pt_race_get(&log->first))
        read_record(self, log, granule, slot, out);
    else if ((uint8_t)slot)
        read_slot(self, log, granule, slot, out);
    else
        out->is_links = true; /* links that are gone */
    pt_spin_unlock(&log->lock);
}

/* Without the log's lock: whoever writes over the record has said before that it is gone (enter_block). */
bool pt_race_knows_last(const struct pt_race_self *self, uint64_t slot)
{
    uint32_t thread = pt_race_thread_of(slot);
    uint64_t number = pt_race_number_of(slot), known = pt_vec_at(self->hb.past, thread);
    if (thread == self->hb.id || !slot)
        return true;
    if (number > known)
        return false;
    const struct pt_race_log *log = &pt_race_logs[thread];
    uint64_t more = pt_race_get(&pt_race_record_at(log->ring, number)->more);
    atomic_thread_fence(memory_order_acquire); /* partner of the release in enter_block */
    return number < pt_race_get(&log->first) || number + (more & PT_RACE_LATER) <= known;
}

/* ---- threads that have ended ---- */

static void forget_records(const struct pt_race_self *self, struct pt_race_log *log)
{
    uint64_t from = log->block + BLOCK > RING ? log->block + BLOCK - RING : 0;
    for (uint64_t i = from; i <= log->block; i += BLOCK)
        pt_race_last_keep(log->ring, (uint32_t)(log - pt_race_logs), i);
    pt_spin_lock(&log->lock);
    atomic_store_explicit(&log->first, UINT64_MAX, memory_order_relaxed);
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
    pt_race_column_give(self->log.column);
    self->log.column = PT_RACE_NO_COLUMN;
    pt_race_loop_end(self);
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
    self->log = (struct pt_race_journal){.column = PT_RACE_NO_COLUMN, .region = UINT64_MAX};
    while (oldest) {
        forget_records(self, oldest);
        pt_spin_lock(&ended.lock);
        oldest = take_oldest();
        pt_spin_unlock(&ended.lock);
    }
}
