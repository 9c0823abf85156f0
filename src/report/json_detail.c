/*
 * The step-by-step part of a violation. Events stand once, in `actual`; the witness is a list of their numbers. Values
 * after a step follow from the initial ones and the variable each event writes; truth is one letter per subformula,
 * f, t or o (open: depends on what follows), a word per state. Cost: linear in the finding.
 */
#include "report/json_detail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void pt_json_step(struct pt_json *json, const struct pt_step *step)
{
    pt_json_string(json, "thread", step->thread);
    pt_json_string(json, "op", step->op);
    pt_json_string(json, "object", step->object);
    if (step->value.kind != PT_VALUE_UNKNOWN)
        pt_json_value(json, "value", step->value);
    pt_json_string(json, "loc", step->loc);
    if (step->source)
        pt_json_string(json, "source", step->source);
}

void pt_json_steps(struct pt_json *json, const char *key, const struct pt_step *steps, uint32_t count)
{
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_step(json, &steps[i]);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

void pt_json_schedule(struct pt_json *json, const struct pt_finding *finding)
{
    if (!finding->schedule)
        return;
    pt_json_steps(json, "schedule", finding->schedule, finding->schedule_count);
}

static void put_numbers(struct pt_json *json, const char *key, const uint32_t *numbers, uint32_t count)
{
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++)
        pt_json_uint(json, NULL, numbers[i]);
    pt_json_close(json, ']');
}

static void put_counts(struct pt_json *json, const char *key, const uint64_t *counts, uint32_t count)
{
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++)
        pt_json_uint(json, NULL, counts[i]);
    pt_json_close(json, ']');
}

static void put_variables(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_open(json, "variables", '[');
    for (uint32_t i = 0; i < finding->value_count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "name", finding->initial[i].name);
        pt_json_value(json, "initial", finding->initial[i].value);
        if (finding->initial[i].assumed)
            pt_json_bool(json, "assumed", true);
        if (finding->final)
            pt_json_value(json, "final", finding->final[i].value);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_formulas(struct pt_json *json, const struct pt_finding *finding)
{
    static const char *const words[] = {[PT_TRUTH_FALSE] = "false", [PT_TRUTH_TRUE] = "true", [PT_TRUTH_OPEN] = "open"};
    pt_json_open(json, "formulas", '[');
    for (uint32_t i = 0; i < finding->truth_count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "text", finding->truths[i].text);
        pt_json_uint(json, "depth", finding->truths[i].depth);
        pt_json_string(json, "final", words[finding->truths[i].value]);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_rows(struct pt_json *json, const char *key, const uint8_t *rows, uint32_t states, uint32_t width)
{
    static const char letters[] = {[PT_TRUTH_FALSE] = 'f', [PT_TRUTH_TRUE] = 't', [PT_TRUTH_OPEN] = 'o'};
    if (!rows || !width)
        return;
    char *row = pt_xcalloc((size_t)width + 1, 1);
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; i < states; i++) {
        for (uint32_t k = 0; k < width; k++)
            row[k] = letters[rows[(size_t)i * width + k]];
        pt_json_string(json, NULL, row);
    }
    pt_json_close(json, ']');
    free(row);
}

static void put_actual(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_open(json, "threads", '[');
    for (uint32_t i = 0; i < finding->thread_count; i++)
        pt_json_string(json, NULL, finding->threads[i]);
    pt_json_close(json, ']');
    pt_json_open(json, "actual", '[');
    for (uint32_t i = 0; i < finding->actual_count; i++) {
        const struct pt_step *step = &finding->actual[i];
        pt_json_open(json, NULL, '{');
        pt_json_step(json, step);
        pt_json_uint(json, "number", step->number);
        if (step->var != PT_NONE)
            pt_json_uint(json, "var", step->var);
        put_counts(json, "clock", step->clock, finding->thread_count);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
    pt_json_open(json, "witness", '[');
    for (uint32_t i = 0; i < finding->witness_count; i++)
        pt_json_uint(json, NULL, finding->witness[i].number);
    pt_json_close(json, ']');
}

static void put_moves(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_open(json, "moves", '[');
    for (uint32_t i = 0; i < finding->move_count; i++) {
        const struct pt_move *move = &finding->moves[i];
        pt_json_open(json, NULL, '{');
        pt_json_uint(json, "step", move->step);
        pt_json_uint(json, "over", move->over.number);
        pt_json_uint(json, "over_index", move->over_index);
        pt_json_uint(json, "needs", move->needs);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_view(struct pt_json *json, const struct pt_view *view, uint32_t threads)
{
    pt_json_open(json, "lattice", '{');
    pt_json_bool(json, "whole", view->whole);
    pt_json_open(json, "cuts", '[');
    for (uint32_t i = 0; i < view->cut_count; i++)
        put_numbers(json, NULL, view->counts + (size_t)i * threads, threads);
    pt_json_close(json, ']');
    pt_json_open(json, "dropped", '[');
    for (uint32_t i = 0; i < view->cut_count; i++)
        if (!view->kept[i])
            pt_json_uint(json, NULL, i);
    pt_json_close(json, ']');
    pt_json_open(json, "edges", '[');
    for (uint32_t i = 0; i < view->edge_count; i++)
        put_numbers(json, NULL, (const uint32_t[]){view->edges[i].from, view->edges[i].to}, 2);
    pt_json_close(json, ']');
    put_numbers(json, "observed", view->observed, view->observed_count);
    put_numbers(json, "violating", view->violating, view->violating_count);
    pt_json_close(json, '}');
}

/* That the program failed is told beside what was confirmed, not instead of it. */
static void put_confirmation(struct pt_json *json, const struct pt_confirmation *c)
{
    char address[24];
    if (c->own != PT_OWN_UNKNOWN)
        pt_json_bool(json, "program_failed", c->own == PT_OWN_FAILED);
    else if (c->end)
        pt_json_null(json, "program_failed");
    if (c->end)
        pt_json_string(json, "program_end", c->end);
    if (c->met) {
        pt_json_open(json, "met", '[');
        for (unsigned i = 0; i < 2 && c->met_address[i]; i++) {
            snprintf(address, sizeof address, "0x%" PRIx64, c->met_address[i]);
            pt_json_string(json, NULL, address);
        }
        pt_json_close(json, ']');
    }
    if (!c->seen_count)
        return;
    pt_json_open(json, "seen", '[');
    for (uint32_t i = 0; i < c->seen_count; i++)
        pt_json_side(json, NULL, &c->seen[i]);
    pt_json_close(json, ']');
}

static void put_origins(struct pt_json *json, const struct pt_origin *origins)
{
    enum { MOST = 100 };
    pt_json_open(json, "origins", '[');
    for (uint32_t i = 0; origins && i < MOST; i++, origins = origins->next) {
        pt_json_open(json, NULL, '{');
        if (origins->file)
            pt_json_string(json, "file", origins->file);
        if (origins->program) {
            pt_json_open(json, "program", '[');
            for (const char *const *word = origins->program; *word; word++)
                pt_json_string(json, NULL, *word);
            pt_json_close(json, ']');
        }
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

void pt_json_decisions(struct pt_json *json, const struct pt_finding *finding)
{
    if (finding->suppressed)
        pt_json_string(json, "suppressed", finding->suppressed);
    if (finding->known)
        pt_json_bool(json, "known", true);
    if (finding->times > 1)
        pt_json_uint(json, "times", finding->times);
    if (finding->origins)
        put_origins(json, finding->origins);
    if (finding->confirm != PT_CONFIRM_UNTRIED)
        pt_json_bool(json, "confirmed", finding->confirm == PT_CONFIRM_YES);
    if (finding->confirm == PT_CONFIRM_NO && finding->not_reproduced)
        pt_json_string(json, "not_reproduced", finding->not_reproduced);
    if (finding->confirm != PT_CONFIRM_UNTRIED)
        put_confirmation(json, &finding->confirmation);
}

void pt_json_detail(struct pt_json *json, const struct pt_finding *finding)
{
    if (finding->text && finding->text[0])
        pt_json_string(json, "text", finding->text);
    if (finding->file) {
        pt_json_string(json, "file", finding->file);
        pt_json_uint(json, "line", finding->line);
    }
    if (finding->verdict != PT_VERDICT_VIOLATED || finding->builtin) /* each of a check's findings has its own */
        return;
    struct pt_finding_id id = pt_finding_id(finding);
    pt_json_string(json, "id", id.text);
    pt_json_decisions(json, finding);
    if (finding->witness_lost || !finding->initial)
        return;
    pt_json_open(json, "detail", '{');
    put_variables(json, finding);
    put_formulas(json, finding);
    pt_json_uint(json, "switches", finding->switches);
    if (finding->threads) {
        put_actual(json, finding);
        put_moves(json, finding);
        put_rows(json, "witness_truths", finding->witness_truths, finding->witness_count + 1, finding->truth_count);
        put_rows(json, "actual_truths", finding->actual_truths, finding->actual_count + 1, finding->truth_count);
    }
    if (finding->view)
        put_view(json, finding->view, finding->thread_count);
    pt_json_close(json, '}');
}
