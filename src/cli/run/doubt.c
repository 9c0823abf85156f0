/*
 * What makes the answer about a property doubtful, and the verdict that this leaves.
 *
 * Guarantee: no property holds that names a variable of which a value was missed. A violation stays one: the run had
 * the events that show it. Cost: a look at each property for each such variable.
 */
#include "cli/run/doubt.h"

#include <stdlib.h>
#include <string.h>

#include "core/mttl.h"
#include "logic/monitor/monitor.h"
#include "logic/mttl/mttl.h"

static bool local_names(const struct pt_property *property, const char *variable)
{
    struct pt_mttl *own;
    struct pt_err err;
    bool names = false;
    if (pt_mttl_compile(&property, 1, &own, &err) != PT_OK)
        return true; /* it was compiled before, so this does not happen; doubt is the safe side */
    for (uint32_t i = 0; i < own->vars.count && !names; i++)
        names = strcmp(pt_mttl_string(own, pt_mttl_at(own, vars, struct pt_mttl_name, i)->target), variable) == 0;
    free(own);
    return names;
}

bool pt_doubt_names(const struct pt_analysis_input *input, const char *variable)
{
    bool races = input->property && input->property->kind == PT_KIND_RACE;
    if (!input->monitor && !races)
        return input->property && input->property->kind == PT_KIND_MTTL && local_names(input->property, variable);
    uint32_t count = races ? input->property->var_count : 0;
    const struct pt_varref *vars = races ? input->property->vars : pt_monitor_vars(input->monitor, &count);
    for (uint32_t v = 0; v < count; v++) {
        if (strcmp(vars[v].target, variable) == 0)
            return true;
    }
    return false;
}

static void doubt(struct pt_session *session, const struct pt_result *result, const char *variable, const char *why)
{
    for (uint32_t i = 0; i < result->count && i < session->analyse.input_count; i++) {
        struct pt_finding *finding = result->findings[i];
        if (finding->verdict != PT_VERDICT_HOLDS || !pt_doubt_names(&session->analyse.inputs[i], variable))
            continue;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, why, variable);
        finding->verdict = PT_VERDICT_UNKNOWN;
        finding->message = pt_arena_strndup(&finding->arena, text.text, text.len);
        finding->complete = false;
        session->doubted[i] = true;
        pt_buf_release(&text);
    }
}

void pt_doubt_apply(struct pt_session *session, const struct pt_result *result)
{
    uint32_t count;
    uint64_t total;
    const struct pt_channel_foreign *foreign = pt_channel_foreign(session->reader, &count, &total);
    free(session->doubted);
    session->doubted = pt_xcalloc((size_t)result->count + 1, sizeof *session->doubted);
    for (uint32_t i = 0; i < count; i++)
        doubt(session, result, pt_name(&session->names, PT_SPACE_VAR, foreign[i].var),
              "code that is not instrumented wrote '%s'");
    for (uint32_t i = 0; i < session->late.after_count; i++)
        doubt(session, result, session->late.after[i],
              "'%s' was named so late that it had been taken to be 0 until then");
}

static bool is_placed_at_start(const struct pt_session *session, const char *variable)
{
    for (uint32_t i = 0; i < session->resolved.var_count; i++) {
        if (strcmp(session->resolved.vars[i].name, variable) == 0)
            return true;
    }
    return false;
}

void pt_doubt_initial(struct pt_session *session, const char *variable, struct pt_value value)
{
    for (uint32_t i = 0; session->resolved.block && i < session->analyse.input_count; i++) {
        const struct pt_analysis_input *input = &session->analyse.inputs[i];
        if (!input->monitor && pt_doubt_names(input, variable) && !is_placed_at_start(session, variable))
            pt_late_missed(&session->late, variable, value);
    }
}

static bool is_named(const struct pt_session *session, const char *variable)
{
    for (uint32_t i = 0; i < session->analyse.input_count; i++) {
        if (pt_doubt_names(&session->analyse.inputs[i], variable))
            return true;
    }
    return false;
}

const char *pt_doubt_foreign(const struct pt_session *session)
{
    uint32_t count;
    uint64_t total;
    const struct pt_channel_foreign *foreign = pt_channel_foreign(session->reader, &count, &total);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = pt_name(&session->names, PT_SPACE_VAR, foreign[i].var);
        if (is_named(session, name))
            return name;
    }
    return total && !count ? "a variable" : NULL;
}

const char *pt_doubt_late(const struct pt_session *session)
{
    return session->late.after_count ? session->late.after[0] : NULL;
}

bool pt_doubt_words(const struct pt_session *session, struct pt_buf *buf)
{
    const char *foreign = pt_doubt_foreign(session), *late = foreign ? NULL : pt_doubt_late(session);
    if (foreign)
        pt_buf_printf(buf, "code that is not instrumented wrote %s", foreign);
    else if (late)
        pt_buf_printf(buf, "%s was named too late for its initial value to count", late);
    return foreign || late;
}
