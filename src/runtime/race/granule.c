/*
 * What an access makes of one granule. The fast path (pt_race_fast) is a transition that the thread remembers; all else
 * comes here, under the granule's lock, and asks race/cell.h.
 *
 * Guarantee: what is reported is a race by race/cell.c's definition, always. What race/cell.c reports is reported, too,
 * where cells are granules' own, but for the bound below. A shape has of each access the clock of the first granule on
 * which it was made in its region, which is a lower bound for the others; only the last write's is exact, in the word.
 * So a pair can be missed only if the second thread has learned, by a read that raced, of a moment in the middle of the
 * region in which the first one made its access: then these two threads have a race that is reported.
 *
 * What a thread repeats in one region is recorded once: a read that is there already is not raised, unless there was a
 * race at that granule, and a write raises the clock of the last write. Neither is checked again: whoever came between
 * was checked against the first of them, which it cannot know but by a read that raced, and the pair of places is the
 * same. So the bound above is that of granules' own cells, too. (What a read must not miss is a write to learn from,
 * and a write must find who has read since: a granule's word changes with every write by another thread or in another
 * region, and with the first read by another thread than the last writer.) A shape is made when a thread repeats an
 * access in one region, of another granule with the same cell, the first of which gets a packed cell of its own
 * (packed.c); and of a read at once where a neighbour has the same shape.
 *
 * Cost: fast, some 50 instructions with the hook and, unless it is a repeated read, one compare-and-swap; 40 more for a
 * transition to another shape. An access that a granule's own cell has of an earlier region, or that is simple to add
 * to it: some 200 to 300, a lock, and one or two cache misses (inplace.c). Else that of race/cell.c: a thousand.
 */
#include "runtime/race/packed.h"

#include <string.h>

enum { MANY = 16 };

/* ---- references to shapes ---- */

void pt_race_drop(struct pt_race_self *self, uint32_t cell, int64_t count)
{
    /* acq_rel: who frees it has seen all that others did with it */
    if (atomic_fetch_sub_explicit(&pt_race_cells[cell].refs, count, memory_order_acq_rel) == count)
        pt_race_cell_free(self, cell);
}

static void forget_entry(struct pt_race_self *self, struct pt_race_entry *entry)
{
    uint32_t from = entry->from, to = entry->to, credit = entry->credit;
    entry->key = 0;
    if (!to)
        return;
    if (from)
        pt_race_drop(self, from, 1 + (to != from ? (int64_t)PT_RACE_CREDIT - credit : 0));
    if (to != from)
        pt_race_drop(self, to, credit);
    entry->to = entry->from = 0;
}

void pt_race_cache_flush(struct pt_race_self *self)
{
    for (unsigned i = 0; i < 1u << PT_RACE_CACHE_BITS; i++) {
        forget_entry(self, &self->cache[i]);
        self->cache[i] = (struct pt_race_entry){0};
    }
}

/* ---- what a shape says of one granule ---- */

void pt_race_look(struct pt_race_view *view, const struct pt_race_cell *shape, uint64_t delta)
{
    view->cell = shape->cell;
    memcpy(view->seen, shape->cell.seen, shape->cell.count * sizeof *view->seen);
    view->cell.seen = view->seen;
    view->cell.cap = sizeof view->seen / sizeof *view->seen;
    view->cell.written = view->written;
    view->cell.written_cap = sizeof view->written / sizeof *view->written;
    if (!shape->cell.written_count)
        return;
    view->written[0] = shape->cell.written[0];
    pt_epoch base = view->written[0].stamp.at;
    view->written[0].stamp.at += delta;
    if (shape->exact != PT_RACE_NO_ENTRY)
        view->seen[shape->exact].at = view->written[0].stamp.at;
    if (view->cell.over == base)
        view->cell.over = view->written[0].stamp.at;
}

/* Of which bytes the thread's own entries say as much as the access would: it is among them, or there are several
 * already, and who races with it races with them. Made at that clock or later; `over` is the thread's own if that is
 * so, too: then whoever does not know the access does not know that write, and looks at what came before it. */
static unsigned bytes_said(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since, bool over,
                           const struct pt_cell_access *access)
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
    return count >= enough ? said : same;
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
bool pt_race_is_repeated(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since,
                         const struct pt_cell_access *access)
{
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= since;
    if (access->kind & PT_CELL_WRITES && !has_written(self, cell, since, access->bytes))
        return false;
    return !(access->bytes & ~bytes_said(self, cell, since, over, access));
}

/* ---- transitions ---- */

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

static struct pt_race_entry *new_entry(struct pt_race_self *self, const struct pt_race_step *access, uint32_t from)
{
    uint64_t key = pt_race_key(access->site, access->cell.bytes, kind_of(access));
    struct pt_race_entry *entry = pt_race_entry_of(self, key, from);
    forget_entry(self, entry);
    *entry = (struct pt_race_entry){
        .key = key, .version = self->version, .calls = pt_race_calls(), .from = from, .known = PT_RACE_DELTA_MAX};
    return entry;
}

/* Up to which clock of the shape's writer the thread knows it. */
uint64_t pt_race_known_of(const struct pt_race_self *self, const struct pt_cell *cell)
{
    if (!cell->written_count)
        return PT_RACE_DELTA_MAX;
    uint32_t writer = pt_epoch_thread(cell->written[0].stamp.at);
    uint64_t base = pt_epoch_clock(cell->written[0].stamp.at), most = base + PT_RACE_DELTA_MAX;
    uint64_t known = writer == self->hb.id ? most : pt_vec_at(self->hb.past, writer);
    return known < most ? known : most;
}

static struct pt_race_entry *remember(struct pt_race_self *self, const struct pt_race_step *access, uint32_t from,
                                      uint32_t to)
{
    struct pt_race_entry *entry = new_entry(self, access, from);
    entry->to = to;
    entry->made = access->cell.kind & PT_CELL_WRITES ? pt_race_base_of(&pt_race_cells[to].cell) : 0;
    if (from) {
        entry->base = pt_race_base_of(&pt_race_cells[from].cell);
        entry->known = pt_race_known_of(self, &pt_race_cells[from].cell);
        atomic_fetch_add_explicit(&pt_race_cells[from].refs, 1, memory_order_relaxed);
    }
    if (to != from) {
        entry->credit = PT_RACE_CREDIT;
        atomic_fetch_add_explicit(&pt_race_cells[to].refs, PT_RACE_CREDIT, memory_order_relaxed);
    }
    return entry;
}

/* The only write entry of the last writer, whose clock is that of the last write. */
static uint8_t exact_of(const struct pt_cell *cell)
{
    uint8_t exact = PT_RACE_NO_ENTRY;
    for (uint32_t i = 0; cell->written_count && i < cell->count; i++) {
        if (!(cell->seen[i].access.kind & PT_CELL_WRITES) ||
            pt_epoch_thread(cell->seen[i].at) != pt_epoch_thread(cell->written[0].stamp.at))
            continue;
        if (exact != PT_RACE_NO_ENTRY || cell->seen[i].merged)
            return PT_RACE_NO_ENTRY;
        exact = (uint8_t)i;
    }
    return exact;
}

static bool may_be_shape(const struct pt_cell *cell)
{
    if (cell->count > PT_RACE_SHAPE_SEEN || cell->written_count > 1 || cell->index)
        return false;
    for (uint32_t i = 0; i < cell->count; i++)
        if (cell->seen[i].access.kind & PT_CELL_ATOMIC)
            return false;
    return true;
}

/* With one reference. */
static void become_shape(struct pt_race_cell *cell)
{
    cell->shape = true;
    cell->exact = exact_of(&cell->cell);
    atomic_store_explicit(&cell->refs, 1, memory_order_relaxed);
}

/* A shape of what the access makes of another, or of nothing; 0: it cannot be one. One reference is the caller's. */
static uint32_t make_shape(struct pt_race_self *self, struct pt_race_step *access, const struct pt_cell *from,
                           bool covers)
{
    uint32_t to = pt_race_cell_new(self);
    struct pt_race_cell *made = &pt_race_cells[to];
    if (from)
        pt_cell_copy(&self->memory, &made->cell, from);
    pt_cell_record(&self->env, &made->cell, &self->hb, &access->cell, covers);
    if (made->cell.count > PT_RACE_SHAPE_SEEN)
        pt_cell_thin(&made->cell);
    if (!may_be_shape(&made->cell)) {
        pt_race_cell_free(self, to);
        return 0;
    }
    become_shape(made);
    return to;
}

/* Whether the thread has made the access of a granule with this cell in this region before. Then there may be more of
 * them, and a shape is worth its while. */
static bool is_again(struct pt_race_self *self, const struct pt_race_step *access, uint32_t from)
{
    uint64_t key = pt_race_key(access->site, access->cell.bytes, kind_of(access)) ^ (uint64_t)from << 32;
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);
    struct pt_race_once *once = &self->once[mixed >> (64 - PT_RACE_ONCE_BITS)];
    bool again = once->key == key && once->version == self->version;
    *once = (struct pt_race_once){key, self->version};
    return again || self->alike;
}

/* A cell of what the view says. */
static uint32_t copy_view(struct pt_race_self *self, struct pt_race_view *view)
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
    if (view->cell.count > PT_RACE_SHAPE_SEEN)
        pt_cell_thin(&view->cell);
    uint64_t made = pt_race_pack(self, view, old);
    if (made)
        return made;
    uint32_t own = copy_view(self, view);
    for (unsigned i = 0; i < view->cell.written_count; i++)
        pt_hb_stamp_drop(&self->memory, &view->cell.written[i].stamp);
    if (old)
        pt_race_packed_free(self, (uint32_t)old & ~PT_RACE_PACKED, pt_race_packed_units_of(pt_race_packed_of(old)));
    return pt_race_word_made(own);
}

/* Under the lock of a granule that nothing is known of. Its word. */
static uint64_t begin_granule(struct pt_race_self *self, struct pt_race_step *access)
{
    bool writes = access->cell.kind & PT_CELL_WRITES;
    if (is_again(self, access, 0)) {
        pt_race_fill_in(self, access);
        uint32_t to = make_shape(self, access, NULL, writes);
        remember(self, access, 0, to);
        return to;
    }
    uint64_t made = access->cell.op || access->cell.kind & PT_CELL_ATOMIC
                        ? 0
                        : pt_race_packed_begin(self, access->cell.bytes, access->cell.kind, access->site);
    if (made)
        return made;
    pt_race_fill_in(self, access);
    struct pt_race_view view;
    pt_cell_begin(&view.cell);
    view.cell.seen = view.seen;
    view.cell.cap = sizeof view.seen / sizeof *view.seen;
    view.cell.written = view.written;
    view.cell.written_cap = sizeof view.written / sizeof *view.written;
    return change_view(self, &view, 0, access, writes);
}

/* Whether nothing of a cell with so many entries is to be kept but the write that is about to be made: it comes after
 * all of them and has all bytes. */
static bool is_enough(const struct pt_race_step *access, uint32_t count, bool covers)
{
    return covers && access->cell.bytes == PT_CELL_WHOLE && count >= PT_RACE_SHAPE_SEEN;
}

/* Under the lock of a granule, of which such a write leaves nothing: it begins anew. */
static uint64_t begin_anew(struct pt_race_self *self, struct pt_race_step *access)
{
    uint64_t key = pt_race_key(access->site, PT_CELL_WHOLE, kind_of(access));
    struct pt_race_entry *entry = pt_race_entry_of(self, key, 0);
    uint64_t delta = self->hb.clock - entry->made;
    if (entry->key != key || entry->from || entry->version != self->version || entry->calls != pt_race_calls() ||
        entry->credit <= 1 || delta > PT_RACE_DELTA_MAX)
        return begin_granule(self, access);
    entry->credit--;
    return delta << PT_RACE_DELTA_AT | entry->to;
}

/* Makes a granule's own cell, not packed, of what its word says; the word's reference is dropped. */
uint32_t pt_race_own_cell(struct pt_race_self *self, uint64_t seen)
{
    uint32_t from = (uint32_t)seen;
    struct pt_race_view view;
    if (pt_race_is_packed(seen)) {
        pt_race_unpack(&view, pt_race_packed_of(seen));
        uint32_t own = copy_view(self, &view);
        pt_race_packed_end(self, seen);
        return own;
    }
    if (from && !pt_race_cells[from].shape)
        return from;
    if (!from)
        return pt_race_cell_new(self);
    pt_race_look(&view, &pt_race_cells[from], pt_race_delta_of(seen));
    uint32_t own = copy_view(self, &view);
    pt_race_drop(self, from, 1);
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

/* Whether the clock of the word, which such a write raises, is that of an entry with other bytes as well: whoever knows
 * these by a moment in between, of which it has learned by a read that raced, would be told of a race with them. */
static bool raises_more(const struct pt_race_cell *shape, const struct pt_cell_access *access)
{
    return shape->exact != PT_RACE_NO_ENTRY && shape->cell.seen[shape->exact].access.bytes & ~access->bytes;
}

static uint64_t change_shape(struct pt_race_self *self, uint64_t seen, struct pt_race_step *access)
{
    uint32_t from = (uint32_t)seen, to = 0;
    struct pt_race_cell *shape = &pt_race_cells[from];
    struct pt_race_view view;
    pt_race_look(&view, shape, pt_race_delta_of(seen));
    pt_race_fill_in(self, access);
    bool covers = pt_cell_check(&self->env, &view.cell, checker(self), &access->cell);
    bool writes = access->cell.kind & PT_CELL_WRITES, races = self->met_count > 0, again = false;
    uint64_t last = pt_race_base_of(&view.cell);
    if (!races && last <= pt_race_known_of(self, &shape->cell)) {
        uint64_t delta = writes ? self->hb.clock - pt_race_base_of(&shape->cell) : pt_race_delta_of(seen);
        if (pt_race_is_repeated(self, &view.cell, self->region, &access->cell) && delta <= PT_RACE_DELTA_MAX &&
            !(writes && raises_more(shape, &access->cell))) {
            remember(self, access, from, from);
            return delta << PT_RACE_DELTA_AT | from;
        }
        if (is_enough(access, view.cell.count, covers)) {
            pt_race_drop(self, from, 1);
            return begin_anew(self, access);
        }
        again = is_again(self, access, from);
        if (again || self->neighbour)
            to = make_shape(self, access, &shape->cell, covers);
    }
    if (!to && races)
        return pt_race_change_own(self, pt_race_own_cell(self, seen), access, covers);
    if (!to) {
        if (view.cell.written_count)
            pt_vec_ref(&self->memory, view.written[0].stamp.past);
        uint64_t made = change_view(self, &view, 0, access, covers);
        pt_race_drop(self, from, 1);
        return made;
    }
    struct pt_race_entry *entry = remember(self, access, from, to);
    if (!again)
        entry->made = self->hb.clock;
    pt_race_drop(self, from, 1);
    return (writes ? 0 : seen & ~(uint64_t)UINT32_MAX) | to;
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
        (struct pt_race_said){made, self->version, (uint8_t)bytes_said(self, cell, self->region, over, &any)};
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

/* From which clock on an access counts as made again. Where there was a race all are exact. */
uint64_t pt_race_since(const struct pt_race_self *self, const struct pt_race_cell *own)
{
    return own->raced ? self->hb.clock : self->region;
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
    bool repeated = pt_race_is_repeated(self, &view.cell, self->region, &access->cell);
    if (repeated && !reads)
        pt_race_packed_rewrite(self, pt_race_packed_of(seen), access->cell.bytes);
    if (!repeated && is_enough(access, view.cell.count, covers)) {
        pt_race_packed_end(self, seen);
        return begin_anew(self, access);
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
    uint32_t from = (uint32_t)seen;
    if (!from)
        return begin_granule(self, access);
    if (pt_race_is_packed(seen))
        return change_packed(self, seen, access);
    struct pt_race_cell *cell = &pt_race_cells[from];
    if (cell->shape)
        return change_shape(self, seen, access);
    locate(access);
    bool covers = pt_cell_check(&self->env, &cell->cell, checker(self), &access->cell);
    uint64_t made = seen;
    bool reads = !(access->cell.kind & PT_CELL_WRITES), races = self->met_count;
    bool repeated = !races && (reads || !cell->raced) &&
                    pt_race_is_repeated(self, &cell->cell, pt_race_since(self, cell), &access->cell);
    if (!races && !cell->raced && is_enough(access, cell->cell.count, covers)) {
        pt_race_cell_free(self, from);
        return begin_anew(self, access);
    }
    if (!repeated)
        made = pt_race_change_own(self, from, access, covers);
    else if (!reads)
        pt_race_rewrite_own(self, &cell->cell, access->cell.bytes);
    if (!cell->raced)
        note_said(self, &cell->cell, made, access, repeated);
    return made;
}

/* Whether a granule next to this one, which is locked, has the same shape. Who reads all of an object changes them all:
 * without a shape for the first of them it would get a cell, at the next visit the second one, and so on. Such a shape
 * is for reads of the same clock alone, so that nothing of it is a lower bound. */
static bool is_neighbour_alike(const pt_race_word *word, uintptr_t granule, uint64_t seen,
                               const struct pt_race_step *access)
{
    const uintptr_t last = ((uintptr_t)1 << PT_RACE_LEAF_BITS) - 8;
    if (seen & PT_RACE_OWN || !(uint32_t)seen || access->cell.kind != PT_CELL_READS)
        return false;
    for (int side = -1; side <= 1; side += 2) {
        if ((granule & last) == (side < 0 ? 0 : last))
            continue;
        uint64_t there = atomic_load_explicit(word + side, memory_order_relaxed);
        if (!(there & PT_RACE_OWN) && (uint32_t)there == (uint32_t)seen)
            return true;
    }
    return false;
}

void pt_race_touch(struct pt_race_self *self, uintptr_t granule, struct pt_race_step *access)
{
    pt_race_word *word = pt_race_word_of(granule);
    if (!word)
        return;
    uint64_t seen = pt_race_lock_word(word);
    self->neighbour = is_neighbour_alike(word, granule, seen, access);
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
