#include "finding/finding.h"

#include <stdlib.h>

#include "finding/blocks.h"

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
    other->builtin = finding->builtin;
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
    if (finding->side_count)
        return &finding->sides[0].step;
    if (finding->witness_count)
        return &finding->witness[finding->witness_count - 1];
    if (finding->within.step)
        return finding->within.step;
    return finding->first.state > 0 ? &finding->first.event : NULL;
}

enum pt_verdict pt_result_verdict(const struct pt_result *result)
{
    bool seen[] = {[PT_VERDICT_ERROR] = false, [PT_VERDICT_UNKNOWN] = result->torn};
    for (uint32_t i = 0; i < result->count; i++) {
        const struct pt_finding *finding = result->findings[i];
        if (finding->verdict != PT_VERDICT_VIOLATED || pt_finding_counts(finding))
            seen[finding->verdict] = true;
    }
    for (uint32_t i = 0; result->blocks && i < result->blocks->count; i++) {
        const struct pt_block_finding *block = &result->blocks->items[i];
        if (!block->suppressed && !block->known)
            seen[block->verdict] = true;
    }
    if (result->blocks && result->blocks->message)
        seen[PT_VERDICT_UNKNOWN] = true;
    return seen[PT_VERDICT_ERROR]      ? PT_VERDICT_ERROR
           : seen[PT_VERDICT_VIOLATED] ? PT_VERDICT_VIOLATED
           : seen[PT_VERDICT_UNKNOWN]  ? PT_VERDICT_UNKNOWN
                                       : PT_VERDICT_HOLDS;
}
