/* Variables by address: those of a module in order, then the part of one (dwarf_place.h). */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "trace/debuginfo_impl.h"
#include "trace/dwarf_path.h"
#include "trace/dwarf_place.h"
#include "trace/dwarf_type.h"

static int compare_addresses(const void *a, const void *b)
{
    const struct pt_module_var *x = a, *y = b;
    return x->address != y->address ? (x->address < y->address ? -1 : 1) : x->var < y->var ? -1 : x->var > y->var;
}

static void sort_by_address(struct pt_elf *m)
{
    const struct pt_dwarf_index *index = pt_module_index(m);
    m->sorted = true;
    m->by_address = pt_xcalloc((size_t)index->var_count + 1, sizeof *m->by_address);
    for (uint32_t v = 0; v < index->var_count; v++) {
        Dwarf_Die die = index->vars[v].die, type;
        Dwarf_Word size;
        uint64_t address = index->vars[v].address + m->shift;
        if (index->vars[v].place != PT_PLACE_FIXED || !pt_module_has(m, address) || !pt_dwarf_type_of(&die, &type) ||
            dwarf_aggregate_size(&type, &size) != 0 || !size)
            continue;
        m->by_address[m->by_address_count++] = (struct pt_module_var){address, size, v};
    }
    qsort(m->by_address, m->by_address_count, sizeof *m->by_address, compare_addresses);
}

static const struct pt_module_var *variable_at(struct pt_elf *m, uint64_t address)
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

/* Do other variables of the module have this name? */
static bool is_shared_name(const struct pt_elf *m, const struct pt_module_var *at)
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
    struct pt_elf *m = pt_debuginfo_module(info, file);
    const struct pt_module_var *at = m ? variable_at(m, offset) : NULL;
    if (!at)
        return false;
    const struct pt_dwarf_var *var = &m->index.vars[at->var];
    struct pt_dwarf_part part;
    struct pt_buf text;
    struct pt_err ignored;
    Dwarf_Die die = var->die;
    pt_buf_init(&text);
    if (m != &info->modules[0] || is_shared_name(m, at)) {
        const char *source = pt_module_file_of(var), *slash = source ? strrchr(source, '/') : NULL;
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

/* Whether the loader changes something there before the program begins. */
static bool is_relocated(Elf *elf, uint64_t from, uint64_t to)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        GElf_Rela entry;
        Elf_Data *data =
            gelf_getshdr(section, &header) && header.sh_type == SHT_RELA ? elf_getdata(section, NULL) : NULL;
        size_t count = data && header.sh_entsize ? header.sh_size / header.sh_entsize : 0;
        for (size_t i = 0; i < count; i++)
            if (gelf_getrela(data, (int)i, &entry) && entry.r_offset < to && entry.r_offset + 8 > from)
                return true;
    }
    return false;
}

bool pt_debuginfo_image(struct pt_debuginfo *info, const char *module, uint64_t offset, uint32_t size, void *ret_bytes)
{
    struct pt_elf *m = pt_debuginfo_module(info, module ? module : "");
    size_t count, file_size;
    GElf_Phdr part;
    if (!m || !pt_module_dwarf(m) || elf_getphdrnum(m->elf, &count) != 0)
        return false;
    const char *raw = elf_rawfile(m->elf, &file_size);
    for (size_t i = 0; raw && i < count; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &part) || part.p_type != PT_LOAD || offset < part.p_vaddr ||
            offset - part.p_vaddr > part.p_memsz || size > part.p_memsz - (offset - part.p_vaddr))
            continue;
        uint64_t at = offset - part.p_vaddr, there = at < part.p_filesz ? part.p_filesz - at : 0;
        if (part.p_offset > file_size || part.p_filesz > file_size - part.p_offset ||
            is_relocated(m->elf, offset, offset + size))
            return false;
        memset(ret_bytes, 0, size);
        memcpy(ret_bytes, raw + part.p_offset + at, there < size ? there : size);
        return true;
    }
    return false;
}
