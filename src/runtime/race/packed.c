/*
 * Packed cells: what a granule's own cell says, without what it has in common with others. Places, kinds and bytes of
 * its accesses are its *form*, which is kept once; a granule has the clock, the stack and the locks of each, what it
 * knows of the last write, and which accesses are fresh. Mostly that is one cache line or two, where a cell with its
 * entries takes five, and forms are few and at hand.
 *
 * Guarantee: what was packed is unpacked as it was. Cells that raced, with atomic accesses, with more than one last
 * write or more than PT_RACE_SHAPE_SEEN entries are not packed; nor is any whose form would be one too many. Cost:
 * most accesses are made in place (inplace.c); any other is unpacked, made by race/cell.c and packed again. Forms are
 * never freed: 2^16 at most, of 128 bytes.
 */
#include "runtime/race/form.h"

#include <string.h>

#include "core/hash.h"
#include "runtime/sys/sys.h"

enum { FORM_BITS = 16 };

struct pt_race_form *pt_race_forms;
static _Atomic uint16_t *buckets;
static struct {
    struct pt_spin lock;
    uint32_t used;
} table = {.lock = PT_SPIN(PT_RANK_SITE)};

bool pt_race_packed_start(void)
{
    pt_race_forms = pt_sys_reserve_table(sizeof *pt_race_forms << FORM_BITS);
    buckets = pt_sys_reserve_table(sizeof *buckets << FORM_BITS);
    table.used = 1; /* 0 is none */
    return pt_race_forms && buckets;
}

void pt_race_packed_restart(void)
{
    pt_sys_empty(buckets, sizeof *buckets << FORM_BITS);
    pt_spin_reset(&table.lock);
    table.used = 1;
}

/* ---- forms ---- */

static uint64_t hash_form(const struct pt_race_form *form)
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

static bool make_form(struct pt_race_form *form, const struct pt_cell *cell)
{
    *form = (struct pt_race_form){.count = (uint8_t)cell->count, .written_count = cell->written_count};
    if (cell->count > PT_RACE_SHAPE_SEEN || cell->written_count > PT_CELL_BYTES)
        return false;
    for (unsigned i = 0; i < cell->written_count; i++) {
        form->written[i] = cell->written[i].bytes;
        if (cell->written[i].stamp.past != cell->written[0].stamp.past)
            return false;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_access *access = &cell->seen[i].access;
        form->seen[i] =
            (struct pt_race_kind){access->place, access->kind, access->bytes, access->op, cell->seen[i].merged};
        form->writes |= (uint8_t)((access->kind & PT_CELL_WRITES ? 1u : 0) << i);
    }
    return true;
}

static uint16_t look_up(uint16_t first, const struct pt_race_form *wanted)
{
    for (uint16_t id = first; id; id = pt_race_forms[id].next)
        if (pt_race_forms[id].hash == wanted->hash && pt_race_forms[id].count == wanted->count &&
            memcmp(pt_race_forms[id].written, wanted->written, sizeof wanted->written) == 0 &&
            memcmp(pt_race_forms[id].seen, wanted->seen, wanted->count * sizeof *wanted->seen) == 0)
            return id;
    return 0;
}

uint16_t pt_race_form_number(struct pt_race_form *form)
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
        pt_race_forms[id] = *form;
        atomic_store_explicit(bucket, id, memory_order_release);
    }
    pt_spin_unlock(&table.lock);
    return id;
}

/* ---- there and back ---- */

uint64_t pt_race_pack(struct pt_race_self *self, struct pt_race_view *view, uint64_t old)
{
    const struct pt_cell *cell = &view->cell;
    struct pt_race_form form;
    uint16_t id = make_form(&form, cell) ? pt_race_form_number(&form) : 0;
    uint32_t at = (uint32_t)old & ~PT_RACE_PACKED;
    unsigned units = pt_race_units_for(&form);
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
        pt_race_further(packed, &form)[i - 1] = cell->written[i].stamp.at;
        pt_vec_drop(&self->memory, packed->past);
    }
    return pt_race_word_made(at | PT_RACE_PACKED);
}

void pt_race_unpack(struct pt_race_view *view, struct pt_race_packed *packed)
{
    const struct pt_race_form *form = &pt_race_forms[packed->form];
    struct pt_cell *cell = &view->cell;
    *cell = (struct pt_cell){.over = packed->over,
                             .seen = view->seen,
                             .count = form->count,
                             .cap = sizeof view->seen / sizeof *view->seen,
                             .written = view->written,
                             .written_count = form->written_count,
                             .written_cap = sizeof view->written / sizeof *view->written};
    for (uint32_t i = 0; i < form->count; i++) {
        const struct pt_race_kind *kind = &form->seen[i];
        view->seen[i] = (struct pt_cell_seen){
            .at = packed->seen[i].at,
            .access = {.place = kind->place, .kind = kind->kind, .bytes = kind->bytes, .op = kind->op},
            .fresh = packed->fresh >> i & 1,
            .merged = kind->merged};
        view->seen[i].access.note.stack = packed->seen[i].stack;
        view->seen[i].access.note.locks = packed->seen[i].locks;
    }
    for (unsigned i = 0; i < form->written_count; i++) {
        pt_epoch at = i ? pt_race_further(packed, form)[i - 1] : packed->written;
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

/* ---- what an access makes of a form ---- */

void pt_race_fit_make(struct pt_race_fit *fit, uint64_t key, uint16_t id, unsigned bytes, unsigned kind,
                      const struct pt_site *site)
{
    const struct pt_race_form *form = &pt_race_forms[id];
    uint32_t place = pt_race_place_of(site);
    *fit = (struct pt_race_fit){.key = key, .form = id, .at = UINT8_MAX, .writes = form->writes, .only = UINT8_MAX};
    for (unsigned i = 0; i < form->count; i++) {
        const struct pt_race_kind *seen = &form->seen[i];
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

/* What becomes of the last writes by a write of these bytes, of an entry that has those of `with`, too. False: one is
 * only in part of them. */
static bool replace_written(const struct pt_race_form *form, unsigned bytes, unsigned with, struct pt_race_form *made,
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

void pt_race_fit_next(struct pt_race_fit *fit, unsigned at, unsigned bytes, unsigned kind)
{
    const struct pt_race_form *form = &pt_race_forms[fit->form];
    struct pt_race_form made = *form;
    struct pt_race_kind *mine = &made.seen[at];
    bool simple = true;
    fit->at = (uint8_t)at;
    fit->taken = (struct pt_race_taken){0};
    if (bytes & ~(unsigned)mine->bytes)
        mine->merged = true;
    mine->bytes |= (uint8_t)bytes;
    if (kind & PT_CELL_WRITES)
        simple = replace_written(form, bytes, mine->bytes == bytes ? 0 : mine->bytes, &made, &fit->taken);
    fit->to = simple && pt_race_units_for(&made) == pt_race_units_for(form) ? pt_race_form_number(&made) : 0;
    fit->quick =
        fit->to && form->written_count <= 1 && made.written_count == 1 && !fit->taken.absorbed && kind & PT_CELL_WRITES;
}

void pt_race_fit_longer(struct pt_race_fit *fit, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    const struct pt_race_form *form = &pt_race_forms[fit->form];
    struct pt_race_form made = *form;
    bool simple = form->count < PT_RACE_SHAPE_SEEN;
    fit->tried = true;
    fit->longer_taken = (struct pt_race_taken){0};
    if (simple) {
        made.seen[made.count] = (struct pt_race_kind){pt_race_place_of(site), (uint8_t)kind, (uint8_t)bytes, 0, 0};
        made.writes |= (uint8_t)((kind & PT_CELL_WRITES ? 1u : 0) << made.count++);
        if (kind & PT_CELL_WRITES)
            simple = replace_written(form, bytes, 0, &made, &fit->longer_taken);
    }
    fit->longer = simple ? pt_race_form_number(&made) : 0;
    fit->units = (uint8_t)pt_race_units_for(&made);
}
