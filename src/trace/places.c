/*
 * Cost: what finding a cell costs (cells.h) per access, and of a new one a look for its block. Memory: by cells alive,
 * and a name for each that ever was.
 */
#include "trace/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/blocks.h"
#include "trace/cells.h"

enum { LARGEST_CELL = 64 };

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
    struct pt_cells cells;
    struct pt_pages lives;       /* uint32_t: how many variables have begun at a granule */
    struct pt_map64 other_lives; /* the same, at other addresses, and of other spaces, with high bits set */
    struct pt_blocks blocks;
    struct pt_map64 namesakes; /* name of an object that was given one: how many there were */
};

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

void pt_places_forget(struct pt_places *p, uint64_t low, uint64_t high)
{
    pt_cells_forget(&p->cells, low, high);
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
    if (space == PT_SPACE_VAR && !(address & 7)) {
        uint32_t *page = pt_pages_at(&p->lives, address >> PT_PAGE_BITS, true);
        return &page[(address >> 3) % PT_PAGE_GRANULES];
    }
    uint32_t *lives = pt_map64_at(&p->other_lives, address ^ (uint64_t)space << 56);
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

static char *put_life(char *to, uint64_t address, uint32_t life)
{
    memcpy(to, PT_DEFERRED, sizeof PT_DEFERRED - 1);
    to = put_number(to + sizeof PT_DEFERRED - 1, address, 16);
    if (life > 1) {
        *to++ = '#';
        to = put_number(to, life, 10);
    }
    return to;
}

/* Most memory is never spoken of, so its names are recipes: a life at an address, or a part of a block, by the block's
 * id in PT_SPACE_HEAP and the offset. What does not fit is named at once. Recipes of one kind are different, since a
 * life begins once, and a cell within a block goes with it; those of parts make texts with a '+', the others do not. */
enum { ADDRESS_BITS = 48, LIFE_BITS = 15 };
#define A_LIFE (UINT64_C(1) << 63)

static size_t make_name(const struct pt_strtab *tab, uint64_t recipe, char *text)
{
    uint32_t block = (uint32_t)(recipe >> 32);
    if (recipe & A_LIFE)
        return (size_t)(put_life(text, recipe & ((UINT64_C(1) << ADDRESS_BITS) - 1),
                                 (uint32_t)(recipe >> ADDRESS_BITS) & ((1 << LIFE_BITS) - 1)) -
                        text);
    tab += PT_SPACE_HEAP - PT_SPACE_VAR; /* the tables of all spaces lie side by side */
    size_t len = pt_strtab_len(tab, block);
    memcpy(text, pt_strtab_text(tab, block), len);
    text[len] = '+';
    return (size_t)(put_number(text + len + 1, (uint32_t)recipe, 10) - text);
}

struct pt_places *pt_places_new(struct pt_names *names)
{
    struct pt_places *p = pt_xcalloc(1, sizeof *p);
    p->names = names;
    names->space[PT_SPACE_VAR].make = names->space[PT_SPACE_HEAP].make = make_name;
    pt_cells_begin(&p->cells);
    pt_pages_begin(&p->lives, PT_PAGE_GRANULES * sizeof(uint32_t));
    pt_map64_init(&p->other_lives);
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
    pt_cells_release(&p->cells);
    pt_pages_release(&p->lives);
    pt_map64_release(&p->other_lives);
    pt_map64_release(&p->namesakes);
    pt_blocks_release(&p->blocks);
    free(p);
}

/* In its present life, or the last one. */
static uint32_t name_by_address(struct pt_places *p, enum pt_space space, uint64_t address)
{
    char text[64], *end = put_life(text, address, *lives_at(p, space, address));
    return pt_strtab_intern(&p->names->space[space], text, (size_t)(end - text));
}

static uint32_t name_life(struct pt_places *p, enum pt_space space, uint64_t address, uint32_t life)
{
    struct pt_strtab *names = &p->names->space[space];
    char text[64];
    if (names->make && !(address >> ADDRESS_BITS) && !(life >> LIFE_BITS))
        return pt_strtab_defer(names, A_LIFE | (uint64_t)life << ADDRESS_BITS | address);
    return pt_strtab_intern(names, text, (size_t)(put_life(text, address, life) - text));
}

static uint32_t begin_life(struct pt_places *p, enum pt_space space, uint64_t address)
{
    return name_life(p, space, address, ++*lives_at(p, space, address));
}

/* The bytes from `address` that a new cell may take: up to the access's end, or the next cell. */
static uint32_t room(struct pt_places *p, uint64_t address, uint64_t end, bool block)
{
    if (block && end > (address | 7) + 1)
        end = (address | 7) + 1;
    uint32_t size = 1;
    struct pt_cell next;
    while (address + size < end && size < LARGEST_CELL && !pt_cells_var(&p->cells, address + size, &next))
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

/* Of a cell that goes with its block, a recipe. */
static uint32_t name_in_block(struct pt_places *p, const struct pt_block *block, const struct pt_cell *cell)
{
    uint64_t offset = cell->low - block->low;
    if (!(block->name >> 31) && !(offset >> 32) && offset + cell->size <= block->size)
        return pt_strtab_defer(&p->names->space[PT_SPACE_VAR], (uint64_t)block->name << 32 | offset);
    return name_part(p, PT_SPACE_VAR, pt_name(p->names, PT_SPACE_HEAP, block->name), offset);
}

/* Of memory that debug information knows. */
static struct pt_cell name_cell(struct pt_places *p, struct pt_cell cell, uint64_t end, bool block,
                                const struct pt_placed *placed, uint64_t low)
{
    char name[481];
    uint64_t address = cell.low, padding_end = end;
    snprintf(name, sizeof name, "%s", placed->name);
    bool padding = is_padding(p, address, placed, low, &padding_end);
    if (!padding && placed->size <= LARGEST_CELL) {
        cell.low = low;
        cell.size = placed->size;
        cell.type = (uint8_t)placed->type;
        cell.name = intern(p, PT_SPACE_VAR, name);
        return cell;
    }
    /* padding, a large union, or something like it: by pieces */
    cell.size = room(p, address, padding && padding_end < end ? padding_end : end, block);
    cell.name = name_part(p, PT_SPACE_VAR, name, address - low);
    return cell;
}

static struct pt_cell make_cell(struct pt_places *p, uint64_t address, uint64_t end, bool block)
{
    struct pt_placed placed;
    uint64_t low;
    struct pt_cell cell = {.low = address, .space = PT_SPACE_VAR, .type = PT_WATCH_UINT};
    if (ask(p, address, false, &placed, &low)) {
        cell = name_cell(p, cell, end, block, &placed, low);
    } else {
        const struct pt_block *inside = pt_blocks_first(&p->blocks, address, address + 1);
        cell.size = room(p, address, end, block);
        cell.name = inside ? name_in_block(p, inside, &cell) : begin_life(p, PT_SPACE_VAR, address);
    }
    pt_cells_add(&p->cells, &cell);
    return cell;
}

struct pt_cells *pt_places_cells(struct pt_places *p)
{
    return &p->cells;
}

struct pt_cell pt_places_cell(struct pt_places *p, uint64_t address, uint64_t end, bool block)
{
    struct pt_cell cell;
    return pt_cells_var(&p->cells, address, &cell) ? cell : make_cell(p, address, end, block);
}

static bool find(struct pt_places *p, uint64_t address, enum pt_space space, struct pt_cell *ret_cell)
{
    return space == PT_SPACE_VAR ? pt_cells_var(&p->cells, address, ret_cell)
                                 : pt_cells_object(&p->cells, address, space, ret_cell);
}

/* --- blocks --- */

uint32_t pt_places_begin_block(struct pt_places *p, uint64_t low, uint64_t size)
{
    pt_places_forget(p, low, low + size);
    /* A variable there would have this name, so no other has. */
    uint32_t life = ++*lives_at(p, PT_SPACE_VAR, low);
    (void)name_life(p, PT_SPACE_VAR, low, life);
    uint32_t name = name_life(p, PT_SPACE_HEAP, low, life);
    pt_blocks_add(&p->blocks, (struct pt_block){low, size, name});
    return name;
}

void pt_places_expect_block(const struct pt_places *p, uint64_t low)
{
    const uint32_t *lives = pt_pages_peek(&p->lives, low >> PT_PAGE_BITS);
    if (lives)
        pt_prefetch(&lives[(low >> 3) % PT_PAGE_GRANULES]);
    pt_blocks_expect(&p->blocks, low);
}

struct ending {
    struct pt_places *places;
    uint64_t low, high;
    uint64_t from; /* variables that begin before it were looked at */
    void (*ends)(void *context, uint32_t name);
    void *context;
};

static bool is_inside(const struct pt_block *block, const struct ending *ending)
{
    return block && block->low >= ending->low && block->low + block->size <= ending->high;
}

static void end_variable(void *context, const struct pt_cell *found)
{
    struct ending *ending = context;
    struct pt_places *p = ending->places;
    if (found->space != PT_SPACE_VAR || found->low < ending->from ||
        is_inside(pt_blocks_first(&p->blocks, found->low, found->low + 1), ending))
        return;
    ending->ends(ending->context, intern(p, PT_SPACE_HEAP, pt_name(p->names, PT_SPACE_VAR, found->name)));
}

void pt_places_end(struct pt_places *p, uint64_t low, uint64_t high, void (*ends)(void *context, uint32_t name),
                   void *context)
{
    struct ending ending = {p, low, high, 0, ends, context};
    const struct pt_block *block = pt_blocks_first(&p->blocks, low, high);
    /* Of a block that begins there, as nearly all do, what is in no block begins before it, or behind it. */
    uint64_t behind = block && block->low == low && is_inside(block, &ending) ? low + block->size : low;
    for (; block; block = pt_blocks_first(&p->blocks, block->low + block->size, high))
        if (is_inside(block, &ending))
            ends(context, block->name);
    if (behind > low)
        pt_cells_visit(&p->cells, low, low + 1, end_variable, &ending);
    ending.from = behind > low ? behind : 0;
    pt_cells_visit(&p->cells, behind, high, end_variable, &ending);
}

uint32_t pt_places_object(struct pt_places *p, uint64_t address, enum pt_space space)
{
    struct pt_placed placed;
    uint64_t low;
    struct pt_cell made;
    if (find(p, address, space, &made))
        return made.name;
    made = (struct pt_cell){.low = address, .size = 1, .space = (uint8_t)space};
    if (!ask(p, address, true, &placed, &low))
        made.name = begin_life(p, space, address);
    else if (low == address)
        made.name = intern(p, space, placed.name);
    else
        made.name = name_part(p, space, placed.name, address - low);
    pt_cells_add(&p->cells, &made);
    return made.name;
}

void pt_places_name_object(struct pt_places *p, uint64_t address, const char *name)
{
    char text[96];
    struct pt_cell made = {.low = address, .size = 1, .space = PT_SPACE_OTHER};
    struct pt_cell known;
    if (pt_cells_object(&p->cells, address, PT_SPACE_OTHER, &known))
        return;
    uint32_t plain = intern(p, PT_SPACE_OTHER, name), *count = pt_map64_at(&p->namesakes, plain);
    *count = *count == PT_NONE ? 1 : *count + 1;
    snprintf(text, sizeof text, "%.80s#%u", name, *count);
    made.name = *count == 1 ? plain : intern(p, PT_SPACE_OTHER, text);
    pt_cells_add(&p->cells, &made);
}

bool pt_places_variable(struct pt_places *p, uint64_t address, struct pt_cell *ret_cell)
{
    struct pt_placed placed;
    uint64_t low;
    if (!ask(p, address, false, &placed, &low))
        return false;
    *ret_cell = pt_places_cell(p, address, address + 1, false);
    return true;
}

struct pt_cell pt_places_look(struct pt_places *p, uint64_t address, enum pt_space space)
{
    struct pt_placed placed;
    struct pt_cell cell;
    uint64_t low;
    if (find(p, address, space, &cell))
        return cell;
    if (ask(p, address, space != PT_SPACE_VAR, &placed, &low)) {
        if (space == PT_SPACE_VAR)
            return pt_places_cell(p, address, address + 1, false);
        (void)pt_places_object(p, address, space);
        (void)find(p, address, space, &cell);
        return cell;
    }
    return (struct pt_cell){.low = address,
                            .size = 1,
                            .name = name_by_address(p, space, address),
                            .space = (uint8_t)space,
                            .type = PT_WATCH_UINT};
}
