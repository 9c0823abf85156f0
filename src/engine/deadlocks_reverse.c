/*
 * Deadlocks that a run gets to in which sections of locks come in another order (contract section 3, `values`):
 * lock-order patterns that are no sync-preserving deadlock are tried by the two-slice witness (predict/slices.h), at a
 * few of their instances, and then by the search of `values` (engine/meeting.h), at every choice of the first ones, as
 * far as --effort goes. A lock that is lent (deadlocks_span.c) has to have been taken: its owner cannot have released
 * it, since it joins a thread first that has not ended.
 *
 * Guarantee: none is reported whose run predict/replay.c, or for the latter order/possible.c, has not played; that
 * there is none is not said. All are found of traces in which no member of a pattern has more than DEADLOCKS_TRIES
 * instances, nor a pattern more than MEETS choices of them, where the effort lasts: each state of a deadlock has its
 * threads next to take the locks of one choice, and all that they have then they took before. Cost: the recorded events
 * are followed once more, without closing, and then a few passes over them for each try, EFFORT events in all.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/deadlocks.h"

enum { MEETS = 512 };              /* choices of instances that a search is asked about, of a pattern */
#define EFFORT (UINT64_C(1) << 28) /* events that are looked at */

struct reverse {
    struct deadlocks *d;
    struct pt_trf trf;     /* plain */
    struct pt_map64 index; /* of `wanted`, by thread and number */
    struct deadlocks_instance **wanted;
    uint32_t count;
    size_t cap;
    uint64_t effort;
    uint64_t *first, *upto;
};

/* The instances of patterns that are left. */
static void want(struct reverse *r)
{
    for (uint32_t i = 0; i < r->d->cycle_count; i++) {
        const struct deadlocks_cycle *cycle = &r->d->cycles[i];
        for (uint32_t k = 0; !cycle->possible && k < cycle->count; k++) {
            struct deadlocks_node *node = cycle->members[k]->note;
            for (uint64_t n = 0; n < node->count && n < DEADLOCKS_TRIES; n++) {
                pt_epoch at = pt_epoch_make(cycle->members[k]->thread, node->instances[n].number);
                uint32_t *index = pt_map64_at(&r->index, at);
                if (*index != PT_NONE)
                    continue;
                *index = r->count;
                PT_PUSH(r->wanted, r->count, r->cap, &node->instances[n]);
            }
        }
    }
}

/* Follows the run once more, for what instances need without what locks add. */
static void follow(struct reverse *r)
{
    struct pt_log_reader reader;
    for (pt_log_start(&reader, &r->d->log); pt_log_next(&reader);) {
        struct pt_event event = pt_log_as_event(&reader.event);
        if (pt_op_locks(event.op)) {
            const struct pt_trf_thread *t = pt_trf_thread(&r->trf, event.thread);
            uint32_t index = pt_map64_get(&r->index, pt_hb_now(&t->hb));
            if (index != PT_NONE)
                r->wanted[index]->plain = pt_vec_ref(&r->d->memory, t->hb.past);
        }
        pt_trf_event(&r->trf, &event);
    }
}

static struct deadlocks_instance *instance_of(const struct pt_acquire *a)
{
    struct deadlocks_node *node = a->note;
    return &node->instances[node->cursor];
}

/* The instances of the cursors. */
static void list_instances(const struct deadlocks_cycle *cycle, struct deadlocks_instance *at)
{
    for (uint32_t i = 0; i < cycle->count; i++)
        at[i] = *instance_of(cycle->members[i]);
}

/* The instances of the cursors, in both ways that the witness can be made. */
static bool try(struct reverse *r, const struct deadlocks_cycle *cycle)
{
    struct pt_slices_target targets[PT_PATTERN_MAX];
    struct deadlocks_instance at[PT_PATTERN_MAX];
    bool found = false;
    list_instances(cycle, at);
    for (int pull = 0; pull < 2 && !found && r->effort; pull++) {
        memset(r->upto, 0, (r->trf.thread_count + 1) * sizeof *r->upto);
        for (uint32_t i = 0; i < cycle->count; i++) {
            const struct deadlocks_instance *instance = instance_of(cycle->members[i]);
            targets[i] = (struct pt_slices_target){cycle->members[i]->thread, instance->number};
            pt_trf_include(r->upto, cycle->members[i]->thread, instance->number - 1, instance->plain);
        }
        found = pt_slices_find(&r->trf, &r->d->log, targets, cycle->count, pull, r->first, r->upto, &r->effort) &&
                pt_deadlocks_replay(r->d, cycle, r->first, r->upto);
        if (found)
            pt_deadlocks_tell(r->d, cycle, at, "values", r->first, r->upto);
    }
    return found;
}

static bool has_another(const struct deadlocks_node *node)
{
    return node->cursor + 1 < node->count && node->cursor + 1 < DEADLOCKS_TRIES;
}

/* Goes on to the next instance of the acquire that the recorded run has first; false: there is none. */
static bool advance(const struct deadlocks_cycle *cycle)
{
    struct deadlocks_node *first = NULL;
    for (uint32_t i = 0; i < cycle->count; i++) {
        struct deadlocks_node *node = cycle->members[i]->note;
        if (has_another(node) &&
            (!first || node->instances[node->cursor].event < first->instances[first->cursor].event))
            first = node;
    }
    if (first)
        first->cursor++;
    return first;
}

/* Goes on to the next of all choices; false: that was the last. */
static bool choose(const struct deadlocks_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        struct deadlocks_node *node = cycle->members[i]->note;
        if (has_another(node)) {
            node->cursor++;
            return true;
        }
        node->cursor = 0;
    }
    return false;
}

/* Asks of each pattern that is left, at one choice of instances after the other. */
static void ask_all(struct reverse *r, bool (*ask)(struct reverse *r, const struct deadlocks_cycle *cycle),
                    bool (*next)(const struct deadlocks_cycle *cycle))
{
    for (uint32_t i = 0; i < r->d->cycle_count; i++) {
        struct deadlocks_cycle *cycle = &r->d->cycles[i];
        if (cycle->possible)
            continue;
        for (uint32_t k = 0; k < cycle->count; k++)
            ((struct deadlocks_node *)cycle->members[k]->note)->cursor = 0;
        uint32_t most = MEETS;
        do
            cycle->possible = ask(r, cycle);
        while (!cycle->possible && --most && next(cycle));
    }
}

/* Can the instances of the cursors come next together? Each thread then has what its pattern says, and waits. */
static bool meet(struct reverse *r, const struct deadlocks_cycle *cycle)
{
    uint64_t next[PT_PATTERN_MAX], taken[PT_PATTERN_MAX];
    struct deadlocks_instance at[PT_PATTERN_MAX];
    uint32_t taken_count = 0;
    list_instances(cycle, at);
    for (uint32_t i = 0; i < cycle->count; i++) {
        uint32_t lent = ((struct deadlocks_node *)cycle->members[i]->note)->lent;
        if (lent)
            taken[taken_count++] = r->d->lents[lent - 1].event;
        next[i] = at[i].event;
    }
    if (!pt_meeting_find_after(&r->d->meeting, taken, taken_count, next, cycle->count))
        return false;
    pt_deadlocks_met(r->d, cycle, at);
    return true;
}

void pt_deadlocks_reverse(struct deadlocks *d)
{
    struct reverse r = {.d = d, .effort = EFFORT};
    pt_map64_init(&r.index);
    want(&r);
    if (r.count && d->log.count <= EFFORT) { /* else there is no try */
        pt_trf_begin(&r.trf, d->names, &d->memory);
        r.trf.plain = true;
        follow(&r);
        r.first = pt_xcalloc((size_t)r.trf.thread_count + 1, sizeof *r.first);
        r.upto = pt_xcalloc((size_t)r.trf.thread_count + 1, sizeof *r.upto);
        ask_all(&r, try, advance);
        ask_all(&r, meet, choose);
        pt_trf_end(&r.trf);
    }
    free(r.first);
    free(r.upto);
    free(r.wanted);
    pt_map64_release(&r.index);
}
