/*
 * The end of memory: a write of all of it, after which nothing is known of it.
 *
 * Guarantee: every access that is not ordered before it is reported, as with any write. Cost: a look at each granule
 * of pages that were used.
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

/* Whether all that slots say comes before what the thread does next. */
static bool is_known(const struct pt_race_self *self, uint64_t w, uint64_t r)
{
    if (w & PT_RACE_OWN)
        return pt_race_many_is_known(self, w);
    return pt_race_knows_write(self, w) && pt_race_knows_reads(self, r);
}

/* A granule that is locked, with these slots: its word. */
static uint64_t end_granule(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, uint64_t w,
                            struct forgetting *f)
{
    bool whole = f->access.cell.bytes == PT_CELL_WHOLE, has_cell = w & PT_RACE_OWN && !pt_race_is_many(w);
    uint64_t r = pt_race_get(&pair->r);
    if (!has_cell && (!f->is_access || is_known(self, w, r))) {
        if (!whole)
            return w;
        if (w & PT_RACE_OWN)
            pt_race_many_drop(self, w);
        pt_race_common_end(self, r);
        pt_race_put(&pair->r, 0);
        return 0;
    }
    uint32_t own = pt_race_open(self, granule, w, r);
    pt_race_put(&pair->r, 0);
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

/* Most granules that end as a whole: nothing is known of them, or two slots of accesses that come before it. From this
 * one on; the first that is not like that. */
static uintptr_t end_slots(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, uintptr_t end,
                           bool is_access)
{
    uint64_t last_w = 0, last_r = 0; /* of the one before it: mostly they are the same */
    for (; granule < end; granule += 8, pair++) {
        uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pair->r, memory_order_acquire);
        pt_race_fetch(pair);
        if (!(w | r))
            continue;
        bool is_same = w == last_w && r == last_r;
        if (!is_same && (w & PT_RACE_CELL || r & PT_RACE_OWN ||
                         (is_access && !(pt_race_knows_write(self, w) && pt_race_knows(self, r)))))
            break;
        if (!pt_race_swap(pair, w, r, 0, 0))
            break;
        if (!is_same) {
            pt_race_replaced(self, w);
            pt_race_replaced(self, r);
        }
        last_w = w;
        last_r = r;
    }
    return granule;
}

static void end_page(struct pt_race_self *self, struct pt_race_leaf *leaf, uintptr_t page, uintptr_t from, uintptr_t to,
                     struct forgetting *f)
{
    uintptr_t granule = page > from ? page : from & ~(uintptr_t)7, end = page + 4096 < to ? page + 4096 : to;
    while (granule < end) {
        struct pt_race_pair *pair = pt_race_pair_in(leaf, granule);
        f->access.cell.bytes = pt_race_bytes_in(granule, from, to);
        if (f->access.cell.bytes == PT_CELL_WHOLE) {
            uintptr_t next = end_slots(self, pair, granule, end & ~(uintptr_t)7, f->is_access);
            if (next != granule) {
                granule = next;
                continue;
            }
        }
        if (pt_race_get(&pair->w) || pt_race_get(&pair->r)) {
            uint64_t w = pt_race_lock_word(&pair->w);
            pt_race_unlock_word(&pair->w, end_granule(self, pair, granule, w, f));
        }
        if (self->met_count)
            pt_race_report(self, granule, &f->access.cell);
        granule += 8;
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
