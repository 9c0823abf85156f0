/*
 * Steps have an order and no times, so time counts steps: step k takes microsecond k. Arrows (flow events) go from the
 * event that a clock entry newly refers to. Cost: events times threads.
 */
#include "report/perfetto_run.h"

#include <stdlib.h>
#include <string.h>

#include "order/counts.h"
#include "report/json_writer.h"
#include "report/words.h"

struct run {
    struct pt_json *json;
    const struct pt_finding *finding;
    const struct pt_step *steps;
    uint32_t count;
    uint64_t process;
    uint64_t *flow; /* of the next arrow, over all runs */
};

static void open_event(const struct run *run, const char *phase, const char *name, uint64_t thread)
{
    pt_json_open(run->json, NULL, '{');
    pt_json_string(run->json, "ph", phase);
    pt_json_string(run->json, "name", name);
    pt_json_uint(run->json, "pid", run->process);
    pt_json_uint(run->json, "tid", thread);
}

static void put_name(const struct run *run, const char *what, uint64_t thread, const char *name)
{
    open_event(run, "M", what, thread);
    pt_json_open(run->json, "args", '{');
    pt_json_string(run->json, "name", name);
    pt_json_close(run->json, '}');
    pt_json_close(run->json, '}');
}

static void put_step(const struct run *run, uint32_t i)
{
    const struct pt_step *step = &run->steps[i];
    char *words = pt_words_step(step);
    open_event(run, "X", words, (uint64_t)step->thread_index + 1);
    pt_json_uint(run->json, "ts", i);
    pt_json_uint(run->json, "dur", 1);
    pt_json_open(run->json, "args", '{');
    pt_json_uint(run->json, "step", (uint64_t)i + 1);
    pt_json_string(run->json, "place", step->loc);
    pt_json_close(run->json, '}');
    pt_json_close(run->json, '}');
    free(words);
    bool number = step->value.kind == PT_VALUE_INT || step->value.kind == PT_VALUE_UINT ||
                  step->value.kind == PT_VALUE_FLOAT || step->value.kind == PT_VALUE_BOOL;
    if (step->var == PT_NONE || step->var >= run->finding->value_count || !number)
        return;
    open_event(run, "C", run->finding->initial[step->var].name, 0);
    pt_json_uint(run->json, "ts", i);
    pt_json_open(run->json, "args", '{');
    pt_json_value(run->json, "value", step->value.kind == PT_VALUE_BOOL ? pt_value_int(step->value.i) : step->value);
    pt_json_close(run->json, '}');
    pt_json_close(run->json, '}');
}

static void put_flow(const struct run *run, const char *phase, uint32_t i)
{
    open_event(run, phase, "happens before", (uint64_t)run->steps[i].thread_index + 1);
    pt_json_string(run->json, "cat", "order");
    pt_json_uint(run->json, "id", *run->flow);
    pt_json_uint(run->json, "ts", i);
    if (phase[0] == 'f')
        pt_json_string(run->json, "bp", "e");
    pt_json_close(run->json, '}');
}

/* Where each event stands in the run: a thread's events follow each other in it without gaps. */
struct places {
    uint64_t *first;             /* per thread: its first event's number in the thread, 0: it has none here */
    uint32_t *start;             /* per thread: where its events begin in `at` */
    uint32_t *at;                /* steps */
    const struct pt_step **last; /* per thread: its latest event so far */
};

static void places_init(struct places *places, const struct run *run)
{
    uint32_t threads = run->finding->thread_count, *filled = pt_xcalloc((size_t)threads + 1, sizeof *filled);
    places->first = pt_xcalloc((size_t)threads + 1, sizeof *places->first);
    places->start = pt_xcalloc((size_t)threads + 2, sizeof *places->start);
    places->at = pt_xcalloc((size_t)run->count + 1, sizeof *places->at);
    places->last = pt_xcalloc((size_t)threads + 1, sizeof *places->last);
    for (uint32_t i = 0; i < run->count; i++)
        places->start[run->steps[i].thread_index + 1]++;
    for (uint32_t t = 0; t < threads; t++)
        places->start[t + 1] += places->start[t];
    for (uint32_t i = 0; i < run->count; i++) {
        const struct pt_step *step = &run->steps[i];
        uint32_t t = step->thread_index;
        if (!filled[t])
            places->first[t] = step->clock[t];
        places->at[places->start[t] + filled[t]++] = i;
    }
    free(filled);
}

static void places_release(struct places *places)
{
    free(places->first);
    free(places->start);
    free(places->at);
    free(places->last);
}

/* The step that is a thread's event of that number; PT_NONE when it lies before this run. */
static uint32_t step_of(const struct places *places, uint32_t thread, uint64_t number)
{
    uint64_t count = places->start[thread + 1] - places->start[thread], first = places->first[thread];
    return count && number >= first && number - first < count ? places->at[places->start[thread] + number - first]
                                                              : PT_NONE;
}

/* From the latest events that a step follows, and the step before it in its own thread does not. */
static void put_arrows(const struct run *run)
{
    struct places places;
    places_init(&places, run);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct pt_step *step = &run->steps[i], *before = places.last[step->thread_index];
        for (uint32_t t = 0; t < run->finding->thread_count; t++) {
            uint64_t news = pt_counts_news(step->clock, before ? before->clock : NULL, t);
            if (t == step->thread_index || !news)
                continue;
            uint32_t cause = step_of(&places, t, news);
            if (cause >= i)
                continue;
            put_flow(run, "s", cause);
            put_flow(run, "f", i);
            ++*run->flow;
        }
        places.last[step->thread_index] = step;
    }
    places_release(&places);
}

static void put_run(const struct run *run, const char *name)
{
    struct pt_buf title;
    pt_buf_init(&title);
    pt_buf_printf(&title, "%s: %s", run->finding->property, name);
    put_name(run, "process_name", 0, title.text);
    for (uint32_t t = 0; t < run->finding->thread_count; t++)
        put_name(run, "thread_name", (uint64_t)t + 1, run->finding->threads[t]);
    for (uint32_t i = 0; i < run->count; i++)
        put_step(run, i);
    put_arrows(run);
    pt_buf_release(&title);
}

void pt_report_perfetto_runs(const struct pt_loaded *loaded, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    uint64_t process = 1, flow = 1;
    pt_json_open(&json, NULL, '{');
    pt_json_string(&json, "displayTimeUnit", "ns");
    pt_json_open(&json, "traceEvents", '[');
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (finding->verdict != PT_VERDICT_VIOLATED || !finding->threads || finding->witness_count == 0)
            continue;
        struct run run = {&json, finding, finding->witness, finding->witness_count, process++, &flow};
        put_run(&run, finding->how == PT_HOW_OBSERVED ? "violating run" : "predicted run");
        run.steps = finding->actual;
        run.count = finding->actual_count;
        run.process = process++;
        put_run(&run, "your run");
    }
    pt_json_close(&json, ']');
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}
