/*
 * race_free properties: which races they forbid, by the memory and by the threads.
 *
 * The engine looks at all accesses, whatever the properties name: a read that races tells its thread what the write
 * came after (SHB), so a race on other memory may decide whether two accesses are ordered.
 *
 * Guarantee: a race on bytes that a property names, of a thread that it names, is counted for it, whatever else races
 * at the same places. Cost: nothing until a race is met; then a look at each name.
 */
#include "runtime/local/race_properties.h"

#include <stdatomic.h>
#include <string.h>

#include "core/channel.h"
#include "core/hash.h"
#include "runtime/channel/name.h"
#include "runtime/found/found.h"
#include "runtime/found/suppressed.h"
#include "runtime/found/verdict.h"
#include "runtime/local/embedded.h"
#include "runtime/local/monitor_impl.h"
#include "runtime/local/violation.h"
#include "runtime/race/race.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/log.h"
#include "runtime/sys/module.h"
#include "runtime/sys/sys.h"

enum { THREAD_BITS = 20 };
_Static_assert(PT_RACE_PROPERTIES < 63 && PT_RACE_PROPERTIES <= (int)PT_FOUND_PROPERTIES,
               "a bit for each, and one more");

/* Where a variable of a place of the configuration lies. */
struct place {
    _Atomic uintptr_t address; /* 0: not there yet, or: */
    _Atomic uint32_t object;   /* 1 + that of portent_watch, which knows when its memory ends */
};

static struct {
    const char *config;
    const struct pt_race_property *items;
    const struct pt_race_place *places;
    struct place *at; /* by place */
    struct known {
        _Atomic uint64_t named; /* properties that name it */
    } * threads;                /* by number; NULL: there are no properties */
    uint32_t count, place_count;
    uint64_t everywhere, anybody; /* bits of properties: about all memory, about all threads */
    uint64_t suppressed;          /* by their names */
    bool check;
    _Atomic bool stopped;
} races;

static const char *text(uint32_t offset)
{
    return races.config + offset;
}

static uint64_t bit(uint32_t property)
{
    return UINT64_C(1) << property;
}

/* ---- what they name ---- */

void pt_race_properties_resolve(void)
{
    for (uint32_t i = 0; i < races.place_count; i++) {
        uint64_t base;
        const char *module = races.places[i].module ? text(races.places[i].module) : "";
        if (!races.places[i].size || atomic_load_explicit(&races.at[i].address, memory_order_relaxed) ||
            !pt_module_find(module, &base) || pt_embedded_is_other(module))
            continue;
        atomic_store_explicit(&races.at[i].address, base + races.places[i].offset, memory_order_relaxed);
    }
}

void pt_race_properties_watched(uint32_t object)
{
    for (uint32_t i = 0; i < races.place_count; i++)
        if (!races.places[i].size && strcmp(text(races.places[i].name), pt_watch_name(object)) == 0)
            atomic_store_explicit(&races.at[i].object, object + 1, memory_order_relaxed);
}

/* `worker#2` is the second thread of worker. The text lives for ever. */
static const char *name_of(const struct pt_thread *thread)
{
    struct pt_line name = {0};
    if (thread->ordinal <= 1)
        return thread->named;
    pt_line_text(&name, thread->named);
    pt_line_text(&name, "#");
    pt_line_number(&name, thread->ordinal);
    name.text[name.len] = 0;
    return pt_name_text(pt_name_number(name.text));
}

void pt_race_properties_named(const struct pt_thread *thread, const char *name)
{
    uint32_t number = pt_thread_number(thread);
    for (uint32_t i = 0; races.threads && !(number >> THREAD_BITS) && i < races.count; i++)
        if (races.items[i].thread && strcmp(text(races.items[i].thread), name) == 0)
            atomic_fetch_or_explicit(&races.threads[number].named, bit(i), memory_order_relaxed);
}

void pt_race_properties_thread(struct pt_thread *thread)
{
    uint32_t number = pt_thread_number(thread);
    if (!races.threads || number >> THREAD_BITS)
        return;
    pt_monitor_name_thread(thread);
    const char *name = name_of(thread);
    if (!pt_channel->ring_max) /* an observer knows the names by the numbers */
        pt_race_named(number, name);
    pt_race_properties_named(thread, name);
}

/* ---- the beginning ---- */

void pt_race_properties_restart(void)
{
    if (races.threads)
        pt_sys_release((void *)races.threads, sizeof *races.threads << THREAD_BITS);
    memset((void *)&races, 0, sizeof races);
}

void pt_race_properties_configure(struct pt_thread *self, const struct pt_config *config, bool check)
{
    races.check = check;
    races.config = (const char *)config;
    races.items = (const void *)(races.config + config->race_properties);
    races.places = (const void *)(races.config + config->race_places);
    for (uint32_t i = 0; i < config->race_property_count; i++) {
        races.everywhere |= races.items[i].everywhere ? bit(i) : 0;
        races.anybody |= races.items[i].thread ? 0 : bit(i);
        races.suppressed |= pt_suppressed_property(text(races.items[i].name)) ? bit(i) : 0;
    }
    if (!config->race_property_count)
        return;
    races.at = pt_sys_reserve((config->race_place_count + 1) * sizeof *races.at);
    races.threads = pt_sys_reserve_table(sizeof *races.threads << THREAD_BITS);
    if (!races.at || !races.threads || !pt_monitor_names_start(config)) {
        pt_runtime_give_up();
        return;
    }
    races.count = config->race_property_count;
    races.place_count = config->race_place_count;
    pt_race_properties_resolve();
    pt_race_properties_thread(self);
}

void pt_race_properties_stop(void)
{
    atomic_store_explicit(&races.stopped, true, memory_order_relaxed);
}

/* ---- races ---- */

static bool has_byte(uint32_t place, uintptr_t granule, unsigned bytes)
{
    uint32_t object = atomic_load_explicit(&races.at[place].object, memory_order_relaxed);
    uintptr_t from = object ? pt_watch_address(&pt_watched[object - 1])
                            : atomic_load_explicit(&races.at[place].address, memory_order_relaxed);
    uintptr_t to = from + (object ? pt_watched[object - 1].size : races.places[place].size);
    if (!from || from >= granule + 8 || to <= granule)
        return false;
    unsigned first = from > granule ? (unsigned)(from - granule) : 0,
             end = to < granule + 8 ? (unsigned)(to - granule) : 8;
    return bytes & ((1u << end) - (1u << first));
}

uint64_t pt_race_properties_asked(uintptr_t granule, unsigned bytes, uint32_t one, uint32_t other)
{
    uint64_t check = races.check ? PT_RACE_CHECK : 0, about = races.everywhere, threads = races.anybody;
    if (!races.count || atomic_load_explicit(&races.stopped, memory_order_relaxed))
        return check;
    for (uint32_t i = 0; i < races.place_count; i++)
        if (!(about & bit(races.places[i].property)) && has_byte(i, granule, bytes))
            about |= bit(races.places[i].property);
    if (one >> THREAD_BITS == 0)
        threads |= atomic_load_explicit(&races.threads[one].named, memory_order_relaxed);
    if (other >> THREAD_BITS == 0)
        threads |= atomic_load_explicit(&races.threads[other].named, memory_order_relaxed);
    about &= threads;
    return check | (pt_verdict_is_observed() ? about : about & ~races.suppressed);
}

/* A suppression may be about one variable behind a pointer, one element, one thread at the same places: then these are
 * told apart, as far as memory has a name, which an observer knows. */
uint64_t pt_race_properties_apart(uintptr_t address, bool element, uint32_t one, uint32_t other)
{
    if (!pt_suppressed_any())
        return 0;
    uint64_t apart = pt_mix64((uint64_t)(one < other ? one : other) << 32 | (one < other ? other : one));
    bool named = pt_verdict_is_observed() && (!element || pt_suppressed_elements()) && pt_module_covers(address, 1);
    return pt_mix64(named ? apart ^ address : apart);
}

/* The program's functions are called first; halt_on_error ends it after them. */
void pt_race_properties_found(const struct pt_found *found, uint64_t asked)
{
    struct pt_thread *self = pt_thread_now();
    struct pt_found_property forbid[PT_RACE_PROPERTIES];
    struct pt_found whole = *found;
    whole.properties = forbid;
    for (uint32_t i = 0; i < races.count; i++)
        if (asked & bit(i))
            forbid[whole.property_count++] = (struct pt_found_property){i, text(races.items[i].name)};
    if (!pt_found_report(self, &whole, !(asked & ~PT_RACE_CHECK & ~races.suppressed)))
        return;
    for (uint32_t i = 0; i < whole.property_count; i++)
        if (!(races.suppressed & bit((uint32_t)forbid[i].number)))
            pt_violation_notify(self, forbid[i].name);
}
