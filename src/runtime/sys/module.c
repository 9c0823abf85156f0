/*
 * Loaded modules, through dl_iterate_phdr, which neither allocates nor needs our own tables.
 *
 * Guarantee: what is answered was true when it was asked; libraries that are opened while observed stay. Cost: linear
 * in the number of modules, under a lock of the loader.
 */
#include "runtime/sys/module.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "core/hash.h"
#include "runtime/sys/heap.h"
#include "runtime/sys/sys.h"

struct wanted {
    bool code;     /* the address must be executable */
    bool standard; /* it lies in libstdc++ */
    uint64_t address;
    const char *file;
    uint64_t base;
    bool first; /* the first module in the list is the program */
    bool found;
};

static bool same_file(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    /* The configuration has the path it was resolved to, the loader the one it was asked for: compare last parts. Or it
     * was asked for a link. */
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    return strcmp(x ? x + 1 : a, y ? y + 1 : b) == 0 || pt_sys_same_file(a, b);
}

static bool contains(const struct dl_phdr_info *module, uint64_t address, bool code)
{
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (!code || part->p_flags & PF_X) &&
            address - (module->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

static int compare(struct dl_phdr_info *module, size_t size, void *context)
{
    (void)size;
    struct wanted *wanted = context;
    bool program = wanted->first;
    wanted->first = false;
    if (!wanted->file)
        wanted->found = contains(module, wanted->address, wanted->code);
    else if (!wanted->file[0])
        wanted->found = program;
    else
        wanted->found = !program && module->dlpi_name && same_file(module->dlpi_name, wanted->file);
    wanted->base = module->dlpi_addr;
    wanted->standard = module->dlpi_name && strstr(module->dlpi_name, "/libstdc++.so");
    return wanted->found;
}

struct each {
    pt_module_visit visit;
    void *context;
    bool first;
};

static int visit_each(struct dl_phdr_info *module, size_t size, void *context)
{
    (void)size;
    struct each *each = context;
    uint64_t low = UINT64_MAX, high = 0;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        low = part->p_vaddr < low ? part->p_vaddr : low;
        high = part->p_vaddr + part->p_memsz > high ? part->p_vaddr + part->p_memsz : high;
    }
    const char *file = each->first || !module->dlpi_name ? "" : module->dlpi_name;
    if (low < high && (each->first || file[0]))
        each->visit(each->context, file, module->dlpi_addr, module->dlpi_addr + low, module->dlpi_addr + high);
    each->first = false;
    return 0;
}

void pt_module_each(pt_module_visit visit, void *context)
{
    struct each each = {visit, context, true};
    dl_iterate_phdr(visit_each, &each);
}

static int visit_constants(struct dl_phdr_info *module, size_t size, void *context)
{
    (void)size;
    const pt_module_visit_part *visit = context;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uint64_t from = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W | PF_X)) == PF_R)
            (*visit)(from, from + part->p_memsz);
    }
    return 0;
}

void pt_module_each_constant(pt_module_visit_part visit)
{
    dl_iterate_phdr(visit_constants, &visit);
}

uint64_t pt_module_base(uint64_t address)
{
    struct wanted wanted = {.address = address, .first = true};
    dl_iterate_phdr(compare, &wanted);
    return wanted.found ? wanted.base : 0;
}

bool pt_module_find(const char *file, uint64_t *ret_base)
{
    struct wanted wanted = {.file = file, .first = true};
    dl_iterate_phdr(compare, &wanted);
    if (wanted.found)
        *ret_base = wanted.base;
    return wanted.found;
}

struct identified {
    struct wanted wanted;
    unsigned char *id;
    uint32_t bytes;
};

static const ElfW(Nhdr) * find_build_id(const char *at, const char *end)
{
    while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        uint64_t bytes =
            sizeof *note + (((uint64_t)note->n_namesz + 3) & ~3ULL) + (((uint64_t)note->n_descsz + 3) & ~3ULL);
        if (bytes > (uint64_t)(end - at))
            return NULL;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0)
            return note;
        at += bytes;
    }
    return NULL;
}

static int identify(struct dl_phdr_info *module, size_t size, void *context)
{
    struct identified *identified = context;
    if (!compare(module, size, &identified->wanted))
        return 0;
    uint64_t hash = pt_fnv(PT_FNV_NOTHING, module->dlpi_phdr, module->dlpi_phnum * sizeof *module->dlpi_phdr);
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        const char *at = (const char *)(module->dlpi_addr + part->p_vaddr);
        const ElfW(Nhdr) *note = part->p_type == PT_NOTE ? find_build_id(at, at + part->p_memsz) : NULL;
        if (note && note->n_descsz && note->n_descsz <= PT_ID_MAX) {
            identified->bytes = note->n_descsz;
            memcpy(identified->id, (const char *)(note + 1) + 4, note->n_descsz);
            return 1;
        }
    }
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W)) == PF_R)
            hash = pt_fnv(hash, (const char *)(module->dlpi_addr + part->p_vaddr), part->p_filesz);
    }
    identified->bytes = sizeof hash;
    memcpy(identified->id, &hash, sizeof hash);
    return 1;
}

uint32_t pt_module_identity(const char *file, unsigned char ret_id[PT_ID_MAX])
{
    struct identified identified = {.wanted = {.file = file, .first = true}, .id = ret_id};
    dl_iterate_phdr(identify, &identified);
    return identified.bytes;
}

struct range {
    uint64_t address, size;
};

static int cover(struct dl_phdr_info *module, size_t size, void *context)
{
    (void)size;
    const struct range *range = context;
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uint64_t from = range->address - (module->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_LOAD && part->p_flags & PF_R && from < part->p_memsz &&
            range->size <= part->p_memsz - from)
            return 1;
    }
    return 0;
}

bool pt_module_covers(uint64_t address, uint64_t size)
{
    struct range range = {address, size};
    return dl_iterate_phdr(cover, &range) != 0;
}

static bool is_code(uint64_t address)
{
    struct wanted wanted = {.address = address, .first = true, .code = true};
    dl_iterate_phdr(compare, &wanted);
    return wanted.found;
}

/* The argument is a std::thread::_State: its table of functions has the destructors, then _M_run; before them the type.
 * The type's name tells what the callable is; a pointer to a function is the last member, since std::tuple keeps its
 * first element last. */
uint64_t pt_module_callable(uint64_t start, const void *argument)
{
    static const char kind[] = "NSt6thread11_State_implINS_8_InvokerISt5tupleIJ";
    struct wanted wanted = {.address = start, .first = true, .code = true};
    dl_iterate_phdr(compare, &wanted);
    if (!wanted.found || !wanted.standard || !argument)
        return start;
    const uint64_t *state = argument;
    const uint64_t *functions = (const void *)(uintptr_t)state[0];
    const char *const *type = (const void *)(uintptr_t)functions[-1];
    if (strncmp(type[1], kind, sizeof kind - 1) != 0)
        return functions[2];
    const char *callable = type[1] + sizeof kind - 1;
    if (strncmp(callable, "PF", 2) != 0 && callable[0] != 'M')
        return functions[2];
    for (size_t i = pt_heap_size(argument) / sizeof *state; i-- > 1;)
        if (is_code(state[i]))
            return state[i];
    return functions[2];
}
