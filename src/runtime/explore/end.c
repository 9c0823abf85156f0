/* Ends of controlled runs that are not the program's own, and what it has found itself. */
#include <string.h>

#include "core/found.h"
#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"

struct pt_explore_hooks pt_explore_hooks;

static void describe(uint32_t slot)
{
    struct pt_explore_thread *thread = &pt_run.threads[slot];
    if (pt_run.slots[slot].state != PT_EXPLORE_READY)
        return;
    bool can = pt_explore_has(&pt_run.enabled, slot);
    thread->state = can ? PT_EXPLORE_READY : PT_EXPLORE_BLOCKED;
    thread->owner = pt_object_owner(slot);
}

/* Whoever calls has the turn, or nobody has it: nothing else runs. */
_Noreturn void pt_end(enum pt_explore_end why)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        describe(slot);
    pt_run.result->end = why;
    pt_explore_stop_at_end();
    if (pt_explore_hooks.ends)
        pt_explore_hooks.ends();
    pt_sys_exit(PT_EXPLORE_EXIT);
}

void pt_explore_lost(enum pt_explore_loss loss, const struct pt_site *site)
{
    if (!pt_run.result->losses)
        pt_run.result->lost_place = pt_place_of(site);
    pt_run.result->losses |= 1u << loss;
}

/* What another order might do, other schedules show, where there are any. Threads that are not scheduled may come here
 * at the same time, each to an entry of its own. */
void pt_explore_found(const struct pt_found *found, const char *bytes, size_t len)
{
    if (found->how != PT_FOUND_OBSERVED && !pt_explore_watches())
        return;
    uint32_t index = atomic_fetch_add_explicit(&pt_run.result->found_count, 1, memory_order_relaxed);
    if (index >= pt_run.file->found_max)
        return;
    struct pt_explore_found *entry = PT_EXPLORE_AT(struct pt_explore_found, pt_run.file, found_offset) + index;
    entry->count = 1;
    entry->step = pt_run.result->step_count;
    entry->check = found->check;
    entry->bytes = len < sizeof entry->report ? (uint32_t)len : 0;
    if (entry->bytes)
        memcpy(entry->report, bytes, len);
    atomic_store_explicit(&entry->key, found->key, memory_order_release); /* the process may end before that */
}

void pt_explore_found_again(uint64_t key, uint64_t count)
{
    struct pt_explore_found *entries = PT_EXPLORE_AT(struct pt_explore_found, pt_run.file, found_offset);
    uint32_t there = atomic_load_explicit(&pt_run.result->found_count, memory_order_relaxed);
    for (uint32_t i = 0; i < there && i < pt_run.file->found_max; i++)
        if (atomic_load_explicit(&entries[i].key, memory_order_relaxed) == key)
            entries[i].count = count;
}
