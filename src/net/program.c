/*
 * Building a program. Arrays grow by doubling, texts live in the arena; a step's variables are sorted, so that the same
 * statement has the same accesses whoever listed them.
 */
#include "net/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

void pt_program_init(struct pt_program *program)
{
    *program = (struct pt_program){0};
    pt_arena_init(&program->arena);
}

void pt_program_release(struct pt_program *program)
{
    free(program->threads);
    free(program->steps);
    free(program->blocks);
    free(program->vars);
    free(program->locks);
    free(program->accesses);
    free(program->notes);
    free(program->unknowns);
    pt_arena_release(&program->arena);
    *program = (struct pt_program){0};
}

static const char *copy(struct pt_program *program, const char *text)
{
    return text ? pt_arena_strndup(&program->arena, text, strlen(text)) : NULL;
}

uint32_t pt_program_add_var(struct pt_program *program, const char *name)
{
    PT_PUSH(program->vars, program->var_count, program->var_cap, copy(program, name));
    return program->var_count - 1;
}

uint32_t pt_program_add_lock(struct pt_program *program, const char *name)
{
    PT_PUSH(program->locks, program->lock_count, program->lock_cap, copy(program, name));
    return program->lock_count - 1;
}

uint32_t pt_program_add_thread(struct pt_program *program, const char *name, struct pt_source_place place)
{
    struct pt_prog_thread thread = {.name = copy(program, name), .stop = PT_NONE, .place = place};
    PT_PUSH(program->threads, program->thread_count, program->thread_cap, thread);
    return program->thread_count - 1;
}

uint32_t pt_program_add_node(struct pt_program *program, uint32_t thread)
{
    return program->threads[thread].node_count++;
}

uint32_t pt_program_add_block(struct pt_program *program, uint32_t thread, const char *name,
                              struct pt_source_place place)
{
    struct pt_prog_block block = {.thread = thread, .name = copy(program, name), .place = place};
    block.number = ++program->threads[thread].block_count;
    PT_PUSH(program->blocks, program->block_count, program->block_cap, block);
    return program->block_count - 1;
}

void pt_program_add_note(struct pt_program *program, const char *text, struct pt_source_place place)
{
    struct pt_prog_note note = {.text = copy(program, text), .place = place};
    PT_PUSH(program->notes, program->note_count, program->note_cap, note);
}

void pt_program_add_unknown(struct pt_program *program, const char *name, bool runs, struct pt_source_place place)
{
    for (uint32_t i = 0; i < program->unknown_count; i++) {
        if (strcmp(program->unknowns[i].name, name) == 0) {
            program->unknowns[i].runs |= runs;
            return;
        }
    }
    struct pt_prog_unknown unknown = {.name = copy(program, name), .runs = runs, .place = place};
    PT_PUSH(program->unknowns, program->unknown_count, program->unknown_cap, unknown);
}

/* Appends the distinct ids of `vars` to the accesses; `skip` holds `skip_count` sorted ids that are left out. */
static uint32_t add_accesses(struct pt_program *program, const uint32_t *vars, uint32_t count, const uint32_t *skip,
                             uint32_t skip_count)
{
    if (count == 0)
        return 0;
    PT_GROW(program->accesses, program->access_cap, (size_t)program->access_count + count);
    uint32_t *out = program->accesses + program->access_count;
    memcpy(out, vars, count * sizeof *out);
    uint32_t distinct = pt_sort_distinct(out, count), kept = 0, s = 0;
    for (uint32_t i = 0; i < distinct; i++) {
        while (s < skip_count && skip[s] < out[i])
            s++;
        if (s == skip_count || skip[s] != out[i])
            out[kept++] = out[i];
    }
    program->access_count += kept;
    return kept;
}

uint32_t pt_program_add_step(struct pt_program *program, const struct pt_prog_step *step, const uint32_t *reads,
                             uint32_t read_count, const uint32_t *writes, uint32_t write_count)
{
    struct pt_prog_step added = *step;
    uint32_t *sorted = pt_xmalloc(write_count * sizeof *sorted), distinct = 0;
    if (write_count) {
        memcpy(sorted, writes, write_count * sizeof *sorted);
        distinct = pt_sort_distinct(sorted, write_count);
    }
    added.text = copy(program, step->text);
    added.access_start = program->access_count;
    PT_GROW(program->accesses, program->access_cap, (size_t)program->access_count + 1); /* never NULL behind a step */
    added.read_count = add_accesses(program, reads, read_count, sorted, distinct);
    added.write_count = add_accesses(program, sorted, distinct, NULL, 0);
    free(sorted);
    PT_PUSH(program->steps, program->step_count, program->step_cap, added);
    return program->step_count - 1;
}
