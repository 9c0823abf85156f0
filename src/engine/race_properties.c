/*
 * race_free properties on a trace (contract sections 2 and 10): races.c looks for races once, and each property takes
 * those on the memory and of the thread that it names.
 *
 * All accesses are looked at, not only those of the variables that are named: a read that races tells its thread what
 * the write came after (SHB), so a race on another variable may decide whether two accesses of this one are ordered.
 *
 * Guarantee: a property has the findings of `--races` that are about what it names, and no other; it holds only where
 * `--races` would, on that. Cost: that of `--races`, a few comparisons of names for each race that is met, and for each
 * variable and thread once.
 */
#include "engine/race_properties.h"

#include <stdlib.h>
#include <string.h>

#include "engine/races.h"

struct judged {
    const struct pt_property *property;
    struct pt_finding *finding;
    bool *seen;   /* by variable of the property: the trace has it */
    bool at_seen; /* its thread */
};

struct pt_race_properties {
    const struct pt_names *names;
    struct races *races;
    struct judged *items;
    uint32_t count;
    uint32_t *vars, *threads; /* which ids the trace was seen to use */
    size_t var_cap, thread_cap;
};

/* ---- names ---- */

static bool covers(const char *name, const char *object)
{
    size_t len = strlen(name);
    return strncmp(object, name, len) == 0 && (!object[len] || strchr(".[+", object[len]));
}

/* All of a heap block, as its free is: of each of its bytes. */
static bool is_block_of(const char *object, const char *name)
{
    size_t len = strlen(object);
    return strncmp(name, object, len) == 0 && name[len] == '+';
}

/* A variable with a file in its name is also known by its path alone, unless that says something else here. */
static bool path_is_free(const struct pt_property *property, uint32_t var)
{
    const char *path = property->vars[var].path;
    for (uint32_t i = 0; i < property->var_count; i++)
        if (i != var && (strcmp(property->vars[i].path, path) == 0 || strcmp(property->vars[i].target, path) == 0))
            return false;
    return true;
}

static bool names(const struct pt_property *property, uint32_t var, const char *object)
{
    const struct pt_varref *ref = &property->vars[var];
    return covers(ref->target, object) || is_block_of(object, ref->target) ||
           (strcmp(ref->path, ref->target) != 0 && covers(ref->path, object) && path_is_free(property, var));
}

bool pt_race_property_wants(const struct pt_property *property, const char *object, const char *one, const char *other)
{
    bool wants = property->races_everywhere;
    if (property->races_at && strcmp(property->races_at, one) != 0 && strcmp(property->races_at, other) != 0)
        return false;
    for (uint32_t v = 0; v < property->var_count && !wants; v++)
        wants = names(property, v, object);
    return wants;
}

static bool wants(void *context, const char *object, const char *one, const char *other)
{
    return pt_race_property_wants(context, object, one, other);
}

/* ---- what the trace has of them ---- */

static bool is_fresh(uint32_t **seen, size_t *cap, uint32_t id)
{
    PT_ROOM(*seen, *cap, id);
    return !(*seen)[id]++;
}

static void note_var(struct pt_race_properties *p, const char *object)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t v = 0; v < p->items[i].property->var_count; v++)
            p->items[i].seen[v] |= names(p->items[i].property, v, object);
}

static void note_thread(struct pt_race_properties *p, uint32_t id)
{
    if (id == PT_NONE || !is_fresh(&p->threads, &p->thread_cap, id))
        return;
    for (uint32_t i = 0; i < p->count; i++) {
        const char *at = p->items[i].property->races_at;
        p->items[i].at_seen |= !at || strcmp(at, pt_name(p->names, PT_SPACE_THREAD, id)) == 0;
    }
}

static void note(struct pt_race_properties *p, const struct pt_event *event)
{
    note_thread(p, event->thread);
    if (pt_op_is_of_thread(event->op))
        note_thread(p, event->object);
    if (pt_op_space(event->op) == PT_SPACE_VAR && is_fresh(&p->vars, &p->var_cap, event->object))
        note_var(p, pt_name(p->names, PT_SPACE_VAR, event->object));
}

/* A slip of the pen, more often than not. */
static void list_unseen(struct judged *j)
{
    uint32_t count = 0;
    const char **unseen = pt_arena_alloc(&j->finding->arena, ((size_t)j->property->var_count + 2) * sizeof *unseen);
    for (uint32_t v = 0; v < j->property->var_count; v++)
        if (!j->seen[v])
            unseen[count++] =
                pt_arena_strndup(&j->finding->arena, j->property->vars[v].name, strlen(j->property->vars[v].name));
    if (j->property->races_at && !j->at_seen)
        unseen[count++] = pt_arena_strndup(&j->finding->arena, j->property->races_at, strlen(j->property->races_at));
    unseen[count] = NULL;
    j->finding->unseen = unseen;
}

/* ---- */

struct pt_race_properties *pt_race_properties_new(const struct pt_property *const *properties,
                                                  struct pt_finding *const *findings, uint32_t count,
                                                  const struct pt_names *names,
                                                  const struct pt_analysis_options *options)
{
    struct pt_race_properties *p = pt_xcalloc(1, sizeof *p);
    struct pt_check_options of_races = {.trace = options->trace,
                                        .order = pt_orders_widest(options->orders),
                                        .automatic = options->orders == PT_ORDERS_AUTO,
                                        .memory_limit = options->memory_limit,
                                        .log_limit = options->log_limit,
                                        .now = options->now,
                                        .effort = options->effort,
                                        .group = options->group,
                                        .suppressed = options->suppressed,
                                        .context = options->context};
    p->names = names;
    p->races = pt_races_new(names, &of_races);
    p->items = pt_xcalloc(count, sizeof *p->items);
    p->count = count;
    for (uint32_t i = 0; i < count; i++) {
        p->items[i] = (struct judged){properties[i], findings[i], NULL, false};
        p->items[i].seen = pt_xcalloc((size_t)properties[i]->var_count + 1, sizeof(bool));
        pt_races_ask(
            p->races,
            (struct races_asker){.finding = findings[i], .wants = wants, .context = (void *)(uintptr_t)properties[i]});
    }
    return p;
}

void pt_race_properties_free(struct pt_race_properties *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        free(p->items[i].seen);
    pt_races_free(p->races);
    free(p->items);
    free(p->vars);
    free(p->threads);
    free(p);
}

enum pt_status pt_race_properties_event(struct pt_race_properties *p, const struct pt_event *event, struct pt_err *err)
{
    note(p, event);
    return pt_races_event(p->races, event, err);
}

void pt_race_properties_gap(struct pt_race_properties *p)
{
    pt_races_gap(p->races);
}

void pt_race_properties_finish(struct pt_race_properties *p, const char *lost)
{
    pt_races_finish(p->races, lost);
    for (uint32_t i = 0; i < p->count; i++)
        list_unseen(&p->items[i]);
}
