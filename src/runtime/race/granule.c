/*
 * What an access makes of one granule. Nearly all are made without coming here: what is said already (pt_race_fast),
 * what is ordered (solo.c), what is simple to put into the granule's own cell (inplace.c). All else comes here, under
 * the granule's lock, and asks race/cell.h.
 *
 * Guarantee: what is reported is a race by race/cell.c's definition, always. What race/cell.c reports is reported, too,
 * but for the bounds below and what logs have forgotten (open.c).
 *
 * What a thread repeats in one region is recorded once: a read that is there already is not raised, unless there was a
 * race at that granule, and a write raises the clock of the last write. Neither is checked again: whoever came between
 * was checked against the first of them, which it cannot know but by a read that raced, and the pair of places is the
 * same. So a pair can be missed only if the second thread has learned, by a read that raced, of a moment in the middle
 * of the region in which the first one made its access: then these two threads have a race that is reported. (What a
 * read must not miss is a write to learn from, and a write must find who has read since: a granule's word changes with
 * every write by another thread or in another region, and with the first read by another thread than the last writer.)
 *
 * Cost: an access that a granule's own cell has of an earlier region, or that is simple to add to it: some 200 to 300
 * instructions, a lock, and one or two cache misses (inplace.c). Else that of race/cell.c: a thousand.
 */
#include "runtime/race/packed.h"

#include "runtime/race/log.h"

#include <string.h>

enum { MANY = 16 };

/* Of which bytes the thread's own entries say as much as the access would: it is among them, or, unless `exact`, there
 * are several already, and who races with it races with them. Made at that clock or later; `over` is the thread's own
 * if that is so, too: then whoever does not know the access does not know that write, and looks at what came before it.
 */
static unsigned bytes_said(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since, bool over,
                           bool exact, const struct pt_cell_access *access)
{
    unsigned same = 0, said = 0, count = 0, enough = PT_RACE_ENOUGH;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        bool writes = seen->access.kind & PT_CELL_WRITES;
        if (pt_epoch_thread(seen->at) != self->hb.id || pt_epoch_clock(seen->at) < since ||
            (seen->access.kind ^ access->kind) & PT_CELL_ATOMIC || seen->access.op != access->op ||
            !(seen->fresh || over))
            continue;
        count++;
        enough = seen->merged ? 1 : enough;
        if (!writes && access->kind & PT_CELL_WRITES)
            continue;
        if (seen->access.place == access->place && seen->access.kind == access->kind)
            same |= seen->access.bytes;
        said |= seen->access.bytes;
    }
    return count >= enough && !exact ? said : same;
}

/* Whether the last writes of these bytes are the thread's own, since that clock. */
static bool has_written(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since, unsigned bytes)
{
    for (unsigned i = 0; i < cell->written_count; i++)
        if (!cell->written[i].atomic && pt_epoch_thread(cell->written[i].stamp.at) == self->hb.id &&
            pt_epoch_clock(cell->written[i].stamp.at) >= since)
            bytes &= ~(unsigned)cell->written[i].bytes;
    return !bytes;
}

/* The same, so that the granule says all of it; a write's clock is then that of the last writes. */
bool pt_race_is_repeated(const struct pt_race_self *self, const struct pt_cell *cell, bool raced,
                         const struct pt_cell_access *access)
{
    uint64_t since = raced ? self->hb.clock : self->region; /* where there was a race all are exact */
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= since;
    if (access->kind & PT_CELL_WRITES && !has_written(self, cell, since, access->bytes))
        return false;
    return !(access->bytes & ~bytes_said(self, cell, since, over, raced, access));
}

static void locate(struct pt_race_step *access)
{
    if (!access->located)
        access->cell.place = pt_race_place_of(access->site);
    access->located = true;
}

void pt_race_fill_in(struct pt_race_self *self, struct pt_race_step *access)
{
    if (access->noted)
        return;
    access->noted = true;
    locate(access);
    access->cell.note = pt_race_note_now(self);
}

static unsigned kind_of(const struct pt_race_step *access)
{
    return access->cell.kind | (unsigned)access->cell.op << PT_RACE_OP_AT;
}

void pt_race_view_begin(struct pt_race_view *view)
{
    pt_cell_begin(&view->cell);
    view->cell.seen = view->seen;
    view->cell.cap = sizeof view->seen / sizeof *view->seen;
    view->cell.written = view->written;
    view->cell.written_cap = sizeof view->written / sizeof *view->written;
}

uint32_t pt_race_view_copy(struct pt_race_self *self, struct pt_race_view *view)
{
    uint32_t own = pt_race_cell_new(self);
    pt_race_cells[own].stamp++;
    view->cell.cap = 2;
    while (view->cell.cap < view->cell.count)
        view->cell.cap *= 2;
    view->cell.written_cap = view->cell.written_count;
    pt_cell_copy(&self->memory, &pt_race_cells[own].cell, &view->cell);
    return own;
}

/* Records in a view, which has references of its own, and makes a granule's own cell of it: in place of a packed one,
 * or of nothing (0). */
static uint64_t change_view(struct pt_race_self *self, struct pt_race_view *view, uint64_t old,
                            const struct pt_race_step *access, bool covers)
{
    pt_cell_record(&self->env, &view->cell, &self->hb, &access->cell, covers);
    if (view->cell.count > PT_RACE_MANY)
        pt_cell_thin(&view->cell);
    uint64_t made = pt_race_pack(self, view, old);
    if (made)
        return made;
    uint32_t own = pt_race_view_copy(self, view);
    for (unsigned i = 0; i < view->cell.written_count; i++)
        pt_hb_stamp_drop(&self->memory, &view->cell.written[i].stamp);
    if (old)
        pt_race_packed_free(self, (uint32_t)old & ~PT_RACE_PACKED, pt_race_packed_units_of(pt_race_packed_of(old)));
    return pt_race_word_made(own);
}

/* Under the lock of a granule that nothing is known of. Its word. */
static uint64_t begin_granule(struct pt_race_self *self, struct pt_race_step *access)
{
    uint64_t made = 0;
    if (!(access->cell.kind & PT_CELL_ATOMIC))
        made = pt_race_solo_change(self, 0, access->cell.bytes, kind_of(access), access->site);
    if (!made && !access->cell.op && !(access->cell.kind & PT_CELL_ATOMIC))
        made = pt_race_packed_begin(self, access->cell.bytes, access->cell.kind, access->site);
    if (made)
        return made;
    struct pt_race_view view;
    pt_race_fill_in(self, access);
    pt_race_view_begin(&view);
    return change_view(self, &view, 0, access, access->cell.kind & PT_CELL_WRITES);
}

/* Whether nothing of a cell with so many entries is to be kept but the write that is about to be made: it comes after
 * all of them and has all bytes. The granule then begins anew. */
static bool is_enough(const struct pt_race_step *access, uint32_t count, bool covers)
{
    return covers && access->cell.bytes == PT_CELL_WHOLE && count >= PT_RACE_MANY;
}

/* Makes a granule's own cell, not packed, of what its word says. */
uint32_t pt_race_own_cell(struct pt_race_self *self, uint64_t seen)
{
    if (pt_race_is_solo(seen))
        seen = pt_race_solo_open(self, seen);
    if (!seen)
        return pt_race_cell_new(self);
    if (!pt_race_is_packed(seen))
        return (uint32_t)seen;
    struct pt_race_view view;
    pt_race_unpack(&view, pt_race_packed_of(seen));
    uint32_t own = pt_race_view_copy(self, &view);
    pt_race_packed_end(self, seen);
    return own;
}

static const struct pt_hb_thread *checker(struct pt_race_self *self)
{
    if (!self->several)
        return &self->hb;
    if (!self->before.clock) { /* nothing was learned in the middle of this access yet */
        self->before = self->hb;
        pt_vec_ref(&self->memory, self->before.past);
    }
    return &self->before;
}

/* Records in a granule's own cell. */
uint64_t pt_race_change_own(struct pt_race_self *self, uint32_t own, struct pt_race_step *access, bool covers)
{
    struct pt_race_cell *cell = &pt_race_cells[own];
    bool races = self->met_count > 0;
    uint32_t count = cell->cell.count;
    pt_race_fill_in(self, access);
    cell->raced |= races;
    self->env.merge_from = cell->raced ? 0 : self->region; /* where there was a race all are exact */
    pt_cell_record(&self->env, &cell->cell, &self->hb, &access->cell, covers);
    self->env.merge_from = self->region;
    if (cell->cell.count > count && cell->cell.count > MANY && !cell->raced)
        pt_cell_thin(&cell->cell);
    cell->stamp++;
    if (races && access->cell.kind & PT_CELL_READS)
        pt_race_changed(self); /* it has learned of the write */
    return pt_race_word_made(own);
}

/* The thread remembers an access that it has made before in this region, and which bytes of a granule's own cell need
 * no more reads of it. */
static void note_said(struct pt_race_self *self, const struct pt_cell *cell, uint64_t made,
                      const struct pt_race_step *access, bool repeated)
{
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= self->region;
    struct pt_cell_access any = {.kind = PT_CELL_READS, .place = UINT32_MAX};
    if (repeated)
        pt_race_note_key(self, made, pt_race_key(access->site, access->cell.bytes, kind_of(access)));
    if (access->cell.kind & PT_CELL_WRITES || access->cell.bytes == PT_CELL_WHOLE)
        return;
    *pt_race_said_of(self, made) =
        (struct pt_race_said){made, self->version, (uint8_t)bytes_said(self, cell, self->region, over, false, &any)};
}

/* A write that is there already: only the clock of the last write is another. The word stays as it was, since what
 * others remember of it holds. */
void pt_race_rewrite_own(const struct pt_race_self *self, struct pt_cell *cell, unsigned bytes)
{
    pt_epoch now = pt_hb_now(&self->hb);
    for (unsigned i = 0; i < cell->written_count; i++)
        if (cell->written[i].bytes & bytes)
            cell->written[i].stamp.at = now;
    if (pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= self->region)
        cell->over = now;
}

static uint64_t change_packed(struct pt_race_self *self, uint64_t seen, struct pt_race_step *access)
{
    struct pt_race_view view;
    bool reads = !(access->cell.kind & PT_CELL_WRITES);
    uint64_t made = seen;
    pt_race_unpack(&view, pt_race_packed_of(seen));
    locate(access);
    bool covers = pt_cell_check(&self->env, &view.cell, checker(self), &access->cell);
    if (self->met_count)
        return pt_race_change_own(self, pt_race_own_cell(self, seen), access, covers);
    bool repeated = pt_race_is_repeated(self, &view.cell, false, &access->cell);
    if (repeated && !reads)
        pt_race_packed_rewrite(self, pt_race_packed_of(seen), access->cell.bytes);
    if (!repeated && is_enough(access, view.cell.count, covers)) {
        pt_race_packed_end(self, seen);
        return begin_granule(self, access);
    }
    if (!repeated) {
        pt_race_fill_in(self, access);
        made = change_view(self, &view, seen, access, covers);
    }
    note_said(self, &view.cell, made, access, repeated);
    return made;
}

static uint64_t change(struct pt_race_self *self, uint64_t seen, struct pt_race_step *access)
{
    if (!seen)
        return begin_granule(self, access);
    if (pt_race_is_solo(seen)) {
        /* In the middle of an access that has learned something, what it knew before counts: that is asked of cells. */
        uint64_t solo =
            self->before.clock ? 0 : pt_race_solo_change(self, seen, access->cell.bytes, kind_of(access), access->site);
        if (solo)
            return solo;
        seen = pt_race_solo_open(self, seen);
    }
    if (pt_race_is_packed(seen))
        return change_packed(self, seen, access);
    uint32_t from = (uint32_t)seen;
    struct pt_race_cell *cell = &pt_race_cells[from];
    locate(access);
    bool covers = pt_cell_check(&self->env, &cell->cell, checker(self), &access->cell);
    uint64_t made = seen;
    bool reads = !(access->cell.kind & PT_CELL_WRITES), races = self->met_count;
    bool repeated =
        !races && (reads || !cell->raced) && pt_race_is_repeated(self, &cell->cell, cell->raced, &access->cell);
    if (!races && !cell->raced && is_enough(access, cell->cell.count, covers)) {
        pt_race_cell_free(self, from);
        return begin_granule(self, access);
    }
    if (!repeated)
        made = pt_race_change_own(self, from, access, covers);
    else if (!reads)
        pt_race_rewrite_own(self, &cell->cell, access->cell.bytes);
    if (!cell->raced)
        note_said(self, &cell->cell, made, access, repeated);
    return made;
}

void pt_race_touch(struct pt_race_self *self, uintptr_t granule, struct pt_race_step *access)
{
    pt_race_word *word = pt_race_word_of(granule);
    if (!word)
        return;
    uint64_t seen = pt_race_lock_word(word);
    pt_race_unlock_word(word, change(self, seen, access));
    if (self->met_count)
        pt_race_report(self, granule, &access->cell);
}

struct pt_race_step pt_race_step_of(unsigned kind, const struct pt_site *site)
{
    static const struct pt_site unknown = {"", "", "", 0, 0, NULL};
    if (!site && __portent_calls.depth) /* of free and the like it is the call itself */
        site = __portent_calls.frames[(__portent_calls.depth - 1) % PT_CALLS];
    return (struct pt_race_step){
        .cell = {.kind = kind & 7, .op = (uint8_t)(kind >> PT_RACE_OP_AT), .order = PT_HB_RELAXED},
        .site = site ? site : &unknown};
}
