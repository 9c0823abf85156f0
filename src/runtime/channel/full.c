/*
 * What is recorded of threads in full (full.h), as records: which of them are, and of each event its kind, object and
 * memory.
 *
 * Guarantee: an event is counted in clocks where these are the order; what only races are looked for by, the beginning
 * and end of memory, is recorded where they are not. Cost: a record for each event, with up to MOST_MEMORY bytes.
 */
#include "runtime/channel/full.h"

#include "core/calls.h"
#include "runtime/channel/emit.h"
#include "runtime/sys/module.h"

enum { MOST_MEMORY = 512 }; /* bytes of an access that are recorded with it; copies go in pieces of this size */

static bool starts_with(const struct pt_thread *thread, const struct pt_start *start)
{
    const char *module = start->module ? (const char *)pt_runtime_config() + start->module : "";
    uint64_t base;
    if (start->offset == PT_START_MAIN)
        return pt_thread_number(thread) == 0;
    return thread->runs && pt_module_find(module, &base) && thread->runs == base + start->offset;
}

bool pt_full_wanted(const struct pt_thread *thread)
{
    const struct pt_start *starts = (const void *)((const char *)pt_runtime_config() + pt_runtime_config()->starts);
    bool wanted = pt_keeps & PT_KEEP_ALL;
    for (uint32_t i = 0; i < pt_runtime_config()->start_count && !wanted && pt_keeps & PT_KEEP_THREADS; i++)
        wanted = starts_with(thread, &starts[i]);
    return wanted;
}

bool pt_full_count(struct pt_thread *self)
{
    bool counted = !(pt_keeps & PT_KEEP_ALL) || pt_keeps & PT_KEEP_CLOCKS;
    if (counted)
        pt_shadow_tick(&self->shadow);
    return counted;
}

void pt_full_access(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address,
                    size_t size)
{
    bool counted = pt_full_count(self);
    pt_emit_access(self, kind, site, (struct pt_access){address, size}, size <= MOST_MEMORY ? size : 0, counted);
}

void pt_full_watched(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uint32_t object,
                     const void *value, struct pt_access variable)
{
    bool counted = pt_full_count(self);
    const struct pt_locked_range *range = self->shadow.locked;
    uint64_t end = variable.address + variable.size;
    uint64_t from = range && range->from > variable.address ? range->from : variable.address;
    uint64_t to = range && range->to < end ? range->to : end;
    uint32_t bytes = (uint32_t)variable.size;
    struct pt_part part = {(uint32_t)(from - variable.address), (uint32_t)(to - variable.address)};
    if (from >= to || to - from == variable.size)
        pt_emit_event(self, kind, object, site, value, bytes, counted);
    else
        pt_emit_part(self, kind, object, site, value, bytes, counted, part);
}

void pt_full_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site)
{
    bool counted = pt_full_count(self);
    pt_emit_fence(self, order, site, counted);
}

void pt_full_sync(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uintptr_t address)
{
    bool counted = pt_full_count(self);
    pt_emit_access(self, kind, site, (struct pt_access){address, 4}, 0, counted);
}

void pt_full_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site, uint32_t other)
{
    bool counted = pt_full_count(self);
    pt_emit_event(self, kind, other, site, "", 0, counted);
}

/* Of free and the like it is the call itself. */
static const struct pt_site *innermost_call(void)
{
    const struct pt_calls *calls = &__portent_calls;
    return calls->depth ? pt_calls_at(calls, calls->depth - 1) : NULL;
}

/* Of a thread that evaluates properties the events are those that make a state of it: memory is none of them. */
static bool records_memory(const struct pt_thread *self)
{
    return pt_runtime_records_memory() && !self->shadow.steps;
}

void pt_full_freed(struct pt_thread *self, uintptr_t from, uintptr_t to, unsigned ends)
{
    if (from >= to)
        return;
    struct pt_access memory = {from, to - from};
    if (ends & PT_MEMORY_WRITTEN && records_memory(self))
        pt_emit_access(self, PT_KIND_FREE, innermost_call(), memory, 0, false);
    if (ends & PT_MEMORY_FORGOTTEN)
        pt_emit_access(self, PT_KIND_FREED, NULL, memory, 0, false);
}

void pt_full_allocated(struct pt_thread *self, uintptr_t from, size_t size, const struct pt_site *site)
{
    if (size && records_memory(self))
        pt_emit_access(self, PT_KIND_ALLOC, site, (struct pt_access){from, size}, 0, false);
}

static void report(void *context, const char *file, uint64_t base, uint64_t low, uint64_t high)
{
    pt_emit_module(context, file, base, low, high);
}

void pt_full_modules(struct pt_thread *self)
{
    pt_module_each(report, self);
}
