/*
 * What a failure is called, where it is, and in which step of the run. A race or a misuse of memory is known by the
 * report of the check that saw it, a violation by a recording of the run; the rest by how the run ended. Guarantee: a
 * step that is given is the one in which it happened. Cost: linear in the steps.
 */
#include "cli/explore/tell.h"

#include <inttypes.h>

#include "cli/explore/founds.h"
#include "cli/explore/recorded.h"
#include "report/check.h"

void pt_explore_put_end(const struct pt_explore_failure *failure, const struct pt_explore_outcome *outcome,
                        const char *property, struct pt_buf *buf)
{
    pt_buf_puts(buf, pt_explore_failure_words[failure->kind]);
    if (failure->kind == PT_EXPLORE_FAILS_SIGNAL || failure->kind == PT_EXPLORE_FAILS_STATUS)
        pt_buf_printf(buf, " %d", failure->number);
    else if (failure->report && failure->report <= outcome->report_count)
        pt_buf_printf(buf, " %016" PRIx64, pt_explore_report_key(&outcome->reports[failure->report - 1]));
    else if (property)
        pt_buf_printf(buf, " %s", property);
}

static const char *tell_what(const struct pt_explore_telling *t, struct pt_arena *arena)
{
    struct pt_buf what;
    pt_buf_init(&what);
    if (t->property) {
        const struct pt_step *last = t->finding ? pt_finding_breaks(t->finding) : NULL;
        pt_buf_printf(&what, "property '%s' is violated", t->property);
        if (last)
            pt_buf_printf(&what, " by %s at %s", last->thread, last->loc);
        else if (t->finding && !t->finding->builtin && !t->finding->witness_count)
            pt_buf_puts(&what, " in the initial state");
    } else {
        pt_check_what(t->finding, &what);
    }
    const char *text = pt_arena_strndup(arena, what.text, what.len);
    pt_buf_release(&what);
    return text;
}

/* Its place is that of the access, or of the event that breaks the property. */
static struct pt_side *side_of(const struct pt_finding *finding, struct pt_arena *arena)
{
    const struct pt_step *last = finding ? pt_finding_breaks(finding) : NULL;
    if (!last)
        return NULL;
    struct pt_side *side = pt_arena_alloc(arena, sizeof *side);
    side->step = *last;
    side->step.clock = NULL;
    side->step.var = PT_NONE;
    return side;
}

void pt_explore_tell_failure(const struct pt_explore_telling *t, struct pt_finding *finding)
{
    struct pt_arena *arena = &finding->arena;
    struct pt_played *played = pt_explore_story(t->names, t->outcome, t->failure, t->passing, arena);
    bool known = t->property || t->finding;
    if (known)
        played->what = tell_what(t, arena);
    finding->played = played;
    finding->how = PT_HOW_OBSERVED;
    finding->order = "access";
    finding->object = known ? played->what : pt_explore_about(t->names, t->outcome, t->failure, arena);
    finding->sides = side_of(t->finding, arena);
    if (!finding->sides)
        finding->sides = pt_explore_side(t->names, t->outcome, t->failure, arena);
    finding->side_count = 1;
}

uint64_t pt_explore_fails_at(const struct pt_explore_telling *t)
{
    if (t->failure->report && t->failure->report <= t->outcome->report_count)
        return t->outcome->reports[t->failure->report - 1].step;
    return t->property && t->finding ? pt_explore_recorded_step(t->finding, t->outcome, t->names) : 0;
}
