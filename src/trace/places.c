/*
 * Cells hang in lists by granule (8 aligned bytes), found by hashing; a cell of several granules hangs in each. Pages
 * that have cells are listed, so that giving back large memory costs by what is known of it. Cost: a hash look-up per
 * access. Memory: by cells alive, and a name for each that ever was.
 */
#include "trace/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/blocks.h"

enum { LARGEST_CELL = 64, PAGE_BITS = 12 };

struct link {
    uint32_t cell, next;
};

struct module {
    char *file;
    uint64_t base, low, high;
};

struct pt_places {
    struct pt_names *names;
    pt_place_function function;
    void *context;
    struct module *modules;
    uint32_t module_count;
    size_t module_cap;
    struct pt_cell *cells;
    uint32_t cell_count;
    size_t cell_cap;
    struct link *links;
    uint32_t link_count;
    size_t link_cap;
    uint32_t free_cell, free_link; /* chained by size and next */
    struct pt_map64 granules;      /* address / 8: first link */
    struct pt_map64 pages;         /* address / 4096: index in page_list */
    uint64_t *page_list;
    uint32_t page_count;
    size_t page_cap;
    struct pt_map64 lives; /* address: how many variables have begun there; other spaces with high bits set */
    struct pt_blocks blocks;
    struct pt_map64 namesakes; /* name of an object that was given one: how many there were */
};

struct pt_places *pt_places_new(struct pt_names *names)
{
    struct pt_places *p = pt_xcalloc(1, sizeof *p);
    p->names = names;
    p->free_cell = p->free_link = PT_NONE;
    pt_map64_init(&p->granules);
    pt_map64_init(&p->pages);
    pt_map64_init(&p->lives);
    pt_map64_init(&p->namesakes);
    pt_blocks_init(&p->blocks);
    return p;
}

void pt_places_free(struct pt_places *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->module_count; i++)
        free(p->modules[i].file);
    free(p->modules);
    free(p->cells);
    free(p->links);
    free(p->page_list);
    pt_map64_release(&p->granules);
    pt_map64_release(&p->pages);
    pt_map64_release(&p->lives);
    pt_map64_release(&p->namesakes);
    pt_blocks_release(&p->blocks);
    free(p);
}

void pt_places_set_function(struct pt_places *p, pt_place_function function, void *context)
{
    p->function = function;
    p->context = context;
}

const char *pt_places_module(const struct pt_places *p, uint64_t base)
{
    for (uint32_t i = p->module_count; i-- > 0;)
        if (p->modules[i].base == base)
            return p->modules[i].file;
    return NULL;
}

void pt_places_add_module(struct pt_places *p, const char *file, uint64_t base, uint64_t low, uint64_t high)
{
    enum { MOST_MODULES = 4096 };
    for (uint32_t i = 0; i < p->module_count; i++)
        if (p->modules[i].base == base && strcmp(p->modules[i].file, file) == 0)
            return;
    if (p->module_count < MOST_MODULES && low < high)
        PT_PUSH(p->modules, p->module_count, p->module_cap, ((struct module){pt_xstrdup(file), base, low, high}));
}

/* --- the lists --- */

static uint32_t find(const struct pt_places *p, uint64_t address, enum pt_space space)
{
    for (uint32_t link = pt_map64_get(&p->granules, address >> 3); link != PT_NONE; link = p->links[link].next) {
        const struct pt_cell *cell = &p->cells[p->links[link].cell];
        if (cell->space == space && address - cell->low < cell->size)
            return p->links[link].cell;
    }
    return PT_NONE;
}

static void note_page(struct pt_places *p, uint64_t address)
{
    uint32_t *index = pt_map64_at(&p->pages, address >> PAGE_BITS);
    if (*index != PT_NONE)
        return;
    *index = p->page_count;
    PT_PUSH(p->page_list, p->page_count, p->page_cap, address >> PAGE_BITS);
}

static void hang(struct pt_places *p, uint32_t cell, uint64_t granule)
{
    uint32_t link = p->free_link;
    if (link != PT_NONE) {
        p->free_link = p->links[link].next;
    } else {
        link = p->link_count;
        PT_PUSH(p->links, p->link_count, p->link_cap, ((struct link){0}));
    }
    uint32_t *first = pt_map64_at(&p->granules, granule);
    p->links[link] = (struct link){cell, *first};
    *first = link;
    note_page(p, granule << 3);
}

static void unhang(struct pt_places *p, uint32_t cell, uint64_t granule)
{
    uint32_t *at = pt_map64_at(&p->granules, granule);
    while (*at != PT_NONE && p->links[*at].cell != cell)
        at = &p->links[*at].next;
    if (*at == PT_NONE)
        return;
    uint32_t link = *at;
    *at = p->links[link].next;
    p->links[link].next = p->free_link;
    p->free_link = link;
}

static uint32_t add(struct pt_places *p, struct pt_cell made)
{
    uint32_t cell = p->free_cell;
    if (cell != PT_NONE) {
        p->free_cell = p->cells[cell].size;
        p->cells[cell] = made;
    } else {
        cell = p->cell_count;
        PT_PUSH(p->cells, p->cell_count, p->cell_cap, made);
    }
    for (uint64_t granule = made.low >> 3; granule <= (made.low + made.size - 1) >> 3; granule++)
        hang(p, cell, granule);
    return cell;
}

static void drop(struct pt_places *p, uint32_t cell)
{
    struct pt_cell gone = p->cells[cell];
    for (uint64_t granule = gone.low >> 3; granule <= (gone.low + gone.size - 1) >> 3; granule++)
        unhang(p, cell, granule);
    p->cells[cell].size = p->free_cell;
    p->free_cell = cell;
}

typedef void visit_cell(struct pt_places *p, uint32_t cell, void *context);

static void visit_page(struct pt_places *p, uint64_t page, uint64_t low, uint64_t high, visit_cell *visit,
                       void *context)
{
    uint64_t first = page << (PAGE_BITS - 3), last = first + (1 << (PAGE_BITS - 3)) - 1;
    first = first < low >> 3 ? low >> 3 : first;
    last = last > (high - 1) >> 3 ? (high - 1) >> 3 : last;
    for (uint64_t granule = first; granule <= last; granule++) {
        for (uint32_t link = pt_map64_get(&p->granules, granule); link != PT_NONE;) {
            uint32_t cell = p->links[link].cell, next = p->links[link].next;
            if (p->cells[cell].low < high && p->cells[cell].low + p->cells[cell].size > low)
                visit(p, cell, context);
            link = next;
        }
    }
}

/* All cells of which something lies in [low, high); one of several granules may come once for each. */
static void visit_cells(struct pt_places *p, uint64_t low, uint64_t high, visit_cell *visit, void *context)
{
    if (low >= high)
        return;
    uint64_t first = low >> PAGE_BITS, last = (high - 1) >> PAGE_BITS;
    if (last - first >= p->page_count) {
        for (uint32_t i = 0; i < p->page_count; i++)
            if (p->page_list[i] >= first && p->page_list[i] <= last)
                visit_page(p, p->page_list[i], low, high, visit, context);
        return;
    }
    for (uint64_t page = first; page <= last; page++)
        if (pt_map64_get(&p->pages, page) != PT_NONE)
            visit_page(p, page, low, high, visit, context);
}

static void drop_cell(struct pt_places *p, uint32_t cell, void *context)
{
    (void)context;
    drop(p, cell);
}

void pt_places_forget(struct pt_places *p, uint64_t low, uint64_t high)
{
    visit_cells(p, low, high, drop_cell, NULL);
    pt_blocks_remove(&p->blocks, low, high);
}

/* --- names --- */

static bool ask(const struct pt_places *p, uint64_t address, bool whole, struct pt_placed *ret_placed,
                uint64_t *ret_low)
{
    for (uint32_t i = p->module_count; i-- > 0 && p->function;) {
        const struct module *module = &p->modules[i];
        if (address < module->low || address >= module->high)
            continue;
        if (!p->function(p->context, module->file, address - module->base, whole, ret_placed))
            return false;
        *ret_low = module->base + ret_placed->offset;
        return address - *ret_low < ret_placed->size;
    }
    return false;
}

static uint32_t intern(struct pt_places *p, enum pt_space space, const char *text)
{
    return pt_strtab_intern(&p->names->space[space], text, strlen(text));
}

static uint32_t *lives_at(struct pt_places *p, enum pt_space space, uint64_t address)
{
    uint32_t *lives = pt_map64_at(&p->lives, address ^ (uint64_t)space << 56);
    if (*lives == PT_NONE)
        *lives = 0;
    return lives;
}

/* Behind `to`, which has room for it; memory without names is named byte by byte, so this is not left to printf. */
static char *put_number(char *to, uint64_t number, unsigned base)
{
    char digits[24];
    unsigned count = 0;
    do
        digits[count++] = "0123456789abcdef"[number % base];
    while (number /= base);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* In its present life, or the last one. */
static uint32_t name_by_address(struct pt_places *p, enum pt_space space, uint64_t address)
{
    char text[64] = "0x", *end = put_number(text + 2, address, 16);
    uint32_t lives = *lives_at(p, space, address);
    if (lives > 1) {
        *end++ = '#';
        end = put_number(end, lives, 10);
    }
    return pt_strtab_intern(&p->names->space[space], text, (size_t)(end - text));
}

static uint32_t begin_life(struct pt_places *p, enum pt_space space, uint64_t address)
{
    ++*lives_at(p, space, address);
    return name_by_address(p, space, address);
}

/* The bytes from `address` that a new cell may take: up to the access's end, or the next cell. */
static uint32_t room(const struct pt_places *p, uint64_t address, uint64_t end, bool block)
{
    if (block && end > (address | 7) + 1)
        end = (address | 7) + 1;
    uint32_t size = 1;
    while (address + size < end && size < LARGEST_CELL && find(p, address + size, PT_SPACE_VAR) == PT_NONE)
        size++;
    return size;
}

/* Is the address in the padding of what lies there? A struct is named only where none of its members is: it begins with
 * one. `ret_end`: where the padding ends. */
static bool is_padding(const struct pt_places *p, uint64_t address, const struct pt_placed *placed, uint64_t low,
                       uint64_t *ret_end)
{
    struct pt_placed other;
    uint64_t other_low, end = address + 1;
    if (ask(p, low, false, &other, &other_low) && other.size == placed->size)
        return false;
    while (end < low + placed->size && ask(p, end, false, &other, &other_low) && other_low == low &&
           other.size == placed->size)
        end++;
    *ret_end = end;
    return true;
}

/* What begins at an offset of something that has a name. */
static uint32_t name_part(struct pt_places *p, enum pt_space space, const char *name, uint64_t offset)
{
    enum { MOST = 480 };
    char text[MOST + 32];
    size_t len = strnlen(name, MOST);
    memcpy(text, name, len);
    text[len] = '+';
    char *end = put_number(text + len + 1, offset, 10);
    return pt_strtab_intern(&p->names->space[space], text, (size_t)(end - text));
}

static uint32_t make_cell(struct pt_places *p, uint64_t address, uint64_t end, bool block)
{
    struct pt_placed placed;
    uint64_t low;
    struct pt_cell cell = {.low = address, .space = PT_SPACE_VAR, .type = PT_WATCH_UINT};
    bool known = ask(p, address, false, &placed, &low);
    char name[481] = "";
    uint64_t padding_end = end;
    if (known)
        snprintf(name, sizeof name, "%s", placed.name);
    bool padding = known && is_padding(p, address, &placed, low, &padding_end);
    if (known && !padding && placed.size <= LARGEST_CELL) {
        cell.low = low;
        cell.size = placed.size;
        cell.type = (uint8_t)placed.type;
        cell.name = intern(p, PT_SPACE_VAR, name);
        return add(p, cell);
    }
    cell.size = room(p, address, padding && padding_end < end ? padding_end : end, block);
    const struct pt_block *inside = known ? NULL : pt_blocks_first(&p->blocks, address, address + 1);
    if (known) /* padding, a large union, or something like it: by pieces */
        cell.name = name_part(p, PT_SPACE_VAR, name, address - low);
    else if (inside)
        cell.name = name_part(p, PT_SPACE_VAR, pt_name(p->names, PT_SPACE_HEAP, inside->name), address - inside->low);
    else
        cell.name = begin_life(p, PT_SPACE_VAR, address);
    return add(p, cell);
}

struct pt_cell pt_places_cell(struct pt_places *p, uint64_t address, uint64_t end, bool block)
{
    uint32_t cell = find(p, address, PT_SPACE_VAR);
    if (cell == PT_NONE)
        cell = make_cell(p, address, end, block);
    return p->cells[cell];
}

/* --- blocks --- */

uint32_t pt_places_begin_block(struct pt_places *p, uint64_t low, uint64_t size)
{
    pt_places_forget(p, low, low + size);
    /* A variable there would have this name, so no other has. */
    uint32_t name = intern(p, PT_SPACE_HEAP, pt_name(p->names, PT_SPACE_VAR, begin_life(p, PT_SPACE_VAR, low)));
    pt_blocks_add(&p->blocks, (struct pt_block){low, size, name});
    return name;
}

struct ending {
    uint64_t low, high;
    uint32_t last; /* cell that was met */
    void (*ends)(void *context, uint32_t name);
    void *context;
};

static bool is_inside(const struct pt_block *block, const struct ending *ending)
{
    return block && block->low >= ending->low && block->low + block->size <= ending->high;
}

static void end_variable(struct pt_places *p, uint32_t cell, void *context)
{
    struct ending *ending = context;
    struct pt_cell found = p->cells[cell];
    if (found.space != PT_SPACE_VAR || cell == ending->last ||
        is_inside(pt_blocks_first(&p->blocks, found.low, found.low + 1), ending))
        return;
    ending->last = cell;
    ending->ends(ending->context, intern(p, PT_SPACE_HEAP, pt_name(p->names, PT_SPACE_VAR, found.name)));
}

void pt_places_end(struct pt_places *p, uint64_t low, uint64_t high, void (*ends)(void *context, uint32_t name),
                   void *context)
{
    struct ending ending = {low, high, PT_NONE, ends, context};
    const struct pt_block *block = pt_blocks_first(&p->blocks, low, high);
    for (; block; block = pt_blocks_first(&p->blocks, block->low + block->size, high))
        if (is_inside(block, &ending))
            ends(context, block->name);
    visit_cells(p, low, high, end_variable, &ending);
}

uint32_t pt_places_object(struct pt_places *p, uint64_t address, enum pt_space space)
{
    struct pt_placed placed;
    uint64_t low;
    uint32_t cell = find(p, address, space);
    if (cell != PT_NONE)
        return p->cells[cell].name;
    struct pt_cell made = {.low = address, .size = 1, .space = (uint8_t)space};
    if (!ask(p, address, true, &placed, &low))
        made.name = begin_life(p, space, address);
    else if (low == address)
        made.name = intern(p, space, placed.name);
    else
        made.name = name_part(p, space, placed.name, address - low);
    add(p, made);
    return made.name;
}

void pt_places_name_object(struct pt_places *p, uint64_t address, const char *name)
{
    char text[96];
    struct pt_cell made = {.low = address, .size = 1, .space = PT_SPACE_OTHER};
    if (find(p, address, PT_SPACE_OTHER) != PT_NONE)
        return;
    uint32_t plain = intern(p, PT_SPACE_OTHER, name), *count = pt_map64_at(&p->namesakes, plain);
    *count = *count == PT_NONE ? 1 : *count + 1;
    snprintf(text, sizeof text, "%.80s#%u", name, *count);
    made.name = *count == 1 ? plain : intern(p, PT_SPACE_OTHER, text);
    add(p, made);
}

struct pt_cell pt_places_look(struct pt_places *p, uint64_t address, enum pt_space space)
{
    struct pt_placed placed;
    uint64_t low;
    uint32_t cell = find(p, address, space);
    if (cell != PT_NONE)
        return p->cells[cell];
    if (ask(p, address, space != PT_SPACE_VAR, &placed, &low)) {
        if (space == PT_SPACE_VAR)
            return pt_places_cell(p, address, address + 1, false);
        (void)pt_places_object(p, address, space);
        return p->cells[find(p, address, space)];
    }
    return (struct pt_cell){.low = address,
                            .size = 1,
                            .name = name_by_address(p, space, address),
                            .space = (uint8_t)space,
                            .type = PT_WATCH_UINT};
}
