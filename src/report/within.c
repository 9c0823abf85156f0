/*
 * Properties with a bound in time (`within`), in words: the event that broke one or the window that passed in silence,
 * the margin where it holds, and lines of the log of `watch`. All figures stand in the finding. Linear in what is
 * printed.
 */
#include "report/within.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"
#include "trace/writer.h"

enum { LOG_EVENT_COLUMNS = 78 }; /* the states of the log stand to the right of this, where the event leaves room */

bool pt_within_is(const struct pt_finding *finding)
{
    return strcmp(finding->kind, "within") == 0;
}

void pt_within_time(struct pt_buf *buf, uint64_t nanoseconds)
{
    static const struct {
        uint64_t size;
        int digits;
        const char *name;
    } units[] = {{1000000000, 9, "s"}, {1000000, 6, "ms"}, {1000, 3, "us"}, {1, 0, "ns"}};
    size_t u = 0;
    while (nanoseconds < units[u].size && units[u].digits > 0)
        u++;
    pt_buf_printf(buf, "%" PRIu64, nanoseconds / units[u].size);
    uint64_t rest = nanoseconds % units[u].size;
    int digits = units[u].digits;
    if (rest) {
        for (; rest % 10 == 0; rest /= 10)
            digits--;
        pt_buf_printf(buf, ".%0*" PRIu64, digits, rest);
    }
    pt_buf_printf(buf, " %s", units[u].name);
}

static char *bound_words(const struct pt_finding_within *w)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (w->bound_in_events)
        pt_buf_printf(&buf, "%" PRIu64 " event%s", w->bound, pt_words_plural(w->bound));
    else
        pt_within_time(&buf, w->bound);
    return pt_buf_take(&buf);
}

/* "event 7, event(write) by T1 (a.c:20), at 2.5 ms" */
static char *event_words(const struct pt_finding_within *w)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    char *step = w->step ? pt_words_step(w->step) : pt_xstrdup("which was lost");
    pt_buf_printf(&buf, "event %" PRIu64 ", %s", w->event, step);
    free(step);
    if (w->step && w->step->line)
        pt_buf_printf(&buf, ", line %" PRIu64 " of the trace", w->step->line);
    if (w->timed && !w->silent) {
        pt_buf_puts(&buf, ", at ");
        pt_within_time(&buf, w->time);
    }
    return pt_buf_take(&buf);
}

static void put_dead(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->within.event == 0) {
        pt_words_paragraph(buf, style, 0, 0, "Property '%s' is violated (dead): no run at all can satisfy it.",
                           finding->property);
        return;
    }
    pt_words_paragraph(buf, style, 0, 0,
                       "Property '%s' is violated (dead): after event %" PRIu64
                       " no continuation of the run can satisfy it.",
                       finding->property, finding->within.event);
}

static void put_late(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const struct pt_finding_within *w = &finding->within;
    struct pt_buf since;
    pt_buf_init(&since);
    if (w->bound_in_events)
        pt_buf_printf(&since, "%s %" PRIu64, w->passed ? "after event" : "from event", w->last_pass);
    else if (w->timed) {
        pt_buf_puts(&since, w->passed ? "after " : "from the start at ");
        pt_within_time(&since, w->last_pass);
    } else {
        pt_buf_puts(&since, "in time");
    }
    char *bound = bound_words(w);
    pt_words_paragraph(buf, style, 0, 0,
                       "Property '%s' is violated (late): within %s %s no run of its automaton that is left has passed "
                       "an accepting state.",
                       finding->property, bound, since.text);
    free(bound);
    pt_buf_release(&since);
}

/* "SUMMARY: portent: late violation of 'p' at ...", as every violation has. */
static void put_summary(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const struct pt_finding_within *w = &finding->within;
    struct pt_buf line;
    pt_buf_init(&line);
    pt_buf_printf(&line, "SUMMARY: portent: %s violation of '%s' at ", finding->how == PT_HOW_DEAD ? "dead" : "late",
                  finding->property);
    if (w->silent) {
        pt_within_time(&line, w->time);
        pt_buf_printf(&line, ", after event %" PRIu64, w->event);
    } else if (w->event == 0) {
        pt_buf_puts(&line, "the start");
    } else {
        char *event = event_words(w);
        pt_buf_puts(&line, event);
        free(event);
    }
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    pt_style_clean(buf, line.text, line.len);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    pt_buf_puts(buf, "\n");
    pt_buf_release(&line);
}

void pt_within_violation(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const struct pt_finding_within *w = &finding->within;
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    if (finding->how == PT_HOW_DEAD)
        put_dead(finding, style, buf);
    else
        put_late(finding, style, buf);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    char *bound = bound_words(w), *event = event_words(w);
    pt_buf_puts(buf, "\n");
    pt_words_paragraph(buf, style, 2, 4, "%s:%" PRIu32 ": %s within %s: %s", finding->file ? finding->file : "formula",
                       finding->line, finding->property, bound, finding->text);
    pt_buf_puts(buf, "\n");
    if (w->silent && w->event) {
        struct pt_buf time;
        pt_buf_init(&time);
        pt_within_time(&time, w->time);
        pt_words_paragraph(buf, style, 2, 4, "The window ended at %s. The last event before that: %s.", time.text,
                           event);
        pt_buf_release(&time);
    } else if (w->event == 0) {
        pt_buf_puts(buf, "  Nothing had happened by then.\n");
    } else {
        pt_words_paragraph(buf, style, 2, 4, "Decided by %s.", event);
    }
    pt_words_paragraph(buf, style, 2, 4, "States of the automaton %s: %s. 'portent automaton' shows them.",
                       w->silent ? "then" : "before it", w->states);
    free(bound);
    free(event);
    put_summary(finding, style, buf);
}

void pt_within_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const struct pt_finding_within *w = &finding->within;
    char *bound = bound_words(w);
    bool timeless = !w->bound_in_events && !w->timed;
    pt_words_paragraph(buf, style, 0, 2, "Property '%s' holds within %s in your run so far, of %" PRIu64 " event%s.%s",
                       finding->property, bound, w->events, pt_words_plural(w->events),
                       timeless ? " The trace has no times, so nothing could be late." : "");
    free(bound);
}

/* The paper's names of events; what has none there has its word of the trace. */
static const char *kind_word(enum pt_op op)
{
    switch (op) {
    case PT_OP_EVENT:
        return "USER";
    case PT_OP_STATE:
        return "STATE_CHANGE";
    case PT_OP_ACQ:
        return "MONITOR_ENTER";
    case PT_OP_REL:
        return "MONITOR_EXIT";
    case PT_OP_CONTENDED:
        return "MONITOR_CONTENDED";
    default:
        return pt_op_word(op);
    }
}

static const char *object_word(enum pt_op op)
{
    switch (pt_op_space(op)) {
    case PT_SPACE_EVENT:
        return "text";
    case PT_SPACE_STATE:
        return "newState";
    case PT_SPACE_LOCK:
        return "monitor";
    case PT_SPACE_THREAD:
        return "other";
    case PT_SPACE_VAR:
    case PT_SPACE_LOCAL:
        return "variable";
    default:
        return "object";
    }
}

void pt_within_log(const struct pt_names *names, const struct pt_event *event, uint64_t before, const uint32_t *states,
                   uint32_t count, bool final, struct pt_buf *buf)
{
    struct pt_buf line;
    pt_buf_init(&line);
    pt_buf_printf(&line, "{kind=%s, ", kind_word(event->op));
    if (event->has_time)
        pt_buf_printf(&line, "delta=%" PRIu64 ", ", event->time > before ? event->time - before : 0);
    pt_buf_printf(&line, "thread=%s, %s=%s", pt_name(names, PT_SPACE_THREAD, event->thread), object_word(event->op),
                  pt_name(names, pt_op_space(event->op), event->object));
    if (event->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_puts(&line, ", value=");
        pt_value_to_text(event->value, &line);
    }
    pt_buf_puts(&line, "}");
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, line.text, line.len);
    size_t columns = pt_style_columns(clean.text);
    pt_buf_add(buf, clean.text, clean.len);
    pt_buf_printf(buf, "%*s {", columns < LOG_EVENT_COLUMNS ? (int)(LOG_EVENT_COLUMNS - columns) : 0, "");
    for (uint32_t i = 0; i < count; i++)
        pt_buf_printf(buf, "%s%" PRIu32, i ? ", " : "", states[i]);
    pt_buf_puts(buf, final ? "} final" : "}");
    pt_buf_release(&clean);
    pt_buf_release(&line);
}
