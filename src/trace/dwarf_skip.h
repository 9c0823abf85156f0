/*
 * From an entry of debug information to its next sibling, and its tag, without libdw: clang writes no DW_AT_sibling,
 * and dwarf_siblingof then looks at everything inside an entry, attribute by attribute. What entries of a unit look
 * like is said by its abbreviations, so their lengths are added up once for each of these.
 */
#ifndef PT_TRACE_DWARF_SKIP_H
#define PT_TRACE_DWARF_SKIP_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* What entries with one abbreviation have: `fixed` bytes, then `count` forms from `first` on. */
struct pt_dwarf_shape {
    uint16_t tag;
    bool known, children;
    bool declares; /* DW_AT_declaration, always true */
    bool refers;   /* DW_AT_specification or DW_AT_abstract_origin */
    uint32_t fixed;
    uint32_t first, count;
};

struct pt_dwarf_skip {
    bool usable; /* of the unit; else libdw is asked */
    const unsigned char *end;
    struct pt_dwarf_shape *shapes; /* by code */
    size_t shape_count, shape_cap;
    uint8_t *forms;
    size_t form_count, form_cap;
    Dwarf_Half version;
    uint8_t address_size, offset_size;
};

void pt_dwarf_skip_init(struct pt_dwarf_skip *skip);
void pt_dwarf_skip_release(struct pt_dwarf_skip *skip);
/* For the entries of this unit, from now on. */
void pt_dwarf_skip_enter(struct pt_dwarf_skip *skip, Dwarf_Die *unit);
/* As dwarf_tag. */
int pt_dwarf_skip_tag(const struct pt_dwarf_skip *skip, Dwarf_Die *die);
/* Whether the entry only declares something; false where libdw has to be asked. */
bool pt_dwarf_skip_declares(const struct pt_dwarf_skip *skip, Dwarf_Die *die);
/* Whether the entry says more of another one, by DW_AT_specification or DW_AT_abstract_origin. */
bool pt_dwarf_skip_refers(const struct pt_dwarf_skip *skip, Dwarf_Die *die);
/* As dwarf_siblingof, in place: 0 if there is one. */
int pt_dwarf_skip_next(const struct pt_dwarf_skip *skip, Dwarf_Die *die);

#endif
