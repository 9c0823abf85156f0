/*
 * Guarantee: the same answers as libdw's; a unit with a form that is not known here, or with numbers of abbreviations
 * that no compiler gives, is left to libdw, and so is an entry that ends outside its unit. Cost: for an entry some ten
 * instructions, and as many for each of its parts whose length is not fixed.
 */
#include "trace/dwarf_skip.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_CODES = 1 << 16 };

/* Forms by how their length is found. */
enum { LENGTH_LEB, LENGTH_TEXT, LENGTH_BLOCK, LENGTH_BLOCK1, LENGTH_BLOCK2, LENGTH_BLOCK4, LENGTH_FIXED };

void pt_dwarf_skip_init(struct pt_dwarf_skip *skip)
{
    *skip = (struct pt_dwarf_skip){0};
}

void pt_dwarf_skip_release(struct pt_dwarf_skip *skip)
{
    free(skip->shapes);
    free(skip->forms);
}

/* --- shapes --- */

/* LENGTH_FIXED and the number of bytes; -1: not known. DW_FORM_indirect is not: its form stands in the entry. */
static int length_of(const struct pt_dwarf_skip *skip, unsigned form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return LENGTH_FIXED;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return LENGTH_FIXED + 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return LENGTH_FIXED + 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return LENGTH_FIXED + 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return LENGTH_FIXED + 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return LENGTH_FIXED + 8;
    case DW_FORM_data16:
        return LENGTH_FIXED + 16;
    case DW_FORM_addr:
        return LENGTH_FIXED + skip->address_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
        return LENGTH_FIXED + skip->offset_size;
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return LENGTH_LEB;
    case DW_FORM_string:
        return LENGTH_TEXT;
    case DW_FORM_exprloc:
    case DW_FORM_block:
        return LENGTH_BLOCK;
    case DW_FORM_block1:
        return LENGTH_BLOCK1;
    case DW_FORM_block2:
        return LENGTH_BLOCK2;
    case DW_FORM_block4:
        return LENGTH_BLOCK4;
    case DW_FORM_ref_addr:
        return LENGTH_FIXED + (skip->version > 2 ? skip->offset_size : skip->address_size);
    default:
        return -1;
    }
}

static bool add_shape(struct pt_dwarf_skip *skip, Dwarf_Abbrev *abbrev)
{
    unsigned code = dwarf_getabbrevcode(abbrev), name, form;
    struct pt_dwarf_shape shape = {.tag = (uint16_t)dwarf_getabbrevtag(abbrev),
                                   .known = true,
                                   .children = dwarf_abbrevhaschildren(abbrev),
                                   .first = (uint32_t)skip->form_count};
    if (code >= MOST_CODES)
        return false;
    /* dwarf_getattrcnt takes the value of DW_FORM_implicit_const for a further attribute (elfutils 0.188) */
    for (size_t i = 0; dwarf_getabbrevattr_data(abbrev, i, &name, &form, NULL, NULL) == 0; i++) {
        shape.declares |= name == DW_AT_declaration && form == DW_FORM_flag_present;
        shape.refers |= name == DW_AT_specification || name == DW_AT_abstract_origin;
        int length = length_of(skip, form);
        if (length < 0)
            return false;
        /* Only what comes before all that is not fixed is added up. */
        if (length >= LENGTH_FIXED && !shape.count) {
            shape.fixed += (uint32_t)(length - LENGTH_FIXED);
            continue;
        }
        PT_PUSH(skip->forms, skip->form_count, skip->form_cap, (uint8_t)length);
        shape.count++;
    }
    while (skip->shape_count <= code)
        PT_PUSH(skip->shapes, skip->shape_count, skip->shape_cap, (struct pt_dwarf_shape){0});
    skip->shapes[code] = shape;
    return true;
}

/* Where the unit ends in memory. */
static bool find_end(struct pt_dwarf_skip *skip, Dwarf_Die *unit)
{
    Dwarf_Off at = dwarf_dieoffset(unit), start = at - dwarf_cuoffset(unit), end;
    size_t header;
    if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), start, &end, &header, NULL, NULL, NULL, NULL, NULL, NULL) != 0 ||
        start + header != at || end <= at)
        return false;
    skip->end = (const unsigned char *)unit->addr + (end - at);
    return true;
}

void pt_dwarf_skip_enter(struct pt_dwarf_skip *skip, Dwarf_Die *unit)
{
    Dwarf_Abbrev *abbrev;
    size_t length = 0;
    skip->shape_count = skip->form_count = 0;
    skip->usable =
        dwarf_cu_info(unit->cu, &skip->version, NULL, NULL, NULL, NULL, &skip->address_size, &skip->offset_size) == 0 &&
        find_end(skip, unit);
    for (Dwarf_Off offset = 0; skip->usable; offset += length) {
        abbrev = dwarf_getabbrev(unit, offset, &length);
        if (abbrev == DWARF_END_ABBREV)
            break;
        skip->usable = abbrev && length && add_shape(skip, abbrev);
    }
}

/* --- entries --- */

/* The next bytes of the unit; NULL in `at`: they are not in it. */
struct cursor {
    const unsigned char *at, *end;
};

static void pass(struct cursor *c, uint64_t bytes)
{
    c->at = c->at && (uint64_t)(c->end - c->at) >= bytes ? c->at + bytes : NULL;
}

static uint64_t take_leb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80)
            return value;
    }
    c->at = NULL;
    return 0;
}

/* In the order of the machine: files of others have been refused before. */
static uint64_t take_number(struct cursor *c, size_t bytes)
{
    uint64_t value = 0;
    const unsigned char *from = c->at;
    pass(c, bytes);
    if (c->at)
        memcpy(&value, from, bytes);
    return value;
}

static void pass_form(struct cursor *c, uint8_t length)
{
    switch (length) {
    case LENGTH_LEB:
        take_leb(c);
        break;
    case LENGTH_TEXT:
        c->at = c->at ? memchr(c->at, 0, (size_t)(c->end - c->at)) : NULL;
        pass(c, 1);
        break;
    case LENGTH_BLOCK:
        pass(c, take_leb(c));
        break;
    case LENGTH_BLOCK1:
        pass(c, take_number(c, 1));
        break;
    case LENGTH_BLOCK2:
        pass(c, take_number(c, 2));
        break;
    case LENGTH_BLOCK4:
        pass(c, take_number(c, 4));
        break;
    default:
        pass(c, (uint64_t)(length - LENGTH_FIXED));
        break;
    }
}

static const struct pt_dwarf_shape *take_shape(const struct pt_dwarf_skip *skip, struct cursor *c)
{
    uint64_t code = take_leb(c);
    return code && code < skip->shape_count && skip->shapes[code].known ? &skip->shapes[code] : NULL;
}

static const struct pt_dwarf_shape *shape_of(const struct pt_dwarf_skip *skip, const Dwarf_Die *die)
{
    struct cursor c = {die->addr, skip->end};
    return skip->usable ? take_shape(skip, &c) : NULL;
}

int pt_dwarf_skip_tag(const struct pt_dwarf_skip *skip, Dwarf_Die *die)
{
    const struct pt_dwarf_shape *shape = shape_of(skip, die);
    return shape ? shape->tag : dwarf_tag(die);
}

bool pt_dwarf_skip_declares(const struct pt_dwarf_skip *skip, Dwarf_Die *die)
{
    const struct pt_dwarf_shape *shape = shape_of(skip, die);
    return shape && shape->declares;
}

bool pt_dwarf_skip_refers(const struct pt_dwarf_skip *skip, Dwarf_Die *die)
{
    const struct pt_dwarf_shape *shape = shape_of(skip, die);
    return shape ? shape->refers : dwarf_hasattr(die, DW_AT_specification) || dwarf_hasattr(die, DW_AT_abstract_origin);
}

/* 0: `c` is at the sibling; 1: at the end of the siblings; -1: not to be told. */
static int find_next(const struct pt_dwarf_skip *skip, struct cursor *c)
{
    size_t depth = 0;
    do {
        const struct pt_dwarf_shape *shape = take_shape(skip, c);
        if (!shape)
            return -1;
        pass(c, shape->fixed);
        for (uint32_t i = 0; i < shape->count; i++)
            pass_form(c, skip->forms[shape->first + i]);
        depth += shape->children;
        for (; c->at && c->at < c->end && *c->at == 0; c->at++)
            if (depth-- == 0)
                return 1;
        if (!c->at || c->at == c->end)
            return -1;
    } while (depth);
    return 0;
}

int pt_dwarf_skip_next(const struct pt_dwarf_skip *skip, Dwarf_Die *die)
{
    struct cursor c = {die->addr, skip->end};
    int found = skip->usable ? find_next(skip, &c) : -1;
    if (found < 0)
        return dwarf_siblingof(die, die);
    if (found == 0)
        *die = (Dwarf_Die){.addr = (void *)(uintptr_t)c.at, .cu = die->cu};
    return found;
}
