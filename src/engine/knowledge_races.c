/*
 * What race_free(*) learns of an access (core/mttl.h): variables, counted by their ids in the trace.
 *
 * A recording has one line for each variable of an access of several (memset, a struct that is assigned), with one
 * clock: lines of a thread with the same operation, place and count of its events. Each line is a state of its own, and
 * races by its own variable; but whoever knows that count knows all of them, so what others hear is the whole access,
 * as it is inside the program (runtime/local/races.c). Lines without clocks are accesses by themselves.
 */
#include "engine/knowledge_impl.h"

enum { MOST_SPANS = 512 }; /* no access of the runtime is cut into more; a longer one counts as several */

static bool is_access(const struct pt_event *event)
{
    return event->op == PT_OP_READ || event->op == PT_OP_WRITE;
}

bool pt_knowledge_continues(struct know_thread *t, const struct pt_event *event, bool counted)
{
    bool goes_on = t->group.open && event->clock && !counted && event->op == t->group.op && event->loc == t->group.loc;
    t->group.lines = goes_on ? t->group.lines + 1 : 0;
    t->group.open = event->clock && is_access(event) && (counted || goes_on);
    t->group.op = event->op;
    t->group.loc = event->loc;
    if (!goes_on || t->group.count == MOST_SPANS)
        t->group.count = 0;
    return goes_on;
}

/* Whether the thread has written the variable before; notes it when this is a write. */
static bool has_written(struct pt_knowledge *k, uint32_t slot, const struct pt_event *event)
{
    uint64_t key = (uint64_t)slot << 32 | event->object;
    if (event->op == PT_OP_WRITE)
        *pt_map64_at(&k->wrote, key) = 1;
    return event->op == PT_OP_WRITE || pt_map64_get(&k->wrote, key) != PT_NONE;
}

/* Variables that were first seen one after the other, as those of a struct are, make one span. */
static void extend(struct pt_knowledge *k, struct know_group *group, struct pt_mttl_span span)
{
    struct pt_mttl_span *last = group->count ? &group->spans[group->count - 1] : NULL;
    if (last && last->access == span.access && last->from + last->size == span.from && last->size < 1 << 29) {
        last->size++;
        return;
    }
    size_t cap = group->cap;
    PT_PUSH(group->spans, group->count, group->cap, span);
    k->bytes += (group->cap - cap) * sizeof span;
}

void pt_knowledge_spans(struct pt_knowledge *k, uint32_t slot, const struct pt_event *event, struct pt_mttl_event *e)
{
    struct know_group *group = &k->threads[slot].group;
    if (has_written(k, slot, event)) {
        k->span = (struct pt_mttl_span){event->object, 1, event->op == PT_OP_WRITE ? PT_MTTL_WROTE : PT_MTTL_READ_OWN};
        e->spans = &k->span;
        e->span_count = 1;
        extend(k, group, k->span);
    }
    e->shown = group->spans;
    e->shown_count = group->count;
    if (group->count > 1) { /* it stays in what others know */
        size_t before = pt_strtab_bytes(&k->accesses);
        uint32_t id = pt_strtab_intern(&k->accesses, (const char *)group->spans, group->count * sizeof k->span);
        e->shown = (const void *)pt_strtab_text(&k->accesses, id);
        k->bytes += pt_strtab_bytes(&k->accesses) - before;
    }
}

void pt_knowledge_pick(const struct pt_mttl_event *mine, struct pt_value shown, struct pt_event *event, uint64_t *state)
{
    struct pt_mttl_span both = {0};
    uint64_t after = 0;
    if (!pt_mttl_next_race(mine, shown, &(uint32_t){0}, &both) || event->object == both.from)
        return;
    uint64_t var = both.from;
    for (uint32_t i = pt_mttl_span_count(shown); i-- > 0;) {
        struct pt_mttl_span span = pt_mttl_span_at(shown, i);
        bool here = var - span.from < span.size;
        after += here ? span.from + span.size - 1 - var : span.size;
        if (here)
            break;
    }
    event->object = (uint32_t)var;
    event->value = (struct pt_value){0};
    if (event->op == PT_OP_WRITE) /* every line is in it; of a read those of variables the thread has written */
        *state -= after;
}
