/* The function of a static whose function's entry in the debug information has no name. */
#ifndef PT_TRACE_DWARF_STATIC_H
#define PT_TRACE_DWARF_STATIC_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/table.h"

struct pt_dwarf_statics {
    bool filled;
    struct pt_map64 by_address; /* address of an object: id of its symbol */
    struct pt_strtab symbols;
};

void pt_dwarf_statics_init(struct pt_dwarf_statics *statics);
void pt_dwarf_statics_release(struct pt_dwarf_statics *statics);
/* Appends the function of the static `variable` at `address`, "f" or "ns::C::f"; false when the symbol does not tell.
 */
bool pt_dwarf_static_function(struct pt_dwarf_statics *statics, Dwarf *dwarf, uint64_t address, const char *variable,
                              struct pt_buf *ret_function);

#endif
