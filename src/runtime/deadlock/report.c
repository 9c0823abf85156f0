/*
 * Deadlocks as findings (core/found.h): a side for each thread, what it wants, where, and what it has. Predicted ones
 * are known by the places where locks are taken, so that a thousand pairs of locks in one piece of code are one.
 *
 * Guarantee: each is reported once. Cost: only where something is found.
 */
#include <string.h>

#include "core/calls.h"
#include "core/hash.h"
#include "runtime/deadlock/impl.h"
#include "runtime/found/found.h"
#include "runtime/found/verdict.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

/* Too large for the stack of a program's thread. */
struct report {
    struct pt_found_side sides[PT_FOUND_SIDES];
    struct pt_found_lock locks[PT_FOUND_SIDES][PT_FOUND_LOCKS];
    char names[PT_FOUND_SIDES][32], object[256];
};

void pt_deadlock_calls(const struct pt_site *site, const struct pt_site **sites, uint32_t room)
{
    const struct pt_calls *calls = &__portent_calls;
    uint32_t count = 0;
    if (site)
        sites[count++] = site;
    for (uint32_t at = calls->depth, left = pt_calls_known(calls); left && count < room; left--)
        sites[count++] = pt_calls_at(calls, --at); /* where one was inlined, whoever writes it knows (core/found.c) */
    if (count < room)
        sites[count] = NULL;
}

struct pt_deadlock_who *pt_deadlock_who(struct pt_thread *thread)
{
    struct pt_deadlock_self *d = thread->deadlock;
    if (d->who)
        return d->who;
    d->who = pt_deadlock_take(NULL, sizeof *d->who);
    *d->who = (struct pt_deadlock_who){.number = pt_thread_number(thread) + 1};
    memcpy(d->who->name, thread->label, sizeof d->who->name);
    memcpy(d->who->created, d->created, sizeof d->created);
    return d->who;
}

static struct pt_found_stack stack_of(const struct pt_site *const *sites, uint32_t room)
{
    uint32_t count = 0;
    while (count < room && sites[count])
        count++;
    return (struct pt_found_stack){.sites = sites, .count = count, .lost = !count};
}

/* The first thread was not created by any. */
static struct pt_found_stack creation_of(const struct pt_site *const *sites, uint64_t number)
{
    struct pt_found_stack stack = stack_of(sites, PT_CREATED_FRAMES);
    stack.lost &= number != 1;
    return stack;
}

/* By where it stands; what has no place, by its address. */
static uint64_t key_of(const struct pt_site *site, uint64_t address)
{
    return pt_mix64(site ? (uint64_t)(uintptr_t)site : address);
}

/* The locks that are wanted, "a, b". */
static void name_object(struct report *report, uint32_t count)
{
    size_t len = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = report->sides[i].variable;
        size_t more = name ? strlen(name) : 0;
        if (!more || len + more + 3 > sizeof report->object)
            continue;
        if (len) {
            memcpy(report->object + len, ", ", 2);
            len += 2;
        }
        memcpy(report->object + len, name, more);
        len += more;
    }
    report->object[len] = 0;
}

/* False: it is suppressed. */
static bool send(struct pt_thread *self, struct report *report, uint32_t count, struct pt_found *found)
{
    name_object(report, count);
    found->check = PT_FOUND_DEADLOCK;
    found->key = pt_mix64(found->key + found->how) | 1;
    found->object = report->object;
    found->address = report->sides[0].address;
    found->sides = report->sides;
    found->side_count = count;
    return !pt_found_is_new(self, found->key) || pt_found_report(self, found, true);
}

void pt_deadlock_predicted(struct pt_thread *self, struct pt_acquire *const *cycle, uint32_t count)
{
    struct report *report = pt_runtime_is_stopped() ? NULL : pt_pool_take(pt_thread_pool(self), sizeof *report);
    struct pt_found found = {.how = PT_FOUND_PREDICTED, .note = ""};
    if (!report)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_nest *nest = cycle[i]->note;
        const struct pt_site *site = nest->sites[0];
        report->sides[i] = (struct pt_found_side){.thread = nest->who->number,
                                                  .thread_name = nest->who->name,
                                                  .kind = nest->kind,
                                                  .address = cycle[i]->wants.lock,
                                                  .variable = site ? site->variable : "",
                                                  .stack = stack_of(nest->sites, PT_DEADLOCK_FRAMES),
                                                  .locks = nest->locks,
                                                  .lock_count = nest->lock_count,
                                                  .created = creation_of(nest->who->created, nest->who->number)};
        found.key += key_of(site, cycle[i]->wants.lock);
    }
    (void)send(self, report, count, &found);
    pt_pool_give(pt_thread_pool(self), report);
}

/* ---- observed ---- */

static uint32_t kind_of(enum pt_wait_kind kind)
{
    switch (kind) {
    case PT_WAIT_READ:
        return PT_KIND_RACQ;
    case PT_WAIT_CONDITION:
    case PT_WAIT_CONDITION_TIMED:
        return PT_KIND_WAIT;
    case PT_WAIT_SEMAPHORE:
    case PT_WAIT_BARRIER:
        return PT_KIND_SYNC;
    case PT_WAIT_END:
        return PT_KIND_JOIN;
    default:
        return PT_KIND_ACQ;
    }
}

static void name_thread(char *out, const struct pt_thread *thread)
{
    struct pt_line line = {0};
    pt_line_text(&line, "thread ");
    pt_line_number(&line, pt_thread_number(thread) + 1);
    memcpy(out, line.text, line.len);
    out[line.len] = 0;
}

/* In a circle of locks a thread that waits for a condition needs its mutex, which the next one has. */
static void describe(struct report *report, uint32_t i, struct pt_thread *thread, bool circle)
{
    struct pt_deadlock_self *d = thread->deadlock;
    const struct pt_wait *wait = &d->wait;
    bool mutex = circle && wait->mutex;
    struct pt_found_side *side = &report->sides[i];
    *side = (struct pt_found_side){.thread = pt_thread_number(thread) + 1,
                                   .thread_name = thread->label,
                                   .kind = mutex ? PT_KIND_ACQ : kind_of(wait->kind),
                                   .address = (uintptr_t)(mutex ? wait->mutex : wait->object),
                                   .variable = wait->site && !mutex ? wait->site->variable : "",
                                   .stack = stack_of(d->waits_in, sizeof d->waits_in / sizeof *d->waits_in),
                                   .locks = report->locks[i],
                                   .created = creation_of(d->created, pt_thread_number(thread) + 1)};
    if (wait->kind == PT_WAIT_END && wait->thread) {
        name_thread(report->names[i], wait->thread);
        side->variable = report->names[i];
    }
    for (; side->lock_count < d->held_count && side->lock_count < PT_FOUND_LOCKS; side->lock_count++) {
        const struct pt_held *held = &d->held[side->lock_count];
        report->locks[i][side->lock_count] =
            (struct pt_found_lock){held->site ? held->site->variable : "", held->lock, held->site};
    }
}

static void end_program(struct pt_thread *self)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: the program is deadlocked, and is ended; on_deadlock=wait leaves it as it is");
    if (pt_options.verbosity >= 0)
        pt_line_write(&line);
    pt_found_finish(self);
    pt_sys_exit((int)(pt_options.exitcode & 255));
}

void pt_deadlock_observed(struct pt_thread *self, struct pt_thread *const *threads, uint32_t count, const char *note)
{
    if (pt_runtime_is_stopped()) /* by a thread that clone made, say, which could wake them */
        return;
    struct report *report = pt_pool_take(pt_thread_pool(self), sizeof *report);
    struct pt_found found = {.how = PT_FOUND_OBSERVED, .note = note};
    for (uint32_t i = 0; report && i < count; i++) {
        describe(report, i, threads[i], !note[0]);
        found.key += key_of(threads[i]->deadlock->wait.site, (uintptr_t)threads[i]->deadlock->wait.object);
    }
    bool counts = !report || send(self, report, count, &found);
    if (report)
        pt_pool_give(pt_thread_pool(self), report);
    if (counts && !pt_span_is(pt_options.on_deadlock, "wait"))
        end_program(self);
}
