/*
 * Functions by name, and what is known of their arguments: for events that are calls. A name may be that of several
 * functions (overloads, statics of different files), which are all meant. Linear in the functions.
 */
#include <dwarf.h>
#include <string.h>

#include "trace/debuginfo_impl.h"
#include "trace/dwarf_type.h"

void pt_debuginfo_callables(struct pt_debuginfo *info, pt_debuginfo_visit visit, void *context)
{
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        if (i > 0 && pt_module_is_of_the_system(info->modules[i].path))
            continue;
        const struct pt_dwarf_index *index = pt_module_index(&info->modules[i]);
        for (uint32_t f = 0; f < index->callable_count; f++)
            visit(context, pt_strtab_text(&index->names, index->callables[f].name));
    }
}

/* A structure by value is no scalar, nor is what is wider than 64 bits. */
static bool is_scalar(const struct pt_dwarf_index *index, Dwarf_Die *parameter)
{
    Dwarf_Die type;
    Dwarf_Word size;
    uint64_t encoding;
    if (!pt_dwarf_type_of(parameter, &type) || !pt_dwarf_strip(index, &type))
        return false;
    switch (dwarf_tag(&type)) {
    case DW_TAG_base_type:
        return dwarf_aggregate_size(&type, &size) == 0 && size <= 8 &&
               pt_dwarf_number_of(&type, DW_AT_encoding, &encoding) && encoding != DW_ATE_float &&
               encoding != DW_ATE_complex_float;
    case DW_TAG_enumeration_type:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return true;
    default:
        return false;
    }
}

static bool is_passed_whole(const struct pt_dwarf_index *index, Dwarf_Die *parameter)
{
    Dwarf_Die type;
    return pt_dwarf_type_of(parameter, &type) && pt_dwarf_strip(index, &type) && !pt_dwarf_is_class(&type);
}

static bool has_argument(const struct pt_dwarf_index *index, const Dwarf_Die *function, uint32_t number)
{
    Dwarf_Die die = *function, child;
    uint32_t at = 0;
    bool found = false;
    if (dwarf_child(&die, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attr;
        bool artificial = false;
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        if (dwarf_attr_integrate(&child, DW_AT_artificial, &attr) && dwarf_formflag(&attr, &artificial) == 0 &&
            artificial)
            continue; /* this */
        if (!is_passed_whole(index, &child))
            return false;
        if (++at == number)
            found = is_scalar(index, &child);
    } while (dwarf_siblingof(&child, &child) == 0);
    return found;
}

/* `number` 0: is there such a function at all? */
static bool search(struct pt_debuginfo *info, const char *name, uint32_t number)
{
    bool any = false;
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        const struct pt_dwarf_index *index = pt_module_index(&info->modules[i]);
        uint32_t id = pt_strtab_find(&index->names, name, strlen(name));
        for (uint32_t f = 0; id != PT_NONE && f < index->callable_count; f++) {
            if (index->callables[f].name != id)
                continue;
            if (number && !has_argument(index, &index->callables[f].die, number))
                return false;
            any = true;
        }
    }
    return any;
}

bool pt_debuginfo_is_callable(struct pt_debuginfo *info, const char *name)
{
    return search(info, name, 0);
}

bool pt_debuginfo_has_argument(struct pt_debuginfo *info, const char *name, uint32_t number)
{
    return search(info, name, number);
}
