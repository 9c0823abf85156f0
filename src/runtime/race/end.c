/*
 * The end of memory: a write of all of it, after which nothing is known of it.
 *
 * Guarantee: every access that is not ordered before it is reported, as with any write. Cost: a look at each granule
 * of pages that were used, and a lock of each that has slots.
 */
#include "runtime/race/log.h"
#include "runtime/race/window.h"

enum {
    FREES = PT_RACE_WRITE | PT_RACE_OP_FREE << PT_RACE_OP_AT,
    STACK = PT_RACE_WRITE | PT_RACE_OP_STACK << PT_RACE_OP_AT
};

struct forgetting {
    struct pt_race_step access;
    bool is_access; /* or else it was one before */
};

/* Whether all that the slots of a granule that is locked say, or its list, comes before what the thread does next. */
static bool is_known(const struct pt_race_self *self, struct pt_race_granule *there, uint64_t first)
{
    if (first & PT_RACE_OWN)
        return pt_race_many_is_known(self, first);
    for (unsigned i = 0; first && pt_race_knows(self, first); first = pt_race_get(pt_race_slot_at(there, i)))
        if (++i == PT_RACE_SLOTS)
            return true;
    return !first;
}

static void clear(struct pt_race_granule *there)
{
    for (unsigned i = 1; i < PT_RACE_SLOTS && pt_race_get(pt_race_slot_at(there, i)); i++)
        pt_race_put(pt_race_slot_at(there, i), 0);
}

/* A granule that is locked, with this first slot: what becomes of that. */
static uint64_t end_granule(struct pt_race_self *self, struct pt_race_granule *there, uintptr_t granule, uint64_t first,
                            struct forgetting *f)
{
    bool whole = f->access.cell.bytes == PT_CELL_WHOLE;
    bool has_cell = first & PT_RACE_OWN && !((uint32_t)first & PT_RACE_MANY);
    if (!has_cell && (!f->is_access || is_known(self, there, first))) {
        if (!whole)
            return first;
        if (first & PT_RACE_OWN)
            pt_race_many_end(self, first);
        clear(there);
        return 0;
    }
    uint32_t own = pt_race_open(self, there, granule, first);
    if (f->is_access) {
        f->access.cell.place = pt_race_place_of(f->access.site);
        pt_cell_check(&self->env, &pt_race_cells[own].cell, &self->hb, &f->access.cell);
    }
    if (self->met_count)
        pt_race_fill_in(self, &f->access);
    if (!whole)
        return pt_race_word_made(own);
    pt_race_cell_free(self, own);
    return 0;
}

static void end_page(struct pt_race_self *self, struct pt_race_leaf *leaf, uintptr_t page, uintptr_t from, uintptr_t to,
                     struct forgetting *f)
{
    uintptr_t granule = page > from ? page : from & ~(uintptr_t)7, end = page + 4096 < to ? page + 4096 : to;
    for (; granule < end; granule += 8) {
        struct pt_race_granule *there = pt_race_granule_in(leaf, granule);
        pt_race_fetch(there);
        if (!pt_race_get(&there->near[0])) /* slots come into use in their order */
            continue;
        f->access.cell.bytes = pt_race_bytes_in(granule, from, to);
        uint64_t first = pt_race_lock_word(&there->near[0]);
        /* of fewer slots none was replaced */
        if (f->access.cell.bytes == PT_CELL_WHOLE &&
            (first & PT_RACE_OWN ||
             (pt_race_get(&there->near[1]) && pt_race_get(pt_race_slot_at(there, PT_RACE_SLOTS - 1)))))
            pt_race_lose_replaced(granule);
        pt_race_unlock_word(&there->near[0], end_granule(self, there, granule, first, f));
        if (self->met_count)
            pt_race_report(self, granule, &f->access.cell);
    }
}

static void forget(struct pt_race_self *self, uintptr_t from, uintptr_t to, bool is_access, unsigned kind,
                   const struct pt_site *site)
{
    if (!pt_race_is_address(from, to))
        return;
    if (is_access)
        pt_race_window_enter(self);
    struct forgetting f = {.access = pt_race_step_of(kind, site), .is_access = is_access};
    for (uintptr_t page = from & ~(uintptr_t)4095; page < to; page += 4096) {
        struct pt_race_leaf *leaf = pt_race_leaf_of(page);
        if (!leaf) {
            page = (page | ((1u << PT_RACE_LEAF_BITS) - 1)) - 4095; /* on to the next leaf */
            continue;
        }
        if (pt_race_is_used(leaf, page))
            end_page(self, leaf, page, from, to, &f);
    }
    pt_race_sync_forget(self, from, to);
    pt_race_freed(from);
}

void pt_race_forget(struct pt_race_self *self, uintptr_t from, uintptr_t to, const struct pt_site *site)
{
    forget(self, from, to, true, FREES, site);
}

void pt_race_forget_stack(struct pt_race_self *self, uintptr_t from, uintptr_t to)
{
    forget(self, from, to, true, STACK, NULL);
}

void pt_race_free(struct pt_race_self *self, uintptr_t from, uintptr_t to, const struct pt_site *site)
{
    pt_race_window_enter(self);
    pt_race_access(self, from, to - from, FREES, site);
}

void pt_race_discard(struct pt_race_self *self, uintptr_t from, uintptr_t to)
{
    forget(self, from, to, false, FREES, NULL);
}
