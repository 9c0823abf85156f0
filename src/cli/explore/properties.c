/*
 * Properties of controlled runs. A run is judged by its recording, which has the order in which things happened: each
 * property is evaluated along it, as `check` does. A recording has initial values of what was accessed; those of other
 * variables are in the program's file.
 *
 * What it cannot answer is refused before anything is run: paths through pointers, which the recording does not
 * follow, and `within` a time, since time is not the program's own in a run under control.
 *
 * Guarantee: a property that is said to be broken is broken in the order in which the run went. Cost: that of `check`,
 * with a window of one state.
 */
#include "cli/explore/properties.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/progress.h"
#include "cli/run/resolve.h"
#include "core/shape.h"
#include "engine/analysis.h"
#include "trace/debuginfo.h"

#define EFFORT UINT64_C(100000000) /* nanoseconds, of a property in wider orders; of access twice as much */

struct pt_explore_properties {
    struct pt_analyse *analyse;
    struct pt_debuginfo *info;
    struct pt_resolved resolved;
    uint64_t until; /* an exploration of orders ends then */
};

/* --- beginning --- */

static enum pt_status refuse(const struct pt_property *property, struct pt_err *err, const char *why)
{
    return pt_err_at(err, PT_EINPUT, property->file, property->line, property->column, "property '%s' %s",
                     property->name, why);
}

static enum pt_status check_kinds(const struct pt_analyse *analyse, struct pt_err *err)
{
    if (analyse->input_count > PT_EXPLORE_PROPERTIES)
        return pt_err_set(err, PT_EINPUT, "explore takes at most %d properties, not %u", PT_EXPLORE_PROPERTIES,
                          analyse->input_count);
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        const struct pt_property *property = analyse->inputs[i].property;
        if (property->within && !property->within_events)
            return refuse(property, err,
                          "has a time: under control threads wait for each other, and time says nothing; "
                          "'within N events' can be explored");
        if (analyse->inputs[i].message)
            return refuse(property, err, analyse->inputs[i].message);
    }
    return PT_OK;
}

enum pt_status pt_explore_properties_new(struct pt_analyse *analyse, const char *program,
                                         struct pt_explore_properties **ret_properties, struct pt_err *err)
{
    struct pt_debuginfo_options options = {.library_path = getenv("LD_LIBRARY_PATH")};
    struct pt_explore_properties *p = pt_xcalloc(1, sizeof *p);
    p->analyse = analyse;
    enum pt_status status = check_kinds(analyse, err);
    if (status == PT_OK)
        status = pt_debuginfo_open(program, &options, &p->info, err);
    if (status == PT_OK)
        status = pt_resolve(analyse, p->info, &p->resolved, err);
    if (status == PT_OK)
        status = pt_resolve_recorded(&p->resolved, p->info, "of controlled runs", err);
    if (status == PT_OK)
        *ret_properties = p;
    else
        pt_explore_properties_free(p);
    return status;
}

void pt_explore_properties_free(struct pt_explore_properties *p)
{
    if (!p)
        return;
    pt_resolved_release(&p->resolved);
    if (p->info)
        pt_debuginfo_free(p->info);
    free(p);
}

uint32_t pt_explore_properties_count(const struct pt_explore_properties *p)
{
    return p ? p->analyse->input_count : 0;
}

const char *pt_explore_properties_name(const struct pt_explore_properties *p, uint32_t index)
{
    return index < p->analyse->input_count ? p->analyse->inputs[index].property->name : "";
}

const char *pt_explore_properties_file(const struct pt_explore_properties *p, uint32_t index)
{
    return p->analyse->inputs[index].property->file;
}

bool pt_explore_properties_follow_order(const struct pt_explore_properties *p)
{
    for (uint32_t i = 0; i < pt_explore_properties_count(p); i++)
        if (p->analyse->inputs[i].property->within)
            return true;
    return false;
}

const char *pt_explore_properties_functions(const struct pt_explore_properties *p)
{
    return p && p->resolved.calls.len ? p->resolved.calls.text : NULL;
}

void pt_explore_properties_calls(const struct pt_explore_properties *p, struct pt_buf *options)
{
    if (p)
        pt_resolve_calls_setting(&p->resolved, (struct pt_span){0}, options);
}

/* --- scheduling points --- */

/* The variable's own name, without file, function, members and indices. */
static size_t head_of(const char **name)
{
    const char *colon = strrchr(*name, ':');
    size_t len = 0;
    if (colon)
        *name = colon + 1;
    while (isalnum((unsigned char)(*name)[len]) || (*name)[len] == '_')
        len++;
    return len;
}

static bool is_of(const char *variable, const char *name)
{
    size_t len = head_of(&variable), other = head_of(&name);
    return len && len == other && memcmp(variable, name, len) == 0;
}

void pt_explore_properties_share(const struct pt_explore_properties *p, struct pt_explore_places *places)
{
    for (uint32_t i = 1; p && i < places->spot_count; i++)
        for (uint32_t v = 0; v < p->resolved.var_count; v++)
            if (is_of(places->spots[i].variable, p->resolved.vars[v].name))
                (void)pt_explore_places_share(places, places->spots[i].key, places->spots[i].variable);
}

/* --- evaluation --- */

static bool is_over(void *context)
{
    const struct pt_explore_properties *p = context;
    return p->until && pt_progress_now() > p->until;
}

struct pt_analysis *pt_explore_properties_begin(struct pt_explore_properties *p, struct pt_names *names, bool predicts)
{
    struct pt_analysis_options *engine = &p->analyse->engine;
    engine->orders = predicts ? PT_ORDERS_AUTO : PT_ORDERS_ACCESS;
    engine->window = engine->lookahead = predicts ? PT_ALL : 1;
    engine->effort = EFFORT;
    engine->now = pt_progress_now;
    engine->interrupted = is_over;
    engine->context = p;
    p->until = predicts ? pt_progress_now() + 2 * EFFORT * pt_explore_properties_count(p) : 0;
    return pt_analysis_new(names, p->analyse->inputs, p->analyse->input_count, engine);
}

static struct pt_value value_in_file(const struct pt_explore_properties *p, const struct pt_channel_var *var,
                                     struct pt_names *names)
{
    enum { MOST = 4096 };
    unsigned char bytes[MOST];
    struct pt_shape shape = {var->size, var->type, var->bit_offset, var->bit_size};
    if (!var->size || var->size > sizeof bytes ||
        !pt_debuginfo_image(p->info, var->module, var->offset, var->size, bytes))
        return (struct pt_value){0};
    struct pt_value value = pt_shape_value(&shape, bytes);
    if (value.kind != PT_VALUE_STRING)
        return value;
    uint32_t id = pt_strtab_intern(&names->space[PT_SPACE_STRING], value.s, value.len);
    return pt_value_string(pt_name(names, PT_SPACE_STRING, id), value.len);
}

/* Without the file in front. */
static const char *path_of(const char *target)
{
    for (const char *c = target; *c; c++) {
        if (c[0] == ':' && c[1] != ':')
            return c + 1;
        c += c[0] == ':';
    }
    return target;
}

enum pt_status pt_explore_properties_initial(const struct pt_explore_properties *p, struct pt_names *names,
                                             const struct pt_map64 *given, struct pt_analysis *analysis,
                                             struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t v = 0; v < p->resolved.var_count && status == PT_OK; v++) {
        const struct pt_channel_var *var = &p->resolved.vars[v];
        const char *path = path_of(var->name);
        uint32_t id = pt_names_intern_clean(names, PT_SPACE_VAR, var->name, strlen(var->name)),
                 short_id = pt_names_intern_clean(names, PT_SPACE_VAR, path, strlen(path));
        if (pt_map64_get(given, id) != PT_NONE || pt_map64_get(given, short_id) != PT_NONE)
            continue;
        struct pt_event event = {.op = PT_OP_INIT,
                                 .thread = PT_NONE,
                                 .object = id,
                                 .loc = pt_names_intern_clean(names, PT_SPACE_LOC, "-", 1),
                                 .value = value_in_file(p, var, names)};
        status = pt_analysis_event(analysis, &event, err);
    }
    return status;
}
