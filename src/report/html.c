/*
 * The page is src/report/html/, with the result put into it as JSON; the page's script does the drawing. Whatever
 * stands in names and values, it cannot leave the JSON: in it '<' is only ever written as an escape, so that no tag and
 * no comment can begin. The script makes text nodes of it, never markup. Cost: linear in the result.
 */
#include "report/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "report/blocks.h"
#include "report/embedded.h"
#include "report/json.h"
#include "report/json_writer.h"
#include "report/place.h"

/* Each place once, as a key with its line of source, where that can be read. */
struct places {
    struct pt_strtab seen;
    const struct pt_source_lines *sources;
    struct pt_json *json;
};

static void put_place(struct places *places, const char *place)
{
    uint32_t before = places->seen.count;
    if (!place[0] || pt_strtab_intern(&places->seen, place, strlen(place)) != before)
        return;
    const char *line = places->sources->line(places->sources->context, place);
    if (line)
        pt_json_string(places->json, place, line);
}

static void block_place(const char *file, uint32_t line, char *ret_text, size_t size)
{
    ret_text[0] = '\0';
    if (line)
        snprintf(ret_text, size, "%s%s%u", file, file[0] ? ":" : "line ", line);
}

/* The place and some lines around it. */
static void put_excerpt(struct places *places, const char *place)
{
    enum { AROUND = 3 };
    struct pt_loc_parts parts = pt_loc_parts(place);
    char line[4200];
    for (uint64_t at = parts.line > AROUND ? parts.line - AROUND : 1; parts.line && at <= parts.line + AROUND; at++) {
        snprintf(line, sizeof line, "%.*s:%" PRIu64, (int)parts.path_len, place, at);
        put_place(places, line);
    }
}

/* Of each call its own line; the side's place is that of the first one. */
static void put_calls(struct places *places, const char *const *calls)
{
    for (; calls && *calls; calls++) {
        const char *space = strrchr(*calls, ' ');
        if (space)
            put_place(places, space + 1);
    }
}

static void put_sides(struct places *places, const struct pt_finding *finding)
{
    for (uint32_t i = 0; i < finding->side_count; i++) {
        put_excerpt(places, finding->sides[i].step.loc);
        put_calls(places, finding->sides[i].stack);
        put_calls(places, finding->sides[i].created);
    }
    if (finding->block)
        put_calls(places, finding->block->stack);
}

static void put_stretches(struct places *places, const struct pt_played_stretch *stretches, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_place(places, stretches[i].last.loc);
        put_place(places, stretches[i].next.loc);
    }
}

static void put_sources(struct pt_json *json, const struct pt_loaded *loaded, const struct pt_source_lines *sources)
{
    struct places places = {.sources = sources, .json = json};
    char place[4200];
    pt_strtab_init(&places.seen);
    pt_json_open(json, "sources", '{');
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        for (uint32_t k = 0; k < finding->actual_count; k++)
            put_place(&places, finding->actual[k].loc);
        put_sides(&places, finding);
        if (finding->played) {
            put_stretches(&places, finding->played->stretches, finding->played->stretch_count);
            put_stretches(&places, finding->played->passing, finding->played->passing_count);
        }
    }
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        for (uint32_t k = 0; k < loaded->blocks[i].step_count; k++) {
            block_place(loaded->blocks[i].steps[k].file, loaded->blocks[i].steps[k].line, place, sizeof place);
            put_place(&places, place);
        }
    }
    pt_json_close(json, '}');
    pt_strtab_release(&places.seen);
}

static void put_block_step(struct pt_json *json, const struct pt_block_step *step)
{
    char place[4200];
    block_place(step->file, step->line, place, sizeof place);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "thread", step->thread);
    pt_json_string(json, "text", step->text);
    pt_json_string(json, "role", step->role);
    pt_json_string(json, "loc", place);
    pt_json_open(json, "after", '[');
    for (uint32_t i = 0; i < step->after_count; i++)
        pt_json_uint(json, NULL, step->after[i]);
    pt_json_close(json, ']');
    pt_json_close(json, '}');
}

static void put_blocks(struct pt_json *json, const struct pt_loaded *loaded)
{
    pt_json_string(json, "origin", loaded->result.trace);
    pt_json_open(json, "blocks", '[');
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        const struct pt_block *block = &loaded->blocks[i];
        char place[4200];
        block_place(block->file, block->line, place, sizeof place);
        pt_json_open(json, NULL, '{');
        pt_json_uint(json, "thread", block->thread);
        pt_json_uint(json, "block", block->number);
        pt_json_string(json, "name", block->name);
        pt_json_string(json, "thread_name", block->thread_name);
        pt_json_string(json, "loc", place);
        pt_blocks_json_suppressed(block, json);
        if (block->unknown)
            pt_json_null(json, "causally_atomic");
        else
            pt_json_bool(json, "causally_atomic", block->atomic);
        pt_json_open(json, "witness", '[');
        for (uint32_t k = 0; k < block->step_count; k++)
            put_block_step(json, &block->steps[k]);
        pt_json_close(json, ']');
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

/* Every result that the page is made of: what it is about, and how it was made. */
static void put_results(struct pt_json *json, const struct pt_loaded *loaded)
{
    pt_json_open(json, "results", '[');
    for (const struct pt_loaded *each = loaded; each; each = each->merged) {
        if (each->is_list)
            continue;
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "trace", each->result.trace ? each->result.trace : "");
        pt_json_open(json, "program", '[');
        for (const char *const *word = each->result.program; word && *word; word++)
            pt_json_string(json, NULL, *word);
        pt_json_close(json, ']');
        if (each->written) {
            pt_json_string(json, "file", each->file);
            pt_json_string(json, "written", each->written);
        }
        pt_report_json_made(each->result.made, json);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_data(const struct pt_loaded *loaded, const char *name, const struct pt_source_lines *sources,
                     const struct pt_made *made, struct pt_buf *page)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    struct pt_json json = {.buf = &buf};
    pt_json_open(&json, NULL, '{');
    pt_json_string(&json, "name", name);
    put_results(&json, loaded);
    pt_report_json_made(made, &json);
    put_sources(&json, loaded, sources);
    if (loaded->is_model || loaded->block_count)
        put_blocks(&json, loaded);
    if (!loaded->is_model) {
        pt_buf_puts(&buf, ", \"result\": ");
        pt_report_json(&loaded->result, &buf);
    }
    pt_json_close(&json, '}');
    for (size_t i = 0; i < buf.len;) {
        size_t plain = strcspn(buf.text + i, "<");
        pt_buf_add(page, buf.text + i, plain);
        i += plain;
        if (i < buf.len) {
            pt_buf_puts(page, "\\u003c");
            i++;
        }
    }
    pt_buf_release(&buf);
}

void pt_report_html(const struct pt_loaded *loaded, const char *name, const struct pt_source_lines *sources,
                    const struct pt_made *made, struct pt_buf *buf)
{
    const char *rest = pt_embedded_page, *mark;
    while ((mark = strstr(rest, "@@")) != NULL) {
        const char *end = strstr(mark + 2, "@@");
        pt_buf_add(buf, rest, (size_t)(mark - rest));
        if (strncmp(mark, "@@STYLE@@", 9) == 0)
            pt_buf_puts(buf, pt_embedded_style);
        else if (strncmp(mark, "@@SCRIPT@@", 10) == 0)
            pt_buf_puts(buf, pt_embedded_script);
        else
            put_data(loaded, name, sources, made, buf);
        rest = end + 2;
    }
    pt_buf_puts(buf, rest);
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    pt_report_html(loaded, context->name, &context->lines, context->made, buf);
}

const struct pt_report_format pt_report_format_html = {
    .name = "html",
    .from_result = from_result,
};
