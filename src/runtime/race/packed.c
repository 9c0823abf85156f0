/*
 * Packed cells: what a granule's own cell says, without what it has in common with others. Places, kinds and bytes of
 * its accesses are its *form*, which is kept once; a granule has the clock, the stack and the locks of each, what it
 * knows of the last write, and which accesses are fresh. Mostly that is one cache line or two, where a cell with its
 * entries takes five, and forms are few and at hand.
 *
 * Guarantee: what was packed is unpacked as it was. Cells that raced, with atomic accesses, with more than one last
 * write or more than PT_RACE_SHAPE_SEEN entries are not packed; nor is any whose form would be one too many. Cost: an
 * access that a packed cell has already of an earlier region is a look-up of its form in the thread's cache (fits), and
 * as many comparisons as there are fresh accesses; any other is unpacked, made by race/cell.c and packed again. Forms
 * are never freed: 2^16 at most, of 128 bytes.
 */
#include "runtime/race/granule.h"

#include <string.h>

#include "core/hash.h"
#include "runtime/sys/sys.h"

enum { FORM_BITS = 16, UNIT = 16 };
#define COLD __attribute__((noinline))

struct kind { /* 8 bytes, all of them used */
    uint32_t place;
    uint8_t kind, bytes, op, merged;
};
struct form {
    uint64_t hash;
    uint16_t next; /* in its bucket */
    uint8_t count;
    uint8_t writes; /* a bit for each entry */
    uint8_t written_count;
    uint8_t written[PT_CELL_BYTES]; /* the bytes of each */
    struct kind seen[PT_RACE_SHAPE_SEEN];
};

static struct form *forms;
static _Atomic uint16_t *buckets;
static struct {
    struct pt_spin lock;
    uint32_t used;
} table = {.lock = PT_SPIN(PT_RANK_SITE)};

bool pt_race_packed_start(void)
{
    forms = pt_sys_reserve_table(sizeof *forms << FORM_BITS);
    buckets = pt_sys_reserve_table(sizeof *buckets << FORM_BITS);
    table.used = 1; /* 0 is none */
    return forms && buckets;
}

void pt_race_packed_restart(void)
{
    pt_sys_empty(buckets, sizeof *buckets << FORM_BITS);
    pt_spin_reset(&table.lock);
    table.used = 1;
}

/* ---- forms ---- */

static uint64_t hash_form(const struct form *form)
{
    uint64_t hash, word;
    memcpy(&hash, form->written, sizeof hash);
    for (unsigned i = 0; i < form->count; i++) {
        memcpy(&word, &form->seen[i], sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return pt_mix64(hash);
}

static bool make_form(struct form *form, const struct pt_cell *cell)
{
    *form = (struct form){.count = (uint8_t)cell->count, .written_count = cell->written_count};
    if (cell->count > PT_RACE_SHAPE_SEEN || cell->written_count > PT_CELL_BYTES)
        return false;
    for (unsigned i = 0; i < cell->written_count; i++) {
        form->written[i] = cell->written[i].bytes;
        if (cell->written[i].stamp.past != cell->written[0].stamp.past)
            return false;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_access *access = &cell->seen[i].access;
        form->seen[i] = (struct kind){access->place, access->kind, access->bytes, access->op, cell->seen[i].merged};
        form->writes |= (uint8_t)((access->kind & PT_CELL_WRITES ? 1u : 0) << i);
    }
    return true;
}

static uint16_t look_up(uint16_t first, const struct form *wanted)
{
    for (uint16_t id = first; id; id = forms[id].next)
        if (forms[id].hash == wanted->hash && forms[id].count == wanted->count &&
            memcmp(forms[id].written, wanted->written, sizeof wanted->written) == 0 &&
            memcmp(forms[id].seen, wanted->seen, wanted->count * sizeof *wanted->seen) == 0)
            return id;
    return 0;
}

/* 0: there are too many. */
static uint16_t intern(struct form *form)
{
    form->hash = hash_form(form);
    _Atomic uint16_t *bucket = &buckets[form->hash >> (64 - FORM_BITS)];
    /* acquire: partner of the release below */
    uint16_t id = look_up(atomic_load_explicit(bucket, memory_order_acquire), form);
    if (id)
        return id;
    pt_spin_lock(&table.lock);
    uint16_t first = atomic_load_explicit(bucket, memory_order_relaxed);
    id = look_up(first, form);
    if (!id && !(table.used >> FORM_BITS)) {
        id = (uint16_t)table.used++;
        form->next = first;
        forms[id] = *form;
        atomic_store_explicit(bucket, id, memory_order_release);
    }
    pt_spin_unlock(&table.lock);
    return id;
}

/* ---- there and back ---- */

/* Two at a time: every other entry that comes finds its room. */
static unsigned units_for(const struct form *form)
{
    size_t bytes = sizeof(struct pt_race_packed) + form->count * sizeof((struct pt_race_packed *)0)->seen[0];
    if (form->written_count > 1)
        bytes += (form->written_count - 1u) * sizeof(pt_epoch);
    return (unsigned)((bytes + 2 * UNIT - 1) / (2 * UNIT) * 2);
}

/* The last writes beside the first. */
static pt_epoch *further(struct pt_race_packed *packed, const struct form *form)
{
    return (pt_epoch *)(void *)&packed->seen[form->count];
}

uint64_t pt_race_pack(struct pt_race_self *self, struct pt_race_view *view, uint64_t old)
{
    const struct pt_cell *cell = &view->cell;
    struct form form;
    uint16_t id = make_form(&form, cell) ? intern(&form) : 0;
    uint32_t at = (uint32_t)old & ~PT_RACE_PACKED;
    unsigned units = units_for(&form);
    if (!id)
        return 0;
    if (!old || pt_race_packed_at(at)->units != units) {
        uint32_t made = pt_race_packed_new(self, units);
        if (!made)
            return 0;
        if (old)
            pt_race_packed_free(self, at, pt_race_packed_at(at)->units);
        at = made;
    }
    struct pt_race_packed *packed = pt_race_packed_at(at);
    packed->over = cell->over;
    packed->written = cell->written_count ? cell->written[0].stamp.at : 0;
    packed->past = cell->written_count ? cell->written[0].stamp.past : NULL;
    packed->stamp++;
    packed->form = id;
    packed->fresh = 0;
    packed->units = (uint8_t)units;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        packed->fresh |= (uint8_t)((seen->fresh ? 1u : 0) << i);
        packed->seen[i].at = seen->at;
        packed->seen[i].stack = seen->access.note.stack;
        packed->seen[i].locks = seen->access.note.locks;
    }
    for (unsigned i = 1; i < cell->written_count; i++) { /* one reference is enough for all */
        further(packed, &form)[i - 1] = cell->written[i].stamp.at;
        pt_vec_drop(&self->memory, packed->past);
    }
    return pt_race_word_made(at | PT_RACE_PACKED);
}

void pt_race_unpack(struct pt_race_view *view, struct pt_race_packed *packed)
{
    const struct form *form = &forms[packed->form];
    struct pt_cell *cell = &view->cell;
    *cell = (struct pt_cell){.over = packed->over,
                             .seen = view->seen,
                             .count = form->count,
                             .cap = sizeof view->seen / sizeof *view->seen,
                             .written = view->written,
                             .written_count = form->written_count,
                             .written_cap = sizeof view->written / sizeof *view->written};
    for (uint32_t i = 0; i < form->count; i++) {
        const struct kind *kind = &form->seen[i];
        view->seen[i] = (struct pt_cell_seen){
            .at = packed->seen[i].at,
            .access = {.place = kind->place, .kind = kind->kind, .bytes = kind->bytes, .op = kind->op},
            .fresh = packed->fresh >> i & 1,
            .merged = kind->merged};
        view->seen[i].access.note.stack = packed->seen[i].stack;
        view->seen[i].access.note.locks = packed->seen[i].locks;
    }
    for (unsigned i = 0; i < form->written_count; i++) {
        pt_epoch at = i ? further(packed, form)[i - 1] : packed->written;
        view->written[i] = (struct pt_cell_written){.stamp = {at, packed->past}, .bytes = form->written[i]};
    }
    pt_cell_arrange(cell);
}

void pt_race_packed_end(struct pt_race_self *self, uint64_t word)
{
    struct pt_race_packed *packed = pt_race_packed_of(word);
    pt_vec_drop(&self->memory, packed->past);
    pt_race_packed_free(self, (uint32_t)word & ~PT_RACE_PACKED, packed->units);
}

/* ---- in place ---- */

void pt_race_packed_rewrite(const struct pt_race_self *self, struct pt_race_packed *packed, unsigned bytes)
{
    const struct form *form = &forms[packed->form];
    pt_epoch now = pt_hb_now(&self->hb);
    if (form->written[0] & bytes)
        packed->written = now;
    for (unsigned i = 1; i < form->written_count; i++)
        if (form->written[i] & bytes)
            further(packed, form)[i - 1] = now;
    if (pt_epoch_thread(packed->over) == self->hb.id && pt_epoch_clock(packed->over) >= self->region)
        packed->over = now;
}

static COLD void make_fit(struct pt_race_fit *fit, uint64_t key, uint16_t id, unsigned bytes, unsigned kind,
                          const struct pt_site *site)
{
    const struct form *form = &forms[id];
    uint32_t place = pt_race_place_of(site);
    *fit = (struct pt_race_fit){.key = key, .form = id, .at = UINT8_MAX, .writes = form->writes, .only = UINT8_MAX};
    for (unsigned i = 0; i < form->count; i++) {
        const struct kind *seen = &form->seen[i];
        if (seen->merged)
            fit->merged |= (uint8_t)(1u << i);
        if (seen->place != place || seen->kind != kind || seen->op)
            continue;
        fit->alike |= (uint8_t)(1u << i);
        if (seen->bytes == bytes)
            fit->same |= (uint8_t)(1u << i);
        if (seen->bytes == bytes && !seen->merged)
            fit->single |= (uint8_t)(1u << i);
    }
    if (fit->same == fit->alike && fit->same && !(fit->same & (fit->same - 1)))
        fit->only = (uint8_t)__builtin_ctz(fit->same);
}

static inline struct pt_race_fit *fit_of(struct pt_race_self *self, uint16_t id, unsigned bytes, unsigned kind,
                                         const struct pt_site *site)
{
    uint64_t key = pt_race_key(site, bytes, kind), mixed = (key ^ (uint64_t)id << 29) * UINT64_C(0x9e3779b97f4a7c15);
    struct pt_race_fit *fit = &self->fits[mixed >> (64 - PT_RACE_FIT_BITS)];
    if (__builtin_expect(fit->key != key || fit->form != id, 0))
        make_fit(fit, key, id, bytes, kind, site);
    return fit;
}

static inline bool knows_all(const struct pt_race_self *self, const struct pt_race_packed *packed, unsigned which)
{
    for (; which; which &= which - 1)
        if (!pt_hb_knows(&self->hb, packed->seen[__builtin_ctz(which)].at))
            return false;
    return true;
}

/* What becomes of the last writes by a write of these bytes, of an entry that has those of `with`, too. False: one is
 * only in part of them. */
static bool replace_written(const struct form *form, unsigned bytes, unsigned with, struct form *made,
                            struct pt_race_taken *ret_taken)
{
    uint8_t mine = (uint8_t)bytes, kept = 0;
    memset(made->written, 0, sizeof made->written);
    for (unsigned i = 0; i < form->written_count; i++) {
        unsigned there = form->written[i];
        if (there & ~bytes & ~with) {
            made->written[kept++] = (uint8_t)there;
            if (there & bytes)
                return false;
            continue;
        }
        ret_taken->replaced |= (uint8_t)(1u << i);
        if (there & ~bytes)
            ret_taken->absorbed |= (uint8_t)(1u << i);
        mine |= (uint8_t)there;
    }
    made->written[kept++] = mine;
    made->written_count = kept;
    return true;
}

/* What form there is after the access has become one with that entry. */
static COLD void find_next(struct pt_race_fit *fit, unsigned at, unsigned bytes, unsigned kind)
{
    const struct form *form = &forms[fit->form];
    struct form made = *form;
    struct kind *mine = &made.seen[at];
    bool simple = true;
    fit->at = (uint8_t)at;
    fit->taken = (struct pt_race_taken){0};
    if (bytes & ~(unsigned)mine->bytes)
        mine->merged = true;
    mine->bytes |= (uint8_t)bytes;
    if (kind & PT_CELL_WRITES)
        simple = replace_written(form, bytes, mine->bytes == bytes ? 0 : mine->bytes, &made, &fit->taken);
    fit->to = simple && units_for(&made) == units_for(form) ? intern(&made) : 0;
}

/* And after it has become an entry of its own. */
static COLD void find_longer(struct pt_race_fit *fit, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    const struct form *form = &forms[fit->form];
    struct form made = *form;
    bool simple = form->count < PT_RACE_SHAPE_SEEN;
    fit->tried = true;
    fit->longer_taken = (struct pt_race_taken){0};
    if (simple) {
        made.seen[made.count] = (struct kind){pt_race_place_of(site), (uint8_t)kind, (uint8_t)bytes, 0, 0};
        made.writes |= (uint8_t)((kind & PT_CELL_WRITES ? 1u : 0) << made.count++);
        if (kind & PT_CELL_WRITES)
            simple = replace_written(form, bytes, 0, &made, &fit->longer_taken);
    }
    fit->longer = simple ? intern(&made) : 0;
    fit->units = (uint8_t)units_for(&made);
}

/* The last writes, of which a write by the thread takes the place of some. How many there are then; 0: it cannot be
 * done in place. */
static unsigned gather(const struct pt_race_self *self, struct pt_race_packed *packed, struct pt_race_taken taken,
                       pt_epoch *kept)
{
    const struct form *form = &forms[packed->form];
    unsigned count = 0;
    for (unsigned i = 0; i < form->written_count; i++) {
        pt_epoch at = i ? further(packed, form)[i - 1] : packed->written;
        if (taken.absorbed >> i & 1 && (pt_epoch_thread(at) != self->hb.id || pt_epoch_clock(at) < self->region))
            return 0;
        if (!(taken.replaced >> i & 1))
            kept[count++] = at;
    }
    if (count > 0 && packed->past != self->hb.past)
        return 0;
    kept[count++] = pt_hb_now(&self->hb);
    return count;
}

/* The write has become part of the cell, which has the form that it is to have. */
static inline void settle_write(struct pt_race_self *self, struct pt_race_packed *packed, const pt_epoch *kept,
                                unsigned count)
{
    packed->written = kept[0];
    for (unsigned i = 1; i < count; i++)
        further(packed, &forms[packed->form])[i - 1] = kept[i];
    if (packed->past != self->hb.past) {
        pt_vec_drop(&self->memory, packed->past);
        packed->past = pt_vec_ref(&self->memory, self->hb.past);
    }
    packed->fresh = 0;
    packed->over = pt_hb_now(&self->hb);
    packed->stamp++;
}

/* What find_mine says where there is no entry: it becomes one of its own, or it is not that simple. */
enum { NONE = PT_RACE_SHAPE_SEEN, NOT_SIMPLE };

/* The entry with which the access becomes one: the thread's, the same of whatever region, or the only one alike if it
 * is of this region; or another thread's that comes before it (race/cell.h, any_thread). */
static inline unsigned find_mine(const struct pt_race_self *self, const struct pt_race_packed *packed,
                                 const struct pt_race_fit *fit)
{
    unsigned found = NONE, older = 0;
    if (__builtin_expect(fit->only < NONE, 1)) {
        pt_epoch at = packed->seen[fit->only].at;
        return pt_epoch_thread(at) == self->hb.id || (self->env.any_thread && fit->single && pt_hb_knows(&self->hb, at))
                   ? fit->only
                   : NONE;
    }
    for (unsigned which = fit->same; which; which &= which - 1)
        if (pt_epoch_thread(packed->seen[__builtin_ctz(which)].at) == self->hb.id)
            return (unsigned)__builtin_ctz(which);
    for (unsigned which = fit->alike; which; which &= which - 1) {
        unsigned at = (unsigned)__builtin_ctz(which);
        if (pt_epoch_thread(packed->seen[at].at) != self->hb.id)
            continue;
        if (pt_epoch_clock(packed->seen[at].at) < self->region)
            older++;
        else if (found != NONE)
            return NOT_SIMPLE;
        else
            found = at;
    }
    if (found != NONE)
        return older ? NOT_SIMPLE : found;
    for (unsigned which = self->env.any_thread ? fit->single : 0; which; which &= which - 1)
        if (pt_hb_knows(&self->hb, packed->seen[__builtin_ctz(which)].at))
            return (unsigned)__builtin_ctz(which);
    return NONE;
}

/* Whether nobody but the last writer has read since: it then has to look at the granule when it writes again. */
static inline bool is_first_reader(const struct pt_race_self *self, const struct pt_race_packed *packed)
{
    uint32_t writer = pt_epoch_thread(packed->over);
    if (writer == self->hb.id)
        return false;
    for (unsigned which = packed->fresh; which; which &= which - 1)
        if (pt_epoch_thread(packed->seen[__builtin_ctz(which)].at) != writer)
            return false;
    return true;
}

static inline void note(struct pt_race_self *self, struct pt_race_packed *packed, unsigned at)
{
    packed->seen[at].stack = __portent_calls.depth ? pt_race_stack_of(self) : 0;
    packed->seen[at].locks = self->lock_set != UINT32_MAX ? self->lock_set : pt_race_locks_now(self);
}

/* The access becomes one with an entry. */
static inline bool raise_entry(struct pt_race_self *self, struct pt_race_packed *packed, struct pt_race_fit *fit,
                               unsigned at, unsigned bytes, unsigned kind, bool *ret_again)
{
    bool writes = kind & PT_CELL_WRITES, same = fit->same >> at & 1;
    *ret_again =
        pt_epoch_thread(packed->seen[at].at) == self->hb.id && pt_epoch_clock(packed->seen[at].at) >= self->region;
    if (!writes && same) {
        if (packed->fresh >> at & 1 && *ret_again)
            return true;
    } else {
        pt_epoch kept[PT_CELL_BYTES + 1];
        unsigned count = 0;
        if (fit->at != at)
            find_next(fit, at, bytes, kind);
        if (!fit->to || (writes && (count = gather(self, packed, fit->taken, kept)) == 0))
            return false;
        packed->form = fit->to;
        if (writes)
            settle_write(self, packed, kept, count);
    }
    if (!writes) {
        packed->stamp += is_first_reader(self, packed);
        packed->fresh |= (uint8_t)(1u << at);
    }
    if (same)
        packed->seen[at].at = pt_hb_now(&self->hb);
    note(self, packed, at);
    return true;
}

/* As bytes_said and has_written in granule.c, where one of the thread's entries is of several accesses. */
static COLD bool is_said(struct pt_race_self *self, uint64_t seen, const struct pt_race_fit *fit, unsigned bytes,
                         bool writes)
{
    struct pt_race_packed *packed = pt_race_packed_of(seen);
    const struct form *form = &forms[packed->form];
    bool over = pt_epoch_thread(packed->over) == self->hb.id && pt_epoch_clock(packed->over) >= self->region;
    unsigned mine = 0, said = 0, left = bytes;
    for (unsigned i = 0; i < form->count; i++) {
        pt_epoch at = packed->seen[i].at;
        if (pt_epoch_thread(at) != self->hb.id || pt_epoch_clock(at) < self->region || form->seen[i].op ||
            !(packed->fresh >> i & 1 || over))
            continue;
        mine |= 1u << i;
        if (!writes || form->writes >> i & 1)
            said |= form->seen[i].bytes;
    }
    if (!(mine & fit->merged) || bytes & ~said)
        return false;
    if (!writes) {
        if (bytes != PT_CELL_WHOLE)
            *pt_race_said_of(self, seen) = (struct pt_race_said){seen, self->version, (uint8_t)said};
        return true;
    }
    for (unsigned i = 0; i < form->written_count; i++) {
        pt_epoch at = i ? further(packed, form)[i - 1] : packed->written;
        if (pt_epoch_thread(at) == self->hb.id && pt_epoch_clock(at) >= self->region)
            left &= ~(unsigned)form->written[i];
    }
    if (left)
        return false;
    pt_race_packed_rewrite(self, packed, bytes);
    return true;
}

/* The access becomes an entry of its own, of a cell that may move for it. Its word; 0: nothing has happened. */
static uint64_t append(struct pt_race_self *self, uint32_t cell, struct pt_race_fit *fit, unsigned bytes, unsigned kind,
                       const struct pt_site *site)
{
    struct pt_race_packed *packed = pt_race_packed_at(cell);
    bool writes = kind & PT_CELL_WRITES;
    pt_epoch kept[PT_CELL_BYTES + 1];
    if (!fit->tried)
        find_longer(fit, bytes, kind, site);
    if (!fit->longer)
        return 0;
    const struct form *form = &forms[packed->form];
    unsigned count = form->written_count, at = form->count;
    if (writes && (count = gather(self, packed, fit->longer_taken, kept)) == 0)
        return 0;
    for (unsigned i = 1; !writes && i < count; i++) /* the first stays where it is */
        kept[i] = further(packed, form)[i - 1];
    if (packed->units != fit->units) {
        uint32_t moved = pt_race_packed_new(self, fit->units);
        if (!moved)
            return 0;
        struct pt_race_packed *to = pt_race_packed_at(moved);
        uint32_t stamp = to->stamp;
        memcpy(to, packed, sizeof *packed + at * sizeof *packed->seen);
        to->stamp = stamp;
        to->units = fit->units;
        pt_race_packed_free(self, cell, packed->units);
        packed = to;
        cell = moved;
    }
    packed->form = fit->longer;
    if (writes) {
        settle_write(self, packed, kept, count);
    } else {
        for (unsigned i = 1; i < count; i++)
            further(packed, &forms[fit->longer])[i - 1] = kept[i];
        packed->fresh |= (uint8_t)(1u << at);
        packed->stamp++;
    }
    packed->seen[at].at = pt_hb_now(&self->hb);
    note(self, packed, at);
    return pt_race_word_made(cell | PT_RACE_PACKED);
}

uint64_t pt_race_packed_make(struct pt_race_self *self, uint64_t seen, unsigned bytes, unsigned kind,
                             const struct pt_site *site, bool *ret_again)
{
    struct pt_race_packed *packed = pt_race_packed_of(seen);
    struct pt_race_fit *fit = fit_of(self, packed->form, bytes, kind, site);
    bool writes = kind & PT_CELL_WRITES;
    if (!pt_hb_knows(&self->hb, packed->over) ||
        !knows_all(self, packed, packed->fresh & (writes ? 0xffu : fit->writes)))
        return 0;
    unsigned at = find_mine(self, packed, fit);
    if (__builtin_expect(at < NONE, 1))
        return raise_entry(self, packed, fit, at, bytes, kind, ret_again) ? pt_race_word_made((uint32_t)seen) : 0;
    if (at == NOT_SIMPLE)
        return 0;
    if (fit->merged && is_said(self, seen, fit, bytes, writes)) {
        *ret_again = true;
        return seen;
    }
    return append(self, (uint32_t)seen & ~PT_RACE_PACKED, fit, bytes, kind, site);
}

uint64_t pt_race_packed_begin(struct pt_race_self *self, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct pt_race_fit *fit = fit_of(self, 0, bytes, kind, site); /* form 0 has no entries */
    if (!fit->tried)
        find_longer(fit, bytes, kind, site);
    uint32_t cell = fit->longer ? pt_race_packed_new(self, fit->units) : 0;
    if (!cell)
        return 0;
    struct pt_race_packed *packed = pt_race_packed_at(cell);
    *packed = (struct pt_race_packed){.stamp = packed->stamp, .units = fit->units};
    return append(self, cell, fit, bytes, kind, site);
}
