/*
 * Names for addresses, from the symbol tables of the program and its libraries. Modules are listed by threads of the
 * program (dl_iterate_phdr takes a lock of the loader); the tables are read when the sender first needs one, into
 * memory of our own: a mapped file that somebody truncates would be the program's death.
 *
 * Guarantee: an address that no table names is given as a number. Cost: a module's table is read once; finding a symbol
 * is linear in it, and done once for each object.
 */
#include <elf.h>
#include <string.h>

#include "runtime/stream/impl.h"
#include "runtime/sys/module.h"

enum { MODULES = 256, PATH = 400, TABLE_MOST = 256 << 20 };

struct module {
    uint64_t base, low, high;
    char file[PATH];
    bool loaded;
    Elf64_Sym *symbols; /* NULL: none */
    uint64_t symbol_count;
    char *texts;
    uint64_t text_bytes;
};

static struct {
    struct pt_spin lock; /* for count and what is new; a module never changes after it was listed */
    uint32_t count;
    struct module *list;
} modules = {.lock = PT_SPIN(PT_RANK_MODULE)};

static void list_module(void *context, const char *file, uint64_t base, uint64_t low, uint64_t high)
{
    (void)context;
    for (uint32_t i = 0; i < modules.count; i++)
        if (modules.list[i].base == base && modules.list[i].low == low)
            return;
    if (modules.count == MODULES || strlen(file) >= PATH)
        return;
    struct module *module = &modules.list[modules.count++];
    module->base = base;
    module->low = low;
    module->high = high;
    strcpy(module->file, file[0] ? file : "/proc/self/exe");
}

void pt_symbol_modules(void)
{
    pt_spin_lock(&modules.lock);
    if (!modules.list)
        modules.list = pt_sys_reserve(MODULES * sizeof *modules.list);
    if (modules.list)
        pt_module_each(list_module, NULL);
    pt_spin_unlock(&modules.lock);
}

static void *read_part(int fd, uint64_t offset, uint64_t bytes)
{
    if (!bytes || bytes > TABLE_MOST)
        return NULL;
    void *memory = pt_sys_reserve(bytes);
    if (memory && pt_sys_read_at(fd, memory, bytes, offset) != bytes) {
        pt_sys_release(memory, bytes);
        memory = NULL;
    }
    return memory;
}

static void read_table(struct module *module, int fd, const Elf64_Shdr *table, const Elf64_Shdr *texts)
{
    if (module->symbols || table->sh_entsize != sizeof(Elf64_Sym) || texts->sh_type != SHT_STRTAB)
        return;
    Elf64_Sym *symbols = read_part(fd, table->sh_offset, table->sh_size);
    char *strings = symbols ? read_part(fd, texts->sh_offset, texts->sh_size) : NULL;
    if (!strings || strings[texts->sh_size - 1]) /* the last one must end */
        return;
    module->symbols = symbols;
    module->symbol_count = table->sh_size / sizeof *symbols;
    module->texts = strings;
    module->text_bytes = texts->sh_size;
}

/* The full table, or where it was stripped the one for dynamic linking. */
static void load(struct module *module)
{
    Elf64_Ehdr head;
    module->loaded = true;
    int fd = pt_sys_open(module->file);
    if (fd < 0)
        return;
    if (pt_sys_read_at(fd, &head, sizeof head, 0) == sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_shentsize == sizeof(Elf64_Shdr)) {
        Elf64_Shdr *parts = read_part(fd, head.e_shoff, (uint64_t)head.e_shnum * sizeof *parts);
        static const uint32_t wanted[] = {SHT_SYMTAB, SHT_DYNSYM};
        for (unsigned want = 0; parts && want < 2; want++)
            for (unsigned i = 0; i < head.e_shnum; i++)
                if (parts[i].sh_type == wanted[want] && parts[i].sh_link < head.e_shnum)
                    read_table(module, fd, &parts[i], &parts[parts[i].sh_link]);
        if (parts)
            pt_sys_release(parts, (uint64_t)head.e_shnum * sizeof *parts);
    }
    pt_sys_close(fd);
}

static struct module *module_of(uint64_t address)
{
    struct module *found = NULL;
    pt_spin_lock(&modules.lock);
    for (uint32_t i = 0; i < modules.count && !found; i++)
        if (address >= modules.list[i].low && address < modules.list[i].high)
            found = &modules.list[i];
    pt_spin_unlock(&modules.lock);
    if (found && !found->loaded)
        load(found);
    return found;
}

/* The smallest symbol that the address lies in; NULL: none. */
static const Elf64_Sym *symbol_at(const struct module *module, uint64_t at)
{
    const Elf64_Sym *best = NULL;
    for (uint64_t i = 0; i < module->symbol_count; i++) {
        const Elf64_Sym *symbol = &module->symbols[i];
        unsigned type = ELF64_ST_TYPE(symbol->st_info);
        if ((type == STT_FUNC || type == STT_OBJECT) && symbol->st_shndx != SHN_UNDEF && at >= symbol->st_value &&
            at - symbol->st_value < symbol->st_size && symbol->st_name && symbol->st_name < module->text_bytes &&
            (!best || symbol->st_size < best->st_size))
            best = symbol;
    }
    return best;
}

static size_t put_text(char *out, size_t room, size_t len, const char *text)
{
    while (*text && len + 1 < room)
        out[len++] = *text++;
    out[len] = 0;
    return len;
}

static size_t put_number(char *out, size_t room, size_t len, uint64_t number, unsigned radix)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do
        digits[--at] = "0123456789abcdef"[number % radix];
    while (number /= radix);
    return put_text(out, room, len, digits + at);
}

void pt_symbol_text(uint64_t address, char *out, size_t room)
{
    const struct module *module = module_of(address);
    const Elf64_Sym *symbol = module ? symbol_at(module, address - module->base) : NULL;
    size_t len = 0;
    if (!symbol) {
        put_number(out, room, put_text(out, room, 0, "0x"), address, 16);
        return;
    }
    len = put_text(out, room, 0, module->texts + symbol->st_name);
    uint64_t offset = address - module->base - symbol->st_value;
    if (offset)
        put_number(out, room, put_text(out, room, len, "+"), offset, 10);
}

bool pt_symbol_function(uint64_t address, char *out, size_t room)
{
    const struct module *module = module_of(address);
    const Elf64_Sym *symbol = module ? symbol_at(module, address - module->base) : NULL;
    if (symbol)
        put_text(out, room, 0, module->texts + symbol->st_name);
    return symbol;
}
