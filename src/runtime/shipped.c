#include "runtime/shipped.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "core/ptc.h"
#include "runtime/log.h"
#include "runtime/module.h"
#include "runtime/options.h"
#include "runtime/sys.h"

struct identity {
    const unsigned char *id;
    size_t bytes;
    uint64_t hash;
};

/* The first module is the program. Its build-id, or a hash of its program headers. */
static int identify(struct dl_phdr_info *program, size_t size, void *context)
{
    (void)size;
    struct identity *identity = context;
    identity->hash = pt_ptc_hash(program->dlpi_phdr, program->dlpi_phnum * sizeof *program->dlpi_phdr);
    identity->id = (const unsigned char *)&identity->hash;
    identity->bytes = sizeof identity->hash;
    for (unsigned i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(program->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;
        while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
                note->n_descsz <= PT_PTC_ID_MAX) {
                identity->id = (const unsigned char *)data;
                identity->bytes = note->n_descsz;
                return 1;
            }
            at = data + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 1;
}

static bool is_for_this_program(const struct pt_ptc *head)
{
    struct identity identity = {0};
    dl_iterate_phdr(identify, &identity);
    return identity.bytes == head->id_bytes && memcmp(identity.id, head->id, identity.bytes) == 0;
}

/* Do the program's own variables lie inside it? A file that was made up could have the runtime read anything. */
static bool has_its_variables(const struct pt_ptc *head)
{
    const char *config = (const char *)(head + 1);
    uint32_t count = ((const struct pt_config *)config)->watch_count;
    const struct pt_watch *watches = (const void *)(config + ((const struct pt_config *)config)->watches);
    uint64_t base;
    if (!pt_module_find("", &base))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!watches[i].module && !pt_module_covers(base + watches[i].offset, watches[i].size))
            return false;
    return true;
}

static void refuse(const char *path, const char *why)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: the properties of '");
    pt_line_text(&line, path);
    pt_line_text(&line, "' are not checked: ");
    pt_line_text(&line, why);
    pt_line_write(&line);
}

static struct pt_channel *make_channel(const struct pt_ptc *head, size_t *ret_bytes)
{
    size_t at = (sizeof(struct pt_channel) + 63) & ~(size_t)63, bytes = at + head->config_bytes;
    struct pt_channel *channel = pt_sys_reserve(bytes);
    if (!channel)
        return NULL;
    memcpy(channel->magic, PT_CHANNEL_MAGIC, sizeof channel->magic);
    channel->version = PT_CHANNEL_VERSION;
    channel->on_full = PT_ON_FULL_DROP;
    channel->total_bytes = bytes;
    channel->config_offset = at;
    channel->config_bytes = head->config_bytes;
    channel->ring_bytes = 4096; /* of no ring at all */
    atomic_store(&channel->next_number, 1);
    atomic_store(&channel->program_state, PT_PROGRAM_RUNNING);
    atomic_store(&channel->observer_gone, 1);
    memcpy((char *)channel + at, head + 1, head->config_bytes);
    *ret_bytes = bytes;
    return channel;
}

struct pt_channel *pt_shipped_open(size_t *ret_bytes)
{
    struct pt_line path = {0};
    size_t bytes;
    pt_line_span(&path, pt_options.properties);
    path.text[path.len] = 0;
    void *file = pt_sys_read_file(path.text, &bytes);
    if (!file) {
        refuse(path.text, "the file cannot be read");
        return NULL;
    }
    const char *problem = pt_ptc_problem(file, bytes);
    struct pt_channel *channel = NULL;
    if (!problem && !is_for_this_program(file))
        problem = "they were compiled for another program";
    if (!problem && !has_its_variables(file))
        problem = "it is damaged";
    if (!problem && !(channel = make_channel(file, ret_bytes)))
        problem = "there is no memory";
    if (problem)
        refuse(path.text, problem);
    pt_sys_release(file, bytes ? bytes : 1);
    return channel;
}
