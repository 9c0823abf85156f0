/*
 * Variables by name.
 *
 * The program's variables hide those of libraries, as the linker has it. A variable of a library that the program holds
 * a copy of (copy relocation) or defines too (interposition) lives in the program, wherever it was found.
 */
#include <gelf.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trace/debuginfo_impl.h"
#include "trace/dwarf_path.h"

static bool is_in_file(const struct pt_dwarf_var *var, const char *file)
{
    Dwarf_Die unit = var->unit;
    return !file || pt_module_file_matches(pt_module_file_of(var), file) ||
           pt_module_file_matches(dwarf_diename(&unit), file);
}

struct match {
    struct pt_elf *module;
    const struct pt_dwarf_var *var;
    uint64_t address; /* in the module */
};

struct matches {
    struct match *items;
    uint32_t count;
    size_t cap;
};

static void add_match(struct matches *matches, struct pt_elf *m, const struct pt_dwarf_var *var)
{
    struct match match = {m, var, var->address + m->shift};
    if (var->place == PT_PLACE_FIXED && !pt_module_has(m, match.address))
        return;
    /* What the compiler removed is only of interest, for the message, when nothing else has the name. */
    if (matches->count && var->place == PT_PLACE_NONE)
        return;
    if (matches->count == 1 && matches->items[0].var->place == PT_PLACE_NONE)
        matches->count = 0;
    for (uint32_t i = 0; i < matches->count; i++) {
        /* An inline variable, or a static of an inline function, is described by every unit that uses it. */
        if (matches->items[i].module == m && matches->items[i].var->place == var->place &&
            matches->items[i].address == match.address)
            return;
    }
    PT_PUSH(matches->items, matches->count, matches->cap, match);
}

/* Names of templates differ in blanks from compiler to compiler: `A<B<int> >`. */
static bool same_but_blanks(const char *a, const char *b, size_t len)
{
    const char *end = b + len;
    for (;; a++, b++) {
        a += strspn(a, " ");
        while (b < end && *b == ' ')
            b++;
        if (b == end || *a != *b)
            return b == end && !*a;
    }
}

/* The name in the index, which may be written with other blanks there. */
static uint32_t find_name(const struct pt_dwarf_index *index, const char *head, size_t len)
{
    uint32_t name = pt_strtab_find(&index->names, head, len);
    for (uint32_t v = 0; name == PT_NONE && memchr(head, '<', len) && v < index->var_count; v++)
        if (same_but_blanks(pt_strtab_text(&index->names, index->vars[v].name), head, len))
            name = index->vars[v].name;
    return name;
}

/* The variables called `head`, of the program, or of all its libraries if the program has none. */
static void find_matches(struct pt_debuginfo *info, const char *file, const char *head, size_t len,
                         struct matches *matches)
{
    for (uint32_t i = 0; i < info->count; i++) {
        struct pt_elf *m = &info->modules[i];
        const struct pt_dwarf_index *index = pt_module_index(m);
        uint32_t name = find_name(index, head, len);
        for (uint32_t v = 0; name != PT_NONE && v < index->var_count; v++) {
            if (index->vars[v].name == name && is_in_file(&index->vars[v], file))
                add_match(matches, m, &index->vars[v]);
        }
        if (i == 0 && matches->count)
            return;
        if (i == 0)
            pt_debuginfo_libraries(info); /* may move the array; nothing points into it yet */
    }
}

/* Several variables of one name in files of one name, and in one module, are numbered by their addresses, as in
 * recordings (debuginfo_at.c). */
static bool are_numbered(const struct matches *matches)
{
    for (uint32_t i = 1; i < matches->count; i++) {
        const char *file = pt_module_file_of(matches->items[i].var), *slash = file ? strrchr(file, '/') : NULL;
        const char *first = pt_module_file_of(matches->items[0].var);
        if (matches->items[i].module != matches->items[0].module || !file || !first ||
            !pt_module_file_matches(first, slash ? slash + 1 : file))
            return false;
    }
    return true;
}

static enum pt_status ambiguous(const struct pt_debuginfo *info, const struct matches *matches, const char *path,
                                struct pt_err *err)
{
    enum { MAX_LISTED = 8 };
    size_t head = pt_debuginfo_head(path);
    struct pt_buf list;
    pt_buf_init(&list);
    for (uint32_t i = 0; i < matches->count && i < MAX_LISTED; i++) {
        const struct match *match = &matches->items[i];
        const char *file = pt_module_file_of(match->var);
        const char *slash = file ? strrchr(file, '/') : NULL;
        bool same_name = false; /* as another file's last component: then the folder is needed too */
        for (uint32_t k = 0; k < matches->count; k++) {
            const char *other = pt_module_file_of(matches->items[k].var);
            same_name |=
                k != i && slash && other && strcmp(other, file) != 0 && pt_module_file_matches(other, slash + 1);
        }
        pt_buf_printf(&list, "%s%s:", i ? ", " : "", !file ? "?" : slash && !same_name ? slash + 1 : file);
        pt_buf_add(&list, path, head);
        if (!same_name && are_numbered(matches))
            pt_buf_printf(&list, "#%u", i + 1);
        pt_buf_puts(&list, path + head);
        if (match->module != &info->modules[0])
            pt_buf_printf(&list, " (in %s)", match->module->path);
    }
    if (matches->count > MAX_LISTED)
        pt_buf_puts(&list, ", ...");
    enum pt_status status = pt_err_set(err, PT_EINPUT, "'%s' is ambiguous; the candidates are %s", path, list.text);
    pt_buf_release(&list);
    pt_err_hint(err, "say which one with 'var NAME = FILE:%s;'", path);
    return status;
}

/* The program's own symbol of a variable that was found in a library: its copy of it. */
static bool find_copy(struct pt_elf *program, const struct pt_dwarf_var *var, uint64_t *ret_address)
{
    Dwarf_Attribute attr;
    Dwarf_Die die = var->die;
    const char *linkage = dwarf_attr_integrate(&die, DW_AT_linkage_name, &attr) ? dwarf_formstring(&attr) : NULL;
    const char *wanted = linkage ? linkage : dwarf_diename(&die);
    bool external = false;
    if (!dwarf_attr_integrate(&die, DW_AT_external, &attr) || dwarf_formflag(&attr, &external) != 0 || !external)
        return false;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (wanted && (section = elf_nextscn(program->elf, section))) {
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !(data = elf_getdata(section, NULL)))
            continue;
        GElf_Sym symbol;
        for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
            const char *name = elf_strptr(program->elf, header.sh_link, symbol.st_name);
            if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                strcmp(name, wanted) == 0) {
                *ret_address = symbol.st_value;
                return true;
            }
        }
    }
    return false;
}

typedef enum pt_status (*follow_path)(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name,
                                      const char *path, struct pt_variable *ret_variable, struct pt_err *err);

static enum pt_status resolve(struct pt_debuginfo *info, const struct match *match, const char *path, size_t head,
                              follow_path follow, struct pt_variable *ret_variable, struct pt_err *err)
{
    Dwarf_Die die = match->var->die;
    struct pt_variable variable = {0};
    if (match->var->place == PT_PLACE_THREAD)
        return pt_err_set(err, PT_EINPUT, "'%s' is thread-local: each thread has its own", path);
    if (match->var->place == PT_PLACE_NONE)
        return pt_err_set(err, PT_EINPUT, "'%s' has no place in memory: the compiler has optimised it away", path);
    enum pt_status status = follow(pt_module_index(match->module), &die, path, path + head, &variable, err);
    if (status != PT_OK)
        return status;
    uint64_t address = match->address;
    bool in_program = match->module == &info->modules[0] || find_copy(&info->modules[0], match->var, &address);
    variable.module = in_program ? NULL : match->module->path;
    variable.offset += address;
    *ret_variable = variable;
    return PT_OK;
}

size_t pt_debuginfo_head(const char *path)
{
    size_t head = 0, open = 0; /* inside the arguments of a template everything is part of the name */
    for (; path[head] && (open || (!strchr(".[^", path[head]) && strncmp(path + head, "->", 2) != 0)); head++) {
        open += path[head] == '<';
        open -= path[head] == '>' && open;
    }
    return head;
}

/* `n#2`: the length of what is before its number. */
static size_t split_number(const char *path, size_t head, uint32_t *ret_number)
{
    size_t at = head;
    *ret_number = 0;
    while (at && path[at - 1] >= '0' && path[at - 1] <= '9')
        at--;
    if (!at || path[at - 1] != '#' || at == head || head - at > 6)
        return head;
    *ret_number = (uint32_t)strtoul(path + at, NULL, 10);
    return at - 1;
}

static int compare_matches(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    return x->address != y->address ? (x->address < y->address ? -1 : 1) : 0;
}

/* Keeps the one that was asked for, or none. */
static void choose(struct matches *matches, uint32_t number)
{
    bool known = number && number <= matches->count && matches->count > 1 && are_numbered(matches);
    if (known) {
        qsort(matches->items, matches->count, sizeof *matches->items, compare_matches);
        matches->items[0] = matches->items[number - 1];
    }
    matches->count = known;
}

static enum pt_status find(struct pt_debuginfo *info, const char *file, const char *path, follow_path follow,
                           struct pt_variable *ret_variable, struct pt_err *err)
{
    struct matches matches = {0};
    size_t head = pt_debuginfo_head(path);
    enum pt_status status;
    uint32_t number;
    find_matches(info, file, path, split_number(path, head, &number), &matches);
    if (number)
        choose(&matches, number);
    if (matches.count > 1)
        status = ambiguous(info, &matches, path, err);
    else if (matches.count == 1)
        status = resolve(info, &matches.items[0], path, head, follow, ret_variable, err);
    else if (!pt_module_dwarf(&info->modules[0]))
        status = pt_err_set(err, PT_EINPUT,
                            "the program has no variable '%s': '%s' has no debug information (build it with -g)", path,
                            info->modules[0].path);
    else
        status =
            pt_err_set(err, PT_EINPUT, "the program has no variable '%s%s%s'", file ? file : "", file ? ":" : "", path);
    free(matches.items);
    return status;
}

enum pt_status pt_debuginfo_find(struct pt_debuginfo *info, const char *file, const char *path,
                                 struct pt_variable *ret_variable, struct pt_err *err)
{
    return find(info, file, path, pt_dwarf_path, ret_variable, err);
}

enum pt_status pt_debuginfo_find_extent(struct pt_debuginfo *info, const char *file, const char *path,
                                        struct pt_variable *ret_variable, struct pt_err *err)
{
    return find(info, file, path, pt_dwarf_extent, ret_variable, err);
}

bool pt_debuginfo_knows(struct pt_debuginfo *info, const char *path)
{
    struct matches matches = {0};
    find_matches(info, NULL, path, pt_debuginfo_head(path), &matches);
    free(matches.items);
    return matches.count > 0;
}

/* The search for a local variable: the functions above are on the stack of calls. */
static const char *local_below(Dwarf_Die *parent, const char *function, const char *name, size_t len, int depth)
{
    enum { MAX_DEPTH = 64 };
    Dwarf_Die die;
    const char *found = NULL;
    for (int end = depth > MAX_DEPTH ? 1 : dwarf_child(parent, &die); end == 0 && !found;
         end = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);
        const char *own = dwarf_diename(&die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && function && own && strlen(own) == len &&
            memcmp(own, name, len) == 0)
            found = function;
        else if (tag == DW_TAG_subprogram)
            found = local_below(&die, own, name, len, depth + 1);
        else if (tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_inlined_subroutine)
            found = local_below(&die, tag == DW_TAG_inlined_subroutine && own ? own : function, name, len, depth + 1);
    }
    return found;
}

const char *pt_debuginfo_local(struct pt_debuginfo *info, const char *path)
{
    struct pt_elf *program = &info->modules[0];
    const char *found = NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    Dwarf *dwarf = pt_module_dwarf(program);
    while (dwarf && !found && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        found = local_below(&die, NULL, path, pt_debuginfo_head(path), 0);
    return found;
}

/* Nobody means a variable of libc that he has spelled wrong. */
bool pt_module_is_of_the_system(const char *path)
{
    return strncmp(path, "/lib", 4) == 0 || strncmp(path, "/usr/lib", 8) == 0;
}

void pt_debuginfo_near(struct pt_debuginfo *info, const char *path, pt_debuginfo_visit visit, void *context)
{
    struct matches matches = {0};
    size_t head = pt_debuginfo_head(path);
    find_matches(info, NULL, path, head, &matches);
    for (uint32_t i = 0; i < matches.count; i++) {
        Dwarf_Die die = matches.items[i].var->die;
        pt_dwarf_path_near(pt_module_index(matches.items[i].module), &die, path, path + head, visit, context);
    }
    for (uint32_t i = 0; i < info->count && !matches.count; i++) {
        if (i > 0 && pt_module_is_of_the_system(info->modules[i].path))
            continue;
        const struct pt_dwarf_index *index = pt_module_index(&info->modules[i]);
        for (uint32_t v = 0; v < index->var_count; v++) {
            const char *name = pt_strtab_text(&index->names, index->vars[v].name);
            Dwarf_Die die = index->vars[v].die;
            visit(context, name);
            if (i == 0) /* a member may have been meant */
                pt_dwarf_path_near(index, &die, name, name + strlen(name), visit, context);
        }
    }
    free(matches.items);
}
