/*
 * What `check --atomicity` found about the atomic blocks of a run, as JSON and, through blocks.c, as text. Both are
 * made from the same findings. Linear in the blocks and their events.
 */
#include "report/atomicity.h"

#include <inttypes.h>
#include <string.h>

#include "report/blocks.h"
#include "report/json_detail.h"
#include "report/place.h"
#include "report/words.h"

static const char *role_word(enum pt_block_role role)
{
    static const char *const words[] = {[PT_BLOCK_OTHER] = "other",
                                        [PT_BLOCK_BEGIN] = "begin",
                                        [PT_BLOCK_FOREIGN] = "foreign",
                                        [PT_BLOCK_LATER] = "later"};
    return words[role];
}

/* "file" and "line", as `model` has them, where the place is of that form; "loc" in any case. */
static void put_place(struct pt_json *json, const char *loc)
{
    struct pt_loc_parts place = pt_loc_parts(loc);
    pt_json_string(json, "loc", loc);
    if (!place.line)
        return;
    struct pt_buf path;
    pt_buf_init(&path);
    pt_buf_add(&path, loc, place.path_len);
    pt_json_string(json, "file", path.text);
    pt_json_uint(json, "line", place.line);
    if (place.column)
        pt_json_uint(json, "column", place.column);
    pt_buf_release(&path);
}

static void put_event(struct pt_json *json, const struct pt_block_event *event, uint32_t index)
{
    const struct pt_step *step = &event->step;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s(%s)", step->op, step->object);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "thread", step->thread);
    pt_json_string(json, "op", step->op);
    pt_json_string(json, "object", step->object);
    if (step->value.kind != PT_VALUE_UNKNOWN)
        pt_json_value(json, "value", step->value);
    pt_json_string(json, "text", text.text);
    put_place(json, step->loc);
    pt_json_string(json, "role", role_word(event->role));
    pt_json_open(json, "after", '['); /* numbers of its immediate causes, from 0 */
    if (index > 0)
        pt_json_uint(json, NULL, index - 1);
    pt_json_close(json, ']');
    pt_json_uint(json, "trace_line", step->line);
    pt_json_close(json, '}');
    pt_buf_release(&text);
}

struct pt_block pt_atomicity_block(const struct pt_block_finding *block, struct pt_arena *arena)
{
    struct pt_loc_parts place = pt_loc_parts(block->loc);
    return (struct pt_block){.number = block->number,
                             .line = (uint32_t)place.line,
                             .column = (uint32_t)place.column,
                             .thread_name = block->thread,
                             .name = block->name,
                             .file = place.line ? pt_arena_strndup(arena, block->loc, place.path_len) : "",
                             .atomic = block->verdict == PT_VERDICT_HOLDS,
                             .unknown = block->verdict == PT_VERDICT_UNKNOWN,
                             .of_run = true,
                             .occurrences = block->occurrences,
                             .violated = block->violated,
                             .unfinished = block->unfinished,
                             .suppressed = block->suppressed,
                             .known = block->known};
}

static void put_block(struct pt_json *json, const struct pt_block_finding *block)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "thread", block->thread);
    pt_json_uint(json, "block", block->number);
    pt_json_string(json, "name", block->name);
    put_place(json, block->loc);
    if (block->verdict == PT_VERDICT_UNKNOWN)
        pt_json_null(json, "causally_atomic");
    else
        pt_json_bool(json, "causally_atomic", block->verdict == PT_VERDICT_HOLDS);
    pt_json_uint(json, "occurrences", block->occurrences);
    pt_json_uint(json, "violated", block->violated);
    pt_json_uint(json, "unfinished", block->unfinished);
    pt_json_open(json, "witness", '[');
    for (uint32_t i = 0; i < block->event_count; i++)
        put_event(json, &block->events[i], i);
    pt_json_close(json, ']');
    struct pt_arena arena;
    pt_arena_init(&arena);
    struct pt_block shown = pt_atomicity_block(block, &arena);
    pt_blocks_json_suppressed(&shown, json);
    if (block->tried)
        pt_json_decisions(json, block->tried);
    pt_arena_release(&arena);
    pt_json_close(json, '}');
}

void pt_atomicity_json(struct pt_json *json, const struct pt_block_findings *blocks)
{
    pt_json_open(json, "blocks", '[');
    for (uint32_t i = 0; i < blocks->count; i++)
        put_block(json, &blocks->items[i]);
    pt_json_close(json, ']');
    pt_json_open(json, "atomicity", '{');
    pt_json_bool(json, "complete", !blocks->message);
    if (blocks->message)
        pt_json_string(json, "message", blocks->message);
    pt_json_uint(json, "stray_ends", blocks->stray_ends);
    pt_json_seconds(json, "seconds", blocks->seconds);
    pt_json_uint(json, "peak_bytes", blocks->peak_bytes);
    pt_json_close(json, '}');
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

static void put_run(const struct pt_block_finding *block, struct pt_arena *arena, const struct pt_style *style,
                    struct pt_buf *buf)
{
    struct pt_block_step *steps = pt_arena_alloc(arena, block->event_count * sizeof *steps);
    for (uint32_t i = 0; i < block->event_count; i++) {
        const struct pt_step *step = &block->events[i].step;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "%s(%s)", step->op, step->object);
        steps[i] = (struct pt_block_step){.thread = step->thread,
                                          .text = pt_arena_strndup(arena, text.text, text.len),
                                          .role = role_word(block->events[i].role),
                                          .file = "",
                                          .loc = step->loc};
        pt_buf_release(&text);
    }
    pt_blocks_run(steps, block->event_count, true, style, buf);
}

static void put_blocks(const struct pt_block_findings *blocks, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_arena arena;
    pt_arena_init(&arena);
    struct pt_block *all = pt_arena_alloc(&arena, blocks->count * sizeof *all);
    for (uint32_t i = 0; i < blocks->count; i++) {
        all[i] = pt_atomicity_block(&blocks->items[i], &arena);
        pt_blocks_verdict(&all[i], style, buf);
        if (pt_block_counts(&all[i]) && blocks->items[i].event_count)
            put_run(&blocks->items[i], &arena, style, buf);
        if (pt_block_counts(&all[i]))
            pt_blocks_summary(&all[i], style, buf);
    }
    if (blocks->stray_ends)
        pt_words_paragraph(buf, style, 0, 2, "%" PRIu64 " end event%s named no open block and %s ignored.",
                           blocks->stray_ends, pt_words_plural(blocks->stray_ends),
                           blocks->stray_ends == 1 ? "was" : "were");
    pt_blocks_count(all, blocks->count, blocks->message, style, buf);
    pt_arena_release(&arena);
}

void pt_atomicity_text(const struct pt_block_findings *blocks, const struct pt_style *style, struct pt_buf *buf)
{
    if (blocks->count == 0)
        pt_words_paragraph(buf, style, 0, 2, "The trace has no atomic blocks (begin events).%s%s%s",
                           blocks->message ? " It is incomplete: " : "", blocks->message ? blocks->message : "",
                           blocks->message ? "." : "");
    else
        put_blocks(blocks, style, buf);
}
