/*
 * What an access makes of a granule that has a cell: one that raced, or has atomic accesses, or is used by a thread
 * without a log. All is done under the granule's lock, by race/cell.h.
 *
 * Guarantee: what is reported is a race by race/cell.c's definition, always, and what race/cell.c reports is reported,
 * but for this: what a thread repeats in one region is recorded once, unless there was a race at that granule. A read
 * that is there already is not raised, and a write raises the clock of the last write. Neither is checked again:
 * whoever came between was checked against the first of them, which it cannot know but by a read that raced, and the
 * pair of places is the same. (What a read must not miss is a write to learn from, and a write must find who has read
 * since: a granule's word changes with every write by another thread or in another region, and with the first read by
 * another thread than the last writer.)
 *
 * Cost: that of race/cell.c, some thousand instructions; a read that says nothing new ends before the lock.
 */
#include "runtime/race/log.h"

#include <string.h>

enum { MANY = 16, FEW = 8, ENOUGH = 16 /* accesses by one thread in one region that are kept by their places */ };

/* Of which bytes the thread's own entries say as much as the access would: it is among them, or there are several
 * already, and who races with it races with them. Made at that clock or later; `over` is the thread's own if that is
 * so, too: then whoever does not know the access does not know that write, and looks at what came before it. */
static unsigned bytes_said(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since, bool over,
                           bool raced, const struct pt_cell_access *access)
{
    unsigned same = 0, said = 0, count = 0, enough = ENOUGH;
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
    return count >= enough && !raced ? said : same;
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

/* From which clock on an access counts as made again. Where there was a race all are exact. */
static uint64_t since(const struct pt_race_self *self, const struct pt_race_cell *own)
{
    return own->raced ? self->hb.clock : self->region;
}

bool pt_race_is_repeated(const struct pt_race_self *self, const struct pt_race_cell *own,
                         const struct pt_cell_access *access)
{
    uint64_t from = since(self, own);
    const struct pt_cell *cell = &own->cell;
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= from;
    if (access->kind & PT_CELL_WRITES && !has_written(self, cell, from, access->bytes))
        return false;
    return !(access->bytes & ~bytes_said(self, cell, from, over, own->raced, access));
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
    if (!(access->cell.kind & PT_CELL_WRITES))
        self->log.read = self->hb.clock;
    if (races && access->cell.kind & PT_CELL_READS) { /* it has learned of the writes */
        atomic_store_explicit(&pt_race_learned, true, memory_order_relaxed);
        for (uint32_t i = 0; i < self->met_count; i++)
            pt_race_interrupt(pt_epoch_thread(self->met[i].at));
        pt_race_changed(self);
    }
    return pt_race_word_made(own);
}

/* The thread remembers the word that an access has left: while it is there, and the thread's region lasts, such an
 * access says nothing new. */
static void note_key(struct pt_race_self *self, uint64_t made, uint64_t key)
{
    self->noted = self->version;
    *pt_race_again_of(self, made, key) = (struct pt_race_again){key, made, self->version};
}

/* The thread remembers an access that it has made before in this region, and which bytes of a granule's own cell need
 * no more reads of it. */
static void note_said(struct pt_race_self *self, const struct pt_cell *cell, uint64_t made,
                      const struct pt_race_step *access, bool repeated)
{
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= self->region;
    struct pt_cell_access any = {.kind = PT_CELL_READS, .place = UINT32_MAX};
    if (repeated)
        note_key(self, made, pt_race_key(access->site, access->cell.bytes, kind_of(access)));
    if (access->cell.kind & PT_CELL_WRITES || access->cell.bytes == PT_CELL_WHOLE)
        return;
    *pt_race_said_of(self, made) =
        (struct pt_race_said){made, self->version, (uint8_t)bytes_said(self, cell, self->region, over, false, &any)};
}

/* Whether nothing of a cell is to be kept but the write that is about to be made: it comes after all that is there and
 * has all bytes. */
static bool begins_anew(const struct pt_race_self *self, const struct pt_race_cell *cell,
                        const struct pt_cell_access *access, bool covers)
{
    return covers && !self->met_count && !cell->raced && access->bytes == PT_CELL_WHOLE && cell->cell.count >= FEW;
}

/* The word of the granule, whose cell is this; `like` is what slots call the access. */
static uint64_t change(struct pt_race_self *self, uintptr_t granule, uint32_t own, struct pt_race_step *access,
                       uint64_t like)
{
    struct pt_race_cell *cell = &pt_race_cells[own];
    uint64_t made = pt_race_word_made(own);
    locate(access);
    bool covers = pt_cell_check(&self->env, &cell->cell, checker(self), &access->cell);
    bool reads = !(access->cell.kind & PT_CELL_WRITES), races = self->met_count;
    bool repeated = !races && (reads || !cell->raced) && pt_race_is_repeated(self, cell, &access->cell);
    if (like && begins_anew(self, cell, &access->cell, covers)) {
        pt_race_cell_free(self, own);
        pt_race_lose_replaced(granule);
        return like | PT_RACE_WROTE | PT_CELL_WHOLE;
    }
    if (!repeated)
        made = pt_race_change_own(self, own, access, covers);
    else if (!reads)
        pt_cell_rewrite(&cell->cell, &self->hb, access->cell.bytes, self->region);
    if (!cell->raced)
        note_said(self, &cell->cell, made, access, repeated);
    return made;
}

void pt_race_touch(struct pt_race_self *self, uintptr_t granule, struct pt_race_step *access)
{
    struct pt_race_granule *there = pt_race_granule_of(granule);
    if (!there)
        return;
    bool writes = access->cell.kind & PT_CELL_WRITES && access->cell.op == PT_RACE_OP_ACCESS;
    uint64_t like = self->log.ring && writes ? pt_race_find_written(self, access->site)->slot : 0;
    uint32_t own = pt_race_open(self, there, granule, pt_race_lock_word(&there->near[0]));
    pt_race_unlock_word(&there->near[0], change(self, granule, own, access, like));
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
