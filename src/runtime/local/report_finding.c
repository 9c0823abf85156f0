/*
 * Which violations are reported: those that show a finding (core/finding_key.h) which no state of the process has shown
 * before. Keys of findings are kept in a table without locks; a full one takes no more. In front of it stands a
 * table of what was lately looked at, by pointers, so that a block that is disturbed in a loop costs a comparison and
 * no text.
 */
#include <string.h>

#include "core/finding_key.h"
#include "runtime/found/suppressed.h"
#include "runtime/found/verdict.h"
#include "runtime/local/report_impl.h"
#include "runtime/sys/log.h"

enum { REPORTED = 1 << 13, LATELY = 1 << 9, PROBES = 64 };
static _Atomic uint64_t reported[REPORTED], lately[LATELY];

/* A side of what was found, in words. */
struct side {
    struct pt_line object, place;
};

struct search {
    struct pt_thread *self;
    const struct pt_mttl_view *view;
    const struct pt_local_event *what;
    uint32_t property;
    struct pt_new_findings *found;
    bool any;
};

void pt_report_restart(void)
{
    memset((void *)reported, 0, sizeof reported);
    memset((void *)lately, 0, sizeof lately);
}

static uint64_t mix(uint64_t value, uint64_t more)
{
    value = (value ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

static void put_side(struct side *side, const struct pt_local_event *what)
{
    side->object.len = side->place.len = 0;
    pt_report_put_object(&side->object, what);
    pt_report_put_place(&side->place, what);
}

static struct pt_local_event other_side(const struct pt_mttl_entry *entry)
{
    const struct pt_fact *fact = (const void *)((const char *)entry - offsetof(struct pt_fact, entry));
    return pt_report_event(&fact->from);
}

static bool matches(const struct search *s, const char *thread, const struct side *side)
{
    const struct pt_mttl_property *property = pt_report_property(s->property);
    return pt_suppressed_matches(pt_report_string(property->name), pt_report_string(property->text), thread,
                                 side->object.text, side->place.text);
}

static bool is_suppressed(const struct search *s, const struct side *own, const struct side *other, uint32_t slot,
                          const char *block)
{
    struct side named = {.object.len = 0};
    if (!pt_suppressed_any())
        return false;
    pt_line_text(&named.object, block);
    named.object.text[named.object.len] = 0;
    return matches(s, pt_monitor_slot_name(s->view->self), own) || matches(s, pt_monitor_slot_name(slot), other) ||
           matches(s, "", &named);
}

/* False: it was there, or there is no room. */
static bool add(uint64_t number)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&reported[(number + i) % REPORTED], &there, number))
            return true;
        if (there == number)
            return false;
    }
    return false;
}

static void take(struct search *s, uint64_t number, bool suppressed, uint32_t lookup, uint32_t slot)
{
    s->found->suppressed &= suppressed;
    if (suppressed && !pt_verdict_is_observed()) /* an observer suppresses it itself, and says so */
        return;
    if (s->found->count < PT_FINDINGS_AT_STATE && add(mix(mix(number, s->property), suppressed) | 1))
        s->found->list[s->found->count++] = (struct pt_new_finding){lookup, slot};
}

/* What pointers say of it, without its lowest bit. */
static uint64_t pointers_of(const struct search *s, const struct pt_local_event *from, const char *block, uint32_t slot)
{
    uint64_t key = mix(mix(mix(s->property + 1, (uintptr_t)s->what->site), s->what->object), (uintptr_t)from->site);
    key = mix(mix(mix(mix(key, from->object), (uintptr_t)block), slot), s->view->self);
    return (key | 2) & ~UINT64_C(1);
}

static void note_finding(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                         struct pt_value value)
{
    struct search *s = context;
    struct pt_mttl_thread *memory = s->self->local->monitor->memory;
    if (!pt_mttl_is_for_finding(pt_monitor_block, lookup) || slot == s->view->self || !entry || !entry->version ||
        !pt_mttl_is_worth_reporting(pt_monitor_block, memory, lookup, value))
        return;
    const char *block = pt_mttl_disturbed(pt_monitor_block, memory, lookup, value);
    struct pt_local_event from = other_side(entry);
    uint64_t pointers = pointers_of(s, &from, block, slot);
    _Atomic uint64_t *place = &lately[pointers / 2 % LATELY];
    uint64_t last = atomic_load_explicit(place, memory_order_relaxed);
    s->any = true;
    if ((last & ~UINT64_C(1)) == pointers) {
        s->found->suppressed &= last & 1;
        return;
    }
    struct side own, other;
    put_side(&own, s->what);
    put_side(&other, &from);
    bool suppressed = is_suppressed(s, &own, &other, slot, block);
    uint64_t number = pt_finding_key_block(block, pt_monitor_slot_name(s->view->self), pt_monitor_slot_name(slot));
    take(s, number, suppressed, lookup, slot);
    atomic_store_explicit(place, pointers | suppressed, memory_order_relaxed);
}

void pt_report_find(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                    const struct pt_local_event *what, struct pt_new_findings *ret_found)
{
    struct search search = {.self = self, .view = view, .what = what, .property = property, .found = ret_found};
    struct side nothing = {.object.len = 0};
    ret_found->count = 0;
    ret_found->suppressed = true;
    if (what && pt_monitor_has_findings())
        pt_mttl_explain(pt_monitor_block, view, self->local->monitor->memory, self->local->monitor->next, property,
                        note_finding, &search);
    if (!search.any) /* only property:NAME is about it */
        take(&search, PT_FINDING_PLAIN, pt_suppressed_any() && matches(&search, "", &nothing), PT_MTTL_NONE,
             PT_MTTL_NONE);
}
