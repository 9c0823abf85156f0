/* Built-in checks side by side: each sees every event, and what they found is put behind what the result has. */
#include "engine/check.h"

#include <stdlib.h>
#include <string.h>

struct pt_checks {
    struct check {
        const struct pt_check_kind *kind;
        void *state;
    } * items;
    uint32_t count;
    struct pt_finding **findings; /* the result's and ours */
};

struct pt_checks *pt_checks_new(const struct pt_check_kind *const *kinds, uint32_t count, const struct pt_names *names,
                                const struct pt_check_options *options)
{
    struct pt_checks *checks = pt_xcalloc(1, sizeof *checks);
    checks->items = pt_xcalloc((size_t)count + 1, sizeof *checks->items);
    checks->count = count;
    for (uint32_t i = 0; i < count; i++)
        checks->items[i] = (struct check){kinds[i], kinds[i]->begin(names, options)};
    return checks;
}

void pt_checks_free(struct pt_checks *checks)
{
    if (!checks)
        return;
    for (uint32_t i = 0; i < checks->count; i++)
        checks->items[i].kind->free(checks->items[i].state);
    free(checks->items);
    free(checks->findings);
    free(checks);
}

enum pt_status pt_checks_event(struct pt_checks *checks, const struct pt_event *event, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < checks->count && status == PT_OK; i++)
        status = checks->items[i].kind->event(checks->items[i].state, event, err);
    return status;
}

enum pt_status pt_check_events(const struct pt_check_kind *kind, void *check, const struct pt_event *events,
                               uint32_t count, uint32_t *ret_taken, struct pt_err *err)
{
    if (kind->events)
        return kind->events(check, events, count, ret_taken, err);
    enum pt_status status = PT_OK;
    for (*ret_taken = 0; *ret_taken < count; ++*ret_taken)
        if ((status = kind->event(check, &events[*ret_taken], err)) != PT_OK)
            break;
    return status;
}

/* A check that comes later is given what those before it have taken, so that of two refusals the earlier event's, and
 * of the same event the earlier check's, is the one that is told. */
enum pt_status pt_checks_events(struct pt_checks *checks, const struct pt_event *events, uint32_t count,
                                struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < checks->count; i++) {
        struct pt_err refusal;
        enum pt_status now =
            pt_check_events(checks->items[i].kind, checks->items[i].state, events, count, &count, &refusal);
        if (now == PT_OK)
            continue;
        status = now;
        *err = refusal;
    }
    return status;
}

void pt_checks_finish(struct pt_checks *checks, const char *lost, struct pt_result *result)
{
    checks->findings = pt_xcalloc((size_t)result->count + checks->count + 1, sizeof(struct pt_finding *));
    if (result->count)
        memcpy(checks->findings, result->findings, result->count * sizeof(struct pt_finding *));
    result->findings = checks->findings;
    for (uint32_t i = 0; i < checks->count; i++) {
        struct pt_check_found found = checks->items[i].kind->finish(checks->items[i].state, lost);
        if (found.finding)
            result->findings[result->count++] = found.finding;
        if (found.blocks)
            result->blocks = found.blocks;
    }
}
