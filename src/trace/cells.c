/*
 * A table by granules: of most one cell is all there is; where variables are smaller, it has a code for each byte.
 *
 * Cost: a look-up of a page (pages.h) and one or two steps; giving back large memory costs by the pages that something
 * is known of. Memory: 8 bytes for each granule of those pages, 32 where variables are smaller, and the cells that are
 * not their code.
 */
#include "trace/cells.h"

#include <stdlib.h>

#include "base/mem.h"

void pt_cells_begin(struct pt_cells *c)
{
    *c = (struct pt_cells){.free = PT_NONE};
    pt_pages_begin(&c->pages, PT_PAGE_GRANULES * sizeof(struct pt_granule));
}

void pt_cells_release(struct pt_cells *c)
{
    free(c->items);
    free(c->fines);
    free(c->links);
    pt_pages_release(&c->pages);
}

static struct pt_granule *granule_at(struct pt_cells *c, uint64_t granule, bool make)
{
    struct pt_granule *page = pt_pages_at(&c->pages, granule >> (PT_PAGE_BITS - 3), make);
    return page ? &page[granule % PT_PAGE_GRANULES] : NULL;
}

static bool is_fine(uint32_t vars)
{
    return (vars & (PT_CODE_OWN | PT_CODE_FINE)) == PT_CODE_FINE;
}

/* --- cells that are not their code --- */

static uint32_t new_item(struct pt_cells *c, const struct pt_cell *made)
{
    uint32_t cell = c->free;
    if (cell != PT_NONE) {
        c->free = c->items[cell].size;
        c->items[cell] = *made;
    } else {
        cell = c->count;
        PT_PUSH(c->items, c->count, c->cap, *made);
    }
    return cell;
}

static void free_item(struct pt_cells *c, uint32_t cell)
{
    c->items[cell].size = c->free;
    c->free = cell;
}

/* --- variables --- */

/* The bytes of a granule that a cell has: from *ret_from on, up to the result. */
static unsigned bytes_in(const struct pt_cell *cell, uint64_t granule, unsigned *ret_from)
{
    uint64_t low = granule << 3, end = cell->low + cell->size;
    *ret_from = cell->low > low ? (unsigned)(cell->low - low) : 0;
    return end - low < 8 ? (unsigned)(end - low) : 8;
}

static void fill(struct pt_granule_fine *fine, uint32_t code, const struct pt_cell *cell, uint64_t granule)
{
    unsigned from, to = bytes_in(cell, granule, &from);
    for (; from < to; from++)
        fine->cells[from] = code;
}

/* The number of a new one. */
static uint32_t new_fine(struct pt_cells *c)
{
    uint32_t number = c->free_fine;
    if (number) {
        c->free_fine = c->fines[number - 1].cells[0];
        c->fines[number - 1] = (struct pt_granule_fine){0};
        return number - 1;
    }
    PT_PUSH(c->fines, c->fine_count, c->fine_cap, (struct pt_granule_fine){0});
    return c->fine_count - 1;
}

static void free_fine(struct pt_cells *c, uint32_t number)
{
    c->fines[number].cells[0] = c->free_fine;
    c->free_fine = number + 1;
}

/* 0: a code cannot say what it is. */
static uint32_t own_code(const struct pt_cell *cell)
{
    bool sized = cell->size <= 8 && !(cell->size & (cell->size - 1)), aligned = !(cell->low & (cell->size - 1));
    if (!sized || !aligned || cell->name > PT_CODE_NAME || (cell->type != PT_WATCH_INT && cell->type != PT_WATCH_UINT))
        return 0;
    return PT_CODE_OWN | (cell->type == PT_WATCH_INT ? PT_CODE_SIGNED : 0) |
           (uint32_t)__builtin_ctz(cell->size) << PT_CODE_SIZE_AT | cell->name;
}

static void add_to_granule(struct pt_cells *c, const struct pt_cell *cell, uint32_t code, uint64_t granule)
{
    struct pt_granule *at = granule_at(c, granule, true);
    if (!at->vars && (cell->size == 8 || !(code & PT_CODE_OWN))) {
        at->vars = code;
        return;
    }
    if (!is_fine(at->vars)) {
        uint32_t number = new_fine(c);
        if (at->vars)
            fill(&c->fines[number], at->vars, &c->items[at->vars - 1], granule);
        at->vars = number | PT_CODE_FINE;
    }
    fill(&c->fines[at->vars & ~PT_CODE_FINE], code, cell, granule);
}

static void add_var(struct pt_cells *c, const struct pt_cell *cell)
{
    uint32_t code = own_code(cell);
    if (!code)
        code = new_item(c, cell) + 1;
    for (uint64_t granule = cell->low >> 3; granule <= (cell->low + cell->size - 1) >> 3; granule++)
        add_to_granule(c, cell, code, granule);
}

static void drop_from_granule(struct pt_cells *c, const struct pt_cell *cell, uint64_t granule)
{
    struct pt_granule *at = granule_at(c, granule, false);
    if (!is_fine(at->vars)) {
        at->vars = 0;
        return;
    }
    uint32_t number = at->vars & ~PT_CODE_FINE, left = 0;
    struct pt_granule_fine *fine = &c->fines[number];
    fill(fine, 0, cell, granule);
    for (unsigned i = 0; i < 8; i++)
        left |= fine->cells[i];
    if (!left) {
        free_fine(c, number);
        at->vars = 0;
    }
}

static void drop_item(struct pt_cells *c, uint32_t number)
{
    struct pt_cell gone = c->items[number];
    for (uint64_t granule = gone.low >> 3; granule <= (gone.low + gone.size - 1) >> 3; granule++)
        drop_from_granule(c, &gone, granule);
    free_item(c, number);
}

/* Those of which something lies at a byte of this granule in [from, to). */
static void drop_vars(struct pt_cells *c, struct pt_granule *at, uint64_t granule, unsigned from, unsigned to)
{
    if (at->vars & PT_CODE_OWN) {
        at->vars = 0;
        return;
    }
    for (unsigned i = from; i < to && at->vars; i++) {
        uint32_t code = is_fine(at->vars) ? c->fines[at->vars & ~PT_CODE_FINE].cells[i] : at->vars;
        struct pt_cell cell = {0};
        if (code)
            cell = pt_cells_read(c, code, granule << 3 | i);
        if (!code || (granule << 3 | i) - cell.low >= cell.size)
            continue;
        if (code & PT_CODE_OWN)
            drop_from_granule(c, &cell, granule);
        else
            drop_item(c, code - 1);
    }
}

/* --- others --- */

static void add_link(struct pt_cells *c, struct pt_granule *at, const struct pt_cell *cell)
{
    uint32_t number = c->free_link, item = new_item(c, cell);
    if (number) {
        c->free_link = c->links[number - 1].next;
        c->links[number - 1] = (struct pt_cell_link){item, at->others};
    } else {
        PT_PUSH(c->links, c->link_count, c->link_cap, ((struct pt_cell_link){item, at->others}));
        number = c->link_count;
    }
    at->others = number;
}

/* Of a granule whose `others` are one that is its code. */
static struct pt_cell read_other(uint32_t code, uint64_t granule)
{
    return (struct pt_cell){.low = granule << 3 | (code >> PT_CODE_BYTE_AT & 7),
                            .size = 1,
                            .name = code & PT_CODE_OTHER_NAME,
                            .space = (uint8_t)(code & PT_CODE_OTHER ? PT_SPACE_OTHER : PT_SPACE_LOCK)};
}

static void add_other(struct pt_cells *c, const struct pt_cell *cell)
{
    struct pt_granule *at = granule_at(c, cell->low >> 3, true);
    bool known = cell->space == PT_SPACE_OTHER || cell->space == PT_SPACE_LOCK;
    if (!at->others && known && cell->name <= PT_CODE_OTHER_NAME) {
        at->others = PT_CODE_OWN | (cell->space == PT_SPACE_OTHER ? PT_CODE_OTHER : 0) |
                     (uint32_t)(cell->low & 7) << PT_CODE_BYTE_AT | cell->name;
        return;
    }
    if (at->others & PT_CODE_OWN) {
        struct pt_cell before = read_other(at->others, cell->low >> 3);
        at->others = 0;
        add_link(c, at, &before);
    }
    add_link(c, at, cell);
}

/* Those at a byte in [from, to). */
static void drop_others(struct pt_cells *c, struct pt_granule *at, unsigned from, unsigned to)
{
    if (at->others & PT_CODE_OWN) {
        unsigned byte = at->others >> PT_CODE_BYTE_AT & 7;
        at->others = byte >= from && byte < to ? 0 : at->others;
        return;
    }
    for (uint32_t *link = &at->others, number; (number = *link);) {
        struct pt_cell_link *found = &c->links[number - 1];
        unsigned byte = c->items[found->cell].low & 7;
        if (byte < from || byte >= to) {
            link = &found->next;
            continue;
        }
        free_item(c, found->cell);
        *link = found->next;
        found->next = c->free_link;
        c->free_link = number;
    }
}

bool pt_cells_look_object(struct pt_cells *c, uint64_t address, enum pt_space space, struct pt_cell *ret_cell)
{
    const struct pt_granule *at = granule_at(c, address >> 3, false);
    for (uint32_t link = at ? at->others : 0; link; link = c->links[link - 1].next) {
        const struct pt_cell *cell = &c->items[c->links[link - 1].cell];
        if (cell->space == space && address == cell->low) {
            *ret_cell = *cell;
            return true;
        }
    }
    return false;
}

/* --- all of them --- */

void pt_cells_add(struct pt_cells *c, const struct pt_cell *cell)
{
    (cell->space == PT_SPACE_VAR ? add_var : add_other)(c, cell);
}

struct visit {
    uint64_t low, high;
    void (*cell)(void *context, const struct pt_cell *cell); /* NULL: they are dropped */
    void *context;
};

/* A cell that a granule has: visited in the first that it lies in. */
static void visit_cell(const struct visit *visit, uint64_t granule, struct pt_cell cell)
{
    uint64_t first = cell.low > visit->low ? cell.low : visit->low;
    if (first >> 3 == granule && cell.low < visit->high && cell.low + cell.size > visit->low)
        visit->cell(visit->context, &cell);
}

/* The cells of variables there, each once. */
static unsigned list_vars(const struct pt_cells *c, uint32_t vars, uint64_t granule, struct pt_cell *cells)
{
    unsigned count = 0;
    if (!vars)
        return 0;
    if (!is_fine(vars)) {
        cells[0] = pt_cells_read(c, vars, granule << 3);
        return 1;
    }
    const struct pt_granule_fine *fine = &c->fines[vars & ~PT_CODE_FINE];
    for (unsigned i = 0, from; i < 8;) {
        if (!fine->cells[i]) {
            i++;
            continue;
        }
        struct pt_cell cell = pt_cells_read(c, fine->cells[i], granule << 3 | i);
        unsigned to = count++;
        for (; to && cells[to - 1].name < cell.name; to--)
            cells[to] = cells[to - 1];
        cells[to] = cell;
        i = bytes_in(&cell, granule, &from);
    }
    return count;
}

static void visit_granule(struct pt_cells *c, const struct visit *visit, const struct pt_granule *at, uint64_t granule)
{
    struct pt_cell cells[8];
    unsigned count = list_vars(c, at->vars, granule, cells);
    for (unsigned i = 0; i < count; i++)
        visit_cell(visit, granule, cells[i]);
    if (at->others & PT_CODE_OWN) {
        visit_cell(visit, granule, read_other(at->others, granule));
        return;
    }
    for (uint32_t link = at->others; link; link = c->links[link - 1].next)
        visit_cell(visit, granule, c->items[c->links[link - 1].cell]);
}

static void visit_page(struct pt_cells *c, uint64_t page, struct pt_granule *granules, const struct visit *visit)
{
    uint64_t first = page << (PT_PAGE_BITS - 3), last = first + PT_PAGE_GRANULES - 1;
    first = first < visit->low >> 3 ? visit->low >> 3 : first;
    last = last > (visit->high - 1) >> 3 ? (visit->high - 1) >> 3 : last;
    for (uint64_t granule = first; granule <= last; granule++) {
        struct pt_granule *at = &granules[granule % PT_PAGE_GRANULES];
        if (visit->cell) {
            visit_granule(c, visit, at, granule);
            continue;
        }
        unsigned from = granule << 3 < visit->low ? visit->low & 7 : 0;
        unsigned to = (granule << 3 | 7) < visit->high ? 8 : visit->high & 7;
        if (at->vars)
            drop_vars(c, at, granule, from, to);
        if (at->others)
            drop_others(c, at, from, to);
    }
}

static void visit_pages(struct pt_cells *c, const struct visit *visit)
{
    if (visit->low >= visit->high)
        return;
    uint64_t first = visit->low >> PT_PAGE_BITS, last = (visit->high - 1) >> PT_PAGE_BITS;
    if (last - first >= c->pages.count) {
        for (uint32_t i = 0; i < c->pages.count; i++)
            if (c->pages.pages[i].page >= first && c->pages.pages[i].page <= last)
                visit_page(c, c->pages.pages[i].page, c->pages.pages[i].granules, visit);
        return;
    }
    for (uint64_t page = first; page <= last; page++) {
        struct pt_granule *granules = pt_pages_at(&c->pages, page, false);
        if (granules)
            visit_page(c, page, granules, visit);
    }
}

void pt_cells_visit(struct pt_cells *c, uint64_t low, uint64_t high,
                    void (*cell)(void *context, const struct pt_cell *cell), void *context)
{
    struct visit visit = {low, high, cell, context};
    visit_pages(c, &visit);
}

void pt_cells_forget(struct pt_cells *c, uint64_t low, uint64_t high)
{
    struct visit visit = {low, high, NULL, NULL};
    visit_pages(c, &visit);
}
