#include "report/change.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/json_detail.h"
#include "report/within.h"
#include "report/words.h"

enum { MAX_STATES = 32 };

void pt_change_states(const uint32_t *states, uint32_t count, struct pt_buf *buf)
{
    pt_buf_puts(buf, "{");
    for (uint32_t i = 0; i < count && i < MAX_STATES; i++)
        pt_buf_printf(buf, "%s%" PRIu32, i ? ", " : "", states[i]);
    pt_buf_puts(buf, count > MAX_STATES ? ", ...}" : "}");
}

/* ", at 2.5 s" */
static void put_time(const struct pt_change *change, struct pt_buf *buf)
{
    if (!change->timed)
        return;
    pt_buf_puts(buf, ", at ");
    pt_within_time(buf, change->time);
}

static void put_unknown(const struct pt_change *change, struct pt_buf *buf)
{
    pt_buf_printf(buf, "Property '%s' is unknown: ", change->property);
    if (change->lost)
        pt_buf_printf(buf, "%" PRIu64 " event%s lost after event %" PRIu64, change->lost,
                      change->lost == 1 ? " was" : "s were", change->event);
    else
        pt_buf_printf(buf, "its answer depends on what was lost before event %" PRIu64, change->event);
}

static void put_known(const struct pt_change *change, struct pt_buf *buf)
{
    pt_buf_printf(buf, "Property '%s' is known again after event %" PRIu64, change->property, change->event);
    if (change->step) {
        char *step = pt_words_step(change->step);
        pt_buf_printf(buf, ", %s", step);
        free(step);
    }
}

void pt_change_text(const struct pt_change *change, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf text;
    bool unknown = change->to == PT_VERDICT_UNKNOWN;
    pt_buf_init(&text);
    if (unknown)
        put_unknown(change, &text);
    else
        put_known(change, &text);
    put_time(change, &text);
    if (!unknown)
        pt_buf_puts(&text, ": it holds, if what was lost was good");
    pt_buf_puts(&text, ".");
    if (change->states) {
        pt_buf_puts(&text, unknown ? " Possible states of its automaton: " : " States of its automaton: ");
        pt_change_states(change->states, change->state_count, &text);
        pt_buf_puts(&text, ".");
    }
    pt_buf_puts(buf, pt_style_color(style, unknown ? PT_COLOR_YELLOW : PT_COLOR_GREEN));
    pt_words_paragraph(buf, style, 0, 2, "%s", text.text);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    pt_buf_release(&text);
}

void pt_change_json(const struct pt_change *change, struct pt_json *json)
{
    pt_json_open(json, "change", '{');
    pt_json_string(json, "property", change->property);
    pt_json_string(json, "from", pt_words_verdict(change->from));
    pt_json_string(json, "to", pt_words_verdict(change->to));
    pt_json_uint(json, "event", change->event);
    if (change->timed)
        pt_json_uint(json, "time", change->time);
    if (change->lost)
        pt_json_uint(json, "lost", change->lost);
    if (change->step) {
        pt_json_open(json, "step", '{');
        pt_json_step(json, change->step);
        pt_json_close(json, '}');
    }
    if (change->states) {
        pt_json_open(json, "states", '[');
        for (uint32_t i = 0; i < change->state_count; i++)
            pt_json_uint(json, NULL, change->states[i]);
        pt_json_close(json, ']');
    }
    pt_json_close(json, '}');
}
