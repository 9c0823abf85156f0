/*
 * Threads become roles, by name, since their numbers differ from run to run. Each step of the witness is an entry; it
 * needs the latest earlier step of another thread that it causally follows, which the clocks tell where the finding has
 * them. Under a bounded window the witness begins late: the clock of a thread's first event after that place tells how
 * many it had before. A finding that has a schedule is held to that instead, entry by entry; a variable of it that the
 * program does not have by name (memory of the heap) is left out. Cost: linear in the witness, with a factor of at most
 * FAR.
 */
#include "cli/run/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "order/counts.h"

enum { FAR = 4096 }; /* a cause that lies further back needs no waiting for */

uint32_t pt_schedule_role(const struct pt_schedule *s, const char *thread)
{
    for (uint32_t i = 0; i < s->role_count; i++) {
        if (strcmp(s->roles[i], thread) == 0)
            return i;
    }
    return PT_NONE;
}

uint32_t pt_schedule_add_role(struct pt_schedule *s, const char *thread)
{
    uint32_t role = pt_schedule_role(s, thread);
    if (role != PT_NONE)
        return role;
    PT_PUSH(s->roles, s->role_count, s->role_cap, thread);
    return s->role_count - 1;
}

static bool is_user(const struct pt_step *step)
{
    return strcmp(step->op, "event") == 0;
}

uint32_t pt_schedule_object(const struct pt_step *step, const struct pt_resolved *resolved)
{
    char *base = is_user(step) ? pt_function_event_base(step->object) : NULL; /* arguments may be others this time */
    for (uint32_t i = 0; is_user(step) && i < resolved->event_count; i++) {
        if (strcmp(resolved->events[i], base ? base : step->object) == 0) {
            free(base);
            return i;
        }
    }
    free(base);
    for (uint32_t i = 0; !is_user(step) && i < resolved->var_count; i++) {
        if (strcmp(resolved->vars[i].name, step->object) == 0)
            return i;
    }
    return PT_GATE_ANY_OBJECT;
}

static uint32_t needs_of(const struct pt_finding *finding, uint32_t at)
{
    const struct pt_step *step = &finding->witness[at];
    for (uint32_t i = at; i-- > 0 && step->clock && at - i <= FAR;) {
        const struct pt_step *earlier = &finding->witness[i];
        uint32_t t = earlier->thread_index;
        if (t != step->thread_index && earlier->clock && pt_counts_include(step->clock, t, earlier->clock[t]))
            return (uint32_t)finding->witness_from + i + 1;
    }
    for (uint32_t t = 0; t < finding->thread_count && step->clock; t++) {
        if (t != step->thread_index && pt_counts_include(step->clock, t, 1))
            return (uint32_t)finding->witness_from;
    }
    return 0;
}

/* Events that each thread had before the witness begins, no more than all threads had (pt_replay_refusal bounds that);
 * nothing is known of threads that have none after it. */
static void count_before(struct pt_schedule *s, const struct pt_finding *finding)
{
    for (uint32_t r = 0; r < s->role_count; r++)
        s->before[r] = (uint32_t)finding->witness_from;
    for (uint32_t i = finding->actual_count; i-- > 0 && finding->witness_from;) {
        const struct pt_step *step = &finding->actual[i];
        if (step->clock)
            s->before[pt_schedule_role(s, step->thread)] = (uint32_t)(step->clock[step->thread_index] - 1);
    }
}

bool pt_schedule_is_access(const struct pt_step *step)
{
    return strcmp(step->op, "r") == 0 || strcmp(step->op, "w") == 0 || strcmp(step->op, "u") == 0;
}

static enum pt_gate_kind kind_of(const struct pt_step *step)
{
    if (is_user(step))
        return PT_GATE_USER;
    if (!pt_schedule_is_access(step))
        return PT_GATE_LOCK;
    return strcmp(step->op, "r") == 0 ? PT_GATE_READ : PT_GATE_WRITE;
}

static void watch(const struct pt_step *step, struct pt_debuginfo *info, struct pt_resolved *resolved)
{
    const char *name = step->object, *path = strrchr(name, ':');
    struct pt_err err;
    const struct pt_varref var = {name, name, path ? path + 1 : name};
    if (pt_schedule_is_access(step) && pt_schedule_object(step, resolved) == PT_GATE_ANY_OBJECT)
        (void)!pt_resolve_var(resolved, info, &var, true, &err); /* then threads are not held there */
}

void pt_schedule_watch(const struct pt_finding *finding, struct pt_debuginfo *info, struct pt_resolved *resolved)
{
    for (uint32_t i = 0; i < finding->schedule_count; i++)
        watch(&finding->schedule[i], info, resolved);
    for (uint32_t i = 0; i < finding->side_count && finding->schedule; i++)
        watch(&finding->sides[i].step, info, resolved);
}

/* Whether it is of the property: then it is watched, if not before the program starts. */
static bool is_relevant(const struct pt_finding *finding, const struct pt_step *step)
{
    for (uint32_t i = 0; !finding->builtin && i < finding->witness_count; i++)
        if (strcmp(finding->witness[i].object, step->object) == 0)
            return true;
    return false;
}

static bool is_same_step(const struct pt_step *a, const struct pt_step *b)
{
    return strcmp(a->thread, b->thread) == 0 && strcmp(a->op, b->op) == 0 && strcmp(a->object, b->object) == 0 &&
           strcmp(a->loc, b->loc) == 0;
}

/* Whether the order of the accesses of one variable is what it is about: then all of them are held. */
static bool is_of_variable(const struct pt_finding *finding, const struct pt_step *step)
{
    bool wanted = strcmp(finding->kind, "lifetime") == 0 || strcmp(finding->kind, "serializable") == 0;
    return wanted && finding->side_count && pt_schedule_is_access(step) &&
           strcmp(finding->sides[0].step.object, step->object) == 0;
}

static void add_entry(struct pt_schedule *s, const struct pt_step *step, const struct pt_finding *finding,
                      const struct pt_resolved *resolved)
{
    enum pt_gate_kind kind = kind_of(step);
    uint32_t object = kind == PT_GATE_LOCK ? 0 : pt_schedule_object(step, resolved);
    uint32_t role = pt_schedule_add_role(s, step->thread);
    if (object == PT_GATE_ANY_OBJECT && (kind == PT_GATE_READ || !is_relevant(finding, step)))
        return;
    s->steps[s->gate.count] = step;
    s->entries[s->gate.count++] = (struct pt_gate_entry){.role = role, .kind = kind, .object = object};
}

/* The schedule's steps; of a built-in check, whose witness has all events, also those of the variable it is about. */
static void add_whole(struct pt_schedule *s, const struct pt_finding *finding, const struct pt_resolved *resolved)
{
    uint32_t last = pt_schedule_last(finding, NULL), k = 0;
    uint32_t count = finding->builtin && finding->witness_count > last ? finding->witness_count - last : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_step *step = &finding->witness[i];
        bool scheduled = k < finding->schedule_count && is_same_step(step, &finding->schedule[k]);
        k += scheduled;
        if (scheduled || is_of_variable(finding, step))
            add_entry(s, step, finding, resolved);
    }
    for (; k < finding->schedule_count; k++)
        if (!last || !is_same_step(&finding->schedule[k], &finding->witness[count])) /* which is to meet the next */
            add_entry(s, &finding->schedule[k], finding, resolved);
    s->gate.whole = true;
}

static void add_relevant(struct pt_schedule *s, const struct pt_finding *finding, const struct pt_resolved *resolved)
{
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        const struct pt_step *step = &finding->witness[i];
        s->steps[i] = step;
        s->entries[i] = (struct pt_gate_entry){.role = pt_schedule_add_role(s, step->thread),
                                               .kind = kind_of(step),
                                               .object = pt_schedule_object(step, resolved),
                                               .needs = needs_of(finding, i)};
    }
    s->gate.count = finding->witness_count;
    s->gate.from = (uint32_t)finding->witness_from;
}

void pt_schedule_init(struct pt_schedule *s, const struct pt_finding *finding, const struct pt_resolved *resolved)
{
    *s = (struct pt_schedule){0};
    size_t most = (size_t)finding->schedule_count + finding->witness_count + PT_GATE_MEET;
    s->entries = pt_xcalloc(most, sizeof *s->entries);
    s->steps = pt_xcalloc(most, sizeof *s->steps);
    if (finding->schedule)
        add_whole(s, finding, resolved);
    else if (!finding->builtin)
        add_relevant(s, finding, resolved);
    pt_schedule_meet(s, finding, resolved);
    for (uint32_t i = 0; i < finding->actual_count; i++)
        pt_schedule_add_role(s, finding->actual[i].thread);
    s->before = pt_xcalloc((size_t)s->role_count + 1, sizeof *s->before);
    if (!finding->schedule)
        count_before(s, finding);
    s->gate.entries = s->entries;
    s->gate.before = s->before;
    s->gate.role_count = s->role_count;
}

void pt_schedule_release(struct pt_schedule *s)
{
    free(s->entries);
    free(s->steps);
    free(s->before);
    free(s->roles);
}
