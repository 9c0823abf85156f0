/*
 * race_free(*): what a thread shows of its access, and whether two accesses race. One span is an integer, several are
 * the bytes of a string, at any address. A thread that accesses nothing shows the integer 0, which has none.
 *
 * Guarantee: two accesses race here exactly if the paper's formula says so of a byte that both have. Cost: one
 * comparison for each pair of spans; ending the accesses of a joined thread looks at each lookup once per unit.
 */
#include <string.h>

#include "core/mttl_impl.h"

struct pt_value pt_mttl_shown_access(const struct pt_mttl_event *event)
{
    const struct pt_mttl_span *spans = event->shown;
    if (event->shown_count > 1)
        return pt_value_string((const char *)spans, event->shown_count * (uint32_t)sizeof *spans);
    if (event->shown_count == 0)
        return pt_value_int(0);
    return (struct pt_value){.kind = PT_VALUE_INT, .len = spans->size << 2 | spans->access, .u = spans->from};
}

uint32_t pt_mttl_span_count(struct pt_value shown)
{
    return shown.kind == PT_VALUE_STRING ? shown.len / (uint32_t)sizeof(struct pt_mttl_span) : shown.len != 0;
}

struct pt_mttl_span pt_mttl_span_at(struct pt_value shown, uint32_t index)
{
    struct pt_mttl_span span = {shown.u, shown.len >> 2, shown.len & 3};
    if (shown.kind == PT_VALUE_STRING)
        memcpy(&span, shown.s + index * sizeof span, sizeof span);
    return span;
}

/* The paper's three conjuncts (section 3), for what the present event accesses. */
bool pt_mttl_next_race(const struct pt_mttl_event *event, struct pt_value theirs, uint32_t *at,
                       struct pt_mttl_span *ret_both)
{
    uint32_t count = event->span_count ? pt_mttl_span_count(theirs) * event->span_count : 0;
    while (*at < count) {
        const struct pt_mttl_span *mine = &event->spans[*at % event->span_count];
        struct pt_mttl_span their = pt_mttl_span_at(theirs, (*at)++ / event->span_count);
        uint64_t mine_to = mine->from + mine->size, their_to = their.from + their.size;
        uint64_t from = mine->from > their.from ? mine->from : their.from, to = mine_to < their_to ? mine_to : their_to;
        if (from < to && (mine->access == PT_MTTL_WROTE || their.access == PT_MTTL_WROTE)) {
            *ret_both = (struct pt_mttl_span){from, (uint32_t)(to - from), their.access};
            return true;
        }
    }
    return false;
}

static bool several_race(const struct pt_mttl_event *event, struct pt_value theirs)
{
    struct pt_mttl_span both;
    return pt_mttl_next_race(event, theirs, &(uint32_t){0}, &both);
}

/* Nearly always of one span each. */
bool pt_mttl_races(const struct pt_mttl_event *event, struct pt_value theirs)
{
    const struct pt_mttl_span *mine = event->spans;
    if (event->span_count > 1 || theirs.kind == PT_VALUE_STRING)
        return several_race(event, theirs);
    uint32_t size = theirs.len >> 2, access = theirs.len & 3; /* 0: none */
    return event->span_count && (mine->access == PT_MTTL_WROTE || access == PT_MTTL_WROTE) &&
           mine->from < theirs.u + size && theirs.u < mine->from + mine->size;
}

bool pt_mttl_races_with_none(const struct pt_mttl_view *view, struct pt_mttl_cells cells)
{
    for (uint32_t slot = 0; view->event.span_count && slot < view->known_count; slot++) {
        const struct pt_mttl_entry *entry = slot == view->self ? NULL : view->known[slot];
        if (entry && pt_mttl_races(&view->event, entry->cells[pt_mttl_cells_at(cells, entry->cap)]))
            return false;
    }
    return true;
}

bool pt_mttl_access_of(const struct pt_mttl *m, const struct pt_mttl_view *view, uint32_t slot,
                       struct pt_value *ret_shown)
{
    const struct pt_mttl_entry *entry = slot < view->known_count && slot != view->self ? view->known[slot] : NULL;
    for (uint32_t u = 0; entry && u < m->units.count; u++) {
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(m, u);
        if (unit->kind != PT_MTTL_ACCESS || (unit->self != PT_MTTL_ANY && unit->self != slot))
            continue;
        *ret_shown = entry->cells[pt_mttl_cell_of(unit, (const uint32_t[PT_MTTL_PARAMS]){0}, entry->cap)];
        return true;
    }
    return false;
}

/* Whether the unit is asked for by race_free alone. */
static bool is_for_races(const struct pt_mttl *m, uint32_t unit)
{
    for (uint32_t i = 0; i < m->lookups.count; i++) {
        const struct pt_mttl_lookup *lookup = pt_mttl_at(m, lookups, struct pt_mttl_lookup, i);
        if (lookup->unit == unit && strcmp(pt_mttl_string(m, lookup->text), PT_MTTL_TEXT_RACES) == 0)
            return true;
    }
    return false;
}

bool pt_mttl_end_accesses(const struct pt_mttl *m, struct pt_mttl_entry *entry)
{
    bool any = false;
    for (uint32_t u = 0; u < m->units.count; u++) {
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(m, u);
        if ((unit->self != PT_MTTL_ANY && unit->self != entry->slot) || !is_for_races(m, u))
            continue;
        struct pt_value none = unit->kind == PT_MTTL_ACCESS ? pt_value_int(0) : pt_value_bool(false);
        uint64_t cell = pt_mttl_first_cell(unit, entry->cap), count = 1;
        for (uint32_t k = 0; k < unit->params; k++)
            count *= entry->cap;
        for (; count > 0; count--, cell++) {
            any |= entry->cells[cell].u != none.u || entry->cells[cell].len != none.len;
            entry->cells[cell] = none;
        }
    }
    return any;
}
