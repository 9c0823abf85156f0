/* The cells of memory (places.h), by their addresses. Those of variables do not overlap; at an address there may be one
 * of each other space beside them, of one byte. */
#ifndef PT_TRACE_CELLS_H
#define PT_TRACE_CELLS_H

#include "trace/pages.h"
#include "trace/places.h"

/* A granule: the cells in it. `vars`: of variables; 0: none, the number of the only one plus 1, or, with
 * PT_GRANULE_FINE, of a pt_granule_fine. `others`: the number of the first link plus 1. */
struct pt_granule {
    uint32_t vars, others;
};
#define PT_GRANULE_FINE UINT32_C(0x80000000)
struct pt_granule_fine {
    uint32_t cells[8]; /* for each byte; 0: none, otherwise plus 1. The first one chains those that are free */
};
struct pt_cell_link {
    uint32_t cell, next; /* next: plus 1 */
};

struct pt_cells {
    struct pt_cell *items;
    uint32_t count, free; /* free ones are chained by size; PT_NONE: there are none */
    size_t cap;
    struct pt_pages pages; /* struct pt_granule */
    struct pt_granule_fine *fines;
    uint32_t fine_count, free_fine; /* plus 1 */
    size_t fine_cap;
    struct pt_cell_link *links;
    uint32_t link_count, free_link; /* plus 1 */
    size_t link_cap;
};

void pt_cells_begin(struct pt_cells *cells);
void pt_cells_release(struct pt_cells *cells);
/* Its number. Nothing that is there overlaps it. */
uint32_t pt_cells_add(struct pt_cells *cells, struct pt_cell cell);
void pt_cells_drop(struct pt_cells *cells, uint32_t cell);
/* The cell of an object; PT_NONE: there is none. */
uint32_t pt_cells_object(struct pt_cells *cells, uint64_t address, enum pt_space space);
/* Calls for all cells of which something lies in [low, high), which may drop them, once for each: by granules, and in
 * one those with the latest names first. */
void pt_cells_visit(struct pt_cells *cells, uint64_t low, uint64_t high, void (*visit)(void *context, uint32_t cell),
                    void *context);

/* The cell of a variable that holds `address`; PT_NONE: there is none. */
static inline uint32_t pt_cells_var(struct pt_cells *cells, uint64_t address)
{
    const struct pt_granule *page = pt_pages_at(&cells->pages, address >> PT_PAGE_BITS, false);
    uint32_t cell = page ? page[(address >> 3) % PT_PAGE_GRANULES].vars : 0;
    if (cell & PT_GRANULE_FINE)
        cell = cells->fines[cell & ~PT_GRANULE_FINE].cells[address & 7];
    return cell && address - cells->items[cell - 1].low < cells->items[cell - 1].size ? cell - 1 : PT_NONE;
}

/* Memory is far away. There will be an access of it; and, some time after that was said: there soon will be. */
static inline const struct pt_granule *pt_cells_expect(const struct pt_cells *cells, uint64_t address)
{
    const struct pt_page *near = &cells->pages.near[(address >> PT_PAGE_BITS) % PT_PAGES_NEAR];
    const struct pt_granule *page = near->granules, *at = page ? &page[(address >> 3) % PT_PAGE_GRANULES] : NULL;
    __builtin_prefetch(at);
    return at;
}

static inline void pt_cells_expect_soon(const struct pt_cells *cells, uint64_t address)
{
    const struct pt_granule *at = pt_cells_expect(cells, address);
    uint32_t cell = at ? at->vars : 0;
    if (cell & PT_GRANULE_FINE)
        cell = cells->fines[cell & ~PT_GRANULE_FINE].cells[address & 7];
    if (cell)
        __builtin_prefetch(&cells->items[cell - 1]);
}

#endif
