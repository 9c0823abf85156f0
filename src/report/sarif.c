/*
 * A rule for each property that was checked, and one for causal atomicity; a result for each violation, with the
 * finding's id as its fingerprint and the violating run as a code flow: a thread flow per thread, whose locations carry
 * their place in the whole run (executionOrder). Errors and unknown verdicts are notifications of the invocation.
 * GitHub takes 5,000 results of a run and 1,000 locations of a result; what is more is left out, and the text says so.
 */
#include "report/sarif.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/json_writer.h"
#include "report/place.h"
#include "report/sentence.h"
#include "report/words.h"

enum { MAX_RESULTS = 5000, MAX_FLOW = 1000 };

static const char schema[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

struct sarif {
    struct pt_json json;
    const char *base;
    struct pt_strtab rules; /* the properties that have one, by their index */
};

static void put_text_object(struct pt_json *json, const char *key, const char *text)
{
    pt_json_open(json, key, '{');
    pt_json_string(json, "text", text);
    pt_json_close(json, '}');
}

/* A path as a URI reference (RFC 3986): what it may not hold is percent-encoded. */
static void put_uri(struct sarif *s, const char *path, size_t len)
{
    struct pt_buf uri;
    path = pt_loc_below(s->base, path, &len);
    bool absolute = path[0] == '/';
    pt_buf_init(&uri);
    if (absolute)
        pt_buf_puts(&uri, "file://");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)path[i];
        if (isalnum(c) || (c && strchr("-._~/@+,=", c)))
            pt_buf_add(&uri, path + i, 1);
        else
            pt_buf_printf(&uri, "%%%02X", c);
    }
    pt_json_string(&s->json, "uri", uri.text);
    if (!absolute)
        pt_json_string(&s->json, "uriBaseId", "%SRCROOT%");
    pt_buf_release(&uri);
}

static void put_physical(struct sarif *s, const char *path, size_t len, uint64_t line, uint64_t column)
{
    struct pt_json *json = &s->json;
    pt_json_open(json, "physicalLocation", '{');
    pt_json_open(json, "artifactLocation", '{');
    put_uri(s, path, len);
    pt_json_close(json, '}');
    if (line) {
        pt_json_open(json, "region", '{');
        pt_json_uint(json, "startLine", line);
        if (column)
            pt_json_uint(json, "startColumn", column);
        pt_json_close(json, '}');
    }
    pt_json_close(json, '}');
}

/* The members of a location object for a place of a trace; without a file there is only its text. */
static void put_place(struct sarif *s, const char *loc, const char *message)
{
    struct pt_loc_parts place = pt_loc_parts(loc);
    if (place.line)
        put_physical(s, loc, place.path_len, place.line, place.column);
    if (message)
        put_text_object(&s->json, "message", message);
}

/* ---- the run that violates ---- */

struct flow_step {
    const char *thread, *place;
    char *words;
};

/* The thread flow of one thread: the steps of `steps` that are its own. */
static void put_thread_flow(struct sarif *s, const struct flow_step *steps, uint32_t count, const char *thread)
{
    struct pt_json *json = &s->json;
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "id", thread);
    put_text_object(json, "message", thread);
    pt_json_open(json, "locations", '[');
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(steps[i].thread, thread) != 0)
            continue;
        pt_json_open(json, NULL, '{');
        pt_json_uint(json, "executionOrder", (uint64_t)i + 1);
        pt_json_open(json, "location", '{');
        put_place(s, steps[i].place, steps[i].words);
        pt_json_close(json, '}');
        if (i + 1 == count)
            pt_json_string(json, "importance", "essential");
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
    pt_json_close(json, '}');
}

static void put_code_flow(struct sarif *s, const struct flow_step *steps, uint32_t count, const char *message)
{
    struct pt_json *json = &s->json;
    struct pt_strtab threads;
    pt_strtab_init(&threads);
    pt_json_open(json, "codeFlows", '[');
    pt_json_open(json, NULL, '{');
    put_text_object(json, "message", message);
    pt_json_open(json, "threadFlows", '[');
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = threads.count;
        if (pt_strtab_intern(&threads, steps[i].thread, strlen(steps[i].thread)) == before)
            put_thread_flow(s, steps, count, steps[i].thread);
    }
    pt_json_close(json, ']');
    pt_json_close(json, '}');
    pt_json_close(json, ']');
    pt_strtab_release(&threads);
}

/* The last steps are kept: they hold the violation. */
static void put_witness(struct sarif *s, const struct pt_finding *finding)
{
    uint32_t count = finding->witness_count < MAX_FLOW ? finding->witness_count : MAX_FLOW;
    if (count == 0)
        return;
    struct flow_step *steps = pt_xcalloc(count, sizeof *steps);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_step *step = &finding->witness[finding->witness_count - count + i];
        steps[i] = (struct flow_step){step->thread, step->loc, pt_words_step(step)};
    }
    put_code_flow(s, steps, count, finding->how == PT_HOW_OBSERVED ? "violating run" : "predicted run");
    for (uint32_t i = 0; i < count; i++)
        free(steps[i].words);
    free(steps);
}

/* ---- results ---- */

static char *finding_words(const struct pt_finding *finding)
{
    struct pt_buf buf;
    char *words = pt_sentence_finding(finding);
    pt_buf_init(&buf);
    pt_buf_puts(&buf, words);
    if (finding->witness_count > MAX_FLOW)
        pt_buf_printf(&buf, " Of the run's %" PRIu32 " events the last %d are given.", finding->witness_count,
                      MAX_FLOW);
    free(words);
    return pt_buf_take(&buf);
}

static void put_fingerprint(struct pt_json *json, const char *id)
{
    pt_json_open(json, "partialFingerprints", '{');
    pt_json_string(json, "portentFindingId/v1", id);
    pt_json_close(json, '}');
}

static void put_finding_location(struct sarif *s, const struct pt_finding *finding)
{
    struct pt_json *json = &s->json;
    struct pt_sentence_place place = pt_sentence_place(finding);
    if (!place.path)
        return;
    pt_json_open(json, "locations", '[');
    pt_json_open(json, NULL, '{');
    put_physical(s, place.path, place.len, place.line, place.column);
    pt_json_close(json, '}');
    pt_json_close(json, ']');
}

static void put_related(struct sarif *s, const char *loc, const char *words)
{
    pt_json_open(&s->json, NULL, '{');
    put_place(s, loc, words);
    pt_json_close(&s->json, '}');
}

/* The other sides of what a check found, and where its heap block was allocated. */
static void put_sides(struct sarif *s, const struct pt_finding *finding)
{
    struct pt_json *json = &s->json;
    if (finding->side_count < 2 && !finding->block)
        return;
    pt_json_open(json, "relatedLocations", '[');
    for (uint32_t i = 1; i < finding->side_count; i++) {
        char *words = pt_words_step(&finding->sides[i].step);
        put_related(s, finding->sides[i].step.loc, words);
        free(words);
    }
    if (finding->block) {
        char *words = pt_words_step(&finding->block->step);
        put_related(s, finding->block->step.loc, words);
        free(words);
    }
    pt_json_close(json, ']');
}

/* A call is its function and its place: `f a.c:3`. */
static void put_frame(struct sarif *s, const char *call)
{
    const char *space = strrchr(call, ' ');
    pt_json_open(&s->json, NULL, '{');
    pt_json_open(&s->json, "location", '{');
    put_place(s, space ? space + 1 : "", call);
    pt_json_close(&s->json, '}');
    pt_json_close(&s->json, '}');
}

static void put_stack(struct sarif *s, const char *words, const char *const *calls)
{
    struct pt_json *json = &s->json;
    if (!calls || !*calls)
        return;
    pt_json_open(json, NULL, '{');
    put_text_object(json, "message", words);
    pt_json_open(json, "frames", '[');
    for (; *calls; calls++)
        put_frame(s, *calls);
    pt_json_close(json, ']');
    pt_json_close(json, '}');
}

static void put_step_stack(struct sarif *s, const struct pt_side *side)
{
    char *words = pt_words_step(&side->step);
    put_stack(s, words, side->stack);
    free(words);
}

static bool has_calls(const struct pt_side *side)
{
    return (side->stack && side->stack[0]) || (side->created && side->created[0]);
}

/* The calls of each side, of the heap block's allocation, and of where the threads were created. */
static void put_stacks(struct sarif *s, const struct pt_finding *finding)
{
    struct pt_json *json = &s->json;
    bool any = finding->block && has_calls(finding->block);
    for (uint32_t i = 0; i < finding->side_count; i++)
        any |= has_calls(&finding->sides[i]);
    if (!any)
        return;
    pt_json_open(json, "stacks", '[');
    for (uint32_t i = 0; i < finding->side_count; i++)
        put_step_stack(s, &finding->sides[i]);
    if (finding->block)
        put_step_stack(s, finding->block);
    for (uint32_t i = 0; i < finding->side_count; i++) {
        struct pt_buf words;
        pt_buf_init(&words);
        pt_buf_printf(&words, "thread %s was created", finding->sides[i].step.thread);
        put_stack(s, words.text, finding->sides[i].created);
        pt_buf_release(&words);
    }
    pt_json_close(json, ']');
}

static void put_suppressed(struct pt_json *json, const char *suppressed, bool known, uint32_t times)
{
    if (suppressed) {
        pt_json_open(json, "suppressions", '[');
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "kind", "external");
        pt_json_string(json, "justification", suppressed);
        pt_json_close(json, '}');
        pt_json_close(json, ']');
    }
    if (known)
        pt_json_string(json, "baselineState", "unchanged");
    if (times > 1)
        pt_json_uint(json, "occurrenceCount", times);
}

static void put_finding(struct sarif *s, const struct pt_finding *finding)
{
    struct pt_json *json = &s->json;
    struct pt_finding_id id = pt_finding_id(finding);
    struct pt_buf rule_id;
    char *words = finding_words(finding);
    pt_buf_init(&rule_id);
    pt_buf_printf(&rule_id, "property/%s", finding->property);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "ruleId", rule_id.text);
    pt_json_uint(json, "ruleIndex", pt_strtab_find(&s->rules, finding->property, strlen(finding->property)));
    pt_json_string(json, "level", "error");
    put_text_object(json, "message", words);
    put_finding_location(s, finding);
    put_sides(s, finding);
    put_stacks(s, finding);
    put_fingerprint(json, id.text);
    put_suppressed(json, finding->suppressed, finding->known, finding->times);
    put_witness(s, finding);
    pt_json_close(json, '}');
    pt_buf_release(&rule_id);
    free(words);
}

static void put_block_flow(struct sarif *s, const struct pt_block *block)
{
    uint32_t count = block->step_count < MAX_FLOW ? block->step_count : MAX_FLOW;
    if (count == 0)
        return;
    struct flow_step *steps = pt_xcalloc(count, sizeof *steps);
    char **places = pt_xcalloc(count, sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_block_step *step = &block->steps[block->step_count - count + i];
        struct pt_buf place, words;
        pt_buf_init(&place);
        pt_buf_init(&words);
        pt_buf_printf(&place, "%s:%" PRIu32, step->file, step->line);
        pt_buf_printf(&words, "%s%s%s%s", step->text[0] ? step->text : "a step", step->role[0] ? " (" : "", step->role,
                      step->role[0] ? ")" : "");
        places[i] = pt_buf_take(&place);
        steps[i] = (struct flow_step){step->thread, step->file[0] && step->line ? places[i] : "", pt_buf_take(&words)};
    }
    put_code_flow(s, steps, count, "a run that shows it");
    for (uint32_t i = 0; i < count; i++) {
        free(steps[i].words);
        free(places[i]);
    }
    free(places);
    free(steps);
}

static void put_block(struct sarif *s, const struct pt_block *block)
{
    struct pt_json *json = &s->json;
    struct pt_finding_id id = pt_block_id(block);
    char *words = pt_sentence_block(block);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "ruleId", "causal-atomicity");
    pt_json_uint(json, "ruleIndex", s->rules.count); /* after those of properties */
    pt_json_string(json, "level", "error");
    put_text_object(json, "message", words);
    if (block->file[0]) {
        pt_json_open(json, "locations", '[');
        pt_json_open(json, NULL, '{');
        put_physical(s, block->file, strlen(block->file), block->line, 0);
        pt_json_close(json, '}');
        pt_json_close(json, ']');
    }
    put_fingerprint(json, id.text);
    put_suppressed(json, block->suppressed, block->known, block->times);
    put_block_flow(s, block);
    pt_json_close(json, '}');
    free(words);
}

/* ---- the run ---- */

static void put_rule(struct pt_json *json, const char *id, const char *brief, const char *full)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "id", id);
    put_text_object(json, "shortDescription", brief);
    put_text_object(json, "fullDescription", full);
    pt_json_open(json, "defaultConfiguration", '{');
    pt_json_string(json, "level", "error");
    pt_json_close(json, '}');
    pt_json_close(json, '}');
}

static void put_property_rule(struct pt_json *json, const struct pt_finding *finding)
{
    struct pt_buf id, brief;
    pt_buf_init(&id);
    pt_buf_init(&brief);
    pt_buf_printf(&id, "property/%s", finding->property);
    pt_buf_printf(&brief, finding->builtin && !finding->file ? "Built-in check '%s' (%s)" : "Property '%s' (%s)",
                  finding->property, finding->kind);
    put_rule(json, id.text, brief.text, finding->text && finding->text[0] ? finding->text : brief.text);
    pt_buf_release(&id);
    pt_buf_release(&brief);
}

static void put_driver(struct sarif *s, const struct pt_loaded *loaded)
{
    struct pt_json *json = &s->json;
    pt_json_open(json, "tool", '{');
    pt_json_open(json, "driver", '{');
    pt_json_string(json, "name", "Portent");
    pt_json_string(json, "version", PORTENT_VERSION);
    pt_json_open(json, "rules", '[');
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        uint32_t before = s->rules.count;
        if (pt_strtab_intern(&s->rules, finding->property, strlen(finding->property)) == before)
            put_property_rule(json, finding);
    }
    if (loaded->is_model || loaded->block_count)
        put_rule(json, "causal-atomicity", "A block that is not causally atomic",
                 "An event of another thread can come causally after one step of the block and before another.");
    pt_json_close(json, ']');
    pt_json_close(json, '}');
    pt_json_close(json, '}');
}

static void put_notification(struct pt_json *json, const char *level, const char *text)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "level", level);
    put_text_object(json, "message", text);
    pt_json_close(json, '}');
}

static void put_invocation(struct sarif *s, const struct pt_loaded *loaded, uint32_t left_out)
{
    struct pt_json *json = &s->json;
    bool failed = false;
    pt_json_open(json, "invocations", '[');
    pt_json_open(json, NULL, '{');
    pt_json_open(json, "toolExecutionNotifications", '[');
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        bool error = finding->verdict == PT_VERDICT_ERROR;
        if (!error && finding->verdict != PT_VERDICT_UNKNOWN)
            continue;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "%s '%s' %s: %s.", pt_finding_sort(finding), finding->property,
                      error ? "cannot be evaluated" : "is unknown",
                      finding->message ? finding->message : "no reason given");
        put_notification(json, error ? "error" : "warning", text.text);
        pt_buf_release(&text);
        failed |= error;
    }
    if (left_out) {
        char text[128];
        snprintf(text, sizeof text, "%" PRIu32 " more violations are left out: %d are given.", left_out, MAX_RESULTS);
        put_notification(json, "warning", text);
    }
    pt_json_close(json, ']');
    pt_json_bool(json, "executionSuccessful", !failed);
    pt_json_close(json, '}');
    pt_json_close(json, ']');
}

void pt_report_sarif(const struct pt_loaded *loaded, const char *base, struct pt_buf *buf)
{
    struct sarif s = {.json = {.buf = buf}, .base = base};
    struct pt_json *json = &s.json;
    uint32_t given = 0, left_out = 0;
    pt_strtab_init(&s.rules);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "$schema", schema);
    pt_json_string(json, "version", "2.1.0");
    pt_json_open(json, "runs", '[');
    pt_json_open(json, NULL, '{');
    put_driver(&s, loaded);
    pt_json_open(json, "results", '[');
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        if (loaded->result.findings[i]->verdict != PT_VERDICT_VIOLATED)
            continue;
        if (given++ < MAX_RESULTS)
            put_finding(&s, loaded->result.findings[i]);
        else
            left_out++;
    }
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        if (!pt_block_violated(&loaded->blocks[i]))
            continue;
        if (given++ < MAX_RESULTS)
            put_block(&s, &loaded->blocks[i]);
        else
            left_out++;
    }
    pt_json_close(json, ']');
    put_invocation(&s, loaded, left_out);
    pt_json_string(json, "columnKind", "utf16CodeUnits");
    pt_json_close(json, '}');
    pt_json_close(json, ']');
    pt_json_close(json, '}');
    pt_buf_puts(buf, "\n");
    pt_strtab_release(&s.rules);
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    pt_report_sarif(loaded, context->folder, buf);
}

const struct pt_report_format pt_report_format_sarif = {
    .name = "sarif",
    .from_result = from_result,
};
