/*
 * The two-slice witness. The run takes what the targets need and ends every section that can end without a target; a
 * section that stays open although a younger one of its lock has ended in the run has to come after that one: it, and
 * what follows from it, is moved behind everything else.
 *
 * What is moved is a part of each thread up to the end of what is taken of it. Moved is, beside those sections: what
 * needs something that is moved; and a section from its beginning if its end is moved. A read that is moved must still
 * see what it saw: either the writes of the variable that come after it are moved, too, or, if that leads nowhere, the
 * write that it saw is.
 *
 * Guarantee: none but what predict/replay.c says of the result; on random runs it finds all races and deadlocks that
 * only a reversal of locks leads to, but for a few of a hundred (docs/performance.md has the figures). Cost: a pass
 * over the recorded events for each round, of which there are few.
 */
#include "predict/slices.h"

#include <stdlib.h>
#include <string.h>

struct slices {
    const struct pt_trf *trf;
    const struct pt_slices_target *targets;
    uint32_t target_count;
    uint64_t *upto;  /* what is taken of each thread */
    uint64_t *moved; /* the first event of each that is moved; UINT64_MAX: none */
    uint64_t *seen;
    uint8_t *written, *read; /* by variable: something moved has written it last; has read it */
    uint8_t *synced, *made;  /* by other object and block of memory: something moved has used it */
    bool pull;               /* the write that a moved read saw is moved */
    struct slices_write {
        uint64_t number; /* 0: there is none */
        uint32_t thread;
    } * writers; /* by variable, the latest */
    size_t vars, others, blocks;
};

/* Calls `each` for every section that is open after so many events of the thread. */
static bool each_open(struct slices *s, uint32_t thread, uint64_t upto,
                      bool (*each)(struct slices *s, uint32_t thread, const struct pt_trf_section *section))
{
    const struct pt_trf_thread *t = &s->trf->threads[thread];
    uint32_t index = upto ? pt_trf_section_at(t, upto) : 0;
    bool any = false;
    uint64_t began = index ? pt_trf_section(t, index - 1)->acquired : 0;
    for (uint32_t left = index ? pt_trf_section(t, index - 1)->held + 1 : 0; left && index > t->first;) {
        const struct pt_trf_section *section = pt_trf_section(t, index - 1);
        index = section->outer;
        if (section->released && section->released < began)
            continue;
        left--;
        if (!section->released || section->released > upto)
            any |= each(s, thread, section);
    }
    return any;
}

/* ---- what is taken ---- */

static bool contains_target(const struct slices *s, uint32_t thread, uint64_t number, const struct pt_vec *past)
{
    for (uint32_t i = 0; i < s->target_count; i++) {
        const struct pt_slices_target *target = &s->targets[i];
        if (target->thread == thread ? number >= target->number : pt_vec_at(past, target->thread) >= target->number)
            return true;
    }
    return false;
}

/* Ends the section if that is possible without a target. */
static bool end_section(struct slices *s, uint32_t thread, const struct pt_trf_section *section)
{
    if (!section->released || section->released <= s->upto[thread] || !s->trf->locks[section->lock].contested ||
        contains_target(s, thread, section->released, section->past))
        return false;
    pt_trf_include(s->upto, thread, section->released, section->past);
    return true;
}

static bool take(struct slices *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t t = 0; t < s->trf->thread_count; t++)
            changed |= each_open(s, t, s->upto[t], end_section);
    }
    for (uint32_t i = 0; i < s->target_count; i++)
        if (s->upto[s->targets[i].thread] >= s->targets[i].number)
            return false;
    return true;
}

/* ---- what is moved ---- */

enum { APART, OLDER, OPEN_BOTH };

/* How an open section stands to the latest one of a use that has begun in the run. */
static int compare(const struct slices *s, uint32_t thread, const struct pt_trf_section *section,
                   const struct pt_trf_use *use)
{
    const struct pt_trf_thread *t = &s->trf->threads[use->thread];
    if (use->thread == thread || (use->shared && section->shared))
        return APART;
    for (uint32_t i = use->count; i > 0; i--) {
        const struct pt_trf_section *other = pt_trf_section(t, use->sections[i - 1]);
        if (other->acquired > s->upto[use->thread])
            continue;
        if (!other->released || other->released > s->upto[use->thread])
            return OPEN_BOTH;
        return other->number > section->number ? OLDER : APART;
    }
    return APART;
}

/* An open section that is older than one that has ended is moved. True: two are open that exclude each other. */
static bool move_open(struct slices *s, uint32_t thread, const struct pt_trf_section *section)
{
    bool both = false;
    for (uint32_t i = s->trf->locks[section->lock].uses; i != PT_NONE; i = s->trf->uses[i].next) {
        int how = compare(s, thread, section, &s->trf->uses[i]);
        both |= how == OPEN_BOTH;
        if (how == OLDER && section->acquired < s->moved[thread])
            s->moved[thread] = section->acquired;
    }
    return both;
}

/* A section whose end is moved is moved as a whole. */
static bool move_begin(struct slices *s, uint32_t thread, const struct pt_trf_section *section)
{
    if (!section->released || section->released > s->upto[thread] || section->acquired >= s->moved[thread])
        return false;
    s->moved[thread] = section->acquired;
    return true;
}

/* Whether an event has to be moved because others are. */
static bool follows(const struct slices *s, const struct pt_log_event *event)
{
    switch (pt_op_space(event->op)) {
    case PT_SPACE_HEAP:
        return s->made[event->object];
    case PT_SPACE_VAR:
        if (s->trf->vars[event->object].block && s->made[s->trf->vars[event->object].block - 1])
            return true;
        return ((pt_op_reads(event->op) || event->to) && s->written[event->object]) ||
               (pt_op_writes(event->op) && s->read[event->object]);
    case PT_SPACE_OTHER:
        return s->synced[event->object];
    case PT_SPACE_THREAD:
        return event->op == PT_OP_JOIN && s->moved[event->object] <= s->seen[event->object];
    default:
        return false;
    }
}

/* Returns whether an earlier event is moved because of it. */
static bool note_access(struct slices *s, const struct pt_log_event *event, bool moved)
{
    struct slices_write *writer = &s->writers[event->object];
    bool pulls = s->pull && moved && pt_op_reads(event->op) && writer->number;
    if (pt_op_reads(event->op))
        s->read[event->object] |= moved && !pulls;
    pulls = pulls && writer->number < s->moved[writer->thread];
    if (pulls)
        s->moved[writer->thread] = writer->number;
    if (pt_op_writes(event->op)) {
        s->written[event->object] = moved || (event->to && s->written[event->object]);
        *writer = (struct slices_write){s->seen[event->thread], event->thread};
    }
    return pulls;
}

static void note(struct slices *s, const struct pt_log_event *event, bool moved, bool *changed)
{
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        *changed |= note_access(s, event, moved);
        break;
    case PT_SPACE_OTHER:
        s->synced[event->object] |= moved;
        break;
    case PT_SPACE_HEAP:
        s->made[event->object] |= moved;
        break;
    case PT_SPACE_THREAD:
        if (moved && event->op == PT_OP_FORK)
            s->moved[event->object] = 1;
        break;
    default:
        break;
    }
}

/* One pass over what is taken. Returns how many events were read. */
static uint64_t pass(struct slices *s, const struct pt_log *log, bool *changed)
{
    uint64_t left = 0, count = 0;
    for (uint32_t i = 0; i < s->trf->thread_count; i++)
        left += s->upto[i];
    memset(s->seen, 0, s->trf->thread_count * sizeof *s->seen);
    memset(s->written, 0, s->vars);
    memset(s->read, 0, s->vars);
    memset(s->writers, 0, s->vars * sizeof *s->writers);
    memset(s->synced, 0, s->others);
    memset(s->made, 0, s->blocks);
    struct pt_log_reader reader;
    for (pt_log_start(&reader, log); left && pt_log_next(&reader); count++) {
        const struct pt_log_event *event = &reader.event;
        uint64_t number = ++s->seen[event->thread];
        if (number > s->upto[event->thread])
            continue;
        left--;
        bool moved = number >= s->moved[event->thread];
        if (!moved && follows(s, event)) {
            s->moved[event->thread] = number;
            moved = *changed = true;
        }
        note(s, event, moved, changed);
    }
    return count;
}

static bool move(struct slices *s, const struct pt_log *log, uint64_t *effort)
{
    bool both = false;
    for (uint32_t t = 0; t < s->trf->thread_count; t++)
        both |= each_open(s, t, s->upto[t], move_open);
    for (bool changed = !both; changed;) {
        changed = false;
        uint64_t read = pass(s, log, &changed);
        if (read > *effort)
            return false;
        *effort -= read;
        for (uint32_t t = 0; t < s->trf->thread_count; t++)
            while (s->moved[t] != UINT64_MAX && each_open(s, t, s->moved[t] - 1, move_begin))
                changed = true;
    }
    return !both;
}

bool pt_slices_find(const struct pt_trf *trf, const struct pt_log *log, const struct pt_slices_target *targets,
                    uint32_t count, bool pull, uint64_t *first, uint64_t *upto, uint64_t *effort)
{
    size_t threads = (size_t)trf->thread_count + 1;
    struct slices s = {.trf = trf,
                       .targets = targets,
                       .target_count = count,
                       .upto = upto,
                       .moved = pt_xmalloc(threads * sizeof *s.moved),
                       .seen = pt_xmalloc(threads * sizeof *s.seen),
                       .written = pt_xcalloc(trf->var_cap + 1, 1),
                       .read = pt_xcalloc(trf->var_cap + 1, 1),
                       .synced = pt_xcalloc(trf->other_cap + 1, 1),
                       .pull = pull,
                       .writers = pt_xcalloc(trf->var_cap + 1, sizeof *s.writers),
                       .made = pt_xcalloc(trf->block_cap + 1, 1),
                       .vars = trf->var_cap,
                       .others = trf->other_cap,
                       .blocks = trf->block_cap};
    memset(s.moved, 0xff, threads * sizeof *s.moved);
    bool found = take(&s) && move(&s, log, effort);
    for (uint32_t i = 0; i < trf->thread_count; i++)
        first[i] = s.moved[i] <= upto[i] ? s.moved[i] - 1 : upto[i];
    free(s.moved);
    free(s.seen);
    free(s.written);
    free(s.read);
    free(s.synced);
    free(s.made);
    free(s.writers);
    return found;
}
