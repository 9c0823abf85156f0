/*
 * The evaluator of decentralised properties: one linear pass over a thread's units per state, operands first, so that
 * each subformula is computed once. Programs are in mttl_program.c, past operators in mttl_past.c, state 0 of threads
 * of which nothing is known in mttl_initial.c.
 *
 * Cost of a step: the sum over the thread's units of cap^params times the program's length; quantifiers multiply by the
 * number of threads known. No allocation, no lock, no recursion.
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

/* Whether the export differs from the entry that the thread showed last. */
static bool is_news(const struct run *r, const struct pt_mttl_unit *unit, const uint32_t *tuple, uint64_t cell,
                    struct pt_value value)
{
    uint32_t self = r->view->self;
    const struct pt_mttl_entry *last = self < r->view->known_count ? r->view->known[self] : NULL;
    if (last && last->cap == r->thread->cap)
        return !same_value(last->cells[cell], value);
    if (last)
        return !same_value(pt_mttl_read_entry(last, unit, tuple), value);
    return r->thread->started && !same_value(pt_mttl_read_initial(r->view->initial, unit, self, tuple), value);
}

/*
 * The commonest export with a parameter is another thread's plain value handed on, `@i x`: its cells are those of the
 * entries known, and need no program. Returns the unit that is handed on, or NULL.
 */
static const struct pt_mttl_unit *handed_on(const struct run *r, const struct pt_mttl_unit *unit)
{
    if (unit->kind != PT_MTTL_VALUE || unit->params != 1 || r->filling)
        return NULL;
    const struct pt_mttl_atom *atom = pt_mttl_at(r->m, atoms, struct pt_mttl_atom, unit->a);
    const struct pt_mttl_operand *o = pt_mttl_at(r->m, operands, struct pt_mttl_operand, atom->operands);
    if (atom->insn_count != 1 || atom->operand_count != 1 || o->kind != PT_MTTL_OPERAND_LOOKUP)
        return NULL;
    const struct pt_mttl_lookup *lookup = pt_mttl_at(r->m, lookups, struct pt_mttl_lookup, o->index);
    const struct pt_mttl_unit *from = pt_mttl_unit_at(r->m, lookup->unit);
    return lookup->thread == PT_MTTL_ENV0 && from->params == 0 ? from : NULL;
}

static unsigned hand_on(struct run *r, const struct pt_mttl_unit *unit, const struct pt_mttl_unit *from)
{
    unsigned flags = PT_MTTL_STABLE;
    uint32_t cap = r->thread->cap, self = r->view->self, tuple[PT_MTTL_PARAMS] = {0};
    const struct pt_mttl_entry *last = self < r->view->known_count ? r->view->known[self] : NULL;
    struct pt_value *cells = r->next->cells + pt_mttl_cell_of(unit, tuple, cap);
    const struct pt_value *shown = last && last->cap == cap ? last->cells + (cells - r->next->cells) : NULL;
    for (uint32_t *slot = tuple; *slot < cap; ++*slot) {
        const struct pt_mttl_entry *entry = pt_mttl_entry_of(r, *slot);
        struct pt_value value = entry ? entry->cells[pt_mttl_cell_of(from, tuple, entry->cap)]
                                      : pt_mttl_read_initial(r->view->initial, from, *slot, tuple);
        if (value.kind == PT_VALUE_UNKNOWN && value.len == PT_CODE_OK) /* without a value from here on, as any atom */
            value = pt_mttl_failure(PT_CODE_UNKNOWN_VALUE, unit->a);
        if (shown ? !same_value(shown[*slot], value)
                  : is_news(r, unit, tuple, (uint64_t)(cells - r->next->cells) + *slot, value))
            flags |= PT_MTTL_EXPORTED;
        cells[*slot] = value;
    }
    return flags;
}

/* One unit for all its tuples; returns PT_MTTL_EXPORTED, and PT_MTTL_STABLE unless a past operator moved. */
static unsigned step_unit(struct run *r, const struct pt_mttl_unit *unit)
{
    unsigned flags = PT_MTTL_STABLE;
    uint32_t cap = r->thread->cap, tuple[PT_MTTL_PARAMS] = {0};
    uint64_t cell = pt_mttl_cell_of(unit, tuple, cap);
    const struct pt_mttl_unit *from = handed_on(r, unit);
    if (from)
        return hand_on(r, unit, from);
    do {
        memcpy(r->env, tuple, sizeof tuple);
        if (pt_mttl_is_past(unit->kind)) {
            if (!pt_mttl_step_past(r, unit, &pt_mttl_past_bytes(r->m, r->thread)[cell]))
                flags &= ~(unsigned)PT_MTTL_STABLE;
        } else {
            struct pt_value value = eval_export(r, unit);
            if (r->filling)
                r->moved |= !same_value(r->next->cells[cell], value);
            else if (is_news(r, unit, tuple, cell, value))
                flags |= PT_MTTL_EXPORTED;
            r->next->cells[cell] = value;
        }
        cell++;
    } while (pt_mttl_advance(tuple, unit->params, cap));
    return flags;
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

static unsigned judge(struct run *r, uint32_t index, struct pt_mttl_verdict *ret)
{
    const struct pt_mttl_property *property = pt_mttl_at(r->m, properties, struct pt_mttl_property, index);
    *ret = (struct pt_mttl_verdict){.kind = PT_MTTL_NOT_HERE, .atom = PT_MTTL_NONE};
    if (property->at != PT_MTTL_ANY && property->at != r->view->self)
        return 0;
    enum truth truth = pt_mttl_eval_program(r, pt_mttl_unit_at(r->m, property->unit)->a);
    ret->kind = truth == YES ? PT_MTTL_HOLDS : truth == NO ? PT_MTTL_VIOLATED : PT_MTTL_FAILED;
    if (truth == FAILED) {
        ret->result = r->fault;
        ret->atom = r->fault_atom;
    }
    return truth == YES ? 0 : PT_MTTL_BROKEN;
}

struct run pt_mttl_begin(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                         struct pt_mttl_entry *next)
{
    return (struct run){.m = m, .view = view, .thread = thread, .next = next, .fault_atom = PT_MTTL_NONE};
}

unsigned pt_mttl_step_units(struct run *r)
{
    unsigned flags = PT_MTTL_STABLE;
    r->next->slot = r->view->self;
    r->next->cap = r->thread->cap;
    r->next->used = r->view->used;
    if (r->view->event.what == PT_MTTL_ENTER || r->view->event.what == PT_MTTL_LEAVE)
        enter_or_leave(r);
    for (uint32_t u = 0; u < r->m->units.count; u++) {
        const struct pt_mttl_unit *unit = pt_mttl_unit_at(r->m, u);
        if (unit->kind == PT_MTTL_PROPERTY || !pt_mttl_is_kept_by(unit, r->view->self))
            continue;
        unsigned now = step_unit(r, unit);
        flags = (flags & now & PT_MTTL_STABLE) | ((flags | now) & PT_MTTL_EXPORTED);
    }
    return r->thread->started ? flags : flags & ~(unsigned)PT_MTTL_STABLE;
}

unsigned pt_mttl_step(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                      struct pt_mttl_entry *next, struct pt_mttl_verdict *verdicts)
{
    struct run r = pt_mttl_begin(m, view, thread, next);
    unsigned flags = pt_mttl_step_units(&r);
    for (uint32_t p = 0; p < m->properties.count; p++)
        flags |= judge(&r, p, &verdicts[p]);
    thread->started = true;
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
