/*
 * Entries that meet: the two accesses of a race, the locks of a deadlock, a free and the use of what it frees. Each
 * thread comes to stand right before its own event, where the observer can see it; when all stand, they are done in the
 * order of the schedule.
 *
 * An entry is known by its variable, where that has a name, and else by its place in the source. A thread may pass
 * there several times: how often before the predicted run ends is in `skip`, and two that stand before different memory
 * have not met: the first goes on, and may stand there again. What is known by its place has no event of its own when
 * it is done, so it counts as done when its thread comes to the next stop.
 *
 * Of a bare schedule nobody knows how often. There a thread stands for a while only (stand_ns), and goes on if the
 * others have not come: they may wait for what it does next; or when one of them has come to other memory.
 *
 * Guarantee: `met` is said only while all stand, and of two accesses only if they are of the same memory. Cost: per
 * access of a thread whose next entry is one of these, a comparison of places.
 */
#include "runtime/channel/gate_impl.h"

#include <string.h>

#include "core/site.h"
#include "runtime/channel/self.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/sys.h"

enum { LOOK_NS = 50 * 1000 };

/* One of the names may have more folders before it than the other. */
static bool is_file(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    const char *longer = m > n ? a : b, *shorter = m > n ? b : a;
    size_t more = m > n ? m - n : n - m;
    return *shorter && strcmp(longer + more, shorter) == 0 && (!more || longer[more - 1] == '/');
}

static bool overlap(uintptr_t a, size_t size, uintptr_t b, size_t other)
{
    return a < b + other && b < a + size;
}

static bool is_at(const struct pt_gate_place *place, const struct gate_event *event)
{
    return event->site && event->site->line == place->line && is_file(event->site->file, place->file);
}

static bool is_of(uint32_t at, const struct gate_event *event)
{
    const struct pt_gate_entry *entry = &pt_gate_entries(pt_gate)[at];
    const struct pt_gate_place *place = &pt_gate->places[at + pt_gate->meets - pt_gate->count];
    if (entry->kind == PT_GATE_READ || entry->kind == PT_GATE_WRITE) {
        const struct pt_watched *watched = &pt_watched[entry->object];
        return (entry->kind == PT_GATE_READ) == (event->kind == PT_GATE_AT_READ) && event->kind <= PT_GATE_AT_WRITE &&
               entry->object < pt_runtime_config()->watch_count &&
               overlap(event->address, event->size, pt_watch_address(watched), watched->size) &&
               (!event->site || !place->line || is_at(place, event));
    }
    bool same = entry->kind == event->kind || (entry->kind == PT_GATE_AT_TAKE && event->kind == PT_GATE_AT_LOCK);
    return same && (event->kind == PT_GATE_AT_FREE || is_at(place, event));
}

/* By its entry; NULL: it does not stand before it. */
static struct pt_gate_thread *standing(uint32_t at)
{
    struct pt_gate_actor *actor = &pt_gate_actors(pt_gate)[pt_gate_entries(pt_gate)[at].role];
    uint32_t number = atomic_load_explicit(&actor->number, memory_order_relaxed);
    if (!number || number > PT_GATE_THREADS)
        return NULL;
    struct pt_gate_thread *thread = &pt_gate_threads(pt_gate)[number - 1];
    /* acquire: partner of the release in stand; address and size are those it stands before */
    return atomic_load_explicit(&thread->stands, memory_order_acquire) == at + 1 ? thread : NULL;
}

static bool is_lock(uint32_t at)
{
    uint32_t kind = pt_gate_entries(pt_gate)[at].kind;
    return kind == PT_GATE_AT_LOCK || kind == PT_GATE_AT_TAKE;
}

/* Its thread has an entry before it that meets, too: that is where it stands. */
static bool comes_later(uint32_t first, uint32_t at)
{
    const struct pt_gate_entry *entries = pt_gate_entries(pt_gate);
    for (uint32_t i = first; i < at; i++)
        if (entries[i].role == entries[at].role)
            return true;
    return false;
}

static bool all_stand(uint32_t first)
{
    for (uint32_t at = first; at < pt_gate->count; at++)
        if (!comes_later(first, at) && !standing(at))
            return false;
    return true;
}

/* All stand: what the observer will tell. False: they stand before different memory. */
static bool note_meeting(uint32_t first)
{
    uint64_t address[2] = {0}, size[2] = {0};
    bool two = pt_gate->meets == 2, locks = is_lock(first) || is_lock(pt_gate->count - 1);
    for (uint32_t i = 0; two && i < 2; i++) {
        const struct pt_gate_thread *thread = standing(first + i);
        address[i] = thread ? atomic_load_explicit(&thread->address, memory_order_relaxed) : 0;
        size[i] = thread ? atomic_load_explicit(&thread->size, memory_order_relaxed) : 0;
    }
    if (two && !locks && !overlap(address[0], size[0], address[1], size[1]))
        return false;
    memcpy(pt_gate->met_address, address, sizeof address);
    memcpy(pt_gate->met_size, size, sizeof size);
    /* release: partner of the observer's load */
    atomic_store_explicit(&pt_gate->met, 1, memory_order_release);
    return true;
}

/* Of a bare schedule: whoever stands before other memory than the first goes on, and may stand there again. */
static void send_on(uint32_t first)
{
    for (uint32_t at = first + 1; at < pt_gate->count; at++) {
        struct pt_gate_thread *thread = comes_later(first, at) ? NULL : standing(at);
        uint32_t before = at + 1;
        if (thread)
            atomic_compare_exchange_strong(&thread->stands, &before, 0);
    }
    pt_sys_wake_all(&pt_gate->turn);
}

/* The thread of the first entry waits for the others. False: they have not met after all. */
static bool await_others(struct pt_gate_thread *slot, uint32_t first)
{
    uint32_t before = pt_gate_say(slot, PT_GATE_WAITS_TURN);
    uint64_t most = pt_gate->stand_ns ? pt_gate->stand_ns : UINT64_MAX;
    bool met = pt_gate_is_open(), apart = false;
    for (uint64_t waited = 0; !met && !apart && waited < most; waited += LOOK_NS) {
        bool together = all_stand(first);
        apart = together && !note_meeting(first);
        if (apart && pt_gate->stand_ns) {
            send_on(first);
            together = apart = false;
        }
        /* seq_cst, both sides: whoever goes on without having met has said so before it looks whether it has */
        if (together && !apart && !all_stand(first))
            atomic_store(&pt_gate->met, 0);
        met = pt_gate_is_open() || (together && !apart && atomic_load(&pt_gate->met));
        if (!met && !apart)
            pt_sys_sleep(LOOK_NS);
    }
    pt_gate_say(slot, before);
    return met;
}

/* Stands before its entry until that is its turn. False: it has stood there long enough. */
static bool stand(struct pt_thread *self, struct pt_gate_thread *slot, uint32_t at)
{
    uint64_t slice = pt_gate->stand_ns ? GATE_SLICE_NS : UINT64_MAX;
    /* seq_cst, for await_others; as a release it is the partner of the acquire in standing */
    atomic_store(&slot->stands, at + 1);
    for (uint64_t stood = 0;; stood += slice) {
        pt_gate_wait_turn(self, slice);
        if (pt_gate_is_open() || atomic_load_explicit(&pt_gate->turn, memory_order_acquire) >= at)
            return true;
        if (!atomic_load(&slot->stands))
            return false; /* it was sent on */
        if (stood < pt_gate->stand_ns)
            continue;
        atomic_store(&slot->stands, 0);
        if (!atomic_load(&pt_gate->met))
            return false;
        atomic_store(&slot->stands, at + 1);
    }
}

bool pt_gate_meet(struct pt_thread *self, const struct gate_event *event)
{
    uint32_t at = pt_gate->meets ? pt_gate_next_entry(self) : 0;
    struct pt_gate_thread *slot = pt_gate_slot(self);
    if (!pt_gate->meets || !slot || at == pt_gate->count || at + pt_gate->meets < pt_gate->count)
        return false;
    const struct pt_gate_entry *entry = &pt_gate_entries(pt_gate)[at];
    bool placed = entry->kind >= PT_GATE_AT_READ;
    struct pt_gate_place *place = &pt_gate->places[at + pt_gate->meets - pt_gate->count];
    if (!is_of(at, event))
        return false;
    if (placed && place->skip) {
        place->skip--;
        return false;
    }
    atomic_store_explicit(&slot->address, event->address, memory_order_relaxed);
    atomic_store_explicit(&slot->size, event->size, memory_order_relaxed);
    bool done = stand(self, slot, at) && (at + pt_gate->meets != pt_gate->count || await_others(slot, at));
    atomic_store_explicit(&slot->stands, 0, memory_order_relaxed);
    place->skip = place->each;
    if (done && entry->kind == PT_GATE_AT_LOCK)
        pt_gate_mark_done(at); /* it will be waited for, and never taken */
    else if (done && placed)
        self->channel->gate_pending = at + 1;
    return done;
}

void pt_gate_flush(struct pt_thread *self)
{
    uint32_t pending = self->channel->gate_pending;
    if (__builtin_expect(!pending, 1))
        return;
    self->channel->gate_pending = 0;
    if (!pt_gate_is_open())
        pt_gate_mark_done(pending - 1);
}

void pt_gate_before_free(const void *memory, size_t size)
{
    struct pt_thread *self = pt_thread_now();
    struct gate_event event = {PT_GATE_AT_FREE, (uintptr_t)memory, size, NULL};
    if (!self || self->shadow.busy)
        return;
    pt_gate_flush(self);
    if (!pt_gate_is_open()) /* libc frees with locks of its own: nobody is held there for any other reason */
        (void)pt_gate_meet(self, &event);
}
