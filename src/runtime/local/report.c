/*
 * What threads found out, reported: to the observer as records, to the program's own functions (violation.c), and,
 * where nobody observes, to people (local/report_print.c).
 *
 * The first violation of a property in a process, and each that shows another finding (report_finding.c), is reported
 * with both sides: the thread's event and what it knew of the others. It is put down at once, while everything is as it
 * was, and printed when the thread leaves the runtime.
 *
 * Guarantee: what is reported of a state is what the thread knew in it. Cost: nothing until a property is violated;
 * then the bytes of the report, once for each finding.
 */
#include <string.h>

#include "core/shape.h"
#include "core/local_report.h"
#include "runtime/channel/emit.h"
#include "runtime/found/verdict.h"
#include "runtime/local/monitor_impl.h"
#include "runtime/local/report_impl.h"
#include "runtime/local/violation.h"
#include "runtime/pool/pool.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"

/* --- putting down --- */

static bool is_of_thread(const struct pt_local_event *what)
{
    return pt_kind_by(what->kind) == PT_BY_THREAD;
}

void pt_report_put_object(struct pt_line *line, const struct pt_local_event *what)
{
    if (is_of_thread(what)) {
        pt_line_text(line, what->name ? what->name : "thread");
        if (what->object > 1) {
            pt_line_text(line, "#");
            pt_line_number(line, what->object);
        }
    } else if (pt_kind_by(what->kind) == PT_BY_NOTHING) {
        pt_line_text(line, what->kind == PT_KIND_ENDED ? "ended" : "");
    } else if (pt_kind_by(what->kind) == PT_BY_WATCH) {
        pt_line_text(line, pt_watch_name(what->object));
    } else if (what->name) {
        pt_line_text(line, what->name);
    } else if (what->site && what->site->variable[0]) {
        pt_line_text(line, what->site->variable);
    } else {
        pt_line_hex(line, what->address);
    }
    line->text[line->len] = 0;
}

void pt_report_put_place(struct pt_line *line, const struct pt_local_event *what)
{
    if (what->site && what->site->file[0]) {
        pt_line_text(line, what->site->file);
        if (what->site->line) {
            pt_line_text(line, ":");
            pt_line_number(line, what->site->line);
        }
    } else {
        pt_line_text(line, "-");
    }
    line->text[line->len] = 0;
}

struct pt_local_event pt_report_event(const struct pt_origin *from)
{
    bool named = pt_origin_is_named(from->kind);
    return (struct pt_local_event){.kind = from->kind,
                                   .object = from->object,
                                   .address = named ? 0 : from->address,
                                   .name = named ? from->name : NULL,
                                   .site = from->site,
                                   .value = {.kind = from->value_kind, .u = from->value}};
}

/* Memory that is not watched. */
static bool is_memory(const struct pt_local_event *what)
{
    return pt_kind_by(what->kind) == PT_BY_MEMORY;
}

static bool is_lock_or_such(const struct pt_local_event *what)
{
    return pt_kind_by(what->kind) == PT_BY_ADDRESS;
}

/* What it has read or written; of an access that is no longer the present one, as far as it was kept. */
static struct pt_value value_of(const struct pt_local_event *what, uint64_t at)
{
    uint64_t end = what->address + what->size;
    if (!what->size || what->value.kind != PT_VALUE_UNKNOWN)
        return what->value;
    if (is_memory(what) && pt_verdict_is_observed() && at >= what->address && at < end) {
        uint64_t begin = pt_local_report_memory(at, what->address);
        end = end - at < PT_LOCAL_REPORT_NEAR ? end : at + PT_LOCAL_REPORT_NEAR;
        return pt_value_string((const char *)(uintptr_t)begin, (uint32_t)(end - begin));
    }
    if (what->object == PT_NO_OBJECT)
        return what->value;
    const struct pt_watched *w = &pt_watched[what->object]; /* a text */
    struct pt_shape shape = {w->size, w->type, w->bit_offset, w->bit_size};
    return pt_shape_value(&shape, (const void *)w->address);
}

static void put_local_event(struct pt_local_report_writer *w, const struct pt_local_event *what)
{
    struct pt_line object = {0}, place = {0};
    struct pt_local_report_step step = {.kind = PT_KIND_COUNT, .object = object.text, .place = place.text};
    if (what) {
        bool placed = is_memory(what) || is_lock_or_such(what);
        step.kind = what->kind;
        step.at = step.from = step.last = placed ? what->address : 0;
        step.value = value_of(what, what->address);
        pt_report_put_object(&object, what);
        pt_report_put_place(&place, what);
    }
    pt_local_report_put_step(w, &step);
}

struct explanation {
    struct pt_local_report_writer *w;
    const struct pt_mttl_view *view;
    struct pt_mttl_thread *memory;
    const struct pt_local_event *what; /* the thread's present event, and */
    struct pt_new_finding finding;     /* which one of those that the state shows, */
    uint64_t state;                    /* the state it makes */
    struct {
        uint32_t lookup, slot;
    } seen[PT_LOCAL_REPORT_KNOWN];
    uint32_t count;
};

/* What is reported of a value that is none of the language: the name of the block that was disturbed. */
static struct pt_value reported_value(const struct explanation *t, uint32_t lookup, struct pt_value value)
{
    const char *block = pt_mttl_disturbed(pt_monitor_block, t->memory, lookup, value);
    return block ? pt_value_string(block, (uint32_t)strlen(block)) : (struct pt_value){0};
}

static void note_seen(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                      struct pt_value value)
{
    struct explanation *t = context;
    const struct pt_mttl_lookup *l = pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, lookup);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->seen[i].slot == slot &&
            pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, t->seen[i].lookup)->text == l->text)
            return;
    bool finding = pt_mttl_is_for_finding(pt_monitor_block, lookup),
         other = finding && (t->finding.lookup != lookup || t->finding.slot != slot);
    if (other || t->count == PT_LOCAL_REPORT_KNOWN || t->w->full ||
        !pt_mttl_is_worth_reporting(pt_monitor_block, t->memory, lookup, value))
        return;
    size_t before = t->w->len;
    if (finding)
        value = reported_value(t, lookup, value);
    bool self = slot == t->view->self; /* @i of oneself is the present */
    uint64_t state = self ? t->state : entry && entry->version > 0 ? entry->state : 0;
    pt_local_report_put_text(t->w, pt_report_string(l->text));
    pt_local_report_put_text(t->w, pt_monitor_slot_name(slot));
    pt_local_report_put_number(t->w, self || entry);
    pt_local_report_put_value(t->w, value);
    pt_local_report_put_number(t->w, state);
    if (state && self) {
        put_local_event(t->w, t->what);
    } else if (state) {
        const struct pt_fact *fact = (const void *)((const char *)entry - offsetof(struct pt_fact, entry));
        struct pt_local_event from = pt_report_event(&fact->from);
        put_local_event(t->w, &from);
    }
    if (t->w->full) { /* as if it had not been begun */
        t->w->len = before;
        return;
    }
    t->seen[t->count].lookup = lookup;
    t->seen[t->count++].slot = slot;
}

static void put_values(struct pt_thread *self, struct pt_local_report_writer *w, uint32_t property,
                       const struct pt_value *values)
{
    uint32_t count = 0;
    size_t at = w->len;
    uint8_t *marks = pt_pool_take(pt_thread_pool(self), pt_monitor_block->units.count);
    pt_local_report_put_number(w, 0);
    for (uint32_t v = 0; marks && v < pt_monitor_block->vars.count; v++) {
        const struct pt_mttl_name *name = pt_mttl_at(pt_monitor_block, vars, struct pt_mttl_name, v);
        if (!(name->uses & PT_MTTL_USE_VALUE) || !pt_mttl_mentions(pt_monitor_block, property, v, marks))
            continue;
        pt_local_report_put_number(w, v);
        pt_local_report_put_value(w, values[v]);
        count++;
    }
    pt_pool_give(pt_thread_pool(self), marks);
    if (!w->full) {
        uint64_t number = count;
        memcpy(w->bytes + at, &number, sizeof number);
    }
}

static void put_violation(struct pt_thread *self, struct pt_local_report_writer *w, uint32_t property,
                          const struct pt_mttl_view *view, const struct pt_local_event *what,
                          struct pt_new_finding finding)
{
    struct explanation explanation = {.w = w,
                                      .view = view,
                                      .memory = self->local->monitor->memory,
                                      .what = what,
                                      .finding = finding,
                                      .state = self->shadow.states};
    put_local_event(w, what);
    put_values(self, w, property, view->values);
    size_t at = w->len;
    pt_local_report_put_number(w, 0);
    if (w->full)
        return;
    pt_mttl_explain(pt_monitor_block, view, self->local->monitor->memory, self->local->monitor->next, property,
                    note_seen, &explanation);
    uint64_t number = explanation.count;
    memcpy(w->bytes + at, &number, sizeof number);
}

static void put_failure(struct pt_thread *self, struct pt_local_report_writer *w, uint32_t property,
                        const struct pt_local_event *what)
{
    const struct pt_mttl_verdict *v = &self->local->monitor->verdicts[property];
    struct pt_line message = {0}, place = {0};
    pt_line_text(&message, pt_code_result_text((enum pt_code_result)v->result));
    pt_line_text(&message, " in '");
    pt_line_text(&message,
                 v->atom < pt_monitor_block->atoms.count
                     ? pt_report_string(pt_mttl_at(pt_monitor_block, atoms, struct pt_mttl_atom, v->atom)->text)
                     : pt_report_string(pt_report_property(property)->text));
    pt_line_text(&message, "'");
    message.text[message.len] = 0;
    pt_line_text(&place, "state ");
    pt_line_number(&place, self->shadow.states);
    pt_line_text(&place, " of ");
    pt_line_text(&place, pt_monitor_slot_name(self->local->monitor->slot));
    if (what && what->site && what->site->file[0]) {
        pt_line_text(&place, ", ");
        pt_line_text(&place, what->site->file);
        pt_line_text(&place, ":");
        pt_line_number(&place, what->site->line);
    }
    place.text[place.len] = 0;
    pt_local_report_put_text(w, message.text);
    pt_local_report_put_text(w, place.text);
}

/* --- reporting --- */

/* What a property has come to in this process: by property; the first thing that happens decides. */
enum { OPEN, IS_VIOLATED, HAS_FAILED };

static void wait_to_print(struct pt_thread *self, struct pt_unprinted *report)
{
    struct pt_unprinted **last = &self->local->unprinted;
    while (*last)
        last = &(*last)->next;
    *last = report;
    self->shadow.attention |= PT_ATTEND_VIOLATION;
}

static void emit(struct pt_thread *self, const struct pt_record_local *record, const char *report)
{
    pt_emit_local(self, record, pt_monitor_slot_name(self->local->monitor->slot), report);
}

/* A failure, or a violation with both sides; NULL without memory. */
static struct pt_unprinted *put_down(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                                     const struct pt_local_event *what, enum pt_local_result result,
                                     struct pt_new_finding finding)
{
    struct pt_unprinted *report = pt_pool_take(pt_thread_pool(self), sizeof *report);
    if (!report)
        return NULL;
    struct pt_local_report_writer w = {.bytes = report->bytes, .room = sizeof report->bytes};
    *report = (struct pt_unprinted){
        .property = property, .slot = self->local->monitor->slot, .result = result, .state = self->shadow.states};
    if (result == PT_LOCAL_FAILED)
        put_failure(self, &w, property, what);
    else
        put_violation(self, &w, property, view, what, finding);
    report->len = w.len;
    return report;
}

/* `report`: what was put down, NULL: nothing more than that it is so. */
static void pass_on(struct pt_thread *self, uint32_t property, enum pt_local_result result, struct pt_unprinted *report)
{
    struct pt_record_local record = {.property = property,
                                     .result = result,
                                     .report = report ? (uint32_t)report->len : 0,
                                     .from = self->shadow.states,
                                     .to = self->shadow.states};
    if (!pt_verdict_is_observed()) {
        if (report)
            wait_to_print(self, report);
        return;
    }
    emit(self, &record, report ? report->bytes : "");
    pt_pool_give(pt_thread_pool(self), report);
}

/* False: it has failed before. *ret_first: nothing was reported of the property yet. */
static bool come_to(uint32_t property, uint8_t fate, bool *ret_first)
{
    uint8_t before = OPEN;
    *ret_first = atomic_compare_exchange_strong(pt_monitor_fate(property), &before, fate);
    return *ret_first || before != HAS_FAILED;
}

/* A program by itself prints no more than so many. */
static bool is_enough(uint32_t property)
{
    return !pt_verdict_is_observed() && atomic_fetch_add(pt_monitor_findings(property), 1) >= PT_FINDINGS_MAX;
}

/* `begins`: it was not violated in the state before; otherwise the state is reported by others. */
static void report_violation(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                             const struct pt_local_event *what, bool begins)
{
    struct pt_new_findings found;
    bool stated = !begins, first;
    pt_report_find(self, property, view, what, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        if (!come_to(property, IS_VIOLATED, &first))
            return;
        enum pt_local_result result = first ? PT_LOCAL_VIOLATED : PT_LOCAL_MORE;
        stated |= first;
        if (first || !is_enough(property))
            pass_on(self, property, result, put_down(self, property, view, what, result, found.list[i]));
    }
    if (!stated)
        pass_on(self, property, PT_LOCAL_VIOLATED, NULL);
    if (!found.suppressed && (begins || found.count))
        pt_violation_notify(self, pt_report_string(pt_report_property(property)->name));
}

void pt_report_onset(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                     const struct pt_local_event *what)
{
    struct pt_new_finding none = {PT_MTTL_NONE, PT_MTTL_NONE};
    bool first;
    if (self->local->monitor->verdicts[property].kind == PT_MTTL_FAILED) {
        if (come_to(property, HAS_FAILED, &first) && first)
            pass_on(self, property, PT_LOCAL_FAILED, put_down(self, property, view, what, PT_LOCAL_FAILED, none));
    } else if (atomic_load(pt_monitor_fate(property)) != HAS_FAILED) {
        report_violation(self, property, view, what, true);
    }
}

void pt_report_again(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                     const struct pt_local_event *what)
{
    if (self->shadow.full)
        pt_report_states(self, property, self->shadow.states, self->shadow.states);
    if (atomic_load(pt_monitor_fate(property)) != HAS_FAILED && pt_monitor_has_findings())
        report_violation(self, property, view, what, false);
}

void pt_report_states(struct pt_thread *self, uint32_t property, uint64_t from, uint64_t to)
{
    if (!pt_verdict_is_observed() || atomic_load(pt_monitor_fate(property)) == HAS_FAILED)
        return;
    struct pt_record_local record = {.property = property, .result = PT_LOCAL_VIOLATED, .from = from, .to = to};
    emit(self, &record, "");
}

void pt_report_begun(struct pt_thread *self)
{
    struct pt_record_local record = {.result = PT_LOCAL_BEGUN};
    if (pt_verdict_is_observed())
        emit(self, &record, "");
}

void pt_report_count(struct pt_thread *self)
{
    struct pt_record_local record = {.result = PT_LOCAL_STATES, .from = self->shadow.states, .to = self->shadow.states};
    if (pt_verdict_is_observed())
        emit(self, &record, "");
}

void pt_report_stop(void)
{
    for (uint32_t p = 0; pt_monitor_on && p < pt_monitor_block->properties.count; p++)
        atomic_store(pt_monitor_fate(p), HAS_FAILED);
}
