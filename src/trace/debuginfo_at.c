/* Variables by address: those of a module in order, then the part of one (dwarf_place.h). Debug information is asked
 * once for a part of the elements of an array, whichever element it is. */
#include <inttypes.h>
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
        m->by_address[m->by_address_count++] = (struct pt_module_var){address, size, v, NULL};
    }
    qsort(m->by_address, m->by_address_count, sizeof *m->by_address, compare_addresses);
}

static struct pt_module_var *variable_at(struct pt_elf *m, uint64_t address)
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

static const char *file_of(const struct pt_elf *m, const struct pt_module_var *at)
{
    const char *source = pt_module_file_of(&m->index.vars[at->var]), *slash = source ? strrchr(source, '/') : NULL;
    return slash ? slash + 1 : source ? source : "?";
}

/* Do other variables of the module have this name? And how many of those that come before it are in a file of the same
 * name: statics of overloaded functions, of two blocks, of files in two folders. */
static bool is_shared_name(const struct pt_elf *m, const struct pt_module_var *at, uint32_t *ret_before)
{
    const struct pt_dwarf_var *vars = m->index.vars;
    bool shared = false;
    uint64_t last = at->address;
    *ret_before = 0;
    for (uint32_t i = 0; i < m->by_address_count; i++) {
        const struct pt_module_var *other = &m->by_address[i];
        if (vars[other->var].name != vars[at->var].name || other->address == at->address)
            continue;
        shared = true;
        /* The same variable may be described several times. */
        if (other->address < at->address && other->address != last && strcmp(file_of(m, other), file_of(m, at)) == 0)
            ++*ret_before;
        last = other->address;
    }
    return shared;
}

/* Modules may have files of one name, and variables in them: a name belongs to the first that is asked for. */
static void make_own(struct pt_debuginfo *info, const struct pt_elf *m, struct pt_buf *head)
{
    uint32_t module = (uint32_t)(m - info->modules);
    size_t len = head->len;
    for (uint32_t number = 2;; number++) {
        uint32_t id = pt_strtab_intern(&info->texts, head->text, head->len);
        uint32_t *owner = pt_map64_at(&info->heads, (uint64_t)id + 1);
        if (*owner == PT_NONE)
            *owner = module;
        if (*owner == module)
            return;
        head->len = len;
        pt_buf_printf(head, "#%" PRIu32, number);
    }
}

/* How the variable is called, and no other; the path of its parts follows. Names are identities in recordings, so that
 * a second variable of one name is x#2, as with portent_watch. */
static void put_head(struct pt_debuginfo *info, const struct pt_elf *m, const struct pt_module_var *at,
                     struct pt_buf *text)
{
    uint32_t before;
    bool shared = is_shared_name(m, at, &before);
    if (m != &info->modules[0] || shared)
        pt_buf_printf(text, "%s:", file_of(m, at));
    pt_buf_puts(text, pt_strtab_text(&m->index.names, m->index.vars[at->var].name));
    if (before)
        pt_buf_printf(text, "#%" PRIu32, before + 1);
    make_own(info, m, text);
}

/* --- elements --- */

/* The parts of an array's elements: from one element to the next they differ in its index alone. */
struct pt_element_names {
    uint64_t size; /* of an element; 0: it is no array of one dimension */
    char *head;
    struct pt_map64 parts_of; /* twice the offset in an element, plus whether it is asked for as a whole: which part */
    struct element_part {
        uint64_t offset; /* in the element */
        uint32_t size;
        enum pt_watch_type type;
        char *tail; /* of its path, behind the index */
    } * parts;
    uint32_t count;
    size_t cap;
};

static struct pt_element_names *elements_of(struct pt_debuginfo *info, const struct pt_elf *m, struct pt_module_var *at)
{
    if (at->elements)
        return at->elements;
    struct pt_element_names *e = at->elements = pt_xcalloc(1, sizeof *e);
    Dwarf_Die die = m->index.vars[at->var].die;
    struct pt_buf head;
    e->size = pt_dwarf_element_size(&m->index, &die);
    pt_map64_init(&e->parts_of);
    pt_buf_init(&head);
    put_head(info, m, at, &head);
    e->head = pt_xstrdup(head.text);
    pt_buf_release(&head);
    return e;
}

void pt_module_forget_addresses(struct pt_elf *m)
{
    for (uint32_t i = 0; i < m->by_address_count; i++) {
        struct pt_element_names *e = m->by_address[i].elements;
        for (uint32_t k = 0; e && k < e->count; k++)
            free(e->parts[k].tail);
        if (e) {
            pt_map64_release(&e->parts_of);
            free(e->parts);
            free(e->head);
        }
        free(e);
    }
    free(m->by_address);
}

static uint64_t part_key(const struct pt_element_names *e, uint64_t offset, bool whole)
{
    return offset % e->size << 1 | whole;
}

/* The part of an element, as it was found in another one; false: in none so far. `offset`: in the array. */
static bool find_in_element(const struct pt_element_names *e, uint64_t offset, bool whole, struct pt_buf *text,
                            struct pt_variable *ret_variable)
{
    uint32_t known = e->size ? pt_map64_get(&e->parts_of, part_key(e, offset, whole)) : PT_NONE;
    if (known == PT_NONE)
        return false;
    const struct element_part *part = &e->parts[known];
    uint64_t index = offset / e->size;
    pt_buf_printf(text, "%s[%" PRIu64 "]%s", e->head, index, part->tail);
    *ret_variable =
        (struct pt_variable){.offset = index * e->size + part->offset, .size = part->size, .type = part->type};
    return true;
}

/* The part of an element was found; where all of it lies in that element, it is like that in all. */
static void note_element(struct pt_element_names *e, uint64_t offset, bool whole, const char *text,
                         const struct pt_variable *found)
{
    uint64_t index = e->size ? offset / e->size : 0;
    if (!e->size || found->offset / e->size != index || found->size > e->size)
        return;
    struct pt_buf start;
    pt_buf_init(&start);
    pt_buf_printf(&start, "%s[%" PRIu64 "]", e->head, index);
    if (strncmp(text, start.text, start.len) == 0) {
        *pt_map64_at(&e->parts_of, part_key(e, offset, whole)) = e->count;
        PT_PUSH(
            e->parts, e->count, e->cap,
            ((struct element_part){found->offset % e->size, found->size, found->type, pt_xstrdup(text + start.len)}));
    }
    pt_buf_release(&start);
}

/* --- all parts --- */

/* `offset`: in the variable, as ret_variable->offset is. */
static bool find_part(const struct pt_elf *m, const struct pt_module_var *at, uint64_t offset, bool whole,
                      struct pt_buf *text, struct pt_variable *ret_variable)
{
    Dwarf_Die die = m->index.vars[at->var].die;
    struct pt_dwarf_part part;
    struct pt_variable known;
    struct pt_err ignored;
    pt_buf_puts(text, at->elements->head);
    size_t head = text->len;
    if (!pt_dwarf_place(&m->index, &die, offset, whole, text, &part) || part.size > UINT32_MAX)
        return false;
    *ret_variable = (struct pt_variable){.offset = part.offset, .size = (uint32_t)part.size, .type = PT_WATCH_UINT};
    if (pt_dwarf_path(&m->index, &die, text->text, text->text + head, &known, &ignored) != PT_OK)
        return true;
    if (known.offset != part.offset) { /* the path is another's: a member that a derived class hides */
        text->len = head;
        pt_buf_printf(text, "+%" PRIu64, part.offset);
    } else if (!known.bit_size && known.size == part.size) {
        ret_variable->type = known.type;
    }
    return true;
}

static bool look(struct pt_debuginfo *info, struct pt_elf *m, uint64_t offset, bool whole, const char **ret_name,
                 struct pt_variable *ret_variable)
{
    struct pt_module_var *at = variable_at(m, offset);
    if (!at)
        return false;
    struct pt_element_names *elements = elements_of(info, m, at);
    struct pt_variable found;
    struct pt_buf text;
    pt_buf_init(&text);
    bool known = find_in_element(elements, offset - at->address, whole, &text, &found);
    if (!known && (known = find_part(m, at, offset - at->address, whole, &text, &found)))
        note_element(elements, offset - at->address, whole, text.text, &found);
    if (known) {
        *ret_name = pt_strtab_text(&info->texts, pt_strtab_intern(&info->texts, text.text, text.len));
        *ret_variable = found;
        ret_variable->offset += at->address;
    }
    pt_buf_release(&text);
    return known;
}

bool pt_debuginfo_at(struct pt_debuginfo *info, const char *file, uint64_t offset, bool whole, const char **ret_name,
                     struct pt_variable *ret_variable)
{
    struct pt_elf *m = pt_debuginfo_module(info, file);
    if (!m)
        return false;
    struct pt_module_answer *last = &m->last;
    if (!last->known || last->offset != offset || last->whole != whole) {
        *last = (struct pt_module_answer){.known = true, .whole = whole, .offset = offset};
        last->found = look(info, m, offset, whole, &last->name, &last->variable);
    }
    if (last->found) {
        *ret_name = last->name;
        *ret_variable = last->variable;
    }
    return last->found;
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
