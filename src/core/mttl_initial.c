/* State 0 of all threads, which is what is known of a thread of which nothing is known; and the plan beside it. */
#include <string.h>

#include "core/mttl_run.h"

static struct pt_mttl_entry *initial_entry(struct pt_mttl_initial *initial, uint32_t slot)
{
    return (void *)((char *)initial->entries + slot * initial->entry_bytes);
}

/* State 0 of one thread, in which the other threads are as the table has them so far; true when a cell has changed. */
static bool fill_slot(const struct pt_mttl *m, const struct pt_value *values, struct pt_mttl_thread *thread,
                      struct pt_mttl_initial *initial, uint32_t slot)
{
    struct pt_mttl_view view = {.self = slot,
                                .event = {.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE},
                                .values = values,
                                .used = m->threads.count,
                                .initial = initial,
                                .changed = PT_MTTL_ALL};
    pt_mttl_thread_init(m, thread, slot, initial->cap);
    struct run r;
    pt_mttl_begin(&r, m, &view, thread, initial_entry(initial, slot));
    r.filling = true;
    pt_mttl_fill_units(&r);
    return r.moved;
}

/*
 * An export that asks about no other thread is right after the first pass, one that asks about such exports after the
 * second, and so on: as many passes as @ are nested, and one in which nothing changes.
 */
void pt_mttl_initial_fill(const struct pt_mttl *m, const struct pt_value *values, void *scratch,
                          struct pt_mttl_initial *ret_initial)
{
    uint32_t cap = pt_mttl_initial_cap(m);
    uint64_t entry_bytes = pt_mttl_entry_size(m, cap);
    memset(ret_initial, 0, sizeof *ret_initial);
    memset(ret_initial->entries, 0, cap * entry_bytes);
    ret_initial->cap = cap;
    ret_initial->entry_bytes = entry_bytes;
    ret_initial->plan = pt_mttl_plan_make(m, (char *)ret_initial->entries + cap * entry_bytes);
    for (uint32_t slot = 0; slot < cap; slot++)
        initial_entry(ret_initial, slot)->cap = cap;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t slot = 0; slot < cap; slot++)
            moved |= fill_slot(m, values, scratch, ret_initial, slot);
    }
}
