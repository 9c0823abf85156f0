/*
 * Threads as the properties count them: their names, which are those that `portent run` gives them in traces, and their
 * slots. The only lock of decentralised monitoring is here, and is taken when a thread is started.
 *
 * Guarantee: a thread has one slot for its life, and a name that no other thread of the process has. Cost: one lock,
 * and a search among the named threads, for each start.
 */
#include <string.h>

#include "runtime/channel/name.h"
#include "runtime/local/embedded.h"
#include "runtime/local/monitor_impl.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/log.h"
#include "runtime/sys/module.h"
#include "runtime/sys/sys.h"

enum { SLOT_BITS = 17, NAME_BITS = 16, MAX_GROUPS = 64 };

struct slot {
    const char *name;
    struct pt_fact *fact; /* of version 0, of named threads: made before they start */
    struct pt_local_monitor *monitor;
    bool met;
};

/* Functions of one module, in order of their addresses. */
struct group {
    const char *module;
    const struct pt_function *functions;
    uint32_t count;
};

static struct {
    struct pt_spin lock;
    _Atomic uint32_t used;
    bool others; /* threads that no property names have slots too */
    struct slot *slots;
    uint32_t *uses; /* of a name so far, by its number */
    struct group groups[MAX_GROUPS];
    uint32_t group_count;
    const char *texts;
} threads = {.lock = PT_SPIN(PT_RANK_MONITOR)};

/* The tables are made again. */
void pt_monitor_slots_restart(void)
{
    pt_spin_reset(&threads.lock);
    atomic_store(&threads.used, 0);
    threads.group_count = 0;
    if (threads.slots)
        pt_sys_release(threads.slots, sizeof *threads.slots << SLOT_BITS);
    if (threads.uses)
        pt_sys_release(threads.uses, sizeof *threads.uses << NAME_BITS);
    threads.slots = NULL;
    threads.uses = NULL;
}

bool pt_monitor_names_start(const struct pt_config *config)
{
    const struct pt_function *functions = (const void *)((const char *)config + config->functions);
    if (threads.uses)
        return true;
    threads.texts = (const char *)config;
    threads.uses = pt_sys_reserve(sizeof *threads.uses << NAME_BITS);
    for (uint32_t i = 0; i < config->function_count; i++) {
        struct group *last = threads.group_count ? &threads.groups[threads.group_count - 1] : NULL;
        if (!last || last->functions[0].module != functions[i].module) {
            if (threads.group_count == MAX_GROUPS)
                break;
            last = &threads.groups[threads.group_count++];
            *last = (struct group){functions[i].module ? threads.texts + functions[i].module : "", &functions[i], 0};
        }
        last->count++;
    }
    return threads.uses;
}

bool pt_monitor_slots_start(const struct pt_mttl *block, const struct pt_config *config)
{
    uint32_t named = block->threads.count;
    threads.slots = pt_sys_reserve(sizeof *threads.slots << SLOT_BITS);
    if (!threads.slots || !pt_monitor_names_start(config))
        return false;
    threads.others = pt_mttl_steps(block, named) || pt_mttl_tracks(block, named);
    for (uint32_t i = 0; i < named; i++) {
        const struct pt_mttl_name *name = pt_mttl_at(block, threads, struct pt_mttl_name, i);
        threads.slots[i] = (struct slot){.name = pt_mttl_string(block, name->target)};
    }
    atomic_store(&threads.used, named);
    return true;
}

uint32_t pt_monitor_used(void)
{
    return atomic_load_explicit(&threads.used, memory_order_acquire);
}

const char *pt_monitor_slot_name(uint32_t slot)
{
    return slot < pt_monitor_used() && threads.slots[slot].name ? threads.slots[slot].name : "thread";
}

/* --- names --- */

static const char *function_at(const struct group *group, uint64_t offset)
{
    uint32_t low = 0, high = group->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (group->functions[middle].offset == offset)
            return threads.texts + group->functions[middle].name;
        if (group->functions[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const char *function_of(const struct pt_thread *thread)
{
    const char *name = NULL;
    uint64_t base;
    if (pt_thread_number(thread) == 0)
        return "main";
    for (uint32_t i = 0; thread->runs && !name && i < threads.group_count; i++)
        if (pt_module_find(threads.groups[i].module, &base) && thread->runs >= base &&
            !pt_embedded_is_other(threads.groups[i].module))
            name = function_at(&threads.groups[i], thread->runs - base);
    return name ? name : "thread";
}

/* `worker`, then `worker#2`, ... in the order in which they are started. */
static void name_thread(struct pt_thread *thread)
{
    if (thread->ordinal)
        return;
    thread->named = function_of(thread);
    uint32_t number = pt_name_number(thread->named);
    thread->ordinal = number >> NAME_BITS ? 1 : ++threads.uses[number];
}

void pt_monitor_name_thread(struct pt_thread *thread)
{
    pt_spin_lock(&threads.lock);
    name_thread(thread);
    pt_spin_unlock(&threads.lock);
}

/* The name in full; unless it is thread->named it is the pool's. */
static const char *full_name(struct pt_thread *actor, const struct pt_thread *thread)
{
    struct pt_line ordinal = {0};
    size_t length = strlen(thread->named);
    pt_line_text(&ordinal, "#");
    pt_line_number(&ordinal, thread->ordinal);
    char *name = thread->ordinal > 1 ? pt_pool_take(pt_thread_pool(actor), length + ordinal.len + 1) : NULL;
    if (!name)
        return thread->named;
    memcpy(name, thread->named, length);
    memcpy(name + length, ordinal.text, ordinal.len);
    name[length + ordinal.len] = 0;
    return name;
}

/* --- slots --- */

static uint32_t find_slot(const char *name)
{
    for (uint32_t i = 0; i < pt_monitor_block->threads.count; i++)
        if (!threads.slots[i].met && strcmp(threads.slots[i].name, name) == 0)
            return i;
    return PT_MTTL_NONE;
}

/* The slot of a thread that starts; PT_MTTL_NONE when the properties are not about it. */
static uint32_t take_slot(struct pt_thread *actor, struct pt_thread *thread)
{
    pt_spin_lock(&threads.lock);
    name_thread(thread);
    const char *name = full_name(actor, thread), *kept = NULL;
    uint32_t slot = find_slot(name);
    if (slot == PT_MTTL_NONE && threads.others && !(pt_monitor_used() >> SLOT_BITS)) {
        slot = pt_monitor_used();
        threads.slots[slot].name = kept = name;
        /* release: the name is there for whoever hears of the slot */
        atomic_store_explicit(&threads.used, slot + 1, memory_order_release);
    }
    if (slot != PT_MTTL_NONE)
        threads.slots[slot].met = true;
    pt_spin_unlock(&threads.lock);
    if (!kept && name != thread->named)
        pt_pool_give(pt_thread_pool(actor), (void *)(uintptr_t)name);
    return slot;
}

static struct pt_fact *first_fact(struct pt_thread *actor, const struct pt_local_monitor *monitor)
{
    return monitor->tracks && monitor->next ? pt_monitor_first_fact(actor, monitor) : NULL;
}

void pt_monitor_introduce_named(struct pt_thread *self)
{
    for (uint32_t i = 0; i < pt_monitor_block->threads.count; i++) {
        struct slot *slot = &threads.slots[i];
        slot->monitor = pt_monitor_make(self, i);
        slot->fact = slot->monitor ? first_fact(self, slot->monitor) : NULL;
    }
}

/* The thread knows of itself, and so does who forked it: its fact goes into both clocks. */
static void settle(struct pt_thread *thread, struct pt_thread *actor, uint32_t at, bool forked)
{
    struct slot *slot = &threads.slots[at];
    struct pt_local_monitor *monitor = slot->monitor ? slot->monitor : pt_monitor_make(actor, at);
    struct pt_fact *fact = slot->fact ? slot->fact : monitor ? first_fact(actor, monitor) : NULL;
    slot->monitor = NULL;
    slot->fact = NULL;
    if (monitor)
        pt_monitor_starts(actor, monitor);
    thread->local->monitor = monitor;
    thread->shadow.steps = monitor && monitor->steps;
    thread->shadow.quiet = false;
    if (fact)
        pt_monitor_learn(forked ? actor : thread, fact);
    pt_shadow_refresh(&thread->shadow);
    if (!forked) /* otherwise it begins later, or never */
        pt_monitor_begin(thread);
}

void pt_monitor_introduce(struct pt_thread *thread, struct pt_thread *parent)
{
    struct pt_thread *actor = parent ? parent : thread;
    uint32_t slot = take_slot(actor, thread);
    if (slot != PT_MTTL_NONE)
        settle(thread, actor, slot, parent != NULL);
}

void pt_monitor_drop(struct pt_thread *self, struct pt_thread *thread)
{
    pt_monitor_unmake(self, thread->local->monitor);
    thread->local->monitor = NULL;
    thread->shadow.steps = false;
}

/* Only where its start function said nothing: a thread that has a slot keeps it. */
void pt_monitor_rename(struct pt_thread *self, struct pt_thread *thread, const char *name)
{
    if (thread->local->monitor || self != thread)
        return;
    pt_spin_lock(&threads.lock);
    uint32_t slot = find_slot(name);
    if (slot != PT_MTTL_NONE)
        threads.slots[slot].met = true;
    pt_spin_unlock(&threads.lock);
    if (slot != PT_MTTL_NONE)
        settle(thread, self, slot, false);
}
