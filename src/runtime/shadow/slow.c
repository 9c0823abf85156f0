/*
 * Holding granules, in ascending order so that two accesses never wait for each other in a circle, and algorithm A over
 * all of them.
 */
#include "runtime/shadow/slow.h"

#include <string.h>

#include "core/shape.h"
#include "runtime/channel/emit.h"
#include "runtime/channel/full.h"
#include "runtime/channel/gate.h"
#include "runtime/local/monitor.h"
#include "runtime/shadow/fast.h"
#include "runtime/shadow/shadow.h"
#include "runtime/stream/stream.h"
#include "runtime/shadow/watch.h"

static unsigned touched_bytes(const struct pt_locked_range *hold, uintptr_t granule)
{
    unsigned bytes = 0xff;
    if (hold->from >= granule + 8 || hold->to <= granule)
        return 0;
    if (hold->from > granule)
        bytes &= 0xffu << (hold->from - granule);
    if (hold->to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - hold->to);
    return bytes;
}

static uint64_t locked_word(pt_shadow_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED;
}

static uint32_t watches_of(uint64_t word)
{
    return word & PT_SHADOW_FINE ? pt_fines[pt_shadow_access(word)].watch : 0;
}

static void unlock_all(struct pt_locked_range *hold, uintptr_t end)
{
    for (uintptr_t granule = hold->low; granule < end; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        pt_granule_unlock(word, locked_word(word));
    }
}

/* Widens [low, high) to the watched variables in a granule that the access touches; true if it was wide enough. */
static bool wide_enough(struct pt_locked_range *hold, uintptr_t granule, uintptr_t *low, uintptr_t *high)
{
    for (uint32_t node = watches_of(locked_word(pt_shadow_peek(granule))); node; node = pt_watch_nodes[node].next) {
        const struct pt_watched *watched = &pt_watched[pt_watch_nodes[node].object];
        if (watched->address >= hold->to || watched->address + watched->size <= hold->from)
            continue;
        hold->watched = true;
        if ((watched->address & ~(uintptr_t)7) < *low)
            *low = watched->address & ~(uintptr_t)7;
        if (((watched->address + watched->size + 7) & ~(uintptr_t)7) > *high)
            *high = (watched->address + watched->size + 7) & ~(uintptr_t)7;
    }
    return *low == hold->low && *high == hold->high;
}

/* What an evaluated access will look at when the granule is held: asked for before, because holding it waits for all
 * that went before. */
static void expect(struct pt_thread *self, uintptr_t address)
{
    pt_shadow_word *word = pt_shadow_peek(address);
    uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;
    if (!(seen & PT_SHADOW_FINE))
        __builtin_prefetch((const void *)&pt_clock_homes[pt_shadow_access(seen)]);
    pt_monitor_expect(self, address);
}

bool pt_slow_begin(struct pt_thread *self, uintptr_t address, size_t size, bool write, struct pt_locked_range *hold)
{
    *hold = (struct pt_locked_range){.from = address,
                                     .to = address + size,
                                     .low = address & ~(uintptr_t)7,
                                     .high = (address + size + 7) & ~(uintptr_t)7};
    if (self->crowded && !self->held)
        pt_readers_make_room(self);
    if (self->slow)
        expect(self, address);
    for (;;) {
        bool wide = true;
        uintptr_t low = hold->low, high = hold->high;
        pt_shadow_word *word = NULL;
        for (uintptr_t granule = hold->low; granule < hold->high; granule += 8) {
            word = word && !pt_shadow_starts_leaf(granule) ? word + 1 : pt_shadow_word_of(granule);
            if (!word) {
                unlock_all(hold, granule);
                self->locked_word = NULL;
                return false;
            }
            uint64_t seen = pt_granule_lock(word);
            if (!(seen & PT_SHADOW_FINE && touched_bytes(hold, granule)))
                continue;
            wide &= wide_enough(hold, granule, &low, &high);
            if (write)
                pt_granule_collect(self, seen);
        }
        if (wide)
            break;
        unlock_all(hold, hold->high);
        hold->low = low;
        hold->high = high;
        hold->watched = false;
    }
    hold->outer = self->held;
    self->held = hold;
    return true;
}

bool pt_slow_is_watched(struct pt_thread *self, uintptr_t address, size_t size)
{
    struct pt_locked_range hold;
    bool watched = false;
    pt_enter(self);
    if (pt_slow_begin(self, address, size, false, &hold)) {
        watched = hold.watched;
        self->held = hold.outer;
        unlock_all(&hold, hold.high);
    }
    pt_leave(self);
    return watched;
}

void pt_slow_suspend(struct pt_locked_range *hold)
{
    for (; hold; hold = hold->outer)
        unlock_all(hold, hold->high);
}

/* It may be one that writes. */
void pt_slow_resume(struct pt_thread *self, struct pt_locked_range *hold)
{
    for (; hold; hold = hold->outer)
        for (uintptr_t granule = hold->low; granule < hold->high; granule += 8)
            pt_granule_collect(self, pt_granule_lock(pt_shadow_peek(granule)));
}

/* Calls once for each watched variable that the access overlaps, in the granule where the overlap begins. */
static void each_watched(struct pt_thread *self, const struct pt_locked_range *hold, const struct pt_site *site,
                         int kind, void (*visit)(struct pt_thread *, uint32_t, const struct pt_site *, int))
{
    for (uintptr_t granule = hold->from & ~(uintptr_t)7; granule < hold->to; granule += 8) {
        for (uint32_t node = watches_of(locked_word(pt_shadow_peek(granule))); node; node = pt_watch_nodes[node].next) {
            const struct pt_watched *watched = &pt_watched[pt_watch_nodes[node].object];
            uintptr_t begin = watched->address > hold->from ? watched->address : hold->from;
            if (begin < hold->to && begin < watched->address + watched->size && (begin & ~(uintptr_t)7) == granule)
                visit(self, pt_watch_nodes[node].object, site, kind);
        }
    }
}

/* An access that touches watched variables is several events of a slow thread, one for each and for what lies between
 * them. Who then accesses one of them is to know of that event, not of the later ones: each part of the memory gets
 * its clocks after its own event, while all is still held. */
static bool is_in_parts(const struct pt_thread *self, const struct pt_locked_range *hold)
{
    return self->slow && hold->watched && !hold->sync;
}

static void give_out(struct pt_thread *self, uintptr_t from, uintptr_t to, bool write)
{
    const struct pt_locked_range *hold = self->held;
    struct pt_locked_range part = {.from = from > hold->from ? from : hold->from, .to = to < hold->to ? to : hold->to};
    if (!is_in_parts(self, hold))
        return;
    for (uintptr_t granule = part.from & ~(uintptr_t)7; granule < part.to; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        unsigned bytes = touched_bytes(&part, granule);
        uint64_t made = write ? pt_granule_after_write(self, granule, locked_word(word), bytes)
                              : pt_granule_after_read(self, granule, locked_word(word), bytes);
        /* relaxed: it is held, and nobody looks until it is let go */
        atomic_store_explicit(word, made | PT_SHADOW_LOCKED, memory_order_relaxed);
    }
}

static void give_out_watched(struct pt_thread *self, const struct pt_watched *watched, bool write)
{
    if (!watched->bit_size) /* its bytes are others' too: they are part of the rest */
        give_out(self, watched->address, watched->address + watched->size, write);
}

static bool field_changed(const struct pt_watched *watched)
{
    const unsigned char *now = (const void *)watched->address;
    for (uint32_t bit = watched->bit_offset; bit < watched->bit_offset + watched->bit_size && bit / 8 < watched->size;
         bit++)
        if ((now[bit / 8] ^ watched->last[bit / 8]) >> (bit % 8) & 1)
            return true;
    return false;
}

static void evaluate_watched(struct pt_thread *self, uint32_t object, const struct pt_site *site, int kind)
{
    const struct pt_watched *w = &pt_watched[object];
    struct pt_shape shape = {w->size, w->type, w->bit_offset, w->bit_size};
    struct pt_value value = pt_shape_value(&shape, (const void *)w->address);
    struct pt_local_event what = {
        .kind = (uint16_t)kind, .object = object, .size = w->size, .address = w->address, .site = site};
    if (value.kind != PT_VALUE_STRING)
        what.value = value;
    pt_monitor_access(self, &what);
}

static void record_write(struct pt_thread *self, uint32_t object, const struct pt_site *site, int kind)
{
    struct pt_watched *watched = &pt_watched[object];
    /* A bit-field is written together with its neighbours: only a change can tell that it was this one. */
    bool relevant = !watched->bit_size || field_changed(watched);
    memcpy(watched->last, (const void *)watched->address, watched->size);
    if (!relevant)
        return;
    pt_stream_write(self, (enum pt_event_kind)kind, object, site);
    if (!watched->quiet || self->full) {
        bool counted = pt_full_count(self);
        pt_emit_event(self, (enum pt_event_kind)kind, object, site, watched->last, watched->size, counted);
        pt_gate_done(self, false, object);
    }
    if (watched->local)
        pt_monitor_written(self, object);
    if (pt_monitor_steps(self))
        evaluate_watched(self, object, site, kind);
    give_out_watched(self, watched, true);
}

static void check_read(struct pt_thread *self, uint32_t object, const struct pt_site *site, int kind)
{
    (void)kind;
    struct pt_watched *watched = &pt_watched[object];
    if (memcmp(watched->last, (const void *)watched->address, watched->size) == 0)
        return;
    memcpy(watched->last, (const void *)watched->address, watched->size);
    atomic_fetch_add_explicit(&pt_channel->foreign_writes, 1, memory_order_relaxed);
    pt_emit_value(self, PT_RECORD_FOREIGN, object, site, watched->last, watched->size);
}

static void record_read(struct pt_thread *self, uint32_t object, const struct pt_site *site, int kind)
{
    const struct pt_watched *watched = &pt_watched[object];
    if (self->full) {
        bool counted = pt_full_count(self);
        pt_emit_event(self, (enum pt_event_kind)kind, object, site, (const void *)watched->address, watched->size,
                      counted);
    }
    if (pt_monitor_steps(self))
        evaluate_watched(self, object, site, kind);
    give_out_watched(self, watched, false);
}

/* Bytes of a granule that lie in watched variables; bit-fields share theirs with variables that are not. */
static unsigned watched_bytes(const struct pt_locked_range *hold, uintptr_t granule)
{
    unsigned bytes = 0;
    for (uint32_t node = watches_of(locked_word(pt_shadow_peek(granule))); node; node = pt_watch_nodes[node].next) {
        const struct pt_watched *watched = &pt_watched[pt_watch_nodes[node].object];
        struct pt_locked_range part = {.from = watched->address, .to = watched->address + watched->size};
        if (!watched->bit_size && part.from < hold->to && part.to > hold->from)
            bytes |= touched_bytes(&part, granule);
    }
    return bytes;
}

/* An event of which no atom speaks: all there is to do about it while the thread is quiet. */
static bool only_counts(struct pt_thread *self)
{
    if (self->quick == UINT64_MAX)
        return false;
    self->states++;
    return true;
}

static void take_piece(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t from,
                       size_t size)
{
    if (self->full)
        pt_full_access(self, kind, site, from, size);
    if (pt_monitor_steps(self) && !only_counts(self)) {
        struct pt_local_event what = {
            .kind = (uint16_t)kind, .object = PT_NO_OBJECT, .size = (uint32_t)size, .address = from, .site = site};
        pt_monitor_access(self, &what);
    }
    give_out(self, from, from + size, kind != PT_KIND_READ_AT);
}

static void take_sync(struct pt_thread *self, const struct pt_locked_range *hold, const struct pt_site *site)
{
    if (self->full)
        pt_full_sync(self, hold->sync, site, hold->from);
    if (pt_monitor_steps(self) && hold->sync < PT_KIND_COUNT && !only_counts(self))
        pt_monitor_other(self, (enum pt_event_kind)hold->sync, hold->from, site);
}

/* The events of a slow thread beside those of watched variables: the rest of the memory, in whole pieces. */
static void record_rest(struct pt_thread *self, const struct pt_locked_range *hold, enum pt_event_kind kind,
                        const struct pt_site *site)
{
    uintptr_t from = hold->from;
    for (uintptr_t granule = hold->from & ~(uintptr_t)7; hold->watched && granule < hold->to; granule += 8) {
        unsigned watched = watched_bytes(hold, granule) & touched_bytes(hold, granule);
        for (unsigned i = 0; watched >> i; i++) {
            if (!(watched >> i & 1))
                continue;
            if (from < granule + i)
                take_piece(self, kind, site, from, granule + i - from);
            from = granule + i + 1;
        }
    }
    if (from < hold->to)
        take_piece(self, kind, site, from, hold->to - from);
}

/* Neighbours are mostly alike: a word says the same of every granule that is touched as a whole. */
static void take_clocks(struct pt_thread *self, const struct pt_locked_range *hold,
                        void (*take)(struct pt_thread *self, uint64_t word, unsigned bytes))
{
    uint64_t taken = 0; /* which teaches nothing */
    for (uintptr_t granule = hold->from & ~(uintptr_t)7; granule < hold->to; granule += 8) {
        uint64_t seen = locked_word(pt_shadow_peek(granule));
        unsigned bytes = touched_bytes(hold, granule);
        if (seen != taken)
            take(self, seen, bytes);
        taken = bytes == 0xff ? seen : 0;
    }
}

static void give_write_clocks(struct pt_thread *self, const struct pt_locked_range *hold)
{
    for (uintptr_t granule = hold->low; granule < hold->high; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        unsigned bytes = touched_bytes(hold, granule);
        uint64_t seen = locked_word(word);
        pt_granule_unlock(word, bytes ? pt_granule_after_write(self, granule, seen, bytes) : seen);
    }
}

/*
 * Whole granules that all have the same word, whose clocks the thread has passed: they teach nothing, and end with the
 * same word too, so the references are moved once. False if it is not so: then nothing has happened.
 */
static bool write_alike(struct pt_thread *self, const struct pt_locked_range *hold)
{
    pt_shadow_word *first = pt_shadow_peek(hold->low);
    uintptr_t count = (hold->high - hold->low) >> 3;
    uint64_t clock = self->clock, seen = locked_word(first);
    bool whole = hold->from == hold->low && hold->to == hold->high &&
                 hold->low >> PT_LEAF_BITS == (hold->high - 1) >> PT_LEAF_BITS;
    if (!whole || !clock || !seen || seen & PT_SHADOW_FINE || self->quick == UINT64_MAX ||
        !pt_thread_is_past(self, pt_shadow_access(seen)))
        return false;
    for (uintptr_t i = 1; i < count; i++)
        if (locked_word(&first[i]) != seen)
            return false;
    pt_thread_give(self, 2 * (int64_t)count);
    pt_thread_pass(self, pt_shadow_access(seen), (int64_t)count);
    pt_thread_release(self, pt_shadow_write(seen), (int64_t)count);
    uint64_t made = pt_shadow_pack((pt_clock_id)clock, (pt_clock_id)clock, 0xff);
    self->held = hold->outer;
    self->states++;
    for (uintptr_t i = 0; i < count; i++)
        pt_granule_unlock(&first[i], made);
    return true;
}

/* An access of one granule without anything watched: as below, without going through granules. */
static bool is_small(const struct pt_locked_range *hold)
{
    return hold->high - hold->low == 8 && !hold->watched && !hold->sync;
}

static void end_small(struct pt_thread *self, const struct pt_locked_range *hold, enum pt_event_kind kind,
                      const struct pt_site *site)
{
    pt_shadow_word *word = pt_shadow_peek(hold->low);
    unsigned bytes = touched_bytes(hold, hold->low);
    bool write = kind != PT_KIND_READ_AT;
    if (write)
        pt_granule_before_write(self, locked_word(word), bytes);
    else
        pt_granule_before_read(self, locked_word(word), bytes);
    if (self->slow)
        take_piece(self, kind, site, hold->from, hold->to - hold->from);
    self->held = hold->outer;
    pt_granule_end(self, word, locked_word(word), hold->low, bytes, write);
}

void pt_slow_end_read(struct pt_thread *self, struct pt_locked_range *hold, const struct pt_site *site)
{
    if (is_small(hold)) {
        end_small(self, hold, PT_KIND_READ_AT, site);
        return;
    }
    if (hold->watched)
        each_watched(self, hold, site, 0, check_read);
    take_clocks(self, hold, pt_granule_before_read);
    if (self->slow && hold->sync) {
        take_sync(self, hold, site);
    } else if (self->slow) {
        if (hold->watched)
            each_watched(self, hold, site, PT_KIND_READ, record_read);
        record_rest(self, hold, PT_KIND_READ_AT, site);
    }
    self->held = hold->outer;
    bool given = is_in_parts(self, hold);
    for (uintptr_t granule = hold->low; granule < hold->high; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        unsigned bytes = given ? 0 : touched_bytes(hold, granule);
        uint64_t seen = locked_word(word);
        pt_granule_unlock(word, bytes ? pt_granule_after_read(self, granule, seen, bytes) : seen);
    }
}

void pt_slow_end_write(struct pt_thread *self, struct pt_locked_range *hold, enum pt_event_kind kind,
                       const struct pt_site *site)
{
    if (!hold->watched && !hold->sync && write_alike(self, hold))
        return;
    /* A trace has one word for what is atomic and writes, and race_free is to find the same in it as here. */
    if (self->slow && hold->atomic)
        kind = PT_KIND_UPDATE;
    if (is_small(hold)) {
        end_small(self, hold, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);
        return;
    }
    take_clocks(self, hold, pt_granule_before_write);
    if (hold->watched)
        each_watched(self, hold, site, (int)kind, record_write);
    if (self->slow && hold->sync)
        take_sync(self, hold, site);
    else if (self->slow)
        record_rest(self, hold, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);
    self->held = hold->outer;
    if (is_in_parts(self, hold))
        unlock_all(hold, hold->high);
    else
        give_write_clocks(self, hold);
}

/* There is no value to read or write: an access that would leave the word as it is has happened when the word was seen.
 */
static bool sync_fast(struct pt_thread *self, uintptr_t at, bool write, int kind, const struct pt_site *site)
{
    pt_shadow_word *word = pt_fast_word(at, 4);
    if (!word)
        return false;
    bool counts = kind < PT_KIND_COUNT;
    /* acquire: partner of the release by which the last holder let go */
    uint64_t seen = pt_fast_await(word, atomic_load_explicit(word, memory_order_acquire));
    uint64_t marks = pt_fast_marks(self, at, 4);
    if (write ? pt_fast_write_is_known(self->quick, seen) && (seen & marks) == marks
              : pt_fast_read_is_known(self->quick, seen, marks) || pt_fast_read_is_between(self, seen, marks)) {
        self->states += counts;
        return true;
    }
    if (counts && pt_fast_lock_evaluated(self, word, seen, at, 4, write)) {
        pt_fast_end_evaluated_sync(self, word, seen, at, (enum pt_event_kind)kind, site, write);
        return true;
    }
    if (!pt_fast_is_passed(self, seen, pt_bytes_at(at, 4), write))
        return false;
    if (!pt_fast_lock_passed(self, word, seen)) {
        pt_fast_leave(self);
        return false;
    }
    self->states += counts;
    pt_fast_end_passed(self, word, at, 4, write, seen);
    return true;
}

void pt_slow_sync(const void *object, int kind, const struct pt_site *site)
{
    bool write = kind < PT_KIND_COUNT ? pt_op_writes(pt_kind_op((unsigned)kind)) : kind == PT_SYNC_QUIET_WRITE;
    if (!pt_is_active() || !pt_address_ok((uintptr_t)object))
        return;
    pt_gate_synced(object, kind);
    struct pt_thread *self = pt_thread_self();
    if (!self || self->busy || sync_fast(self, (uintptr_t)object, write, kind, site))
        return;
    struct pt_locked_range hold;
    pt_enter(self);
    if (pt_slow_begin(self, (uintptr_t)object, 4, write, &hold)) {
        hold.sync = (uint16_t)kind;
        if (write)
            pt_slow_end_write(self, &hold, PT_KIND_WRITE, site);
        else
            pt_slow_end_read(self, &hold, site);
    }
    pt_leave(self);
}
