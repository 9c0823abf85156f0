/*
 * Units under construction (see mttl.c): their ops and loops, which thread variables they take from outside, and
 * whether there is one already that says the same.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "logic/mttl/build.h"

enum {
    MAX_LOOPS = 1 << 15, /* fits pt_mttl_op.loop */
    LONGEST_TEXT = 200,
};

enum pt_status pt_mttl_fail(struct pt_mttl_compiler *c, const struct pt_ast *node, const char *fmt, ...)
{
    char message[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return pt_err_at(c->err, PT_ELIMIT, c->property->file, node->place.line, node->place.column, "%s", message);
}

/* A subformula's text for reports, which need not be whole. */
uint32_t pt_mttl_add_text(struct pt_mttl_compiler *c, const struct pt_buf *text)
{
    if (text->len <= LONGEST_TEXT)
        return pt_mttl_add_string(&c->t, text->text, text->len);
    struct pt_buf cut;
    pt_buf_init(&cut);
    pt_buf_add(&cut, text->text, pt_utf8_cut(text->text, LONGEST_TEXT));
    pt_buf_puts(&cut, "...");
    uint32_t string = pt_mttl_add_string(&c->t, cut.text, cut.len);
    pt_buf_release(&cut);
    return string;
}

/* --- threads --- */

uint32_t pt_mttl_new_symbol(struct pt_mttl_compiler *c, const char *name)
{
    PT_PUSH(c->symbols, c->symbol_count, c->symbol_cap, name);
    return PT_MTTL_ENV0 + c->symbol_count - 1;
}

void pt_mttl_bind(struct pt_mttl_compiler *c, const char *name, uint32_t thread)
{
    struct pt_mttl_binding binding = {name, thread};
    PT_PUSH(c->scope, c->scope_count, c->scope_cap, binding);
}

/* A slot or a symbol: the innermost variable of that name, else the thread of that name. */
enum pt_status pt_mttl_find_thread(struct pt_mttl_compiler *c, const struct pt_ast *node, uint32_t *ret_thread)
{
    for (uint32_t i = c->scope_count; i-- > 0;)
        if (strcmp(c->scope[i].name, node->thread.name) == 0) {
            *ret_thread = c->scope[i].thread;
            return PT_OK;
        }
    *ret_thread = pt_mttl_add_thread(&c->t, node->thread.name, node->thread.target);
    if (*ret_thread >= PT_MTTL_NAMED)
        return pt_mttl_fail(c, node, "the properties name more than %d threads", PT_MTTL_NAMED);
    return PT_OK;
}

/* --- ops --- */

void pt_mttl_emit(struct pt_mttl_compiler *c, enum pt_mttl_opcode op, uint32_t arg)
{
    struct pt_mttl_draft *d = c->draft;
    struct pt_mttl_op one = {(uint8_t)op, (uint8_t)d->stack, (uint16_t)d->loop, arg};
    PT_PUSH(d->ops, d->op_count, d->op_cap, one);
}

void pt_mttl_begin_loop(struct pt_mttl_compiler *c, bool exists, uint32_t symbol, uint32_t except)
{
    struct pt_mttl_draft *d = c->draft;
    struct pt_mttl_open_loop open = {{symbol, except, d->op_count, 0, d->loop}, d->depth};
    pt_mttl_emit(c, exists ? PT_MTTL_OP_EXISTS : PT_MTTL_OP_FORALL, d->loop_count);
    PT_PUSH(d->loops, d->loop_count, d->loop_cap, open);
    d->loop = d->loop_count;
    d->depth++;
}

void pt_mttl_end_loop(struct pt_mttl_compiler *c)
{
    struct pt_mttl_draft *d = c->draft;
    struct pt_mttl_open_loop *open = &d->loops[d->loop - 1];
    open->loop.to = d->op_count;
    pt_mttl_emit(c, PT_MTTL_OP_NEXT, d->loop - 1);
    d->loop = open->loop.outer;
    d->depth--;
}

/* --- units --- */

void pt_mttl_open_draft(struct pt_mttl_compiler *c, struct pt_mttl_draft *d, uint32_t self, const char *self_name)
{
    *d = (struct pt_mttl_draft){.around = c->draft, .self = self, .self_name = self_name};
    c->draft = d;
}

void pt_mttl_drop_draft(struct pt_mttl_compiler *c)
{
    struct pt_mttl_draft *d = c->draft;
    c->draft = d->around;
    free(d->ops);
    free(d->loops);
    free(d->lookups);
}

/* The loop of the draft that binds the symbol, NULL for one from outside. */
static const struct pt_mttl_open_loop *binder_of(const struct pt_mttl_draft *d, uint32_t symbol)
{
    for (uint32_t i = 0; i < d->loop_count; i++)
        if (d->loops[i].loop.variable == symbol)
            return &d->loops[i];
    return NULL;
}

static bool note_param(struct pt_mttl_draft *d, uint32_t thread)
{
    if (!pt_mttl_is_symbol(thread) || binder_of(d, thread))
        return true;
    for (uint32_t k = 0; k < d->param_count; k++)
        if (d->params[k] == thread)
            return true;
    if (d->param_count == PT_MTTL_PARAMS)
        return false;
    d->params[d->param_count++] = thread;
    return true;
}

static bool find_params(struct pt_mttl_compiler *c, struct pt_mttl_draft *d)
{
    bool good = true;
    for (uint32_t i = 0; i < d->lookup_count; i++) {
        const struct pt_mttl_lookup *l = &c->t.lookups[d->lookups[i]];
        good = good && note_param(d, l->thread);
        for (uint32_t k = 0; k < c->t.units[l->unit].params; k++)
            good = good && note_param(d, l->args[k]);
    }
    for (uint32_t i = 0; i < d->loop_count; i++)
        good = good && (d->loops[i].loop.except == PT_MTTL_NO_EXCEPTION || note_param(d, d->loops[i].loop.except));
    return good;
}

/* A symbol's place in the finished unit's environment: params first, then quantifiers by depth. */
static uint32_t place_of(const struct pt_mttl_draft *d, uint32_t thread)
{
    if (!pt_mttl_is_symbol(thread))
        return thread;
    const struct pt_mttl_open_loop *binder = binder_of(d, thread);
    if (binder)
        return PT_MTTL_ENV0 + d->param_count + binder->depth;
    uint32_t k = 0;
    while (d->params[k] != thread)
        k++;
    return PT_MTTL_ENV0 + k;
}

static enum pt_status settle_symbols(struct pt_mttl_compiler *c, struct pt_mttl_draft *d, const struct pt_ast *node)
{
    if (!find_params(c, d))
        return pt_mttl_fail(c, node, "more than %d thread variables from outside are used inside this", PT_MTTL_PARAMS);
    for (uint32_t i = 0; i < d->loop_count; i++)
        if (d->param_count + d->loops[i].depth >= PT_MTTL_ENV)
            return pt_mttl_fail(c, node, "more than %d thread variables are bound here inside each other", PT_MTTL_ENV);
    for (uint32_t i = 0; i < d->lookup_count; i++) {
        struct pt_mttl_lookup *l = &c->t.lookups[d->lookups[i]];
        l->thread = place_of(d, l->thread);
        for (uint32_t k = 0; k < c->t.units[l->unit].params; k++)
            l->args[k] = place_of(d, l->args[k]);
    }
    for (uint32_t i = 0; i < d->loop_count; i++) { /* except before variables, by which symbols are recognised */
        struct pt_mttl_loop *loop = &d->loops[i].loop;
        if (loop->except != PT_MTTL_NO_EXCEPTION)
            loop->except = place_of(d, loop->except);
    }
    for (uint32_t i = 0; i < d->loop_count; i++)
        d->loops[i].loop.variable = d->param_count + d->loops[i].depth;
    return PT_OK;
}

/* Appends the draft's ops and loops to the block's. */
static void append_program(struct pt_mttl_compiler *c, const struct pt_mttl_draft *d)
{
    uint32_t op_base = c->t.op_count, loop_base = c->t.loop_count;
    for (uint32_t i = 0; i < d->op_count; i++) {
        struct pt_mttl_op op = d->ops[i];
        if (op.op == PT_MTTL_OP_IF_TRUE || op.op == PT_MTTL_OP_IF_FALSE)
            op.arg += op_base;
        if (op.op == PT_MTTL_OP_EXISTS || op.op == PT_MTTL_OP_FORALL || op.op == PT_MTTL_OP_NEXT)
            op.arg += loop_base;
        if (op.loop)
            op.loop = (uint16_t)(op.loop + loop_base);
        PT_PUSH(c->t.ops, c->t.op_count, c->t.op_cap, op);
    }
    for (uint32_t i = 0; i < d->loop_count; i++) {
        struct pt_mttl_loop loop = d->loops[i].loop;
        loop.from += op_base;
        loop.to += op_base;
        loop.outer += loop.outer ? loop_base : 0;
        PT_PUSH(c->t.loops, c->t.loop_count, c->t.loop_cap, loop);
    }
}

static uint32_t *find_same_unit(struct pt_mttl_compiler *c, const struct pt_mttl_draft *d, uint32_t kind,
                                const char *text)
{
    struct pt_buf key;
    pt_buf_init(&key);
    pt_buf_printf(&key, "%u %s\n%s\n", kind, c->property->file, pt_mttl_is_symbol(d->self) ? d->self_name : "");
    if (c->property->of_pattern)
        pt_buf_printf(&key, "%u:%u\n", c->property->line, c->property->column);
    pt_buf_printf(&key, "%u\n", pt_mttl_is_symbol(d->self) ? PT_MTTL_ANY : d->self);
    for (uint32_t k = 0; k < d->param_count; k++)
        pt_buf_printf(&key, "%s\n", c->symbols[d->params[k] - PT_MTTL_ENV0]);
    pt_buf_puts(&key, text);
    uint32_t before = c->t.unit_ids.count, id = pt_strtab_intern(&c->t.unit_ids, key.text, key.len);
    pt_buf_release(&key);
    if (id == before) {
        PT_GROW(c->t.unit_indexes, c->t.unit_index_cap, c->t.unit_ids.count);
        c->t.unit_indexes[id] = PT_MTTL_NONE;
    }
    return &c->t.unit_indexes[id];
}

/*
 * The draft as a unit, an old one if there is one that says the same. `a`: of PT_MTTL_VALUE, its atom; `b`: where the
 * second operand's program begins in the draft, for binary ones.
 */
enum pt_status pt_mttl_finish_unit(struct pt_mttl_compiler *c, enum pt_mttl_kind kind, const struct pt_ast *node,
                                   uint32_t a, uint32_t b, uint32_t *ret_unit)
{
    struct pt_mttl_draft *d = c->draft;
    enum pt_status s = settle_symbols(c, d, node);
    if (s != PT_OK)
        return s;
    if (c->t.unit_count == PT_MTTL_MAX_UNITS || c->t.loop_count + d->loop_count > MAX_LOOPS)
        return pt_mttl_fail(c, node, "the properties are too large: more than %d subformulas", PT_MTTL_MAX_UNITS);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_mttl_text(node, PT_LEVEL_IFF, &text);
    uint32_t *same = kind == PT_MTTL_PROPERTY ? NULL : find_same_unit(c, d, kind, text.text);
    if (!same || *same == PT_MTTL_NONE) {
        struct pt_mttl_unit unit = {.kind = kind,
                                    .self = pt_mttl_is_symbol(d->self) ? PT_MTTL_ANY : d->self,
                                    .params = d->param_count,
                                    .a = d->op_count ? c->t.op_count : a,
                                    .b = b ? c->t.op_count + b : 0,
                                    .text = pt_mttl_add_text(c, &text)};
        uint32_t *sort = kind <= PT_MTTL_INTERVAL_WEAK ? c->t.past : c->t.exports;
        if (kind != PT_MTTL_PROPERTY) {
            memcpy(unit.before, sort, sizeof unit.before);
            sort[unit.params]++;
        }
        append_program(c, d);
        if (same)
            *same = c->t.unit_count;
        *ret_unit = c->t.unit_count;
        PT_PUSH(c->t.units, c->t.unit_count, c->t.unit_cap, unit);
    } else {
        *ret_unit = *same;
    }
    pt_buf_release(&text);
    return PT_OK;
}

/* A lookup from the present draft of a unit whose draft had these params; the text is `node`'s, or what it says
 * instead. */
static uint32_t add_lookup(struct pt_mttl_compiler *c, uint32_t thread, uint32_t unit, const uint32_t *params,
                           const struct pt_ast *node)
{
    struct pt_mttl_draft *d = c->draft;
    struct pt_buf text;
    struct pt_mttl_lookup lookup = {.thread = pt_mttl_reference(d, thread), .unit = unit};
    for (uint32_t k = 0; k < c->t.units[unit].params; k++)
        lookup.args[k] = pt_mttl_reference(d, params[k]);
    if (pt_mttl_is_symbol(lookup.thread))
        c->t.flags |= PT_MTTL_THREADS;
    pt_buf_init(&text);
    if (node->kind == PT_AST_KNOWN && node->text)
        pt_buf_puts(&text, node->text);
    else
        pt_mttl_text(node, PT_LEVEL_IFF, &text);
    lookup.text = pt_mttl_add_text(c, &text);
    pt_buf_release(&text);
    PT_PUSH(d->lookups, d->lookup_count, d->lookup_cap, c->t.lookup_count);
    PT_PUSH(c->t.lookups, c->t.lookup_count, c->t.lookup_cap, lookup);
    return c->t.lookup_count - 1;
}

/* Ends the draft and looks its unit up from the draft around it. */
enum pt_status pt_mttl_close_unit(struct pt_mttl_compiler *c, enum pt_mttl_kind kind, const struct pt_ast *body,
                                  uint32_t a, uint32_t b, uint32_t thread, const struct pt_ast *node,
                                  uint32_t *ret_lookup)
{
    uint32_t unit = 0, params[PT_MTTL_PARAMS];
    enum pt_status s = pt_mttl_finish_unit(c, kind, body, a, b, &unit);
    memcpy(params, c->draft->params, sizeof params);
    pt_mttl_drop_draft(c);
    if (s == PT_OK)
        *ret_lookup = add_lookup(c, thread, unit, params, node);
    return s;
}
