/*
 * Triples as findings of the check `serializable`, one for each variable and places of the second access of the block
 * and of the one that comes in between: its sides are the two of the block, its note says what comes between them, and
 * its witness is the run, whose last events are that and the second one. Cost: a replay and strings for each.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "core/finding_key.h"
#include "core/hash.h"
#include "engine/predict.h"
#include "engine/triples_impl.h"

uint64_t pt_triples_key(const struct triples *t, const struct triple *triple)
{
    const char *name = pt_name(t->names, PT_SPACE_VAR, triple->second.event.object);
    struct pt_finding_side second = {pt_name(t->names, PT_SPACE_LOC, triple->second.event.loc), name},
                           between = {pt_name(t->names, PT_SPACE_LOC, triple->between.event.loc), name};
    /* which of the two is in the block matters */
    return pt_mix64(pt_finding_key_race(second, second)) + pt_finding_key_race(between, between);
}

/* "w(x) by T2 (b.c:1) comes between them". */
static const char *describe(const struct triples *t, struct pt_finding *f, const struct pt_log_event *event)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%s(%s) by %s (%s) can come between them", pt_op_word(event->op),
                  pt_name(t->names, PT_SPACE_VAR, event->object), pt_name(t->names, PT_SPACE_THREAD, event->thread),
                  pt_name(t->names, PT_SPACE_LOC, event->loc));
    const char *text = pt_arena_strndup(&f->arena, buf.text, buf.len);
    pt_buf_release(&buf);
    return text;
}

static struct pt_side make_side(const struct triples *t, const struct pt_full_run *run, struct pt_finding *f,
                                const struct pt_log_event *event)
{
    struct pt_side side = {.step = pt_predict_step(t->names, event, 0), .event = event->event, .atomic = event->atomic};
    if (event->stack && event->stack <= run->stack_cap)
        side.stack = pt_races_stack(f, run->stacks[event->stack - 1]);
    return side;
}

static void add(struct triples *t, const struct triple *triple, const struct pt_full_run *run,
                const struct pt_replay *replay, struct pt_finding *finding)
{
    struct pt_finding *f = pt_races_add(finding, PT_HOW_PREDICTED);
    if (!f)
        return;
    f->order = t->beyond ? "values" : "sync";
    f->count = 1;
    f->object = pt_name(t->names, PT_SPACE_BLOCK, triple->second.block);
    f->note = describe(t, f, &triple->between.event);
    f->sides = pt_arena_alloc(&f->arena, 2 * sizeof *f->sides);
    f->sides[0] = make_side(t, run, f, &pt_triples_first(&triple->second, &triple->between)->event);
    f->sides[1] = make_side(t, run, f, &triple->second.event);
    f->side_count = 2;
    pt_predict_witness(&t->witnesses, f, t->names, &t->log, &replay->run);
    if (!triple->within)
        pt_predict_last(f, t->names, &triple->between.event);
    pt_predict_last(f, t->names, &triple->second.event);
}

/* Whether b comes after a1, if it is in the run: of two slices one might have been moved behind the other. */
static bool is_after_first(const struct triples *t, const struct triple *triple)
{
    const struct triple_first *first = pt_triples_first(&triple->second, &triple->between);
    return !triple->within || first->number <= t->precede.first[triple->second.at.thread] ||
           triple->between.at.number > t->precede.first[triple->between.at.thread];
}

bool pt_triples_report(struct triples *t, const struct triple *triple, const struct pt_full_run *run,
                       struct pt_finding *finding)
{
    struct pt_precede_event events[2];
    const struct pt_precede_question q = pt_triples_ask(triple, events);
    struct pt_replay replay;
    bool possible = pt_precede_judge(&t->precede, &q, &replay) && is_after_first(t, triple);
    if (possible) {
        add(t, triple, run, &replay, finding);
        *pt_map64_at(&t->known, pt_triples_key(t, triple)) = 1;
    }
    pt_replay_end(&replay);
    return possible;
}
