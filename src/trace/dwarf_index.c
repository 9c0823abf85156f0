/*
 * Two walks over all entries. The first gives each declaration inside namespaces and classes its qualified name; the
 * second collects definitions, which may stand outside their scope and refer to a declaration by DW_AT_specification,
 * before or after it and in another unit (link-time optimisation). Entries are told apart by their address in memory,
 * which also works across split units, where offsets do not.
 *
 * Cost: linear in the debug information, which is passed over once more for each level of scopes (dwarf_skip.h).
 * Nesting deeper than MAX_DEPTH is not entered; nobody writes such programs.
 */
#include "trace/dwarf_index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trace/dwarf_skip.h"
#include "trace/dwarf_static.h"

enum { MAX_DEPTH = 200 };

struct walk {
    struct pt_dwarf_index *index;
    struct pt_map64 declared; /* address of an entry: id of its qualified name */
    Dwarf_Die unit;
    Dwarf *dwarf;
    struct pt_dwarf_statics statics;
    struct pt_dwarf_skip skip; /* over entries of the unit */
    struct pt_buf scope;       /* "ns::C::", the present scope */
    bool nameless;             /* inside a function whose entry has no name */
    bool definitions;          /* the second walk */
};

void pt_dwarf_index_init(struct pt_dwarf_index *index)
{
    *index = (struct pt_dwarf_index){0};
    pt_strtab_init(&index->names);
}

void pt_dwarf_index_release(struct pt_dwarf_index *index)
{
    pt_strtab_release(&index->names);
    free(index->vars);
    free(index->functions);
    free(index->callables);
    free(index->types);
    free(index->type_names);
}

static uint32_t qualified(struct walk *w, const char *name)
{
    size_t len = w->scope.len;
    pt_buf_puts(&w->scope, name);
    uint32_t id = pt_strtab_intern(&w->index->names, w->scope.text, w->scope.len);
    w->scope.len = len;
    return id;
}

static bool has_flag(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute attr;
    bool flag = false;
    return dwarf_attr(die, attribute, &attr) && dwarf_formflag(&attr, &flag) == 0 && flag;
}

/* The qualified name of an entry: its declaration's if it has one elsewhere, else by the scope it stands in. */
static uint32_t name_of(struct walk *w, Dwarf_Die *die)
{
    static const unsigned links[] = {DW_AT_specification, DW_AT_abstract_origin};
    Dwarf_Die other = *die;
    /* A concrete function leads to an abstract one, and that to the declaration in its class. */
    for (unsigned step = 0; step < 4; step++) {
        bool moved = false;
        for (unsigned i = 0; i < 2 && !moved; i++) {
            Dwarf_Attribute attr;
            moved = dwarf_attr(&other, links[i], &attr) && dwarf_formref_die(&attr, &other);
        }
        if (!moved)
            break;
        uint32_t id = pt_map64_get(&w->declared, (uint64_t)(uintptr_t)other.addr);
        if (id != PT_NONE)
            return id;
    }
    const char *name = dwarf_diename(&other);
    return name ? qualified(w, name) : PT_NONE;
}

/* Where a variable lives. False: in a register or a stack frame, so that it is nobody else's business. */
static bool place_of(Dwarf_Die *die, enum pt_dwarf_storage *ret_place, uint64_t *ret_address)
{
    Dwarf_Attribute attr, at;
    Dwarf_Op *ops;
    size_t count;
    *ret_place = PT_PLACE_NONE;
    *ret_address = 0;
    if (!dwarf_attr(die, DW_AT_location, &attr))
        return true;
    if (dwarf_getlocation(&attr, &ops, &count) != 0 || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (ops[i].atom == DW_OP_form_tls_address || ops[i].atom == DW_OP_GNU_push_tls_address) {
            *ret_place = PT_PLACE_THREAD;
            return true;
        }
    }
    Dwarf_Addr address;
    if (ops[0].atom == DW_OP_addr)
        address = ops[0].number;
    else if ((ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index) ||
             dwarf_getlocation_attr(&attr, &ops[0], &at) != 0 || dwarf_formaddr(&at, &address) != 0)
        return false;
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
        address += ops[1].number;
    else if (count != 1)
        return true; /* in pieces, or a value without a place */
    *ret_address = address;
    *ret_place = PT_PLACE_FIXED;
    return true;
}

/* The name of a static whose function is known by its symbol only. */
static uint32_t name_by_symbol(struct walk *w, Dwarf_Die *die, uint64_t address)
{
    const char *name = dwarf_diename(die);
    struct pt_buf text;
    uint32_t id = PT_NONE;
    pt_buf_init(&text);
    if (name && pt_dwarf_static_function(&w->statics, w->dwarf, address, name, &text)) {
        pt_buf_printf(&text, "::%s", name);
        id = pt_strtab_intern(&w->index->names, text.text, text.len);
    }
    pt_buf_release(&text);
    return id;
}

static void take_variable(struct walk *w, Dwarf_Die *die, bool in_function)
{
    struct pt_dwarf_var var = {.die = *die, .unit = w->unit};
    enum pt_dwarf_storage place;
    if (pt_dwarf_skip_declares(&w->skip, die) || has_flag(die, DW_AT_declaration) ||
        !place_of(die, &place, &var.address) || (in_function && place == PT_PLACE_NONE))
        return;
    var.place = (uint8_t)place;
    var.name = w->nameless ? name_by_symbol(w, die, var.address) : name_of(w, die);
    if (var.name != PT_NONE)
        PT_PUSH(w->index->vars, w->index->var_count, w->index->var_cap, var);
}

static void take_function(struct walk *w, Dwarf_Die *die, uint32_t name)
{
    Dwarf_Addr entry;
    if (dwarf_entrypc(die, &entry) == 0)
        PT_PUSH(w->index->functions, w->index->function_count, w->index->function_cap,
                ((struct pt_dwarf_function){entry, name}));
}

static void take_type(struct walk *w, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    struct pt_dwarf_index *index = w->index;
    if (!name || has_flag(die, DW_AT_declaration))
        return;
    uint32_t count = index->type_count;
    PT_PUSH(index->type_names, count, index->type_name_cap, qualified(w, name));
    PT_PUSH(index->types, index->type_count, index->type_cap, *die);
}

static void walk_children(struct walk *w, Dwarf_Die *die, bool in_function, unsigned depth);

/* Walks what stands inside `die` with `name` added to the scope. */
static void walk_scope(struct walk *w, Dwarf_Die *die, const char *name, bool in_function, unsigned depth)
{
    size_t len = w->scope.len;
    if (name) {
        pt_buf_puts(&w->scope, name);
        pt_buf_puts(&w->scope, "::");
    }
    walk_children(w, die, in_function, depth + 1);
    w->scope.len = len;
}

static void walk_named(struct walk *w, Dwarf_Die *die, uint32_t name, unsigned depth)
{
    take_function(w, die, name);
    if (!has_flag(die, DW_AT_declaration))
        PT_PUSH(w->index->callables, w->index->callable_count, w->index->callable_cap,
                ((struct pt_dwarf_callable){name, *die}));
    /* Its statics are named by it, wherever the definition stands. */
    struct pt_buf outer = w->scope;
    pt_buf_init(&w->scope);
    walk_scope(w, die, pt_strtab_text(&w->index->names, name), true, depth);
    pt_buf_release(&w->scope);
    w->scope = outer;
}

static void walk_function(struct walk *w, Dwarf_Die *die, unsigned depth)
{
    uint32_t name = name_of(w, die);
    bool nameless = w->nameless;
    w->nameless = name == PT_NONE;
    if (name == PT_NONE)
        walk_children(w, die, true, depth + 1);
    else
        walk_named(w, die, name, depth);
    w->nameless = nameless;
}

static void declare(struct walk *w, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    if (name)
        *pt_map64_at(&w->declared, (uint64_t)(uintptr_t)die->addr) = qualified(w, name);
}

static void walk_entry(struct walk *w, Dwarf_Die *die, bool in_function, unsigned depth)
{
    int tag = pt_dwarf_skip_tag(&w->skip, die);
    switch (tag) {
    case DW_TAG_namespace:
        walk_scope(w, die, dwarf_diename(die), in_function, depth);
        break;
    case DW_TAG_module:
    case DW_TAG_lexical_block:
        walk_scope(w, die, NULL, in_function, depth);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        if (w->definitions)
            take_type(w, die);
        walk_scope(w, die, dwarf_diename(die), in_function, depth);
        break;
    case DW_TAG_variable:
    case DW_TAG_member: /* a static one, up to DWARF 4 */
        if (!w->definitions)
            declare(w, die);
        else if (tag == DW_TAG_variable)
            take_variable(w, die, in_function);
        break;
    case DW_TAG_subprogram:
        if (w->definitions && !pt_dwarf_skip_declares(&w->skip, die)) /* which has no code, and no statics */
            walk_function(w, die, depth);
        else if (w->definitions)
            break;
        else if (!pt_dwarf_skip_refers(&w->skip, die))
            declare(w, die);
        break;
    default:
        break;
    }
}

static void walk_children(struct walk *w, Dwarf_Die *die, bool in_function, unsigned depth)
{
    Dwarf_Die child;
    if (depth > MAX_DEPTH || dwarf_child(die, &child) != 0)
        return;
    do
        walk_entry(w, &child, in_function, depth);
    while (pt_dwarf_skip_next(&w->skip, &child) == 0);
}

static void walk_units(struct walk *w, Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
        w->unit = type == DW_UT_skeleton && split.addr ? split : die;
        if (type != DW_UT_compile && type != DW_UT_partial && type != DW_UT_skeleton)
            continue;
        pt_dwarf_skip_enter(&w->skip, &w->unit);
        walk_children(w, &w->unit, false, 0);
    }
}

static int by_entry(const void *a, const void *b)
{
    const struct pt_dwarf_function *x = a, *y = b;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

void pt_dwarf_index_fill(struct pt_dwarf_index *index, Dwarf *dwarf)
{
    struct walk w = {.index = index, .dwarf = dwarf};
    pt_dwarf_statics_init(&w.statics);
    pt_dwarf_skip_init(&w.skip);
    pt_map64_init(&w.declared);
    pt_buf_init(&w.scope);
    for (int pass = 0; pass < 2; pass++) {
        w.definitions = pass == 1;
        walk_units(&w, dwarf);
    }
    if (index->function_count)
        qsort(index->functions, index->function_count, sizeof *index->functions, by_entry);
    pt_buf_release(&w.scope);
    pt_map64_release(&w.declared);
    pt_dwarf_skip_release(&w.skip);
    pt_dwarf_statics_release(&w.statics);
}

const char *pt_dwarf_function_at(const struct pt_dwarf_index *index, uint64_t entry)
{
    struct pt_dwarf_function key = {.entry = entry};
    const struct pt_dwarf_function *found =
        index->function_count
            ? bsearch(&key, index->functions, index->function_count, sizeof *index->functions, by_entry)
            : NULL;
    return found ? pt_strtab_text(&index->names, found->name) : NULL;
}

bool pt_dwarf_definition(const struct pt_dwarf_index *index, Dwarf_Die *type, Dwarf_Die *ret_definition)
{
    const char *name = dwarf_diename(type);
    size_t len = name ? strlen(name) : 0;
    for (uint32_t i = 0; name && i < index->type_count; i++) {
        /* The declaration's own scope is not known here; its last name is nearly always enough. */
        const char *full = pt_strtab_text(&index->names, index->type_names[i]);
        size_t full_len = pt_strtab_len(&index->names, index->type_names[i]);
        bool same = full_len >= len && strcmp(full + full_len - len, name) == 0 &&
                    (full_len == len || full[full_len - len - 1] == ':');
        if (same && dwarf_tag(type) == dwarf_tag((Dwarf_Die *)(uintptr_t)&index->types[i])) {
            *ret_definition = index->types[i];
            return true;
        }
    }
    return false;
}
