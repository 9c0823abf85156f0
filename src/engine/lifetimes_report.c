/*
 * Wrong lifetimes as findings: one for each pair of places and kind, with the use as its first side, the free or the
 * store as its second, and the run that leads there, at the end of which the use is. Cost: strings for each that is
 * new.
 */
#include <string.h>

#include "core/finding_key.h"
#include "core/hash.h"
#include "engine/lifetimes.h"
#include "engine/predict.h"

enum { UNTOLD = PT_CHECK_FINDINGS_MAX + 1 };

uint64_t pt_lifetimes_key(const struct lifetimes *l, const struct life_pair *pair)
{
    const struct pt_log_event *use = &pair->use->event, *other = &pair->other->event;
    /* Blocks have numbers as they come, which say nothing about the program. */
    const char *name = pair->block ? "0x" : pt_name(l->names, PT_SPACE_VAR, use->object);
    uint64_t key = pt_finding_key_race((struct pt_finding_side){pt_name(l->names, PT_SPACE_LOC, use->loc), name},
                                       (struct pt_finding_side){pt_name(l->names, PT_SPACE_LOC, other->loc), name});
    return pt_mix64(key + (pair->note ? (uint64_t)pair->note[0] << 8 | (uint64_t)pair->note[5] : 0));
}

static const char *const *calls_of(const struct lifetimes *l, struct pt_finding *f, const struct pt_log_event *event)
{
    if (event->stack && event->stack <= l->run.stack_cap)
        return pt_races_stack(f, l->run.stacks[event->stack - 1]);
    return NULL;
}

/* The calls in which the thread was forked; of a fork without a stack its place. */
static const char *const *created_at(const struct life_scan *s, struct pt_finding *f, uint32_t thread)
{
    if (thread >= s->created_cap || !s->created[thread].event)
        return NULL;
    const char *const *calls = calls_of(s->l, f, &s->created[thread]);
    if (calls)
        return calls;
    const char **place = pt_arena_alloc(&f->arena, 2 * sizeof *place);
    place[0] = pt_name(s->l->names, PT_SPACE_LOC, s->created[thread].loc);
    place[1] = NULL;
    return place;
}

/* The locks whose sections are open before the thread's event of that number. */
static const char *const *locks_at(const struct life_scan *s, struct pt_finding *f, uint32_t thread, uint64_t number)
{
    const struct pt_trf_thread *t = &s->trf.threads[thread];
    uint32_t count = 0, first = pt_trf_section_at(t, number - 1);
    const char **locks =
        pt_arena_alloc(&f->arena, (first ? pt_trf_section(t, first - 1)->held + 2 : 1) * sizeof *locks);
    for (uint32_t i = first; i > t->first; i = pt_trf_section(t, i - 1)->outer) {
        const struct pt_trf_section *section = pt_trf_section(t, i - 1);
        if (!section->released || section->released > number)
            locks[count++] = pt_name(s->l->names, PT_SPACE_LOCK, section->lock);
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        const char *lock = locks[i];
        locks[i] = locks[count - 1 - i];
        locks[count - 1 - i] = lock;
    }
    locks[count] = NULL;
    return locks;
}

static struct pt_side make_side(const struct life_scan *s, struct pt_finding *f, const struct pt_log_event *event,
                                uint64_t number)
{
    struct pt_side side = {.step = pt_predict_step(s->l->names, event, 0),
                           .event = event->event,
                           .atomic = event->atomic,
                           .stack = calls_of(s->l, f, event),
                           .created = created_at(s, f, event->thread)};
    if (number)
        side.locks = locks_at(s, f, event->thread, number);
    return side;
}

static void add_block(const struct life_scan *s, struct pt_finding *f, const struct life_block *block)
{
    if (!block || !block->is_made)
        return;
    f->block = pt_arena_alloc(&f->arena, sizeof *f->block);
    *f->block = make_side(s, f, &block->made, 0);
    f->block->step.value = s->l->sizes[block->size];
}

static void fill(struct life_scan *s, struct pt_finding *f, const struct life_pair *pair)
{
    const struct lifetimes *l = s->l;
    f->object = pt_name(l->names, pt_op_space(pair->use->event.op), pair->use->event.object);
    f->note = pair->note;
    f->sides = pt_arena_alloc(&f->arena, 2 * sizeof *f->sides);
    f->sides[0] = make_side(s, f, &pair->use->event, pair->use->at.number);
    f->sides[1] = make_side(s, f, &pair->other->event, pair->other->at.number);
    f->side_count = 2;
    add_block(s, f, pair->block);
}

static void fill_witness(struct life_scan *s, struct pt_finding *f, const struct life_pair *pair, enum life_way way,
                         const struct pt_replay *replay)
{
    struct lifetimes *l = s->l;
    f->order = s->trf.plain || way == LIFE_LAST ? "values" : "sync";
    if (way == LIFE_MET)
        pt_meeting_witness(&l->meeting, &l->witnesses, f);
    else
        pt_predict_witness(&l->witnesses, f, l->names, &l->log, &replay->run);
    if (way == LIFE_LAST)
        pt_predict_last(f, l->names, &pair->other->event);
    pt_predict_last(f, l->names, &pair->use->event);
}

/* What was predicted before, the recorded run itself has later on. */
static void become_observed(struct life_scan *s, struct pt_finding *f, const struct life_pair *pair)
{
    f->how = PT_HOW_OBSERVED;
    f->order = "access";
    f->witness = NULL;
    f->witness_count = 0;
    f->witness_lost = false;
    f->block = NULL;
    f->count = 0;
    fill(s, f, pair);
}

void pt_lifetimes_report(struct life_scan *s, const struct life_pair *pair, enum life_way way,
                         const struct pt_replay *replay)
{
    struct pt_finding *first = s->l->finding, *f = NULL;
    bool predicted = replay || way == LIFE_MET;
    uint32_t *index = pt_map64_at(&s->l->known, pt_lifetimes_key(s->l, pair));
    if (*index == UNTOLD)
        return;
    if (*index != PT_NONE) {
        f = *index ? first->more[*index - 1] : first;
        if (!predicted && f->how == PT_HOW_PREDICTED)
            become_observed(s, f, pair);
        f->count++;
        return;
    }
    f = pt_races_add(first, predicted ? PT_HOW_PREDICTED : PT_HOW_OBSERVED);
    *index = !f ? UNTOLD : f == first ? 0 : first->more_count;
    if (!f)
        return;
    f->order = "access";
    f->count = 1;
    fill(s, f, pair);
    if (predicted)
        fill_witness(s, f, pair, way, replay);
}
