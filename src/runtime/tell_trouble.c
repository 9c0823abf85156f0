/*
 * Which violations are told: those that show a trouble (core/trouble.h) which no state of the process has shown before.
 * Numbers of troubles are kept in a table without locks; a full one tells nothing more. In front of it stands a table
 * of what was lately looked at, by pointers, so that a race in a loop costs a comparison and no text.
 */
#include "core/trouble.h"
#include "runtime/log.h"
#include "runtime/tell_impl.h"

enum { TOLD = 1 << 11, LATELY = 1 << 9, PROBES = 32 };
static _Atomic uint64_t told[TOLD], lately[LATELY];

/* A side of what was found, in words. */
struct side {
    struct pt_line object, place;
};

struct search {
    struct pt_thread *self;
    const struct pt_mttl_view *view;
    const struct pt_happening *what;
    uint32_t property;
    bool found;
};

static uint64_t mix(uint64_t value, uint64_t more)
{
    value = (value ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

static void put_side(struct side *side, const struct pt_happening *what)
{
    side->object.len = side->place.len = 0;
    pt_tell_put_object(&side->object, what);
    pt_tell_put_place(&side->place, what);
}

static struct pt_happening other_side(const struct pt_mttl_entry *entry)
{
    const struct pt_fact *fact = (const void *)((const char *)entry - offsetof(struct pt_fact, entry));
    return pt_tell_happening(&fact->from);
}

/* Of what the property asked of others: whether it is a race or a disturbed block, with an event behind it. */
static bool is_trouble(const struct search *s, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                       struct pt_value value)
{
    const struct pt_mttl_lookup *l = pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, lookup);
    return pt_tell_string(l->text)[0] != '@' && slot != s->view->self && entry && entry->version > 0 &&
           pt_tell_is_worth(s->view, s->self->local->memory, lookup, value);
}

static bool was_looked_at(const struct search *s, const struct pt_happening *from, const char *block, uint32_t slot)
{
    uint64_t key = mix(mix(mix(s->property + 1, (uintptr_t)s->what->site), s->what->object), (uintptr_t)from->site);
    key = mix(mix(key, from->object), (uintptr_t)block);
    if (block)
        key = mix(mix(key, slot), s->view->self);
    _Atomic uint64_t *place = &lately[key % LATELY];
    if (atomic_load_explicit(place, memory_order_relaxed) == key)
        return true;
    atomic_store_explicit(place, key, memory_order_relaxed);
    return false;
}

/* False: it was there, or there is no room. */
static bool add(uint64_t number)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&told[(number + i) % TOLD], &there, number))
            return true;
        if (there == number)
            return false;
    }
    return false;
}

static void note_trouble(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                         struct pt_value value)
{
    struct search *s = context;
    if (!is_trouble(s, lookup, slot, entry, value))
        return;
    const char *block = pt_mttl_disturbed(pt_monitor_block, s->self->local->memory, lookup, value);
    struct pt_happening from = other_side(entry);
    if (was_looked_at(s, &from, block, slot))
        return;
    uint64_t number;
    if (block) {
        number = pt_trouble_block(block, pt_monitor_name(s->view->self), pt_monitor_name(slot));
    } else {
        struct side own, other;
        put_side(&own, s->what);
        put_side(&other, &from);
        number = pt_trouble_race((struct pt_trouble_side){own.place.text, own.object.text},
                                 (struct pt_trouble_side){other.place.text, other.object.text});
    }
    s->found |= add(mix(number, s->property) | 1);
}

bool pt_tell_is_new(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                    const struct pt_happening *what)
{
    struct search search = {.self = self, .view = view, .what = what, .property = property};
    if (!what || !pt_monitor_has_troubles())
        return false;
    pt_mttl_explain(pt_monitor_block, view, self->local->memory, self->local->next, property, note_trouble, &search);
    return search.found;
}

/* --- suppressions --- */

static bool matches(const struct search *s, const char *thread, const char *object, const char *place)
{
    const struct pt_mttl_property *property = pt_tell_property(s->property);
    return pt_suppressed_matches(pt_tell_string(property->name), pt_tell_string(property->text), thread, object, place);
}

static void match_other(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                        struct pt_value value)
{
    struct search *s = context;
    if (s->found || !is_trouble(s, lookup, slot, entry, value))
        return;
    const char *block = pt_mttl_disturbed(pt_monitor_block, s->self->local->memory, lookup, value);
    struct pt_happening from = other_side(entry);
    struct side other;
    put_side(&other, &from);
    s->found =
        matches(s, pt_monitor_name(slot), other.object.text, other.place.text) || (block && matches(s, "", block, ""));
}

bool pt_tell_is_suppressed(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                           const struct pt_happening *what)
{
    struct search search = {.self = self, .view = view, .what = what, .property = property};
    struct side own = {.object.len = 0};
    if (!pt_suppressed_any())
        return false;
    if (what)
        put_side(&own, what);
    if (matches(&search, pt_monitor_name(self->local->slot), own.object.text, own.place.text))
        return true;
    if (what)
        pt_mttl_explain(pt_monitor_block, view, self->local->memory, self->local->next, property, match_other, &search);
    return search.found;
}
