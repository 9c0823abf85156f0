/*
 * Writing records into the thread's ring.
 *
 * Room comes before the number: an event that does not fit is dropped without one, so the numbers in the rings have no
 * gaps and the observer never waits for an event that will not come. A record is published by moving `head` once it is
 * complete; after a crash the file holds every event that was published, and at most one number per thread was taken
 * and not published.
 */
#include "runtime/channel/emit.h"

#include <string.h>
#include <x86intrin.h>

#include "runtime/channel/module.h"
#include "runtime/channel/name.h"
#include "runtime/sys/sys.h"

enum { WAIT_NS = 20 * 1000 * 1000, RING_WAIT_NS = 200 * 1000, WAKE_CYCLES = 100 * 1000 };

void pt_emit_lost(void)
{
    atomic_fetch_add_explicit(&pt_channel->dropped, 1, memory_order_relaxed);
}

static bool may_wait(void)
{
    return pt_channel->on_full == PT_ON_FULL_BLOCK &&
           !atomic_load_explicit(&pt_channel->observer_gone, memory_order_relaxed);
}

static void wake_observer(struct pt_thread *self)
{
    self->last_wake = __rdtsc();
    atomic_fetch_add_explicit(&pt_channel->wake, 1, memory_order_release);
    pt_sys_wake(&pt_channel->wake);
}

static bool claim(struct pt_thread *self, uint32_t index)
{
    struct pt_ring *ring = (void *)((char *)pt_channel + pt_channel->rings_offset +
                                    index * (sizeof(struct pt_ring) + pt_channel->ring_bytes));
    uint32_t state = PT_RING_FREE;
    /* acquire: partner of the observer's release when it frees the ring; head and tail go on from where they were */
    if (!atomic_compare_exchange_strong_explicit(&ring->state, &state, PT_RING_ACTIVE, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    ring->thread = self->number;
    self->ring = ring;
    self->head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    self->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    memset(self->sites, 0, sizeof self->sites);
    memset(self->names, 0, sizeof self->names);
    uint32_t used = atomic_load_explicit(&pt_channel->rings_used, memory_order_relaxed);
    while (used < index + 1 && !atomic_compare_exchange_weak(&pt_channel->rings_used, &used, index + 1))
        ;
    return true;
}

static bool have_ring(struct pt_thread *self)
{
    while (!self->ring) {
        for (uint32_t i = 0; i < pt_channel->ring_max && !self->ring; i++)
            claim(self, i);
        if (self->ring)
            break;
        if (!may_wait())
            return false;
        wake_observer(self);
        pt_sys_sleep(RING_WAIT_NS);
    }
    return true;
}

static bool fits(struct pt_thread *self, uint64_t bytes)
{
    if (self->head + bytes - self->tail_seen <= pt_channel->ring_bytes)
        return true;
    /* acquire: partner of the observer's release; it has read what we are about to write over */
    self->tail_seen = atomic_load_explicit(&self->ring->tail, memory_order_acquire);
    return self->head + bytes - self->tail_seen <= pt_channel->ring_bytes;
}

/* Waits until `bytes` fit in one piece, or says no. Fills the end of the ring when they do not fit before it. */
static bool have_room(struct pt_thread *self, uint64_t bytes)
{
    if (!have_ring(self) || bytes > pt_channel->ring_bytes / 2)
        return false;
    uint64_t at = self->head & (pt_channel->ring_bytes - 1), rest = pt_channel->ring_bytes - at;
    uint64_t need = rest < bytes ? rest + bytes : bytes;
    while (!fits(self, need)) {
        uint32_t seen = atomic_load_explicit(&self->ring->room, memory_order_acquire);
        if (!may_wait())
            return false;
        wake_observer(self);
        if (!fits(self, need))
            pt_sys_wait(&self->ring->room, seen, WAIT_NS);
    }
    if (rest < bytes) {
        *(struct pt_record *)(self->ring->data + at) = (struct pt_record){(uint32_t)rest, PT_RECORD_PAD};
        self->head += rest;
    }
    return true;
}

static void *place(struct pt_thread *self, uint32_t bytes, enum pt_record_type type)
{
    struct pt_record *record = (void *)(self->ring->data + (self->head & (pt_channel->ring_bytes - 1)));
    *record = (struct pt_record){bytes, type};
    self->head += bytes;
    return record;
}

static void publish(struct pt_thread *self)
{
    uint64_t before = atomic_load_explicit(&self->ring->head, memory_order_relaxed);
    /* release: partner of the observer's acquire */
    atomic_store_explicit(&self->ring->head, self->head, memory_order_release);
    /* If it had read everything the observer may sleep. It never sleeps for long, so a wake-up that was just given need
     * not be given again. */
    if (atomic_load_explicit(&self->ring->tail, memory_order_relaxed) == before &&
        __rdtsc() - self->last_wake > WAKE_CYCLES)
        wake_observer(self);
}

static uint32_t padded(size_t bytes)
{
    return (uint32_t)((bytes + 7) & ~(size_t)7);
}

static struct {
    struct pt_spin lock;
    uint32_t count;
    const struct pt_site **table; /* open addressing; a site's number is its slot + 1 */
} sites;
enum { SITE_BITS = 22 };

static uint32_t site_number(const struct pt_site *site)
{
    pt_spin_lock(&sites.lock);
    if (!sites.table)
        sites.table = pt_sys_reserve(sizeof *sites.table << SITE_BITS);
    uint32_t number = 0;
    if (sites.table && sites.count < 3u << (SITE_BITS - 2)) {
        uint32_t slot = (uint32_t)(((uintptr_t)site * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SITE_BITS));
        while (sites.table[slot] && sites.table[slot] != site)
            slot = (slot + 1) & ((1u << SITE_BITS) - 1);
        sites.count += !sites.table[slot];
        sites.table[slot] = site;
        number = slot + 1;
    }
    pt_spin_unlock(&sites.lock);
    return number;
}

/* The number of a site that this ring knows; it is described there first unless it was lately. */
static uint32_t known_site(struct pt_thread *self, const struct pt_site *site)
{
    if (!site)
        return 0;
    unsigned slot = ((uintptr_t)site >> 5) % PT_SITE_CACHE;
    if (self->sites[slot].site == site)
        return self->sites[slot].number;
    size_t file = strlen(site->file) + 1, function = strlen(site->function) + 1, variable = strlen(site->variable) + 1;
    uint32_t bytes = padded(sizeof(struct pt_record_site) + file + function + variable);
    uint32_t number = site_number(site);
    if (!number || !have_room(self, bytes))
        return 0;
    struct pt_record_site *record = place(self, bytes, PT_RECORD_SITE);
    record->site = number;
    record->line = site->line;
    record->column = site->column;
    memcpy(record->texts, site->file, file);
    memcpy(record->texts + file, site->function, function);
    memcpy(record->texts + file + function, site->variable, variable);
    self->sites[slot].site = site;
    self->sites[slot].number = number;
    publish(self);
    return number;
}

uint32_t pt_emit_name(struct pt_thread *self, const char *text)
{
    size_t length = strlen(text) + 1;
    uint32_t number = pt_name_number(text), bytes = padded(sizeof(struct pt_record_name) + length);
    if (!number || self->names[number % PT_NAME_CACHE] == number)
        return number;
    if (!have_room(self, bytes))
        return 0;
    struct pt_record_name *record = place(self, bytes, PT_RECORD_NAME);
    record->number = number;
    memcpy(record->text, text, length);
    self->names[number % PT_NAME_CACHE] = number;
    publish(self);
    return number;
}

static struct pt_record_event *place_event(struct pt_thread *self, enum pt_record_type type,
                                           const struct pt_clock *clock, uint32_t site, const void *value,
                                           uint32_t bytes)
{
    uint32_t pairs = clock ? clock->count : 0;
    uint32_t total = padded(sizeof(struct pt_record_event) + pairs * sizeof(struct pt_clock_pair) + bytes);
    if (!have_room(self, total)) {
        pt_emit_lost();
        return NULL;
    }
    struct pt_record_event *record = place(self, total, type);
    record->number = 0;
    record->thread = self->number;
    record->site = site;
    record->value_bytes = bytes;
    record->clock_count = pairs;
    if (pairs)
        memcpy(record->clock, clock->pairs, pairs * sizeof(struct pt_clock_pair));
    if (value)
        memcpy(record->clock + pairs, value, bytes);
    return record;
}

/* What portent.h makes: its place was told before, see place.c. */
static bool is_annotation(enum pt_event_kind kind)
{
    return pt_kind_by(kind) == PT_BY_NAME || pt_kind_by(kind) == PT_BY_INDEX;
}

void pt_emit_event(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const struct pt_site *site,
                   const void *value, uint32_t bytes, bool counted)
{
    uint32_t number = known_site(self, is_annotation(kind) ? self->place : site);
    struct pt_record_event *record =
        place_event(self, PT_RECORD_EVENT, self->clock ? &pt_clocks[self->clock] : NULL, number, value, bytes);
    if (!record)
        return;
    record->kind = (uint16_t)kind;
    record->counted = counted;
    record->object = object;
    record->number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    publish(self);
}

void pt_emit_access(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                    struct pt_access access, size_t bytes, bool counted)
{
    uint32_t number = known_site(self, site);
    struct pt_record_event *record = place_event(self, PT_RECORD_EVENT, self->clock ? &pt_clocks[self->clock] : NULL,
                                                 number, NULL, (uint32_t)(sizeof access + bytes));
    if (!record)
        return;
    char *value = (char *)(record->clock + record->clock_count);
    memcpy(value, &access, sizeof access);
    memcpy(value + sizeof access, (const void *)(uintptr_t)access.address, bytes);
    record->kind = (uint16_t)kind;
    record->counted = counted;
    record->object = 0;
    record->number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    publish(self);
}

void pt_emit_value(struct pt_thread *self, enum pt_record_type type, uint32_t object, const struct pt_site *site,
                   const void *value, uint32_t bytes)
{
    uint32_t number = known_site(self, site);
    struct pt_record_event *record = place_event(self, type, NULL, number, value, bytes);
    if (!record)
        return;
    record->kind = PT_KIND_WRITE;
    record->counted = false;
    record->object = object;
    publish(self);
}

void pt_emit_thread(struct pt_thread *self, const struct pt_thread *thread, uint64_t start, const char *name)
{
    uint32_t bytes = padded(sizeof(struct pt_record_thread) + strlen(name) + 1);
    if (!have_room(self, bytes)) {
        pt_emit_lost();
        return;
    }
    struct pt_record_thread *record = place(self, bytes, PT_RECORD_THREAD);
    record->thread = thread->number;
    record->parent = thread->parent;
    record->start = start;
    record->module_base = start ? pt_module_base(start) : 0;
    record->ordinal = thread->ordinal;
    record->unused = 0;
    memcpy(record->name, name, strlen(name) + 1);
    publish(self);
}

void pt_emit_module(struct pt_thread *self, const char *file, uint64_t base, uint64_t low, uint64_t high)
{
    uint32_t bytes = padded(sizeof(struct pt_record_module) + strlen(file) + 1);
    if (!have_room(self, bytes)) {
        pt_emit_lost();
        return;
    }
    struct pt_record_module *record = place(self, bytes, PT_RECORD_MODULE);
    record->base = base;
    record->low = low;
    record->high = high;
    memcpy(record->file, file, strlen(file) + 1);
    publish(self);
}

void pt_emit_watch(struct pt_thread *self, uint32_t object, uint32_t type, uint32_t size, const char *name)
{
    uint32_t bytes = padded(sizeof(struct pt_record_watch) + strlen(name) + 1);
    if (!have_room(self, bytes)) {
        pt_emit_lost();
        return;
    }
    struct pt_record_watch *record = place(self, bytes, PT_RECORD_WATCH);
    record->var = object;
    record->type = type;
    record->size = size;
    memcpy(record->name, name, strlen(name) + 1);
    publish(self);
}

void pt_emit_local(struct pt_thread *self, const struct pt_record_local *what, const char *thread, const char *told,
                   const struct pt_access *parts)
{
    size_t name = strlen(thread) + 1, before = what->parts * sizeof *parts;
    uint32_t bytes = padded(sizeof *what + before + name + what->told);
    if (!have_room(self, bytes)) {
        pt_emit_lost();
        return;
    }
    struct pt_record_local *record = place(self, bytes, PT_RECORD_LOCAL);
    struct pt_record head = record->head;
    *record = *what;
    record->head = head;
    record->thread = self->number;
    memcpy(record->texts, parts, before);
    memcpy(record->texts + before, thread, name);
    memcpy(record->texts + before + name, told, what->told);
    publish(self);
}

void pt_emit_end(struct pt_thread *self)
{
    if (!self->ring)
        return;
    /* release: everything is in the ring before it is given up */
    atomic_store_explicit(&self->ring->state, PT_RING_ENDED, memory_order_release);
    self->ring = NULL;
    wake_observer(self);
}
