/* What a module's debug information defines, by qualified name: variables, functions, class types. */
#ifndef PT_TRACE_DWARF_INDEX_H
#define PT_TRACE_DWARF_INDEX_H

#include <elfutils/libdw.h>

#include "base/table.h"

enum pt_dwarf_storage {
    PT_PLACE_FIXED,  /* at a fixed address of the module */
    PT_PLACE_THREAD, /* thread-local */
    PT_PLACE_NONE,   /* the compiler has removed it, or keeps it in pieces */
};

struct pt_dwarf_var {
    uint32_t name; /* id in names */
    uint8_t place; /* enum pt_dwarf_storage */
    uint64_t address;
    Dwarf_Die die; /* the definition */
    Dwarf_Die unit;
};

struct pt_dwarf_function {
    uint64_t entry;
    uint32_t name;
};

/* A function that is defined, inlined everywhere or not. */
struct pt_dwarf_callable {
    uint32_t name;
    Dwarf_Die die;
};

struct pt_dwarf_index {
    struct pt_strtab names; /* qualified: ns::C::x, f::x; anonymous namespaces leave no mark */
    struct pt_dwarf_var *vars;
    uint32_t var_count;
    size_t var_cap;
    struct pt_dwarf_function *functions; /* in order of entry */
    uint32_t function_count;
    size_t function_cap;
    struct pt_dwarf_callable *callables;
    uint32_t callable_count;
    size_t callable_cap;
    Dwarf_Die *types; /* definitions of structures, classes and unions */
    uint32_t *type_names;
    uint32_t type_count;
    size_t type_cap, type_name_cap;
};

void pt_dwarf_index_init(struct pt_dwarf_index *index);
void pt_dwarf_index_release(struct pt_dwarf_index *index);
/* Reads all of `dwarf`, which stays open as long as the index is used. */
void pt_dwarf_index_fill(struct pt_dwarf_index *index, Dwarf *dwarf);
/* The name of the function that starts at `entry`, or NULL. */
const char *pt_dwarf_function_at(const struct pt_dwarf_index *index, uint64_t entry);
/* The full definition of a class type that is only declared here; false when there is none. */
bool pt_dwarf_definition(const struct pt_dwarf_index *index, Dwarf_Die *type, Dwarf_Die *ret_definition);

#endif
