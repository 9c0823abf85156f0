/*
 * Several results as one: the same violation, by its id, is kept once with a count; a property that was violated
 * somewhere is violated, whatever other results say of it.
 */
#include <stdlib.h>
#include <string.h>

#include "report/result.h"

static struct pt_finding *find(const struct pt_result *result, const struct pt_finding *finding)
{
    struct pt_finding_id id = pt_finding_id(finding);
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *candidate = result->findings[i];
        if (candidate->verdict != finding->verdict || strcmp(candidate->property, finding->property) != 0)
            continue;
        if (finding->verdict != PT_VERDICT_VIOLATED || strcmp(id.text, pt_finding_id(candidate).text) == 0)
            return candidate;
    }
    return NULL;
}

static bool is_violated(const struct pt_result *result, const char *property)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (result->findings[i]->verdict == PT_VERDICT_VIOLATED && strcmp(result->findings[i]->property, property) == 0)
            return true;
    return false;
}

/* Drops what is said of a property beside its violations. */
static void drop_others(struct pt_result *result)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *finding = result->findings[i];
        if (finding->verdict == PT_VERDICT_VIOLATED || !is_violated(result, finding->property))
            result->findings[kept++] = finding;
        else
            pt_finding_free(finding);
    }
    result->count = kept;
}

void pt_loaded_merge(struct pt_loaded *into, struct pt_loaded *from)
{
    struct pt_result *a = &into->result, *b = &from->result;
    a->findings = pt_xrealloc(a->findings, ((size_t)a->count + b->count + 1) * sizeof *a->findings);
    for (uint32_t i = 0; i < b->count; i++) {
        struct pt_finding *finding = b->findings[i], *same = find(a, finding);
        if (same) {
            same->times = (same->times ? same->times : 1) + (finding->times ? finding->times : 1);
            same->suppressed = finding->suppressed ? same->suppressed : NULL; /* it counts if it does anywhere */
            same->known &= finding->known;
            pt_finding_free(finding);
        } else {
            a->findings[a->count++] = finding;
        }
    }
    b->count = 0;
    drop_others(a);
    a->events += b->events;
    a->threads = a->threads > b->threads ? a->threads : b->threads;
}
