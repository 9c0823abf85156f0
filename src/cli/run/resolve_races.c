/*
 * Names of race_free properties: variables as a whole, with their members and elements, and the thread. A name is found
 * once and for certain, or refused at the property's place, as those of other properties are (resolve.c).
 *
 * What has a value is watched as well, quietly: so the answer is doubted where code that is not instrumented writes it
 * (doubt.c), and a recording calls it as the property does. Cost: one look-up per name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/resolve.h"

static enum pt_status find_extent(struct pt_debuginfo *info, const struct pt_varref *var,
                                  struct pt_variable *ret_extent, struct pt_err *err)
{
    size_t file_len = strlen(var->target) - strlen(var->path);
    char *file = file_len ? pt_xstrdup(var->target) : NULL;
    if (file)
        file[file_len - 1] = '\0'; /* the colon */
    enum pt_status status = pt_debuginfo_find_extent(info, file, var->path, ret_extent, err);
    free(file);
    return status;
}

static enum pt_status resolve_var(struct pt_resolved *resolved, struct pt_debuginfo *info, const struct pt_varref *var,
                                  struct pt_err *err)
{
    struct pt_variable extent = {0};
    struct pt_err ignored;
    uint32_t property = resolved->race_count - 1;
    bool placed = find_extent(info, var, &extent, &ignored) == PT_OK;
    enum pt_status status = pt_resolve_var(resolved, info, var, true, err);
    if (status != PT_OK && !placed)
        return status;
    /* All bytes in which a bit-field lies. */
    struct pt_channel_race_place place = {.name = var->target,
                                          .module = extent.module,
                                          .offset = extent.offset + extent.bit_offset / 8,
                                          .size = extent.size - extent.bit_offset / 8,
                                          .property = property};
    PT_PUSH(resolved->race_places, resolved->race_place_count, resolved->race_place_cap, place);
    return PT_OK;
}

static enum pt_status resolve_property(struct pt_resolved *resolved, struct pt_debuginfo *info,
                                       const struct pt_property *property, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    struct pt_channel_race race = {property->name, property->races_at, property->races_everywhere};
    if (resolved->race_count == PT_RACE_PROPERTIES)
        status = pt_err_set(err, PT_ELIMIT, "there are more than %d properties with race_free", PT_RACE_PROPERTIES);
    else
        PT_PUSH(resolved->races, resolved->race_count, resolved->race_cap, race);
    for (uint32_t v = 0; v < property->var_count && status == PT_OK; v++)
        status = resolve_var(resolved, info, &property->vars[v], err);
    if (status == PT_OK && property->races_at)
        status = pt_resolve_thread(resolved, info, property->races_at, err);
    return pt_resolve_at_property(status, property, err);
}

enum pt_status pt_resolve_races(const struct pt_analyse *analyse, struct pt_debuginfo *info,
                                struct pt_resolved *resolved, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < analyse->input_count && status == PT_OK; i++) {
        const struct pt_property *property = analyse->inputs[i].property;
        if (!property || property->kind != PT_KIND_RACE)
            continue;
        pt_resolve_functions(resolved, info); /* suppressions name threads */
        status = resolve_property(resolved, info, property, err);
    }
    return status;
}
