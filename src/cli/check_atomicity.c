#include "cli/check_atomicity.h"

#include <inttypes.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/file.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "engine/atomicity.h"
#include "report/json_writer.h"
#include "trace/reader.h"
#include "trace/validate.h"

struct run {
    const struct pt_check_blocks *check;
    struct pt_names names;
    struct pt_run_blocks *blocks;
    bool torn, interrupted;
    uint64_t started;
};

static enum pt_status feed(struct run *run, struct pt_err *err)
{
    struct pt_reader *reader;
    enum pt_status status = pt_reader_open(run->check->trace, &run->names, &reader, err);
    if (status != PT_OK)
        return status;
    struct pt_validator *validator = pt_validator_new(pt_reader_label(reader), &run->names);
    run->blocks = pt_run_blocks_new(pt_reader_label(reader), &run->names);
    struct pt_event event;
    enum pt_read read = PT_READ_EVENT;
    while (status == PT_OK && !pt_interrupted() && (read = pt_reader_next(reader, &event, err)) == PT_READ_EVENT) {
        status = pt_validator_check(validator, &event, err);
        if (status == PT_OK)
            status = pt_run_blocks_event(run->blocks, &event, err);
    }
    if (read == PT_READ_ERROR)
        status = err->status;
    run->torn = read == PT_READ_TORN;
    run->interrupted = read == PT_READ_EVENT && status == PT_OK;
    if (run->torn && !run->check->quiet)
        pt_diag_warning(err);
    pt_validator_free(validator);
    pt_reader_free(reader);
    return status;
}

/* ---- JSON */

static void put_event(const struct run *run, struct pt_json *json, const struct pt_event *event, const char *role)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "thread", pt_name(&run->names, PT_SPACE_THREAD, event->thread));
    pt_json_string(json, "op", pt_op_word(event->op));
    pt_json_string(json, "object", pt_name(&run->names, pt_op_space(event->op), event->object));
    if (event->value.kind != PT_VALUE_UNKNOWN && event->value.kind != PT_VALUE_STRING)
        pt_json_value(json, "value", event->value);
    pt_json_string(json, "loc", pt_name(&run->names, PT_SPACE_LOC, event->loc));
    pt_json_uint(json, "line", event->line);
    pt_json_string(json, "role", role);
    pt_json_close(json, '}');
}

static void put_json(const struct run *run, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    uint32_t count;
    const struct pt_run_block *all = pt_run_blocks_all(run->blocks, &count);
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_json_string(&json, "trace", run->check->trace);
    pt_json_uint(&json, "events", pt_run_blocks_events(run->blocks));
    pt_json_uint(&json, "threads", run->names.space[PT_SPACE_THREAD].count);
    pt_json_bool(&json, "complete", !run->torn && !run->interrupted);
    pt_json_open(&json, "blocks", '[');
    for (uint32_t i = 0; i < count; i++) {
        pt_json_open(&json, NULL, '{');
        pt_json_string(&json, "thread", pt_name(&run->names, PT_SPACE_THREAD, all[i].thread));
        pt_json_string(&json, "name", pt_name(&run->names, PT_SPACE_BLOCK, all[i].block));
        pt_json_uint(&json, "occurrences", all[i].occurrences);
        pt_json_uint(&json, "violated", all[i].violated);
        pt_json_bool(&json, "causally_atomic", all[i].violated == 0);
        pt_json_open(&json, "witness", '[');
        if (all[i].violated) {
            put_event(run, &json, &all[i].begin, "begin");
            put_event(run, &json, &all[i].foreign, "foreign");
            put_event(run, &json, &all[i].later, "later");
        }
        pt_json_close(&json, ']');
        pt_json_close(&json, '}');
    }
    pt_json_close(&json, ']');
    pt_json_seconds(&json, "seconds", (double)(pt_progress_now() - run->started) / 1e9);
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}

/* ---- text */

static void say_event(const struct run *run, const struct pt_event *event, const char *what, struct pt_buf *buf)
{
    const char *texts[] = {pt_name(&run->names, PT_SPACE_THREAD, event->thread),
                           "|",
                           pt_op_word(event->op),
                           "(",
                           pt_name(&run->names, pt_op_space(event->op), event->object),
                           ")|",
                           pt_name(&run->names, PT_SPACE_LOC, event->loc)};
    pt_buf_printf(buf, "  line %" PRIu64 ": ", event->line);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pt_style_clean(buf, texts[i], strlen(texts[i]));
    pt_buf_printf(buf, "  <- %s\n", what);
}

static void say(const struct run *run, struct pt_buf *buf)
{
    uint32_t count, violated = 0;
    const struct pt_run_block *all = pt_run_blocks_all(run->blocks, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_run_block *b = &all[i];
        const char *thread = pt_name(&run->names, PT_SPACE_THREAD, b->thread);
        const char *name = pt_name(&run->names, PT_SPACE_BLOCK, b->block);
        pt_buf_puts(buf, "block '");
        pt_style_clean(buf, name, strlen(name));
        pt_buf_puts(buf, "' of ");
        pt_style_clean(buf, thread, strlen(thread));
        violated += b->violated > 0;
        if (b->violated == 0) {
            pt_buf_printf(buf, ": causally atomic in this run (began %" PRIu64 " time%s)\n", b->occurrences,
                          b->occurrences == 1 ? "" : "s");
            continue;
        }
        pt_buf_printf(buf, ": not causally atomic %" PRIu64 " of %" PRIu64 " times; first:\n", b->violated,
                      b->occurrences);
        say_event(run, &b->begin, "the block begins", buf);
        say_event(run, &b->foreign, "another thread, causally after the begin", buf);
        say_event(run, &b->later, "the block again, causally after that", buf);
    }
    pt_buf_printf(buf, "%u block%s: %u causally atomic in this run, %u not%s\n", count, count == 1 ? "" : "s",
                  count - violated, violated,
                  run->torn || run->interrupted ? " (the trace was not read to its end)" : "");
}

static int finish(struct run *run)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (run->check->json)
        put_json(run, &buf);
    else if (!run->check->quiet)
        say(run, &buf);
    bool written = pt_output(&buf);
    pt_buf_release(&buf);
    if (!written)
        return PT_EXIT_BAD;
    uint32_t count;
    const struct pt_run_block *all = pt_run_blocks_all(run->blocks, &count);
    for (uint32_t i = 0; i < count; i++)
        if (all[i].violated)
            return PT_EXIT_VIOLATED;
    return run->torn || run->interrupted ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
}

int pt_check_atomicity(const struct pt_check_blocks *check)
{
    struct run run = {.check = check, .started = pt_progress_now()};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_names_init(&run.names);
    pt_interrupt_catch();
    if (feed(&run, &err) == PT_OK) {
        exit_status = finish(&run);
    } else {
        pt_file_show_line(check->trace, &err);
        pt_diag_error(&err);
    }
    if (run.blocks)
        pt_run_blocks_free(run.blocks);
    pt_names_release(&run.names);
    return exit_status;
}
