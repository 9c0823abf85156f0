/* From an address inside a variable to the path of the part that lies there: the other way round of dwarf_path.h. */
#ifndef PT_TRACE_DWARF_PLACE_H
#define PT_TRACE_DWARF_PLACE_H

#include "base/buf.h"
#include "trace/dwarf_index.h"

struct pt_dwarf_part {
    uint64_t offset; /* from the variable's start */
    uint64_t size;
};

/*
 * Appends the path, such as `.level[2]`, of the smallest part that holds the byte at `offset` of a variable, and says
 * where it lies. It stops at unions, and at the first of several bit-fields in one place. `whole`: it stops as soon as
 * something begins at the offset that is no array and no structure of the program's own (a lock). False when the type
 * says too little.
 */
bool pt_dwarf_place(const struct pt_dwarf_index *index, Dwarf_Die *variable, uint64_t offset, bool whole,
                    struct pt_buf *path, struct pt_dwarf_part *ret_part);

/* The size of an element, where the variable is an array of one dimension; 0: it is not. */
uint64_t pt_dwarf_element_size(const struct pt_dwarf_index *index, Dwarf_Die *variable);

#endif
