/*
 * Which events of a finding are to meet, that is, have their threads stand right before them at one time (core/gate.h):
 *
 *   race           its two accesses
 *   deadlock       the locks that are waited for, where nobody knows a run that leads there; else that run is enough
 *   lifetime       the free, or the store of null, and the use, in this order
 *   serializable   the access that comes in between, and the second one of the block
 *   atomicity      the events of other threads that come in between, and the one of the block that follows them
 *
 * Of the last two the events are the last of the witness; where the first of them lies deeper in it, the run has it,
 * and only the last one is left to stand before.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/run/schedule.h"

static bool is_kind(const struct pt_finding *finding, const char *kind)
{
    return strcmp(finding->kind, kind) == 0;
}

/* Is it what must come right before the last step? */
static bool is_before_last(const struct pt_finding *finding, const struct pt_step *step, const struct pt_step *last)
{
    const struct pt_step *other = &finding->sides[1].step;
    if (strcmp(step->thread, last->thread) == 0)
        return false;
    if (is_kind(finding, "lifetime"))
        return strcmp(step->thread, other->thread) == 0 && strcmp(step->op, other->op) == 0 &&
               strcmp(step->loc, other->loc) == 0;
    return pt_schedule_is_access(step) && strcmp(step->object, last->object) == 0;
}

uint32_t pt_schedule_last(const struct pt_finding *finding, const struct pt_step *ret_last[2])
{
    const struct pt_step *last = finding->witness + finding->witness_count;
    if ((!is_kind(finding, "lifetime") && !is_kind(finding, "serializable")) || !finding->schedule ||
        !finding->witness_count || finding->side_count != 2)
        return 0;
    uint32_t count = finding->witness_count > 1 && is_before_last(finding, last - 2, last - 1) ? 2 : 1;
    for (uint32_t i = 0; i < count && ret_last; i++)
        ret_last[i] = last - count + i;
    return count;
}

static enum pt_gate_kind place_kind(const struct pt_step *step)
{
    if (strcmp(step->op, "free") == 0)
        return PT_GATE_AT_FREE;
    if (!pt_schedule_is_access(step))
        return PT_GATE_AT_LOCK;
    return strcmp(step->op, "r") == 0 ? PT_GATE_AT_READ : PT_GATE_AT_WRITE;
}

/* Of a block that was disturbed: the events of its chain from the first of another thread on, those before which a
 * thread can be held; the rest (releases, posts, notifications) follow from them. */
static uint32_t list_disturbance(const struct pt_finding *finding, const struct pt_step *steps[PT_GATE_MEET])
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < finding->witness_count; i++) {
        const struct pt_step *step = &finding->witness[i];
        bool last = i + 1 == finding->witness_count, own = strcmp(step->thread, finding->witness[0].thread) == 0;
        bool takes = strcmp(step->op, "acq") == 0 || strcmp(step->op, "racq") == 0;
        if (own != last || (!takes && !pt_schedule_is_access(step)))
            continue;
        steps[count - (count == PT_GATE_MEET)] = step; /* of many, the first ones and the last */
        count += count < PT_GATE_MEET;
    }
    bool ends = count > 1 && steps[count - 1] == &finding->witness[finding->witness_count - 1];
    return ends ? count : 0; /* then nobody is held: the order follows from something else */
}

/* How often the thread passes such an event after its last entry, in what leads there. */
static uint32_t count_passes(const struct pt_schedule *s, const struct pt_finding *finding, const struct pt_step *step)
{
    uint32_t last = pt_schedule_last(finding, NULL), from = 0, passes = 0, k = 0;
    uint32_t upto = finding->witness_count > last ? finding->witness_count - last : 0;
    for (uint32_t i = 0; i < upto && k < s->gate.count; i++) {
        const struct pt_step *at = &finding->witness[i];
        if (at != s->steps[k] && (strcmp(at->thread, s->steps[k]->thread) != 0 ||
                                  strcmp(at->op, s->steps[k]->op) != 0 || strcmp(at->object, s->steps[k]->object) != 0))
            continue;
        k++;
        if (strcmp(at->thread, step->thread) == 0)
            from = i + 1;
    }
    for (uint32_t i = from; i < upto; i++) {
        const struct pt_step *at = &finding->witness[i];
        bool free = place_kind(step) == PT_GATE_AT_FREE;
        passes += strcmp(at->thread, step->thread) == 0 && place_kind(at) == place_kind(step) &&
                  (free || strcmp(at->loc, step->loc) == 0);
    }
    return passes;
}

/* "dir/a.c:12"; false: it is none, or too long. */
static bool read_place(const char *loc, struct pt_gate_place *place)
{
    const char *colon = strrchr(loc, ':');
    size_t len = colon ? (size_t)(colon - loc) : 0;
    *place = (struct pt_gate_place){0};
    if (!len || len >= sizeof place->file)
        return false;
    place->line = (uint32_t)strtoul(colon + 1, NULL, 10);
    memcpy(place->file, loc, len);
    return place->line != 0;
}

/* Of a deadlock that is known by its places alone: so many of the locks that the thread has when it waits were taken at
 * the place where it waits (`lock(a); lock(b);` on one line, or by one function). It passes there so often first. */
static uint32_t count_locked_at(const struct pt_finding *finding, const struct pt_step *step)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < finding->side_count; i++) {
        const struct pt_side *side = &finding->sides[i];
        for (uint32_t k = 0; &side->step == step && side->locks && side->locked_at && side->locks[k]; k++)
            count += strcmp(side->locked_at[k], step->loc) == 0;
    }
    return count;
}

/* Adds them, if each can be known: by its variable, or by its place. */
static void add(struct pt_schedule *s, const struct pt_finding *finding, const struct pt_resolved *resolved,
                const struct pt_step *const *steps, uint32_t count)
{
    uint32_t at = s->gate.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_step *step = steps[i];
        bool block = is_kind(finding, "atomicity");
        enum pt_gate_kind kind = place_kind(step) == PT_GATE_AT_LOCK && block ? PT_GATE_AT_TAKE : place_kind(step);
        bool named = kind <= PT_GATE_AT_WRITE && pt_schedule_object(step, resolved) != PT_GATE_ANY_OBJECT;
        if (!read_place(step->loc, &s->places[i]) && !named && kind != PT_GATE_AT_FREE)
            return;
        if (s->gate.bare && kind == PT_GATE_AT_LOCK)
            s->places[i].skip = s->places[i].each = count_locked_at(finding, step);
        else
            s->places[i].skip = named || s->gate.bare ? 0 : count_passes(s, finding, step);
        s->steps[at + i] = step;
        s->entries[at + i] = (struct pt_gate_entry){.role = pt_schedule_add_role(s, step->thread),
                                                    .kind = !named                    ? kind
                                                            : kind == PT_GATE_AT_READ ? PT_GATE_READ
                                                                                      : PT_GATE_WRITE,
                                                    .object = named ? pt_schedule_object(step, resolved) : 0};
    }
    s->gate.count += count;
    s->gate.meets = count;
    s->gate.places = s->places;
}

void pt_schedule_meet(struct pt_schedule *s, const struct pt_finding *finding, const struct pt_resolved *resolved)
{
    const struct pt_step *steps[PT_GATE_MEET];
    uint32_t count = pt_schedule_last(finding, steps), sides = finding->side_count;
    bool bare = finding->builtin && !finding->schedule;
    if (is_kind(finding, "race") || (bare && is_kind(finding, "deadlock")))
        for (; count < sides && count < PT_GATE_MEET; count++)
            steps[count] = &finding->sides[count].step;
    if (bare && is_kind(finding, "lifetime") && sides == 2) {
        steps[count++] = &finding->sides[1].step;
        steps[count++] = &finding->sides[0].step;
    }
    if (is_kind(finding, "atomicity"))
        count = list_disturbance(finding, steps);
    if (bare) {
        s->gate.whole = s->gate.bare = true;
        if (sides > PT_GATE_MEET)
            return;
    }
    if (count)
        add(s, finding, resolved, steps, count);
}
