/*
 * A table by granules: of most one cell is all there is; where variables are smaller, it has one for each byte.
 *
 * Cost: a look-up of a page (pages.h) and one or two steps; giving back large memory costs by the pages that something
 * is known of. Memory: 8 bytes for each granule of those pages, and the cells.
 */
#include "trace/cells.h"

#include <stdlib.h>

#include "base/mem.h"

void pt_cells_begin(struct pt_cells *c)
{
    *c = (struct pt_cells){.free = PT_NONE};
    pt_pages_begin(&c->pages, sizeof(struct pt_granule));
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

/* The bytes of a granule that a cell has: from *ret_from on, up to the result. */
static unsigned bytes_in(const struct pt_cell *cell, uint64_t granule, unsigned *ret_from)
{
    uint64_t low = granule << 3, end = cell->low + cell->size;
    *ret_from = cell->low > low ? (unsigned)(cell->low - low) : 0;
    return end - low < 8 ? (unsigned)(end - low) : 8;
}

static void fill(struct pt_cells *c, struct pt_granule_fine *fine, uint32_t cell, uint64_t granule)
{
    unsigned from, to = bytes_in(&c->items[cell], granule, &from);
    for (; from < to; from++)
        fine->cells[from] = cell + 1;
}

static void add_var(struct pt_cells *c, uint32_t cell, uint64_t granule)
{
    struct pt_granule *at = granule_at(c, granule, true);
    if (!at->vars) {
        at->vars = cell + 1;
        return;
    }
    if (!(at->vars & PT_GRANULE_FINE)) {
        uint32_t number = c->free_fine;
        if (number) {
            c->free_fine = c->fines[number - 1].cells[0];
            c->fines[number - 1] = (struct pt_granule_fine){0};
        } else {
            PT_PUSH(c->fines, c->fine_count, c->fine_cap, (struct pt_granule_fine){0});
            number = c->fine_count;
        }
        fill(c, &c->fines[number - 1], at->vars - 1, granule);
        at->vars = (number - 1) | PT_GRANULE_FINE;
    }
    fill(c, &c->fines[at->vars & ~PT_GRANULE_FINE], cell, granule);
}

static void drop_var(struct pt_cells *c, uint32_t cell, uint64_t granule)
{
    struct pt_granule *at = granule_at(c, granule, false);
    if (!(at->vars & PT_GRANULE_FINE)) {
        at->vars = at->vars == cell + 1 ? 0 : at->vars;
        return;
    }
    uint32_t number = at->vars & ~PT_GRANULE_FINE, left = 0;
    struct pt_granule_fine *fine = &c->fines[number];
    for (unsigned i = 0; i < 8; i++) {
        if (fine->cells[i] == cell + 1)
            fine->cells[i] = 0;
        left |= fine->cells[i];
    }
    if (!left) {
        fine->cells[0] = c->free_fine;
        c->free_fine = number + 1;
        at->vars = 0;
    }
}

static void add_other(struct pt_cells *c, uint32_t cell, uint64_t granule)
{
    struct pt_granule *at = granule_at(c, granule, true);
    uint32_t number = c->free_link;
    if (number) {
        c->free_link = c->links[number - 1].next;
        c->links[number - 1] = (struct pt_cell_link){cell, at->others};
    } else {
        PT_PUSH(c->links, c->link_count, c->link_cap, ((struct pt_cell_link){cell, at->others}));
        number = c->link_count;
    }
    at->others = number;
}

static void drop_other(struct pt_cells *c, uint32_t cell, uint64_t granule)
{
    uint32_t *at = &granule_at(c, granule, false)->others, number;
    while (c->links[*at - 1].cell != cell)
        at = &c->links[*at - 1].next;
    number = *at;
    *at = c->links[number - 1].next;
    c->links[number - 1].next = c->free_link;
    c->free_link = number;
}

uint32_t pt_cells_add(struct pt_cells *c, struct pt_cell made)
{
    uint32_t cell = c->free;
    if (cell != PT_NONE) {
        c->free = c->items[cell].size;
        c->items[cell] = made;
    } else {
        cell = c->count;
        PT_PUSH(c->items, c->count, c->cap, made);
    }
    for (uint64_t granule = made.low >> 3; granule <= (made.low + made.size - 1) >> 3; granule++)
        (made.space == PT_SPACE_VAR ? add_var : add_other)(c, cell, granule);
    return cell;
}

void pt_cells_drop(struct pt_cells *c, uint32_t cell)
{
    struct pt_cell gone = c->items[cell];
    for (uint64_t granule = gone.low >> 3; granule <= (gone.low + gone.size - 1) >> 3; granule++)
        (gone.space == PT_SPACE_VAR ? drop_var : drop_other)(c, cell, granule);
    c->items[cell].size = c->free;
    c->free = cell;
}

uint32_t pt_cells_object(struct pt_cells *c, uint64_t address, enum pt_space space)
{
    const struct pt_granule *at = granule_at(c, address >> 3, false);
    for (uint32_t link = at ? at->others : 0; link; link = c->links[link - 1].next) {
        const struct pt_cell *cell = &c->items[c->links[link - 1].cell];
        if (cell->space == space && address - cell->low < cell->size)
            return c->links[link - 1].cell;
    }
    return PT_NONE;
}

struct visit {
    uint64_t low, high;
    void (*cell)(void *context, uint32_t cell);
    void *context;
};

/* A cell that a granule has: visited in the first that it lies in. */
static void visit_cell(struct pt_cells *c, const struct visit *visit, uint64_t granule, uint32_t cell)
{
    const struct pt_cell *found = &c->items[cell];
    uint64_t first = found->low > visit->low ? found->low : visit->low;
    if (first >> 3 == granule && found->low < visit->high && found->low + found->size > visit->low)
        visit->cell(visit->context, cell);
}

/* The cells of variables there, each once. */
static unsigned list_vars(const struct pt_cells *c, const struct pt_granule *at, uint32_t *cells)
{
    unsigned count = 0;
    if (!at->vars)
        return 0;
    if (!(at->vars & PT_GRANULE_FINE)) {
        cells[0] = at->vars - 1;
        return 1;
    }
    const struct pt_granule_fine *fine = &c->fines[at->vars & ~PT_GRANULE_FINE];
    for (unsigned i = 0; i < 8; i++) {
        uint32_t cell = fine->cells[i] - 1;
        if (!fine->cells[i] || (i && fine->cells[i] == fine->cells[i - 1]))
            continue;
        unsigned to = count++;
        for (; to && c->items[cells[to - 1]].name < c->items[cell].name; to--)
            cells[to] = cells[to - 1];
        cells[to] = cell;
    }
    return count;
}

static void visit_page(struct pt_cells *c, uint64_t page, const struct visit *visit)
{
    uint64_t first = page << (PT_PAGE_BITS - 3), last = first + PT_PAGE_GRANULES - 1;
    const struct pt_granule *granules = pt_pages_at(&c->pages, page, false);
    first = first < visit->low >> 3 ? visit->low >> 3 : first;
    last = last > (visit->high - 1) >> 3 ? (visit->high - 1) >> 3 : last;
    for (uint64_t granule = first; granule <= last; granule++) {
        const struct pt_granule *at = &granules[granule % PT_PAGE_GRANULES];
        uint32_t cells[8];
        unsigned count = list_vars(c, at, cells);
        for (unsigned i = 0; i < count; i++)
            visit_cell(c, visit, granule, cells[i]);
        for (uint32_t link = at->others; link;) {
            struct pt_cell_link other = c->links[link - 1];
            visit_cell(c, visit, granule, other.cell);
            link = other.next;
        }
    }
}

void pt_cells_visit(struct pt_cells *c, uint64_t low, uint64_t high, void (*cell)(void *context, uint32_t cell),
                    void *context)
{
    struct visit visit = {low, high, cell, context};
    if (low >= high)
        return;
    uint64_t first = low >> PT_PAGE_BITS, last = (high - 1) >> PT_PAGE_BITS;
    if (last - first >= c->pages.count) {
        for (uint32_t i = 0; i < c->pages.count; i++)
            if (c->pages.pages[i].page >= first && c->pages.pages[i].page <= last)
                visit_page(c, c->pages.pages[i].page, &visit);
        return;
    }
    for (uint64_t page = first; page <= last; page++)
        if (pt_pages_at(&c->pages, page, false))
            visit_page(c, page, &visit);
}
