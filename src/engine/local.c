/*
 * Findings out of the records in which a running program's threads report their violations (core/local_report.h). The
 * records of different threads come in any order: one without details stands in until the one with them is read.
 *
 * Guarantee: nothing in a record is trusted further than its bytes go, and a violation is reported once, under the
 * names that a recording of the run would have. Cost: linear in the records; states are listed up to a limit.
 */
#include "engine/local.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/table.h"
#include "core/local_report.h"
#include "core/finding_key.h"
#include "engine/knowledge.h"
#include "logic/mttl/mttl.h"

/* States of one thread in which one property is false. */
struct local_states {
    uint32_t thread; /* id in threads */
    uint64_t *items;
    uint32_t count;
    size_t cap;
};

struct variable {
    const char *name;
    uint32_t number; /* in the block */
};

struct local_judged {
    const char *at;       /* the thread it is about; NULL: each */
    const char *at_clean; /* as a trace has its name */
    struct pt_finding *finding;
    struct variable *vars; /* whose values are reported */
    uint32_t var_count;
    bool reported; /* `found` has been called */
    struct local_states *threads;
    uint32_t thread_count;
    size_t thread_cap;
};

struct pt_locals {
    const struct pt_names *names;
    const struct pt_analysis_options *options;
    struct local_judged *judged;
    uint32_t count;
    struct pt_strtab threads; /* in the order in which they are heard of */
    struct ending {
        uint64_t states; /* how many it has had */
        bool begun, ended;
    } * endings; /* by thread */
    size_t ending_cap;
    uint64_t reported_count; /* threads that have reported */
    uint64_t started;
};

static const char *copy(struct pt_finding *f, const char *text)
{
    return pt_arena_strndup(&f->arena, text, strlen(text));
}

static const char *copy_clean(struct pt_finding *f, enum pt_space space, const char *text)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_name_clean(&buf, space, text);
    const char *kept = pt_arena_strndup(&f->arena, buf.text ? buf.text : "", buf.len);
    pt_buf_release(&buf);
    return kept;
}

static const char *string(const struct pt_mttl *m, uint32_t offset)
{
    return pt_mttl_string(m, offset);
}

/* The names that the property itself has for its variables, in its order. */
static void list_variables(struct local_judged *j, const struct pt_mttl *block, const struct pt_property *property)
{
    struct pt_mttl *own;
    struct pt_err err;
    if (pt_mttl_compile(&property, 1, &own, &err) != PT_OK)
        return; /* the block has it, so this does not happen */
    j->vars = pt_xcalloc((size_t)own->vars.count + 1, sizeof *j->vars);
    for (uint32_t i = 0; i < own->vars.count; i++) {
        const struct pt_mttl_name *name = pt_mttl_at(own, vars, struct pt_mttl_name, i);
        if (name->uses & PT_MTTL_USE_VALUE)
            j->vars[j->var_count++] =
                (struct variable){copy(j->finding, string(own, name->name)),
                                  pt_knowledge_find(block, block->vars, string(own, name->target))};
    }
    free(own);
}

struct pt_locals *pt_locals_new(const struct pt_mttl *block, const struct pt_property *const *properties,
                                struct pt_finding *const *findings, const struct pt_names *names,
                                const struct pt_analysis_options *options)
{
    struct pt_locals *l = pt_xcalloc(1, sizeof *l);
    l->names = names;
    l->options = options;
    l->count = block->properties.count;
    l->judged = pt_xcalloc(l->count, sizeof *l->judged);
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t at = pt_mttl_at(block, properties, struct pt_mttl_property, i)->at;
        l->judged[i].finding = findings[i];
        findings[i]->at_each = at == PT_MTTL_ANY;
        list_variables(&l->judged[i], block, properties[i]);
        if (at != PT_MTTL_ANY)
            l->judged[i].at = string(block, pt_mttl_at(block, threads, struct pt_mttl_name, at)->target);
        if (l->judged[i].at)
            l->judged[i].at_clean = copy_clean(findings[i], PT_SPACE_THREAD, l->judged[i].at);
    }
    pt_strtab_init(&l->threads);
    l->started = options->now ? options->now() : 0;
    return l;
}

void pt_locals_free(struct pt_locals *l)
{
    if (!l)
        return;
    for (uint32_t p = 0; p < l->count; p++) {
        for (uint32_t i = 0; i < l->judged[p].thread_count; i++)
            free(l->judged[p].threads[i].items);
        free(l->judged[p].threads);
        free(l->judged[p].vars);
    }
    pt_strtab_release(&l->threads);
    free(l->endings);
    free(l->judged);
    free(l);
}

static struct pt_value take_value(struct pt_finding *f, struct pt_local_report_reader *r)
{
    struct pt_value value = pt_local_report_value(r);
    if (value.kind == PT_VALUE_STRING)
        value.s = pt_arena_strndup(&f->arena, value.s, value.len);
    return value;
}

static bool is_address(const char *name)
{
    return strncmp(name, "0x", 2) == 0;
}

/* What the source says is kept beside an address: it helps to read it, but names nothing. */
static struct pt_step take_step(struct pt_finding *f, const struct pt_local_report_step *step,
                                const struct pt_thread_report *report, const char *thread)
{
    struct pt_value value = step->value;
    const char *object = report->object ? report->object(report->context, step, &value) : step->object;
    bool helps = is_address(object) && step->object[0] && !is_address(step->object);
    if (value.kind == PT_VALUE_STRING)
        value.s = pt_arena_strndup(&f->arena, value.s, value.len);
    return (struct pt_step){.thread = copy(f, thread),
                            .op = copy(f, pt_op_word(pt_kind_op(step->kind))),
                            .object = copy(f, object),
                            .source = helps ? copy(f, step->object) : NULL,
                            .loc = copy_clean(f, PT_SPACE_LOC, step->place),
                            .value = value};
}

/* Counts come from the program: no table is made larger than its bytes can fill. */
static uint32_t take_count(struct pt_local_report_reader *r)
{
    uint64_t count = pt_local_report_number(r);
    return count > r->left ? (uint32_t)r->left : (uint32_t)count;
}

static void take_values(const struct local_judged *j, struct pt_finding *f, struct pt_local_report_reader *r)
{
    struct pt_value unset = {0};
    uint32_t count = take_count(r);
    f->first.values = pt_arena_alloc(&f->arena, (j->var_count + 1) * sizeof *f->first.values);
    f->first.value_count = j->var_count;
    for (uint32_t v = 0; v < j->var_count; v++)
        f->first.values[v] = (struct pt_binding){.name = j->vars[v].name, .value = unset};
    for (uint32_t i = 0; i < count && !r->bad; i++) {
        uint64_t number = pt_local_report_number(r);
        struct pt_value value = take_value(f, r);
        for (uint32_t v = 0; v < j->var_count; v++)
            if (j->vars[v].number == number)
                f->first.values[v].value = value;
    }
}

/* Of another thread. */
static struct pt_known take_known(struct pt_finding *f, struct pt_local_report_reader *r,
                                  const struct pt_thread_report *report)
{
    struct pt_local_report_step step;
    struct pt_known known = {.text = copy(f, pt_local_report_text(r))};
    known.thread = copy_clean(f, PT_SPACE_THREAD, pt_local_report_text(r));
    known.heard = pt_local_report_number(r) != 0;
    known.value = take_value(f, r);
    known.state = pt_local_report_number(r);
    if (known.state) {
        step = pt_local_report_step(r);
        known.from = take_step(f, &step, report, known.thread);
        if (report->state)
            known.state = report->state(report->context, known.thread, known.state, &step);
    }
    return known;
}

static void take_first(const struct local_judged *j, struct pt_finding *f, const struct pt_thread_report *report)
{
    struct pt_local_report_reader r = {report->report, report->report_bytes, false};
    memset(&f->first, 0, sizeof f->first);
    f->first.thread = copy(f, report->thread);
    f->first.state = report->from;
    struct pt_local_report_step step = pt_local_report_step(&r);
    f->first.event = take_step(f, &step, report, report->thread);
    if (!report->report_bytes)
        return;
    take_values(j, f, &r);
    uint32_t count = take_count(&r);
    f->first.knew = pt_arena_alloc(&f->arena, (count + 1) * sizeof *f->first.knew);
    for (uint32_t i = 0; i < count && !r.bad; i++) {
        struct pt_known known = take_known(f, &r, report);
        if (!r.bad)
            f->first.knew[f->first.knew_count++] = known;
    }
}

static void take_failure(struct pt_finding *f, const struct pt_thread_report *report)
{
    struct pt_local_report_reader r = {report->report, report->report_bytes, false};
    if (f->verdict == PT_VERDICT_VIOLATED)
        return;
    f->verdict = PT_VERDICT_ERROR;
    f->message = copy(f, pt_local_report_text(&r));
    f->message_place = copy_clean(f, PT_SPACE_LOC, pt_local_report_text(&r));
}

static struct local_states *states_of(struct local_judged *j, uint32_t thread)
{
    for (uint32_t i = 0; i < j->thread_count; i++)
        if (j->threads[i].thread == thread)
            return &j->threads[i];
    struct local_states fresh = {.thread = thread};
    PT_PUSH(j->threads, j->thread_count, j->thread_cap, fresh);
    return &j->threads[j->thread_count - 1];
}

static void take_ending(struct pt_locals *l, uint32_t thread, const struct pt_thread_report *report)
{
    size_t old = l->ending_cap;
    PT_GROW(l->endings, l->ending_cap, (size_t)thread + 1);
    memset(l->endings + old, 0, (l->ending_cap - old) * sizeof *l->endings);
    struct ending *ending = &l->endings[thread];
    if (report->result == PT_LOCAL_BEGUN) {
        ending->begun = true;
        return;
    }
    ending->ended = true;
    ending->states = report->to;
    l->reported_count++;
}

static void report_violation(const struct pt_locals *l, struct local_judged *j)
{
    j->reported = true;
    if (l->options->found)
        l->options->found(l->options->context, j->finding);
}

static bool finding_is_suppressed(const struct pt_locals *l, const struct pt_finding *f)
{
    return l->options->suppressed && l->options->suppressed(l->options->context, f);
}

/* Names that debug information gives may show that it is one of those reported already. */
static bool is_reported(const struct pt_locals *l, const struct local_judged *j, const struct pt_finding *f)
{
    struct pt_finding_id id = pt_finding_id(f);
    bool suppressed = finding_is_suppressed(l, f);
    for (uint32_t i = 0; i <= j->finding->more_count; i++) {
        const struct pt_finding *other = i ? j->finding->more[i - 1] : j->finding;
        if (other != f && (i || j->reported) && strcmp(pt_finding_id(other).text, id.text) == 0 &&
            pt_finding_is_same(other, f) && finding_is_suppressed(l, other) == suppressed)
            return true;
    }
    return false;
}

/* Another violation. Its record may be read before that of the first one, which is in another thread's ring. */
static void take_more(const struct pt_locals *l, struct local_judged *j, const struct pt_thread_report *report)
{
    if (!report->report_bytes)
        return;
    if (j->finding->verdict != PT_VERDICT_VIOLATED)
        take_first(j, j->finding, report);
    j->finding->verdict = PT_VERDICT_VIOLATED;
    j->finding->how = PT_HOW_OBSERVED;
    struct pt_finding *other = pt_finding_add(j->finding);
    take_first(j, other, report);
    bool same = is_reported(l, j, other);
    if (same || j->finding->more_count > PT_FINDINGS_MAX) {
        pt_finding_drop(j->finding);
        j->finding->untold += !same;
    } else if (l->options->found) {
        l->options->found(l->options->context, other);
    }
}

void pt_locals_take(struct pt_locals *l, const struct pt_thread_report *report)
{
    enum { MOST = 1 << 24 }; /* states that are listed */
    uint32_t thread = pt_strtab_intern(&l->threads, report->thread, strlen(report->thread));
    if (report->result == PT_LOCAL_BEGUN || report->result == PT_LOCAL_STATES) {
        take_ending(l, thread, report);
        return;
    }
    if (report->property >= l->count || l->judged[report->property].finding->verdict == PT_VERDICT_ERROR)
        return;
    struct local_judged *j = &l->judged[report->property];
    if (report->result == PT_LOCAL_FAILED) {
        take_failure(j->finding, report);
        return;
    }
    if (report->result == PT_LOCAL_MORE) {
        take_more(l, j, report);
        return;
    }
    struct local_states *states = states_of(j, thread);
    for (uint64_t s = report->from; s <= report->to && states->count < MOST; s++)
        PT_PUSH(states->items, states->count, states->cap, s);
    if (j->reported)
        return;
    /* Only the first violation of the process is reported with both sides in this way, and the record of a later one,
     * in another thread's ring, may be read before it: that one only stands in until then. */
    if (j->finding->verdict != PT_VERDICT_VIOLATED || report->report_bytes)
        take_first(j, j->finding, report);
    j->finding->verdict = PT_VERDICT_VIOLATED;
    j->finding->how = PT_HOW_OBSERVED;
    if (report->report_bytes)
        report_violation(l, j);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* In the order in which a trace of the run mentions them; where there is none, in which they were heard of. */
static int by_thread(const void *a, const void *b, void *context)
{
    const struct pt_locals *l = context;
    const struct local_states *x = a, *y = b;
    const char *s = pt_strtab_text(&l->threads, x->thread), *t = pt_strtab_text(&l->threads, y->thread);
    uint32_t i = pt_strtab_find(&l->names->space[PT_SPACE_THREAD], s, strlen(s));
    uint32_t j = pt_strtab_find(&l->names->space[PT_SPACE_THREAD], t, strlen(t));
    return i != j ? (i < j ? -1 : 1) : x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void list_states(struct pt_locals *l, struct local_judged *j)
{
    struct pt_finding *f = j->finding;
    uint32_t room = j->thread_count ? j->thread_count : 1;
    f->locals = pt_arena_alloc(&f->arena, room * sizeof *f->locals);
    if (j->thread_count)
        qsort_r(j->threads, j->thread_count, sizeof *j->threads, by_thread, l);
    for (uint32_t i = 0; i < j->thread_count; i++) {
        struct local_states *s = &j->threads[i];
        qsort(s->items, s->count, sizeof *s->items, by_number);
        struct pt_local local = {.thread = copy(f, pt_strtab_text(&l->threads, s->thread)),
                                 .states = pt_arena_alloc(&f->arena, s->count * sizeof *s->items),
                                 .state_count = s->count};
        memcpy(local.states, s->items, s->count * sizeof *s->items);
        f->locals[f->local_count++] = local;
    }
    if (!f->at_each && !f->local_count)
        f->locals[f->local_count++] = (struct pt_local){.thread = copy(f, j->at)};
}

void pt_locals_counts(const struct pt_locals *l, uint64_t *ret_events, uint64_t *ret_threads)
{
    *ret_events = 0;
    *ret_threads = l->reported_count;
    for (size_t t = 0; t < l->threads.count && t < l->ending_cap; t++)
        *ret_events += l->endings[t].states;
}

/* Counts the states of the threads that the property is about. False: some of these threads have begun and never
 * reported their last states, because a signal, _exit, exec or the end of main ended the program. What they did report
 * stands. */
static bool count_states(const struct pt_locals *l, const struct local_judged *j)
{
    bool all = true;
    for (uint32_t t = 0; t < l->threads.count && t < l->ending_cap; t++) {
        const struct ending *ending = &l->endings[t];
        if ((!ending->begun && !ending->ended) ||
            (!j->finding->at_each && strcmp(pt_strtab_text(&l->threads, t), j->at_clean) != 0))
            continue;
        j->finding->states += ending->states + 1;
        all &= ending->ended;
    }
    if (!j->finding->at_each && !j->finding->states) {
        const char **unseen = pt_arena_alloc(&j->finding->arena, 2 * sizeof *unseen);
        unseen[0] = copy(j->finding, j->at);
        j->finding->unseen = unseen;
        j->finding->states = 1; /* a thread that never starts stays in its initial state */
    }
    return all;
}

void pt_locals_finish(struct pt_locals *l, const char *lost)
{
    for (uint32_t p = 0; p < l->count; p++) {
        struct pt_finding *f = l->judged[p].finding;
        if (f->verdict == PT_VERDICT_VIOLATED && !l->judged[p].reported)
            report_violation(l, &l->judged[p]); /* the record with both sides was lost */
        bool all = count_states(l, &l->judged[p]);
        f->complete = all && !lost;
        if (lost && f->verdict == PT_VERDICT_HOLDS) {
            f->verdict = PT_VERDICT_UNKNOWN;
            f->message = copy(f, lost);
        } else if (!all && f->verdict != PT_VERDICT_ERROR) {
            f->message = "the program ended before all its threads had reported their last states";
        }
        list_states(l, &l->judged[p]);
        f->seconds = l->options->now ? (double)(l->options->now() - l->started) / 1e9 : 0;
    }
}
