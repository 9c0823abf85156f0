/*
 * Which accesses of a location race.
 *
 * Reported, exactly: let SHB be the least order that contains happens-before (hb.c) and, for each read, the last write
 * of what it reads before it, unless both are atomic. Accesses e1 before e2 of different threads, with bytes in common,
 * one a write and not both atomic, race iff e1 is not ordered by SHB before e2, where the order that e2's own reading
 * makes does not count. (Mathur, Kini, Viswanathan: What happens-after the first race?, OOPSLA 2018, theorem on
 * HB-schedulable races: of plain accesses exactly these pairs can be brought next to each other by a reordering that
 * keeps happens-before and what each read before them reads. That atomic accesses order only what C11 says is ours.)
 * For each such pair the callback is called with e1's thread, place, operation and bytes. Of several accesses of one
 * thread that agree in these, it is the latest: if an earlier one is not ordered before e2, then the latest is not
 * either, since it comes after it in its thread. So no pair of places is missed, and none is reported that has no race.
 * Where the caller says that threads do not matter (any_thread), an access makes room for a later one of another thread
 * that agrees in the rest and is ordered after it, for the same reason.
 *
 * How: every access is kept, one for each thread, place, operation and bytes. `over` is a plain write
 * after everything that was there when it was made; whoever knows it knows all that is not fresh, and looks only at
 * what came since. Where it is not known there is a race, and all are looked at. The clock of a thread ticks after each
 * write, so that `written` stands for what the writer knew then and for nothing after it: this is the exact variant of
 * SHB; to let the clock stand until somebody has read the write would lose races on accesses in between.
 *
 * Cost: constant time for an access by a thread that knows the location's last write and finds its own entry; a write
 * also looks at each read since the last write. A location that races costs its entries, at most one for each thread,
 * place, operation and bytes. What is ordered before all that other threads may still do is dropped when a cell grows.
 */
#include "race/cell.h"

#include <string.h>

enum { FEW = 12, PRUNE_FROM = 64 };
/* The lists of fresh entries. */
enum { IS_ATOMIC = 1, IS_WRITES = 2, LISTS = 4 };

static unsigned list_of(unsigned kind)
{
    return (kind & PT_CELL_ATOMIC ? IS_ATOMIC : 0) | (kind & PT_CELL_WRITES ? IS_WRITES : 0);
}

void pt_cell_begin(struct pt_cell *cell)
{
    *cell = (struct pt_cell){.fresh = {PT_CELL_END, PT_CELL_END, PT_CELL_END, PT_CELL_END}};
}

static void *take(const struct pt_race_memory *memory, size_t bytes)
{
    return memory->take(memory->context, bytes);
}

static void give(const struct pt_race_memory *memory, void *from, size_t bytes)
{
    if (from)
        memory->give(memory->context, from, bytes);
}

static size_t index_bytes(const struct pt_cell *cell)
{
    return cell->index ? 2 * cell->cap * sizeof *cell->index : 0;
}

static void drop_written(const struct pt_race_memory *memory, struct pt_cell_written *written)
{
    pt_hb_stamp_drop(memory, &written->stamp);
    pt_hb_sync_clear(memory, &written->published);
}

void pt_cell_end(const struct pt_race_memory *memory, struct pt_cell *cell)
{
    give(memory, cell->index, index_bytes(cell));
    give(memory, cell->seen, cell->cap * sizeof *cell->seen);
    for (unsigned i = 0; i < cell->written_count; i++)
        drop_written(memory, &cell->written[i]);
    give(memory, cell->written, cell->written_cap * sizeof *cell->written);
    pt_cell_begin(cell);
}

size_t pt_cell_bytes(const struct pt_cell *cell)
{
    return cell->cap * sizeof *cell->seen + index_bytes(cell) + cell->written_cap * sizeof *cell->written;
}

/* ---- what was seen ---- */

static bool is_same(const struct pt_cell_seen *seen, uint32_t thread, const struct pt_cell_access *access)
{
    return pt_epoch_thread(seen->at) == thread && seen->access.place == access->place &&
           seen->access.op == access->op && seen->access.kind == access->kind && seen->access.bytes == access->bytes;
}

/* The entry; PT_CELL_END: there is none. */
static uint32_t find(const struct pt_cell *cell, uint32_t thread, const struct pt_cell_access *access)
{
    if (!cell->index) {
        for (uint32_t i = cell->count; i-- > 0;)
            if (is_same(&cell->seen[i], thread, access))
                return i;
        return PT_CELL_END;
    }
    uint32_t slot = pt_cell_home(cell, thread, access);
    while (cell->index[slot] != PT_CELL_END && !is_same(&cell->seen[cell->index[slot]], thread, access))
        slot = (slot + 1) & (2 * cell->cap - 1);
    return cell->index[slot];
}

static bool is_alike(const struct pt_cell_seen *seen, uint32_t thread, const struct pt_cell_access *access)
{
    return pt_epoch_thread(seen->at) == thread && seen->access.place == access->place &&
           seen->access.op == access->op && seen->access.kind == access->kind;
}

/* The same of whatever bytes, made since that clock. */
static uint32_t find_since(const struct pt_cell *cell, uint32_t thread, const struct pt_cell_access *access,
                           uint64_t since)
{
    for (uint32_t i = cell->count; i-- > 0 && cell->count <= PRUNE_FROM;)
        if (pt_epoch_clock(cell->seen[i].at) >= since && is_alike(&cell->seen[i], thread, access))
            return i;
    return PT_CELL_END;
}

const struct pt_cell_seen *pt_cell_find(const struct pt_cell *cell, uint32_t thread,
                                        const struct pt_cell_access *access, uint64_t since)
{
    uint32_t at = find_since(cell, thread, access, since);
    return at == PT_CELL_END || access->bytes & ~cell->seen[at].access.bytes ? NULL : &cell->seen[at];
}

/* One of another thread, the same but for that, and before this one. Long cells are not looked through. */
static uint32_t find_before(const struct pt_cell *cell, const struct pt_hb_thread *thread,
                            const struct pt_cell_access *access)
{
    for (uint32_t i = cell->count; i-- > 0 && cell->count <= PRUNE_FROM;)
        if (is_same(&cell->seen[i], pt_epoch_thread(cell->seen[i].at), access) && !cell->seen[i].merged &&
            pt_hb_knows(thread, cell->seen[i].at))
            return i;
    return PT_CELL_END;
}

static void put_index(struct pt_cell *cell, uint32_t entry)
{
    const struct pt_cell_seen *seen = &cell->seen[entry];
    uint32_t slot = pt_cell_home(cell, pt_epoch_thread(seen->at), &seen->access);
    while (cell->index[slot] != PT_CELL_END)
        slot = (slot + 1) & (2 * cell->cap - 1);
    cell->index[slot] = entry;
}

static void set_fresh(struct pt_cell *cell, uint32_t entry)
{
    struct pt_cell_seen *seen = &cell->seen[entry];
    uint32_t *list = &cell->fresh[list_of(seen->access.kind)];
    seen->fresh = true;
    seen->next = *list;
    *list = entry;
}

void pt_cell_arrange(struct pt_cell *cell)
{
    if (cell->index)
        memset(cell->index, 0xff, index_bytes(cell));
    memset(cell->fresh, 0xff, sizeof cell->fresh);
    for (uint32_t i = 0; i < cell->count; i++) {
        if (cell->seen[i].fresh)
            set_fresh(cell, i);
        if (cell->index)
            put_index(cell, i);
    }
}

static void prune(const struct pt_cell_env *env, struct pt_cell *cell)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cell->count; i++)
        if (!env->is_past(env->context, cell->seen[i].at))
            cell->seen[kept++] = cell->seen[i];
    cell->count = kept;
}

/* Makes room for one more. */
static void grow(const struct pt_cell_env *env, struct pt_cell *cell)
{
    uint32_t old = cell->cap, cap = old ? 2 * old : 2;
    if (cell->count < old)
        return;
    if (old >= PRUNE_FROM && env->is_past)
        prune(env, cell);
    if (!old || cell->count > old / 2) {
        struct pt_cell_seen *seen = take(env->memory, cap * sizeof *seen);
        if (cell->count)
            memcpy(seen, cell->seen, cell->count * sizeof *seen);
        give(env->memory, cell->index, index_bytes(cell));
        give(env->memory, cell->seen, old * sizeof *seen);
        cell->seen = seen;
        cell->cap = cap;
        cell->index = cap > FEW ? take(env->memory, 2 * cap * sizeof *cell->index) : NULL;
    }
    pt_cell_arrange(cell);
}

/* The entry of `over`: the latest write of its thread. */
static const struct pt_cell_seen *find_over(const struct pt_cell *cell)
{
    const struct pt_cell_seen *found = NULL;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        if (seen->access.kind & PT_CELL_WRITES && pt_epoch_thread(seen->at) == pt_epoch_thread(cell->over) &&
            (!found || seen->at > found->at))
            found = seen;
    }
    return found;
}

void pt_cell_thin(struct pt_cell *cell)
{
    uint32_t kept = 0;
    if (cell->written_count != 1 || cell->written[0].stamp.at != cell->over)
        return;
    const struct pt_cell_seen *over = find_over(cell);
    if (!over || cell->written[0].bytes & ~over->access.bytes)
        return;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        if (seen->fresh || seen == over || seen->merged || seen->access.bytes & ~cell->written[0].bytes)
            cell->seen[kept++] = *seen;
    }
    cell->count = kept;
    pt_cell_arrange(cell);
}

static void clear_fresh(struct pt_cell *cell)
{
    for (unsigned list = 0; list < LISTS; list++) {
        for (uint32_t i = cell->fresh[list]; i != PT_CELL_END; i = cell->seen[i].next)
            cell->seen[i].fresh = false;
        cell->fresh[list] = PT_CELL_END;
    }
}

/* An access becomes one with an entry; older ones of which it has all bytes say nothing more. */
static uint32_t widen(struct pt_cell *cell, uint32_t at, const struct pt_cell_access *access)
{
    struct pt_cell_seen wider = cell->seen[at];
    uint32_t kept = 0, mine = 0;
    wider.access.bytes |= access->bytes;
    wider.merged = true;
    for (uint32_t i = 0; i < cell->count; i++) {
        const struct pt_cell_seen *seen = &cell->seen[i];
        if (i != at && is_alike(seen, pt_epoch_thread(wider.at), access) && !(seen->access.bytes & ~wider.access.bytes))
            continue;
        mine = i == at ? kept : mine;
        cell->seen[kept++] = i == at ? wider : *seen;
    }
    cell->count = kept;
    pt_cell_arrange(cell);
    return mine;
}

/* The entry with which the access is one; its clock stays. PT_CELL_END: none. */
static uint32_t merge(const struct pt_cell_env *env, struct pt_cell *cell, uint32_t thread,
                      const struct pt_cell_access *access)
{
    uint32_t at = env->merge_from ? find_since(cell, thread, access, env->merge_from) : PT_CELL_END;
    if (at == PT_CELL_END || !(access->bytes & ~cell->seen[at].access.bytes))
        return at;
    return widen(cell, at, access);
}

/* `covers`: it comes after everything that is here. Returns the bytes of the accesses with which it has become one. */
static unsigned record(const struct pt_cell_env *env, struct pt_cell *cell, const struct pt_hb_thread *thread,
                       const struct pt_cell_access *access, bool covers)
{
    uint32_t at = merge(env, cell, thread->id, access);
    bool merged = at != PT_CELL_END && (cell->seen[at].merged || cell->seen[at].access.bytes != access->bytes);
    if (at == PT_CELL_END)
        at = find(cell, thread->id, access);
    if (at == PT_CELL_END && env->any_thread && (at = find_before(cell, thread, access)) != PT_CELL_END) {
        cell->seen[at].at = pt_hb_now(thread);
        if (cell->index)
            pt_cell_arrange(cell);
    }
    if (at == PT_CELL_END) {
        grow(env, cell);
        at = cell->count++;
        cell->seen[at] = (struct pt_cell_seen){.at = pt_hb_now(thread), .access = *access};
        if (cell->index)
            put_index(cell, at);
    }
    struct pt_cell_seen *seen = &cell->seen[at];
    if (!merged)
        seen->at = pt_hb_now(thread);
    seen->access.note = access->note;
    seen->access.order = access->order;
    if (covers) {
        clear_fresh(cell);
        cell->over = pt_hb_now(thread);
    } else if (!seen->fresh) {
        set_fresh(cell, at);
    }
    return merged ? seen->access.bytes : 0;
}

/* ---- races ---- */

static bool conflicts(const struct pt_cell_access *a, const struct pt_cell_access *b)
{
    return (a->bytes & b->bytes) && ((a->kind | b->kind) & PT_CELL_WRITES) && !(a->kind & b->kind & PT_CELL_ATOMIC);
}

/* False: it is not ordered before the thread's access. */
static bool check_one(const struct pt_cell_env *env, const struct pt_cell_seen *seen, const struct pt_hb_thread *thread,
                      const struct pt_cell_access *access)
{
    if (pt_hb_knows(thread, seen->at))
        return true;
    if (conflicts(&seen->access, access))
        env->race(env->context, seen);
    return false;
}

static bool check_list(const struct pt_cell_env *env, const struct pt_cell *cell, uint32_t list,
                       const struct pt_hb_thread *thread, const struct pt_cell_access *access)
{
    bool all = true;
    for (uint32_t i = list; i != PT_CELL_END; i = cell->seen[i].next)
        all &= check_one(env, &cell->seen[i], thread, access);
    return all;
}

/* Whether the access is known to come after all that were seen. Only of plain writes is that asked: a read does not
 * look at reads, nor an atomic access at atomic ones. */
bool pt_cell_check(const struct pt_cell_env *env, const struct pt_cell *cell, const struct pt_hb_thread *thread,
                   const struct pt_cell_access *access)
{
    bool all = true, writes = access->kind & PT_CELL_WRITES, atomic = access->kind & PT_CELL_ATOMIC;
    if (!pt_hb_knows(thread, cell->over)) {
        for (uint32_t i = 0; i < cell->count; i++)
            check_one(env, &cell->seen[i], thread, access);
        return false;
    }
    for (unsigned list = 0; list < LISTS; list++)
        if ((writes || list & IS_WRITES) && !(atomic && list & IS_ATOMIC))
            all &= check_list(env, cell, cell->fresh[list], thread, access);
    return all && writes && !atomic;
}

/* ---- what was written ---- */

static bool is_plain_pair(const struct pt_cell_written *written, const struct pt_cell_access *access)
{
    return !written->atomic || !(access->kind & PT_CELL_ATOMIC);
}

static bool is_since(pt_epoch at, uint32_t thread, uint64_t since)
{
    return pt_epoch_thread(at) == thread && pt_epoch_clock(at) >= since;
}

void pt_cell_rewrite(struct pt_cell *cell, const struct pt_hb_thread *thread, unsigned bytes, uint64_t since)
{
    for (unsigned i = 0; i < cell->written_count; i++)
        if (cell->written[i].bytes & bytes && is_since(cell->written[i].stamp.at, thread->id, since))
            cell->written[i].stamp.at = pt_hb_now(thread);
    if (is_since(cell->over, thread->id, since))
        cell->over = pt_hb_now(thread);
}

/* What an atomic load gets from those who wrote what it reads. */
void pt_cell_acquire(const struct pt_cell_env *env, const struct pt_cell *cell, struct pt_hb_thread *thread,
                     const struct pt_cell_access *access)
{
    if (!(access->kind & PT_CELL_READS && access->kind & PT_CELL_ATOMIC))
        return;
    for (unsigned i = 0; i < cell->written_count; i++) {
        const struct pt_cell_written *written = &cell->written[i];
        if (!(written->bytes & access->bytes))
            continue;
        if (pt_hb_acquires(access->order))
            pt_hb_acquire(env->memory, thread, &written->published);
        else
            pt_hb_acquire_later(env->memory, thread, &written->published);
    }
}

/* SHB: the read comes after the write that it has seen and raced with. */
static void follow_writes(const struct pt_cell_env *env, const struct pt_cell *cell, struct pt_hb_thread *thread,
                          const struct pt_cell_access *access)
{
    for (unsigned i = 0; i < cell->written_count; i++)
        if (cell->written[i].bytes & access->bytes && is_plain_pair(&cell->written[i], access))
            pt_hb_learn(env->memory, thread, &cell->written[i].stamp);
}

/* What an atomic write publishes: what it continues (a read-modify-write), what it releases, or its thread's fence. */
static struct pt_hb_sync publish(const struct pt_cell_env *env, const struct pt_cell *cell,
                                 const struct pt_hb_thread *thread, const struct pt_cell_access *access,
                                 const struct pt_hb_stamp *now)
{
    struct pt_hb_sync published = {0};
    if (!(access->kind & PT_CELL_ATOMIC))
        return published;
    for (unsigned i = 0; access->kind & PT_CELL_READS && i < cell->written_count; i++)
        if (cell->written[i].bytes & access->bytes)
            pt_hb_sync_copy(env->memory, &published, &cell->written[i].published);
    const struct pt_hb_stamp *stamp = pt_hb_releases(access->order) ? now : &thread->fence;
    if (stamp->at)
        pt_hb_add(env->memory, &published, (struct pt_hb_stamp){stamp->at, pt_vec_ref(env->memory, stamp->past)});
    return published;
}

/* `with`: the bytes of what the access has become one with; what is read of them is after the last write. */
static void write(const struct pt_cell_env *env, struct pt_cell *cell, const struct pt_hb_thread *thread,
                  const struct pt_cell_access *access, unsigned with)
{
    const struct pt_race_memory *memory = env->memory;
    struct pt_hb_stamp now = pt_hb_moment(memory, thread);
    struct pt_cell_written mine = {.stamp = now,
                                   .published = publish(env, cell, thread, access, &now),
                                   .bytes = access->bytes,
                                   .atomic = access->kind & PT_CELL_ATOMIC};
    unsigned kept = 0;
    for (unsigned i = 0; i < cell->written_count; i++) {
        pt_epoch at = cell->written[i].stamp.at;
        if (!mine.atomic && !cell->written[i].atomic && pt_epoch_thread(at) == thread->id &&
            pt_epoch_clock(at) >= env->merge_from && !(cell->written[i].bytes & ~with))
            mine.bytes |= cell->written[i].bytes;
        cell->written[i].bytes &= (uint8_t)~mine.bytes;
        if (cell->written[i].bytes)
            cell->written[kept++] = cell->written[i];
        else
            drop_written(memory, &cell->written[i]);
    }
    if (kept == cell->written_cap) {
        uint8_t cap = cell->written_cap ? (uint8_t)(2 * cell->written_cap) : 1;
        struct pt_cell_written *larger = take(memory, cap * sizeof *larger);
        if (kept)
            memcpy(larger, cell->written, kept * sizeof *larger);
        give(memory, cell->written, cell->written_cap * sizeof *larger);
        cell->written = larger;
        cell->written_cap = cap;
    }
    cell->written[kept] = mine;
    cell->written_count = (uint8_t)(kept + 1);
}

void pt_cell_record(const struct pt_cell_env *env, struct pt_cell *cell, struct pt_hb_thread *thread,
                    const struct pt_cell_access *access, bool covers)
{
    if (access->kind & PT_CELL_READS)
        follow_writes(env, cell, thread, access);
    unsigned with = record(env, cell, thread, access, covers);
    if (access->kind & PT_CELL_WRITES)
        write(env, cell, thread, access, with);
}

/* ---- the same access again ---- */

static bool knows_all(const struct pt_cell *cell, uint32_t list, const struct pt_hb_thread *thread)
{
    for (uint32_t i = cell->fresh[list]; i != PT_CELL_END; i = cell->seen[i].next)
        if (!pt_hb_knows(thread, cell->seen[i].at))
            return false;
    return true;
}

/* The last write becomes the thread's now. False: it was not one plain write of these bytes. */
static bool raise_written(const struct pt_race_memory *memory, struct pt_cell *cell, const struct pt_hb_thread *thread,
                          uint8_t bytes)
{
    struct pt_cell_written *written = cell->written;
    if (cell->written_count != 1 || written->bytes != bytes || written->atomic)
        return false;
    if (written->stamp.past != thread->past) {
        pt_vec_drop(memory, written->stamp.past);
        written->stamp.past = pt_vec_ref(memory, thread->past);
    }
    written->stamp.at = pt_hb_now(thread);
    return true;
}

bool pt_cell_raise(const struct pt_cell_env *env, struct pt_cell *cell, const struct pt_hb_thread *thread,
                   const struct pt_cell_access *access, uint64_t since, struct pt_cell_seen **ret_raised)
{
    bool writes = access->kind & PT_CELL_WRITES;
    *ret_raised = NULL;
    if (!pt_hb_knows(thread, cell->over))
        return false;
    uint32_t at = find(cell, thread->id, access);
    if (at == PT_CELL_END || !knows_all(cell, IS_WRITES, thread) || !knows_all(cell, IS_WRITES | IS_ATOMIC, thread))
        return false;
    struct pt_cell_seen *seen = &cell->seen[at];
    if (!writes) {
        if (seen->fresh && pt_epoch_clock(seen->at) >= since)
            return true;
        if (!seen->fresh)
            set_fresh(cell, at);
    } else {
        if (!knows_all(cell, 0, thread) || !knows_all(cell, IS_ATOMIC, thread))
            return false;
        if (!raise_written(env->memory, cell, thread, access->bytes))
            write(env, cell, thread, access, 0);
        clear_fresh(cell);
        cell->over = pt_hb_now(thread);
    }
    seen->at = pt_hb_now(thread);
    *ret_raised = seen;
    return true;
}

void pt_cell_access(const struct pt_cell_env *env, struct pt_cell *cell, struct pt_hb_thread *thread,
                    const struct pt_cell_access *access)
{
    pt_cell_acquire(env, cell, thread, access);
    pt_cell_record(env, cell, thread, access, pt_cell_check(env, cell, thread, access));
    if (access->kind & PT_CELL_WRITES)
        pt_hb_tick(thread);
}

void pt_cell_copy(const struct pt_race_memory *memory, struct pt_cell *to, const struct pt_cell *from)
{
    *to = *from; /* of its pointers nothing: they may be to what is gone soon */
    to->seen = from->cap ? take(memory, from->cap * sizeof *to->seen) : NULL;
    if (from->count)
        memcpy(to->seen, from->seen, from->count * sizeof *to->seen);
    to->index = from->index ? take(memory, index_bytes(from)) : NULL;
    to->written = from->written_cap ? take(memory, from->written_cap * sizeof *to->written) : NULL;
    for (unsigned i = 0; i < from->written_count; i++) {
        const struct pt_cell_written *written = &from->written[i];
        to->written[i] = (struct pt_cell_written){
            .stamp = {written->stamp.at, pt_vec_ref(memory, written->stamp.past)},
            .bytes = written->bytes,
            .atomic = written->atomic,
        };
        pt_hb_sync_copy(memory, &to->written[i].published, &written->published);
    }
    pt_cell_arrange(to);
}
