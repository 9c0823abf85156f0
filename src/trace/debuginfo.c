/*
 * The modules of a program: itself first, then the libraries it needs in the linker's order, then those named by the
 * user. Each is opened and read only when a name or an address was not found before it. Here also: functions by
 * address, and constants. Variables by name are in debuginfo_find.c, by address in debuginfo_at.c.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/hash.h"
#include "trace/debuginfo_impl.h"
#include "trace/libraries.h"

static const uint32_t unknown = UINT32_MAX - 1; /* looked for, and not found */

static char *debuginfo_path; /* NULL: libdwfl's own default, next to the file and in /usr/lib/debug */

/* libdwfl keeps the file open that it finds apart from the module: a program that we start must not inherit it. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *path,
                          const char *link, GElf_Word checksum, char **ret_path)
{
    int fd = dwfl_standard_find_debuginfo(module, data, name, base, path, link, checksum, ret_path);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

static void add_module(struct pt_debuginfo *info, const char *path)
{
    PT_PUSH(info->modules, info->count, info->cap, ((struct pt_elf){.path = pt_xstrdup(path)}));
}

/* False when it is no ELF file. Opened once, without its debug information. */
static bool open_module(struct pt_elf *m)
{
    if (m->opened)
        return m->elf != NULL;
    m->opened = true;
    m->session = dwfl_begin(&callbacks);
    m->module = m->session ? dwfl_report_offline(m->session, m->path, m->path, -1) : NULL;
    if (m->session)
        dwfl_report_end(m->session, NULL, NULL);
    m->elf = m->module ? dwfl_module_getelf(m->module, &m->bias) : NULL;
    return m->elf != NULL;
}

/* Where it stands apart, as libc's does, it is large, and compressed: only who needs it looks for it. */
Dwarf *pt_module_dwarf(struct pt_elf *m)
{
    Dwarf_Addr bias = 0;
    if (!m->sought && open_module(m)) {
        m->dwarf = dwfl_module_getdwarf(m->module, &bias);
        m->shift = bias - m->bias;
    }
    m->sought = true;
    return m->dwarf;
}

const struct pt_dwarf_index *pt_module_index(struct pt_elf *m)
{
    if (!m->indexed) {
        pt_dwarf_index_init(&m->index);
        if (pt_module_dwarf(m))
            pt_dwarf_index_fill(&m->index, m->dwarf);
        m->indexed = true;
    }
    return &m->index;
}

static void close_module(struct pt_elf *m)
{
    if (m->indexed)
        pt_dwarf_index_release(&m->index);
    if (m->session)
        dwfl_end(m->session);
    pt_module_forget_addresses(m);
    free(m->path);
}

void pt_debuginfo_libraries(struct pt_debuginfo *info)
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

static enum pt_status check_module(struct pt_elf *m, struct pt_err *err)
{
    GElf_Ehdr header;
    if (access(m->path, R_OK) != 0)
        return pt_err_set(err, PT_EINPUT, "cannot open '%s': %s", m->path, strerror(errno));
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
    pt_map64_init(&info->heads);
    pt_map64_init(&info->functions);
    add_module(info, program);
    info->library_path = options->library_path ? pt_xstrdup(options->library_path) : NULL;
    while (options->modules && options->modules[extras])
        extras++;
    info->extra = pt_xcalloc((size_t)extras + 1, sizeof *info->extra);
    enum pt_status status = check_module(&info->modules[0], err);
    for (uint32_t i = 0; i < extras && status == PT_OK; i++) {
        struct pt_elf m = {.path = pt_xstrdup(options->modules[i])};
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
    pt_map64_release(&info->heads);
    pt_map64_release(&info->functions);
    free(info);
}

bool pt_module_file_matches(const char *path, const char *file)
{
    if (!path)
        return false;
    while (strncmp(file, "./", 2) == 0)
        file += 2;
    size_t path_len = strlen(path), len = strlen(file);
    return path_len >= len && strcmp(path + path_len - len, file) == 0 &&
           (path_len == len || path[path_len - len - 1] == '/');
}

/* Not by dwarf_decl_file, which aborts where a unit has no table of files. */
const char *pt_module_file_of(const struct pt_dwarf_var *var)
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

bool pt_module_has(const struct pt_elf *m, uint64_t address)
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

struct pt_elf *pt_debuginfo_module(struct pt_debuginfo *info, const char *file)
{
    if (!*file)
        return &info->modules[0];
    pt_debuginfo_libraries(info);
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (uint32_t i = 1; i < info->count; i++)
        if (strcmp(info->modules[i].path, file) == 0 || pt_module_file_matches(info->modules[i].path, name))
            return &info->modules[i];
    return NULL;
}

/* --- constants --- */

static Elf_Data *data_of(Elf_Scn *section)
{
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_ALLOC) ||
        (header.sh_flags & SHF_EXECINSTR))
        return NULL;
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_buf ? data : NULL;
}

static bool section_has(Elf_Scn *section, const char *text, size_t bytes)
{
    Elf_Data *data = data_of(section);
    return data && memmem(data->d_buf, data->d_size, text, bytes);
}

/* Runs of characters that can be seen, up to a NUL. */
static void visit_texts(Elf_Scn *section, pt_debuginfo_visit visit, void *context)
{
    Elf_Data *data = data_of(section);
    const char *bytes = data ? data->d_buf : NULL;
    size_t start = 0;
    for (size_t i = 0; data && i < data->d_size; i++) {
        if (bytes[i] == '\0' && i > start)
            visit(context, bytes + start);
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
            start = i + 1;
    }
}

/* The name of the first symbol that is wanted, or NULL. */
static const char *find_symbol(Elf *elf, bool (*wanted)(const GElf_Sym *symbol, const char *name, void *context),
                               void *context)
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
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (name && wanted(&symbol, name, context))
                return name;
        }
    }
    return NULL;
}

static bool is_called(const GElf_Sym *symbol, const char *name, void *context)
{
    (void)symbol;
    return strcmp(name, context) == 0;
}

/* Inline functions that are not used leave no trace in debug information; nor do, without optimisation, those of
 * libraries, which are symbols of whoever calls them. */
static bool mentions(struct pt_elf *m, const char *function)
{
    const struct pt_dwarf_index *index = pt_module_index(m);
    return pt_strtab_find(&index->names, function, strlen(function)) != PT_NONE ||
           (m->elf && find_symbol(m->elf, is_called, (void *)(uintptr_t)function));
}

bool pt_debuginfo_may_pass(struct pt_debuginfo *info, const char *function, const char *text, bool guess)
{
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        struct pt_elf *m = &info->modules[i];
        Elf_Scn *section = NULL;
        if (!open_module(m) || !(mentions(m, function) || (guess && i == 0 && !pt_module_dwarf(m))))
            continue;
        while ((section = elf_nextscn(m->elf, section))) {
            if (section_has(section, text, strlen(text) + 1))
                return true;
        }
    }
    return false;
}

bool pt_debuginfo_uses(struct pt_debuginfo *info, const char *function)
{
    return info->count && open_module(&info->modules[0]) && mentions(&info->modules[0], function);
}

void pt_debuginfo_texts(struct pt_debuginfo *info, const char *function, pt_debuginfo_visit visit, void *context)
{
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        struct pt_elf *m = &info->modules[i];
        Elf_Scn *section = NULL;
        if (!pt_module_dwarf(m) || !mentions(m, function))
            continue;
        while ((section = elf_nextscn(m->elf, section)))
            visit_texts(section, visit, context);
    }
}

static bool is_runtime(const GElf_Sym *symbol, const char *name, void *context)
{
    (void)context;
    return symbol->st_shndx != SHN_UNDEF && strcmp(name, "__portent_event") == 0;
}

bool pt_debuginfo_has_runtime(struct pt_debuginfo *info)
{
    return find_symbol(info->modules[0].elf, is_runtime, NULL);
}

bool pt_debuginfo_is_instrumented(struct pt_debuginfo *info)
{
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        if (open_module(&info->modules[i]) && find_symbol(info->modules[i].elf, is_runtime, NULL))
            return true;
    }
    return false;
}

/* --- functions --- */

static bool is_function(const GElf_Sym *symbol)
{
    return symbol->st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
}

/* A function's symbol, for modules without debug information. */
static bool is_function_at(const GElf_Sym *symbol, const char *name, void *context)
{
    (void)name;
    return is_function(symbol) && symbol->st_value == *(const uint64_t *)context;
}

static const char *symbol_at(Elf *elf, uint64_t address)
{
    return find_symbol(elf, is_function_at, &address);
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

static const char *function_in(struct pt_elf *m, uint64_t address)
{
    const struct pt_dwarf_index *index = pt_module_index(m); /* finds the shift, too */
    const char *name = pt_dwarf_function_at(index, address - m->shift);
    return name || !open_module(m) ? name : symbol_at(m->elf, address);
}

static const char *find_function(struct pt_debuginfo *info, uint64_t start, uint64_t base)
{
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        if (info->modules[i].has_base && info->modules[i].base == base)
            return function_in(&info->modules[i], start - base);
    }
    /* Which module is loaded there is not known; but a thread starts where a function starts, and then the module is
     * known. */
    for (uint32_t i = 0; i < info->count; i++) {
        struct pt_elf *m = &info->modules[i];
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
    struct pt_elf *m = pt_debuginfo_module(info, file);
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

struct function {
    uint64_t offset;
    uint32_t rank; /* 0: of debug information; then symbols in their order */
    const char *name;
};

struct functions {
    struct function *items;
    uint32_t count;
    size_t cap;
};

static void add_function(struct functions *list, uint64_t offset, bool symbol, const char *name)
{
    struct function item = {offset, symbol ? list->count + 1 : 0, name};
    PT_PUSH(list->items, list->count, list->cap, item);
}

static bool add_symbol(const GElf_Sym *symbol, const char *name, void *list)
{
    if (is_function(symbol))
        add_function(list, symbol->st_value, true, name);
    return false;
}

static int by_offset(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool is_hook(const GElf_Sym *symbol, const char *name, void *context)
{
    (void)symbol, (void)context;
    return strncmp(name, "__portent_", 10) == 0;
}

/* The functions of the system's libraries are many, where their debug information is installed, and hardly a thread
 * that is observed starts there: unless such a library is instrumented itself. */
static bool may_start(struct pt_elf *m)
{
    return !pt_module_is_of_the_system(m->path) || (open_module(m) && find_symbol(m->elf, is_hook, NULL));
}

/* Names as function_in gives them. */
static void list_functions(struct pt_elf *m, struct functions *list)
{
    const struct pt_dwarf_index *index = pt_module_index(m);
    for (uint32_t f = 0; f < index->function_count; f++)
        add_function(list, index->functions[f].entry + m->shift, false,
                     pt_dwarf_function_at(index, index->functions[f].entry));
    if (open_module(m))
        (void)find_symbol(m->elf, add_symbol, list);
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_offset);
}

void pt_debuginfo_functions(struct pt_debuginfo *info, pt_debuginfo_visit_function visit, void *context)
{
    pt_debuginfo_libraries(info);
    for (uint32_t i = 0; i < info->count; i++) {
        struct pt_elf *m = &info->modules[i];
        struct functions list = {0};
        if (i == 0 || may_start(m))
            list_functions(m, &list);
        for (uint32_t f = 0; f < list.count; f++) {
            bool again = f && list.items[f].offset == list.items[f - 1].offset;
            const char *name = again ? NULL : callable_of(info, list.items[f].name);
            if (name)
                visit(context, i ? m->path : NULL, list.items[f].offset, name);
        }
        free(list.items);
    }
}

static struct pt_elf *module_at(struct pt_debuginfo *info, const char *path)
{
    uint32_t i = 0;
    while (path && i < info->count && strcmp(info->modules[i].path, path) != 0)
        i++;
    return i < info->count ? &info->modules[i] : NULL;
}

/* What the loader maps and nobody changes: code, constants and the tables of symbols. */
static bool hash_segments(Elf *elf, uint64_t *ret_hash)
{
    size_t size = 0, count = 0;
    GElf_Ehdr header;
    const char *raw = elf_rawfile(elf, &size);
    if (!raw || !gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &count) != 0 || header.e_phoff > size ||
        count > (size - header.e_phoff) / sizeof(Elf64_Phdr))
        return false;
    uint64_t hash = pt_fnv(PT_FNV_NOTHING, raw + header.e_phoff, count * sizeof(Elf64_Phdr));
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf, (int)i, &part) || part.p_offset > size || part.p_filesz > size - part.p_offset)
            return false;
        if (part.p_type == PT_LOAD && (part.p_flags & (PF_R | PF_W)) == PF_R)
            hash = pt_fnv(hash, raw + part.p_offset, part.p_filesz);
    }
    *ret_hash = hash;
    return true;
}

uint32_t pt_debuginfo_identity(struct pt_debuginfo *info, const char *module, unsigned char ret_id[PT_ID_MAX])
{
    struct pt_elf *m = module_at(info, module);
    const void *id;
    uint64_t hash;
    if (!m || !open_module(m))
        return 0;
    ssize_t bytes = dwelf_elf_gnu_build_id(m->elf, &id);
    if (bytes > 0 && bytes <= PT_ID_MAX) {
        memcpy(ret_id, id, (size_t)bytes);
        return (uint32_t)bytes;
    }
    if (!hash_segments(m->elf, &hash))
        return 0;
    memcpy(ret_id, &hash, sizeof hash);
    return sizeof hash;
}
