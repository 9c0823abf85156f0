/*
 * The evaluator of decentralised properties: one linear pass over a thread's units per state, operands first, so that
 * each subformula is computed once, and only if something that it depends on may have changed since the last state
 * (mttl_plan.c says what that is). Programs are in mttl_program.c, past operators in mttl_past.c, state 0 of threads of
 * which nothing is known in mttl_initial.c.
 *
 * Cost of a step: a comparison for each unit of the thread; for those evaluated, cap^params times the program's length;
 * quantifiers multiply by the number of threads known. A unit that only hands on what others export costs cap if
 * something was heard of others, else one cell. No allocation, no lock, no recursion.
 */
#include <string.h>

#include "core/mttl_run.h"

static struct pt_value eval_export(struct run *r, const struct pt_mttl_unit *unit)
{
    if (unit->kind == PT_MTTL_ACCESS)
        return pt_mttl_present_access(r);
    if (unit->kind == PT_MTTL_VALUE)
        return pt_mttl_eval_atom(r, unit->a);
    enum truth truth = pt_mttl_eval_program(r, unit->a);
    return truth == FAILED ? pt_mttl_failure(r->fault, r->fault_atom) : pt_value_bool(truth == YES);
}

static bool same_value(struct pt_value a, struct pt_value b)
{
    if (a.kind != b.kind || a.len != b.len)
        return false;
    return a.kind == PT_VALUE_STRING ? a.len == 0 || memcmp(a.s, b.s, a.len) == 0 : a.u == b.u;
}

/* The entry that the thread showed last, or NULL. */
static const struct pt_mttl_entry *last_shown(const struct run *r)
{
    return r->view->self < r->view->known_count ? r->view->known[r->view->self] : NULL;
}

/* Whether the export differs from the entry that the thread showed last. */
static bool is_news(const struct run *r, const struct pt_mttl_unit *unit, const uint32_t *tuple, uint64_t cell,
                    struct pt_value value)
{
    const struct pt_mttl_entry *last = last_shown(r);
    if (last && last->cap == r->thread->cap)
        return !same_value(last->cells[cell], value);
    if (last)
        return !same_value(*pt_mttl_entry_cell(last, unit, tuple), value);
    return r->thread->started &&
           !same_value(*pt_mttl_initial_cell(r->view->initial, unit, r->view->self, tuple), value);
}

/* A unit that only hands on, for each thread, what that exports in `from`. If nothing was heard only ours can differ.
 */
static unsigned hand_on(struct run *r, const struct pt_mttl_unit *unit, const struct pt_mttl_unit *from)
{
    unsigned flags = PT_MTTL_STABLE;
    bool heard = r->changed & PT_MTTL_HEARD;
    uint32_t end = heard ? r->thread->cap : r->view->self + 1;
    uint64_t first = pt_mttl_first_cell(unit, r->thread->cap);
    for (uint32_t slot = heard ? 0 : r->view->self; slot < end; slot++) {
        const struct pt_mttl_entry *entry = pt_mttl_entry_of(r, slot);
        uint32_t tuple[PT_MTTL_PARAMS] = {slot};
        struct pt_value value = entry ? entry->cells[pt_mttl_first_cell(from, entry->cap)]
                                      : *pt_mttl_initial_cell(r->view->initial, from, slot, tuple);
        value = pt_mttl_taken_over(value, unit->a);
        if (is_news(r, unit, tuple, first + slot, value))
            flags |= PT_MTTL_EXPORTED;
        r->next->cells[first + slot] = value;
    }
    return flags;
}

static unsigned step_export(struct run *r, const struct pt_mttl_unit *unit, const uint32_t *tuple, uint64_t cell)
{
    struct pt_value value = eval_export(r, unit);
    bool news = !r->filling && is_news(r, unit, tuple, cell, value);
    if (r->filling)
        r->moved |= !same_value(r->next->cells[cell], value);
    r->next->cells[cell] = value;
    return news ? PT_MTTL_STABLE | PT_MTTL_EXPORTED : PT_MTTL_STABLE;
}

/* For each tuple in turn. */
static unsigned step_tuples(struct run *r, const struct pt_mttl_unit *unit)
{
    unsigned moved = 0, news = 0;
    uint32_t cap = r->thread->cap, tuple[PT_MTTL_PARAMS] = {0};
    uint64_t cell = pt_mttl_first_cell(unit, cap);
    bool past = pt_mttl_is_past(unit->kind);
    uint8_t *bytes = pt_mttl_past_bytes(r->m, r->thread);
    do {
        memcpy(r->env, tuple, sizeof tuple);
        if (past)
            moved |= !pt_mttl_step_past(r, unit, &bytes[cell]);
        else
            news |= step_export(r, unit, tuple, cell);
        cell++;
    } while (pt_mttl_advance(tuple, unit->params, cap));
    return (moved ? 0 : PT_MTTL_STABLE) | (news & PT_MTTL_EXPORTED);
}

/* One unit; returns PT_MTTL_EXPORTED, and PT_MTTL_STABLE unless a past operator moved. */
static unsigned step_unit(struct run *r, uint32_t u, uint32_t handed)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, u);
    if (handed != PT_MTTL_NONE && !r->filling)
        return hand_on(r, unit, pt_mttl_unit_at(r->m, handed));
    return step_tuples(r, unit);
}

static void enter_or_leave(const struct run *r)
{
    const struct pt_mttl_event *event = &r->view->event;
    if (event->name >= r->m->blocks.count)
        return;
    struct pt_mttl_block_state *block = &pt_mttl_block_states(r->thread)[event->name];
    if (event->what == PT_MTTL_ENTER && block->inside++ == 0)
        block->count++;
    if (event->what == PT_MTTL_LEAVE && block->inside > 0)
        block->inside--;
}

static struct pt_mttl_verdict judge(struct run *r, const struct pt_mttl_property *property)
{
    struct pt_mttl_verdict verdict = {.kind = PT_MTTL_NOT_HERE, .atom = PT_MTTL_NONE};
    if (property->at != PT_MTTL_ANY && property->at != r->view->self)
        return verdict;
    enum truth truth = pt_mttl_eval_program(r, pt_mttl_unit_at(r->m, property->unit)->a);
    verdict.kind = truth == YES ? PT_MTTL_HOLDS : truth == NO ? PT_MTTL_VIOLATED : PT_MTTL_FAILED;
    if (truth == FAILED) {
        verdict.result = r->fault;
        verdict.atom = r->fault_atom;
    }
    return verdict;
}

/* The units of any thread and, for one that is named, its own: two lists, both ascending, merged. */
static unsigned step_kept(struct run *r)
{
    const struct pt_mttl_plan *plan = r->plan;
    uint32_t named = r->m->threads.count, self = r->view->self < named ? r->view->self : named;
    uint32_t any = plan->kept_from[named], own = plan->kept_from[self];
    uint32_t any_end = plan->kept_from[named + 1], own_end = self < named ? plan->kept_from[self + 1] : own;
    unsigned stable = PT_MTTL_STABLE, news = 0;
    while (any < any_end || own < own_end) {
        bool take_own = own < own_end && (any == any_end || plan->kept[own] < plan->kept[any]);
        uint32_t u = plan->kept[take_own ? own++ : any++];
        if (!pt_mttl_is_due(r, &plan->needs[u]))
            continue;
        unsigned flags = step_unit(r, u, plan->needs[u].handed);
        stable &= flags;
        news |= flags;
    }
    return stable | (news & PT_MTTL_EXPORTED);
}

unsigned pt_mttl_step_units(struct run *r)
{
    r->next->slot = r->view->self;
    r->next->cap = r->thread->cap;
    r->next->used = r->view->used;
    if (r->view->event.what == PT_MTTL_ENTER || r->view->event.what == PT_MTTL_LEAVE)
        enter_or_leave(r);
    unsigned flags = step_kept(r);
    return r->thread->started ? flags : flags & ~(unsigned)PT_MTTL_STABLE;
}

unsigned pt_mttl_step(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                      struct pt_mttl_entry *next, struct pt_mttl_verdict *verdicts)
{
    struct run r = pt_mttl_begin(m, view, thread, next);
    unsigned flags = pt_mttl_step_units(&r);
    for (uint32_t p = 0; p < m->properties.count; p++) {
        const struct pt_mttl_property *property = pt_mttl_at(m, properties, struct pt_mttl_property, p);
        if (pt_mttl_is_due(&r, &r.plan->needs[property->unit]))
            verdicts[p] = judge(&r, property);
        if (verdicts[p].kind == PT_MTTL_VIOLATED || verdicts[p].kind == PT_MTTL_FAILED)
            flags |= PT_MTTL_BROKEN;
    }
    thread->started = true;
    thread->whole = r.faulty;
    thread->moved = !(flags & PT_MTTL_STABLE);
    thread->marked = pt_mttl_is_marked(m, &view->event);
    return flags;
}

void pt_mttl_explain(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                     struct pt_mttl_entry *next, uint32_t property, pt_mttl_seen seen, void *context)
{
    struct run r = pt_mttl_begin(m, view, thread, next);
    r.seen = seen;
    r.context = context;
    (void)pt_mttl_eval_program(
        &r, pt_mttl_unit_at(m, pt_mttl_at(m, properties, struct pt_mttl_property, property)->unit)->a);
}
