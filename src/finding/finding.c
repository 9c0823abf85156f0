#include "finding/finding.h"

#include <stdlib.h>

struct pt_finding *pt_finding_new(void)
{
    struct pt_finding *finding = pt_xcalloc(1, sizeof *finding);
    pt_arena_init(&finding->arena);
    return finding;
}

void pt_finding_free(struct pt_finding *finding)
{
    if (!finding)
        return;
    for (uint32_t i = 0; i < finding->more_count; i++)
        pt_finding_free(finding->more[i]);
    free(finding->more);
    pt_arena_release(&finding->arena);
    free(finding);
}

struct pt_finding *pt_finding_add(struct pt_finding *finding)
{
    struct pt_finding *other = pt_finding_new();
    other->property = finding->property;
    other->kind = finding->kind;
    other->text = finding->text;
    other->file = finding->file;
    other->line = finding->line;
    other->verdict = finding->verdict;
    other->how = finding->how;
    other->monitorable = finding->monitorable;
    other->order = finding->order;
    other->at_each = finding->at_each;
    other->complete = true;
    PT_PUSH(finding->more, finding->more_count, finding->more_cap, other);
    return other;
}

void pt_finding_drop(struct pt_finding *finding)
{
    pt_finding_free(finding->more[--finding->more_count]);
}

bool pt_finding_counts(const struct pt_finding *finding)
{
    bool counts = !pt_finding_is_suppressed(finding) || finding->untold;
    for (uint32_t i = 0; i < finding->more_count; i++)
        counts |= !pt_finding_is_suppressed(finding->more[i]);
    return counts && finding->verdict == PT_VERDICT_VIOLATED;
}

const struct pt_step *pt_finding_breaks(const struct pt_finding *finding)
{
    if (finding->witness_count)
        return &finding->witness[finding->witness_count - 1];
    if (finding->within.step)
        return finding->within.step;
    return finding->first.state > 0 ? &finding->first.event : NULL;
}
