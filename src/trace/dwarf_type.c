/* Types as debug information has them: what stands behind their names, and what their members are. */
#include "trace/dwarf_type.h"

#include <dwarf.h>
#include <string.h>

bool pt_dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
    Dwarf_Attribute attr;
    return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret_type);
}

bool pt_dwarf_number_of(Dwarf_Die *die, unsigned attribute, uint64_t *ret_number)
{
    Dwarf_Attribute attr;
    Dwarf_Word word;
    if (!dwarf_attr_integrate(die, attribute, &attr) || dwarf_formudata(&attr, &word) != 0)
        return false;
    *ret_number = word;
    return true;
}

bool pt_dwarf_strip(const struct pt_dwarf_index *index, Dwarf_Die *type)
{
    for (unsigned step = 0; step < PT_TYPE_DEPTH; step++) {
        Dwarf_Attribute attr;
        bool declared = false;
        switch (dwarf_tag(type)) {
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
        case DW_TAG_immutable_type:
            if (!pt_dwarf_type_of(type, type))
                return false;
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            if (dwarf_attr(type, DW_AT_declaration, &attr) && dwarf_formflag(&attr, &declared) == 0 && declared)
                return pt_dwarf_definition(index, type, type);
            return true;
        default:
            return true;
        }
    }
    return false;
}

bool pt_dwarf_is_marked_atomic(Dwarf_Die *holder)
{
    Dwarf_Die type;
    bool there = pt_dwarf_type_of(holder, &type);
    for (unsigned step = 0; there && step < PT_TYPE_DEPTH; step++) {
        int tag = dwarf_tag(&type);
        if (tag == DW_TAG_atomic_type)
            return true;
        there = (tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type) &&
                pt_dwarf_type_of(&type, &type);
    }
    return false;
}

bool pt_dwarf_member_offset(Dwarf_Die *member, uint64_t *ret_offset)
{
    Dwarf_Attribute attr;
    Dwarf_Word word;
    Dwarf_Op *ops;
    size_t count;
    *ret_offset = 0;
    if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attr))
        return true; /* a union's, or a bit-field with DW_AT_data_bit_offset */
    if (dwarf_formudata(&attr, &word) == 0)
        *ret_offset = word;
    else if (dwarf_getlocation(&attr, &ops, &count) == 0 && count == 1 && ops[0].atom == DW_OP_plus_uconst)
        *ret_offset = ops[0].number;
    else
        return false;
    return true;
}

bool pt_dwarf_is_data_member(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    bool flag = false;
    if (dwarf_tag(die) == DW_TAG_inheritance)
        return true;
    if (dwarf_tag(die) != DW_TAG_member)
        return false;
    /* Static members have no place in the class. */
    return !(dwarf_attr(die, DW_AT_external, &attr) && dwarf_formflag(&attr, &flag) == 0 && flag);
}

bool pt_dwarf_is_class(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool pt_dwarf_is_atomic(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);
    return name && (strncmp(name, "atomic<", 7) == 0 || strcmp(name, "atomic_flag") == 0);
}

static bool is_empty_class(const struct pt_dwarf_index *index, Dwarf_Die *type, unsigned depth)
{
    Dwarf_Die child, base;
    if (depth > PT_TYPE_DEPTH || !pt_dwarf_is_class(type))
        return false;
    if (dwarf_child(type, &child) != 0)
        return true;
    do {
        if (pt_dwarf_is_data_member(&child) &&
            (dwarf_tag(&child) != DW_TAG_inheritance || !pt_dwarf_type_of(&child, &base) ||
             !pt_dwarf_strip(index, &base) || !is_empty_class(index, &base, depth + 1)))
            return false;
    } while (dwarf_siblingof(&child, &child) == 0);
    return true;
}

bool pt_dwarf_is_empty_base(const struct pt_dwarf_index *index, Dwarf_Die *member)
{
    Dwarf_Die type;
    return dwarf_tag(member) == DW_TAG_inheritance && pt_dwarf_type_of(member, &type) && pt_dwarf_strip(index, &type) &&
           is_empty_class(index, &type, 0);
}

bool pt_dwarf_single_member(const struct pt_dwarf_index *index, Dwarf_Die *type, Dwarf_Die *ret_member)
{
    Dwarf_Die child, member;
    bool found = false;
    if (!pt_dwarf_is_class(type) || dwarf_child(type, &child) != 0)
        return false;
    do {
        if (!pt_dwarf_is_data_member(&child) || pt_dwarf_is_empty_base(index, &child))
            continue;
        if (found)
            return false;
        found = true;
        member = child;
    } while (dwarf_siblingof(&child, &child) == 0);
    if (found)
        *ret_member = member;
    return found;
}

bool pt_dwarf_is_character(Dwarf_Die *type)
{
    uint64_t encoding, size;
    return dwarf_tag(type) == DW_TAG_base_type && pt_dwarf_number_of(type, DW_AT_encoding, &encoding) &&
           pt_dwarf_number_of(type, DW_AT_byte_size, &size) && size == 1 &&
           (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF);
}

/* Compilers mostly give the underlying type; else an enumeration with a negative member is signed. */
bool pt_dwarf_enum_is_signed(const struct pt_dwarf_index *index, Dwarf_Die *type)
{
    Dwarf_Die under, child;
    uint64_t encoding;
    if (pt_dwarf_type_of(type, &under) && pt_dwarf_strip(index, &under) &&
        pt_dwarf_number_of(&under, DW_AT_encoding, &encoding))
        return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    if (dwarf_child(type, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attr;
        Dwarf_Sword value;
        if (dwarf_attr(&child, DW_AT_const_value, &attr) && dwarf_formsdata(&attr, &value) == 0 && value < 0)
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

bool pt_dwarf_base_class(uint64_t encoding, uint64_t size, enum pt_watch_type *ret_class)
{
    switch (encoding) {
    case DW_ATE_boolean:
        *ret_class = PT_WATCH_BOOL;
        return size <= 8;
    case DW_ATE_float:
        *ret_class = PT_WATCH_FLOAT;
        return size == sizeof(float) || size == sizeof(double) || size == sizeof(long double);
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        *ret_class = PT_WATCH_INT;
        return size <= 16;
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
    case DW_ATE_address:
        *ret_class = PT_WATCH_UINT;
        return size <= 16;
    default:
        return false;
    }
}
