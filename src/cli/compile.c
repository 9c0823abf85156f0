/*
 * portent compile: the decentralised properties of a file, with the addresses of what they name in one program, as a
 * file that the program's own runtime loads (core/ptc.h). Nothing of Portent but the runtime is needed where it runs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/analyse.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/run/resolve.h"
#include "core/hash.h"
#include "core/ptc.h"

enum { OPT_PROPERTIES, OPT_OUTPUT, OPT_MODULE };

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = {NULL, 's', "FILE.prop", NULL, "compile the properties of this file; may be repeated"},
    [OPT_OUTPUT] = {NULL, 'o', "FILE.ptc", NULL, "the file to write"},
    [OPT_MODULE] = {"module", 0, "FILE.so", NULL,
                    "look for names in this library too, which the program opens later; may be repeated"},
    {0},
};

struct compile {
    struct pt_analyse analyse;
    const char *program, *output;
    const char **modules; /* then NULL */
    struct pt_debuginfo *info;
    struct pt_resolved resolved;
};

static bool set_options(struct compile *c, const struct pt_parsed *parsed)
{
    uint32_t modules = 0, files = 0;
    c->modules = pt_xcalloc((size_t)parsed->option_count + 1, sizeof *c->modules);
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (parsed->options[i].index == OPT_OUTPUT)
            c->output = parsed->options[i].argument;
        else if (parsed->options[i].index == OPT_MODULE)
            c->modules[modules++] = parsed->options[i].argument;
        else
            files++;
    }
    if (!files)
        pt_diag_usage("compile", "a property file is missing: -s FILE.prop");
    else if (!c->output)
        pt_diag_usage("compile", "the file to write is missing: -o FILE.ptc");
    else if (parsed->operand_count != 1)
        pt_diag_usage("compile", parsed->operand_count ? "one program at a time" : "a program is missing");
    else
        c->program = parsed->operands[0];
    return c->program != NULL;
}

/* Others need an observer that sees all threads. */
static enum pt_status check_kinds(const struct pt_analyse *analyse, struct pt_err *err)
{
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        const struct pt_property *property = analyse->inputs[i].property;
        if (!property || (property->kind != PT_KIND_MTTL && property->kind != PT_KIND_RACE))
            return pt_err_at(err, PT_EINPUT, property ? property->file : "", property ? property->line : 0,
                             property ? property->column : 0,
                             "property '%s' is not decentralised ('at THREAD:'), so the program's threads cannot check "
                             "it by themselves; 'portent run' can",
                             property ? property->name : "");
    }
    return PT_OK;
}

/* Written all the same: libportent-rt.so may be loaded before the program. */
static void warn_if_plain(const struct compile *c)
{
    struct pt_err warning = {0};
    if (pt_debuginfo_has_runtime(c->info))
        return;
    (void)pt_err_set(&warning, PT_OK, "'%s' is not instrumented, so it will not check these properties", c->program);
    pt_err_hint(&warning, "build it with 'portent cc' or 'portent c++'");
    pt_diag_warning(&warning);
}

struct libraries {
    struct pt_channel_library *items;
    uint32_t count;
    size_t cap;
};

static void add_library(const struct compile *c, struct libraries *libraries, const char *module, bool needed)
{
    uint32_t i = 0;
    while (i < libraries->count && strcmp(libraries->items[i].module, module) != 0)
        i++;
    if (i == libraries->count) {
        struct pt_channel_library fresh = {.module = module};
        fresh.id_bytes = pt_debuginfo_identity(c->info, module, fresh.id);
        PT_PUSH(libraries->items, libraries->count, libraries->cap, fresh);
    }
    libraries->items[i].needed |= needed;
}

/* Is it the start function of a thread that a property names, `worker` of `worker#2`? */
static bool is_thread_of(const char *name, const char *function)
{
    size_t len = strlen(function);
    return strncmp(name, function, len) == 0 && (name[len] == '\0' || name[len] == '#');
}

static bool is_named(const struct pt_resolved *resolved, const char *function)
{
    const struct pt_mttl *block = resolved->block;
    for (uint32_t i = 0; block && i < block->threads.count; i++)
        if (is_thread_of(pt_mttl_string(block, pt_mttl_at(block, threads, struct pt_mttl_name, i)->target), function))
            return true;
    for (uint32_t i = 0; i < resolved->race_count; i++)
        if (resolved->races[i].thread && is_thread_of(resolved->races[i].thread, function))
            return true;
    return false;
}

/* Places in libraries hold for these builds of them. */
static void list_libraries(const struct compile *c, struct libraries *libraries)
{
    for (uint32_t i = 0; i < c->resolved.var_count; i++)
        if (c->resolved.vars[i].module)
            add_library(c, libraries, c->resolved.vars[i].module, true);
    for (uint32_t i = 0; i < c->resolved.race_place_count; i++)
        if (c->resolved.race_places[i].module)
            add_library(c, libraries, c->resolved.race_places[i].module, true);
    for (uint32_t i = 0; i < c->resolved.function_count; i++) {
        const struct pt_channel_name *function = &c->resolved.functions[i];
        if (function->module)
            add_library(c, libraries, function->module, is_named(&c->resolved, function->name));
    }
}

static enum pt_status write_file(const struct compile *c, struct pt_err *err)
{
    struct libraries libraries = {0};
    list_libraries(c, &libraries);
    struct pt_channel_setup setup = {.vars = c->resolved.vars,
                                     .var_count = c->resolved.var_count,
                                     .block = c->resolved.block,
                                     .functions = c->resolved.functions,
                                     .function_count = c->resolved.function_count,
                                     .libraries = libraries.items,
                                     .library_count = libraries.count,
                                     .races = c->resolved.races,
                                     .race_count = c->resolved.race_count,
                                     .race_places = c->resolved.race_places,
                                     .race_place_count = c->resolved.race_place_count};
    struct pt_ptc head = {.magic = PT_PTC_MAGIC, .version = PT_PTC_VERSION};
    struct pt_buf config;
    pt_buf_init(&config);
    pt_channel_configure(&setup, &config);
    head.id_bytes = pt_debuginfo_identity(c->info, NULL, head.id);
    head.config_bytes = config.len;
    head.hash = pt_fnv(PT_FNV_NOTHING, config.text, config.len);
    FILE *file = fopen(c->output, "wbe");
    bool good = file && fwrite(&head, sizeof head, 1, file) == 1 && fwrite(config.text, config.len, 1, file) == 1;
    int error = errno;
    if (file && fclose(file) != 0) {
        good = false;
        error = errno;
    }
    pt_buf_release(&config);
    free(libraries.items);
    return good ? PT_OK : pt_err_at(err, PT_EIO, c->output, 0, 0, "cannot write the properties: %s", strerror(error));
}

static enum pt_status compile(struct compile *c, const struct pt_parsed *parsed, struct pt_err *err)
{
    struct pt_debuginfo_options options = {.library_path = getenv("LD_LIBRARY_PATH"), .modules = c->modules};
    enum pt_status status = pt_analyse_load(&c->analyse, options_table, parsed, err);
    if (status == PT_OK)
        status = check_kinds(&c->analyse, err);
    if (status == PT_OK)
        status = pt_debuginfo_open(c->program, &options, &c->info, err);
    if (status == PT_OK)
        status = pt_resolve(&c->analyse, c->info, &c->resolved, err);
    if (status == PT_OK)
        status = write_file(c, err);
    if (status == PT_OK)
        warn_if_plain(c);
    return status;
}

static int run_command(const struct pt_parsed *parsed)
{
    struct compile c = {0};
    struct pt_err err = {0};
    bool good = false;
    pt_analyse_init(&c.analyse, PT_ALL, PT_ALL, NULL);
    if (set_options(&c, parsed)) {
        good = compile(&c, parsed, &err) == PT_OK;
        if (!good && err.file[0] && err.line && !err.source[0])
            pt_file_show_line(err.file, &err);
        if (!good)
            pt_diag_error(&err);
    }
    pt_resolved_release(&c.resolved);
    pt_debuginfo_free(c.info);
    pt_analyse_release(&c.analyse);
    free(c.modules);
    return good ? 0 : PT_EXIT_BAD;
}

static const char *const usages[] = {"-s FILE.prop [-s FILE.prop]... -o FILE.ptc PROGRAM", NULL};

const struct pt_command pt_command_compile = {
    .name = "compile",
    .summary = "compile decentralised properties for a program that ships with them",
    .usages = usages,
    .about =
        "Writes the decentralised properties ('at THREAD:', 'at each VAR:') of the files, with the places of what "
        "they name in PROGRAM, to FILE.ptc. A program that was built with 'portent cc' then checks them in its own "
        "threads, without 'portent run':\n\n"
        "  PORTENT_OPTIONS=properties=FILE.ptc PROGRAM\n\n"
        "The file is for this very program and the libraries in which it names something: another program, or one "
        "that was built again, says so, and runs without it; so does a program with another build of such a "
        "library.\n\n"
        "Exit status: 0 written; 2 bad usage or input.",
    .options = options_table,
    .run = run_command,
};
