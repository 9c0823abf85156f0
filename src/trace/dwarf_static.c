/*
 * clang 14 puts the statics of a function that was inlined everywhere under an entry without a name or a
 * link to one. Their symbols still tell the function: C has `f.x` or `f.x.3`, C++ `_ZZN2ns1fEvE1x` (Itanium ABI,
 * local-name), of which plain nested names are read here; functions of templates stay unknown.
 *
 * Cost: one walk over the symbols, when the first such entry is met.
 */
#include "trace/dwarf_static.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

void pt_dwarf_statics_init(struct pt_dwarf_statics *statics)
{
    statics->filled = false;
    pt_map64_init(&statics->by_address);
    pt_strtab_init(&statics->symbols);
}

void pt_dwarf_statics_release(struct pt_dwarf_statics *statics)
{
    pt_map64_release(&statics->by_address);
    pt_strtab_release(&statics->symbols);
}

static void take_symbols(struct pt_dwarf_statics *statics, Elf *elf, Elf_Data *data, size_t names)
{
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(elf, names, symbol.st_name);
        if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
            (strchr(name, '.') || strncmp(name, "_ZZ", 3) == 0))
            *pt_map64_at(&statics->by_address, symbol.st_value) =
                pt_strtab_intern(&statics->symbols, name, strlen(name));
    }
}

static void fill(struct pt_dwarf_statics *statics, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    Elf_Data *data;
    statics->filled = true;
    while (elf && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB && (data = elf_getdata(section, NULL)))
            take_symbols(statics, elf, data, header.sh_link);
}

/* `f.x`, and `f.x.3` where one function has several. */
static bool c_function(const char *symbol, const char *variable, struct pt_buf *ret_function)
{
    const char *dot = strchr(symbol, '.');
    size_t len = strlen(variable);
    if (dot == symbol || strncmp(dot + 1, variable, len) != 0 || (dot[1 + len] && dot[1 + len] != '.'))
        return false;
    pt_buf_add(ret_function, symbol, (size_t)(dot - symbol));
    return true;
}

/* `_ZZ`, an L for functions of this file only, and a name: 1f, or N2ns1C1fE with qualifiers of the member function. */
static bool cxx_function(const char *symbol, struct pt_buf *ret_function)
{
    size_t start = ret_function->len;
    const char *at = symbol + 3;
    bool nested = *at == 'N';
    at += nested;
    at += nested ? strspn(at, "KVr") : 0;
    do {
        at += *at == 'L';
        char *name;
        unsigned long len = strtoul(at, &name, 10);
        if (*at < '1' || *at > '9' || len > strlen(name))
            break;
        pt_buf_puts(ret_function, ret_function->len > start ? "::" : "");
        pt_buf_add(ret_function, name, len);
        at = name + len;
    } while (nested && *at != 'E');
    /* What follows are the parameters' types. Anything else was no plain name. */
    if (ret_function->len > start && (nested ? *at == 'E' : *at != 'I'))
        return true;
    ret_function->len = start;
    return false;
}

bool pt_dwarf_static_function(struct pt_dwarf_statics *statics, Dwarf *dwarf, uint64_t address, const char *variable,
                              struct pt_buf *ret_function)
{
    if (!statics->filled)
        fill(statics, dwarf_getelf(dwarf));
    uint32_t id = pt_map64_get(&statics->by_address, address);
    if (id == PT_NONE)
        return false;
    const char *symbol = pt_strtab_text(&statics->symbols, id);
    return strncmp(symbol, "_ZZ", 3) == 0 ? cxx_function(symbol, ret_function)
                                          : c_function(symbol, variable, ret_function);
}
