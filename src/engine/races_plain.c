/*
 * The common events of a recorded run, many at a time: plain accesses of whole variables that are ordered after all
 * that they could race with, and locks. Nothing is reported then, and little changes: what race/cell.c does by its
 * lists, its records and its last writes in turn is done here in one go, and the memory that accesses to come will look
 * at is asked for before.
 *
 * Guarantee: a cell is left as pt_cell_access would leave it, to the order of its lists; where that is not certain
 * nothing is changed, and races.c goes the long way. Cost: one look at the thread's entry, where the variable's second
 * cache line says that it was last; a write also looks at each read since the last write; a read that is the event
 * before once more looks at nothing else. What takes time here are branches that no processor can foretell, more than
 * instructions: so what is asked for ahead is found without any.
 */
#include <string.h>

#include "engine/races.h"

enum { FRESH_READS = 0, FRESH_ATOMIC_READS = 1, FRESH_WRITES = 2, FRESH_ATOMIC_WRITES = 3 };
/* So many events before they are looked at variables are asked for, and then, by what they say, entries. */
enum { VARS_AHEAD = 16, ENTRIES_AHEAD = 7 };

/* All in which accesses that share an entry agree, in one number: place, kind, bytes, operation and order. */
static uint64_t sort_of(const struct pt_cell_access *access)
{
    uint64_t sort;
    memcpy(&sort, access, sizeof sort);
    return sort;
}
_Static_assert(offsetof(struct pt_cell_access, note) == sizeof(uint64_t), "the rest comes first");

static bool is_of(const struct pt_cell_seen *seen, uint64_t sort, uint32_t thread)
{
    return sort_of(&seen->access) == sort && pt_epoch_thread(seen->at) == thread;
}

static unsigned hint_of(uint32_t thread, bool writes)
{
    return (thread * 2 + writes) % RACES_HINTS;
}

/* The thread's entry of that sort, which is made where there is none; PT_CELL_END: there is no room for that. */
static __attribute__((noinline)) uint32_t enter(struct races_var *var, uint32_t thread,
                                                const struct pt_cell_access *access)
{
    struct pt_cell *cell = &var->cell;
    uint64_t sort = sort_of(access);
    uint32_t *slot = NULL, at;
    if (cell->index) {
        uint32_t home = pt_cell_home(cell, thread, access);
        while ((at = *(slot = &cell->index[home])) != PT_CELL_END && !is_of(&cell->seen[at], sort, thread))
            home = (home + 1) & (2 * cell->cap - 1);
    } else {
        for (at = cell->count; at-- > 0;)
            if (is_of(&cell->seen[at], sort, thread))
                break;
    }
    if (at == PT_CELL_END) {
        if (cell->count == cell->cap)
            return PT_CELL_END;
        if (slot)
            *slot = cell->count;
        cell->seen[cell->count] = (struct pt_cell_seen){.access = *access};
        at = cell->count++;
    }
    var->hints[hint_of(thread, access->kind & PT_CELL_WRITES)] = (uint16_t)at;
    return at;
}

static inline uint32_t entry_of(struct races_var *var, uint32_t thread, const struct pt_cell_access *access)
{
    uint32_t at = var->hints[hint_of(thread, access->kind & PT_CELL_WRITES)];
    return at < var->cell.count && is_of(&var->cell.seen[at], sort_of(access), thread) ? at
                                                                                       : enter(var, thread, access);
}

/* Nobody has written since `over`, which is the last write: plain, and of the whole variable. `quiet` remembers it,
 * until an access goes the long way. */
static inline bool is_quiet(struct races_var *var)
{
    const struct pt_cell *cell = &var->cell;
    if (cell->fresh[FRESH_WRITES] != PT_CELL_END || cell->fresh[FRESH_ATOMIC_WRITES] != PT_CELL_END)
        return false;
    if (var->quiet == cell->over && cell->over)
        return true;
    const struct pt_cell_written *written = cell->written;
    if (cell->written_count != 1 || written->stamp.at != cell->over || written->atomic ||
        written->bytes != PT_CELL_WHOLE)
        return false;
    var->quiet = cell->over;
    return true;
}

/* Its entry; NULL: there is no room for one. */
static inline struct pt_cell_seen *raise_read(struct races_var *var, const struct pt_hb_thread *thread,
                                              const struct pt_cell_access *access)
{
    struct pt_cell *cell = &var->cell;
    uint32_t at = entry_of(var, thread->id, access);
    if (at == PT_CELL_END)
        return NULL;
    struct pt_cell_seen *seen = &cell->seen[at];
    seen->at = pt_hb_now(thread);
    seen->access.note = access->note;
    if (!seen->fresh) {
        seen->fresh = true;
        seen->next = cell->fresh[FRESH_READS];
        cell->fresh[FRESH_READS] = at;
    }
    return seen;
}

static inline bool raise_write(struct races *r, struct races_var *var, struct pt_hb_thread *thread,
                               const struct pt_cell_access *access)
{
    struct pt_cell *cell = &var->cell;
    struct pt_cell_written *written = cell->written;
    if (cell->fresh[FRESH_ATOMIC_READS] != PT_CELL_END)
        return false;
    for (uint32_t i = cell->fresh[FRESH_READS]; i != PT_CELL_END; i = cell->seen[i].next)
        if (!pt_hb_knows(thread, cell->seen[i].at))
            return false;
    uint32_t at = entry_of(var, thread->id, access);
    if (at == PT_CELL_END)
        return false;
    for (uint32_t i = cell->fresh[FRESH_READS]; i != PT_CELL_END; i = cell->seen[i].next)
        cell->seen[i].fresh = false;
    cell->fresh[FRESH_READS] = PT_CELL_END;
    cell->seen[at].at = cell->over = written->stamp.at = var->quiet = pt_hb_now(thread);
    cell->seen[at].access.note = access->note;
    if (written->stamp.past != thread->past) {
        pt_vec_drop(&r->memory, written->stamp.past);
        written->stamp.past = pt_vec_ref(&r->memory, thread->past);
    }
    pt_hb_tick(thread);
    return true;
}

/* False: it may race, or is another kind of access, and nothing has changed. *ret_read: the entry, if it reads. */
static inline bool take_plain(struct races *r, struct races_thread *t, const struct pt_event *event,
                              struct pt_cell_seen **ret_read)
{
    bool writes = event->op == PT_OP_WRITE;
    if (event->to || event->order || event->object >= r->var_cap)
        return false;
    struct races_var *var = &r->vars[event->object];
    if (!var->begun || var->part_count || !pt_hb_knows(&t->hb, var->cell.over) || !is_quiet(var))
        return false;
    const struct pt_cell_access access = {.place = event->loc,
                                          .kind = writes ? PT_CELL_WRITES : PT_CELL_READS,
                                          .bytes = PT_CELL_WHOLE,
                                          .op = event->op,
                                          .order = PT_HB_SEQ_CST,
                                          .note = {r->run.events, event->stack, pt_races_lock_set(r, t)}};
    if (writes)
        return raise_write(r, var, &t->hb, &access);
    *ret_read = raise_read(var, &t->hb, &access);
    return *ret_read;
}

/* The event before was a plain read, and this one is the same again. Reads do not tick, so that nothing but the number
 * of the event is another in their entry. */
static inline bool is_again(const struct pt_event *event)
{
    const struct pt_event *before = event - 1;
    uint32_t differs = (event->object ^ before->object) | (event->thread ^ before->thread) |
                       (event->loc ^ before->loc) | (event->stack ^ before->stack);
    unsigned kind = (unsigned)(event->op ^ before->op) | (unsigned)(event->order ^ before->order) |
                    (unsigned)(event->to ^ before->to);
    return !(differs | kind);
}

/* Taking and releasing a lock, without what pt_hb_lock and pt_hb_unlock do where nothing is to be learned, what the
 * lock has is known to the thread that gives it back, and no reader was there. */
static inline void take_lock(struct races *r, struct races_thread *t, uint32_t id)
{
    struct races_lock *lock = &r->locks[id];
    const struct pt_hb_lock *hb = &lock->hb;
    if (hb->writers.rest || hb->readers.last.at || hb->readers.rest || !pt_hb_knows(&t->hb, hb->writers.last.at))
        pt_hb_lock(&r->memory, &t->hb, hb, false);
    PT_PUSH(t->locks, t->lock_count, t->lock_cap, id);
    t->lock_set = t->lock_count == 1 && lock->alone ? lock->alone - 1 : PT_NONE;
}

static inline void give_lock(struct races *r, struct races_thread *t, uint32_t id)
{
    struct pt_hb_lock *hb = &r->locks[id].hb;
    struct pt_hb_stamp *last = &hb->writers.last;
    t->lock_count--;
    t->lock_set = PT_NONE;
    if (hb->readers.last.at || !pt_hb_knows(&t->hb, last->at)) {
        pt_hb_unlock(&r->memory, &t->hb, hb, false);
        return;
    }
    if (last->past != t->hb.past) {
        pt_vec_drop(&r->memory, last->past);
        last->past = pt_vec_ref(&r->memory, t->hb.past);
    }
    last->at = pt_hb_now(&t->hb);
    pt_hb_tick(&t->hb);
}

static inline void plain_lock(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    uint32_t id = event->object;
    if (id < r->lock_cap && event->op == PT_OP_ACQ)
        take_lock(r, t, id);
    else if (id < r->lock_cap && t->lock_count && t->locks[t->lock_count - 1] == id)
        give_lock(r, t, id);
    else
        pt_races_lock(r, t, event);
}

static bool is_access(const struct pt_event *event)
{
    return (event->op == PT_OP_READ) | (event->op == PT_OP_WRITE);
}

/* The variable of an access; of other events the first one. Without a branch: nobody could foretell it. */
static inline const struct races_var *var_to_come(const struct races *r, const struct pt_event *event)
{
    uint32_t good = is_access(event) & (event->object < r->var_cap);
    return &r->vars[event->object & (0 - good)];
}

/* Asks for the memory of accesses to come, where there are variables. (gcc takes a function that does nothing else for
 * one without effects, and leaves out its calls, unless it is made part of its caller first.)
 */
static inline __attribute__((always_inline)) void look_ahead(const struct races *r, const struct pt_event *events,
                                                             uint32_t left)
{
    if (left > VARS_AHEAD) {
        const struct races_var *var = var_to_come(r, &events[VARS_AHEAD]);
        __builtin_prefetch(&var->cell, 1);
        __builtin_prefetch(&var->hints, 1);
    }
    if (left > ENTRIES_AHEAD) {
        const struct pt_event *near = &events[ENTRIES_AHEAD];
        const struct races_var *var = var_to_come(r, near);
        __builtin_prefetch(&var->cell.seen[var->hints[hint_of(near->thread, near->op == PT_OP_WRITE)]], 1);
        __builtin_prefetch(var->cell.written, 1);
    }
}

bool pt_races_plain(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    struct pt_cell_seen *read;
    return take_plain(r, t, event, &read);
}

/* A thread that acts, and an event of the common kinds. */
static inline struct races_thread *common_thread(const struct races *r, const struct pt_event *event)
{
    struct races_thread *t = event->thread < r->thread_cap ? &r->threads[event->thread] : NULL;
    return t && t->begun && !t->ended && !r->run.stopped ? t : NULL;
}

static inline bool is_lock(const struct pt_event *event)
{
    return (event->op == PT_OP_ACQ) | (event->op == PT_OP_REL);
}

/* An event of these kinds; the entry of a plain read, else NULL. */
static inline __attribute__((always_inline)) struct pt_cell_seen *
follow(struct races *r, struct races_thread *t, const struct pt_event *event, const bool predict)
{
    struct pt_cell_seen *read = NULL;
    if (predict)
        pt_races_predict_keep(r->predict, event);
    r->run.events++;
    if (is_lock(event))
        plain_lock(r, t, event);
    else if (!take_plain(r, t, event, &read))
        pt_races_access(r, t, event);
    if (predict)
        pt_races_predict_event(r, event);
    return read;
}

static inline __attribute__((always_inline)) enum pt_status follow_all(struct races *r, const struct pt_event *events,
                                                                       uint32_t count, uint32_t *ret_taken,
                                                                       struct pt_err *err, const bool predict)
{
    const struct pt_event *event = events, *end = events + count;
    struct pt_cell_seen *read = NULL; /* of the event before */
    enum pt_status status = PT_OK;
    for (; event < end; event++) {
        if (r->var_cap)
            look_ahead(r, event, (uint32_t)(end - event));
        if (!predict && read && is_again(event)) {
            read->access.note.event = ++r->run.events;
        } else {
            struct races_thread *t = is_access(event) | is_lock(event) ? common_thread(r, event) : NULL;
            read = t ? follow(r, t, event, predict) : NULL;
            if (!t && (status = pt_races_event(r, event, err)) != PT_OK)
                break;
            if (!t)
                continue;
        }
        if (r->run.events % RACES_WATCH_EVERY == 0) {
            pt_races_watch_memory(r);
            read = NULL;
        }
    }
    *ret_taken = (uint32_t)(event - events);
    return status;
}

enum pt_status pt_races_events(struct races *r, const struct pt_event *events, uint32_t count, uint32_t *ret_taken,
                               struct pt_err *err)
{
    return r->predict ? follow_all(r, events, count, ret_taken, err, true)
                      : follow_all(r, events, count, ret_taken, err, false);
}
