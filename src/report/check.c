/*
 * Built-in checks, as text and as JSON (contract section 4): a violation is two sides, one, or of a deadlock one for
 * each thread of the cycle, each an event with its calls and locks. Races, deadlocks and lifetimes read as
 * ThreadSanitizer's users know them: accesses, of a race the later one first, the heap block, where threads were
 * created. Nothing is computed: what stands in the finding is written. Linear in the violations.
 */
#include "report/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/found.h"
#include "report/json_detail.h"
#include "report/played.h"
#include "report/violation.h"
#include "report/words.h"

/* ---- text ---- */

void pt_check_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const char *left_out = finding->message;
    if (strcmp(finding->kind, "schedule") == 0) { /* the message says what was explored */
        pt_words_paragraph(buf, style, 0, 2, "%s.", left_out ? left_out : "No schedule failed");
        return;
    }
    bool wider = finding->order && strcmp(finding->order, "sync") == 0;
    pt_words_paragraph(buf, style, 0, 2, "%s '%s': nothing was found in the observed run%s%s%s.",
                       pt_finding_sort(finding), finding->property, wider ? ", nor in others of order sync" : "",
                       left_out ? "; " : "", left_out ? left_out : "");
}

bool pt_check_is_of(const struct pt_finding *finding, const char *kind)
{
    return finding->builtin && finding->side_count && strcmp(finding->kind, kind) == 0;
}

const char *pt_check_title(const struct pt_finding *finding)
{
    enum pt_found_how how = finding->how == PT_HOW_PREDICTED ? PT_FOUND_PREDICTED : PT_FOUND_OBSERVED;
    const char *note = finding->note ? finding->note : "";
    if (pt_check_is_of(finding, "race"))
        return pt_found_title(PT_FOUND_RACE, how, note);
    if (pt_check_is_of(finding, "deadlock"))
        return pt_found_title(PT_FOUND_DEADLOCK, how, note);
    return pt_check_is_of(finding, "lifetime") ? pt_found_title(PT_FOUND_LIFETIME, how, note) : NULL;
}

/* "guard (locked at a.c:28), other"; empty: none. */
static void list_locks(const struct pt_side *side, struct pt_buf *buf)
{
    for (uint32_t i = 0; side->locks && side->locks[i]; i++) {
        const char *at = side->locked_at ? side->locked_at[i] : "";
        pt_buf_printf(buf, "%s%s", i ? ", " : "", side->locks[i]);
        if (at[0])
            pt_buf_printf(buf, " (locked at %s)", at);
    }
}

static void put_side(const struct pt_side *side, const char *word, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf locks;
    pt_buf_init(&locks);
    list_locks(side, &locks);
    char *step = pt_words_step(&side->step);
    pt_words_paragraph(buf, style, 2, 4, "%s %s, event %" PRIu64 "%s%s.", word, step, side->event,
                       locks.len ? "; locked: " : "", locks.len ? locks.text : "");
    for (const char *const *call = side->stack; call && *call; call++)
        pt_words_paragraph(buf, style, 4, 6, "in %s", *call);
    free(step);
    pt_buf_release(&locks);
}

/* Without a stack `loc` stands for it; "": nothing does. */
static void put_calls(const char *const *stack, bool lost, const char *loc, const struct pt_style *style,
                      struct pt_buf *buf)
{
    unsigned frame = 0;
    if (lost)
        pt_words_paragraph(buf, style, 4, 6, "[stack lost]");
    for (; stack && *stack; stack++)
        pt_words_paragraph(buf, style, 4, 6, "#%u %s", frame++, *stack);
    if (!frame && !lost && loc[0])
        pt_words_paragraph(buf, style, 4, 6, "#0 %s", loc);
}

/* ", event 4", where there is a trace. */
static void put_event(uint64_t event, struct pt_buf *buf)
{
    if (event)
        pt_buf_printf(buf, ", event %" PRIu64, event);
}

static const char *access_word(const struct pt_side *side)
{
    static const struct {
        const char *op, *word, *atomic;
    } names[] = {{"r", "read", "atomic read"},
                 {"w", "write", "atomic write"},
                 {"u", "atomic update", "atomic update"},
                 {"free", "free", "free"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].op, side->step.op) == 0)
            return side->atomic ? names[i].atomic : names[i].word;
    return side->step.op;
}

/* A sentence begins with these words. */
static void put_capital(struct pt_buf *buf, const char *words)
{
    char first = words[0] >= 'a' && words[0] <= 'z' ? (char)(words[0] - 'a' + 'A') : words[0];
    pt_buf_add(buf, &first, 1);
    pt_buf_puts(buf, words + 1);
}

/* One access, in the order of things that users of ThreadSanitizer know. */
static void put_access(const struct pt_side *side, const char *before, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf line, locks;
    pt_buf_init(&line);
    pt_buf_init(&locks);
    list_locks(side, &locks);
    put_capital(&line, before[0] ? before : access_word(side));
    if (before[0])
        pt_buf_printf(&line, " %s", access_word(side));
    if (side->size)
        pt_buf_printf(&line, " of size %" PRIu64, side->size);
    pt_buf_printf(&line, " of %s", side->step.object);
    if (side->address)
        pt_buf_printf(&line, " at 0x%" PRIx64, side->address);
    else
        pt_buf_printf(&line, " at %s", side->step.loc);
    pt_buf_printf(&line, " by thread %s", side->step.thread);
    put_event(side->event, &line);
    pt_buf_printf(&line, ", %s%s:", locks.len ? "locks held: " : "no locks held", locks.len ? locks.text : "");
    pt_words_paragraph(buf, style, 2, 4, "%s", line.text);
    put_calls(side->stack, side->lost, side->step.loc, style, buf);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&line);
    pt_buf_release(&locks);
}

/* The heap block that it is about. */
static void put_block(const struct pt_side *made, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf line;
    pt_buf_init(&line);
    pt_buf_printf(&line, "Location is heap block %s", made->step.object);
    if (made->step.value.kind == PT_VALUE_INT)
        pt_buf_printf(&line, " of %" PRId64 " byte%s", made->step.value.i, made->step.value.i == 1 ? "" : "s");
    bool known = strcmp(made->step.thread, "-") != 0 || made->stack;
    if (known)
        pt_buf_printf(&line, ", allocated at %s by thread %s", made->step.loc, made->step.thread);
    put_event(made->event, &line);
    pt_words_paragraph(buf, style, 2, 4, "%s%s", line.text, known ? ":" : ".");
    if (known)
        put_calls(made->stack, made->lost, made->step.loc, style, buf);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&line);
}

/* Where its threads were created, each once. */
static void put_created(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < finding->side_count; i++) {
        const struct pt_side *side = &finding->sides[i];
        bool again = !side->created && !side->created_lost;
        for (uint32_t k = 0; k < i; k++)
            again |= strcmp(finding->sides[k].step.thread, side->step.thread) == 0;
        if (again)
            continue;
        pt_words_paragraph(buf, style, 2, 4, "Thread %s was created at:", side->step.thread);
        put_calls(side->created, side->created_lost, "", style, buf);
        pt_buf_puts(buf, "\n");
    }
}

/* Between the title and what it is about. "Use of a stopped stack" has its `of` already. */
static const char *headline_word(const struct pt_finding *finding)
{
    if (!pt_check_is_of(finding, "lifetime"))
        return " on";
    return strncmp(pt_check_title(finding), "use of", 6) == 0 ? ":" : " of";
}

void pt_check_what(const struct pt_finding *finding, struct pt_buf *buf)
{
    char *about = pt_words_about(finding);
    pt_buf_printf(buf, "%s%s %s%s", pt_check_title(finding), headline_word(finding), about,
                  finding->how == PT_HOW_PREDICTED ? ", in another order of these events" : "");
    free(about);
}

/* "Data race on x, in another order of these events (seen 3 times)." How often is not known while the program runs. */
static void put_headline(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf line, what;
    pt_buf_init(&line);
    pt_buf_init(&what);
    pt_check_what(finding, &what);
    put_capital(&line, what.text);
    pt_buf_release(&what);
    if (finding->count)
        pt_buf_printf(&line, " (seen %" PRIu64 " time%s)", finding->count, pt_words_plural(finding->count));
    pt_words_paragraph(buf, style, 0, 0, "%s.", line.text);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    pt_buf_release(&line);
}

/* Accesses that must not come together: of a race the later one first. */
static void put_accesses(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    bool race = pt_check_is_of(finding, "race"), happened = race || finding->how == PT_HOW_OBSERVED;
    for (uint32_t i = 0; i < finding->side_count; i++)
        put_access(&finding->sides[race ? finding->side_count - 1 - i : i], happened && i ? "previous" : "", style,
                   buf);
    if (finding->block)
        put_block(finding->block, style, buf);
    put_created(finding, style, buf);
}

/* Who waits for what, and holds what the others wait for. */
static void put_cycle(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < finding->side_count; i++) {
        const struct pt_side *side = &finding->sides[i];
        struct pt_buf line, locks;
        pt_buf_init(&line);
        pt_buf_init(&locks);
        list_locks(side, &locks);
        pt_buf_printf(&line, "Thread %s %s %s", side->step.thread,
                      finding->how == PT_HOW_PREDICTED ? "can wait for" : "waits for", side->step.object);
        if (side->address)
            pt_buf_printf(&line, " (0x%" PRIx64 ")", side->address);
        pt_buf_printf(&line, " at %s", side->step.loc);
        put_event(side->event, &line);
        pt_words_paragraph(buf, style, 2, 4, "%s%s%s:", line.text, locks.len ? ", while it holds " : "",
                           locks.len ? locks.text : "");
        put_calls(side->stack, side->lost, side->step.loc, style, buf);
        pt_buf_puts(buf, "\n");
        pt_buf_release(&line);
        pt_buf_release(&locks);
    }
    put_created(finding, style, buf);
}

enum { WITNESS_SHOWN = 100 }; /* events of it in text */

/* A check of which only its sides are known. */
static void put_others(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    pt_words_paragraph(buf, style, 0, 0, "Check '%s' found a violation%s on %s, %" PRIu64 " time%s.", finding->property,
                       finding->how == PT_HOW_PREDICTED ? " in another order of these events," : "", finding->object,
                       finding->count, pt_words_plural(finding->count));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    pt_buf_puts(buf, "\n");
    for (uint32_t i = 0; i < finding->side_count; i++)
        put_side(&finding->sides[i], i ? "Second:" : finding->side_count > 1 ? "First:" : "At", style, buf);
    if (finding->note)
        pt_words_paragraph(buf, style, 2, 4, "%s.", finding->note);
    uint32_t first = finding->witness_count > WITNESS_SHOWN ? finding->witness_count - WITNESS_SHOWN : 0;
    if (first)
        pt_words_paragraph(buf, style, 2, 4, "The last of the %" PRIu32 " events that show it, one after the other:",
                           finding->witness_count);
    else if (finding->witness_count)
        pt_words_paragraph(buf, style, 2, 4, "The events that show it, one after the other:");
    for (uint32_t i = first; i < finding->witness_count; i++) {
        const struct pt_step *step = &finding->witness[i];
        pt_words_paragraph(buf, style, 4, 6, "%s(%s) by %s (%s)", step->op, step->object, step->thread, step->loc);
    }
}

/* What the program itself predicts (runtime/deadlock); what a recording shows is a run, and has a wider order. */
static bool is_by_locks(const struct pt_finding *finding)
{
    return pt_check_is_of(finding, "deadlock") && finding->how == PT_HOW_PREDICTED && finding->order &&
           strcmp(finding->order, "access") == 0;
}

const char *pt_check_reserve(const struct pt_finding *finding)
{
    if (is_by_locks(finding))
        return PT_FOUND_BY_LOCKS ". 'portent run --order sync' looks at that, too.";
    if (!pt_check_is_of(finding, "lifetime") || !finding->note)
        return NULL;
    bool looks =
        strcmp(finding->note, "null dereference") == 0 || strcmp(finding->note, "use before initialisation") == 0;
    return looks ? "The pointer can be null where it was read. Whether the program looks at it before it uses it "
                   "is not known: if it does, nothing is wrong."
                 : NULL;
}

void pt_check_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->played && strcmp(finding->kind, "schedule") == 0) {
        pt_played_violated(finding, style, buf);
        return;
    }
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    if (!pt_check_title(finding)) {
        put_others(finding, style, buf);
    } else {
        put_headline(finding, style, buf);
        if (pt_check_is_of(finding, "deadlock"))
            put_cycle(finding, style, buf);
        else
            put_accesses(finding, style, buf);
    }
    if (pt_check_reserve(finding)) {
        pt_words_paragraph(buf, style, 2, 2, "%s", pt_check_reserve(finding));
        pt_buf_puts(buf, "\n");
    }
    if (finding->untold)
        pt_words_paragraph(buf, style, 2, 4, "%" PRIu64 " more are not listed.", finding->untold);
    if (finding->played)
        pt_played_shows(finding->played, style, buf);
    pt_violation_summary(finding, style, buf);
}

void pt_check_again(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    uint64_t count = (uint64_t)finding->more_count + 1, times = finding->count;
    for (uint32_t i = 0; i < finding->more_count; i++)
        times += finding->more[i]->count;
    const char *words = finding->file ? "is violated:" : "found";
    pt_words_paragraph(buf, style, 0, 2,
                       "%s '%s' %s %" PRIu64 " violation%s, reported above, %" PRIu64 " time%s in all.",
                       pt_finding_sort(finding), finding->property, words, count, pt_words_plural(count), times,
                       pt_words_plural(times));
    if (finding->untold)
        pt_words_paragraph(buf, style, 2, 4, "%" PRIu64 " more are not listed.", finding->untold);
}

/* ---- JSON ---- */

static void put_texts(struct pt_json *json, const char *key, const char *const *texts)
{
    pt_json_open(json, key, '[');
    for (; texts && *texts; texts++)
        pt_json_string(json, NULL, *texts);
    pt_json_close(json, ']');
}

/* What a side has beside its event and locks, as far as it is known. */
static void put_about(struct pt_json *json, const struct pt_side *side)
{
    char address[24];
    snprintf(address, sizeof address, "0x%" PRIx64, side->address);
    if (side->event)
        pt_json_uint(json, "event", side->event);
    if (side->address)
        pt_json_string(json, "address", address);
    if (side->size)
        pt_json_uint(json, "size", side->size);
    if (side->atomic)
        pt_json_bool(json, "atomic", true);
    put_texts(json, "stack", side->stack);
    if (side->lost)
        pt_json_bool(json, "stack_lost", true);
    if (side->locked_at)
        put_texts(json, "locked_at", side->locked_at);
    if (side->created)
        put_texts(json, "created", side->created);
    if (side->created_lost)
        pt_json_bool(json, "created_lost", true);
}

void pt_json_side(struct pt_json *json, const char *key, const struct pt_side *side)
{
    pt_json_open(json, key, '{');
    pt_json_step(json, &side->step);
    put_about(json, side);
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
        put_about(json, side);
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
    if (finding->note)
        pt_json_string(json, "note", finding->note);
    if (pt_check_reserve(finding))
        pt_json_string(json, "reserve", pt_check_reserve(finding));
    pt_json_string(json, "object", finding->object);
    if (finding->also)
        put_texts(json, "also", finding->also);
    pt_json_uint(json, "count", finding->count);
    if (pt_check_is_of(finding, "deadlock"))
        put_cycle_json(json, finding);
    else
        for (uint32_t i = 0; i < finding->side_count; i++)
            pt_json_side(json, i ? "second" : "first", &finding->sides[i]);
    if (finding->block)
        pt_json_side(json, "block", finding->block);
    pt_json_steps(json, "witness", finding->witness, finding->witness_count);
    pt_json_schedule(json, finding);
    if (finding->played)
        pt_played_json(json, finding->played);
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
