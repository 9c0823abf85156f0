/*
 * What a run shows that keeps `exhaustive` from saying that it has seen all schedules: control was lost, a run was not
 * seen to its end, or something decides that is no step. A reason that is given may be one too many; each that is known
 * to make the answer wrong is given. Linear in the steps of a run.
 */
#include "core/explore_depend.h"
#include "explore/exhaustive_impl.h"

void exh_miss(struct exhaustive *x, const char *why)
{
    if (!x->progress.missing)
        x->progress.missing = why;
}

/* Who spins, and waits for another thread by that, does none of these before that one has written: it takes and gives
 * up locks at most. One that does only counted its turns, and should have been tried at each of them. */
static bool leaves_loop(enum pt_explore_kind kind)
{
    return kind != PT_EXPLORE_LOCK && kind != PT_EXPLORE_READ_LOCK && kind != PT_EXPLORE_UNLOCK &&
           kind != PT_EXPLORE_ASK && kind != PT_EXPLORE_TRY_LOCK && kind != PT_EXPLORE_TRY_READ_LOCK &&
           kind != PT_EXPLORE_SEM_TRY && pt_explore_kind_writes(kind);
}

/* It was given up after many turns of a loop of which only that it yields is known (runtime/explore/turn.c). */
static bool ends_yielding(const struct exhaustive *x, const struct pt_explore_outcome *outcome)
{
    if (outcome->result.end != PT_EXPLORE_REDUNDANT || !outcome->step_count ||
        outcome->result.spins < x->base.input.spin_limit)
        return false;
    const struct pt_explore_step *last = &outcome->steps[outcome->step_count - 1];
    return (last->kind == PT_EXPLORE_YIELD || last->kind == PT_EXPLORE_SLEEP) && !(last->flags & PT_EXPLORE_SPUN);
}

void exh_look_for_doubts(struct exhaustive *x, const struct pt_explore_outcome *outcome)
{
    if (outcome->result.losses)
        exh_miss(x, "control was lost");
    if (outcome->result.times & PT_EXPLORE_TIMER_SET)
        exh_miss(x, "timers are over at one moment of the virtual clock alone");
    if (ends_yielding(x, outcome))
        exh_miss(x, "a loop that yields was not seen to end");
    if (outcome->timed_out)
        exh_miss(x, "a run took too long");
    if (outcome->result.end == PT_EXPLORE_LIMIT)
        exh_miss(x, "a run reached the limit of steps");
    if (outcome->result.end == PT_EXPLORE_FULL || !pt_explore_outcome_is_whole(outcome) ||
        outcome->step_count > STEPS_MOST)
        exh_miss(x, "a run is too long to be looked at whole");
    if (x->base.input.spurious)
        exh_miss(x, "not all ways of spending spurious wake-ups are tried");
    if (x->base.input.wishes & PT_EXPLORE_LATE)
        exh_miss(x, "time-outs are tried only when nobody else can go on");
    for (uint32_t i = 0; i < outcome->step_count && i < STEPS_MOST; i++) {
        if (outcome->steps[i].kind == PT_EXPLORE_SEND || outcome->steps[i].kind == PT_EXPLORE_HANDLE)
            exh_miss(x, "signals are handled at scheduling points alone");
        if (outcome->steps[i].flags & PT_EXPLORE_OUTSIDE)
            exh_miss(x, "something outside of the process decided when a thread went on");
        if (outcome->steps[i].flags & PT_EXPLORE_SPUN && leaves_loop(outcome->steps[i].kind))
            exh_miss(x, "a loop that was taken for one that waits ended by itself");
    }
}
