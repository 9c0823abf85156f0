/*
 * Verdicts of `portent model`, as text and as JSON (contract section 4). Nothing is decided here: both forms are made
 * from the same blocks, so they cannot disagree. Linear in the program and its witnesses.
 */
#include "cli/model/output.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/common/triage.h"
#include "report/blocks.h"
#include "report/json.h"
#include "report/words.h"

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
                      const struct pt_block_verdict *verdict, const struct pt_block *reported, bool all)
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
    pt_blocks_json_suppressed(reported, json);
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

static void put_unknowns(struct pt_json *json, const struct pt_program *program)
{
    pt_json_open(json, "unknown_functions", '[');
    for (uint32_t i = 0; i < program->unknown_count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "name", program->unknowns[i].name);
        put_place(json, &program->unknowns[i].place);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

void pt_model_json(const struct pt_model_reported *reported, bool all, const struct pt_model_figures *figures,
                   struct pt_buf *buf)
{
    const struct pt_program *program = reported->program;
    const struct pt_atomicity *result = reported->result;
    struct pt_json json = {.buf = buf};
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_json_open(&json, "blocks", '[');
    for (uint32_t b = 0; b < program->block_count; b++)
        put_block(&json, program, &program->blocks[b], &result->blocks[b], &reported->blocks[b], all);
    pt_json_close(&json, ']');
    pt_json_open(&json, "threads", '['); /* their names */
    for (uint32_t t = 0; t < program->thread_count; t++)
        pt_json_string(&json, NULL, program->threads[t].name);
    pt_json_close(&json, ']');
    if (program->note_count)
        put_notes(&json, program);
    if (program->unknown_count)
        put_unknowns(&json, program);
    if (result->limit)
        pt_json_string(&json, "message", result->limit);
    pt_json_open(&json, "net", '{');
    pt_json_uint(&json, "places", result->places);
    pt_json_uint(&json, "transitions", result->transitions);
    pt_json_close(&json, '}');
    pt_json_open(&json, "unfolding", '{');
    pt_json_uint(&json, "conditions", result->conditions);
    pt_json_uint(&json, "events", result->events);
    pt_json_uint(&json, "histories", result->histories);
    pt_json_uint(&json, "cutoffs", result->cutoffs);
    pt_json_close(&json, '}');
    pt_report_json_suppressions(&reported->suppressions, &json);
    pt_json_seconds(&json, "seconds", figures->seconds);
    pt_json_uint(&json, "peak_bytes", figures->peak_bytes);
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

static struct pt_block block_of(const struct pt_program *program, uint32_t index,
                                const struct pt_block_verdict *verdict)
{
    const struct pt_prog_block *block = &program->blocks[index];
    return (struct pt_block){.thread = block->thread + 1,
                             .number = block->number,
                             .line = block->place.line,
                             .column = block->place.column,
                             .thread_name = program->threads[block->thread].name,
                             .name = text_or_none(block->name),
                             .file = text_or_none(block->place.file),
                             .atomic = verdict->atomic == PT_ATOMIC_YES,
                             .unknown = verdict->atomic == PT_ATOMIC_UNKNOWN};
}

static void put_run(const struct pt_program *program, const struct pt_witness *witness, const struct pt_style *style,
                    struct pt_buf *buf)
{
    struct pt_block_step *steps = pt_xcalloc((size_t)witness->count + 1, sizeof *steps);
    for (uint32_t i = 0; i < witness->count; i++) {
        const struct pt_prog_step *step = &program->steps[witness->events[i].step];
        steps[i] = (struct pt_block_step){.thread = program->threads[step->thread].name,
                                          .text = step->text,
                                          .role = role_word(witness->events[i].role),
                                          .file = text_or_none(step->place.file),
                                          .loc = "",
                                          .line = step->place.line};
    }
    pt_blocks_run(steps, witness->count, false, style, buf);
    free(steps);
}

static void put_notes_text(const struct pt_program *program, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < program->note_count; i++) {
        const struct pt_source_place *place = &program->notes[i].place;
        if (place->file && place->line)
            pt_words_paragraph(buf, style, 0, 2, "%s:%u:%u: note: %s", place->file, place->line, place->column,
                               program->notes[i].text);
        else
            pt_words_paragraph(buf, style, 0, 2, "note: %s", program->notes[i].text);
    }
}

/* Each function of which nothing is known, where it is called first. */
static void put_unknowns_text(const struct pt_program *program, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < program->unknown_count; i++) {
        const struct pt_prog_unknown *unknown = &program->unknowns[i];
        pt_words_paragraph(
            buf, style, 0, 2, "%s:%u:%u: note: '%s' has no source here, and is not known%s",
            text_or_none(unknown->place.file), unknown->place.line, unknown->place.column, unknown->name,
            unknown->runs
                ? "; it may run functions of the program or use what it is handed, at any time and in any thread"
                : "");
    }
}

struct pt_block *pt_model_blocks(const struct pt_program *program, const struct pt_atomicity *result)
{
    struct pt_block *blocks = pt_xcalloc((size_t)program->block_count + 1, sizeof *blocks);
    for (uint32_t b = 0; b < program->block_count; b++)
        blocks[b] = block_of(program, b, &result->blocks[b]);
    return blocks;
}

void pt_model_text(const struct pt_model_reported *reported, const struct pt_style *style, struct pt_buf *buf)
{
    const struct pt_program *program = reported->program;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct pt_block_verdict *verdict = &reported->result->blocks[b];
        const struct pt_block *block = &reported->blocks[b];
        pt_blocks_verdict(block, style, buf);
        for (uint32_t i = 0; pt_block_counts(block) && i < verdict->witness_count; i++)
            put_run(program, &verdict->witnesses[i], style, buf);
        if (pt_block_counts(block))
            pt_blocks_summary(block, style, buf);
    }
    put_notes_text(program, style, buf);
    put_unknowns_text(program, style, buf);
    pt_blocks_count(reported->blocks, program->block_count, reported->result->limit, style, buf);
    pt_triage_text(&reported->suppressions, style, buf);
}
