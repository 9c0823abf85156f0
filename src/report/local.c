/*
 * Both sides of a decentralised violation: the state that breaks the property, and what its thread knew of the others.
 * Nothing is computed: the figures are those of the finding, as the thread had them when it found out. Linear in the
 * threads that are known.
 */
#include "report/local.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/violation.h"
#include "report/words.h"
#include "trace/writer.h"

enum { MAX_LISTED = 12, MAX_THREADS = 8 };

bool pt_local_is(const struct pt_finding *finding)
{
    return strcmp(finding->kind, "mttl") == 0;
}

char *pt_local_place(const struct pt_finding *finding)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (finding->first.state == 0) {
        pt_buf_printf(&buf, "the initial state of %s", finding->first.thread);
    } else {
        char *step = pt_words_step(&finding->first.event);
        pt_buf_printf(&buf, "%s, its event %" PRIu64, step, finding->first.state);
        free(step);
    }
    return pt_buf_take(&buf);
}

/* atomic_block: what it stands for has found the other side. */
static bool is_other_side(const struct pt_known *known)
{
    return known->text[0] != '@' && known->state > 0;
}

static void put_other_side(const struct pt_known *known, const struct pt_style *style, struct pt_buf *buf)
{
    char *step = pt_words_step(&known->from);
    pt_words_paragraph(buf, style, 2, 4, "It %s %s, its event %" PRIu64 ".", known->text, step, known->state);
    free(step);
}

static void put_known(const struct pt_known *known, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, known->text);
    if (known->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_puts(&text, known->value.kind == PT_VALUE_BOOL ? " is " : " = ");
        pt_value_to_text(known->value, &text);
    }
    pt_buf_printf(&text, ", of %s: ", known->thread);
    if (known->state > 0) {
        char *step = pt_words_step(&known->from);
        pt_buf_printf(&text, "from its event %" PRIu64 ", %s", known->state, step);
        free(step);
    } else {
        pt_buf_puts(&text, known->heard ? "as from the start" : "nothing heard of it, so its initial state");
    }
    pt_words_paragraph(buf, style, 4, 6, "%s.", text.text);
    pt_buf_release(&text);
}

/* "in states 2, 3 and 7 of T1" */
static void put_states(struct pt_buf *text, const struct pt_local *local)
{
    pt_buf_printf(text, "state%s ", pt_words_plural(local->state_count));
    for (uint32_t i = 0; i < local->state_count && i < MAX_LISTED; i++)
        pt_buf_printf(text, "%s%" PRIu64, i ? ", " : "", local->states[i]);
    if (local->state_count > MAX_LISTED)
        pt_buf_printf(text, " and %" PRIu32 " more", local->state_count - MAX_LISTED);
    pt_buf_printf(text, " of %s", local->thread);
}

static void put_where(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf text;
    if (finding->untold)
        pt_words_paragraph(buf, style, 2, 4, "%" PRIu64 " more disturbed blocks are not listed.", finding->untold);
    pt_buf_init(&text);
    for (uint32_t i = 0; i < finding->local_count && i < MAX_THREADS; i++) {
        pt_buf_puts(&text, i ? "; " : "");
        put_states(&text, &finding->locals[i]);
    }
    if (finding->local_count > MAX_THREADS)
        pt_buf_printf(&text, "; and in %" PRIu32 " more threads", finding->local_count - MAX_THREADS);
    if (text.len)
        pt_words_paragraph(buf, style, 2, 4, "It is false in %s%s%s%s.", text.text,
                           finding->complete ? "" : "; there may be more",
                           !finding->complete && finding->message ? ": " : "",
                           !finding->complete && finding->message ? finding->message : "");
    pt_buf_release(&text);
}

void pt_local_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    pt_words_paragraph(buf, style, 0, 2, "Property '%s' holds in every%s state of %s.", finding->property,
                       finding->complete ? "" : " known",
                       finding->at_each            ? "every thread"
                       : finding->local_count == 1 ? finding->locals[0].thread
                                                   : "its thread");
    if (!finding->complete)
        pt_words_paragraph(buf, style, 2, 4, "That may not be all: %s.",
                           finding->message ? finding->message : "no reason given");
    else
        pt_words_paragraph(buf, style, 2, 4, "Evaluated: %" PRIu64 " state%s.", finding->states,
                           pt_words_plural(finding->states));
}

void pt_local_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    char *place = pt_local_place(finding);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    pt_words_paragraph(buf, style, 0, 0, "Property '%s' is violated in thread %s.", finding->property,
                       finding->first.thread);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    pt_buf_puts(buf, "\n");
    pt_words_paragraph(buf, style, 2, 4, "%s:%" PRIu32 ": %s: %s", finding->file ? finding->file : "formula",
                       finding->line, finding->property, finding->text);
    pt_buf_puts(buf, "\n");
    char *values = pt_words_values(finding->first.values, finding->first.value_count);
    pt_words_paragraph(buf, style, 2, 4, "First in %s.%s%s%s", place, values[0] ? " There " : "", values,
                       values[0] ? "." : "");
    free(values);
    bool header = false;
    for (uint32_t i = 0; i < finding->first.knew_count; i++) {
        if (is_other_side(&finding->first.knew[i])) {
            put_other_side(&finding->first.knew[i], style, buf);
            continue;
        }
        if (!header)
            pt_words_paragraph(buf, style, 2, 4, "What %s knew then:", finding->first.thread);
        header = true;
        put_known(&finding->first.knew[i], style, buf);
    }
    put_where(finding, style, buf);
    pt_violation_summary(finding, style, buf);
    free(place);
}

void pt_local_again(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    pt_words_paragraph(buf, style, 0, 2, "Property '%s' is violated, as reported above.", finding->property);
    put_where(finding, style, buf);
}
