/*
 * The modules of a program: itself first, then the libraries it needs in the linker's order, then those named by the
 * user. Each is opened and read only when a name or an address was not found before it.
 *
 * The program's variables hide those of libraries, as the linker has it. A variable of a library that the program holds
 * a copy of (copy relocation) or defines too (interposition) lives in the program, wherever it was found.
 */
#include "trace/debuginfo.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/ptc.h"
#include "trace/dwarf_path.h"
#include "trace/dwarf_place.h"
#include "trace/dwarf_type.h"
#include "trace/libraries.h"

struct module {
    char *path;
    bool opened, indexed;
    Dwfl *session;
    Elf *elf;
    Dwarf *dwarf;
    uint64_t shift; /* from addresses of the debug information, which may be a separate file, to those of the module */
    uint64_t base;  /* where it was loaded, when has_base */
    bool has_base;
    struct pt_dwarf_index index;
    struct by_address *by_address; /* variables with a fixed place, in order; made when first needed */
    uint32_t by_address_count;
    bool sorted;
};

struct by_address {
    uint64_t address, size;
    uint32_t var;
};

struct pt_debuginfo {
    struct module *modules; /* 0 is the program */
    uint32_t count;
    size_t cap;
    char *library_path;
    char **extra; /* modules named by the user, then NULL */
    bool libraries_found;
    struct pt_strtab texts;    /* what callers were given */
    struct pt_map64 functions; /* start addresses asked for: id in texts, or unknown */
};

static const uint32_t unknown = UINT32_MAX - 1; /* looked for, and not found */

static char *debuginfo_path; /* NULL: libdwfl's own default, next to the file and in /usr/lib/debug */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

static void add_module(struct pt_debuginfo *info, const char *path)
{
    PT_PUSH(info->modules, info->count, info->cap, ((struct module){.path = pt_xstrdup(path)}));
}

/* False when it is no ELF file. */
static bool open_module(struct module *m)
{
    if (m->opened)
        return m->elf != NULL;
    m->opened = true;
    m->session = dwfl_begin(&callbacks);
    Dwfl_Module *module = m->session ? dwfl_report_offline(m->session, m->path, m->path, -1) : NULL;
    if (m->session)
        dwfl_report_end(m->session, NULL, NULL);
    GElf_Addr bias = 0;
    Dwarf_Addr dwarf_bias = 0;
    m->elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    m->dwarf = m->elf ? dwfl_module_getdwarf(module, &dwarf_bias) : NULL;
    m->shift = dwarf_bias - bias;
    return m->elf != NULL;
}

static const struct pt_dwarf_index *index_of(struct module *m)
{
    if (!m->indexed) {
        pt_dwarf_index_init(&m->index);
        if (open_module(m) && m->dwarf)
            pt_dwarf_index_fill(&m->index, m->dwarf);
        m->indexed = true;
    }
    return &m->index;
}

static void close_module(struct module *m)
{
    if (m->indexed)
        pt_dwarf_index_release(&m->index);
    if (m->session)
        dwfl_end(m->session);
    free(m->by_address);
    free(m->path);
}

static void find_libraries(struct pt_debuginfo *info)
{
    if (info->libraries_found)
        return;
    info->libraries_found = true;
    struct pt_libraries libraries = {0};
    pt_libraries_find(info->modules[0].path, info->library_path, &libraries);
    uint32_t needed = libraries.count;
    for (char **extra = info->extra; *extra; extra++) {
        PT_PUSH(libraries.paths, libraries.count, libraries.cap, pt_xstrdup(*extra));
        pt_libraries_find(*extra, info->library_path, &libraries);
    }
    for (uint32_t i = 0; i < libraries.count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < i && i >= needed; k++)
            known |= strcmp(libraries.paths[k], libraries.paths[i]) == 0;
        if (!known)
            add_module(info, libraries.paths[i]);
    }
    pt_libraries_release(&libraries);
}

static enum pt_status check_module(struct module *m, struct pt_err *err)
{
    GElf_Ehdr header;
    if (!open_module(m) || !gelf_getehdr(m->elf, &header))
        return pt_err_set(err, PT_EINPUT, "'%s' is not an ELF program", m->path);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        return pt_err_set(err, PT_EINPUT, "'%s' is not a 64-bit little-endian program or shared library", m->path);
    return PT_OK;
}

enum pt_status pt_debuginfo_open(const char *program, const struct pt_debuginfo_options *options,
                                 struct pt_debuginfo **ret_info, struct pt_err *err)
{
    struct pt_debuginfo *info = pt_xcalloc(1, sizeof *info);
    uint32_t extras = 0;
    elf_version(EV_CURRENT);
    pt_strtab_init(&info->texts);
    pt_map64_init(&info->functions);
    add_module(info, program);
    info->library_path = options->library_path ? pt_xstrdup(options->library_path) : NULL;
    while (options->modules && options->modules[extras])
        extras++;
    info->extra = pt_xcalloc((size_t)extras + 1, sizeof *info->extra);
    enum pt_status status = check_module(&info->modules[0], err);
    for (uint32_t i = 0; i < extras && status == PT_OK; i++) {
        struct module m = {.path = pt_xstrdup(options->modules[i])};
        info->extra[i] = pt_xstrdup(options->modules[i]);
        status = check_module(&m, err);
        close_module(&m);
    }
    if (status != PT_OK) {
        pt_debuginfo_free(info);
        return status;
    }
    *ret_info = info;
    return PT_OK;
}

void pt_debuginfo_free(struct pt_debuginfo *info)
{
    if (!info)
        return;
    for (uint32_t i = 0; i < info->count; i++)
        close_module(&info->modules[i]);
    free(info->modules);
    for (char **extra = info->extra; *extra; extra++)
        free(*extra);
    free(info->extra);
    free(info->library_path);
    pt_strtab_release(&info->texts);
    pt_map64_release(&info->functions);
    free(info);
}

/* --- variables --- */

/* Is `file` the end of `path`, by whole components? */
static bool file_matches(const char *path, const char *file)
{
    if (!path)
        return false;
    while (strncmp(file, "./", 2) == 0)
        file += 2;
    size_t path_len = strlen(path), len = strlen(file);
    return path_len >= len && strcmp(path + path_len - len, file) == 0 &&
           (path_len == len || path[path_len - len - 1] == '/');
}

/* The file a variable is declared in. Not dwarf_decl_file, which aborts where a unit has no table of files. */
static const char *file_of(const struct pt_dwarf_var *var)
{
    Dwarf_Die die = var->die, unit = var->unit, owner;
    Dwarf_Attribute attr;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;
    const char *file = NULL;
    if (dwarf_attr_integrate(&die, DW_AT_decl_file, &attr) && dwarf_formudata(&attr, &number) == 0 &&
        dwarf_cu_die(attr.cu, &owner, NULL, NULL, NULL, NULL, NULL, NULL) &&
        dwarf_getsrcfiles(&owner, &files, &count) == 0 && number < count)
        file = dwarf_filesrc(files, number, NULL, NULL);
    return file ? file : dwarf_diename(&unit);
}

static bool is_in_file(const struct pt_dwarf_var *var, const char *file)
{
    Dwarf_Die unit = var->unit;
    return !file || file_matches(file_of(var), file) || file_matches(dwarf_diename(&unit), file);
}

/* Sections that the linker dropped leave variables at address 0 or at the end of memory. */
static bool is_loaded(const struct module *m, uint64_t address)
{
    size_t count;
    GElf_Phdr segment;
    if (elf_getphdrnum(m->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(m->elf, (int)i, &segment) && segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_memsz)
            return true;
    }
    return false;
}

struct match {
    struct module *module;
    const struct pt_dwarf_var *var;
    uint64_t address; /* in the module */
};

struct matches {
    struct match *items;
    uint32_t count;
    size_t cap;
};

static void add_match(struct matches *matches, struct module *m, const struct pt_dwarf_var *var)
{
    struct match match = {m, var, var->address + m->shift};
    if (var->place == PT_PLACE_FIXED && !is_loaded(m, match.address))
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

/* The variables called `head`, of the program, or of all its libraries if the program has none. */
static void find_matches(struct pt_debuginfo *info, const char *file, const char *head, size_t len,
                         struct matches *matches)
{
    for (uint32_t i = 0; i < info->count; i++) {
        struct module *m = &info->modules[i];
        const struct pt_dwarf_index *index = index_of(m);
        uint32_t name = pt_strtab_find(&index->names, head, len);
        for (uint32_t v = 0; name != PT_NONE && v < index->var_count; v++) {
            if (index->vars[v].name == name && is_in_file(&index->vars[v], file))
                add_match(matches, m, &index->vars[v]);
        }
        if (i == 0 && matches->count)
            return;
        if (i == 0)
            find_libraries(info); /* may move the array; nothing points into it yet */
    }
}

static enum pt_status ambiguous(const struct pt_debuginfo *info, const struct matches *matches, const char *path,
                                struct pt_err *err)
{
    enum { MAX_LISTED = 8 };
    struct pt_buf list;
    pt_buf_init(&list);
    for (uint32_t i = 0; i < matches->count && i < MAX_LISTED; i++) {
        const struct match *match = &matches->items[i];
        const char *file = file_of(match->var);
        const char *slash = file ? strrchr(file, '/') : NULL;
        bool same_name = false; /* as another file's last component: then the folder is needed too */
        for (uint32_t k = 0; k < matches->count; k++) {
            const char *other = file_of(matches->items[k].var);
            same_name |= k != i && slash && other && strcmp(other, file) != 0 && file_matches(other, slash + 1);
        }
        pt_buf_printf(&list, "%s%s:%s", i ? ", " : "", !file ? "?" : slash && !same_name ? slash + 1 : file, path);
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
static bool find_copy(struct module *program, const struct pt_dwarf_var *var, uint64_t *ret_address)
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

static enum pt_status resolve(struct pt_debuginfo *info, const struct match *match, const char *path, size_t head,
                              struct pt_variable *ret_variable, struct pt_err *err)
{
    Dwarf_Die die = match->var->die;
    struct pt_variable variable = {0};
    if (match->var->place == PT_PLACE_THREAD)
        return pt_err_set(err, PT_EINPUT, "'%s' is thread-local: each thread has its own", path);
    if (match->var->place == PT_PLACE_NONE)
        return pt_err_set(err, PT_EINPUT, "'%s' has no place in memory: the compiler has optimised it away", path);
    enum pt_status status = pt_dwarf_path(index_of(match->module), &die, path, path + head, &variable, err);
    if (status != PT_OK)
        return status;
    uint64_t address = match->address;
    bool in_program = match->module == &info->modules[0] || find_copy(&info->modules[0], match->var, &address);
    variable.module = in_program ? NULL : match->module->path;
    variable.offset += address;
    *ret_variable = variable;
    return PT_OK;
}

enum pt_status pt_debuginfo_find(struct pt_debuginfo *info, const char *file, const char *path,
                                 struct pt_variable *ret_variable, struct pt_err *err)
{
    struct matches matches = {0};
    size_t head = strcspn(path, ".[");
    enum pt_status status;
    find_matches(info, file, path, head, &matches);
    if (matches.count > 1)
        status = ambiguous(info, &matches, path, err);
    else if (matches.count == 1)
        status = resolve(info, &matches.items[0], path, head, ret_variable, err);
    else if (!info->modules[0].dwarf)
        status = pt_err_set(err, PT_EINPUT,
                            "the program has no variable '%s': '%s' has no debug information (build it with -g)", path,
                            info->modules[0].path);
    else
        status =
            pt_err_set(err, PT_EINPUT, "the program has no variable '%s%s%s'", file ? file : "", file ? ":" : "", path);
    free(matches.items);
    return status;
}

bool pt_debuginfo_knows(struct pt_debuginfo *info, const char *path)
{
    struct matches matches = {0};
    find_matches(info, NULL, path, strcspn(path, ".["), &matches);
    free(matches.items);
    return matches.count > 0;
}

void pt_debuginfo_near(struct pt_debuginfo *info, const char *path, pt_debuginfo_visit visit, void *context)
{
    struct matches matches = {0};
    size_t head = strcspn(path, ".[");
    find_matches(info, NULL, path, head, &matches);
    for (uint32_t i = 0; i < matches.count; i++) {
        Dwarf_Die die = matches.items[i].var->die;
        pt_dwarf_path_near(index_of(matches.items[i].module), &die, path, path + head, visit, context);
    }
    for (uint32_t i = 0; i < info->count && !matches.count; i++) {
        const struct pt_dwarf_index *index = index_of(&info->modules[i]);
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

/* --- addresses --- */

static int compare_addresses(const void *a, const void *b)
{
    const struct by_address *x = a, *y = b;
    return x->address != y->address ? (x->address < y->address ? -1 : 1) : x->var < y->var ? -1 : x->var > y->var;
}

static void sort_by_address(struct module *m)
{
    const struct pt_dwarf_index *index = index_of(m);
    m->sorted = true;
    m->by_address = pt_xcalloc((size_t)index->var_count + 1, sizeof *m->by_address);
    for (uint32_t v = 0; v < index->var_count; v++) {
        Dwarf_Die die = index->vars[v].die, type;
        Dwarf_Word size;
        uint64_t address = index->vars[v].address + m->shift;
        if (index->vars[v].place != PT_PLACE_FIXED || !is_loaded(m, address) || !pt_dwarf_type_of(&die, &type) ||
            dwarf_aggregate_size(&type, &size) != 0 || !size)
            continue;
        m->by_address[m->by_address_count++] = (struct by_address){address, size, v};
    }
    qsort(m->by_address, m->by_address_count, sizeof *m->by_address, compare_addresses);
}

static const struct by_address *variable_at(struct module *m, uint64_t address)
{
    if (!m->sorted)
        sort_by_address(m);
    uint32_t low = 0, high = m->by_address_count; /* the first that begins behind it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->by_address[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* The same variable may be described several times: the first one counts. */
    while (low > 1 && m->by_address[low - 2].address == m->by_address[low - 1].address)
        low--;
    return low && address - m->by_address[low - 1].address < m->by_address[low - 1].size ? &m->by_address[low - 1]
                                                                                         : NULL;
}

static struct module *module_of(struct pt_debuginfo *info, const char *file)
{
    if (!*file)
        return &info->modules[0];
    find_libraries(info);
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (uint32_t i = 1; i < info->count; i++)
        if (strcmp(info->modules[i].path, file) == 0 || file_matches(info->modules[i].path, name))
            return &info->modules[i];
    return NULL;
}

/* Do other variables of the module have this name? */
static bool is_shared_name(const struct module *m, const struct by_address *at)
{
    const struct pt_dwarf_var *vars = m->index.vars;
    for (uint32_t i = 0; i < m->by_address_count; i++)
        if (vars[m->by_address[i].var].name == vars[at->var].name && m->by_address[i].address != at->address)
            return true;
    return false;
}

bool pt_debuginfo_at(struct pt_debuginfo *info, const char *file, uint64_t offset, bool whole, const char **ret_name,
                     struct pt_variable *ret_variable)
{
    struct module *m = module_of(info, file);
    const struct by_address *at = m ? variable_at(m, offset) : NULL;
    if (!at)
        return false;
    const struct pt_dwarf_var *var = &m->index.vars[at->var];
    struct pt_dwarf_part part;
    struct pt_buf text;
    struct pt_err ignored;
    Dwarf_Die die = var->die;
    pt_buf_init(&text);
    if (m != &info->modules[0] || is_shared_name(m, at)) {
        const char *source = file_of(var), *slash = source ? strrchr(source, '/') : NULL;
        pt_buf_printf(&text, "%s:", slash ? slash + 1 : source ? source : "?");
    }
    pt_buf_puts(&text, pt_strtab_text(&m->index.names, var->name));
    size_t head = text.len;
    bool found = pt_dwarf_place(&m->index, &die, offset - at->address, whole, &text, &part) && part.size <= UINT32_MAX;
    if (found) {
        struct pt_variable known;
        *ret_variable = (struct pt_variable){
            .offset = at->address + part.offset, .size = (uint32_t)part.size, .type = PT_WATCH_UINT};
        if (pt_dwarf_path(&m->index, &die, text.text, text.text + head, &known, &ignored) == PT_OK && !known.bit_size &&
            known.size == part.size)
            ret_variable->type = known.type;
        *ret_name = pt_strtab_text(&info->texts, pt_strtab_intern(&info->texts, text.text, text.len));
    }
    pt_buf_release(&text);
    return found;
}

/* --- constants --- */

static bool section_has(Elf_Scn *section, const char *text, size_t bytes)
{
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC) ||
        (header.sh_flags & SHF_EXECINSTR))
        return false;
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf && memmem(data->d_buf, data->d_size, text, bytes);
}

/* Inline functions that are not used leave no trace in debug information. A module without any may use everything. */
static bool mentions(struct module *m, const char *function)
{
    const struct pt_dwarf_index *index = index_of(m);
    return !m->dwarf || pt_strtab_find(&index->names, function, strlen(function)) != PT_NONE;
}

bool pt_debuginfo_may_pass(struct pt_debuginfo *info, const char *function, const char *text)
{
    find_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        struct module *m = &info->modules[i];
        Elf_Scn *section = NULL;
        if (!open_module(m) || (i > 0 && !m->dwarf) || !mentions(m, function))
            continue;
        while ((section = elf_nextscn(m->elf, section))) {
            if (section_has(section, text, strlen(text) + 1))
                return true;
        }
    }
    return false;
}

/* --- functions --- */

/* A function's symbol, for modules without debug information. */
static const char *symbol_at(Elf *elf, uint64_t address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section))) {
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
            !(data = elf_getdata(section, NULL)))
            continue;
        GElf_Sym symbol;
        for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
            if (symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == address)
                return elf_strptr(elf, header.sh_link, symbol.st_name);
        }
    }
    return NULL;
}

/*
 * std::thread runs `std::thread::_State_impl<std::thread::_Invoker<std::tuple<CALLABLE, ARGUMENTS...> > >::_M_run`.
 * Gives the callable, which ends at the first comma or '>' outside brackets.
 */
static const char *callable_of(struct pt_debuginfo *info, const char *name)
{
    static const char head[] = "_State_impl<", tuple[] = "tuple<";
    if (strcmp(name, "execute_native_thread_routine") == 0)
        return NULL; /* libstdc++'s own start function says nothing */
    const char *state = strstr(name, head), *at = state ? strstr(state, tuple) : NULL;
    size_t len = strlen(name);
    if (!at || len < 8 || strcmp(name + len - 8, "::_M_run") != 0)
        return name;
    at += sizeof tuple - 1;
    size_t end = 0, depth = 0;
    for (; at[end] && (depth || (at[end] != ',' && at[end] != '>')); end++) {
        depth += strchr("<({", at[end]) != NULL;
        depth -= depth && strchr(">)}", at[end]) != NULL;
    }
    while (end && at[end - 1] == ' ')
        end--;
    if (end == 0 || memmem(at, end, "*)", 2))
        return NULL; /* a pointer to a function says nothing about which one */
    return pt_strtab_text(&info->texts, pt_strtab_intern(&info->texts, at, end));
}

static const char *function_in(struct module *m, uint64_t address)
{
    const char *name = pt_dwarf_function_at(index_of(m), address - m->shift);
    return name || !open_module(m) ? name : symbol_at(m->elf, address);
}

static const char *find_function(struct pt_debuginfo *info, uint64_t start, uint64_t base)
{
    find_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        if (info->modules[i].has_base && info->modules[i].base == base)
            return function_in(&info->modules[i], start - base);
    }
    /* Who is loaded there is not told; but a thread starts where a function starts, and then the module is known. */
    for (uint32_t i = 0; i < info->count; i++) {
        struct module *m = &info->modules[i];
        const char *name = m->has_base ? NULL : function_in(m, start - base);
        if (name) {
            m->has_base = true;
            m->base = base;
            return name;
        }
    }
    return NULL;
}

bool pt_debuginfo_loaded(struct pt_debuginfo *info, const char *file, uint64_t base)
{
    struct module *m = module_of(info, file);
    if (!m)
        return false;
    m->has_base = true;
    m->base = base;
    return true;
}

const char *pt_debuginfo_function(struct pt_debuginfo *info, uint64_t start, uint64_t base)
{
    uint32_t id = pt_map64_get(&info->functions, start);
    if (id == PT_NONE) {
        const char *name = find_function(info, start, base);
        name = name ? callable_of(info, name) : NULL;
        id = name ? pt_strtab_intern(&info->texts, name, strlen(name)) : unknown;
        *pt_map64_at(&info->functions, start) = id;
    }
    return id == unknown ? NULL : pt_strtab_text(&info->texts, id);
}

void pt_debuginfo_functions(struct pt_debuginfo *info, pt_debuginfo_visit_function visit, void *context)
{
    find_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        struct module *m = &info->modules[i];
        const struct pt_dwarf_index *index = index_of(m);
        for (uint32_t f = 0; f < index->function_count; f++) {
            const char *name = callable_of(info, pt_strtab_text(&index->names, index->functions[f].name));
            if (name)
                visit(context, i ? m->path : NULL, index->functions[f].entry + m->shift, name);
        }
    }
}

size_t pt_debuginfo_identity(struct pt_debuginfo *info, unsigned char *ret_id, size_t room)
{
    struct module *m = &info->modules[0];
    const void *id;
    ssize_t bytes = open_module(m) ? dwelf_elf_gnu_build_id(m->elf, &id) : 0;
    if (bytes > 0 && (size_t)bytes <= room) {
        memcpy(ret_id, id, (size_t)bytes);
        return (size_t)bytes;
    }
    size_t size = 0, count = 0;
    GElf_Ehdr header;
    const char *raw = m->elf ? elf_rawfile(m->elf, &size) : NULL;
    if (!raw || !gelf_getehdr(m->elf, &header) || elf_getphdrnum(m->elf, &count) != 0 || header.e_phoff > size ||
        count > (size - header.e_phoff) / sizeof(Elf64_Phdr))
        return 0;
    uint64_t hash = pt_ptc_hash(raw + header.e_phoff, count * sizeof(Elf64_Phdr));
    memcpy(ret_id, &hash, sizeof hash);
    return sizeof hash;
}
