/* The cells of memory (places.h), by their addresses. Those of variables do not overlap; at an address there may be one
 * of each other space beside them, of one byte. */
#ifndef PT_TRACE_CELLS_H
#define PT_TRACE_CELLS_H

#include "trace/pages.h"
#include "trace/places.h"

/* A granule: the cells in it, of variables and of others, as codes. */
struct pt_granule {
    uint32_t vars, others;
};

/*
 * The code of a cell. Most cells of variables are whole aligned numbers, and most other objects are alone in their
 * granule: these are their code (PT_CODE_OWN), so that who asks for one reads a single line of memory.
 *
 *   of variables  0: none; PT_CODE_OWN, whether it is signed, the logarithm of its size, its name; with PT_CODE_FINE
 * the number of a pt_granule_fine; otherwise the number of the only one, plus 1. In a granule itself own codes are of 8
 * bytes of others     0: none; PT_CODE_OWN, whether it is in PT_SPACE_OTHER, its byte, its name; otherwise the number
 * of the first link, plus 1
 */
#define PT_CODE_OWN    UINT32_C(0x80000000)
#define PT_CODE_SIGNED UINT32_C(0x40000000)
#define PT_CODE_FINE   UINT32_C(0x40000000)
#define PT_CODE_OTHER  UINT32_C(0x40000000)
enum { PT_CODE_SIZE_AT = 28, PT_CODE_BYTE_AT = 27 };
#define PT_CODE_NAME       ((UINT32_C(1) << PT_CODE_SIZE_AT) - 1)
#define PT_CODE_OTHER_NAME ((UINT32_C(1) << PT_CODE_BYTE_AT) - 1)

struct pt_granule_fine {
    uint32_t cells[8]; /* the code for each byte. The first one chains those that are free */
};
struct pt_cell_link {
    uint32_t cell, next; /* next: plus 1 */
};

struct pt_cells {
    struct pt_cell *items; /* that are not their code */
    uint32_t count, free;  /* free ones are chained by size; PT_NONE: there are none */
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
/* Nothing that is there overlaps it. */
void pt_cells_add(struct pt_cells *cells, const struct pt_cell *cell);
/* Drops all cells of which something lies in [low, high). */
void pt_cells_forget(struct pt_cells *cells, uint64_t low, uint64_t high);
/* Calls for all cells of which something lies there, once for each: by granules, and in one those with the latest names
 * first. */
void pt_cells_visit(struct pt_cells *cells, uint64_t low, uint64_t high,
                    void (*visit)(void *context, const struct pt_cell *cell), void *context);

/* What a code that is no pt_granule_fine says of the cell that holds `address`. */
static inline struct pt_cell pt_cells_read(const struct pt_cells *cells, uint32_t code, uint64_t address)
{
    if (__builtin_expect(!(code & PT_CODE_OWN), 0))
        return cells->items[code - 1];
    uint32_t size = UINT32_C(1) << (code >> PT_CODE_SIZE_AT & 3);
    return (struct pt_cell){.low = address & ~(uint64_t)(size - 1),
                            .size = size,
                            .name = code & PT_CODE_NAME,
                            .space = PT_SPACE_VAR,
                            .type = code & PT_CODE_SIGNED ? PT_WATCH_INT : PT_WATCH_UINT};
}

/* The cell of a variable that holds `address`; false: there is none. */
static inline bool pt_cells_var(struct pt_cells *cells, uint64_t address, struct pt_cell *ret_cell)
{
    const struct pt_granule *page = pt_pages_at(&cells->pages, address >> PT_PAGE_BITS, false);
    uint32_t code = page ? page[(address >> 3) % PT_PAGE_GRANULES].vars : 0;
    if ((code & (PT_CODE_OWN | PT_CODE_FINE)) == PT_CODE_FINE)
        code = cells->fines[code & ~PT_CODE_FINE].cells[address & 7];
    if (!code)
        return false;
    *ret_cell = pt_cells_read(cells, code, address);
    return address - ret_cell->low < ret_cell->size;
}

/* The cell of an object; false: there is none. */
bool pt_cells_look_object(struct pt_cells *cells, uint64_t address, enum pt_space space, struct pt_cell *ret_cell);
static inline bool pt_cells_object(struct pt_cells *cells, uint64_t address, enum pt_space space,
                                   struct pt_cell *ret_cell)
{
    const struct pt_granule *page = pt_pages_at(&cells->pages, address >> PT_PAGE_BITS, false);
    uint32_t code = page ? page[(address >> 3) % PT_PAGE_GRANULES].others : 0;
    if (code & PT_CODE_OWN) {
        enum pt_space of = code & PT_CODE_OTHER ? PT_SPACE_OTHER : PT_SPACE_LOCK;
        *ret_cell =
            (struct pt_cell){.low = address, .size = 1, .name = code & PT_CODE_OTHER_NAME, .space = (uint8_t)of};
        return of == space && (code >> PT_CODE_BYTE_AT & 7) == (address & 7);
    }
    return code && pt_cells_look_object(cells, address, space, ret_cell);
}

/* Memory is far away. There will be an access of it; and, some time after that was said: there soon will be. */
static inline void pt_cells_expect(const struct pt_cells *cells, uint64_t address)
{
    const struct pt_granule *page = pt_pages_peek(&cells->pages, address >> PT_PAGE_BITS);
    if (page)
        pt_prefetch(&page[(address >> 3) % PT_PAGE_GRANULES]);
}

static inline void pt_cells_expect_soon(const struct pt_cells *cells, uint64_t address)
{
    const struct pt_granule *page = pt_pages_peek(&cells->pages, address >> PT_PAGE_BITS);
    uint32_t code = page ? page[(address >> 3) % PT_PAGE_GRANULES].vars : 0;
    if ((code & (PT_CODE_OWN | PT_CODE_FINE)) == PT_CODE_FINE)
        pt_prefetch(&cells->fines[code & ~PT_CODE_FINE]);
    else if (code && !(code & PT_CODE_OWN))
        pt_prefetch(&cells->items[code - 1]);
}

#endif
