/*
 * From the options of a command line to what the engine takes: bounds, property files compiled to monitors, monitor
 * modules. A property whose automaton is too large becomes an error of its own and leaves the others alone; a module
 * whose name is taken is refused. The cost is that of compiling each property once.
 */
#include "cli/common/analyse.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/machine.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/progress.h"
#include "cli/common/together.h"
#include "core/settings.h"
#include "logic/monitor/monitor.h"
#include "portent-monitor.h"

static void ignore(void *context, enum pt_setting_problem problem, struct pt_span name, struct pt_span pair)
{
    (void)context, (void)problem, (void)name,
        (void)pair; /* commands that go by the options say what is wrong in them */
}

void pt_analyse_init(struct pt_analyse *a, uint64_t window, uint64_t lookahead, const char *trace)
{
    struct pt_settings settings;
    pt_settings_read(&settings, getenv(PT_OPTIONS_ENV), ignore, NULL);
    *a = (struct pt_analyse){.automaton_limit = 100000};
    a->engine =
        (struct pt_analysis_options){.window = window, .lookahead = lookahead, .trace = trace, .now = pt_progress_now};
    a->engine.cores = pt_cores();
    a->engine.jobs = pt_together_group() ? 1 : a->engine.cores; /* the others are on the other cores */
    a->engine.counted_before = (uint64_t)settings.counted_before;
    a->props = pt_properties_new();
    pt_triage_init(&a->triage);
}

void pt_analyse_release(struct pt_analyse *a)
{
    for (uint32_t i = 0; i < a->input_count; i++)
        pt_monitor_free(a->inputs[i].monitor);
    free(a->inputs);
    for (uint32_t i = 0; i < a->message_count; i++)
        free(a->messages[i]);
    free(a->messages);
    pt_properties_free(a->props);
    pt_triage_release(&a->triage);
}

bool pt_analyse_option(struct pt_analyse *a, const struct pt_option *option, const char *argument, bool *ret_taken)
{
    const char *name = option->name ? option->name : "";
    uint64_t number = 0;
    bool good = true;
    *ret_taken = true;
    if (strcmp(name, "window") == 0) {
        good = pt_parse_bound(name, argument, &a->engine.window);
    } else if (strcmp(name, "lookahead") == 0) {
        good = pt_parse_bound(name, argument, &a->engine.lookahead);
    } else if (strcmp(name, "exhaustive") == 0) {
        a->engine.exhaustive = true;
    } else if (strcmp(name, "jobs") == 0) {
        good = pt_parse_count(name, argument, 1024, &number);
        a->engine.jobs = (unsigned)number;
    } else if (strcmp(name, "memory-limit") == 0) {
        good = pt_parse_size(name, argument, &a->engine.memory_limit);
    } else if (strcmp(name, "automaton-limit") == 0) {
        good = pt_parse_count(name, argument, INT32_MAX, &number);
        a->automaton_limit = (uint32_t)number;
    } else {
        *ret_taken = false;
    }
    return good;
}

static void add_input(struct pt_analyse *a, struct pt_analysis_input input)
{
    if (input.message) {
        char *copy = pt_xstrdup(input.message);
        PT_PUSH(a->messages, a->message_count, a->message_cap, copy);
        input.message = copy;
    }
    PT_PUSH(a->inputs, a->input_count, a->input_cap, input);
}

/* A property becomes a monitor, or an error of its own that leaves the other properties alone. */
static enum pt_status add_property(struct pt_analyse *a, const struct pt_property *property, struct pt_err *err)
{
    struct pt_analysis_input input = {.property = property, .verdict = PT_VERDICT_ERROR};
    if (property->kind == PT_KIND_MTTL || property->kind == PT_KIND_RACE) {
        input.verdict = PT_VERDICT_HOLDS; /* the engine has all it needs */
    } else {
        enum pt_status status = pt_monitor_new(property, a->automaton_limit, &input.monitor, err);
        if (status == PT_ELIMIT)
            input.message = err->message;
        else if (status != PT_OK)
            return status;
    }
    add_input(a, input);
    return PT_OK;
}

static enum pt_status load_properties(struct pt_analyse *a, const char *path, struct pt_err *err)
{
    uint32_t before = a->props->count;
    enum pt_status status = pt_file_properties(a->props, path, err);
    if (status == PT_OK && a->props->count == before) {
        status = pt_err_at(err, PT_EINPUT, path, 0, 0, "there is no property in this file");
        pt_err_hint(err, "one is written: property NAME: FORMULA;");
    }
    return status;
}

static bool name_is_taken(const struct pt_analyse *a, const char *name)
{
    for (uint32_t i = 0; i < a->input_count; i++) {
        const struct pt_analysis_input *input = &a->inputs[i];
        if (strcmp(input->property ? input->property->name : pt_monitor_name(input->monitor), name) == 0)
            return true;
    }
    return false;
}

static bool is_monitor(const struct pt_option *option)
{
    return option->name && strcmp(option->name, "monitor") == 0;
}

enum pt_status pt_analyse_load(struct pt_analyse *a, const struct pt_option *table, const struct pt_parsed *parsed,
                               struct pt_err *err)
{
    enum pt_status status = pt_triage_load(&a->triage, table, parsed, err);
    for (uint32_t i = 0; i < parsed->option_count && status == PT_OK; i++) {
        if (table[parsed->options[i].index].letter == 's')
            status = load_properties(a, parsed->options[i].argument, err);
    }
    for (uint32_t i = 0; i < a->props->count && status == PT_OK; i++)
        status = add_property(a, &a->props->items[i], err);
    for (uint32_t i = 0; i < parsed->option_count && status == PT_OK; i++) {
        const struct portent_monitor *module;
        if (!is_monitor(&table[parsed->options[i].index]))
            continue;
        status = pt_file_module(parsed->options[i].argument, &module, err);
        if (status == PT_OK && name_is_taken(a, module->name))
            status = pt_err_at(err, PT_EINPUT, parsed->options[i].argument, 0, 0,
                               "there is already a property or module named '%s'", module->name);
        if (status == PT_OK)
            add_input(a, (struct pt_analysis_input){.monitor = pt_monitor_of_module(module)});
    }
    return status;
}

enum pt_status pt_analyse_load_one(struct pt_analyse *a, const char *path, const char *name, struct pt_err *err)
{
    enum pt_status status = load_properties(a, path, err);
    for (uint32_t i = 0; i < a->props->count && status == PT_OK; i++) {
        if (strcmp(a->props->items[i].name, name) == 0)
            return add_property(a, &a->props->items[i], err);
    }
    return status != PT_OK ? status : pt_err_at(err, PT_EINPUT, path, 0, 0, "there is no property '%s' in it", name);
}

struct pt_style pt_analyse_style(int fd, const char *when)
{
    const char *none = getenv("NO_COLOR");
    unsigned width = pt_terminal_width(fd);
    struct pt_style style = {.width = 80};
    /* Narrower breaks the columns, wider is hard to read. */
    if (width && !pt_together_group())
        style.width = width < PT_STYLE_MIN_WIDTH ? PT_STYLE_MIN_WIDTH : width > 120 ? 120 : width;
    bool terminal = isatty(fd) && !pt_together_group(); /* mpirun's, which may lead anywhere */
    style.color = strcmp(when, "auto") == 0 ? terminal && !(none && none[0]) : strcmp(when, "always") == 0;
    return style;
}

bool pt_analyse_only_states(const struct pt_analyse *analyse)
{
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        const struct pt_property *property = analyse->inputs[i].property;
        bool states = property &&
                      (property->kind == PT_KIND_LTL || property->kind == PT_KIND_ERE || property->kind == PT_KIND_HOA);
        if (!states || property->within)
            return false;
    }
    return true;
}
