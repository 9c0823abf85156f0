/*
 * Functions whose calls and returns are events of properties: each must be one of the program's, and an argument that
 * is asked for one that has a value. What is found goes to the program as the setting `calls` (core/functions.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/run/resolve.h"
#include "core/functions.h"

static void offer_callable(void *context, const char *name)
{
    pt_suggest_offer(context, name);
}

static enum pt_status check_function(struct pt_debuginfo *info, const char *name, struct pt_err *err)
{
    struct pt_suggest suggest;
    if (pt_debuginfo_is_callable(info, name))
        return PT_OK;
    (void)pt_err_set(err, PT_EINPUT, "the program has no function '%s'", name);
    pt_suggest_init(&suggest, name, strlen(name));
    pt_debuginfo_callables(info, offer_callable, &suggest);
    if (suggest.best)
        pt_err_hint(err, "did you mean '%s'?", suggest.best);
    else
        pt_err_hint(err, "functions of a class or a namespace are named with it, as in 'app::load'");
    return PT_EINPUT;
}

/* A pattern that is this name: what a pattern or the list has a use for stands for any character. */
static void put_pattern(struct pt_buf *calls, const char *name)
{
    pt_buf_puts(calls, calls->len ? "," : "");
    for (; *name; name++)
        pt_buf_printf(calls, "%c", strchr("*?[]\\,\"'$", *name) ? '?' : *name);
}

static enum pt_status add_conditions(struct pt_resolved *resolved, struct pt_debuginfo *info,
                                     const struct pt_function_event *event, struct pt_err *err)
{
    pt_buf_printf(&resolved->calls, "%c", PT_FUNCTION_WANTS);
    for (uint32_t i = 0; i < event->condition_count; i++) {
        uint32_t argument = event->conditions[i].argument;
        if (!pt_debuginfo_has_argument(info, event->function, argument)) {
            (void)pt_err_set(err, PT_EINPUT, "'%s' has no argument $%u that a property could ask for", event->function,
                             argument);
            pt_err_hint(err, "it must be an integer or a pointer, and no argument of the function a structure");
            return PT_EINPUT;
        }
        pt_buf_printf(&resolved->calls, "%u", argument);
    }
    return PT_OK;
}

/* The function's name in "call(f)"; the caller frees it. */
static char *function_of(const char *base)
{
    const char *open = strchr(base, '(');
    char *name = pt_xstrdup(open + 1);
    name[strlen(name) - 1] = '\0';
    return name;
}

enum pt_status pt_resolve_function_event(struct pt_resolved *resolved, struct pt_debuginfo *info, const char *base,
                                         const struct pt_function_event *event, struct pt_err *err)
{
    char *name = function_of(base);
    enum pt_status status = check_function(info, name, err);
    if (status == PT_OK)
        put_pattern(&resolved->calls, name);
    if (status == PT_OK && event && event->condition_count)
        status = add_conditions(resolved, info, event, err);
    free(name);
    return status;
}

void pt_resolve_calls_setting(const struct pt_resolved *resolved, struct pt_span before, struct pt_buf *options)
{
    if (resolved && resolved->calls.len)
        pt_buf_printf(options, " calls=\"%.*s%s%s\"", (int)before.len, before.len ? before.at : "",
                      before.len ? "," : "", resolved->calls.text);
}
