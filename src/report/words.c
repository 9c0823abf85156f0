/*
 * The phrases that several reports share: verdicts, steps, values, bounds, confirmations. One wording for one fact, in
 * text, HTML and JUnit alike. Each returns a text that the caller frees.
 */
#include "report/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/check.h"
#include "trace/writer.h"

enum { MAX_VALUES = 12 };

void pt_words_paragraph(struct pt_buf *buf, const struct pt_style *style, unsigned first, unsigned rest,
                        const char *fmt, ...)
{
    char *raw;
    va_list ap;
    va_start(ap, fmt);
    int len = vasprintf(&raw, fmt, ap);
    va_end(ap);
    if (len < 0)
        abort(); /* vasprintf fails on lack of memory only */
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, raw, (size_t)len);
    pt_style_wrap(buf, clean.text ? clean.text : "", first, rest, style->width);
    pt_buf_release(&clean);
    free(raw);
}

const char *pt_words_verdict(enum pt_verdict verdict)
{
    switch (verdict) {
    case PT_VERDICT_HOLDS:
        return "holds";
    case PT_VERDICT_VIOLATED:
        return "violated";
    case PT_VERDICT_UNKNOWN:
        return "unknown";
    case PT_VERDICT_ERROR:
        break;
    }
    return "error";
}

const char *pt_words_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

char *pt_words_step(const struct pt_step *step)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%s(%s)", step->op, step->object);
    if (step->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_puts(&buf, "=");
        pt_value_to_text(step->value, &buf);
    }
    pt_buf_printf(&buf, " by %s", step->thread);
    if (step->loc[0] && strcmp(step->loc, "-") != 0)
        pt_buf_printf(&buf, " (%s%s%s)", step->loc, step->source ? ": " : "", step->source ? step->source : "");
    return pt_buf_take(&buf);
}

/* `mark` follows each value that is assumed. */
static void put_values(struct pt_buf *buf, const struct pt_binding *bindings, uint32_t count, const char *mark)
{
    for (uint32_t i = 0; i < count && i < MAX_VALUES; i++) {
        pt_buf_printf(buf, "%s%s = ", i ? ", " : "", bindings[i].name);
        if (bindings[i].value.kind == PT_VALUE_UNKNOWN)
            pt_buf_puts(buf, "?");
        else
            pt_value_to_text(bindings[i].value, buf);
        pt_buf_puts(buf, bindings[i].assumed ? mark : "");
    }
    if (count > MAX_VALUES)
        pt_buf_printf(buf, ", and %" PRIu32 " more", count - MAX_VALUES);
}

/* The locks of a deadlock are known by what they are (accounts[1].lock), also where its id is made of how the source
 * calls them (to->lock), because one of them has no name of its own. */
char *pt_words_about(const struct pt_finding *finding)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    bool locks = false;
    for (uint32_t i = 0; i < finding->side_count && pt_check_is_of(finding, "deadlock"); i++)
        locks |= !strstr(finding->object, finding->sides[i].step.object);
    for (uint32_t i = 0; locks && i < finding->side_count; i++)
        pt_buf_printf(&buf, "%s%s", i ? ", " : "", finding->sides[i].step.object);
    if (!locks)
        pt_buf_puts(&buf, finding->object);
    for (const char *const *name = finding->also; name && *name; name++)
        pt_buf_printf(&buf, ", %s", *name);
    return pt_buf_take(&buf);
}

char *pt_words_values(const struct pt_binding *bindings, uint32_t count)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    put_values(&buf, bindings, count, "");
    return pt_buf_take(&buf);
}

char *pt_words_start(const struct pt_binding *bindings, uint32_t count)
{
    static const char note[] = " (not given, taken as 0)";
    uint32_t assumed = 0;
    for (uint32_t i = 0; i < count && i < MAX_VALUES; i++)
        assumed += bindings[i].assumed;
    struct pt_buf buf;
    pt_buf_init(&buf);
    put_values(&buf, bindings, count, assumed > 1 ? "*" : note);
    if (assumed > 1)
        pt_buf_puts(&buf, " (*: not given, taken as 0)");
    return pt_buf_take(&buf);
}

static void put_bound(struct pt_buf *buf, const char *name, uint64_t bound)
{
    if (bound == PT_ALL)
        pt_buf_printf(buf, "%s all", name);
    else
        pt_buf_printf(buf, "%s %" PRIu64, name, bound);
}

bool pt_words_is_sliced(const struct pt_finding *finding)
{
    return finding->order && strncmp(finding->order, "slices=", 7) == 0;
}

const char *pt_words_order_runs(const struct pt_finding *finding)
{
    static const struct {
        const char *order, *runs;
    } rows[] = {
        {"sync", "every run of these events, whole or not, in which reads see the writes they saw and conflicting "
                 "accesses and lock operations keep their order (sync)"},
        {"values", "every run of these events, whole or not, in which reads return the values they returned (values)"},
        {"slices=0", "every subsequence of these events in which reads see the writes they saw (slices=0)"},
        {"slices=1", "every run of two subsequences of these events, one after the other, in which reads see the "
                     "writes they saw (slices=1)"},
        {"slices=2", "every run of three subsequences of these events, one after the other, in which reads see the "
                     "writes they saw (slices=2)"},
    };
    for (size_t i = 0; finding->order && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(finding->order, rows[i].order) == 0)
            return rows[i].runs;
    return "every order of these events that keeps conflicting accesses and lock operations as recorded";
}

char *pt_words_explored(const struct pt_finding *finding)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (pt_words_is_sliced(finding)) { /* its states are guesses, and nobody counts the runs */
        pt_buf_printf(&buf, "%" PRIu64 " pass%s, %" PRIu64 " state%s over %" PRIu64 " relevant event%s in order %s",
                      finding->levels, finding->levels == 1 ? "" : "es", finding->states,
                      pt_words_plural(finding->states), finding->relevant, pt_words_plural(finding->relevant),
                      finding->order);
        return pt_buf_take(&buf);
    }
    pt_buf_printf(&buf, "%" PRIu64 " level%s, %" PRIu64 " state%s, ", finding->levels, pt_words_plural(finding->levels),
                  finding->states, pt_words_plural(finding->states));
    bool wide = finding->order && strcmp(finding->order, "access") != 0;
    if (finding->runs_overflow)
        pt_buf_puts(&buf, "more than 2^64 runs");
    else /* of a wider order those that differ in what matters to the property */
        pt_buf_printf(&buf, "%s%" PRIu64 " run%s", wide ? "at least " : "", finding->runs,
                      pt_words_plural(finding->runs));
    pt_buf_printf(&buf, " over %" PRIu64 " relevant event%s", finding->relevant, pt_words_plural(finding->relevant));
    if (wide)
        pt_buf_printf(&buf, " in order %s", finding->order);
    if (finding->window != PT_ALL || finding->lookahead != PT_ALL) {
        put_bound(&buf, " (window", finding->window);
        put_bound(&buf, ", lookahead", finding->lookahead);
        pt_buf_puts(&buf, ")");
    }
    return pt_buf_take(&buf);
}

char *pt_words_pinned(const struct pt_finding *finding)
{
    const struct pt_pinned *p = &finding->pinned;
    struct pt_buf buf;
    if (!p->counted)
        return NULL;
    pt_buf_init(&buf);
    pt_buf_printf(&buf,
                  "%" PRIu64 " of %" PRIu64
                  " read%s of shared variables, which must see another thread's write, and %" PRIu64 " of %" PRIu64
                  " section%s of shared locks",
                  p->reads, p->of_reads, pt_words_plural(p->of_reads), p->sections, p->of_sections,
                  pt_words_plural(p->of_sections));
    return pt_buf_take(&buf);
}

char *pt_words_confirmed(const struct pt_finding *finding)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (finding->confirm == PT_CONFIRM_YES)
        pt_buf_puts(&buf, "Confirmed: another run of the program broke it.");
    else if (finding->confirm == PT_CONFIRM_NO)
        pt_buf_printf(&buf, "Not reproduced by another run of the program%s%s.", finding->not_reproduced ? ": " : "",
                      finding->not_reproduced ? finding->not_reproduced : "");
    else
        return NULL;
    char *own = pt_words_own_check(finding);
    if (own && (finding->confirm == PT_CONFIRM_YES || finding->confirmation.own == PT_OWN_FAILED))
        pt_buf_printf(&buf, " %s", own);
    free(own);
    return pt_buf_take(&buf);
}

char *pt_words_own_check(const struct pt_finding *finding)
{
    static const char *const forms[] = {[PT_OWN_UNKNOWN] = "Whether the program's own check fails is not known: %s.",
                                        [PT_OWN_PASSED] = "The program itself ended as usual: %s.",
                                        [PT_OWN_FAILED] = "The program's own check failed too: %s."};
    const struct pt_confirmation *c = &finding->confirmation;
    struct pt_buf buf;
    if (!c->end)
        return NULL;
    pt_buf_init(&buf);
    bool well = c->own == PT_OWN_PASSED && strcmp(c->end, "status 0") == 0;
    pt_buf_printf(&buf, well ? "The program itself ended well (%s)." : forms[c->own], c->end);
    return pt_buf_take(&buf);
}

static const char *at_lock(const struct pt_side *side, size_t i)
{
    return side->locked_at && side->locked_at[i] ? side->locked_at[i] : "";
}

char *pt_words_seen(const struct pt_finding *finding, const struct pt_side *side)
{
    struct pt_buf buf;
    bool waits = strcmp(finding->kind, "deadlock") == 0;
    pt_buf_init(&buf);
    if (waits)
        pt_buf_printf(&buf, "%s ", side->step.thread);
    for (size_t i = 0; waits && side->locks && side->locks[i]; i++)
        pt_buf_printf(&buf, "%s%s%s%s%s", i ? ", " : "holds ", side->locks[i], *at_lock(side, i) ? " (" : "",
                      at_lock(side, i), *at_lock(side, i) ? ")" : "");
    if (waits)
        pt_buf_printf(&buf, "%swaits for %s at %s", side->locks && side->locks[0] ? " and " : "", side->step.object,
                      side->step.loc);
    char *step = waits ? NULL : pt_words_step(&side->step);
    pt_buf_puts(&buf, step ? step : "");
    free(step);
    for (size_t i = 0; side->stack && side->stack[i]; i++)
        pt_buf_printf(&buf, "%s%s", i ? " < " : ": ", side->stack[i]);
    return pt_buf_take(&buf);
}
