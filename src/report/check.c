/*
 * Built-in checks, as text and as JSON (contract section 4): a violation is two sides, or one, each an event with its
 * calls and locks; a race reads as ThreadSanitizer's users know it, the later access first. Nothing is computed: what
 * stands in the finding is written. Linear in the violations.
 */
#include "report/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_detail.h"
#include "report/violation.h"
#include "report/words.h"

/* ---- text ---- */

void pt_check_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    pt_words_paragraph(buf, style, 0, 2, "Check '%s': nothing was found.", finding->property);
}

static void put_side(const struct pt_side *side, const char *word, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf locks;
    pt_buf_init(&locks);
    for (const char *const *lock = side->locks; lock && *lock; lock++)
        pt_buf_printf(&locks, "%s%s", locks.len ? ", " : "; locked: ", *lock);
    char *step = pt_words_step(&side->step);
    pt_words_paragraph(buf, style, 2, 4, "%s %s, event %" PRIu64 "%s.", word, step, side->event,
                       locks.len ? locks.text : "");
    for (const char *const *call = side->stack; call && *call; call++)
        pt_words_paragraph(buf, style, 4, 6, "in %s", *call);
    free(step);
    pt_buf_release(&locks);
}

static void put_calls(const struct pt_side *side, const struct pt_style *style, struct pt_buf *buf)
{
    unsigned frame = 0;
    for (const char *const *call = side->stack; call && *call; call++)
        pt_words_paragraph(buf, style, 4, 6, "#%u %s", frame++, *call);
    if (!frame)
        pt_words_paragraph(buf, style, 4, 6, "#0 %s", side->step.loc);
}

/* One access of a race, in the order of things that users of ThreadSanitizer know. */
static void put_access(const struct pt_side *side, bool earlier, const struct pt_style *style, struct pt_buf *buf)
{
    static const struct {
        const char *op, *words, *earlier;
    } names[] = {{"r", "Read", "Previous read"},
                 {"w", "Write", "Previous write"},
                 {"u", "Atomic update", "Previous atomic update"},
                 {"free", "Free", "Previous free"}};
    const char *words = side->step.op;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].op, side->step.op) == 0)
            words = earlier ? names[i].earlier : names[i].words;
    struct pt_buf locks;
    pt_buf_init(&locks);
    for (const char *const *lock = side->locks; lock && *lock; lock++)
        pt_buf_printf(&locks, "%s%s", locks.len ? ", " : "", *lock);
    pt_words_paragraph(buf, style, 2, 4, "%s of %s at %s by thread %s, event %" PRIu64 ", %s%s:", words,
                       side->step.object, side->step.loc, side->step.thread, side->event,
                       locks.len ? "locks held: " : "no locks held", locks.len ? locks.text : "");
    put_calls(side, style, buf);
    pt_buf_release(&locks);
}

/* The heap block that it is about. */
static void put_block(const struct pt_side *made, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf size;
    pt_buf_init(&size);
    if (made->step.value.kind == PT_VALUE_INT)
        pt_buf_printf(&size, " of %" PRId64 " byte%s", made->step.value.i, made->step.value.i == 1 ? "" : "s");
    pt_words_paragraph(buf, style, 2, 4,
                       "Location is heap block %s%s, allocated at %s by thread %s, event %" PRIu64 ":",
                       made->step.object, size.len ? size.text : "", made->step.loc, made->step.thread, made->event);
    put_calls(made, style, buf);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&size);
}

static bool is_race(const struct pt_finding *finding)
{
    return strcmp(finding->kind, "race") == 0 && finding->side_count == 2;
}

static void put_race(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    pt_words_paragraph(buf, style, 0, 0, "Data race on %s%s (seen %" PRIu64 " time%s).", finding->object,
                       finding->how == PT_HOW_PREDICTED ? ", in another order of these events" : "", finding->count,
                       pt_words_plural(finding->count));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    put_access(&finding->sides[1], false, style, buf);
    pt_buf_puts(buf, "\n");
    put_access(&finding->sides[0], true, style, buf);
    pt_buf_puts(buf, "\n");
    if (finding->block)
        put_block(finding->block, style, buf);
}

void pt_check_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    if (is_race(finding)) {
        put_race(finding, style, buf);
    } else {
        pt_words_paragraph(buf, style, 0, 0, "Check '%s' found a violation%s on %s, %" PRIu64 " time%s.",
                           finding->property,
                           finding->how == PT_HOW_PREDICTED ? " in another order of these events," : "",
                           finding->object, finding->count, pt_words_plural(finding->count));
        pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
        pt_buf_puts(buf, "\n");
        for (uint32_t i = 0; i < finding->side_count; i++)
            put_side(&finding->sides[i], i ? "Second:" : finding->side_count > 1 ? "First:" : "At", style, buf);
    }
    if (finding->untold)
        pt_words_paragraph(buf, style, 2, 4, "%" PRIu64 " more are not listed.", finding->untold);
    pt_violation_summary(finding, style, buf);
}

/* ---- JSON ---- */

static void put_texts(struct pt_json *json, const char *key, const char *const *texts)
{
    pt_json_open(json, key, '[');
    for (; texts && *texts; texts++)
        pt_json_string(json, NULL, *texts);
    pt_json_close(json, ']');
}

static void put_side_json(struct pt_json *json, const char *key, const struct pt_side *side)
{
    pt_json_open(json, key, '{');
    pt_json_step(json, &side->step);
    pt_json_uint(json, "event", side->event);
    put_texts(json, "stack", side->stack);
    put_texts(json, "locks", side->locks);
    pt_json_close(json, '}');
}

static void put_cycle_json(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_open(json, "cycle", '[');
    for (uint32_t i = 0; i < finding->side_count; i++) {
        const struct pt_side *side = &finding->sides[i];
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "thread", side->step.thread);
        put_texts(json, "holds", side->locks);
        pt_json_string(json, "wants", side->step.object);
        pt_json_string(json, "op", side->step.op);
        pt_json_string(json, "loc", side->step.loc);
        pt_json_uint(json, "event", side->event);
        put_texts(json, "stack", side->stack);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_violation(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "id", pt_finding_id(finding).text);
    pt_json_string(json, "how", finding->how == PT_HOW_PREDICTED ? "predicted" : "observed");
    pt_json_string(json, "order", finding->order ? finding->order : "access");
    pt_json_string(json, "object", finding->object);
    pt_json_uint(json, "count", finding->count);
    if (strcmp(finding->kind, "deadlock") == 0)
        put_cycle_json(json, finding);
    else
        for (uint32_t i = 0; i < finding->side_count; i++)
            put_side_json(json, i ? "second" : "first", &finding->sides[i]);
    if (finding->block)
        put_side_json(json, "block", finding->block);
    pt_json_open(json, "witness", '[');
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_step(json, &finding->witness[i]);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
    pt_json_decisions(json, finding);
    pt_json_close(json, '}');
}

void pt_check_json(struct pt_json *json, const struct pt_finding *finding)
{
    bool violated = finding->verdict == PT_VERDICT_VIOLATED;
    pt_json_open(json, "findings", '[');
    if (violated)
        put_violation(json, finding);
    for (uint32_t i = 0; violated && i < finding->more_count; i++)
        put_violation(json, finding->more[i]);
    pt_json_close(json, ']');
    if (finding->untold)
        pt_json_uint(json, "untold", finding->untold);
}
