/*
 * One event of a thread, in the four steps of core/mttl.h: knowledge was taken in with the clock; evaluate; show what
 * is new, as a fact that goes into the clock; and the clock is given out by whoever called.
 *
 * Cost of an event that is no news (the knowledge, the thread's own variables and the last truth values are as they
 * were): one comparison. Otherwise one step of the evaluator, and one new fact and clock if it exports something new.
 */
#include "runtime/local/monitor.h"

#include <string.h>

#include "core/shape.h"
#include "runtime/channel/emit.h"
#include "runtime/channel/name.h"
#include "runtime/channel/self.h"
#include "runtime/local/monitor_impl.h"
#include "runtime/local/report_impl.h"
#include "runtime/local/violation.h"
#include "runtime/pool/pool.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/sys.h"

bool pt_monitor_on;
const struct pt_mttl *pt_monitor_block;
static struct pt_value *initial_values;
static struct pt_mttl_initial *state0;
static _Atomic uint8_t *fates;
static _Atomic uint32_t *findings;
static bool has_findings;

_Atomic uint8_t *pt_monitor_fate(uint32_t property)
{
    return &fates[property];
}

_Atomic uint32_t *pt_monitor_findings(uint32_t property)
{
    return &findings[property];
}

bool pt_monitor_has_findings(void)
{
    return has_findings;
}

static void find_findings(const struct pt_mttl *m)
{
    for (uint32_t i = 0; i < m->lookups.count; i++)
        has_findings |= pt_mttl_is_for_finding(m, i);
}

static bool make_room(struct pt_thread *self, struct pt_local_monitor *monitor, uint32_t used)
{
    const struct pt_mttl *m = pt_monitor_block;
    if (monitor->memory && pt_mttl_least_cap(m, used) <= monitor->memory->cap)
        return true;
    uint32_t cap = pt_mttl_least_cap(m, used + used / 2);
    size_t bytes = pt_mttl_thread_size(m, cap), entry = pt_mttl_entry_size(m, cap);
    struct pt_mttl_thread *memory =
        bytes == SIZE_MAX || entry == SIZE_MAX ? NULL : pt_pool_take(pt_thread_pool(self), bytes);
    struct pt_mttl_entry *next = memory ? pt_pool_take(pt_thread_pool(self), entry) : NULL;
    if (!next) {
        pt_pool_give(pt_thread_pool(self), memory);
        pt_runtime_give_up(); /* too many threads for what the properties say about each */
        return false;
    }
    memset(next, 0, entry);
    if (monitor->memory)
        pt_mttl_thread_grow(m, monitor->memory, memory, cap);
    else
        pt_mttl_thread_init(m, memory, monitor->slot, cap);
    pt_pool_give(pt_thread_pool(self), monitor->memory);
    pt_pool_give(pt_thread_pool(self), monitor->next);
    monitor->memory = memory;
    monitor->next = next;
    monitor->next_bytes = entry;
    return true;
}

static bool fill_known(struct pt_thread *self, struct pt_local_monitor *monitor, struct pt_knows knows)
{
    uint32_t vars = pt_monitor_block->vars.count, end = monitor->tracks ? pt_monitor_place(monitor->slot) + 1 : vars;
    if (knows.vector && knows.vector->count > end)
        end = knows.vector->count;
    if (knows.fact && knows.fact->place >= end)
        end = knows.fact->place + 1;
    if (end - vars > monitor->known_cap) {
        pt_pool_give(pt_thread_pool(self), monitor->known);
        monitor->known = pt_pool_take(pt_thread_pool(self), 2 * (end - vars) * sizeof *monitor->known);
        monitor->known_cap = monitor->known ? 2 * (end - vars) : 0;
        if (!monitor->known)
            return false;
    }
    monitor->view.known = monitor->known;
    monitor->view.known_count = end - vars;
    for (uint32_t i = 0; i < end - vars; i++) {
        const struct pt_fact *fact = pt_know_at(knows, vars + i);
        monitor->known[i] = fact ? &fact->entry : NULL;
    }
    return true;
}

static bool same_number(struct pt_value a, struct pt_value b)
{
    return a.kind == b.kind && a.kind != PT_VALUE_STRING && a.len == b.len && a.u == b.u;
}

/* The values of variables that are not local; which of them may have changed. */
static uint64_t fill_values(struct pt_local_monitor *monitor, struct pt_knows knows)
{
    uint64_t changed = 0;
    for (uint32_t v = 0; v < pt_monitor_block->vars.count; v++) {
        if (monitor->locals[v].kind != PT_VALUE_UNKNOWN)
            continue;
        const struct pt_fact *fact = pt_know_at(knows, v);
        struct pt_value value = fact ? fact->value : initial_values[v];
        if (!same_number(monitor->values[v], value))
            changed |= pt_mttl_changed_var(v);
        monitor->values[v] = value;
    }
    return changed;
}

/* What the thread knows now, where the evaluator looks for it; false without memory. */
static bool hear(struct pt_thread *self, struct pt_local_monitor *monitor, uint32_t used)
{
    struct pt_knows knows = pt_monitor_knows(self);
    monitor->view.used = used;
    if (!make_room(self, monitor, used) || !fill_known(self, monitor, knows))
        return false;
    monitor->view.changed |= PT_MTTL_HEARD | fill_values(monitor, knows);
    return true;
}

static void judge(struct pt_thread *self, struct pt_local_monitor *monitor, const struct pt_mttl_view *view,
                  const struct pt_local_event *what)
{
    monitor->broken = false;
    for (uint32_t p = 0; p < pt_monitor_block->properties.count; p++) {
        unsigned kind = monitor->verdicts[p].kind;
        if (kind == PT_MTTL_FAILED || (kind == PT_MTTL_VIOLATED && !monitor->since[p]))
            pt_report_onset(self, p, view, what);
        else if (kind == PT_MTTL_VIOLATED)
            pt_report_again(self, p, view, what);
        if (kind == PT_MTTL_VIOLATED) {
            monitor->broken = true;
            if (!monitor->since[p])
                monitor->since[p] = self->shadow.states + 1;
        } else {
            pt_monitor_close(self, p);
        }
    }
}

/* The run of violating states is over: those after its first that are not reported yet. */
void pt_monitor_close(struct pt_thread *self, uint32_t property)
{
    struct pt_local_monitor *monitor = self->local->monitor;
    uint64_t since = monitor->since[property]; /* the first one is since - 1 */
    bool now = monitor->verdicts[property].kind == PT_MTTL_VIOLATED;
    uint64_t last = now ? self->shadow.states : self->shadow.states - 1;
    if (since && !self->shadow.full && last >= since)
        pt_report_states(self, property, since, last);
    monitor->since[property] = 0;
}

static void step(struct pt_thread *self, const struct pt_local_event *what)
{
    struct pt_local_monitor *monitor = self->local->monitor;
    uint32_t used = pt_monitor_used();
    if ((monitor->heard || used != monitor->view.used) && !hear(self, monitor, used))
        return;
    bool was_broken = monitor->broken;
    unsigned flags = pt_mttl_step(pt_monitor_block, &monitor->view, monitor->memory, monitor->next, monitor->verdicts);
    monitor->stable = flags & PT_MTTL_STABLE;
    monitor->view.changed = 0;
    if (flags & PT_MTTL_BROKEN || was_broken)
        judge(self, monitor, &monitor->view, what);
    if (flags & PT_MTTL_EXPORTED && monitor->tracks)
        pt_monitor_show(self, monitor, what);
    monitor->heard = false;
}

/* Whether the next event, unless it is marked, would only be counted. What a change of the clock brings is noted by
 * pt_monitor_clock_changed. */
static void settle(struct pt_thread *self, const struct pt_local_monitor *monitor)
{
    self->shadow.quiet = monitor->stable && !monitor->touched && !monitor->heard;
    pt_shadow_settle(&self->shadow);
}

/* The event that the next step is about: in the view itself, part by part. */
static struct pt_mttl_event *new_event(struct pt_local_monitor *monitor, uint32_t what, uint32_t name)
{
    struct pt_mttl_event *event = &monitor->view.event;
    event->what = what;
    event->name = name;
    return event;
}

/* Whether a step would see the same event as the last one did. */
static bool is_like_last(const struct pt_local_monitor *monitor)
{
    const struct pt_mttl_event *event = &monitor->view.event;
    return event->name == PT_MTTL_NONE && !monitor->touched;
}

static void note_event(struct pt_local_monitor *monitor)
{
    const struct pt_mttl_event *event = &monitor->view.event;
    monitor->touched = event->name != PT_MTTL_NONE;
}

static void take_event(struct pt_thread *self, const struct pt_local_event *what)
{
    struct pt_local_monitor *monitor = self->local->monitor;
    self->shadow.states++;
    if (!monitor->stable || monitor->heard || !is_like_last(monitor)) {
        step(self, what);
        note_event(monitor);
        settle(self, monitor);
        return;
    }
    for (uint32_t p = 0; self->shadow.full && monitor->broken && p < pt_monitor_block->properties.count; p++)
        if (monitor->since[p])
            pt_report_states(self, p, self->shadow.states, self->shadow.states);
}

void pt_monitor_watched(struct pt_thread *self, uint32_t object, enum pt_event_kind kind, const struct pt_site *site)
{
    const struct pt_watched *w = &pt_watched[object];
    struct pt_shape shape = {w->size, w->type, w->bit_offset, w->bit_size};
    struct pt_value value = pt_shape_value(&shape, (const void *)w->address);
    struct pt_local_event what = {
        .kind = (uint16_t)kind, .object = object, .size = w->size, .address = w->address, .site = site};
    if (value.kind != PT_VALUE_STRING)
        what.value = value;
    pt_monitor_access(self, &what);
}

void pt_monitor_access(struct pt_thread *self, const struct pt_local_event *what)
{
    enum pt_op op = pt_kind_op(what->kind);
    uint32_t local = what->object == PT_NO_OBJECT ? 0 : pt_watched[what->object].local;
    uint32_t name = local && pt_monitor_var(local - 1)->uses & PT_MTTL_USE_ACCESS ? local - 1 : PT_MTTL_NONE;
    new_event(self->local->monitor, pt_op_mttl(op), name);
    take_event(self, what);
}

/* The variable of this name: by what it stands for, or by a path that only one has. */
uint32_t pt_monitor_variable(const char *name)
{
    uint32_t by_path = 0, found = 0;
    for (uint32_t i = 0; i < pt_monitor_block->vars.count; i++) {
        if (strcmp(pt_mttl_string(pt_monitor_block, pt_monitor_var(i)->target), name) == 0)
            return i + 1;
        if (strcmp(pt_mttl_string(pt_monitor_block, pt_monitor_var(i)->path), name) == 0) {
            by_path = i + 1;
            found++;
        }
    }
    return found == 1 ? by_path : 0;
}

static uint32_t find(struct pt_mttl_table table, const char *name)
{
    const struct pt_mttl_name *names = (const void *)((const char *)pt_monitor_block + table.offset);
    for (uint32_t i = 0; i < table.count; i++)
        if (strcmp(pt_mttl_string(pt_monitor_block, names[i].target), name) == 0)
            return i;
    return PT_MTTL_NONE;
}

/* strcmp for a few bytes. */
static bool same_text(const char *a, const char *b)
{
    for (; *a == *b; a++, b++)
        if (!*a)
            return true;
    return false;
}

/* The same, of a name that was lately asked for: programs name a variable by a string that stays where it is. */
static uint32_t variable_named(struct pt_local_monitor *monitor, const char *name)
{
    uint32_t at = (uint32_t)((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 61), var = monitor->names[at].variable;
    _Static_assert(PT_LOCAL_NAMES == 1 << (64 - 61), "as many as the hash has values");
    if (monitor->names[at].name == name &&
        same_text(pt_mttl_string(pt_monitor_block, pt_monitor_var(var - 1)->target), name))
        return var;
    var = pt_monitor_variable(name);
    if (var) {
        monitor->names[at].name = name;
        monitor->names[at].variable = var;
    }
    return var;
}

/* In one store: a value that was stored in parts cannot be loaded as a whole before they have reached the cache. */
static void set_value(struct pt_value *place, int64_t value)
{
    typedef int64_t whole __attribute__((vector_size(sizeof(struct pt_value))));
    _Static_assert(offsetof(struct pt_value, kind) == 0 && offsetof(struct pt_value, i) == 8, "kind, no len, value");
    whole both = {PT_VALUE_INT, value};
    memcpy(place, &both, sizeof both);
}

static void set_local(struct pt_local_monitor *monitor, uint32_t var, int64_t value)
{
    monitor->view.changed |= pt_mttl_changed_var(var);
    monitor->touched = true;
    set_value(&monitor->locals[var], value);
    set_value(&monitor->values[var], value);
}

void pt_monitor_mark(struct pt_thread *self, enum pt_event_kind kind, const char *name, int64_t value)
{
    enum pt_op op = pt_kind_op(kind);
    struct pt_mttl_event *event = new_event(self->local->monitor, pt_op_mttl(op), PT_MTTL_NONE);
    struct pt_local_event what = {.kind = (uint16_t)kind, .object = PT_NO_OBJECT, .site = self->channel->place};
    if (op == PT_OP_INTERNAL) {
        uint32_t var = variable_named(self->local->monitor, name);
        what.value = pt_value_int(value);
        if (var) {
            what.name = pt_mttl_string(pt_monitor_block, pt_monitor_var(var - 1)->path); /* as it was given */
            set_local(self->local->monitor, var - 1, value);
        }
    } else {
        event->name = find(op == PT_OP_EVENT ? pt_monitor_block->events : pt_monitor_block->blocks, name);
    }
    if (!what.name)
        what.name = pt_name_text(pt_name_number(name));
    take_event(self, &what);
}

void pt_monitor_other(struct pt_thread *self, enum pt_event_kind kind, uint64_t address, const struct pt_site *site)
{
    struct pt_local_event what = {.kind = (uint16_t)kind, .object = PT_NO_OBJECT, .address = address, .site = site};
    new_event(self->local->monitor, PT_MTTL_OTHER, PT_MTTL_NONE);
    take_event(self, &what);
}

void pt_monitor_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_thread *other,
                       const struct pt_site *site)
{
    struct pt_local_event what = {.kind = (uint16_t)kind, .object = other->ordinal, .name = other->named, .site = site};
    new_event(self->local->monitor, PT_MTTL_OTHER, PT_MTTL_NONE);
    take_event(self, &what);
}

/* --- state 0 --- */

static struct pt_mttl_view view0(const struct pt_local_monitor *monitor)
{
    return (struct pt_mttl_view){.self = monitor->slot,
                                 .event = {.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE},
                                 .values = initial_values,
                                 .used = pt_monitor_used(),
                                 .initial = state0};
}

/* State 0 of properties at this thread, which are about it whether it starts or not, or of those at each. */
static void report0(struct pt_thread *actor, struct pt_local_monitor *monitor, bool each)
{
    struct pt_mttl_view view = view0(monitor);
    for (uint32_t p = 0; monitor->memory && p < pt_monitor_block->properties.count; p++) {
        unsigned kind = monitor->verdicts[p].kind;
        if ((pt_mttl_at(pt_monitor_block, properties, struct pt_mttl_property, p)->at == PT_MTTL_ANY) != each ||
            (kind != PT_MTTL_VIOLATED && kind != PT_MTTL_FAILED))
            continue;
        /* the actor speaks for it: it is not running yet */
        struct pt_local_monitor *own = actor->local->monitor;
        uint64_t states = actor->shadow.states;
        actor->local->monitor = monitor;
        actor->shadow.states = 0;
        pt_report_onset(actor, p, &view, NULL);
        actor->local->monitor = own;
        actor->shadow.states = states;
    }
}

void pt_monitor_starts(struct pt_thread *actor, struct pt_local_monitor *monitor)
{
    report0(actor, monitor, true);
}

static void step0(struct pt_thread *actor, struct pt_local_monitor *monitor)
{
    struct pt_mttl_view view = view0(monitor);
    if (!make_room(actor, monitor, view.used))
        return;
    pt_mttl_step(pt_monitor_block, &view, monitor->memory, monitor->next, monitor->verdicts);
    report0(actor, monitor, false);
    for (uint32_t p = 0; p < pt_monitor_block->properties.count; p++)
        if (monitor->verdicts[p].kind == PT_MTTL_VIOLATED) {
            monitor->since[p] = 1;
            monitor->broken = true;
        }
}

struct pt_local_monitor *pt_monitor_make(struct pt_thread *actor, uint32_t slot)
{
    const struct pt_mttl *m = pt_monitor_block;
    size_t verdicts = (m->properties.count * sizeof(struct pt_mttl_verdict) + 7) & ~(size_t)7;
    size_t since = m->properties.count * sizeof(uint64_t), values = m->vars.count * sizeof(struct pt_value);
    size_t bytes = sizeof(struct pt_local_monitor) + verdicts + since + 2 * values;
    struct pt_local_monitor *monitor = pt_pool_take(pt_thread_pool(actor), bytes);
    if (!monitor)
        return NULL;
    memset(monitor, 0, bytes);
    char *behind = (char *)(monitor + 1);
    monitor->slot = slot;
    monitor->steps = pt_mttl_steps(m, slot);
    monitor->tracks = pt_mttl_tracks(m, slot);
    monitor->verdicts = (void *)behind;
    monitor->since = (void *)(behind + verdicts);
    monitor->values = (void *)(behind + verdicts + since);
    monitor->locals = (void *)(behind + verdicts + since + values);
    monitor->view = (struct pt_mttl_view){.self = slot, .values = monitor->values, .initial = state0};
    step0(actor, monitor);
    return monitor;
}

void pt_monitor_unmake(struct pt_thread *self, struct pt_local_monitor *monitor)
{
    if (!monitor)
        return;
    pt_pool_give(pt_thread_pool(self), monitor->memory);
    pt_pool_give(pt_thread_pool(self), monitor->next);
    pt_pool_give(pt_thread_pool(self), monitor->known);
    pt_pool_give(pt_thread_pool(self), monitor);
}

void pt_monitor_begin(struct pt_thread *self)
{
    if (self->shadow.steps)
        pt_report_begun(self);
}

void pt_monitor_end(struct pt_thread *self)
{
    if (!self->shadow.steps)
        return;
    for (uint32_t p = 0; p < pt_monitor_block->properties.count; p++)
        pt_monitor_close(self, p);
    pt_report_count(self);
}

/* --- the beginning --- */

/* Values before main: those of the memory for variables that are there, else 0. */
static void read_initial(struct pt_thread *self)
{
    for (uint32_t v = 0; v < pt_monitor_block->vars.count; v++)
        initial_values[v] = pt_value_int(0);
    const struct pt_config *config = pt_runtime_config();
    for (uint32_t i = 0; i < config->watch_count; i++) {
        const struct pt_watched *w = &pt_watched[i];
        struct pt_shape shape = {w->size, w->type, w->bit_offset, w->bit_size};
        if (!w->address || !w->local)
            continue;
        struct pt_value value = pt_shape_value(&shape, w->last);
        char *room = pt_monitor_text_of(value) ? pt_pool_take(pt_thread_pool(self), value.len) : NULL;
        if (room || !pt_monitor_text_of(value))
            initial_values[w->local - 1] = pt_monitor_copy_value(value, &room);
    }
}

void pt_monitor_restart(void)
{
    pt_monitor_slots_restart();
    if (pt_monitor_block)
        pt_report_restart();
    pt_monitor_on = has_findings = false;
    pt_monitor_block = NULL;
}

void pt_monitor_configure(struct pt_thread *self, const struct pt_config *config)
{
    const struct pt_mttl *m = (const void *)((const char *)config + config->mttl);
    if (!config->mttl_bytes || !pt_mttl_validate(m, config->mttl_bytes))
        return;
    size_t bytes = pt_mttl_initial_size(m), scratch_bytes = pt_mttl_scratch_size(m);
    void *scratch = scratch_bytes == SIZE_MAX ? NULL : pt_sys_reserve(scratch_bytes);
    state0 = bytes == SIZE_MAX ? NULL : pt_sys_reserve(bytes);
    initial_values = pt_sys_reserve((m->vars.count + 1) * sizeof *initial_values);
    fates = pt_sys_reserve(m->properties.count + 1);
    findings = pt_sys_reserve((m->properties.count + 1) * sizeof *findings);
    find_findings(m);
    if (!scratch || !state0 || !initial_values || !fates || !findings || !pt_monitor_slots_start(m, config)) {
        pt_runtime_give_up();
        return;
    }
    pt_monitor_block = m;
    read_initial(self);
    pt_mttl_initial_fill(m, initial_values, scratch, state0);
    pt_sys_release(scratch, scratch_bytes);
    pt_monitor_on = true;
    pt_shadow_hooks.clock_changed = pt_monitor_clock_changed;
    pt_monitor_introduce_named(self);
    pt_monitor_introduce(self, NULL);
}
