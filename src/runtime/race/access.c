/*
 * Accesses. The fast path (pt_race_fast) is a transition that the thread remembers; all else comes here, locks the
 * granule and asks race/cell.h.
 *
 * Guarantee: what is reported is a race by race/cell.c's definition, always. What race/cell.c reports is reported, too,
 * where cells are granules' own. A shape has of each access the clock of the first granule on which it was made in its
 * region, which is a lower bound for the others; only the last write's is exact, in the word. So a pair can be missed
 * only if the second thread has learned, by a read that raced, of a moment in the middle of the region in which the
 * first one made its access: then these two threads have a race that is reported.
 *
 * What a thread repeats in one region is recorded once: a read that is there already is not raised, unless there was a
 * race at that granule, and a write raises what the word says. A shape that few granules have is not worth a
 * transition: they get cells of their own.
 *
 * Cost: fast, some 20 instructions and, unless it is a repeated read, one compare-and-swap. An access that a granule's
 * own cell has of an earlier region: a lock, a look at few entries, and two cache misses, which are fetched ahead where
 * granules are walked over. Else that of race/cell.c.
 */
#include <string.h>

#include "runtime/race/impl.h"

enum { POPULAR = 3, ENOUGH = 16, AHEAD = 4, FREES = PT_RACE_WRITE | PT_RACE_OP_FREE << PT_RACE_OP_AT };

static uint64_t word_made(uint32_t cell)
{
    return PT_RACE_OWN | (pt_race_cells[cell].stamp & PT_RACE_DELTA_MAX) << PT_RACE_DELTA_AT | cell;
}

static uint64_t delta_of(uint64_t word)
{
    return word >> PT_RACE_DELTA_AT & PT_RACE_DELTA_MAX;
}

/* ---- references to shapes ---- */

static void drop(struct pt_race_self *self, uint32_t cell, int64_t count)
{
    /* acq_rel: who frees it has seen all that others did with it */
    if (atomic_fetch_sub_explicit(&pt_race_cells[cell].refs, count, memory_order_acq_rel) == count)
        pt_race_cell_free(self, cell);
}

static void forget_entry(struct pt_race_self *self, struct pt_race_entry *entry)
{
    uint32_t from = entry->from, to = entry->to, moved = entry->moved, credit = entry->credit;
    entry->key = 0;
    if (!to)
        return;
    if (from)
        drop(self, from, 1 + (int64_t)moved);
    if (to != from)
        drop(self, to, credit);
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

struct view {
    struct pt_cell cell;
    struct pt_cell_seen seen[PT_RACE_SHAPE_SEEN];
    struct pt_cell_written written;
};

static void look(struct view *view, const struct pt_race_cell *shape, uint64_t delta)
{
    view->cell = shape->cell;
    memcpy(view->seen, shape->cell.seen, shape->cell.count * sizeof *view->seen);
    view->cell.seen = view->seen;
    if (!shape->cell.written_count)
        return;
    view->written = shape->cell.written[0];
    view->cell.written = &view->written;
    pt_epoch base = view->written.stamp.at;
    view->written.stamp.at += delta;
    if (shape->exact != PT_RACE_NO_ENTRY)
        view->seen[shape->exact].at = view->written.stamp.at;
    if (view->cell.over == base)
        view->cell.over = view->written.stamp.at;
}

/* Of which bytes the thread's own entries say as much as the access would: it is among them, or there are several
 * already, and who races with it races with them. Made at that clock or later; `over` is the thread's own if that is
 * so, too. */
static unsigned bytes_said(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since, bool over,
                           const struct pt_cell_access *access)
{
    unsigned same = 0, said = 0, count = 0, enough = ENOUGH;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        bool writes = seen->access.kind & PT_CELL_WRITES;
        if (pt_epoch_thread(seen->at) != self->hb.id || pt_epoch_clock(seen->at) < since ||
            (seen->access.kind ^ access->kind) & PT_CELL_ATOMIC || seen->access.op != access->op ||
            !(seen->fresh || (over && writes)))
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

/* The same, so that the granule says all of it; a write's clock is then the word's. */
static bool is_repeated(const struct pt_race_self *self, const struct pt_cell *cell, uint64_t since,
                        const struct pt_cell_access *access)
{
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= since;
    if (access->kind & PT_CELL_WRITES && (cell->written_count != 1 || access->bytes & ~cell->written[0].bytes ||
                                          pt_epoch_thread(cell->written[0].stamp.at) != self->hb.id ||
                                          pt_epoch_clock(cell->written[0].stamp.at) < since))
        return false;
    return !(access->bytes & ~bytes_said(self, cell, since, over, access));
}

/* ---- transitions ---- */

struct access {
    struct pt_cell_access cell;
    const struct pt_site *site;
    bool noted; /* place and note are filled in */
};

static void fill_in(struct pt_race_self *self, struct access *access)
{
    if (access->noted)
        return;
    access->noted = true;
    access->cell.place = pt_race_place_of(access->site);
    access->cell.note = (struct pt_cell_note){.stack = pt_race_stack_now(), .locks = pt_race_locks_now(self)};
}

static unsigned kind_of(const struct access *access)
{
    return access->cell.kind | (unsigned)access->cell.op << PT_RACE_OP_AT;
}

static struct pt_race_entry *new_entry(struct pt_race_self *self, const struct access *access, uint32_t from)
{
    uint64_t key = pt_race_key(access->site, access->cell.bytes, kind_of(access));
    struct pt_race_entry *entry = pt_race_entry_of(self, key, from);
    forget_entry(self, entry);
    *entry = (struct pt_race_entry){
        .key = key, .version = self->version, .calls = pt_race_calls(), .from = from, .known = PT_RACE_DELTA_MAX};
    return entry;
}

/* Up to which clock of the shape's writer the thread knows it. */
static uint64_t known_of(const struct pt_race_self *self, const struct pt_cell *cell)
{
    if (!cell->written_count)
        return PT_RACE_DELTA_MAX;
    uint32_t writer = pt_epoch_thread(cell->written[0].stamp.at);
    uint64_t base = pt_epoch_clock(cell->written[0].stamp.at), most = base + PT_RACE_DELTA_MAX;
    uint64_t known = writer == self->hb.id ? most : pt_vec_at(self->hb.past, writer);
    return known < most ? known : most;
}

static uint64_t base_of(const struct pt_cell *cell)
{
    return cell->written_count ? pt_epoch_clock(cell->written[0].stamp.at) : 0;
}

static void remember(struct pt_race_self *self, const struct access *access, uint32_t from, uint32_t to)
{
    struct pt_race_entry *entry = new_entry(self, access, from);
    entry->to = to;
    entry->made = base_of(&pt_race_cells[to].cell);
    if (from) {
        entry->base = base_of(&pt_race_cells[from].cell);
        entry->known = known_of(self, &pt_race_cells[from].cell);
        atomic_fetch_add_explicit(&pt_race_cells[from].refs, 1, memory_order_relaxed);
    }
    if (to != from) {
        entry->credit = PT_RACE_CREDIT;
        atomic_fetch_add_explicit(&pt_race_cells[to].refs, PT_RACE_CREDIT, memory_order_relaxed);
    }
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
static uint32_t make_shape(struct pt_race_self *self, struct access *access, const struct pt_cell *from, bool covers)
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
    atomic_store_explicit(&made->left, 0, memory_order_relaxed);
    return to;
}

/* Under the lock of a granule that nothing is known of. Its word. */
static uint64_t begin_granule(struct pt_race_self *self, struct access *access)
{
    fill_in(self, access);
    uint32_t to = make_shape(self, access, NULL, access->cell.kind & PT_CELL_WRITES);
    remember(self, access, 0, to);
    return to;
}

/* Makes a granule's own cell of what its word says; the word's reference is dropped. */
static uint32_t own_cell(struct pt_race_self *self, uint64_t seen)
{
    uint32_t from = (uint32_t)seen;
    if (from && !pt_race_cells[from].shape)
        return from;
    uint32_t own = pt_race_cell_new(self);
    if (from) {
        struct view view;
        look(&view, &pt_race_cells[from], delta_of(seen));
        pt_cell_copy(&self->memory, &pt_race_cells[own].cell, &view.cell);
        drop(self, from, 1);
    }
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
static uint64_t change_own(struct pt_race_self *self, uint32_t own, struct access *access, bool covers)
{
    struct pt_race_cell *cell = &pt_race_cells[own];
    bool races = self->met_count > 0;
    fill_in(self, access);
    cell->raced |= races;
    self->env.merge_from = cell->raced ? 0 : self->region; /* where there was a race all are exact */
    pt_cell_record(&self->env, &cell->cell, &self->hb, &access->cell, covers);
    self->env.merge_from = self->region;
    if (cell->cell.count > PT_RACE_SHAPE_SEEN && !cell->raced)
        pt_cell_thin(&cell->cell);
    cell->stamp++;
    if (races && access->cell.kind & PT_CELL_READS)
        pt_race_changed(self); /* it has learned of the write */
    return word_made(own);
}

static uint64_t change_shape(struct pt_race_self *self, uint64_t seen, struct access *access)
{
    uint32_t from = (uint32_t)seen, to = 0;
    struct pt_race_cell *shape = &pt_race_cells[from];
    struct view view;
    look(&view, shape, delta_of(seen));
    fill_in(self, access);
    bool covers = pt_cell_check(&self->env, &view.cell, checker(self), &access->cell);
    bool writes = access->cell.kind & PT_CELL_WRITES, races = self->met_count > 0;
    uint64_t last = base_of(&view.cell);
    if (!races && last <= known_of(self, &shape->cell)) {
        uint64_t delta = writes ? self->hb.clock - base_of(&shape->cell) : delta_of(seen);
        if (is_repeated(self, &view.cell, self->region, &access->cell) && delta <= PT_RACE_DELTA_MAX) {
            remember(self, access, from, from);
            return delta << PT_RACE_DELTA_AT | from;
        }
        if (atomic_load_explicit(&shape->left, memory_order_relaxed) >= POPULAR)
            to = make_shape(self, access, &shape->cell, covers);
        else
            atomic_fetch_add_explicit(&shape->left, 1, memory_order_relaxed);
    }
    if (!to)
        return change_own(self, own_cell(self, seen), access, covers);
    remember(self, access, from, to);
    drop(self, from, 1);
    return (writes ? 0 : seen & ~(uint64_t)UINT32_MAX) | to;
}

static void note_key(struct pt_race_self *self, uint64_t made, uint64_t key)
{
    struct pt_race_said *said = pt_race_said_of(self, made);
    if (said->word == made && said->version == self->version)
        said->keys[1] = said->keys[0];
    else
        *said = (struct pt_race_said){.word = made, .version = self->version};
    said->keys[0] = key;
}

/* Which bytes of a granule's own cell need no more reads of this thread to be recorded in this region. */
static void note_said(struct pt_race_self *self, const struct pt_cell *cell, uint64_t made, uint64_t key)
{
    struct pt_race_said *said = pt_race_said_of(self, made);
    bool over = pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= self->region;
    struct pt_cell_access any = {.kind = PT_CELL_READS, .place = UINT32_MAX};
    note_key(self, made, key);
    said->bytes = (uint8_t)bytes_said(self, cell, self->region, over, &any);
}

/* A write that is there already: only the clock of the last write is another. */
static uint64_t raise_write(const struct pt_race_self *self, uint32_t own)
{
    struct pt_cell *cell = &pt_race_cells[own].cell;
    cell->written[0].stamp.at = pt_hb_now(&self->hb);
    if (pt_epoch_thread(cell->over) == self->hb.id && pt_epoch_clock(cell->over) >= self->region)
        cell->over = cell->written[0].stamp.at;
    pt_race_cells[own].stamp++;
    return word_made(own);
}

/* From which clock on an access counts as made again. Where there was a race all are exact. */
static uint64_t since(const struct pt_race_self *self, const struct pt_race_cell *own)
{
    return own->raced ? self->hb.clock : self->region;
}

static uint64_t change(struct pt_race_self *self, uint64_t seen, struct access *access)
{
    uint32_t from = (uint32_t)seen;
    if (!from)
        return begin_granule(self, access);
    struct pt_race_cell *cell = &pt_race_cells[from];
    if (cell->shape)
        return change_shape(self, seen, access);
    access->cell.place = pt_race_place_of(access->site);
    bool covers = pt_cell_check(&self->env, &cell->cell, checker(self), &access->cell);
    uint64_t made = seen;
    bool reads = !(access->cell.kind & PT_CELL_WRITES);
    if (!reads && !cell->raced && !self->met_count && is_repeated(self, &cell->cell, self->region, &access->cell))
        return raise_write(self, from);
    if (self->met_count || !reads || !is_repeated(self, &cell->cell, since(self, cell), &access->cell))
        made = change_own(self, from, access, covers);
    if (reads && !cell->raced) {
        note_said(self, &cell->cell, made, pt_race_key(access->site, access->cell.bytes, kind_of(access)));
    }
    return made;
}

static void touch(struct pt_race_self *self, uintptr_t granule, struct access *access)
{
    pt_race_word *word = pt_race_word_of(granule);
    if (!word)
        return;
    uint64_t seen = pt_race_lock_word(word);
    pt_race_unlock_word(word, change(self, seen, access));
    if (self->met_count)
        pt_race_report(self, granule, &access->cell);
}

static struct access make_access(unsigned kind, const struct pt_site *site)
{
    static const struct pt_site unknown = {"", "", "", 0, 0, NULL};
    if (!site && __portent_calls.depth) /* of free and the like it is the call itself */
        site = __portent_calls.frames[(__portent_calls.depth - 1) % PT_CALLS];
    return (struct access){.cell = {.kind = kind & 7, .op = (uint8_t)(kind >> PT_RACE_OP_AT), .order = PT_HB_RELAXED},
                           .site = site ? site : &unknown};
}

static uint8_t bytes_in(uintptr_t granule, uintptr_t from, uintptr_t to)
{
    unsigned bytes = PT_CELL_WHOLE;
    if (from > granule)
        bytes &= 0xffu << (from - granule);
    if (to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - to);
    return (uint8_t)bytes;
}

static bool is_address(uintptr_t from, uintptr_t to)
{
    return from < to && !((to - 1) >> PT_RACE_ADDRESS_BITS);
}

static void fetch_cell(const pt_race_word *word)
{
    const struct pt_race_cell *cell = &pt_race_cells[(uint32_t)atomic_load_explicit(word, memory_order_relaxed)];
    __builtin_prefetch(cell);
    __builtin_prefetch((const char *)(cell + 1) - 1);
}

/* Who walks over granules with cells of their own waits for memory twice in each, the cell and its entries. So they are
 * fetched some steps ahead. */
static void look_ahead(struct pt_race_self *self, const struct pt_race_leaf *leaf, const pt_race_word *word,
                       uintptr_t granule)
{
    uint32_t steps = granule == self->ahead ? self->steps + 1 : 0;
    self->ahead = granule + 8;
    self->steps = steps;
    if (!steps || word + AHEAD * 2 >= leaf->words + sizeof leaf->words / sizeof *leaf->words)
        return;
    __builtin_prefetch(word + AHEAD * 2);
    for (unsigned i = steps == 1 ? 1 : AHEAD; i <= AHEAD; i++)
        fetch_cell(word + i);
    uint32_t near = (uint32_t)atomic_load_explicit(word + AHEAD / 2, memory_order_relaxed);
    if (steps > AHEAD / 2)
        __builtin_prefetch(__atomic_load_n(&pt_race_cells[near].cell.seen, __ATOMIC_RELAXED));
}

/* An access that is in the granule's own cell already, of an earlier region: made in place. False: nothing has
 * happened. */
static bool raise_own(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind,
                      const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (!leaf || kind >> PT_RACE_OP_AT)
        return false;
    pt_race_word *word = &leaf->words[(address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    /* acquire: partner of the release that unlocked it last */
    if ((seen & (PT_RACE_OWN | PT_RACE_LOCKED)) != PT_RACE_OWN ||
        !atomic_compare_exchange_strong_explicit(word, &seen, seen | PT_RACE_LOCKED, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    struct pt_race_cell *cell = &pt_race_cells[(uint32_t)seen];
    struct pt_cell_access access = {.place = pt_race_place_of(site), .kind = (uint8_t)kind, .bytes = (uint8_t)bytes};
    struct pt_cell_seen *raised = NULL;
    uint64_t made = seen;
    look_ahead(self, leaf, word, address & ~(uintptr_t)7);
    bool done = !cell->raced && pt_cell_raise(&self->memory, &cell->cell, &self->hb, &access, self->region, &raised);
    if (raised)
        raised->access.note = (struct pt_cell_note){.stack = pt_race_stack_now(), .locks = pt_race_locks_now(self)};
    if (done && kind & PT_CELL_WRITES) {
        cell->stamp++;
        made = word_made((uint32_t)seen);
    }
    /* What others remember of the word holds after a read, too: it is left as it was. */
    pt_race_unlock_word(word, made);
    if (done && !(kind & PT_CELL_WRITES))
        note_key(self, made, pt_race_key(site, bytes, kind));
    return done;
}

void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    uintptr_t to = address + size;
    if (!is_address(address, to))
        return;
    struct access access = make_access(kind, site);
    uintptr_t granule = address & ~(uintptr_t)7;
    self->several = granule + 8 < to;
    for (; granule < to; granule += 8) {
        access.cell.bytes = bytes_in(granule, address, to);
        if (!pt_race_fast(self, granule, access.cell.bytes, kind, access.site) &&
            (self->several || !raise_own(self, granule, access.cell.bytes, kind, access.site)))
            touch(self, granule, &access);
    }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&self->hb);
    if (self->before.clock) {
        pt_vec_drop(&self->memory, self->before.past);
        self->before = (struct pt_hb_thread){0};
    }
    self->several = false;
}

/* ---- atomic operations ---- */

bool pt_race_atomic_begin(struct pt_race_self *self, uintptr_t address, size_t size)
{
    uintptr_t granule = address & ~(uintptr_t)7, to = address + size;
    if (!is_address(address, to) || to - granule > 8 * sizeof self->locked / sizeof *self->locked)
        return false;
    for (; granule < to; granule += 8) {
        pt_race_word *word = pt_race_word_of(granule);
        if (!word) {
            pt_race_suspend(self);
            return false;
        }
        pt_race_lock_word(word);
        self->locked[self->locked_count++] = word;
    }
    return true;
}

void pt_race_suspend(struct pt_race_self *self)
{
    for (; self->locked_count; self->locked_count--)
        atomic_fetch_and_explicit(self->locked[self->locked_count - 1], ~PT_RACE_LOCKED, memory_order_release);
}

void pt_race_resume(struct pt_race_self *self, uint32_t count)
{
    for (; self->locked_count < count; self->locked_count++)
        pt_race_lock_word(self->locked[self->locked_count]);
}

/* Whether an atomic read gives the thread something that it does not know. */
static bool will_learn(const struct pt_race_self *self, const struct pt_cell *cell, const struct pt_cell_access *access)
{
    for (unsigned i = 0; access->kind & PT_CELL_READS && i < cell->written_count; i++) {
        const struct pt_cell_written *written = &cell->written[i];
        if (written->bytes & access->bytes && pt_hb_acquires(access->order) &&
            (written->published.rest || !pt_hb_knows(&self->hb, written->published.last.at)))
            return true;
    }
    return false;
}

/* In what is locked: each granule has its own cell then. */
static void take_atomic(struct pt_race_self *self, struct access *access, uintptr_t from, uintptr_t to, bool *covers)
{
    uintptr_t first = from & ~(uintptr_t)7;
    uint32_t count = self->locked_count;
    bool learns = false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t seen = atomic_load_explicit(self->locked[i], memory_order_relaxed) & ~PT_RACE_LOCKED;
        uint32_t own = own_cell(self, seen);
        if (own != (uint32_t)seen)
            pt_race_cells[own].stamp++;
        atomic_store_explicit(self->locked[i], word_made(own) | PT_RACE_LOCKED, memory_order_relaxed);
        access->cell.bytes = bytes_in(first + 8 * i, from, to);
        learns |= will_learn(self, &pt_race_cells[own].cell, &access->cell);
        pt_cell_acquire(&self->env, &pt_race_cells[own].cell, &self->hb, &access->cell);
    }
    if (learns)
        pt_race_changed(self);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = (uint32_t)atomic_load_explicit(self->locked[i], memory_order_relaxed);
        access->cell.bytes = bytes_in(first + 8 * i, from, to);
        covers[i] = pt_cell_check(&self->env, &pt_race_cells[own].cell, &self->hb, &access->cell);
    }
}

void pt_race_atomic_end(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                        const struct pt_site *site)
{
    bool covers[sizeof self->locked / sizeof *self->locked];
    struct access access = make_access(kind | PT_CELL_ATOMIC, site);
    uintptr_t first = address & ~(uintptr_t)7;
    access.cell.order = (uint8_t)order;
    access.cell.place = pt_race_place_of(access.site);
    take_atomic(self, &access, address, address + size, covers);
    for (uint32_t i = 0; i < self->locked_count; i++) {
        uint64_t made = atomic_load_explicit(self->locked[i], memory_order_relaxed) & ~PT_RACE_LOCKED;
        const struct pt_race_cell *cell = &pt_race_cells[(uint32_t)made];
        access.cell.bytes = bytes_in(first + 8 * i, address, address + size);
        if (kind & PT_CELL_WRITES || self->met_count ||
            !is_repeated(self, &cell->cell, since(self, cell), &access.cell))
            made = change_own(self, (uint32_t)made, &access, covers[i]);
        pt_race_unlock_word(self->locked[i], made);
    }
    self->locked_count = 0;
    if (kind & PT_CELL_WRITES) {
        pt_hb_tick(&self->hb);
        if (pt_hb_releases((enum pt_hb_order)order))
            pt_race_changed(self);
    }
    access.cell.bytes = bytes_in(first, address, address + size);
    if (self->met_count)
        pt_race_report(self, first, &access.cell);
}

void pt_race_atomic_alone(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                          const struct pt_site *site)
{
    for (uintptr_t from = address, to; from < address + size; from = to) {
        to = (from & ~(uintptr_t)7) + 16 < address + size ? (from & ~(uintptr_t)7) + 16 : address + size;
        if (pt_race_atomic_begin(self, from, to - from))
            pt_race_atomic_end(self, from, to - from, kind, order, site);
    }
}

/* ---- the end of memory ---- */

/* What was found of the last granule, since neighbours are mostly alike. */
struct forgetting {
    struct access access;
    bool is_access;  /* or else it was one before */
    uint32_t shape;  /* that races with nothing ... */
    uint64_t known;  /* ... if its last write is no later */
    int64_t dropped; /* references to it */
};

static void settle(struct pt_race_self *self, struct forgetting *f)
{
    if (f->dropped)
        drop(self, f->shape, f->dropped);
    f->dropped = 0;
    f->shape = 0;
}

static uint64_t end_granule(struct pt_race_self *self, uint64_t seen, struct forgetting *f, bool whole)
{
    uint32_t from = (uint32_t)seen;
    const struct pt_race_cell *cell = &pt_race_cells[from];
    if (cell->shape && from == f->shape && whole &&
        (!f->is_access || base_of(&cell->cell) + delta_of(seen) <= f->known)) {
        f->dropped++;
        return 0;
    }
    if (f->is_access) {
        struct view view;
        if (cell->shape)
            look(&view, cell, delta_of(seen));
        f->access.cell.place = pt_race_place_of(f->access.site);
        pt_cell_check(&self->env, cell->shape ? &view.cell : &cell->cell, &self->hb, &f->access.cell);
    }
    if (self->met_count)
        fill_in(self, &f->access);
    if (!whole)
        return seen;
    settle(self, f);
    if (!cell->shape) {
        pt_race_cell_free(self, from);
    } else {
        f->known = self->met_count ? 0 : known_of(self, &cell->cell);
        f->shape = from;
        f->dropped = 1;
    }
    return 0;
}

static void end_page(struct pt_race_self *self, struct pt_race_leaf *leaf, uintptr_t page, uintptr_t from, uintptr_t to,
                     struct forgetting *f)
{
    uintptr_t granule = page > from ? page : from & ~(uintptr_t)7, end = page + 4096 < to ? page + 4096 : to;
    for (; granule < end; granule += 8) {
        pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
        if (!atomic_load_explicit(word, memory_order_relaxed))
            continue;
        f->access.cell.bytes = bytes_in(granule, from, to);
        uint64_t seen = pt_race_lock_word(word);
        pt_race_unlock_word(word, seen ? end_granule(self, seen, f, f->access.cell.bytes == PT_CELL_WHOLE) : 0);
        if (self->met_count)
            pt_race_report(self, granule, &f->access.cell);
    }
}

static void forget(struct pt_race_self *self, uintptr_t from, uintptr_t to, bool is_access, const struct pt_site *site)
{
    if (!is_address(from, to))
        return;
    struct forgetting f = {.access = make_access(FREES, site), .is_access = is_access};
    for (uintptr_t page = from & ~(uintptr_t)4095; page < to; page += 4096) {
        struct pt_race_leaf *leaf = pt_race_leaf_of(page);
        if (!leaf) {
            page = (page | ((1u << PT_RACE_LEAF_BITS) - 1)) - 4095; /* on to the next leaf */
            continue;
        }
        if (pt_race_is_used(leaf, page))
            end_page(self, leaf, page, from, to, &f);
    }
    settle(self, &f);
    pt_race_sync_forget(self, from, to);
    pt_race_freed(from);
}

void pt_race_forget(struct pt_race_self *self, uintptr_t from, uintptr_t to, const struct pt_site *site)
{
    forget(self, from, to, true, site);
}

void pt_race_free(struct pt_race_self *self, uintptr_t from, uintptr_t to, const struct pt_site *site)
{
    pt_race_access(self, from, to - from, FREES, site);
}

void pt_race_discard(struct pt_race_self *self, uintptr_t from, uintptr_t to)
{
    forget(self, from, to, false, NULL);
}
