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
    if (unit->kind == PT_MTTL_VALUE)
        return pt_mttl_eval_atom(r, unit->a);
    enum truth truth = pt_mttl_eval_program(r, unit->a);
    return truth == FAILED ? pt_mttl_failure(r->fault, r->fault_atom) : pt_value_bool(truth == YES);
}

static SELDOM bool same_text(struct pt_value a, struct pt_value b)
{
    return a.kind == b.kind && a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

static inline bool same_value(struct pt_value a, struct pt_value b)
{
    uint64_t head[2]; /* kind and len at once */
    memcpy(&head[0], &a, sizeof *head);
    memcpy(&head[1], &b, sizeof *head);
    return (head[0] == head[1] && a.u == b.u) || (a.kind == PT_VALUE_STRING && same_text(a, b));
}

/*
 * Whether unit u's value for the tuple in r->env differs from what the thread showed last, where that is not an entry
 * of the same cap.
 */
static SELDOM bool is_news(struct run *r, uint32_t u, uint64_t cell, struct pt_value value)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, u);
    uint32_t self = r->view->self;
    const struct pt_mttl_entry *last = self < r->view->known_count ? r->view->known[self] : NULL;
    if (r->filling) {
        r->moved |= !same_value(r->next->cells[cell], value);
        return false;
    }
    if (last)
        return !same_value(*pt_mttl_entry_cell(last, unit, r->env), value);
    return r->thread->started && !same_value(*pt_mttl_initial_cell(r->view->initial, unit, self, r->env), value);
}

/* Puts the value into its cell; PT_MTTL_EXPORTED if it is news. */
static inline unsigned put(struct run *r, uint32_t u, uint64_t cell, struct pt_value value)
{
    bool news = r->shown ? !same_value(r->shown->cells[cell], value) : is_news(r, u, cell, value);
    r->next->cells[cell] = value;
    return news ? PT_MTTL_EXPORTED : 0;
}

/* The same with a value that is only taken over; one that nobody gave is a failure from here on, as in any atom. */
static inline unsigned take_over(struct run *r, uint32_t u, uint64_t cell, const struct pt_value *value)
{
    if (value->kind != PT_VALUE_UNKNOWN || value->len != PT_CODE_OK)
        return put(r, u, cell, *value);
    return put(r, u, cell, pt_mttl_failure(PT_CODE_UNKNOWN_VALUE, pt_mttl_unit_at(r->m, u)->a));
}

static unsigned step_copied(struct run *r, uint32_t u, const struct pt_mttl_needs *needs)
{
    return take_over(r, u, pt_mttl_cells_at(needs->to, r->thread->cap), &r->view->values[needs->from.base]);
}

/* One cell of a unit that only hands on what threads export. */
static inline unsigned hand_on(struct run *r, uint32_t u, const struct pt_mttl_needs *needs, uint64_t first,
                               uint32_t slot)
{
    const struct pt_mttl_entry *entry = pt_mttl_entry_of(r, slot);
    if (!entry)
        entry = pt_mttl_initial_entry(r->view->initial, slot);
    r->env[0] = slot;
    return take_over(r, u, first + slot, &entry->cells[pt_mttl_cells_at(needs->from, entry->cap)]);
}

/* All its cells or, if nothing was heard of others, our own. */
static unsigned step_handed(struct run *r, uint32_t u, const struct pt_mttl_needs *needs)
{
    uint32_t cap = r->thread->cap;
    uint64_t first = pt_mttl_cells_at(needs->to, cap);
    unsigned news = 0;
    if (!(r->changed & PT_MTTL_HEARD))
        return hand_on(r, u, needs, first, r->view->self);
    for (uint32_t slot = 0; slot < cap; slot++)
        news |= hand_on(r, u, needs, first, slot);
    return news;
}

/* Any export, for each tuple. Not inlined, for the same reason as what is SELDOM. */
static __attribute__((noinline)) unsigned step_tuples(struct run *r, uint32_t u)
{
    const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, u);
    uint32_t tuple[PT_MTTL_PARAMS] = {0};
    uint64_t cell = pt_mttl_first_cell(unit, r->thread->cap);
    unsigned news = 0;
    do {
        memcpy(r->env, tuple, sizeof tuple);
        news |= put(r, u, cell++, eval_export(r, unit));
    } while (pt_mttl_advance(tuple, unit->params, r->thread->cap));
    return news;
}

/* One unit; PT_MTTL_EXPORTED for an export that is news, and PT_MTTL_STABLE unless a past operator moved. */
static unsigned step_unit(struct run *r, uint32_t u, const struct pt_mttl_needs *needs)
{
    switch (needs->how) {
    case PT_MTTL_HOW_COPIED:
        return PT_MTTL_STABLE | step_copied(r, u, needs);
    case PT_MTTL_HOW_HANDED:
        return PT_MTTL_STABLE | step_handed(r, u, needs);
    case PT_MTTL_HOW_PAST:
        return pt_mttl_step_past(r, pt_mttl_unit_at(r->m, u)) ? PT_MTTL_STABLE : 0;
    default:
        return PT_MTTL_STABLE | step_tuples(r, u);
    }
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
    static const uint32_t none = PT_MTTL_NONE;
    const struct pt_mttl_plan *plan = r->plan;
    uint32_t named = r->m->threads.count, self = r->view->self;
    const uint32_t *any = plan->kept + plan->kept_from[named];
    const uint32_t *own = self < named ? plan->kept + plan->kept_from[self] : &none;
    unsigned stable = PT_MTTL_STABLE, news = 0;
    for (;;) {
        uint32_t u = *any < *own ? *any++ : *own++;
        if (u == PT_MTTL_NONE)
            return stable | (news & PT_MTTL_EXPORTED);
        const struct pt_mttl_needs *needs = &plan->needs[u];
        if (!pt_mttl_is_due(r, needs))
            continue;
        unsigned flags = step_unit(r, u, needs);
        stable &= flags;
        news |= flags;
    }
}

static inline __attribute__((always_inline)) unsigned step_units(struct run *r)
{
    r->next->slot = r->view->self;
    r->next->cap = r->thread->cap;
    r->next->used = r->view->used;
    if (r->view->event.what == PT_MTTL_ENTER || r->view->event.what == PT_MTTL_LEAVE)
        enter_or_leave(r);
    unsigned flags = step_kept(r);
    return r->thread->started ? flags : flags & ~(unsigned)PT_MTTL_STABLE;
}

void pt_mttl_fill_units(struct run *r)
{
    (void)step_units(r);
}

static bool is_broken(const struct pt_mttl *m, const struct pt_mttl_verdict *verdicts)
{
    for (uint32_t p = 0; p < m->properties.count; p++)
        if (verdicts[p].kind == PT_MTTL_VIOLATED || verdicts[p].kind == PT_MTTL_FAILED)
            return true;
    return false;
}

unsigned pt_mttl_step(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                      struct pt_mttl_entry *next, struct pt_mttl_verdict *verdicts)
{
    struct run r;
    unsigned flags;
    pt_mttl_begin(&r, m, view, thread, next);
    flags = step_units(&r);
    for (uint32_t p = 0; p < m->properties.count; p++) {
        const struct pt_mttl_property *property = pt_mttl_at(m, properties, struct pt_mttl_property, p);
        if (pt_mttl_is_due(&r, &r.plan->needs[property->unit]))
            verdicts[p] = judge(&r, property);
    }
    if (is_broken(m, verdicts))
        flags |= PT_MTTL_BROKEN;
    thread->started = true;
    thread->whole = r.faulty;
    thread->moved = !(flags & PT_MTTL_STABLE);
    thread->marked = r.marked;
    return flags;
}

void pt_mttl_explain(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                     struct pt_mttl_entry *next, uint32_t property, pt_mttl_seen seen, void *context)
{
    struct run r;
    pt_mttl_begin(&r, m, view, thread, next);
    r.seen = seen;
    r.decided = r.further = 0;
    r.context = context;
    r.ops = pt_mttl_at(m, ops, struct pt_mttl_op, 0);
    (void)pt_mttl_eval_program(
        &r, pt_mttl_unit_at(m, pt_mttl_at(m, properties, struct pt_mttl_property, property)->unit)->a);
}
