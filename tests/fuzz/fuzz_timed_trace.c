/*
 * Any text trace, as `within` properties and pictures see it: a final verdict stays, whatever follows, gaps included;
 * the finding can be written and read back; the picture and the JSON hold no raw control character.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/analysis.h"
#include "engine/within.h"
#include "report/json.h"
#include "report/perfetto.h"
#include "report/result.h"
#include "report/timeline.h"
#include "trace/source.h"
#include "trace/validate.h"

enum { PROPERTIES = 3 };

static const char text[] = "property alternate within 10ms: always (event(a) -> next (!event(a) until event(b)));\n"
                           "property often within 3 events: always eventually x > 1;\n"
                           "property both within 5ns: always eventually (x > y || event(b));\n";

struct subject {
    struct pt_analysis *analysis;
    struct pt_names names;
};

/* Compiled once: that takes longer than most inputs. */
static const struct pt_analysis_input *compiled(void)
{
    static struct pt_properties *props;
    static struct pt_analysis_input inputs[PROPERTIES];
    struct pt_err err;
    if (props)
        return inputs;
    props = pt_properties_new();
    if (pt_properties_add(props, "fuzz.prop", text, sizeof text - 1, NULL, NULL, &err) != PT_OK)
        abort();
    for (uint32_t i = 0; i < PROPERTIES; i++) {
        inputs[i].property = &props->items[i];
        if (pt_monitor_new(&props->items[i], 1000, &inputs[i].monitor, &err) != PT_OK)
            abort();
    }
    return inputs;
}

static void subject_init(struct subject *s)
{
    struct pt_analysis_options options = {.window = PT_ALL, .lookahead = PT_ALL, .jobs = 1, .trace = "fuzz"};
    pt_names_init(&s->names);
    s->analysis = pt_analysis_new(&s->names, compiled(), PROPERTIES, &options);
}

static void subject_release(struct subject *s)
{
    pt_analysis_free(s->analysis);
    pt_names_release(&s->names);
}

static void expect_harmless(const struct pt_buf *buf)
{
    for (size_t i = 0; i < buf->len; i++)
        if ((unsigned char)buf->text[i] < 0x20 && buf->text[i] != '\n')
            abort();
}

/* One line; some of them, by their number, are followed by a gap. False when the trace ends here. */
static bool take(struct subject *s, const struct pt_event *event)
{
    enum pt_within_verdict before[PROPERTIES];
    struct pt_err err;
    for (uint32_t i = 0; i < PROPERTIES; i++)
        before[i] = pt_within_verdict(pt_analysis_within(s->analysis, i));
    if (pt_analysis_event(s->analysis, event, &err) != PT_OK)
        return false;
    if (event->line % 7 == 5)
        pt_analysis_gap(s->analysis, event->line % 3);
    for (uint32_t i = 0; i < PROPERTIES; i++)
        if (before[i] >= PT_WITHIN_DEAD && pt_within_verdict(pt_analysis_within(s->analysis, i)) != before[i])
            abort();
    return true;
}

static void expect_read_back(struct subject *s)
{
    struct pt_result result = {.trace = "fuzz"};
    struct pt_loaded *loaded;
    struct pt_err err;
    struct pt_buf json;
    pt_buf_init(&json);
    pt_analysis_finish(s->analysis, NULL);
    result.findings = pt_analysis_findings(s->analysis, &result.count);
    pt_report_json(&result, &json);
    expect_harmless(&json);
    if (pt_result_read("fuzz.json", json.text, json.len, &loaded, &err) != PT_OK)
        abort();
    pt_loaded_free(loaded);
    pt_buf_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct subject s;
    struct pt_event event;
    struct pt_err err;
    struct pt_buf json, svg;
    pt_buf_init(&json);
    pt_buf_init(&svg);
    subject_init(&s);
    struct pt_source *reader = pt_source_from_memory("fuzz", data, size, &s.names);
    struct pt_validator *validator = pt_validator_new("fuzz", &s.names);
    struct pt_perfetto *perfetto = pt_perfetto_new("fuzz", &s.names, &json);
    struct pt_timeline *timeline = pt_timeline_new("fuzz", &s.names);
    while (pt_source_next(reader, &event, &err) == PT_READ_EVENT &&
           pt_validator_check(validator, &event, &err) == PT_OK && take(&s, &event)) {
        pt_perfetto_event(perfetto, &event);
        pt_timeline_event(timeline, &event);
    }
    pt_perfetto_finish(perfetto);
    pt_timeline_finish(timeline, &svg);
    expect_harmless(&json);
    expect_harmless(&svg);
    expect_read_back(&s);
    pt_validator_free(validator);
    pt_source_free(reader);
    subject_release(&s);
    pt_buf_release(&json);
    pt_buf_release(&svg);
    return 0;
}
