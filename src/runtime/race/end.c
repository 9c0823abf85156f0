/*
 * The end of memory: a write of all of it, after which nothing is known of it.
 *
 * Guarantee: every access that is not ordered before it is reported, as with any write. Cost: a look at each granule
 * of pages that were used; one for the granules of a shape that are next to each other.
 */
#include "runtime/race/granule.h"
#include "runtime/race/window.h"

enum {
    FREES = PT_RACE_WRITE | PT_RACE_OP_FREE << PT_RACE_OP_AT,
    STACK = PT_RACE_WRITE | PT_RACE_OP_STACK << PT_RACE_OP_AT
};

/* What was found of the last granule, since neighbours are mostly alike. */
struct forgetting {
    struct pt_race_step access;
    bool is_access;  /* or else it was one before */
    uint32_t shape;  /* that races with nothing ... */
    uint64_t known;  /* ... if its last write is no later */
    int64_t dropped; /* references to it */
};

static void settle(struct pt_race_self *self, struct forgetting *f)
{
    if (f->dropped)
        pt_race_drop(self, f->shape, f->dropped);
    f->dropped = 0;
    f->shape = 0;
}

static uint64_t end_granule(struct pt_race_self *self, uint64_t seen, struct forgetting *f, bool whole)
{
    uint32_t from = pt_race_is_packed(seen) ? pt_race_own_cell(self, seen) : (uint32_t)seen;
    const struct pt_race_cell *cell = &pt_race_cells[from];
    if (cell->shape && from == f->shape && whole &&
        (!f->is_access || pt_race_base_of(&cell->cell) + pt_race_delta_of(seen) <= f->known)) {
        f->dropped++;
        return 0;
    }
    if (f->is_access) {
        struct pt_race_view view;
        if (cell->shape)
            pt_race_look(&view, cell, pt_race_delta_of(seen));
        f->access.cell.place = pt_race_place_of(f->access.site);
        pt_cell_check(&self->env, cell->shape ? &view.cell : &cell->cell, &self->hb, &f->access.cell);
    }
    if (self->met_count)
        pt_race_fill_in(self, &f->access);
    if (!whole)
        return cell->shape ? seen : pt_race_word_made(from);
    settle(self, f);
    if (!cell->shape) {
        pt_race_cell_free(self, from);
    } else {
        f->known = self->met_count ? 0 : pt_race_known_of(self, &cell->cell);
        f->shape = from;
        f->dropped = 1;
    }
    return 0;
}

static void end_page(struct pt_race_self *self, struct pt_race_leaf *leaf, uintptr_t page, uintptr_t from, uintptr_t to,
                     struct forgetting *f)
{
    uintptr_t granule = page > from ? page : from & ~(uintptr_t)7, end = page + 4096 < to ? page + 4096 : to;
    for (; granule < end; granule += 8) {
        pt_race_word *word = &leaf->words[(granule & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
        if (!atomic_load_explicit(word, memory_order_relaxed))
            continue;
        f->access.cell.bytes = pt_race_bytes_in(granule, from, to);
        uint64_t seen = pt_race_lock_word(word);
        pt_race_unlock_word(word, seen ? end_granule(self, seen, f, f->access.cell.bytes == PT_CELL_WHOLE) : 0);
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
    settle(self, &f);
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
