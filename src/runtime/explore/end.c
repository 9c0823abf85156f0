/* Ends of controlled runs that are not the program's own, and what it has found itself. */
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

void pt_explore_found(unsigned check, uint64_t key)
{
    struct pt_explore_result *result = pt_run.result;
    result->found |= 1u << check;
    if (result->found_count < PT_EXPLORE_FOUND_KEYS)
        result->found_keys[result->found_count] = key;
    result->found_count++;
}
