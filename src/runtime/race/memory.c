/*
 * Memory for clocks and cells: pieces of multiples of 16 bytes, in lists by size, first the thread's own, then common
 * ones under a lock; larger ones are powers of two of pages, kept for the next that wants one. Cells have small
 * numbers, and stay in one table; so do lists of slots, which are of several sizes, in another.
 *
 * Guarantee: a piece is nobody else's until it is given back. Where the kernel has no more, recording stops for good,
 * and what is under way in the threads goes on in a reserve. Cost: a push or a pop, and a lock for each MOVED of them.
 */
#include <string.h>

#include "runtime/race/log.h"
#include "runtime/sys/sys.h"

enum {
    UNIT = 16,
    MOVED = PT_RACE_MOVED,
    KEPT = PT_RACE_KEPT,
    CHUNK = 1 << 20,
    RESERVE = 4 << 20,
    PAGE = 4096,
    LARGE = 32
};
#define LISTS ((size_t)PT_RACE_MANY_UNIT << PT_RACE_MANY_BITS)

struct pt_race_cell *pt_race_cells;
char *pt_race_many_table;

static struct {
    struct pt_spin lock;
    char *chunk;
    size_t left;
    char *reserve;
    size_t reserve_left;
    struct pt_race_pieces pieces;
    void *large[LARGE];  /* free ones, of so many pages as a power of two */
    uint32_t cells_used; /* 0 is none */
    uint32_t many_used;  /* units */
} common = {.lock = PT_SPIN(PT_RANK_POOL)};

bool pt_race_memory_start(void)
{
    pt_race_cells = pt_sys_reserve_table(sizeof *pt_race_cells << PT_RACE_CELL_BITS);
    common.reserve = pt_sys_reserve_table(RESERVE);
    common.reserve_left = common.reserve ? RESERVE : 0;
    common.cells_used = 1;
    pt_race_many_table = pt_sys_reserve_table(LISTS);
    return pt_race_cells && pt_race_many_table && common.reserve;
}

void pt_race_memory_restart(void)
{
    char *reserve = common.reserve;
    pt_sys_empty(pt_race_cells, sizeof *pt_race_cells << PT_RACE_CELL_BITS);
    pt_sys_empty(pt_race_many_table, LISTS);
    memset(&common, 0, sizeof common);
    pt_spin_reset(&common.lock);
    common.reserve = reserve;
    common.reserve_left = RESERVE;
    common.cells_used = 1;
}

/* Under the lock. Recording has stopped when the reserve is used: no more than what is under way needs it. */
static void *carve_reserve(size_t bytes)
{
    if (common.reserve_left < bytes)
        pt_sys_exit(70);
    common.reserve_left -= bytes;
    return common.reserve + common.reserve_left;
}

static void *carve(size_t bytes)
{
    if (common.left < bytes) {
        common.chunk = pt_sys_reserve(CHUNK);
        common.left = common.chunk ? CHUNK : 0;
    }
    if (common.left < bytes)
        return NULL;
    common.left -= bytes;
    common.chunk += bytes;
    return common.chunk - bytes;
}

static void push(struct pt_race_pieces *pieces, size_t size_class, void *piece)
{
    memcpy(piece, &pieces->free[size_class], sizeof(void *));
    pieces->free[size_class] = piece;
    pieces->count[size_class]++;
}

static void *pop(struct pt_race_pieces *pieces, size_t size_class)
{
    void *piece = pieces->free[size_class];
    if (piece) {
        memcpy(&pieces->free[size_class], piece, sizeof(void *));
        pieces->count[size_class]--;
    }
    return piece;
}

static void *refill(struct pt_race_pieces *pieces, size_t size_class)
{
    bool full = false;
    pt_spin_lock(&common.lock);
    for (unsigned i = 0; i < MOVED; i++) {
        void *piece = pop(&common.pieces, size_class);
        if (!piece && (piece = carve(size_class * UNIT)) == NULL)
            break;
        push(pieces, size_class, piece);
    }
    void *piece = pop(pieces, size_class);
    if (!piece) {
        full = true;
        piece = carve_reserve(size_class * UNIT);
    }
    pt_spin_unlock(&common.lock);
    if (full)
        pt_runtime_give_up();
    return piece;
}

static unsigned large_class(size_t bytes)
{
    unsigned class = 0;
    while ((size_t)PAGE << class < bytes)
        class ++;
    return class;
}

static void *take_large(size_t bytes)
{
    unsigned class = large_class(bytes);
    pt_spin_lock(&common.lock);
    void *piece = common.large[class];
    if (piece)
        memcpy(&common.large[class], piece, sizeof(void *));
    pt_spin_unlock(&common.lock);
    if (!piece)
        piece = pt_sys_reserve((size_t)PAGE << class);
    if (piece)
        return piece;
    pt_runtime_give_up();
    pt_spin_lock(&common.lock);
    piece = carve_reserve(bytes);
    pt_spin_unlock(&common.lock);
    return piece;
}

static void *take(void *context, size_t bytes)
{
    struct pt_race_pieces *pieces = context;
    size_t size_class = (bytes + UNIT - 1) / UNIT;
    if (size_class >= PT_RACE_PIECES)
        return take_large(bytes);
    void *piece = pop(pieces, size_class);
    return piece ? piece : refill(pieces, size_class);
}

static void give_some(struct pt_race_pieces *pieces, size_t size_class, uint32_t left)
{
    pt_spin_lock(&common.lock);
    while (pieces->count[size_class] > left)
        push(&common.pieces, size_class, pop(pieces, size_class));
    pt_spin_unlock(&common.lock);
}

static void give(void *context, void *piece, size_t bytes)
{
    struct pt_race_pieces *pieces = context;
    size_t size_class = (bytes + UNIT - 1) / UNIT;
    if (size_class >= PT_RACE_PIECES) {
        pt_spin_lock(&common.lock);
        memcpy(piece, &common.large[large_class(bytes)], sizeof(void *));
        common.large[large_class(bytes)] = piece;
        pt_spin_unlock(&common.lock);
        return;
    }
    push(pieces, size_class, piece);
    if (pieces->count[size_class] > KEPT)
        give_some(pieces, size_class, KEPT / 2);
}

struct pt_race_memory pt_race_memory_of(struct pt_race_pieces *pieces)
{
    return (struct pt_race_memory){take, give, pieces, true};
}

/* ---- cells ---- */

static void refill_cells(struct pt_race_pieces *pieces)
{
    pt_spin_lock(&common.lock);
    for (unsigned i = 0; i < MOVED; i++) {
        uint32_t cell = common.pieces.cells;
        if (cell)
            common.pieces.cells = pt_race_cells[cell].next_free;
        else if (!(common.cells_used >> PT_RACE_CELL_BITS))
            cell = common.cells_used++;
        else
            break;
        pt_race_cells[cell].next_free = pieces->cells;
        pieces->cells = cell;
        pieces->cell_count++;
    }
    pt_spin_unlock(&common.lock);
    if (!pieces->cells) { /* what is under way shares the last one, and nobody looks any more */
        pt_runtime_stop("races are looked for in more memory than there is room for");
        pieces->cells = (1u << PT_RACE_CELL_BITS) - 1;
        pieces->cell_count = 1;
    }
}

uint32_t pt_race_cell_new(struct pt_race_self *self)
{
    struct pt_race_pieces *pieces = &self->pieces;
    if (!pieces->cells)
        refill_cells(pieces);
    uint32_t cell = pieces->cells;
    pieces->cells = pt_race_cells[cell].next_free;
    pieces->cell_count--;
    pt_race_cells[cell].raced = false;
    pt_cell_begin(&pt_race_cells[cell].cell);
    return cell;
}

static void give_cells(struct pt_race_pieces *pieces, uint32_t left)
{
    pt_spin_lock(&common.lock);
    while (pieces->cell_count > left) {
        uint32_t cell = pieces->cells;
        pieces->cells = pt_race_cells[cell].next_free;
        pieces->cell_count--;
        pt_race_cells[cell].next_free = common.pieces.cells;
        common.pieces.cells = cell;
    }
    pt_spin_unlock(&common.lock);
}

void pt_race_cell_free(struct pt_race_self *self, uint32_t cell)
{
    struct pt_race_pieces *pieces = &self->pieces;
    pt_cell_end(&self->memory, &pt_race_cells[cell].cell);
    pt_race_cells[cell].next_free = pieces->cells;
    pieces->cells = cell;
    if (++pieces->cell_count > KEPT)
        give_cells(pieces, KEPT / 2);
}

/* ---- lists of slots ---- */

static void push_many(struct pt_race_pieces *pieces, unsigned size, uint32_t at)
{
    pt_race_many_at(at)->next = pieces->many[size];
    pieces->many[size] = at;
    pieces->many_count[size]++;
}

static uint32_t pop_many(struct pt_race_pieces *pieces, unsigned size)
{
    uint32_t at = pieces->many[size];
    if (at) {
        pieces->many[size] = pt_race_many_at(at)->next;
        pieces->many_count[size]--;
    }
    return at;
}

/* Each begins at a multiple of its length. 0: there is no more room. */
static uint32_t carve_many(unsigned size)
{
    uint32_t units = 1u << size, at = (common.many_used + units) & ~(units - 1); /* 0 is none */
    if (at + units > 1u << PT_RACE_MANY_BITS)
        return 0;
    common.many_used = at + units - 1;
    return at;
}

static void refill_many(struct pt_race_pieces *pieces, unsigned size)
{
    pt_spin_lock(&common.lock);
    for (unsigned i = 0; i < MOVED; i++) {
        uint32_t at = pop_many(&common.pieces, size);
        if (!at && (at = carve_many(size)) == 0)
            break;
        push_many(pieces, size, at);
    }
    pt_spin_unlock(&common.lock);
}

uint32_t pt_race_many_new(struct pt_race_self *self, unsigned size)
{
    if (!self->pieces.many[size])
        refill_many(&self->pieces, size);
    uint32_t at = pop_many(&self->pieces, size);
    if (at)
        pt_race_many_at(at)->size = (uint8_t)size;
    return at;
}

static void give_many(struct pt_race_pieces *pieces, unsigned size, uint32_t left)
{
    pt_spin_lock(&common.lock);
    while (pieces->many_count[size] > left)
        push_many(&common.pieces, size, pop_many(pieces, size));
    pt_spin_unlock(&common.lock);
}

void pt_race_many_free(struct pt_race_self *self, uint32_t at)
{
    unsigned size = pt_race_many_at(at)->size;
    push_many(&self->pieces, size, at);
    if (self->pieces.many_count[size] > KEPT)
        give_many(&self->pieces, size, KEPT / 2);
}

void pt_race_memory_flush(struct pt_race_pieces *pieces)
{
    for (unsigned size = 0; size < PT_RACE_MANY_SIZES; size++)
        give_many(pieces, size, 0);
    for (size_t c = 1; c < PT_RACE_PIECES; c++)
        give_some(pieces, c, 0);
    give_cells(pieces, 0);
}
