/*
 * Writing records into the thread's ring (ring.c).
 *
 * Room comes before the number: an event that does not fit is dropped without one, so the numbers in the rings have no
 * gaps and the observer never waits for an event that will not come. A record is published by moving `head` once it is
 * complete; after a crash the file holds every event that was published, and at most one number per thread was taken
 * and not published. Cost: one atomic addition for each event, and its bytes.
 *
 * Of a long clock a record has what the thread's record before did not have: readers know the rest
 * (trace/clock_state.h). Where threads are recorded in full every record has its whole clock, as some make no event.
 * Clocks count by lanes (clock/lane.h): the first record of a thread that has taken one over says so.
 */
#include "runtime/channel/emit.h"

#include <string.h>

#include "core/calls.h"
#include "core/hash.h"
#include "runtime/channel/name.h"
#include "runtime/channel/owner.h"
#include "runtime/channel/self.h"
#include "runtime/sys/module.h"
#include "runtime/sys/sys.h"

static void *place(struct pt_thread *self, uint32_t bytes, enum pt_record_type type)
{
    if (pt_owner_is_other()) {
        pt_runtime_disown();
        return NULL;
    }
    return pt_ring_place(&self->channel->writer, pt_thread_number(self), bytes, type);
}

static void publish(struct pt_thread *self)
{
    pt_ring_publish(&self->channel->writer);
}

/* The same for what must not be missing, where there is an observer. */
static void *place_or_lose(struct pt_thread *self, uint32_t bytes, enum pt_record_type type)
{
    void *record = place(self, bytes, type);
    if (!record && pt_channel->ring_max)
        pt_runtime_lost();
    return record;
}

static uint32_t padded(size_t bytes)
{
    return (uint32_t)((bytes + 7) & ~(size_t)7);
}

static struct {
    struct pt_spin lock;
    uint32_t count;
    const struct pt_site **table; /* open addressing; a site's number is its slot + 1 */
} sites = {.lock = PT_SPIN(PT_RANK_SITE)};
enum { SITE_BITS = 22 };

static uint32_t site_number(const struct pt_site *site)
{
    pt_spin_lock(&sites.lock);
    if (!sites.table)
        sites.table = pt_sys_reserve_table(sizeof *sites.table << SITE_BITS);
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

void pt_emit_restart(void)
{
    pt_spin_reset(&sites.lock);
    pt_ring_restart();
    pt_name_restart();
    pt_place_restart();
}

/* The number of a site that this ring knows; it is described there first unless it was lately. */
static uint32_t known_site(struct pt_thread *self, const struct pt_site *site)
{
    if (!site)
        return 0;
    unsigned slot = ((uintptr_t)site >> 5) % PT_SITE_CACHE;
    if (self->channel->sites[slot].site == site)
        return self->channel->sites[slot].number;
    size_t file = strlen(site->file) + 1, function = strlen(site->function) + 1, variable = strlen(site->variable) + 1;
    uint32_t bytes = padded(sizeof(struct pt_record_site) + file + function + variable);
    uint32_t caller = pt_runtime_records_memory() ? known_site(self, site->caller) : 0;
    uint32_t number = site_number(site);
    struct pt_record_site *record = number ? place(self, bytes, PT_RECORD_SITE) : NULL;
    if (!record)
        return 0;
    record->site = number;
    record->line = site->line;
    record->column = site->column;
    record->caller = caller;
    memcpy(record->texts, site->file, file);
    memcpy(record->texts + file, site->function, function);
    memcpy(record->texts + file + function, site->variable, variable);
    self->channel->sites[slot].site = site;
    self->channel->sites[slot].number = number;
    publish(self);
    return number;
}

static uint64_t hash_calls(const struct pt_calls *calls, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 1; i <= count; i++)
        hash = pt_mix64(hash + (uintptr_t)pt_calls_at(calls, calls->depth - i));
    return hash ? hash : 1;
}

/* The hash of the calls that the thread is in, which this ring knows; 0: there are none, or no room for them. */
static uint64_t known_stack(struct pt_thread *self)
{
    const struct pt_calls *calls = &__portent_calls;
    uint32_t count = calls->depth < PT_STACK_CALLS ? calls->depth : PT_STACK_CALLS;
    uint32_t numbers[PT_STACK_CALLS];
    if (!count)
        return 0;
    uint64_t hash = hash_calls(calls, count);
    if (self->channel->stacks[hash % PT_STACK_CACHE] == hash)
        return hash;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = known_site(self, pt_calls_at(calls, calls->depth - 1 - i));
    struct pt_record_stack *record = place(self, padded(sizeof *record + count * sizeof *numbers), PT_RECORD_STACK);
    if (!record)
        return 0;
    record->hash = hash;
    record->count = count;
    memcpy(record->sites, numbers, count * sizeof *numbers);
    self->channel->stacks[hash % PT_STACK_CACHE] = hash;
    publish(self);
    return hash;
}

uint32_t pt_emit_name(struct pt_thread *self, const char *text)
{
    size_t length = strlen(text) + 1;
    uint32_t number = pt_name_number(text), bytes = padded(sizeof(struct pt_record_name) + length);
    if (!number || self->channel->names[number % PT_NAME_CACHE] == number)
        return number;
    struct pt_record_name *record = place(self, bytes, PT_RECORD_NAME);
    if (!record)
        return 0;
    record->number = number;
    memcpy(record->text, text, length);
    self->channel->names[number % PT_NAME_CACHE] = number;
    publish(self);
    return number;
}

enum { LONG_CLOCK = 1024 };

/* Those pairs of the clock that the earlier one has not; both are sorted. With `out` they are copied there. */
static uint32_t news(struct pt_clock_pairs clock, struct pt_clock_pairs earlier, struct pt_clock_pair *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0, j = 0; i < clock.count; i++) {
        while (j < earlier.count && earlier.pairs[j].lane < clock.pairs[i].lane)
            j++;
        if (j < earlier.count && earlier.pairs[j].lane == clock.pairs[i].lane &&
            earlier.pairs[j].count == clock.pairs[i].count)
            continue;
        if (out)
            out[count] = clock.pairs[i];
        count++;
    }
    return count;
}

/* A record has gone out with the thread's clock. */
static void remember_clock(struct pt_thread *self)
{
    struct pt_clock_self *clock = &self->shadow.clock;
    pt_clock_id before = self->channel->emitted;
    if (before == clock->id)
        return;
    pt_self_give(clock, 1);
    self->channel->emitted = clock->id;
    pt_self_release(clock, before, 1);
}

/* The thread's lane was another's, and no record has said so. */
static bool must_tell_lane(const struct pt_thread *self, enum pt_record_type type)
{
    return self->shadow.clock.lane.taken_over && !self->channel->lane_told && type == PT_RECORD_EVENT;
}

static void put_clock(struct pt_record_event *record, struct pt_clock_pairs clock, struct pt_clock_pairs earlier,
                      const struct pt_clock_lane *lane)
{
    struct pt_clock_pair *out = record->clock;
    if (lane)
        *out++ = (struct pt_clock_pair){lane->number, lane->base};
    if (earlier.count)
        news(clock, earlier, out);
    else if (clock.count)
        memcpy(out, clock.pairs, clock.count * sizeof *out);
}

static struct pt_record_event *place_event(struct pt_thread *self, enum pt_record_type type,
                                           struct pt_clock_pairs clock, uint32_t site, const void *value,
                                           uint32_t bytes)
{
    bool is_long = clock.count > LONG_CLOCK && !pt_runtime_records_full();
    struct pt_clock_pairs earlier = {0}; /* no record has had the thread's first clock */
    if (is_long && self->channel->emitted)
        earlier = pt_clock_pairs_of(&self->shadow.clock, self->channel->emitted);
    bool tells = must_tell_lane(self, type);
    uint32_t pairs = (is_long ? news(clock, earlier, NULL) : clock.count) + tells;
    uint64_t stack = type == PT_RECORD_EVENT && pt_runtime_records_memory() ? known_stack(self) : 0;
    uint32_t after = stack ? (uint32_t)sizeof stack : 0;
    uint32_t total = padded(sizeof(struct pt_record_event) + pairs * sizeof(struct pt_clock_pair) + bytes + after);
    struct pt_record_event *record = place_or_lose(self, total, type);
    if (!record)
        return NULL;
    record->number = 0;
    record->marks = (uint16_t)((stack ? PT_MARK_STACK : 0) | (tells ? PT_MARK_LANE : 0));
    record->thread = pt_thread_number(self);
    record->site = site;
    record->value_bytes = bytes + after;
    record->clock_count = pairs;
    put_clock(record, clock, earlier, tells ? &self->shadow.clock.lane : NULL);
    self->channel->lane_told |= tells;
    if (is_long)
        remember_clock(self);
    if (value)
        memcpy(record->clock + pairs, value, bytes);
    memcpy((char *)(record->clock + pairs) + bytes, &stack, after);
    return record;
}

static struct pt_clock_pairs clock_of(struct pt_thread *self)
{
    return pt_clock_pairs_of(&self->shadow.clock, self->shadow.clock.id);
}

/* What portent.h makes: its place was given before, see place.c. */
static bool is_annotation(enum pt_event_kind kind)
{
    return pt_kind_by(kind) == PT_BY_NAME || pt_kind_by(kind) == PT_BY_INDEX;
}

/* Accesses are emitted while they are under way. */
static uint16_t marks_of(const struct pt_thread *self, enum pt_event_kind kind, bool counted)
{
    const struct pt_locked_range *range = self->shadow.locked;
    bool ordered = pt_op_may_be_ordered(pt_kind_op(kind));
    unsigned marks = counted ? PT_COUNTED : 0;
    if (ordered && range && (!range->sync || range->sync == (uint16_t)kind))
        marks |= (unsigned)range->order << PT_MARK_ORDER | (range->stores ? PT_MARK_STORE : 0);
    if (self->shadow.tries && !self->shadow.steps && pt_op_locks(pt_kind_op(kind))) /* one more line, but no state */
        marks |= PT_MARK_TRIES;
    return (uint16_t)marks;
}

void pt_emit_event(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const struct pt_site *site,
                   const void *value, uint32_t bytes, bool counted)
{
    uint32_t number = known_site(self, is_annotation(kind) ? self->channel->place : site);
    struct pt_record_event *record = place_event(self, PT_RECORD_EVENT, clock_of(self), number, value, bytes);
    if (!record)
        return;
    record->kind = (uint16_t)kind;
    record->marks |= marks_of(self, kind, counted);
    record->object = object;
    record->number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    publish(self);
}

void pt_emit_part(struct pt_thread *self, enum pt_event_kind kind, uint32_t object, const struct pt_site *site,
                  const void *value, uint32_t bytes, bool counted, struct pt_part part)
{
    uint32_t number = known_site(self, site);
    uint32_t total = bytes + (uint32_t)sizeof part;
    struct pt_record_event *record = place_event(self, PT_RECORD_EVENT, clock_of(self), number, NULL, total);
    if (!record)
        return;
    char *at = (char *)(record->clock + record->clock_count);
    memcpy(at, value, bytes);
    memcpy(at + bytes, &part, sizeof part);
    record->kind = (uint16_t)kind;
    record->marks |= marks_of(self, kind, counted) | PT_MARK_PART;
    record->object = object;
    record->number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    publish(self);
}

void pt_emit_fence(struct pt_thread *self, uint8_t order, const struct pt_site *site, bool counted)
{
    uint32_t number = known_site(self, site);
    struct pt_record_event *record = place_event(self, PT_RECORD_EVENT, clock_of(self), number, "", 0);
    if (!record)
        return;
    record->kind = PT_KIND_FENCE;
    record->marks |= (uint16_t)((unsigned)order << PT_MARK_ORDER | (counted ? PT_COUNTED : 0));
    record->object = 0;
    record->number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    publish(self);
}

void pt_emit_access(struct pt_thread *self, enum pt_event_kind kind, const struct pt_site *site,
                    struct pt_access access, size_t bytes, bool counted)
{
    uint32_t number = known_site(self, site);
    struct pt_record_event *record =
        place_event(self, PT_RECORD_EVENT, clock_of(self), number, NULL, (uint32_t)(sizeof access + bytes));
    if (!record)
        return;
    char *value = (char *)(record->clock + record->clock_count);
    memcpy(value, &access, sizeof access);
    memcpy(value + sizeof access, (const void *)(uintptr_t)access.address, bytes);
    record->kind = (uint16_t)kind;
    record->marks |= marks_of(self, kind, counted);
    record->object = 0;
    record->number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    publish(self);
}

void pt_emit_value(struct pt_thread *self, enum pt_record_type type, uint32_t object, const struct pt_site *site,
                   const void *value, uint32_t bytes)
{
    uint32_t number = known_site(self, site);
    struct pt_record_event *record = place_event(self, type, (struct pt_clock_pairs){0}, number, value, bytes);
    if (!record)
        return;
    record->kind = PT_KIND_WRITE;
    record->object = object;
    publish(self);
}

void pt_emit_thread(struct pt_thread *self, const struct pt_thread *thread, uint64_t start, const char *name)
{
    uint32_t bytes = padded(sizeof(struct pt_record_thread) + strlen(name) + 1);
    struct pt_record_thread *record = place_or_lose(self, bytes, PT_RECORD_THREAD);
    if (!record)
        return;
    record->thread = pt_thread_number(thread);
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
    struct pt_record_module *record = place_or_lose(self, bytes, PT_RECORD_MODULE);
    if (!record)
        return;
    record->base = base;
    record->low = low;
    record->high = high;
    memcpy(record->file, file, strlen(file) + 1);
    publish(self);
}

void pt_emit_watch(struct pt_thread *self, uint32_t object, uint32_t type, uint32_t size, const char *name)
{
    uint32_t bytes = padded(sizeof(struct pt_record_watch) + strlen(name) + 1);
    struct pt_record_watch *record = place_or_lose(self, bytes, PT_RECORD_WATCH);
    if (!record)
        return;
    record->var = object;
    record->type = type;
    record->size = size;
    memcpy(record->name, name, strlen(name) + 1);
    publish(self);
}

void pt_emit_object(struct pt_thread *self, uintptr_t address, const char *name)
{
    struct pt_record_object *record = place(self, padded(sizeof *record + strlen(name) + 1), PT_RECORD_OBJECT);
    if (!record) /* it goes by its address, then */
        return;
    record->address = address;
    memcpy(record->name, name, strlen(name) + 1);
    publish(self);
}

void pt_emit_local(struct pt_thread *self, const struct pt_record_local *what, const char *thread, const char *report)
{
    size_t name = strlen(thread) + 1;
    uint32_t bytes = padded(sizeof *what + name + what->report);
    struct pt_record_local *record = place_or_lose(self, bytes, PT_RECORD_LOCAL);
    if (!record)
        return;
    struct pt_record head = record->head;
    *record = *what;
    record->head = head;
    record->thread = pt_thread_number(self);
    memcpy(record->texts, thread, name);
    memcpy(record->texts + name, report, what->report);
    publish(self);
}

void pt_emit_found(struct pt_thread *self, uint64_t key, uint64_t count, const char *report, uint32_t bytes)
{
    struct pt_record_found *record = place_or_lose(self, padded(sizeof *record + bytes), PT_RECORD_FOUND);
    if (!record)
        return;
    record->key = key;
    record->count = count;
    record->thread = pt_thread_number(self);
    record->bytes = bytes;
    if (bytes)
        memcpy(record->report, report, bytes);
    publish(self);
}

void pt_emit_end(struct pt_thread *self)
{
    pt_self_release(&self->shadow.clock, self->channel->emitted, 1);
    self->channel->emitted = 0;
    if (!pt_owner_is_other())
        pt_ring_end(&self->channel->writer);
}
