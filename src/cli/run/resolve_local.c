/*
 * Names of decentralised properties: their variables, user events, atomic blocks and threads. Each must exist in the
 * program or be a text that it gives to portent.h; otherwise the property is refused at its place before the program
 * runs. One look-up per name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/resolve.h"
#include "logic/mttl/mttl.h"
#include "base/suggest.h"

static const char *string(const struct pt_mttl *m, uint32_t offset)
{
    return pt_mttl_string(m, offset);
}

enum pt_status pt_resolve_at_property(enum pt_status status, const struct pt_property *property, struct pt_err *err)
{
    if (status != PT_OK && !err->line) {
        snprintf(err->file, sizeof err->file, "%s", property->file);
        err->line = property->line;
        err->column = property->column;
    }
    return status;
}

static void keep_function(void *context, const char *module, uint64_t offset, const char *name)
{
    struct pt_resolved *resolved = context;
    PT_PUSH(resolved->functions, resolved->function_count, resolved->function_cap,
            ((struct pt_channel_name){module, offset, name}));
}

void pt_resolve_functions(struct pt_resolved *resolved, struct pt_debuginfo *info)
{
    if (!resolved->function_count)
        pt_debuginfo_functions(info, keep_function, resolved);
}

/* main; a start function, of which `worker#2` is the second thread; a name given with pthread_setname_np. */
static enum pt_status check_thread(const struct pt_resolved *resolved, struct pt_debuginfo *info, const char *name,
                                   struct pt_err *err)
{
    struct pt_suggest suggest;
    char *plain = pt_xstrdup(name);
    char *sharp = strrchr(plain, '#');
    if (sharp && sharp[1] && strspn(sharp + 1, "0123456789") == strlen(sharp + 1))
        *sharp = '\0';
    bool known = strcmp(plain, "main") == 0;
    pt_suggest_init(&suggest, plain, strlen(plain));
    for (uint32_t i = 0; i < resolved->function_count && !known; i++) {
        known = strcmp(resolved->functions[i].name, plain) == 0;
        if (!resolved->functions[i].module)
            pt_suggest_offer(&suggest, resolved->functions[i].name);
    }
    enum pt_status status = PT_OK;
    /* The name is sought last, since that reads what every library says. */
    if (!known && !pt_debuginfo_may_pass(info, "pthread_setname_np", name, true)) {
        status =
            pt_err_set(err, PT_EINPUT, "no thread of the program can be called '%s': it has no such function", name);
        if (suggest.best)
            pt_err_hint(err, "did you mean '%s'?", suggest.best);
    }
    free(plain);
    return status;
}

enum pt_status pt_resolve_thread(struct pt_resolved *resolved, struct pt_debuginfo *info, const char *name,
                                 struct pt_err *err)
{
    pt_resolve_functions(resolved, info);
    return check_thread(resolved, info, name, err);
}

/* Names of watched variables have to live as long as the block of all properties. */
static const struct pt_mttl_name *find_variable(const struct pt_mttl *m, const char *target)
{
    uint32_t v = 0;
    while (strcmp(string(m, pt_mttl_at(m, vars, struct pt_mttl_name, v)->target), target) != 0)
        v++;
    return pt_mttl_at(m, vars, struct pt_mttl_name, v);
}

static enum pt_status resolve_property(struct pt_resolved *resolved, struct pt_debuginfo *info,
                                       const struct pt_property *property, struct pt_err *err)
{
    struct pt_mttl *own;
    enum pt_status status = pt_mttl_compile(&property, 1, &own, err);
    if (status != PT_OK)
        return pt_resolve_at_property(status, property, err);
    for (uint32_t i = 0; i < own->vars.count && status == PT_OK; i++) {
        const struct pt_mttl_name *name = pt_mttl_at(own, vars, struct pt_mttl_name, i);
        const char *target = string(resolved->block, find_variable(resolved->block, string(own, name->target))->target);
        struct pt_varref var = {target, target, target + strlen(target) - strlen(string(own, name->path))};
        status = pt_resolve_var(resolved, info, &var, true, err);
        for (uint32_t before = 0; before < i && status == PT_OK; before++)
            status = pt_resolve_apart(resolved, target,
                                      string(own, pt_mttl_at(own, vars, struct pt_mttl_name, before)->target), err);
    }
    for (uint32_t i = 0; i < own->events.count && status == PT_OK; i++) {
        const char *event = string(own, pt_mttl_at(own, events, struct pt_mttl_name, i)->target);
        status = pt_is_function_event(event) ? pt_resolve_function_event(resolved, info, event, NULL, err)
                                             : pt_resolve_text(info, "portent_event", "user event", event, err);
    }
    for (uint32_t i = 0; i < own->blocks.count && status == PT_OK; i++)
        status = pt_resolve_text(info, "portent_begin", "atomic block",
                                 string(own, pt_mttl_at(own, blocks, struct pt_mttl_name, i)->target), err);
    for (uint32_t i = 0; i < own->threads.count && status == PT_OK; i++)
        status =
            check_thread(resolved, info, string(own, pt_mttl_at(own, threads, struct pt_mttl_name, i)->target), err);
    free(own);
    return pt_resolve_at_property(status, property, err);
}

static void number_variables(struct pt_resolved *resolved)
{
    const struct pt_mttl *m = resolved->block;
    for (uint32_t v = 0; v < m->vars.count; v++) {
        const char *target = string(m, pt_mttl_at(m, vars, struct pt_mttl_name, v)->target);
        for (uint32_t i = 0; i < resolved->var_count; i++)
            if (strcmp(resolved->vars[i].name, target) == 0)
                resolved->vars[i].local = v + 1;
    }
}

enum pt_status pt_resolve_locals(const struct pt_analyse *analyse, struct pt_debuginfo *info,
                                 struct pt_resolved *resolved, struct pt_err *err)
{
    const struct pt_property **properties = pt_xcalloc((size_t)analyse->input_count + 1, sizeof *properties);
    uint32_t count = 0;
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        const struct pt_property *property = analyse->inputs[i].property;
        if (property && property->kind == PT_KIND_MTTL)
            properties[count++] = property;
    }
    if (count) {
        pt_resolve_functions(resolved, info);
        status = pt_mttl_compile(properties, count, &resolved->block, err);
        if (status != PT_OK)
            resolved->block = NULL;
    }
    for (uint32_t i = 0; i < count && status == PT_OK; i++)
        status = resolve_property(resolved, info, properties[i], err);
    if (count && status == PT_OK)
        number_variables(resolved);
    free(properties);
    return status;
}
