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
    pt_arena_release(&finding->arena);
    free(finding);
}

const struct pt_step *pt_finding_breaks(const struct pt_finding *finding)
{
    if (finding->witness_count)
        return &finding->witness[finding->witness_count - 1];
    if (finding->within.step)
        return finding->within.step;
    return finding->first.state > 0 ? &finding->first.event : NULL;
}
