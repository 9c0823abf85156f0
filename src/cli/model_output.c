/* Verdicts of `portent model`, as text and as JSON (contract section 4). */
#include "cli/model_output.h"

#include <string.h>

#include "base/table.h"
#include "report/json_writer.h"

static const char *kind_word(const struct pt_prog_step *step)
{
    static const char *const words[] = {
        [PT_STEP_PLAIN] = "step",  [PT_STEP_ACQUIRE] = "acquire", [PT_STEP_RELEASE] = "release",
        [PT_STEP_BEGIN] = "begin", [PT_STEP_END] = "end",         [PT_STEP_SPAWN] = "spawn",
        [PT_STEP_JOIN] = "join",
    };
    return words[step->kind];
}

static const char *role_word(uint8_t role)
{
    static const char *const words[] = {[PT_WITNESS_OTHER] = "other",
                                        [PT_WITNESS_BEGIN] = "begin",
                                        [PT_WITNESS_FOREIGN] = "foreign",
                                        [PT_WITNESS_LATER] = "later"};
    return words[role];
}

static void put_place(struct pt_json *json, const struct pt_source_place *place)
{
    if (place->file)
        pt_json_string(json, "file", place->file);
    pt_json_uint(json, "line", place->line);
    if (place->column)
        pt_json_uint(json, "column", place->column);
}

static void put_witness(struct pt_json *json, const char *key, const struct pt_program *program,
                        const struct pt_witness *witness)
{
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; witness && i < witness->count; i++) {
        const struct pt_witness_event *event = &witness->events[i];
        const struct pt_prog_step *step = &program->steps[event->step];
        pt_json_open(json, NULL, '{');
        pt_json_uint(json, "thread", step->thread + 1);
        pt_json_string(json, "op", kind_word(step));
        pt_json_string(json, "text", step->text);
        put_place(json, &step->place);
        pt_json_string(json, "role", role_word(event->role));
        pt_json_open(json, "after", '['); /* numbers of its immediate causes, from 0 */
        for (uint32_t k = 0; k < event->cause_count; k++)
            pt_json_uint(json, NULL, event->causes[k]);
        pt_json_close(json, ']');
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_block(struct pt_json *json, const struct pt_program *program, const struct pt_prog_block *block,
                      const struct pt_block_verdict *verdict, bool all)
{
    pt_json_open(json, NULL, '{');
    pt_json_uint(json, "thread", block->thread + 1);
    pt_json_uint(json, "block", block->number);
    if (block->name)
        pt_json_string(json, "name", block->name);
    put_place(json, &block->place);
    if (verdict->atomic == PT_ATOMIC_UNKNOWN)
        pt_json_null(json, "causally_atomic");
    else
        pt_json_bool(json, "causally_atomic", verdict->atomic == PT_ATOMIC_YES);
    put_witness(json, "witness", program, verdict->witness_count ? &verdict->witnesses[0] : NULL);
    if (all) {
        pt_json_open(json, "witnesses", '[');
        for (uint32_t i = 0; i < verdict->witness_count; i++)
            put_witness(json, NULL, program, &verdict->witnesses[i]);
        pt_json_close(json, ']');
    }
    pt_json_close(json, '}');
}

static void put_notes(struct pt_json *json, const struct pt_program *program)
{
    pt_json_open(json, "notes", '[');
    for (uint32_t i = 0; i < program->note_count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "text", program->notes[i].text);
        put_place(json, &program->notes[i].place);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

void pt_model_json(const struct pt_program *program, const struct pt_atomicity *result, bool all,
                   const struct pt_model_figures *figures, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_json_open(&json, "blocks", '[');
    for (uint32_t b = 0; b < program->block_count; b++)
        put_block(&json, program, &program->blocks[b], &result->blocks[b], all);
    pt_json_close(&json, ']');
    if (program->note_count)
        put_notes(&json, program);
    if (result->limit)
        pt_json_string(&json, "message", result->limit);
    pt_json_open(&json, "net", '{');
    pt_json_uint(&json, "places", result->places);
    pt_json_uint(&json, "transitions", result->transitions);
    pt_json_close(&json, '}');
    pt_json_open(&json, "unfolding", '{');
    pt_json_uint(&json, "conditions", result->conditions);
    pt_json_uint(&json, "events", result->events);
    pt_json_uint(&json, "cutoffs", result->cutoffs);
    pt_json_close(&json, '}');
    pt_json_seconds(&json, "seconds", figures->seconds);
    pt_json_uint(&json, "peak_bytes", figures->peak_bytes);
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

static void put_at(const struct pt_source_place *place, struct pt_buf *buf)
{
    if (place->file && place->line) {
        pt_style_clean(buf, place->file, strlen(place->file));
        pt_buf_printf(buf, ":%u:%u: ", place->line, place->column);
    }
}

static void put_event(const struct pt_program *program, const struct pt_witness_event *event,
                      const struct pt_style *style, struct pt_buf *buf)
{
    static const char *const marks[] = {[PT_WITNESS_OTHER] = "",
                                        [PT_WITNESS_BEGIN] = "<- the block begins",
                                        [PT_WITNESS_FOREIGN] = "<- another thread, after that",
                                        [PT_WITNESS_LATER] = "<- the block again, after it"};
    enum { NAME_COLUMNS = 14, TEXT_COLUMNS = 26 }; /* with the marks: 80 */
    const struct pt_prog_step *step = &program->steps[event->step];
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_buf_puts(&clean, "");
    bool marked = event->role != PT_WITNESS_OTHER;
    pt_buf_printf(buf, "  %s", pt_style_color(style, marked ? PT_COLOR_BOLD : PT_COLOR_RESET));
    pt_style_clean(&clean, program->threads[step->thread].name, strlen(program->threads[step->thread].name));
    pt_style_fit(buf, clean.text, NAME_COLUMNS, PT_CUT_END);
    pt_buf_printf(buf, " %5u  ", step->place.line);
    clean.len = 0;
    pt_style_clean(&clean, step->text, strlen(step->text));
    if (marked) {
        pt_style_fit(buf, clean.text, clean.len > TEXT_COLUMNS ? clean.len : TEXT_COLUMNS, PT_CUT_END);
        pt_buf_printf(buf, " %s", marks[event->role]);
    } else {
        pt_buf_puts(buf, clean.text);
    }
    pt_buf_printf(buf, "%s\n", pt_style_color(style, PT_COLOR_RESET));
    pt_buf_release(&clean);
}

static void put_verdict(const struct pt_program *program, const struct pt_prog_block *block,
                        const struct pt_block_verdict *verdict, const struct pt_style *style, struct pt_buf *buf)
{
    put_at(&block->place, buf);
    pt_buf_printf(buf, "block %u of ", block->number);
    const char *thread = program->threads[block->thread].name;
    pt_style_clean(buf, thread, strlen(thread));
    if (block->name) {
        pt_buf_puts(buf, ", '");
        pt_style_clean(buf, block->name, strlen(block->name));
        pt_buf_puts(buf, "'");
    }
    if (verdict->atomic == PT_ATOMIC_YES) {
        pt_buf_printf(buf, ": %scausally atomic%s\n", pt_style_color(style, PT_COLOR_GREEN),
                      pt_style_color(style, PT_COLOR_RESET));
    } else if (verdict->atomic == PT_ATOMIC_UNKNOWN) {
        pt_buf_printf(buf, ": %sunknown%s\n", pt_style_color(style, PT_COLOR_YELLOW),
                      pt_style_color(style, PT_COLOR_RESET));
    } else {
        pt_buf_printf(buf, ": %snot causally atomic%s; the guards' values were not considered\n",
                      pt_style_color(style, PT_COLOR_RED), pt_style_color(style, PT_COLOR_RESET));
    }
}

static void put_run(const struct pt_program *program, const struct pt_witness *witness, const struct pt_style *style,
                    struct pt_buf *buf)
{
    pt_buf_puts(buf, "  In every run that is equivalent to this one another thread comes in between:\n"
                     "  thread          line  step\n");
    for (uint32_t i = 0; i < witness->count; i++)
        put_event(program, &witness->events[i], style, buf);
    pt_buf_puts(buf, "\n");
}

static void put_summary(const struct pt_program *program, const struct pt_atomicity *result, struct pt_buf *buf)
{
    uint32_t counts[3] = {0};
    if (program->block_count == 0) {
        pt_buf_puts(buf, "0 blocks: no begin and end (in C: portent_begin, portent_end) mark any\n");
        return;
    }
    for (uint32_t b = 0; b < program->block_count; b++)
        counts[result->blocks[b].atomic]++;
    pt_buf_printf(buf, "%u block%s: %u causally atomic, %u not", program->block_count,
                  program->block_count == 1 ? "" : "s", counts[PT_ATOMIC_YES], counts[PT_ATOMIC_NO]);
    if (counts[PT_ATOMIC_UNKNOWN])
        pt_buf_printf(buf, ", %u unknown (%s)", counts[PT_ATOMIC_UNKNOWN], result->limit);
    pt_buf_puts(buf, "\n");
}

void pt_model_text(const struct pt_program *program, const struct pt_atomicity *result, const struct pt_style *style,
                   struct pt_buf *buf)
{
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct pt_block_verdict *verdict = &result->blocks[b];
        put_verdict(program, &program->blocks[b], verdict, style, buf);
        for (uint32_t i = 0; i < verdict->witness_count; i++)
            put_run(program, &verdict->witnesses[i], style, buf);
    }
    for (uint32_t i = 0; i < program->note_count; i++) {
        put_at(&program->notes[i].place, buf);
        pt_buf_puts(buf, "note: ");
        pt_style_clean(buf, program->notes[i].text, strlen(program->notes[i].text));
        pt_buf_puts(buf, "\n");
    }
    put_summary(program, result, buf);
}
