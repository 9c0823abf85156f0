/*
 * Addresses to names. Scheduled programs are loaded without randomisation, a position-independent one always to the
 * same address, which is the processor's convention; libraries lie elsewhere, and have no names here. Nothing depends
 * on these names: a wrong guess is a missing name. Opened when the first name is asked for, since it reads all debug
 * information.
 */
#include "cli/explore/names.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/debuginfo.h"

struct pt_program_names {
    char *path;
    struct pt_debuginfo *info;
    uint64_t base;
    bool tried;
};

static uint64_t load_address(const char *path)
{
    Elf64_Ehdr head = {0};
    FILE *file = fopen(path, "re");
    bool read = file && fread(&head, sizeof head, 1, file) == 1;
    if (file)
        fclose(file);
    if (!read || head.e_type != ET_DYN)
        return 0;
    return head.e_machine == EM_AARCH64 ? UINT64_C(0xaaaaaaaa0000) : UINT64_C(0x555555554000);
}

struct pt_program_names *pt_program_names_new(const char *path)
{
    struct pt_program_names *names = pt_xcalloc(1, sizeof *names);
    names->path = pt_xstrdup(path);
    return names;
}

void pt_program_names_free(struct pt_program_names *names)
{
    if (names->info)
        pt_debuginfo_free(names->info);
    free(names->path);
    free(names);
}

static struct pt_debuginfo *open_info(struct pt_program_names *names)
{
    struct pt_debuginfo_options options = {.library_path = getenv("LD_LIBRARY_PATH")};
    struct pt_err err;
    if (!names->tried) {
        names->tried = true;
        names->base = load_address(names->path);
        if (pt_debuginfo_open(names->path, &options, &names->info, &err) != PT_OK)
            names->info = NULL;
        else
            (void)pt_debuginfo_loaded(names->info, "", names->base);
    }
    return names->info;
}

static const char *function(void *context, uint64_t address)
{
    struct pt_program_names *names = context;
    return open_info(names) ? pt_debuginfo_function(names->info, address, names->base) : NULL;
}

static const char *variable(void *context, uint64_t address)
{
    struct pt_program_names *names = context;
    struct pt_variable found;
    const char *name;
    if (!open_info(names) || address < names->base ||
        !pt_debuginfo_at(names->info, "", address - names->base, true, &name, &found))
        return NULL;
    return name;
}

struct pt_explore_names pt_program_names_for(struct pt_program_names *names, const struct pt_explore_places *places)
{
    return (struct pt_explore_names){.places = places, .function = function, .variable = variable, .context = names};
}
