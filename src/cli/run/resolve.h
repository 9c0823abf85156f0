/* The names that properties use, looked up in a program before it starts. */
#ifndef PT_CLI_RUN_RESOLVE_H
#define PT_CLI_RUN_RESOLVE_H

#include "base/buf.h"
#include "cli/common/analyse.h"
#include "core/settings.h"
#include "trace/channel.h"
#include "trace/debuginfo.h"

struct pt_resolved {
    struct pt_channel_var *vars; /* names live as long as the properties, modules as long as the debuginfo */
    uint32_t var_count;
    size_t var_cap;
    const char **events; /* of calls and returns of functions without conditions: call(f) */
    uint32_t event_count;
    size_t event_cap;
    struct pt_buf calls; /* the functions of these events, as the setting of that name */
    /* Decentralised properties, in the order of the inputs: their block (NULL: there are none), and the functions that
     * threads may be named after. */
    struct pt_mttl *block;
    struct pt_channel_name *functions;
    uint32_t function_count;
    size_t function_cap;
    /* race_free properties, in the order of the inputs, and what they name. */
    struct pt_channel_race *races;
    uint32_t race_count;
    size_t race_cap;
    struct pt_channel_race_place *race_places;
    uint32_t race_place_count;
    size_t race_place_cap;
};

/*
 * Every variable and user event of the monitors, each once. An unknown or ambiguous one is PT_EINPUT at the property's
 * place, with the nearest candidates. A variable that is not in the program but whose name is a text constant of a
 * module that, by its debug information, calls portent_watch is left for the program to name; in a decentralised
 * property also a variable of threads' own, given to portent_internal.
 */
enum pt_status pt_resolve(const struct pt_analyse *analyse, struct pt_debuginfo *info, struct pt_resolved *ret_resolved,
                          struct pt_err *err) PT_WARN_UNUSED;
void pt_resolved_release(struct pt_resolved *resolved);
/* Whether recordings of everything (`what` asks for them) have each variable under its name, by itself. Those that go
 * through pointers have not: which memory a path means depends on the order of events; nor have members of unions,
 * bit-fields and what is computed, such as sizes. PT_EINPUT otherwise: its values would be others', or none. */
enum pt_status pt_resolve_recorded(const struct pt_resolved *resolved, struct pt_debuginfo *info, const char *what,
                                   struct pt_err *err) PT_WARN_UNUSED;
/* The parts of it in resolve_local.c. */
enum pt_status pt_resolve_var(struct pt_resolved *resolved, struct pt_debuginfo *info, const struct pt_varref *var,
                              bool local, struct pt_err *err) PT_WARN_UNUSED;
/* Two variables of one property, both resolved, if they are: PT_EINPUT where one atomic store writes both at once. */
enum pt_status pt_resolve_apart(const struct pt_resolved *resolved, const char *name, const char *other,
                                struct pt_err *err) PT_WARN_UNUSED;
/* May `name` be given to this function of portent.h? `what` it would name. */
enum pt_status pt_resolve_text(struct pt_debuginfo *info, const char *function, const char *what, const char *name,
                               struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_resolve_locals(const struct pt_analyse *analyse, struct pt_debuginfo *info,
                                 struct pt_resolved *resolved, struct pt_err *err) PT_WARN_UNUSED;
/* The functions that threads may be named after, once. */
void pt_resolve_functions(struct pt_resolved *resolved, struct pt_debuginfo *info);
/* May a thread of the program be called so? */
enum pt_status pt_resolve_thread(struct pt_resolved *resolved, struct pt_debuginfo *info, const char *name,
                                 struct pt_err *err) PT_WARN_UNUSED;
/* An error without a place gets the property's. */
enum pt_status pt_resolve_at_property(enum pt_status status, const struct pt_property *property,
                                      struct pt_err *err) PT_WARN_UNUSED;
/* The parts in resolve_functions.c: `base` is "call(f)" or "return(f)", `event` what a property says of it, or NULL.
 * The setting, if there is any, goes behind those that are given; `before`: its value among them. */
enum pt_status pt_resolve_function_event(struct pt_resolved *resolved, struct pt_debuginfo *info, const char *base,
                                         const struct pt_function_event *event, struct pt_err *err) PT_WARN_UNUSED;
void pt_resolve_calls_setting(const struct pt_resolved *resolved, struct pt_span before, struct pt_buf *options);
/* The part in resolve_races.c. */
enum pt_status pt_resolve_races(const struct pt_analyse *analyse, struct pt_debuginfo *info,
                                struct pt_resolved *resolved, struct pt_err *err) PT_WARN_UNUSED;
/* Do the monitors name anything at all? */
bool pt_resolve_needed(const struct pt_analyse *analyse);

#endif
