/*
 * What a thread that has something new to say makes of it: a fact (knowledge.h) with the values of its entry and where
 * they came about, which goes into its clock; and facts about variables that were written.
 *
 * Guarantee: a fact is complete before the clock that carries it is anybody else's. Cost: one allocation from the
 * thread's pool, or none where its ring gives back a fact that nobody has.
 */
#include <string.h>

#include "core/shape.h"
#include "runtime/local/monitor_impl.h"
#include "runtime/shadow/watch.h"

uint32_t pt_monitor_place(uint32_t slot)
{
    return pt_monitor_block->vars.count + slot;
}

void pt_monitor_learn(struct pt_thread *self, struct pt_fact *fact)
{
    bool says = self->local->monitor && fact->place == pt_monitor_place(self->local->monitor->slot);
    struct pt_knows before = pt_monitor_knows(self);
    struct pt_knows knows =
        says ? pt_know_say(&self->shadow.clock, before, fact) : pt_know_learn(&self->shadow.clock, before, fact);
    pt_clock_id clock = pt_clock_next_knows(&self->shadow.clock, knows);
    if (clock)
        pt_shadow_set_clock(&self->shadow, clock);
}

void pt_monitor_clock_changed(struct pt_shadow_self *self, pt_clock_id before)
{
    struct pt_local_monitor *monitor = pt_thread_of(self)->local->monitor;
    struct pt_knows was = pt_clocks[before].knows, is = pt_clocks[self->clock.id].knows;
    pt_know_settle(&self->clock, is.vector);
    if (monitor && (was.vector != is.vector || was.fact != is.fact)) {
        monitor->heard = true;
        self->quiet = false;
    }
}

/* A value whose text, if it is one, stands at *room, which moves on. */
struct pt_value pt_monitor_copy_value(struct pt_value value, char **room)
{
    if (value.kind != PT_VALUE_STRING)
        return value;
    memcpy(*room, value.s, value.len);
    value.s = *room;
    *room += value.len;
    return value;
}

size_t pt_monitor_text_of(struct pt_value value)
{
    return value.kind == PT_VALUE_STRING ? value.len : 0;
}

static size_t text_in(const struct pt_mttl_entry *entry, uint32_t cells)
{
    size_t text = 0;
    for (uint32_t i = 0; i < cells; i++)
        text += pt_monitor_text_of(entry->cells[i]);
    return text;
}

static uint32_t cells_in(size_t bytes)
{
    return (uint32_t)((bytes - sizeof(struct pt_mttl_entry)) / sizeof(struct pt_value));
}

/* By parts, as they were written a moment ago: see set_value. */
static void fill_fact(struct pt_fact *fact, const struct pt_mttl_entry *entry, size_t bytes, uint64_t version,
                      uint64_t state)
{
    char *room = (char *)&fact->entry + bytes;
    fact->entry.slot = entry->slot;
    fact->entry.version = version;
    fact->entry.cap = entry->cap;
    fact->entry.used = entry->used;
    fact->entry.state = state;
    fact->entry.place = 0;
    for (uint32_t i = 0, cells = cells_in(bytes); i < cells; i++)
        fact->entry.cells[i] = pt_monitor_copy_value(entry->cells[i], &room);
    fact->version = version + 1;
}

static void fill_origin(struct pt_origin *from, const struct pt_local_event *what)
{
    from->kind = what->kind;
    from->value_kind = (uint16_t)what->value.kind;
    from->object = what->object;
    if (pt_origin_is_named(what->kind))
        from->name = what->name;
    else
        from->address = what->address;
    from->site = what->site;
    from->value = what->value.u;
}

struct pt_fact *pt_monitor_first_fact(struct pt_thread *self, const struct pt_local_monitor *monitor)
{
    size_t text = text_in(monitor->next, cells_in(monitor->next_bytes));
    struct pt_fact *fact = pt_fact_new(&self->shadow.clock, pt_monitor_place(monitor->slot), monitor->next_bytes, text);
    if (!fact)
        return NULL;
    fill_fact(fact, monitor->next, monitor->next_bytes, 0, 0);
    fact->from = (struct pt_origin){.object = PT_NO_OBJECT};
    return fact;
}

void pt_monitor_written(struct pt_thread *self, uint32_t object)
{
    const struct pt_watched *watched = &pt_watched[object];
    uint32_t var = watched->local - 1;
    if (!watched->local || !(pt_monitor_var(var)->uses & PT_MTTL_USE_VALUE))
        return;
    struct pt_shape shape = {watched->size, watched->type, watched->bit_offset, watched->bit_size};
    struct pt_value value = pt_shape_value(&shape, watched->last);
    struct pt_fact *fact = pt_fact_new(&self->shadow.clock, var, 0, pt_monitor_text_of(value));
    if (!fact)
        return;
    char *room = (char *)&fact->entry;
    /* the access clock was taken, so the last write is known */
    const struct pt_fact *before = pt_know_at(pt_monitor_knows(self), var);
    fact->version = before ? before->version + 1 : 1;
    fact->value = pt_monitor_copy_value(value, &room);
    pt_monitor_learn(self, fact);
}

void pt_monitor_show(struct pt_thread *self, struct pt_local_monitor *monitor, const struct pt_local_event *what)
{
    uint32_t place = pt_monitor_place(monitor->slot);
    const struct pt_fact *last = pt_know_at(pt_monitor_knows(self), place);
    uint64_t version = last ? last->version : 1;
    size_t text = text_in(monitor->next, cells_in(monitor->next_bytes));
    struct pt_fact *fact;
    pt_clock_id clock =
        pt_clock_next_says(&self->shadow.clock, place, monitor->next->cap, monitor->next_bytes, text, &fact);
    if (!clock)
        return; /* recording has stopped */
    fill_fact(fact, monitor->next, monitor->next_bytes, version, self->shadow.states);
    fill_origin(&fact->from, what);
    pt_shadow_say(&self->shadow, clock);
    monitor->known[monitor->slot] = &fact->entry;
}
