/*
 * What threads found out, printed by the program itself where nobody observes, in the words that `portent run` uses
 * (report/local.c). There is no debug information at hand: what has no name is called as the source calls it.
 *
 * Guarantee: a report is written in one piece. Cost: only where a property is violated and nobody observes.
 */
#include <string.h>

#include "runtime/local/report_impl.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/log.h"

struct page {
    struct pt_page out;
    char text[3 * PT_LOCAL_REPORT_BYTES];
};

static void put(struct page *page, const char *text)
{
    pt_page_text(&page->out, text);
}

static void put_number(struct page *page, uint64_t number)
{
    pt_page_number(&page->out, number);
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

static void put_step(struct page *page, const struct pt_local_report_step *step, const char *thread)
{
    put(page, pt_op_word(pt_kind_op(step->kind)));
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

static void put_place(struct page *page, const struct pt_unprinted *report, const struct pt_local_report_step *step)
{
    if (report->state == 0) {
        put(page, "the initial state of ");
        put(page, pt_monitor_slot_name(report->slot));
        return;
    }
    put_step(page, step, pt_monitor_slot_name(report->slot));
    put(page, ", its event ");
    put_number(page, report->state);
}

static void put_known(struct page *page, struct pt_local_report_reader *r, uint32_t slot, bool *report_header)
{
    const char *text = pt_local_report_text(r);
    const char *thread = pt_local_report_text(r);
    bool heard = pt_local_report_number(r);
    struct pt_value value = pt_local_report_value(r);
    uint64_t state = pt_local_report_number(r);
    struct pt_local_report_step step = {0};
    if (state)
        step = pt_local_report_step(r);
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
    if (!*report_header) {
        put(page, "  What ");
        put(page, pt_monitor_slot_name(slot));
        put(page, " knew then:\n");
        *report_header = true;
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

static void compose_violation(struct page *page, const struct pt_unprinted *report)
{
    const struct pt_mttl_property *property = pt_report_property(report->property);
    struct pt_local_report_reader r = {report->bytes, report->len, false};
    struct pt_local_report_step step = pt_local_report_step(&r);
    put(page, "Property '");
    put(page, pt_report_string(property->name));
    put(page, "' is violated in thread ");
    put(page, pt_monitor_slot_name(report->slot));
    put(page, ".\n\n  ");
    put(page, pt_report_string(property->file));
    put(page, ":");
    put_number(page, property->line);
    put(page, ": ");
    put(page, pt_report_string(property->name));
    put(page, ": ");
    put(page, pt_report_string(property->text));
    put(page, "\n\n  First in ");
    put_place(page, report, &step);
    put(page, ".");
    uint64_t values = pt_local_report_number(&r);
    for (uint64_t i = 0; i < values && !r.bad; i++) {
        uint64_t var = pt_local_report_number(&r);
        put(page, i ? ", " : " There ");
        put(page, pt_report_string(pt_mttl_at(pt_monitor_block, vars, struct pt_mttl_name, (uint32_t)var)->name));
        put(page, " = ");
        put_value(page, pt_local_report_value(&r));
    }
    put(page, values ? ".\n" : "\n");
    uint64_t known = pt_local_report_number(&r);
    bool header = false;
    for (uint64_t i = 0; i < known && !r.bad; i++)
        put_known(page, &r, report->slot, &header);
    put(page, "SUMMARY: portent: observed violation of '");
    put(page, pt_report_string(property->name));
    put(page, "' at ");
    put_place(page, report, &step);
    put(page, "\n");
}

static void compose_failure(struct page *page, const struct pt_unprinted *report)
{
    struct pt_local_report_reader r = {report->bytes, report->len, false};
    const char *message = pt_local_report_text(&r), *place = pt_local_report_text(&r);
    put(page, "Property '");
    put(page, pt_report_string(pt_report_property(report->property)->name));
    put(page, "' cannot be evaluated: ");
    put(page, message);
    put(page, " (");
    put(page, place);
    put(page, ").\n");
}

void pt_report_print(struct pt_thread *self)
{
    while (self->local->unprinted) {
        struct pt_unprinted *report = self->local->unprinted;
        struct page *page = pt_pool_take(pt_thread_pool(self), sizeof *page);
        self->local->unprinted = report->next;
        if (page) {
            page->out = (struct pt_page){page->text, sizeof page->text, 0};
            if (report->result == PT_LOCAL_FAILED)
                compose_failure(page, report);
            else
                compose_violation(page, report);
            pt_log_write(page->text, page->out.len);
        }
        pt_pool_give(pt_thread_pool(self), page);
        pt_pool_give(pt_thread_pool(self), report);
    }
}
