/*
 * What the knowledge engine reports: the states in which a property is false, and all about the first one that shows a
 * violation of its own (core/finding_key.h says when two are the same).
 *
 * Guarantee: each violation is reported once, in the order in which the states come, at most PT_FINDINGS_MAX of a
 * property; the others are counted. Cost: for a violating state one walk over the property's look-ups and a look-up
 * among the violations so far; nothing for other states.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/local_report.h"
#include "core/finding_key.h"
#include "engine/knowledge_impl.h"

static const char *copy(struct pt_finding *f, const char *text)
{
    return pt_arena_strndup(&f->arena, text, strlen(text));
}

static struct pt_value copy_value(struct pt_finding *f, struct pt_value value)
{
    if (value.kind == PT_VALUE_STRING)
        value.s = pt_arena_strndup(&f->arena, value.s, value.len);
    return value;
}

static const char *thread_name(const struct pt_knowledge *k, uint32_t slot)
{
    if (slot < k->slot_count && k->threads[slot].id != PT_NONE)
        return pt_name(k->names, PT_SPACE_THREAD, k->threads[slot].id);
    return pt_mttl_string(k->block, pt_mttl_at(k->block, threads, struct pt_mttl_name, slot)->target);
}

static struct pt_step make_step(const struct pt_knowledge *k, struct pt_finding *f, const struct pt_event *event)
{
    return (struct pt_step){.thread = copy(f, pt_name(k->names, PT_SPACE_THREAD, event->thread)),
                            .op = pt_op_word(event->op),
                            .object = copy(f, pt_name(k->names, pt_op_space(event->op), event->object)),
                            .loc = copy(f, pt_name(k->names, PT_SPACE_LOC, event->loc)),
                            .value = copy_value(f, event->value),
                            .line = event->line};
}

/* --- the first violating state --- */

struct violation {
    uint64_t number;
    uint32_t lookup, slot; /* that show it; PT_NONE: none does */
};

struct account {
    const struct pt_knowledge *k;
    const struct pt_mttl_view *view;
    struct pt_mttl_thread *memory;
    uint64_t state; /* of the thread itself */
    struct pt_finding *finding;
    const struct violation *violation; /* of those of the state, the one that is reported */
    struct pt_known *items;
    uint32_t count;
    size_t cap;
};

static void report_known(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                         struct pt_value value)
{
    struct account *t = context;
    const struct pt_mttl *m = t->k->block;
    const struct pt_mttl_lookup *l = pt_mttl_at(m, lookups, struct pt_mttl_lookup, lookup);
    const char *text = pt_mttl_string(m, l->text), *thread = thread_name(t->k, slot);
    for (uint32_t i = 0; i < t->count; i++)
        if (strcmp(t->items[i].text, text) == 0 && strcmp(t->items[i].thread, thread) == 0)
            return;
    if (!pt_mttl_is_worth_reporting(m, t->memory, lookup, value) || t->count == PT_LOCAL_REPORT_KNOWN ||
        (pt_mttl_is_for_finding(m, lookup) && (t->violation->lookup != lookup || t->violation->slot != slot)))
        return;
    struct pt_known known = {
        .text = copy(t->finding, text), .thread = copy(t->finding, thread), .heard = entry != NULL};
    const char *block = pt_mttl_disturbed(m, t->memory, lookup, value);
    if (text[0] == '@')
        known.value = copy_value(t->finding, value);
    else if (block) /* otherwise it is none of the language */
        known.value = copy_value(t->finding, pt_value_string(block, (uint32_t)strlen(block)));
    if (slot == t->view->self) { /* @i of oneself is the present */
        known.heard = true;
        known.state = t->state;
        if (t->k->event)
            known.from = make_step(t->k, t->finding, t->k->event);
    } else if (entry && entry->version > 0) {
        const struct know_shown *shown = (const void *)((const char *)entry - offsetof(struct know_shown, entry));
        known.state = entry->state;
        known.from = make_step(t->k, t->finding, &shown->event);
    }
    PT_PUSH(t->items, t->count, t->cap, known);
}

/* The variables of the property, as the thread sees them. */
static void report_values(const struct pt_knowledge *k, uint32_t property, const struct pt_mttl_view *view,
                          struct pt_finding *f)
{
    const struct pt_mttl *own = k->judged[property].own;
    f->first.values = pt_arena_alloc(&f->arena, own->vars.count * sizeof *f->first.values);
    for (uint32_t i = 0; i < own->vars.count; i++) {
        const struct pt_mttl_name *name = pt_mttl_at(own, vars, struct pt_mttl_name, i);
        uint32_t v = pt_knowledge_find(k->block, k->block->vars, pt_mttl_string(own, name->target));
        if (name->uses & PT_MTTL_USE_VALUE)
            f->first.values[f->first.value_count++] = (struct pt_binding){
                .name = copy(f, pt_mttl_string(own, name->name)), .value = copy_value(f, view->values[v])};
    }
}

static void report_first(struct pt_knowledge *k, uint32_t property, const struct pt_mttl_view *view,
                         struct know_thread *thread, struct pt_finding *f, const struct violation *violation)
{
    struct account account = {
        .k = k, .view = view, .memory = thread->memory, .state = thread->states, .finding = f, .violation = violation};
    f->first.thread = copy(f, thread_name(k, view->self));
    f->first.state = thread->states;
    if (k->event)
        f->first.event = make_step(k, f, k->event);
    report_values(k, property, view, f);
    pt_mttl_explain(k->block, view, thread->memory, k->next, property, report_known, &account);
    f->first.knew = pt_arena_alloc(&f->arena, account.count * sizeof *f->first.knew);
    if (account.count)
        memcpy(f->first.knew, account.items, account.count * sizeof *f->first.knew);
    f->first.knew_count = account.count;
    free(account.items);
}

/* --- violations --- */

/* What a state shows. */
struct violations {
    struct account account;
    struct violation list[PT_FINDINGS_AT_STATE];
    uint32_t count;
};

static void note_finding(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                         struct pt_value value)
{
    struct violations *t = context;
    const struct pt_knowledge *k = t->account.k;
    if (!pt_mttl_is_for_finding(k->block, lookup) || slot == t->account.view->self || !k->event || !entry ||
        !entry->version || t->count == PT_FINDINGS_AT_STATE ||
        !pt_mttl_is_worth_reporting(k->block, t->account.memory, lookup, value))
        return;
    struct violation violation = {.lookup = lookup, .slot = slot};
    const char *block = pt_mttl_disturbed(k->block, t->account.memory, lookup, value);
    violation.number = pt_finding_key_block(block, thread_name(k, t->account.view->self), thread_name(k, slot));
    t->list[t->count++] = violation;
}

/* An access of several variables is one violation, that of its first line. */
static bool is_same_access(struct know_judged *j, uint32_t slot, const struct know_thread *thread)
{
    uint64_t access = thread->states - thread->group.lines;
    bool same = access && j->latest.slot == slot && j->latest.state == access;
    j->latest.slot = slot;
    j->latest.state = access;
    return same;
}

/* Where it is noted whether a violation of the property was reported, one that people have set suppressed or not. */
static uint32_t *note_of(struct pt_knowledge *k, uint32_t property, uint64_t number, bool suppressed)
{
    return pt_map64_at(&k->violations, number + (2 * property + suppressed) * UINT64_C(0x9e3779b97f4a7c15));
}

static void report_finding(struct pt_knowledge *k, uint32_t property, const struct pt_mttl_view *view,
                           struct know_thread *thread, const struct violation *violation)
{
    enum { REPORTED = 1 };
    struct pt_finding *f = k->judged[property].finding, *reported = f;
    uint32_t *note = note_of(k, property, violation->number, false);
    if (*note == REPORTED)
        return;
    bool first = f->verdict != PT_VERDICT_VIOLATED;
    f->verdict = PT_VERDICT_VIOLATED;
    f->how = PT_HOW_OBSERVED;
    if (!first && f->more_count == PT_FINDINGS_MAX) {
        f->untold++;
        *note = REPORTED;
        return;
    }
    if (!first)
        reported = pt_finding_add(f);
    report_first(k, property, view, thread, reported, violation);
    bool suppressed = violation->number != PT_FINDING_PLAIN && k->options->suppressed &&
                      k->options->suppressed(k->options->context, reported);
    note = note_of(k, property, violation->number, suppressed);
    if (*note == REPORTED && !first) {
        pt_finding_drop(f);
        return;
    }
    *note = REPORTED;
    if (k->options->found)
        k->options->found(k->options->context, reported);
}

/* A state that was only counted, without a step, shows nothing that the one before it has not shown. */
static void report_findings(struct pt_knowledge *k, uint32_t property, const struct pt_mttl_view *view,
                            struct know_thread *thread)
{
    struct violations t = {.account = {.k = k, .view = view, .memory = thread->memory}};
    struct violation plain = {PT_FINDING_PLAIN, PT_NONE, PT_NONE};
    if (!view->initial)
        return;
    pt_mttl_explain(k->block, view, thread->memory, k->next, property, note_finding, &t);
    if (!t.count)
        report_finding(k, property, view, thread, &plain);
    else if (!is_same_access(&k->judged[property], view->self, thread))
        for (uint32_t i = 0; i < t.count; i++)
            report_finding(k, property, view, thread, &t.list[i]);
}

static struct know_states *states_of(struct pt_knowledge *k, struct know_judged *j, uint32_t slot)
{
    uint32_t *index = pt_map64_at(&j->index_of, slot);
    if (*index == PT_NONE) {
        struct know_states fresh = {.slot = slot};
        *index = j->thread_count;
        PT_PUSH(j->threads, j->thread_count, j->thread_cap, fresh);
        k->bytes += sizeof fresh;
    }
    return &j->threads[*index];
}

void pt_knowledge_violated(struct pt_knowledge *k, uint32_t property, const struct pt_mttl_view *view,
                           struct know_thread *thread)
{
    struct know_judged *j = &k->judged[property];
    struct know_states *states = states_of(k, j, view->self);
    PT_PUSH(states->items, states->count, states->cap, thread->states);
    k->bytes += sizeof *states->items;
    report_findings(k, property, view, thread);
}

void pt_knowledge_failed(struct pt_knowledge *k, uint32_t property, const struct know_thread *thread)
{
    struct know_judged *j = &k->judged[property];
    struct pt_finding *f = j->finding;
    const struct pt_mttl_verdict *v = &thread->verdicts[property];
    const char *why = pt_code_result_text((enum pt_code_result)v->result);
    struct pt_buf text;
    if (f->verdict == PT_VERDICT_VIOLATED)
        return; /* the first thing that happens decides */
    j->settled = true;
    f->verdict = PT_VERDICT_ERROR;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s in '%s'", why,
                  v->atom < k->block->atoms.count
                      ? pt_mttl_string(k->block, pt_mttl_at(k->block, atoms, struct pt_mttl_atom, v->atom)->text)
                      : f->text);
    f->message = pt_arena_strndup(&f->arena, text.text, text.len);
    pt_buf_release(&text);
    pt_buf_init(&text);
    const char *name = thread_name(k, (uint32_t)(thread - k->threads));
    pt_buf_printf(&text, "state %" PRIu64 " of %s", thread->states, name);
    if (k->event)
        pt_buf_printf(&text, ", %s:%" PRIu64 ", %s", k->options->trace, k->event->line,
                      pt_name(k->names, PT_SPACE_LOC, k->event->loc));
    f->message_place = pt_arena_strndup(&f->arena, text.text, text.len);
    pt_buf_release(&text);
}

/* --- at the end --- */

/* In the order in which the trace first mentions them; names that it never mentions last. */
static int by_thread(const void *a, const void *b, void *context)
{
    const struct pt_knowledge *k = context;
    const struct know_states *x = a, *y = b;
    uint32_t i = k->threads[x->slot].id, j = k->threads[y->slot].id;
    return i != j ? (i < j ? -1 : 1) : (x->slot < y->slot ? -1 : x->slot > y->slot);
}

static void list_states(struct pt_knowledge *k, uint32_t property)
{
    struct know_judged *j = &k->judged[property];
    struct pt_finding *f = j->finding;
    f->locals = pt_arena_alloc(&f->arena, j->thread_count * sizeof *f->locals);
    f->local_count = j->thread_count;
    if (j->thread_count)
        qsort_r(j->threads, j->thread_count, sizeof *j->threads, by_thread, k);
    for (uint32_t i = 0; i < j->thread_count; i++) {
        const struct know_states *states = &j->threads[i];
        f->locals[i] = (struct pt_local){.thread = copy(f, thread_name(k, states->slot)),
                                         .states = pt_arena_alloc(&f->arena, states->count * sizeof *states->items),
                                         .state_count = states->count};
        memcpy(f->locals[i].states, states->items, states->count * sizeof *states->items);
    }
}

/* The property's own names of a table that the trace never mentioned: appended to `unseen`. */
static uint32_t unseen_of(const struct pt_knowledge *k, const struct know_judged *j, struct pt_mttl_table own,
                          struct pt_mttl_table all, const bool *seen, const char **unseen, uint32_t count)
{
    const struct pt_mttl_name *names = (const void *)((const char *)j->own + own.offset);
    for (uint32_t i = 0; i < own.count; i++)
        if (!seen[pt_knowledge_find(k->block, all, pt_mttl_string(j->own, names[i].target))])
            unseen[count++] = copy(j->finding, pt_mttl_string(j->own, names[i].name));
    return count;
}

static void list_unseen(const struct pt_knowledge *k, uint32_t property)
{
    const struct know_judged *j = &k->judged[property];
    const struct pt_mttl *m = k->block, *own = j->own;
    uint32_t count = 0, most = own->vars.count + own->events.count + own->threads.count;
    const char **unseen = pt_arena_alloc(&j->finding->arena, ((size_t)most + 1) * sizeof *unseen);
    count = unseen_of(k, j, own->vars, m->vars, k->var_seen, unseen, count);
    count = unseen_of(k, j, own->events, m->events, k->event_seen, unseen, count);
    (void)unseen_of(k, j, own->threads, m->threads, k->thread_seen, unseen, count);
    j->finding->unseen = unseen;
}

void pt_knowledge_settle(struct pt_knowledge *k, const char *lost)
{
    for (uint32_t p = 0; p < k->block->properties.count; p++) {
        struct pt_finding *f = k->judged[p].finding;
        const struct pt_mttl_property *property = pt_mttl_at(k->block, properties, struct pt_mttl_property, p);
        f->at_each = property->at == PT_MTTL_ANY;
        f->complete = !lost && !k->given_up;
        if (lost && f->verdict == PT_VERDICT_HOLDS) {
            f->verdict = PT_VERDICT_UNKNOWN;
            f->message = copy(f, lost);
        }
        for (uint32_t i = 0; i < k->slot_count; i++)
            if (f->at_each ? k->threads[i].id != PT_NONE : property->at == i)
                f->states += k->threads[i].states + 1;
        list_states(k, p);
        if (!f->at_each && !f->local_count) { /* the thread it is about, with no state */
            f->locals = pt_arena_alloc(&f->arena, sizeof *f->locals);
            f->locals[0] = (struct pt_local){.thread = copy(f, thread_name(k, property->at))};
            f->local_count = 1;
        }
        list_unseen(k, p);
        f->seconds = k->options->now ? (double)(k->options->now() - k->started) / 1e9 : 0;
        f->peak_bytes = k->peak;
    }
}
