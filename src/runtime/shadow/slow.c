/*
 * The slow path: any access, of any size, watched or not. Locks its granules, in ascending order so that two accesses
 * never wait for each other in a circle, does algorithm A over all of them, and calls the hooks.
 *
 * Guarantee: the access, its clocks and its events are one step for all other threads. Cost: linear in the granules; a
 * slow thread calls a hook for each event.
 */
#include "runtime/shadow/slow.h"

#include <string.h>

#include "runtime/shadow/fast.h"
#include "runtime/shadow/kept.h"
#include "runtime/shadow/owned.h"
#include "runtime/shadow/path.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/watch.h"

static unsigned bytes_between(uintptr_t from, uintptr_t to, uintptr_t granule)
{
    unsigned bytes = 0xff;
    if (from >= granule + 8 || to <= granule)
        return 0;
    if (from > granule)
        bytes &= 0xffu << (from - granule);
    if (to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - to);
    return bytes;
}

static unsigned touched_bytes(const struct pt_locked_range *range, uintptr_t granule)
{
    return bytes_between(range->from, range->to, granule);
}

/* Two accesses of one variable are ordered if one writes, whichever of its bytes they touch (contract 3): a state has
 * one value of it. So who touches some bytes of a watched variable has the clocks of all. */
static unsigned ordered_bytes(const struct pt_locked_range *range, uintptr_t granule)
{
    return bytes_between(range->first, range->last, granule);
}

static uint64_t locked_word(pt_shadow_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed) & ~PT_SHADOW_LOCKED;
}

static uint32_t watches_of(uint64_t word)
{
    return word & PT_SHADOW_FINE ? pt_fines[pt_shadow_access(word)].watch : 0;
}

static void unlock_all(struct pt_locked_range *range, uintptr_t end)
{
    for (uintptr_t granule = range->low; granule < end; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        pt_granule_unlock(word, locked_word(word));
    }
}

/* Widens [low, high) to the watched variables in a granule that the access touches; true if it was wide enough. */
static bool wide_enough(struct pt_locked_range *range, uintptr_t granule, uintptr_t *low, uintptr_t *high)
{
    for (uint32_t node = watches_of(locked_word(pt_shadow_peek(granule))); node; node = pt_watch_nodes[node].next) {
        const struct pt_watched *watched = &pt_watched[pt_watch_nodes[node].object];
        uintptr_t address = pt_watch_address(watched);
        if (!address || address >= range->to || address + watched->size <= range->from)
            continue;
        range->watched = true;
        if (!watched->bit_size && address < range->first)
            range->first = address;
        if (!watched->bit_size && address + watched->size > range->last)
            range->last = address + watched->size;
        if ((address & ~(uintptr_t)7) < *low)
            *low = address & ~(uintptr_t)7;
        if (((address + watched->size + 7) & ~(uintptr_t)7) > *high)
            *high = (address + watched->size + 7) & ~(uintptr_t)7;
    }
    return *low == range->low && *high == range->high;
}

/* Readers of bytes that are not touched, but of a variable that is written, are to be known, too. */
static void collect_others(struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    for (uintptr_t granule = range->first & ~(uintptr_t)7; granule < range->last; granule += 8)
        if (!touched_bytes(range, granule))
            pt_granule_collect(self, locked_word(pt_shadow_peek(granule)));
}

/* What an evaluated access will look at when the granule is locked: asked for before, because locking it waits for all
 * that went before. */
static void expect(uintptr_t address)
{
    pt_shadow_word *word = pt_shadow_peek(address);
    uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;
    if (!(seen & PT_SHADOW_FINE))
        __builtin_prefetch((const void *)&pt_clock_homes[pt_shadow_access(seen)]);
}

bool pt_slow_begin(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                   struct pt_locked_range *range)
{
    *range = (struct pt_locked_range){.from = address,
                                      .to = address + size,
                                      .low = address & ~(uintptr_t)7,
                                      .high = (address + size + 7) & ~(uintptr_t)7};
    self->locked_word = NULL; /* nothing of an earlier access is left, should this one fault on its way */
    pt_sys_touch_stack();
    if (self->crowded && !self->locked)
        pt_readers_make_room(self);
    if (self->slow)
        expect(address);
    for (;;) {
        bool wide = true;
        uintptr_t low = range->low, high = range->high;
        range->first = range->from;
        range->last = range->to;
        uint64_t known = 0;
        pt_shadow_word *word = NULL;
        for (uintptr_t granule = range->low; granule < range->high; granule += 8) {
            word = word && !pt_shadow_starts_leaf(granule) ? word + 1 : pt_shadow_word_of(granule);
            if (!word) {
                unlock_all(range, granule);
                self->locked_word = NULL;
                return false;
            }
            uint64_t seen = pt_granule_lock_at(self, word, granule);
            known |= seen;
            if (!(seen & PT_SHADOW_FINE && touched_bytes(range, granule)))
                continue;
            wide &= wide_enough(range, granule, &low, &high);
            if (write)
                pt_granule_collect(self, seen);
        }
        range->bare = !known && self->records && !self->clock.id;
        if (wide)
            break;
        unlock_all(range, range->high);
        range->low = low;
        range->high = high;
        range->watched = false;
    }
    if (write && range->watched)
        collect_others(self, range);
    pt_owned_check(self, range->low, range->high, write);
    range->order = PT_MEMORY_NONE;
    range->outer = self->locked;
    self->locked = range;
    return true;
}

bool pt_slow_is_near_watched(uintptr_t address, size_t size)
{
    for (uintptr_t at = address & ~(uintptr_t)7; pt_address_ok(at) && at < address + size; at += 8) {
        pt_shadow_word *word = pt_shadow_peek(at);
        uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;
        if (watches_of(seen))
            return true;
    }
    return false;
}

void pt_slow_lost(uintptr_t address, size_t size)
{
    if (pt_slow_is_near_watched(address, size))
        pt_runtime_lost();
}

bool pt_slow_is_watched(struct pt_shadow_self *self, uintptr_t address, size_t size)
{
    struct pt_locked_range range;
    bool watched = false;
    pt_enter(self);
    if (pt_slow_begin(self, address, size, false, &range)) {
        watched = range.watched;
        self->locked = range.outer;
        unlock_all(&range, range.high);
    }
    pt_leave(self);
    return watched;
}

void pt_slow_suspend(struct pt_locked_range *range)
{
    for (; range; range = range->outer)
        if (!range->kept)
            unlock_all(range, range->high);
}

/* It may be one that writes. */
void pt_slow_resume(struct pt_shadow_self *self, struct pt_locked_range *range)
{
    for (; range; range = range->outer) {
        range->kept = false;
        for (uintptr_t granule = range->low; granule < range->high; granule += 8)
            pt_granule_collect(self, pt_granule_lock_at(self, pt_shadow_peek(granule), granule));
    }
}

/* Calls once for each watched variable that the access overlaps, in the granule where the overlap begins. */
static void each_watched(struct pt_shadow_self *self, const struct pt_locked_range *range, const struct pt_site *site,
                         int kind, void (*visit)(struct pt_shadow_self *, uint32_t, const struct pt_site *, int))
{
    for (uintptr_t granule = range->from & ~(uintptr_t)7; granule < range->to; granule += 8) {
        for (uint32_t node = watches_of(locked_word(pt_shadow_peek(granule))); node; node = pt_watch_nodes[node].next) {
            const struct pt_watched *watched = &pt_watched[pt_watch_nodes[node].object];
            uintptr_t address = pt_watch_address(watched), begin = address > range->from ? address : range->from;
            if (begin < range->to && begin < address + watched->size && (begin & ~(uintptr_t)7) == granule)
                visit(self, pt_watch_nodes[node].object, site, kind);
        }
    }
}

/* An access that touches watched variables is several events of a slow thread, one for each and for what lies between
 * them. Who then accesses one of them is to know of that event, not of the later ones: each part of the memory gets
 * its clocks after its own event, while all is still locked. */
static bool is_in_parts(const struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    return self->slow && range->watched && !range->sync;
}

static void give_out(struct pt_shadow_self *self, uintptr_t from, uintptr_t to, bool write)
{
    const struct pt_locked_range *range = self->locked;
    if (!is_in_parts(self, range))
        return;
    from = from > range->first ? from : range->first;
    to = to < range->last ? to : range->last;
    for (uintptr_t granule = from & ~(uintptr_t)7; granule < to; granule += 8) {
        pt_shadow_word *word = pt_shadow_peek(granule);
        unsigned bytes = bytes_between(from, to, granule);
        uint64_t made = write ? pt_granule_after_write(self, granule, locked_word(word), bytes)
                              : pt_granule_after_read(self, granule, locked_word(word), bytes);
        /* relaxed: it is locked, and nobody looks until it is unlocked */
        atomic_store_explicit(word, made | PT_SHADOW_LOCKED, memory_order_relaxed);
    }
}

static void give_out_watched(struct pt_shadow_self *self, const struct pt_watched *watched, bool write)
{
    if (!watched->bit_size) /* its bytes are others' too: they are part of the rest */
        give_out(self, pt_watch_address(watched), pt_watch_address(watched) + watched->size, write);
}

static void report_foreign(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site)
{
    if (!pt_watched[object].foreign)
        return;
    pt_watched[object].foreign = false;
    pt_shadow_hooks.foreign(self, pt_path_object(object), site);
}

static void record_write(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site, int kind)
{
    struct pt_watched *watched = &pt_watched[object];
    /* A bit-field is written together with its neighbours: only a change can tell that it was this one. */
    bool relevant = !watched->bit_size || pt_watch_field_changed(watched);
    memcpy(watched->last, (const void *)pt_watch_address(watched), watched->size);
    report_foreign(self, object, site);
    if (watched->is_link)
        pt_path_written(self, object, site);
    if (!relevant || watched->is_link)
        return;
    bool chained = pt_silence_lasts && !watched->given;
    if (chained)
        pt_shadow_take(self, watched->latest);
    pt_shadow_hooks.written(self, object, (enum pt_event_kind)kind, site);
    if (chained)
        pt_silence_lead(self, &watched->latest);
    give_out_watched(self, watched, true);
}

static void check_read(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site, int kind)
{
    (void)kind;
    pt_watched[object].foreign |= pt_watch_differs(self, object);
    report_foreign(self, object, site);
    if (__builtin_expect(pt_shadow_gated, 0) && !pt_watched[object].is_link)
        pt_shadow_hooks.gated_read(self, object);
}

/* The place of a store is known when it has been done. */
static void check_before_write(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site, int kind)
{
    (void)site, (void)kind;
    pt_watched[object].foreign |= pt_watch_differs(self, object);
}

static void record_read(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site, int kind)
{
    (void)kind;
    if (pt_watched[object].is_link)
        return;
    pt_shadow_hooks.read(self, object, site);
    give_out_watched(self, &pt_watched[object], false);
}

/* Bytes of a granule that lie in watched variables; bit-fields share theirs with variables that are not. */
static unsigned watched_bytes(const struct pt_locked_range *range, uintptr_t granule)
{
    unsigned bytes = 0;
    for (uint32_t node = watches_of(locked_word(pt_shadow_peek(granule))); node; node = pt_watch_nodes[node].next) {
        const struct pt_watched *watched = &pt_watched[pt_watch_nodes[node].object];
        uintptr_t address = pt_watch_address(watched);
        struct pt_locked_range part = {.from = address, .to = address + watched->size};
        if (!watched->bit_size && !watched->is_link && part.from < range->to && part.to > range->from)
            bytes |= touched_bytes(&part, granule);
    }
    return bytes;
}

static void take_piece(struct pt_shadow_self *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t from,
                       size_t size)
{
    if (!pt_slow_only_counts(self)) {
        struct pt_local_event what = {
            .kind = (uint16_t)kind, .object = PT_NO_OBJECT, .size = (uint32_t)size, .address = from, .site = site};
        pt_shadow_hooks.access(self, &what);
    }
    give_out(self, from, from + size, kind != PT_KIND_READ_AT);
}

static void take_sync(struct pt_shadow_self *self, const struct pt_locked_range *range, const struct pt_site *site)
{
    if (range->sync < PT_KIND_COUNT && !pt_slow_only_counts(self))
        pt_shadow_hooks.sync(self, (enum pt_event_kind)range->sync, range->from, site);
}

/* The events of a slow thread beside those of watched variables: the rest of the memory, in whole pieces. */
static void record_rest(struct pt_shadow_self *self, const struct pt_locked_range *range, enum pt_event_kind kind,
                        const struct pt_site *site)
{
    uintptr_t from = range->from;
    for (uintptr_t granule = range->from & ~(uintptr_t)7; range->watched && granule < range->to; granule += 8) {
        unsigned watched = watched_bytes(range, granule) & touched_bytes(range, granule);
        for (unsigned i = 0; watched >> i; i++) {
            if (!(watched >> i & 1))
                continue;
            if (from < granule + i)
                take_piece(self, kind, site, from, granule + i - from);
            from = granule + i + 1;
        }
    }
    if (from < range->to)
        take_piece(self, kind, site, from, range->to - from);
}

/* The word of a granule, given that of the granule before it or NULL. */
static pt_shadow_word *next_word(pt_shadow_word *before, uintptr_t granule)
{
    return before && !pt_shadow_starts_leaf(granule) ? before + 1 : pt_shadow_peek(granule);
}

/* Neighbours are mostly alike: a word says the same of every granule that is touched as a whole. */
static void take_clocks(struct pt_shadow_self *self, const struct pt_locked_range *range,
                        void (*take)(struct pt_shadow_self *self, uint64_t word, unsigned bytes))
{
    uint64_t taken = 0; /* which teaches nothing */
    pt_shadow_word *word = NULL;
    for (uintptr_t granule = range->first & ~(uintptr_t)7; granule < range->last; granule += 8) {
        word = next_word(word, granule);
        uint64_t seen = locked_word(word);
        unsigned bytes = ordered_bytes(range, granule);
        if (seen != taken)
            take(self, seen, bytes);
        taken = bytes == 0xff ? seen : 0;
    }
}

/* Whether the end of an access of a whole granule puts V_i into a word of which nothing else is to be found out, so
 * that of more such granules only references have to be moved. */
static bool ends_alike(struct pt_shadow_self *self, uint64_t seen, bool write)
{
    return seen && !(seen & PT_SHADOW_FINE) && self->clock.id && (write || pt_shadow_bytes(seen) == 0xff) &&
           pt_self_is_past(&self->clock, pt_shadow_access(seen));
}

/* So many words like this one now have V_i: their references are the thread's. */
static void settle_run(struct pt_shadow_self *self, uint64_t seen, int64_t count, bool write)
{
    if (!count)
        return;
    pt_self_pass(&self->clock, pt_shadow_access(seen), count);
    if (write)
        pt_self_release(&self->clock, pt_shadow_write(seen), count);
}

/*
 * The thread's clock into all granules of the access, which are unlocked. Runs of whole granules with the same word end
 * with the same word, too: references to V_i for all of them are taken at once before the first one is unlocked, and
 * those of the clocks that were there are given back when the run is over; until then nobody else has them. Where the
 * pages are the thread's, it keeps the granules.
 */
static void give_clocks(struct pt_shadow_self *self, const struct pt_locked_range *range, bool write)
{
    uint64_t run = 0, made = 0; /* 0: there is none */
    uint64_t keep = pt_kept_enter_range(self, range);
    int64_t alike = 0, bought = (int64_t)((range->high - range->low) >> 3) * (1 + write), used = 0;
    pt_shadow_word *word = NULL;
    if (self->clock.id)
        pt_self_give(&self->clock, bought);
    for (uintptr_t granule = range->low; granule < range->high; granule += 8) {
        word = next_word(word, granule);
        unsigned bytes = ordered_bytes(range, granule);
        uint64_t seen = locked_word(word);
        if (bytes == 0xff && seen == run && run) {
            alike++;
            pt_granule_unlock(word, made);
            continue;
        }
        settle_run(self, run, alike, write);
        used += alike * (1 + write);
        alike = 0;
        run = 0;
        if (bytes == 0xff && ends_alike(self, seen, write)) {
            run = seen;
            made = keep | pt_shadow_pack(self->clock.id, write ? self->clock.id : pt_shadow_write(seen), 0xff);
            alike = 1;
            pt_granule_unlock(word, made);
        } else if (bytes) {
            made = write ? pt_granule_after_write(self, granule, seen, bytes)
                         : pt_granule_after_read(self, granule, seen, bytes);
            pt_granule_unlock(word, keep && pt_kept_fits(self, made) ? made | keep : made);
        } else {
            pt_granule_unlock(word, seen);
        }
    }
    settle_run(self, run, alike, write);
    if (self->clock.id)
        self->clock.credit += bought - used - alike * (1 + write);
    if (keep)
        pt_kept_exit(self);
}

/* An access of one granule without anything watched: as below, without going through granules. */
static bool is_small(const struct pt_locked_range *range)
{
    return range->high - range->low == 8 && !range->watched && !range->sync;
}

static void end_small(struct pt_shadow_self *self, const struct pt_locked_range *range, enum pt_event_kind kind,
                      const struct pt_site *site)
{
    pt_shadow_word *word = pt_shadow_peek(range->low);
    unsigned bytes = touched_bytes(range, range->low);
    bool write = kind != PT_KIND_READ_AT;
    if (write)
        pt_granule_before_write(self, locked_word(word), bytes);
    else
        pt_granule_before_read(self, locked_word(word), bytes);
    if (self->slow)
        take_piece(self, kind, site, range->from, range->to - range->from);
    self->locked = range->outer;
    pt_granule_end(self, word, locked_word(word), range->low, bytes, write);
}

void pt_slow_check(struct pt_shadow_self *self, const struct pt_locked_range *range)
{
    if (self->records)
        pt_shadow_hooks.opens(self, range->from, range->to - range->from);
    if (range->watched)
        each_watched(self, range, NULL, 0, check_before_write);
}

/* The access is an event, and leaves no clocks. */
static void end_bare(struct pt_shadow_self *self, const struct pt_locked_range *range, enum pt_event_kind kind,
                     const struct pt_site *site)
{
    pt_shadow_word *word = NULL;
    take_piece(self, kind, site, range->from, range->to - range->from);
    self->locked = range->outer;
    for (uintptr_t granule = range->low; granule < range->high; granule += 8) {
        word = next_word(word, granule);
        pt_granule_unlock(word, locked_word(word)); /* what came there meanwhile, if the access had a fault, stays */
    }
}

void pt_slow_end_read(struct pt_shadow_self *self, struct pt_locked_range *range, const struct pt_site *site)
{
    if (range->bare && !range->sync) {
        end_bare(self, range, PT_KIND_READ_AT, site);
        return;
    }
    if (is_small(range)) {
        end_small(self, range, PT_KIND_READ_AT, site);
        return;
    }
    if (range->watched)
        each_watched(self, range, site, 0, check_read);
    take_clocks(self, range, pt_granule_before_read);
    if (self->slow && range->sync) {
        take_sync(self, range, site);
    } else if (self->slow) {
        if (range->watched)
            each_watched(self, range, site, PT_KIND_READ, record_read);
        record_rest(self, range, PT_KIND_READ_AT, site);
    }
    self->locked = range->outer;
    if (is_in_parts(self, range))
        unlock_all(range, range->high);
    else
        give_clocks(self, range, false);
}

void pt_slow_end_write(struct pt_shadow_self *self, struct pt_locked_range *range, enum pt_event_kind kind,
                       const struct pt_site *site)
{
    /* Properties have one word for what is atomic and writes; the record says that nothing was read. */
    if (self->slow && range->order && !range->sync && kind == PT_KIND_WRITE) {
        range->stores = true;
        kind = PT_KIND_UPDATE;
    }
    if (range->bare && !range->sync) {
        end_bare(self, range, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);
        return;
    }
    if (is_small(range)) {
        end_small(self, range, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);
        return;
    }
    take_clocks(self, range, pt_granule_before_write);
    if (range->watched)
        each_watched(self, range, site, (int)kind, record_write);
    if (self->slow && range->sync)
        take_sync(self, range, site);
    else if (self->slow)
        record_rest(self, range, kind == PT_KIND_UPDATE ? PT_KIND_UPDATE_AT : PT_KIND_WRITE_AT, site);
    self->locked = range->outer;
    if (is_in_parts(self, range))
        unlock_all(range, range->high);
    else
        give_clocks(self, range, true);
}

bool pt_slow_look(struct pt_shadow_self *self, uintptr_t address, size_t size, void *ret)
{
    struct pt_locked_range range;
    if (!pt_slow_begin(self, address, size, false, &range))
        return false;
    bool got = pt_sys_read_memory(ret, (const void *)address, size);
    take_clocks(self, &range, pt_granule_before_read);
    self->locked = range.outer;
    give_clocks(self, &range, false);
    return got;
}

void pt_slow_say(struct pt_shadow_self *self, uint32_t object, bool later, const struct pt_site *site)
{
    struct pt_watched *watched = &pt_watched[object];
    struct pt_locked_range range;
    uintptr_t address = pt_watch_address(watched);
    if (!address || !pt_slow_begin(self, address, watched->size, true, &range))
        return;
    take_clocks(self, &range, pt_granule_before_write);
    if (pt_watch_address(watched) == address) { /* its memory may have ended before all was locked */
        memcpy(watched->last, (const void *)address, watched->size);
        if (later)
            pt_shadow_hooks.written(self, object, PT_KIND_WRITE, site);
        else
            pt_shadow_hooks.initial(self, object);
    }
    self->locked = range.outer;
    give_clocks(self, &range, true);
}
