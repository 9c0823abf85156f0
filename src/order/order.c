#include "order/order.h"

#include <stdlib.h>

#include "base/mem.h"

void pt_relation_init(struct pt_relation *r, const struct pt_order_kind *kind)
{
    *r = (struct pt_relation){.kind = kind, .rules = kind->rules_new ? kind->rules_new() : NULL};
}

void pt_relation_release(struct pt_relation *r)
{
    if (r->rules)
        r->kind->rules_free(r->rules);
    free(r->threads);
    *r = (struct pt_relation){0};
}

void pt_relation_thread(struct pt_relation *r, uint32_t thread)
{
    PT_PUSH(r->threads, r->thread_count, r->thread_cap, thread);
}

bool pt_relation_enabled(const struct pt_relation *r, const uint32_t *counts, const struct pt_cut_event *e)
{
    if (counts[e->column] != e->index - 1)
        return false;
    for (uint32_t c = 0; c < r->thread_count; c++)
        if (pt_relation_needs(r, e, c) > counts[c])
            return false;
    return pt_relation_by_needs(r) || r->kind->allows(r->rules, counts, e);
}

struct pt_reason pt_relation_reason(const struct pt_relation *r, const struct pt_cut_event *earlier,
                                    const struct pt_cut_event *later)
{
    struct pt_act a = {r->threads[earlier->column], earlier->object, earlier->op},
                  b = {r->threads[later->column], later->object, later->op};
    struct pt_reason reason = {r->kind->depends(&a, &b), pt_relation_needs(r, later, earlier->column), earlier->index};
    if (pt_relation_by_needs(r) && !pt_reason_needed(reason))
        reason.link = PT_LINK_NONE; /* clocks that the trace gives are the order, whatever the accesses are */
    return reason;
}
