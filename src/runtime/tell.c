/*
 * What threads found out, told: to the observer as records, to the program's own functions (violation.c), and, where
 * nobody observes, to people, in the words that `portent run` uses (report/local.c).
 *
 * The first violation of a property in a process is told with both sides: the thread's event and what it knew of the
 * others. It is put down at once, while everything is as it was, and printed when the thread leaves the runtime.
 */
#include <string.h>

#include "core/told.h"
#include "runtime/emit.h"
#include "runtime/log.h"
#include "runtime/monitor_impl.h"
#include "runtime/options.h"
#include "runtime/pool.h"
#include "runtime/violation.h"
#include "runtime/watch.h"

struct pt_told {
    struct pt_told *next;
    uint32_t property;
    uint32_t slot;
    uint32_t result; /* enum pt_local_result */
    uint64_t state;
    size_t len;
    char bytes[PT_TOLD_BYTES];
};

static const struct pt_mttl_property *property_at(uint32_t property)
{
    return pt_mttl_at(pt_monitor_block, properties, struct pt_mttl_property, property);
}

static const char *string(uint32_t offset)
{
    return pt_mttl_string(pt_monitor_block, offset);
}

static bool is_observed(void)
{
    return pt_channel && pt_channel->ring_max > 0;
}

/* --- putting down --- */

static void put_hex(struct pt_line *line, uint64_t number)
{
    char digits[17];
    unsigned at = 16;
    digits[16] = 0;
    do
        digits[--at] = "0123456789abcdef"[number & 15];
    while (number >>= 4);
    pt_line_text(line, "0x");
    pt_line_text(line, digits + at);
}

/* What the event is about, as a trace would say: by a watched variable's name, a name the program gave, the source. */
static void put_object(struct pt_line *line, const struct pt_happening *what)
{
    bool thread = what->kind == PT_KIND_FORK || what->kind == PT_KIND_JOIN;
    if (thread)
        pt_line_text(line, pt_monitor_name((uint32_t)what->address));
    else if (what->kind == PT_KIND_ENDED)
        pt_line_text(line, "ended");
    else if (what->kind == PT_KIND_WRITE || what->kind == PT_KIND_UPDATE || what->kind == PT_KIND_READ)
        pt_line_text(line, pt_watch_name(what->object));
    else if (what->name)
        pt_line_text(line, what->name);
    else if (what->site && what->site->variable[0])
        pt_line_text(line, what->site->variable);
    else
        put_hex(line, what->address);
    line->text[line->len] = 0;
}

static void put_place_of(struct pt_line *line, const struct pt_happening *what)
{
    if (what->site && what->site->file[0]) {
        pt_line_text(line, what->site->file);
        pt_line_text(line, ":");
        pt_line_number(line, what->site->line);
    } else {
        pt_line_text(line, "-");
    }
    line->text[line->len] = 0;
}

static struct pt_happening happening_of(const struct pt_origin *from)
{
    bool named = pt_origin_is_named(from->kind);
    return (struct pt_happening){.kind = from->kind,
                                 .object = from->object,
                                 .address = named ? 0 : from->address,
                                 .name = named ? from->name : NULL,
                                 .site = from->site,
                                 .value = {.kind = from->value_kind, .u = from->value}};
}

/* Debug information, which an observer has, may tell a lock's name better than the source does where it is used. */
static bool is_observers(const struct pt_happening *what)
{
    return is_observed() && what->kind >= PT_KIND_ACQ && what->kind <= PT_KIND_RREL;
}

static void put_happening(struct pt_told_writer *w, const struct pt_happening *what)
{
    struct pt_line object = {0}, place = {0};
    struct pt_told_step step = {.op = "", .object = object.text, .source = "", .place = place.text};
    if (what) {
        step.op = pt_told_op(what->kind);
        step.value = what->value;
        if (is_observers(what)) {
            put_hex(&object, what->address);
            object.text[object.len] = 0;
            step.source = what->site ? what->site->variable : "";
        } else {
            put_object(&object, what);
        }
        put_place_of(&place, what);
    }
    pt_told_put_step(w, &step);
}

struct telling {
    struct pt_told_writer *w;
    const struct pt_mttl_view *view;
    struct pt_mttl_thread *memory;
    const struct pt_happening *what; /* the thread's present event, and */
    uint64_t state;                  /* the state it makes */
    struct {
        uint32_t lookup, slot;
    } seen[PT_TOLD_KNOWN];
    uint32_t count;
};

static bool is_access(const struct pt_mttl_lookup *l)
{
    return pt_mttl_at(pt_monitor_block, units, struct pt_mttl_unit, l->unit)->kind == PT_MTTL_ACCESS;
}

/* Of what race_free and atomic_block ask, only what decided is told: the accesses that race, and who has disturbed a
 * block. */
static bool is_worth_telling(const struct telling *t, uint32_t lookup, struct pt_value value)
{
    const struct pt_mttl_lookup *l = pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, lookup);
    if (string(l->text)[0] == '@')
        return true;
    if (is_access(l))
        return pt_mttl_races(&t->view->event, value);
    if (value.kind == PT_VALUE_BOOL)
        return value.i != 0;
    return pt_mttl_disturbed(pt_monitor_block, t->memory, lookup, value) != NULL;
}

/* What is told of a value that is none of the language: the name of the block that was disturbed. */
static struct pt_value told_value(const struct telling *t, uint32_t lookup, struct pt_value value)
{
    const char *block = pt_mttl_disturbed(pt_monitor_block, t->memory, lookup, value);
    return block ? pt_value_string(block, (uint32_t)strlen(block)) : (struct pt_value){0};
}

static void note_seen(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                      struct pt_value value)
{
    struct telling *t = context;
    const struct pt_mttl_lookup *l = pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, lookup);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->seen[i].slot == slot &&
            pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, t->seen[i].lookup)->text == l->text)
            return;
    if (t->count == PT_TOLD_KNOWN || !is_worth_telling(t, lookup, value))
        return;
    t->seen[t->count].lookup = lookup;
    t->seen[t->count++].slot = slot;
    if (string(l->text)[0] != '@')
        value = told_value(t, lookup, value);
    bool self = slot == t->view->self; /* @i of oneself is the present */
    uint64_t state = self ? t->state : entry && entry->version > 0 ? entry->state : 0;
    pt_told_put_text(t->w, string(l->text));
    pt_told_put_text(t->w, pt_monitor_name(slot));
    pt_told_put_number(t->w, self || entry);
    pt_told_put_value(t->w, value);
    pt_told_put_number(t->w, state);
    if (state && self) {
        put_happening(t->w, t->what);
    } else if (state) {
        const struct pt_fact *fact = (const void *)((const char *)entry - offsetof(struct pt_fact, entry));
        struct pt_happening from = happening_of(&fact->from);
        put_happening(t->w, &from);
    }
}

static void put_values(struct pt_thread *self, struct pt_told_writer *w, uint32_t property,
                       const struct pt_value *values)
{
    uint32_t count = 0;
    size_t at = w->len;
    uint8_t *marks = pt_pool_take(self, pt_monitor_block->units.count);
    pt_told_put_number(w, 0);
    for (uint32_t v = 0; marks && v < pt_monitor_block->vars.count; v++) {
        const struct pt_mttl_name *name = pt_mttl_at(pt_monitor_block, vars, struct pt_mttl_name, v);
        if (!(name->uses & PT_MTTL_USE_VALUE) || !pt_mttl_mentions(pt_monitor_block, property, v, marks))
            continue;
        pt_told_put_text(w, string(name->name));
        pt_told_put_value(w, values[v]);
        count++;
    }
    pt_pool_give(self, marks);
    if (!w->full) {
        uint64_t number = count;
        memcpy(w->bytes + at, &number, sizeof number);
    }
}

static void put_violation(struct pt_thread *self, struct pt_told_writer *w, uint32_t property,
                          const struct pt_mttl_view *view, const struct pt_happening *what)
{
    put_happening(w, what);
    put_values(self, w, property, view->values);
    struct telling telling = {.w = w, .view = view, .memory = self->local->memory, .what = what, .state = self->states};
    size_t at = w->len;
    pt_told_put_number(w, 0);
    pt_mttl_explain(pt_monitor_block, view, self->local->memory, self->local->next, property, note_seen, &telling);
    if (!w->full) {
        uint64_t number = telling.count;
        memcpy(w->bytes + at, &number, sizeof number);
    }
}

static void put_failure(struct pt_thread *self, struct pt_told_writer *w, uint32_t property,
                        const struct pt_happening *what)
{
    const struct pt_mttl_verdict *v = &self->local->verdicts[property];
    struct pt_line message = {0}, place = {0};
    pt_line_text(&message, pt_code_result_text((enum pt_code_result)v->result));
    pt_line_text(&message, " in '");
    pt_line_text(&message, v->atom < pt_monitor_block->atoms.count
                               ? string(pt_mttl_at(pt_monitor_block, atoms, struct pt_mttl_atom, v->atom)->text)
                               : string(property_at(property)->text));
    pt_line_text(&message, "'");
    message.text[message.len] = 0;
    pt_line_text(&place, "state ");
    pt_line_number(&place, self->states);
    pt_line_text(&place, " of ");
    pt_line_text(&place, pt_monitor_name(self->local->slot));
    if (what && what->site && what->site->file[0]) {
        pt_line_text(&place, ", ");
        pt_line_text(&place, what->site->file);
        pt_line_text(&place, ":");
        pt_line_number(&place, what->site->line);
    }
    place.text[place.len] = 0;
    pt_told_put_text(w, message.text);
    pt_told_put_text(w, place.text);
}

/* --- telling --- */

/* What a property has come to in this process: by property; the first thing that happens decides. */
enum { OPEN, IS_VIOLATED, HAS_FAILED };

static void wait_to_print(struct pt_thread *self, struct pt_told *told)
{
    struct pt_told **last = &self->told;
    while (*last)
        last = &(*last)->next;
    *last = told;
    self->attention |= PT_ATTEND_VIOLATION;
}

static bool is_suppressed(const struct pt_thread *self, uint32_t property, const struct pt_happening *what)
{
    struct pt_line object = {0}, place = {0};
    if (!pt_suppressed_any())
        return false;
    if (what) {
        put_object(&object, what);
        put_place_of(&place, what);
    }
    return pt_suppressed_matches(string(property_at(property)->name), string(property_at(property)->text),
                                 pt_monitor_name(self->local->slot), object.text, place.text);
}

static void note_race(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                      struct pt_value value)
{
    struct telling *t = context;
    (void)slot, (void)entry;
    if (is_access(pt_mttl_at(pt_monitor_block, lookups, struct pt_mttl_lookup, lookup)) &&
        pt_mttl_races(&t->view->event, value))
        t->count++;
}

/* A recording has a line for each variable of an access. If the property is violated by a race, which ones race? */
static uint32_t find_parts(struct pt_thread *self, const struct pt_mttl_view *view, uint32_t property,
                           struct pt_access *parts)
{
    struct telling telling = {.view = view};
    struct pt_value value;
    struct pt_mttl_span both;
    uint32_t count = 0;
    pt_mttl_explain(pt_monitor_block, view, self->local->memory, self->local->next, property, note_race, &telling);
    for (uint32_t slot = 0; telling.count && slot < view->known_count; slot++)
        for (uint32_t at = 0; count < PT_LOCAL_PARTS && pt_mttl_access_of(pt_monitor_block, view, slot, &value) &&
                              pt_mttl_next_race(&view->event, value, &at, &both);)
            parts[count++] = (struct pt_access){both.from & ((UINT64_C(1) << PT_MONITOR_LIFE_AT) - 1), both.size};
    return count;
}

static void emit(struct pt_thread *self, const struct pt_mttl_view *view, struct pt_record_local *record,
                 const char *told)
{
    struct pt_access parts[PT_LOCAL_PARTS];
    if (self->full && view && view->event.span_count && record->result == PT_LOCAL_VIOLATED)
        record->parts = find_parts(self, view, record->property, parts);
    pt_emit_local(self, record, pt_monitor_name(self->local->slot), told, parts);
}

void pt_tell_verdict(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                     const struct pt_happening *what)
{
    bool failed = self->local->verdicts[property].kind == PT_MTTL_FAILED;
    bool suppressed = !failed && is_suppressed(self, property, what);
    uint8_t fate = OPEN;
    if (suppressed && !is_observed()) /* an observer sets it aside itself, and says so */
        return;
    bool first = atomic_compare_exchange_strong(pt_monitor_fate(property), &fate, failed ? HAS_FAILED : IS_VIOLATED);
    if (!first && (failed || fate == HAS_FAILED))
        return;
    struct pt_told *told = first ? pt_pool_take(self, sizeof *told) : NULL;
    if (told) {
        struct pt_told_writer w = {.bytes = told->bytes, .room = sizeof told->bytes};
        *told = (struct pt_told){.property = property,
                                 .slot = self->local->slot,
                                 .result = failed ? PT_LOCAL_FAILED : PT_LOCAL_VIOLATED,
                                 .state = self->states};
        if (failed)
            put_failure(self, &w, property, what);
        else
            put_violation(self, &w, property, view, what);
        told->len = w.len;
    }
    if (is_observed()) {
        struct pt_record_local record = {.property = property,
                                         .result = failed ? PT_LOCAL_FAILED : PT_LOCAL_VIOLATED,
                                         .told = told ? (uint32_t)told->len : 0,
                                         .from = self->states,
                                         .to = self->states};
        emit(self, view, &record, told ? told->bytes : "");
        pt_pool_give(self, told);
    } else if (told) {
        wait_to_print(self, told);
    }
    if (!failed && !suppressed)
        pt_violation_notify(self, string(property_at(property)->name));
}

void pt_tell_states(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view, uint64_t from,
                    uint64_t to)
{
    if (!is_observed() || atomic_load(pt_monitor_fate(property)) == HAS_FAILED)
        return;
    struct pt_record_local record = {.property = property, .result = PT_LOCAL_VIOLATED, .from = from, .to = to};
    emit(self, view, &record, "");
}

void pt_tell_begun(struct pt_thread *self)
{
    struct pt_record_local record = {.result = PT_LOCAL_BEGUN};
    if (is_observed())
        emit(self, NULL, &record, "");
}

void pt_tell_count(struct pt_thread *self)
{
    struct pt_record_local record = {.result = PT_LOCAL_STATES, .from = self->states, .to = self->states};
    if (is_observed())
        emit(self, NULL, &record, "");
}

void pt_tell_stop(void)
{
    for (uint32_t p = 0; pt_monitor_on && p < pt_monitor_block->properties.count; p++)
        atomic_store(pt_monitor_fate(p), HAS_FAILED);
}

/* --- printing --- */

struct page {
    size_t len;
    char text[3 * PT_TOLD_BYTES];
};

static void put(struct page *page, const char *text)
{
    for (; *text && page->len < sizeof page->text; text++)
        page->text[page->len++] = (unsigned char)*text < 0x20 && *text != '\n' ? '?' : *text;
}

static void put_number(struct page *page, uint64_t number)
{
    struct pt_line line = {0};
    pt_line_number(&line, number);
    line.text[line.len] = 0;
    put(page, line.text);
}

/* Up to six digits after the point. */
static void put_float(struct page *page, double number)
{
    if (number < 0) {
        put(page, "-");
        number = -number;
    }
    if (!(number < 1e15)) {
        put(page, number != number ? "nan" : number > 1e300 * 1e10 ? "inf" : "huge");
        return;
    }
    uint64_t whole = (uint64_t)number, part = (uint64_t)((number - (double)whole) * 1e6 + 0.5);
    char digits[8] = ".000000";
    for (unsigned i = 6; i > 0; i--, part /= 10)
        digits[i] = (char)('0' + part % 10);
    whole += part;
    for (unsigned i = 6; i > 1 && digits[i] == '0'; i--)
        digits[i] = 0;
    put_number(page, whole);
    put(page, digits);
}

static void put_value(struct page *page, struct pt_value value)
{
    switch (value.kind) {
    case PT_VALUE_INT:
        put(page, value.i < 0 ? "-" : "");
        put_number(page, value.i < 0 ? 0 - value.u : value.u);
        break;
    case PT_VALUE_UINT:
        put_number(page, value.u);
        break;
    case PT_VALUE_FLOAT:
        put_float(page, value.d);
        break;
    case PT_VALUE_BOOL:
        put(page, value.i ? "true" : "false");
        break;
    case PT_VALUE_STRING:
        put(page, "\"");
        for (uint32_t i = 0; i < value.len; i++)
            put(page, (char[]){value.s[i], 0});
        put(page, "\"");
        break;
    default:
        put(page, "?");
        break;
    }
}

static void put_step(struct page *page, const struct pt_told_step *step, const char *thread)
{
    put(page, step->op);
    put(page, "(");
    put(page, step->object);
    put(page, ")");
    if (step->value.kind != PT_VALUE_UNKNOWN) {
        put(page, "=");
        put_value(page, step->value);
    }
    put(page, " by ");
    put(page, thread);
    if (strcmp(step->place, "-") != 0 && step->place[0]) {
        put(page, " (");
        put(page, step->place);
        put(page, ")");
    }
}

static void put_place(struct page *page, const struct pt_told *told, const struct pt_told_step *step)
{
    if (told->state == 0) {
        put(page, "the initial state of ");
        put(page, pt_monitor_name(told->slot));
        return;
    }
    put_step(page, step, pt_monitor_name(told->slot));
    put(page, ", its event ");
    put_number(page, told->state);
}

static void put_known(struct page *page, struct pt_told_reader *r, uint32_t slot, bool *told_header)
{
    const char *text = pt_told_text(r);
    const char *thread = pt_told_text(r);
    bool heard = pt_told_number(r);
    struct pt_value value = pt_told_value(r);
    uint64_t state = pt_told_number(r);
    struct pt_told_step step = {0};
    if (state)
        step = pt_told_step(r);
    if (r->bad)
        return;
    if (text[0] != '@') {
        put(page, "  It ");
        put(page, text);
        put(page, " ");
        put_step(page, &step, thread);
        put(page, ", its event ");
        put_number(page, state);
        put(page, ".\n");
        return;
    }
    if (!*told_header) {
        put(page, "  What ");
        put(page, pt_monitor_name(slot));
        put(page, " knew then:\n");
        *told_header = true;
    }
    put(page, "    ");
    put(page, text);
    if (value.kind != PT_VALUE_UNKNOWN) {
        put(page, value.kind == PT_VALUE_BOOL ? " is " : " = ");
        put_value(page, value);
    }
    put(page, ", of ");
    put(page, thread);
    if (state) {
        put(page, ": from its event ");
        put_number(page, state);
        put(page, ", ");
        put_step(page, &step, thread);
    } else {
        put(page, heard ? ": as from the start" : ": nothing heard of it, so its initial state");
    }
    put(page, ".\n");
}

static void compose_violation(struct page *page, const struct pt_told *told)
{
    const struct pt_mttl_property *property = property_at(told->property);
    struct pt_told_reader r = {told->bytes, told->len, false};
    struct pt_told_step step = pt_told_step(&r);
    put(page, "Property '");
    put(page, string(property->name));
    put(page, "' is violated in thread ");
    put(page, pt_monitor_name(told->slot));
    put(page, ".\n\n  ");
    put(page, string(property->file));
    put(page, ":");
    put_number(page, property->line);
    put(page, ": ");
    put(page, string(property->name));
    put(page, ": ");
    put(page, string(property->text));
    put(page, "\n\n  First in ");
    put_place(page, told, &step);
    put(page, ".");
    uint64_t values = pt_told_number(&r);
    for (uint64_t i = 0; i < values && !r.bad; i++) {
        put(page, i ? ", " : " There ");
        put(page, pt_told_text(&r));
        put(page, " = ");
        put_value(page, pt_told_value(&r));
    }
    put(page, values ? ".\n" : "\n");
    uint64_t known = pt_told_number(&r);
    bool header = false;
    for (uint64_t i = 0; i < known && !r.bad; i++)
        put_known(page, &r, told->slot, &header);
    put(page, "SUMMARY: portent: observed violation of '");
    put(page, string(property->name));
    put(page, "' at ");
    put_place(page, told, &step);
    put(page, "\n");
}

static void compose_failure(struct page *page, const struct pt_told *told)
{
    struct pt_told_reader r = {told->bytes, told->len, false};
    const char *message = pt_told_text(&r), *place = pt_told_text(&r);
    put(page, "Property '");
    put(page, string(property_at(told->property)->name));
    put(page, "' cannot be evaluated: ");
    put(page, message);
    put(page, " (");
    put(page, place);
    put(page, ").\n");
}

void pt_tell_print(struct pt_thread *self)
{
    while (self->told) {
        struct pt_told *told = self->told;
        struct page *page = pt_pool_take(self, sizeof *page);
        self->told = told->next;
        if (page) {
            page->len = 0;
            if (told->result == PT_LOCAL_FAILED)
                compose_failure(page, told);
            else
                compose_violation(page, told);
            pt_log_write(page->text, page->len);
        }
        pt_pool_give(self, page);
        pt_pool_give(self, told);
    }
}
