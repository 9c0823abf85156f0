/* The names that properties use, looked up in a program before it starts. */
#ifndef PT_CLI_RESOLVE_H
#define PT_CLI_RESOLVE_H

#include "cli/analyse.h"
#include "trace/channel.h"
#include "trace/debuginfo.h"

struct pt_resolved {
    struct pt_channel_var *vars; /* names live as long as the properties, modules as long as the debuginfo */
    uint32_t var_count;
    size_t var_cap;
    const char **events;
    uint32_t event_count;
    size_t event_cap;
};

/*
 * Every variable and user event of the monitors, each once. An unknown or ambiguous one is PT_EINPUT at the property's
 * place, with the nearest candidates. A variable that is not in the program but whose name is a text constant of it may
 * be an object given to portent_watch, and is left for the program to name.
 */
enum pt_status pt_resolve(const struct pt_analyse *analyse, struct pt_debuginfo *info, struct pt_resolved *ret_resolved,
                          struct pt_err *err) PT_WARN_UNUSED;
void pt_resolved_release(struct pt_resolved *resolved);
/* Do the monitors name anything at all? */
bool pt_resolve_needed(const struct pt_analyse *analyse);

#endif
