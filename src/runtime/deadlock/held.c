/*
 * Locks that threads have, and the order in which they nest. A thread keeps a list of its own; only when it takes a
 * lock while it has another, and has not done so before since it last met other threads, the table of patterns is
 * looked at (deadlock/patterns.h), and what closes a circle is reported: predicted.
 *
 * Two acquires can be part of one deadlock only if they can happen at the same time, so each has moments of a clock
 * that forks, joins, barriers, semaphores and conditions advance, and locks do not. The latest moment of an acquire is
 * enough for circles of two: who is ordered after it is ordered after all earlier ones. Longer circles need moments
 * that fit together, for which the first three are kept as well.
 *
 * Guarantee: circles of two are complete up to the number of acquires that fit (ACQUIRES_MAX) and 64 locks at a time;
 * each is reported once. What is reported can be impossible only for reasons that are no synchronisation of the above
 * kinds: a variable that one thread has set and the other has read (portent check --deadlocks knows those). Cost: of a
 * lock that is not nested, and of a nest that is known, a few stores and a hash. As long as all nests agree with one
 * order of the locks (deadlock/lock_order.h) no circle is searched for.
 */
#include <string.h>

#include "core/hash.h"
#include "runtime/deadlock/impl.h"
#include "runtime/found/found.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"

enum { ACQUIRES_MAX = 1 << 16, OBJECTS_MAX = 1 << 16, STEPS = 20000, REPORTS = 8 };

struct pt_deadlocks pt_deadlocks = {.lock = PT_SPIN(PT_RANK_DEADLOCK)};

/* Synchronisation objects that are no locks, by address. */
static struct object {
    struct object *next;
    uintptr_t address;
    struct pt_hb_sync carries;
} * objects[1 << 10];
static uint32_t object_count;

/* ---- memory ---- */

/* The last resort: what is under way can be finished, and then nothing more is looked for. */
static _Alignas(16) char reserve[1 << 18];
static size_t reserved;

void *pt_deadlock_take(void *context, size_t bytes)
{
    (void)context;
    void *memory = pt_deadlocks.full ? NULL : pt_pool_take(pt_thread_pool(pt_deadlocks.user), bytes);
    if (memory)
        return memory;
    pt_deadlocks.full = true;
    if (bytes > sizeof reserve - reserved)
        reserved = 0; /* nobody looks at what was there any more */
    memory = reserve + reserved;
    reserved += (bytes + 15) & ~(size_t)15;
    return memory;
}

void pt_deadlock_give(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    if ((char *)memory < reserve || (char *)memory >= reserve + sizeof reserve)
        pt_pool_give(pt_thread_pool(pt_deadlocks.user), memory);
}

/* ---- clocks ---- */

static bool begin(struct pt_thread *thread)
{
    struct pt_deadlock_self *d = thread->deadlock;
    if (!d->begun && pt_thread_number(thread) < PT_HB_THREADS) {
        pt_hb_begin(&d->clock, pt_thread_number(thread));
        d->segment = 1;
        d->begun = true;
    }
    return d->begun;
}

void pt_deadlock_begun(struct pt_thread *self)
{
    pt_deadlock_lock(self);
    begin(self);
    pt_deadlock_unlock();
}

void pt_deadlock_forked(struct pt_thread *self, struct pt_thread *child, const struct pt_site *site)
{
    struct pt_deadlock_self *d = self->deadlock;
    pt_deadlock_calls(NULL, child->deadlock->created, PT_CREATED_FRAMES); /* the call of the creation is among them */
    if (!child->deadlock->created[0])
        child->deadlock->created[0] = site;
    pt_deadlock_lock(self);
    if (!pt_deadlocks.full && begin(self) && begin(child)) {
        pt_hb_fork(&pt_deadlocks.memory, &d->clock, &child->deadlock->clock);
        d->segment++;
    }
    pt_deadlock_unlock();
}

void pt_deadlock_joined(struct pt_thread *self, struct pt_thread *thread)
{
    pt_deadlock_lock(self);
    if (!pt_deadlocks.full && begin(self) && begin(thread)) {
        pt_hb_join(&pt_deadlocks.memory, &self->deadlock->clock, &thread->deadlock->clock);
        self->deadlock->segment++;
    }
    pt_deadlock_unlock();
}

void pt_deadlock_released(struct pt_thread *self, struct pt_thread *thread)
{
    pt_deadlock_lock(self);
    if (thread->deadlock->begun && !pt_deadlocks.full)
        pt_hb_end(&pt_deadlocks.memory, &thread->deadlock->clock);
    thread->deadlock->begun = false;
    pt_deadlock_unlock();
}

static struct object *find_object(uintptr_t address)
{
    struct object **bucket = &objects[pt_mix64(address) % (sizeof objects / sizeof *objects)], *object = *bucket;
    while (object && object->address != address)
        object = object->next;
    if (object || object_count == OBJECTS_MAX)
        return object;
    object = pt_deadlock_take(NULL, sizeof *object);
    *object = (struct object){.next = *bucket, .address = address};
    *bucket = object;
    object_count++;
    return object;
}

/* All that happened to the object comes before what the thread does next, and all that the thread has done before what
 * happens to the object next. */
static void meet(struct pt_thread *self, uintptr_t address)
{
    const struct pt_race_memory *memory = &pt_deadlocks.memory;
    struct pt_deadlock_self *d = self->deadlock;
    pt_deadlock_lock(self);
    struct object *object = pt_deadlocks.full || !begin(self) ? NULL : find_object(address);
    if (object) {
        pt_hb_acquire(memory, &d->clock, &object->carries);
        pt_hb_sync_clear(memory, &object->carries);
        pt_hb_release(memory, &d->clock, &object->carries);
        d->segment++;
    }
    pt_deadlock_unlock();
}

/* ---- patterns ---- */

static bool is_before(const struct pt_hb_stamp *one, const struct pt_hb_stamp *other)
{
    return pt_epoch_clock(one->at) <= pt_vec_at(other->past, pt_epoch_thread(one->at));
}

static bool may_meet(void *context, const struct pt_acquire *one, const struct pt_acquire *other)
{
    (void)context;
    const struct pt_nest *a = one->note, *b = other->note;
    for (uint32_t i = 0; i < a->moment_count; i++)
        for (uint32_t k = 0; k < b->moment_count; k++)
            if (!is_before(&a->moments[i], &b->moments[k]) && !is_before(&b->moments[k], &a->moments[i]))
                return true;
    return false;
}

/* Whether moments of all of them can be chosen that may come together; those before `at` are. */
static bool can_choose(struct pt_acquire *const *cycle, uint32_t count, const struct pt_hb_stamp **chosen, uint32_t at)
{
    const struct pt_nest *nest = at < count ? cycle[at]->note : NULL;
    for (uint32_t i = 0; nest && i < nest->moment_count; i++) {
        const struct pt_hb_stamp *moment = &nest->moments[nest->moment_count - 1 - i];
        uint32_t k = 0;
        while (k < at && !is_before(chosen[k], moment) && !is_before(moment, chosen[k]))
            k++;
        chosen[at] = moment;
        if (k == at && can_choose(cycle, count, chosen, at + 1))
            return true;
    }
    return !nest;
}

/* What a search has found, to be reported when nothing is locked any more. */
struct reports {
    struct {
        struct pt_acquire *cycle[PT_FOUND_SIDES];
        uint32_t count;
    } items[REPORTS];
    uint32_t count;
    bool gave_up; /* there may be others */
};

static void found(void *context, struct pt_acquire *const *cycle, uint32_t count)
{
    struct reports *reports = context;
    const struct pt_hb_stamp *chosen[PT_FOUND_SIDES];
    if (reports->count == REPORTS || !can_choose(cycle, count, chosen, 0))
        return;
    memcpy(reports->items[reports->count].cycle, cycle, count * sizeof *cycle);
    reports->items[reports->count++].count = count;
}

static struct pt_nest *new_nest(struct pt_thread *self, uint32_t kind, const struct pt_site *site)
{
    const struct pt_deadlock_self *d = self->deadlock;
    uint32_t locks = d->held_count < PT_FOUND_LOCKS ? d->held_count : PT_FOUND_LOCKS;
    struct pt_nest *nest = pt_deadlock_take(NULL, sizeof *nest + locks * sizeof *nest->locks);
    *nest = (struct pt_nest){.who = pt_deadlock_who(self), .kind = kind, .lock_count = locks};
    for (uint32_t i = 0; i < locks; i++) {
        const struct pt_held *held = &d->held[i];
        nest->locks[i] = (struct pt_found_lock){held->site ? held->site->variable : "", held->lock, held->site};
    }
    pt_deadlock_calls(site, nest->sites, PT_DEADLOCK_FRAMES);
    return nest;
}

static void add_moment(struct pt_nest *nest, struct pt_hb_thread *clock)
{
    if (nest->moment_count == PT_DEADLOCK_MOMENTS)
        pt_hb_stamp_drop(&pt_deadlocks.memory, &nest->moments[--nest->moment_count]);
    nest->moments[nest->moment_count++] = pt_hb_moment(&pt_deadlocks.memory, clock);
}

/* Under the lock; `wants` was not looked at in this segment. */
static void look(struct pt_thread *self, struct pt_lock_use wants, uint32_t kind, const struct pt_site *site,
                 struct reports *reports)
{
    struct pt_deadlock_self *d = self->deadlock;
    struct pt_lock_use held[PT_HELD];
    bool new;
    for (uint32_t i = 0; i < d->held_count; i++)
        held[i] = (struct pt_lock_use){d->held[i].lock, d->held[i].shared};
    struct pt_acquire *a =
        pt_patterns_take(&pt_deadlocks.patterns, pt_thread_number(self), wants, held, d->held_count, &new);
    if (new)
        a->note = new_nest(self, kind, site);
    add_moment(a->note, &d->clock);
    bool ordered = true; /* where all nests agree with one order of the locks there are no circles */
    for (uint32_t i = 0; i < d->held_count; i++)
        ordered &= pt_lock_order_add(&pt_deadlocks.order, held[i].lock, wants.lock);
    if (ordered)
        return;
    const struct pt_patterns_search search = {
        .found = found, .may_meet = may_meet, .context = reports, .most = PT_FOUND_SIDES, .steps = STEPS};
    reports->gave_up = !pt_patterns_search(&pt_deadlocks.patterns, a, &search);
}

/* Once; then the answer is not whole. */
static void say_open(void)
{
    static _Atomic bool said;
    struct pt_line line = {0};
    if (atomic_exchange(&said, true))
        return;
    pt_line_text(&line,
                 "portent: too many nests of locks: not all deadlocks are predicted, though those that happen are "
                 "seen");
    pt_line_write(&line);
    pt_runtime_lost();
}

static bool predicts;

/* The thread has taken a lock while it has others. */
static void nest(struct pt_thread *self, struct pt_lock_use wants, uint32_t kind, const struct pt_site *site)
{
    struct pt_deadlock_self *d = self->deadlock;
    uint64_t key = pt_mix64(pt_mix64(d->held_hash) + (wants.lock << 1 | wants.shared)) | 1; /* a in b is not b in a */
    struct pt_held_known *known = &d->known[key / 2 % PT_HELD_KNOWN];
    struct reports reports;
    reports.count = 0;
    reports.gave_up = false;
    if (!predicts || d->beyond || (known->nest == key && known->segment == d->segment))
        return;
    pt_deadlock_lock(self);
    bool was_full = pt_deadlocks.full;
    if (!was_full && begin(self))
        look(self, wants, kind, site, &reports);
    pt_deadlocks.full |= pt_deadlocks.patterns.count >= ACQUIRES_MAX;
    bool is_full = pt_deadlocks.full;
    pt_deadlock_unlock();
    *known = (struct pt_held_known){key, d->segment};
    for (uint32_t i = 0; i < reports.count; i++)
        pt_deadlock_predicted(self, reports.items[i].cycle, reports.items[i].count);
    if ((is_full && !was_full) || (reports.gave_up && !reports.count))
        say_open();
}

/* ---- the list ---- */

static uint64_t hash_of(const struct pt_held *held)
{
    return pt_mix64((uint64_t)held->lock << 1 | held->shared);
}

static struct pt_held *find(struct pt_deadlock_self *d, uintptr_t lock)
{
    uint32_t i = d->held_count;
    while (i > 0 && d->held[i - 1].lock != lock)
        i--;
    return i ? &d->held[i - 1] : NULL;
}

static void acquire(struct pt_thread *self, uintptr_t lock, uint32_t kind, const struct pt_site *site, bool waits)
{
    struct pt_deadlock_self *d = self->deadlock;
    struct pt_held *held = find(d, lock);
    bool shared = kind == PT_KIND_RACQ;
    if (held) {
        held->depth++;
        return;
    }
    if (waits && d->held_count)
        nest(self, (struct pt_lock_use){lock, shared}, kind, site);
    if (d->held_count == PT_HELD) {
        d->beyond++;
        return;
    }
    held = &d->held[d->held_count++];
    *held = (struct pt_held){lock, site, 1, shared};
    d->held_hash += hash_of(held);
}

/* What is not listed is one of those beyond, or another thread's, which this one has no right to release. */
static void release(struct pt_deadlock_self *d, uintptr_t lock)
{
    struct pt_held *held = find(d, lock);
    if (!held) {
        d->beyond -= d->beyond > 0;
        return;
    }
    if (--held->depth)
        return;
    d->held_hash -= hash_of(held);
    uint32_t after = (uint32_t)(d->held + --d->held_count - held);
    memmove(held, held + 1, after * sizeof *held);
}

void pt_deadlock_locked(const void *object, int kind, const struct pt_site *site, bool waits)
{
    struct pt_thread *self = pt_thread_self();
    if (!self || self->shadow.busy)
        return;
    pt_thread_enter(self);
    if (self->deadlock->waits) /* this is a handler of a signal that came meanwhile */
        pt_deadlock_unwait(self);
    switch (kind) {
    case PT_KIND_ACQ:
    case PT_KIND_RACQ:
        acquire(self, (uintptr_t)object, (uint32_t)kind, site, waits);
        break;
    case PT_KIND_REL:
    case PT_KIND_RREL:
        release(self->deadlock, (uintptr_t)object);
        break;
    default:
        meet(self, (uintptr_t)object);
        break;
    }
    pt_thread_leave(self);
}

/* ---- the process ---- */

static bool has_part; /* threads have one beside them */

static bool is_wanted(void)
{
    return pt_options.deadlocks || pt_runtime_config()->checks >> PT_FOUND_DEADLOCK & 1;
}

size_t pt_deadlock_part(void)
{
    has_part = is_wanted();
    predicts = !(pt_runtime_config()->checks & PT_CHECKS_HAPPENING);
    return has_part ? sizeof(struct pt_deadlock_self) : 0;
}

void pt_deadlock_start(void)
{
    pt_spin_reset(&pt_deadlocks.lock);
    pt_deadlocks.memory = (struct pt_race_memory){pt_deadlock_take, pt_deadlock_give, NULL, false};
    pt_patterns_begin(&pt_deadlocks.patterns, &pt_deadlocks.memory);
    pt_lock_order_begin(&pt_deadlocks.order, &pt_deadlocks.memory);
    pt_deadlocks.waiting = NULL;
    pt_deadlocks.waiting_count = pt_deadlocks.ends_awaited = 0;
    pt_deadlocks.full = false;
    memset(objects, 0, sizeof objects);
    object_count = 0;
    pt_wrap_looks = has_part && is_wanted();
}

void pt_deadlock_stop(void)
{
    pt_wrap_looks = false;
}
