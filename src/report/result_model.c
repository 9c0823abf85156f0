/*
 * The result of `model` and the blocks of `check --atomicity` (contract section 4; docs/reports.md describes the
 * rest), read back. Members are checked before use; an index into the steps of a run must point backwards. A result
 * that breaks this is refused with the member's name. Linear in the text, except that a step without "after" looks
 * back for the last one of its thread.
 */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "finding/blocks.h"
#include "report/result_impl.h"

struct model {
    const char *file;
    const struct pt_json_node *threads; /* their names, or NULL */
};

static const char *thread_name(struct reading *r, const struct model *model, uint64_t number)
{
    const struct pt_json_node *name = number ? pt_json_at(model->threads, number - 1) : NULL;
    return name ? rd_text(r, name, "a thread's name") : "";
}

static void read_after(struct reading *r, const struct pt_json_node *list, uint32_t limit, struct pt_block_step *step)
{
    size_t size = pt_json_count(list);
    if (size > limit) {
        rd_fail(r, "a step of a witness follows more steps than there are before it");
        return;
    }
    step->after = pt_arena_alloc(r->arena, (size + 1) * sizeof *step->after);
    for (size_t i = 0; i < size; i++)
        step->after[i] = rd_index(r, pt_json_at(list, i), "\"after\"", limit);
    step->after_count = (uint32_t)size;
}

/* Without "after": the step before it in its thread. */
static void follow_thread(struct reading *r, struct pt_block *block, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;) {
        if (strcmp(block->steps[i].thread, block->steps[at].thread) != 0)
            continue;
        block->steps[at].after = pt_arena_alloc(r->arena, sizeof *block->steps[at].after);
        block->steps[at].after[0] = i;
        block->steps[at].after_count = 1;
        return;
    }
}

static void read_block_step(struct reading *r, const struct model *model, const struct pt_json_node *item,
                            struct pt_block *block, uint32_t at)
{
    struct pt_block_step *step = &block->steps[at];
    const struct pt_json_node *thread = pt_json_get(item, "thread"), *after = rd_array(r, item, "a step", "after");
    if (pt_json_is_integer(thread)) {
        uint64_t number = rd_uint(r, item, "a step", "thread", UINT32_MAX);
        char text[32];
        snprintf(text, sizeof text, "thread %llu", (unsigned long long)number);
        const char *name = thread_name(r, model, number);
        step->thread = name[0] ? name : pt_arena_strndup(r->arena, text, strlen(text));
    } else {
        step->thread = rd_string(r, item, "a step", "thread");
    }
    step->text = rd_string_or(r, item, "a step", "text", "");
    step->role = rd_string_or(r, item, "a step", "role", "");
    step->file = rd_string_or(r, item, "a step", "file", block->file);
    step->loc = rd_string_or(r, item, "a step", "loc", "");
    step->line = (uint32_t)rd_uint_or(r, item, "a step", "line", UINT32_MAX, 0);
    step->op = rd_string_or(r, item, "a step", "op", "");
    step->object = rd_string_or(r, item, "a step", "object", "");
    step->trace_line = rd_uint_or(r, item, "a step", "trace_line", UINT64_MAX, 0);
    if (pt_json_get(item, "value"))
        step->value = rd_value(r, pt_json_get(item, "value"));
    if (after)
        read_after(r, after, at, step);
    else
        follow_thread(r, block, at);
}

/* Of a run: its thread by its name, and how often it began. */
static void read_run_block(struct reading *r, const struct pt_json_node *item, struct pt_block *block)
{
    block->of_run = true;
    block->thread_name = rd_string(r, item, "a block", "thread");
    block->occurrences = rd_uint_or(r, item, "a block", "occurrences", UINT64_MAX, 0);
    block->violated = rd_uint_or(r, item, "a block", "violated", UINT64_MAX, 0);
    block->unfinished = rd_uint_or(r, item, "a block", "unfinished", UINT64_MAX, 0);
    block->loc = rd_string_or(r, item, "a block", "loc", "");
    if (!pt_json_get(item, "confirmed"))
        return;
    struct pt_finding *tried = pt_arena_alloc(r->arena, sizeof *tried);
    *tried = (struct pt_finding){.builtin = true};
    rd_confirmation(r, item, tried);
    block->tried = tried;
}

static void read_block(struct reading *r, const struct model *model, const struct pt_json_node *item,
                       struct pt_block *block)
{
    const struct pt_json_node *witness = rd_array(r, item, "a block", "witness");
    size_t size = pt_json_count(witness);
    if (pt_json_is(pt_json_get(item, "thread"), PT_VALUE_STRING)) {
        read_run_block(r, item, block);
    } else {
        block->thread = (uint32_t)rd_uint(r, item, "a block", "thread", UINT32_MAX);
        block->thread_name = thread_name(r, model, block->thread);
    }
    block->number = (uint32_t)rd_uint(r, item, "a block", "block", UINT32_MAX);
    block->line = (uint32_t)rd_uint_or(r, item, "a block", "line", UINT32_MAX, 0);
    block->column = (uint32_t)rd_uint_or(r, item, "a block", "column", UINT32_MAX, 0);
    block->name = rd_string_or(r, item, "a block", "name", "");
    block->file = rd_string_or(r, item, "a block", "file", model->file);
    block->unknown = pt_json_is(pt_json_get(item, "causally_atomic"), PT_VALUE_UNKNOWN);
    block->atomic = !block->unknown && rd_bool_or(r, item, "a block", "causally_atomic", true);
    block->suppressed = rd_string_or(r, item, "a block", "suppressed", NULL);
    block->known = rd_bool_or(r, item, "a block", "known", false);
    block->times = (uint32_t)rd_uint_or(r, item, "a block", "times", UINT32_MAX, 0);
    if (size > 100000) {
        rd_fail(r, "a witness has more than 100000 steps");
        return;
    }
    block->steps = pt_arena_alloc(r->arena, (size + 1) * sizeof *block->steps);
    for (size_t i = 0; i < size && !r->failed; i++, block->step_count++)
        read_block_step(r, model, pt_json_at(witness, i), block, (uint32_t)i);
}

static void read_blocks(struct reading *r, const struct model *model, const struct pt_json_node *blocks,
                        struct pt_loaded *loaded)
{
    size_t size = pt_json_count(blocks);
    if (size > 100000)
        rd_fail(r, "it has more than 100000 blocks");
    if (r->failed)
        return;
    loaded->blocks = pt_arena_alloc(r->arena, (size + 1) * sizeof *loaded->blocks);
    for (size_t i = 0; i < size && !r->failed; i++, loaded->block_count++)
        read_block(r, model, pt_json_at(blocks, i), &loaded->blocks[i]);
}

void rd_model(struct reading *r, const struct pt_json_node *root, const char *label, struct pt_loaded *loaded)
{
    const struct pt_json_node *blocks = rd_array(r, root, "the result", "blocks");
    struct model model = {.file = rd_string_or(r, root, "the result", "file", "")};
    if (pt_json_has_kind(pt_json_get(root, "threads"), PT_JSON_ARRAY))
        model.threads = pt_json_get(root, "threads");
    loaded->is_model = true;
    if (pt_json_get(root, "message"))
        loaded->limit = rd_string(r, root, "the result", "message");
    loaded->result.trace =
        pt_arena_strndup(r->arena, model.file[0] ? model.file : label, strlen(model.file[0] ? model.file : label));
    read_blocks(r, &model, blocks, loaded);
}

static enum pt_block_role role_of(const char *word)
{
    return strcmp(word, "begin") == 0     ? PT_BLOCK_BEGIN
           : strcmp(word, "foreign") == 0 ? PT_BLOCK_FOREIGN
           : strcmp(word, "later") == 0   ? PT_BLOCK_LATER
                                          : PT_BLOCK_OTHER;
}

static struct pt_block_finding found_block(struct reading *r, const struct pt_block *block)
{
    struct pt_block_event *events = pt_arena_alloc(r->arena, (block->step_count + 1) * sizeof *events);
    for (uint32_t i = 0; i < block->step_count; i++) {
        const struct pt_block_step *step = &block->steps[i];
        events[i] = (struct pt_block_event){.step = {.thread = step->thread,
                                                     .op = step->op,
                                                     .object = step->object,
                                                     .loc = step->loc,
                                                     .value = step->value,
                                                     .line = step->trace_line,
                                                     .var = PT_NONE},
                                            .role = role_of(step->role)};
    }
    return (struct pt_block_finding){.thread = block->thread_name,
                                     .name = block->name,
                                     .loc = block->loc,
                                     .number = block->number,
                                     .occurrences = block->occurrences,
                                     .violated = block->violated,
                                     .unfinished = block->unfinished,
                                     .verdict = block->unknown  ? PT_VERDICT_UNKNOWN
                                                : block->atomic ? PT_VERDICT_HOLDS
                                                                : PT_VERDICT_VIOLATED,
                                     .events = events,
                                     .event_count = block->step_count,
                                     .suppressed = block->suppressed,
                                     .known = block->known,
                                     .tried = block->tried};
}

/* As the check had them, for whoever goes on with them. */
static void keep_findings(struct reading *r, const struct pt_json_node *run, struct pt_loaded *loaded)
{
    struct pt_block_findings *all = pt_arena_alloc(r->arena, sizeof *all);
    const struct pt_json_node *seconds = pt_json_get(run, "seconds");
    *all = (struct pt_block_findings){.message = loaded->limit,
                                      .count = loaded->block_count,
                                      .stray_ends = rd_uint_or(r, run, "\"atomicity\"", "stray_ends", UINT64_MAX, 0),
                                      .peak_bytes = rd_uint_or(r, run, "\"atomicity\"", "peak_bytes", UINT64_MAX, 0)};
    all->seconds = pt_json_is(seconds, PT_VALUE_FLOAT) ? seconds->value.d : 0;
    all->items = pt_arena_alloc(r->arena, (loaded->block_count + 1) * sizeof *all->items);
    for (uint32_t i = 0; i < loaded->block_count; i++)
        all->items[i] = found_block(r, &loaded->blocks[i]);
    loaded->of_run = all;
}

void rd_blocks(struct reading *r, const struct pt_json_node *root, struct pt_loaded *loaded)
{
    const struct model model = {.file = ""};
    const struct pt_json_node *run = pt_json_get(root, "atomicity");
    if (pt_json_get(run, "message"))
        loaded->limit = rd_string(r, run, "\"atomicity\"", "message");
    read_blocks(r, &model, rd_array(r, root, "the result", "blocks"), loaded);
    if (!r->failed)
        keep_findings(r, run, loaded);
}

struct pt_finding_id pt_block_id(const struct pt_block *block)
{
    struct pt_finding_id id;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "atomicity\n%s\n", block->file);
    if (block->name[0])
        pt_buf_printf(&buf, "%s\n%s", block->thread_name, block->name);
    else
        pt_buf_printf(&buf, "%u\n%u", block->thread, block->number);
    snprintf(id.text, sizeof id.text, "%016llx", (unsigned long long)XXH64(buf.text, buf.len, 0));
    pt_buf_release(&buf);
    return id;
}

void pt_block_label(const struct pt_block *block, struct pt_buf *buf)
{
    if (block->name[0])
        pt_buf_puts(buf, block->name);
    else if (block->thread_name[0])
        pt_buf_printf(buf, "%s/%u", block->thread_name, block->number);
    else
        pt_buf_printf(buf, "%u/%u", block->thread, block->number);
}
