/*
 * The common access of a recorded run: plain, of a whole location, and ordered after all that it could race with.
 * Nothing is reported then, and little changes: what cell.c
 * does by its lists, its records and its last writes in turn is done here in one go.
 *
 * Guarantee: it leaves the cell as pt_cell_access would, to the order of its lists; where it does not apply, nothing
 * has changed. Cost: one look-up; a write also looks at each read since the last write.
 */
#include <string.h>

#include "race/cell.h"

enum { FRESH_READS = 0, FRESH_ATOMIC_READS = 1, FRESH_WRITES = 2, FRESH_ATOMIC_WRITES = 3 };

/* All that must agree, in one number: place, kind, bytes, operation and order, which plain accesses have in common. */
static uint64_t sort_of(const struct pt_cell_access *access)
{
    uint64_t sort;
    memcpy(&sort, access, sizeof sort);
    return sort;
}
_Static_assert(offsetof(struct pt_cell_access, note) == sizeof(uint64_t), "the rest comes first");

/* The thread's entry of that sort, which is made where there is none; PT_CELL_END: there is no room for that. */
static uint32_t enter(struct pt_cell *cell, uint32_t thread, const struct pt_cell_access *access)
{
    uint64_t sort = sort_of(access);
    uint32_t *slot = NULL, at;
    if (cell->index) {
        uint32_t home = pt_cell_home(cell, thread, access);
        while ((at = *(slot = &cell->index[home])) != PT_CELL_END &&
               (sort_of(&cell->seen[at].access) != sort || pt_epoch_thread(cell->seen[at].at) != thread))
            home = (home + 1) & (2 * cell->cap - 1);
    } else {
        for (at = cell->count; at-- > 0;)
            if (sort_of(&cell->seen[at].access) == sort && pt_epoch_thread(cell->seen[at].at) == thread)
                break;
    }
    if (at != PT_CELL_END || cell->count == cell->cap)
        return at;
    if (slot)
        *slot = cell->count;
    cell->seen[cell->count] = (struct pt_cell_seen){.access = *access};
    return cell->count++;
}

/* Nobody has written since `over`, and nothing else than that was written. */
static bool is_quiet(const struct pt_cell *cell)
{
    return cell->fresh[FRESH_WRITES] == PT_CELL_END && cell->fresh[FRESH_ATOMIC_WRITES] == PT_CELL_END &&
           (!cell->written_count || (cell->written_count == 1 && cell->written->stamp.at == cell->over));
}

static bool raise_read(struct pt_cell *cell, const struct pt_hb_thread *thread, const struct pt_cell_access *access)
{
    uint32_t at = enter(cell, thread->id, access);
    if (at == PT_CELL_END)
        return false;
    struct pt_cell_seen *seen = &cell->seen[at];
    seen->at = pt_hb_now(thread);
    seen->access.note = access->note;
    if (!seen->fresh) {
        seen->fresh = true;
        seen->next = cell->fresh[FRESH_READS];
        cell->fresh[FRESH_READS] = at;
    }
    return true;
}

static bool raise_write(const struct pt_race_memory *memory, struct pt_cell *cell, struct pt_hb_thread *thread,
                        const struct pt_cell_access *access)
{
    struct pt_cell_written *written = cell->written;
    if (!cell->written_count || written->atomic || written->bytes != PT_CELL_WHOLE ||
        cell->fresh[FRESH_ATOMIC_READS] != PT_CELL_END)
        return false;
    for (uint32_t i = cell->fresh[FRESH_READS]; i != PT_CELL_END; i = cell->seen[i].next)
        if (!pt_hb_knows(thread, cell->seen[i].at))
            return false;
    uint32_t at = enter(cell, thread->id, access);
    if (at == PT_CELL_END)
        return false;
    for (uint32_t i = cell->fresh[FRESH_READS]; i != PT_CELL_END; i = cell->seen[i].next)
        cell->seen[i].fresh = false;
    cell->fresh[FRESH_READS] = PT_CELL_END;
    cell->seen[at].at = cell->over = written->stamp.at = pt_hb_now(thread);
    cell->seen[at].access.note = access->note;
    if (written->stamp.past != thread->past) {
        pt_vec_drop(memory, written->stamp.past);
        written->stamp.past = pt_vec_ref(memory, thread->past);
    }
    pt_hb_tick(thread);
    return true;
}

bool pt_cell_plain(const struct pt_race_memory *memory, struct pt_cell *cell, struct pt_hb_thread *thread,
                   const struct pt_cell_access *access)
{
    if (!pt_hb_knows(thread, cell->over) || !is_quiet(cell))
        return false;
    return access->kind & PT_CELL_WRITES ? raise_write(memory, cell, thread, access) : raise_read(cell, thread, access);
}
