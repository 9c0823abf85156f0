/*
 * From an offset inside a variable down its type to the smallest part that lies there, one step per level: an element
 * of an array, a member of a structure, a base class. The path that is written reads back through dwarf_path.c as the
 * same part; where the type says too little the answer is "not known", never a guess. Time is linear in the depth of
 * the type and the members of each level.
 */
#include "trace/dwarf_place.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "trace/dwarf_type.h"

struct place {
    const struct pt_dwarf_index *index;
    Dwarf_Die type;
    uint64_t at;   /* where the part begins in the variable */
    uint64_t rest; /* from there to the byte that is looked for */
};

static bool size_of(Dwarf_Die *type, uint64_t *ret_size)
{
    Dwarf_Word size;
    if (dwarf_aggregate_size(type, &size) != 0 || !size)
        return false;
    *ret_size = size;
    return true;
}

/* [i] for each dimension. */
static bool enter_element(struct place *p, struct pt_buf *path)
{
    enum { MAX_DIMENSIONS = 16 };
    uint64_t counts[MAX_DIMENSIONS], size, upper;
    uint32_t dimensions = 0;
    Dwarf_Die element = p->type, child;
    if (!pt_dwarf_type_of(&element, &element) || !pt_dwarf_strip(p->index, &element) || !size_of(&element, &size) ||
        dwarf_child(&p->type, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type || dimensions == MAX_DIMENSIONS)
            continue;
        counts[dimensions] = 0;
        if (!pt_dwarf_number_of(&child, DW_AT_count, &counts[dimensions]) &&
            pt_dwarf_number_of(&child, DW_AT_upper_bound, &upper))
            counts[dimensions] = upper + 1;
        dimensions++;
    } while (dwarf_siblingof(&child, &child) == 0);
    uint64_t index = p->rest / size, below = 1;
    for (uint32_t d = 1; d < dimensions; d++)
        if (!counts[d] || __builtin_mul_overflow(below, counts[d], &below))
            return false;
    for (uint32_t d = 0, left = dimensions; left > 0; d++, left--) {
        uint64_t own = index / below % (d && counts[d] ? counts[d] : UINT64_MAX);
        pt_buf_printf(path, "[%" PRIu64 "]", own);
        below = left > 1 ? below / counts[d + 1] : 1;
    }
    p->at += index * size;
    p->rest %= size;
    p->type = element;
    return dimensions > 0;
}

/* .name, or into a base class or anonymous member. */
static bool enter_member(struct place *p, struct pt_buf *path, bool *ret_bits)
{
    Dwarf_Die child, best, type;
    uint64_t best_offset = 0, offset, size, bits, bit_offset;
    bool found = false;
    *ret_bits = false;
    if (dwarf_child(&p->type, &child) != 0)
        return false;
    do {
        if (!pt_dwarf_is_data_member(&child) || !pt_dwarf_member_offset(&child, &offset) ||
            pt_dwarf_is_empty_base(p->index, &child))
            continue;
        if (pt_dwarf_number_of(&child, DW_AT_data_bit_offset, &bit_offset))
            offset += bit_offset / 8;
        type = child;
        if (offset > p->rest || !pt_dwarf_type_of(&type, &type) || !pt_dwarf_strip(p->index, &type) ||
            !size_of(&type, &size) || p->rest - offset >= size || (found && offset <= best_offset))
            continue;
        best = child;
        best_offset = offset;
        found = true;
    } while (dwarf_siblingof(&child, &child) == 0);
    if (!found)
        return false;
    const char *own = dwarf_tag(&best) == DW_TAG_member ? dwarf_diename(&best) : NULL;
    if (own)
        pt_buf_printf(path, ".%s", own);
    p->at += best_offset;
    p->rest -= best_offset;
    *ret_bits = pt_dwarf_number_of(&best, DW_AT_bit_size, &bits);
    return pt_dwarf_type_of(&best, &p->type) && pt_dwarf_strip(p->index, &p->type);
}

/* The system's types for synchronisation are structures and unions of no interest inside. */
static bool is_whole(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);
    return dwarf_tag(type) == DW_TAG_union_type || !pt_dwarf_is_class(type) || (name && strstr(name, "mutex"));
}

/* `n._M_base._M_i` is called `n`, as properties call it: what a std::atomic has alone in it, by names of the library's,
 * is left out. True if so: the next level may be another. */
static bool leave_out(const struct pt_dwarf_index *index, struct place *in, struct pt_buf *path, size_t len)
{
    Dwarf_Die member;
    const char *name = path->text + len;
    if (!pt_dwarf_single_member(index, &in->type, &member) ||
        (*name && strncmp(name, "._M_", 4) != 0 && strncmp(name, ".__", 3) != 0))
        return false;
    path->len = len;
    path->text[len] = '\0';
    return true;
}

bool pt_dwarf_place(const struct pt_dwarf_index *index, Dwarf_Die *variable, uint64_t offset, bool whole,
                    struct pt_buf *path, struct pt_dwarf_part *ret_part)
{
    struct place p = {.index = index, .rest = offset};
    bool bits = false, atomic = false;
    if (!pt_dwarf_type_of(variable, &p.type) || !pt_dwarf_strip(index, &p.type))
        return false;
    for (unsigned depth = 0; depth < PT_TYPE_DEPTH; depth++) {
        bool array = dwarf_tag(&p.type) == DW_TAG_array_type;
        bool structure = pt_dwarf_is_class(&p.type) && dwarf_tag(&p.type) != DW_TAG_union_type;
        if (bits || (!array && !structure) || (whole && p.rest == 0 && !array && is_whole(&p.type)))
            break;
        struct place before = p;
        size_t len = path->len;
        atomic = structure && (atomic || pt_dwarf_is_atomic(&p.type));
        if (array ? !enter_element(&p, path) : !enter_member(&p, path, &bits)) {
            p = before; /* padding, or a type of which little is known: as it is */
            break;
        }
        atomic = atomic && leave_out(index, &before, path, len);
    }
    if (bits)
        pt_buf_puts(path, "..."); /* its neighbours are in it, too: it is not the value of the first */
    ret_part->offset = p.at;
    if (!size_of(&p.type, &ret_part->size))
        return false;
    /* One memory location from the first bit-field on; its bytes are the declared type's, as the compiler accesses it.
     */
    return p.rest < ret_part->size;
}

uint64_t pt_dwarf_element_size(const struct pt_dwarf_index *index, Dwarf_Die *variable)
{
    struct place p = {.index = index};
    Dwarf_Die child;
    unsigned dimensions = 0;
    uint64_t size;
    if (!pt_dwarf_type_of(variable, &p.type) || !pt_dwarf_strip(index, &p.type) ||
        dwarf_tag(&p.type) != DW_TAG_array_type || dwarf_child(&p.type, &child) != 0)
        return 0;
    do
        dimensions += dwarf_tag(&child) == DW_TAG_subrange_type;
    while (dwarf_siblingof(&child, &child) == 0);
    bool known = dimensions == 1 && pt_dwarf_type_of(&p.type, &p.type) && pt_dwarf_strip(index, &p.type);
    return known && size_of(&p.type, &size) ? size : 0;
}
