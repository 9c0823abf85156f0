/*
 * A function without source that is in no table is taken to touch what it can reach from its arguments. It might touch
 * more: what it was handed before, a global variable of the program, memory of its own that two threads share through
 * it; and a function that it finds it might run at any later time, in any thread. So where a program has such
 * functions, its blocks are looked at a second time, in a model in which these functions may do all of the former: a
 * block that is atomic there, too, is. Of the latter there is no model.
 *
 * Guarantee: a block stays atomic only if it is so whatever the unknown functions do while they are called, but for
 * calling functions by their names. Cost: the front end and the unfolding once more, only for programs with such
 * functions.
 */
#include "cli/model/doubt.h"

#include <string.h>

#include "base/buf.h"

enum { MAX_LISTED = 4 };

static bool has_atomic_block(const struct pt_program *program, const struct pt_atomicity *result)
{
    for (uint32_t b = 0; b < program->block_count; b++)
        if (result->blocks[b].atomic == PT_ATOMIC_YES)
            return true;
    return false;
}

static bool runs_functions(const struct pt_program *program)
{
    for (uint32_t i = 0; i < program->unknown_count; i++)
        if (program->unknowns[i].runs)
            return true;
    return false;
}

/* Is the block atomic in the other model of the program, too? */
static bool is_atomic_in(const struct pt_program *other, const struct pt_atomicity *verdicts,
                         const struct pt_prog_block *block)
{
    for (uint32_t b = 0; b < other->block_count; b++)
        if (other->blocks[b].thread == block->thread && other->blocks[b].number == block->number)
            return verdicts->blocks[b].atomic == PT_ATOMIC_YES;
    return false;
}

static void put_reason(const struct pt_program *program, struct pt_atomicity *result)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "it is not known what");
    for (uint32_t i = 0; i < program->unknown_count && i <= MAX_LISTED; i++) {
        if (i < MAX_LISTED)
            pt_buf_printf(&text, "%s '%.100s'", i ? "," : "", program->unknowns[i].name);
        else
            pt_buf_printf(&text, ", and %u more", program->unknown_count - MAX_LISTED);
    }
    pt_buf_puts(&text, program->unknown_count == 1 ? " does" : " do");
    result->limit = pt_arena_strndup(&result->arena, text.text, text.len);
    pt_buf_release(&text);
}

void pt_model_doubt(struct pt_cfront_sources sources, const struct pt_program *program,
                    const struct pt_atomicity_options *options, struct pt_atomicity *result)
{
    struct pt_program other;
    struct pt_atomicity verdicts;
    struct pt_err err;
    if (!program->unknown_count || !has_atomic_block(program, result))
        return;
    pt_program_init(&other);
    sources.wary = true;
    bool looked = !runs_functions(program) && pt_cfront_read(&sources, &other, &err) == PT_OK &&
                  pt_atomicity_check(&other, options, &verdicts, &err) == PT_OK;
    for (uint32_t b = 0; b < program->block_count; b++) {
        if (result->blocks[b].atomic != PT_ATOMIC_YES ||
            (looked && is_atomic_in(&other, &verdicts, &program->blocks[b])))
            continue;
        result->blocks[b].atomic = PT_ATOMIC_UNKNOWN;
        if (!result->limit)
            put_reason(program, result);
    }
    if (looked)
        pt_atomicity_release(&verdicts);
    pt_program_release(&other);
}
