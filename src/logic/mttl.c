/*
 * The MtTL compiler. A property is cut into units (core/mttl.h): every formula or expression under an @t becomes an
 * export of t, every past operator a unit of the thread it stands at, the rest the property's own program. What is
 * compiled stands at one thread, *self*: a named one, or a variable (at each i, @j). Other variables that a unit
 * mentions become its params; @t where t is self disappears.
 *
 * Inside a unit under construction threads are symbols: PT_MTTL_ENV0 + the number of a variable, counted over the whole
 * property. When the unit is finished its params are known, and the symbols become places in its environment.
 *
 * Units that say the same are one: a unit's key is its text, the name of self, and the names of its params, in its
 * file.
 *
 * race_free(x) and atomic_block(NAME) are the formulas of the DAME paper, section 3, made as trees and compiled; the
 * paper's conjunction over all j is `forall j != i` here. race_free(*) cannot name the variables: one export of the
 * present access serves all of them.
 *
 * Cost: linear in the property with its lets expanded, which is bounded (MAX_WORK).
 */
#include "logic/mttl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logic/mttl_build.h"

enum {
    MAX_WORK = 1 << 17,  /* nodes of all properties, lets expanded */
    MAX_LOOPS = 1 << 15, /* fits pt_mttl_op.loop */
    LONGEST_TEXT = 200,
};

/* A name in scope: a variable's symbol, or a named thread's slot. */
struct binding {
    const char *name;
    uint32_t thread;
};

struct open_loop {
    struct pt_mttl_loop loop; /* variable, except: symbols; from, to: relative to the unit's program */
    uint32_t depth;           /* quantifiers around it in the unit */
};

/* A unit under construction. */
struct draft {
    struct draft *around;
    uint32_t self; /* a slot or a symbol */
    const char *self_name;
    struct pt_mttl_op *ops;
    uint32_t op_count;
    size_t op_cap;
    struct open_loop *loops;
    uint32_t loop_count;
    size_t loop_cap;
    uint32_t *lookups; /* their indices */
    uint32_t lookup_count;
    size_t lookup_cap;
    uint32_t stack, loop, depth; /* at the next op: truth values on the stack, innermost loop + 1, loops around */
    uint32_t params[PT_MTTL_PARAMS];
    uint32_t param_count;
};

struct compiler {
    struct pt_mttl_tables t;
    const struct pt_property *property;
    struct draft *draft;
    struct binding *scope;
    uint32_t scope_count;
    size_t scope_cap;
    const char **symbols; /* names of all variables so far */
    uint32_t symbol_count;
    size_t symbol_cap;
    uint32_t work;
    bool plain; /* inside race_free: read(x) and write(x) leave atomic accesses out */
    struct pt_err *err;
};

static enum pt_status compile_formula(struct compiler *c, const struct pt_ast *node) PT_WARN_UNUSED;

static enum pt_status fail(struct compiler *c, const struct pt_ast *node, const char *fmt, ...) PT_PRINTF(3, 4);

static enum pt_status fail(struct compiler *c, const struct pt_ast *node, const char *fmt, ...)
{
    char message[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return pt_err_at(c->err, PT_ELIMIT, c->property->file, node->place.line, node->place.column, "%s", message);
}

/* A subformula's text for reports, which need not be whole. */
static uint32_t add_text(struct compiler *c, const struct pt_buf *text)
{
    if (text->len <= LONGEST_TEXT)
        return pt_mttl_add_string(&c->t, text->text, text->len);
    size_t len = LONGEST_TEXT;
    while ((text->text[len] & 0xc0) == 0x80) /* not inside a character of UTF-8 */
        len--;
    struct pt_buf cut;
    pt_buf_init(&cut);
    pt_buf_add(&cut, text->text, len);
    pt_buf_puts(&cut, "...");
    uint32_t string = pt_mttl_add_string(&c->t, cut.text, cut.len);
    pt_buf_release(&cut);
    return string;
}

/* --- threads --- */

static uint32_t new_symbol(struct compiler *c, const char *name)
{
    PT_PUSH(c->symbols, c->symbol_count, c->symbol_cap, name);
    return PT_MTTL_ENV0 + c->symbol_count - 1;
}

static void bind(struct compiler *c, const char *name, uint32_t thread)
{
    struct binding binding = {name, thread};
    PT_PUSH(c->scope, c->scope_count, c->scope_cap, binding);
}

/* A slot or a symbol: the innermost variable of that name, else the thread of that name. */
static enum pt_status find_thread(struct compiler *c, const struct pt_ast *node, uint32_t *ret_thread)
{
    for (uint32_t i = c->scope_count; i-- > 0;)
        if (strcmp(c->scope[i].name, node->thread.name) == 0) {
            *ret_thread = c->scope[i].thread;
            return PT_OK;
        }
    *ret_thread = pt_mttl_add_thread(&c->t, node->thread.name, node->thread.target);
    if (*ret_thread >= PT_MTTL_NAMED)
        return fail(c, node, "the properties name more than %d threads", PT_MTTL_NAMED);
    return PT_OK;
}

static uint32_t reference(const struct draft *d, uint32_t thread)
{
    return thread == d->self ? PT_MTTL_SELF : thread;
}

/* --- ops --- */

static void emit(struct compiler *c, enum pt_mttl_opcode op, uint32_t arg)
{
    struct draft *d = c->draft;
    struct pt_mttl_op one = {(uint8_t)op, (uint8_t)d->stack, (uint16_t)d->loop, arg};
    PT_PUSH(d->ops, d->op_count, d->op_cap, one);
}

/* A jump whose target is not known yet, and its target: the next op. */
static uint32_t emit_jump(struct compiler *c, enum pt_mttl_opcode op)
{
    emit(c, op, 0);
    return c->draft->op_count - 1;
}

static void land(struct compiler *c, uint32_t jump)
{
    c->draft->ops[jump].arg = c->draft->op_count;
}

static void begin_loop(struct compiler *c, bool exists, uint32_t symbol, uint32_t except)
{
    struct draft *d = c->draft;
    struct open_loop open = {{symbol, except, d->op_count, 0, d->loop}, d->depth};
    emit(c, exists ? PT_MTTL_OP_EXISTS : PT_MTTL_OP_FORALL, d->loop_count);
    PT_PUSH(d->loops, d->loop_count, d->loop_cap, open);
    d->loop = d->loop_count;
    d->depth++;
}

static void end_loop(struct compiler *c)
{
    struct draft *d = c->draft;
    struct open_loop *open = &d->loops[d->loop - 1];
    open->loop.to = d->op_count;
    emit(c, PT_MTTL_OP_NEXT, d->loop - 1);
    d->loop = open->loop.outer;
    d->depth--;
}

/* --- units --- */

static void open_draft(struct compiler *c, struct draft *d, uint32_t self, const char *self_name)
{
    *d = (struct draft){.around = c->draft, .self = self, .self_name = self_name};
    c->draft = d;
}

static void drop_draft(struct compiler *c)
{
    struct draft *d = c->draft;
    c->draft = d->around;
    free(d->ops);
    free(d->loops);
    free(d->lookups);
}

static bool is_symbol(uint32_t thread)
{
    return thread >= PT_MTTL_ENV0 && thread != PT_MTTL_SELF;
}

/* The loop of the draft that binds the symbol, NULL for one from outside. */
static const struct open_loop *binder_of(const struct draft *d, uint32_t symbol)
{
    for (uint32_t i = 0; i < d->loop_count; i++)
        if (d->loops[i].loop.variable == symbol)
            return &d->loops[i];
    return NULL;
}

static bool note_param(struct draft *d, uint32_t thread)
{
    if (!is_symbol(thread) || binder_of(d, thread))
        return true;
    for (uint32_t k = 0; k < d->param_count; k++)
        if (d->params[k] == thread)
            return true;
    if (d->param_count == PT_MTTL_PARAMS)
        return false;
    d->params[d->param_count++] = thread;
    return true;
}

static bool find_params(struct compiler *c, struct draft *d)
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
static uint32_t place_of(const struct draft *d, uint32_t thread)
{
    if (!is_symbol(thread))
        return thread;
    const struct open_loop *binder = binder_of(d, thread);
    if (binder)
        return PT_MTTL_ENV0 + d->param_count + binder->depth;
    uint32_t k = 0;
    while (d->params[k] != thread)
        k++;
    return PT_MTTL_ENV0 + k;
}

static enum pt_status settle_symbols(struct compiler *c, struct draft *d, const struct pt_ast *node)
{
    if (!find_params(c, d))
        return fail(c, node, "more than %d thread variables from outside are used inside this", PT_MTTL_PARAMS);
    for (uint32_t i = 0; i < d->loop_count; i++)
        if (d->param_count + d->loops[i].depth >= PT_MTTL_ENV)
            return fail(c, node, "more than %d thread variables are bound here inside each other", PT_MTTL_ENV);
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
static void append_program(struct compiler *c, const struct draft *d)
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

static uint32_t *find_same_unit(struct compiler *c, const struct draft *d, uint32_t kind, const char *text)
{
    struct pt_buf key;
    pt_buf_init(&key);
    pt_buf_printf(&key, "%u %d %s\n%s\n", kind, c->plain, c->property->file, is_symbol(d->self) ? d->self_name : "");
    pt_buf_printf(&key, "%u\n", is_symbol(d->self) ? PT_MTTL_ANY : d->self);
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
static enum pt_status finish_unit(struct compiler *c, enum pt_mttl_kind kind, const struct pt_ast *node, uint32_t a,
                                  uint32_t b, uint32_t *ret_unit)
{
    struct draft *d = c->draft;
    enum pt_status s = settle_symbols(c, d, node);
    if (s != PT_OK)
        return s;
    if (c->t.unit_count == PT_MTTL_MAX_UNITS || c->t.loop_count + d->loop_count > MAX_LOOPS)
        return fail(c, node, "the properties are too large: more than %d subformulas", PT_MTTL_MAX_UNITS);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_mttl_text(node, PT_LEVEL_IFF, &text);
    uint32_t *same = kind == PT_MTTL_PROPERTY ? NULL : find_same_unit(c, d, kind, text.text);
    if (!same || *same == PT_MTTL_NONE) {
        struct pt_mttl_unit unit = {.kind = kind,
                                    .self = is_symbol(d->self) ? PT_MTTL_ANY : d->self,
                                    .params = d->param_count,
                                    .a = d->op_count ? c->t.op_count : a,
                                    .b = b ? c->t.op_count + b : 0,
                                    .text = add_text(c, &text)};
        uint32_t *sort = kind <= PT_MTTL_INTERVAL_WEAK ? c->t.past : c->t.exports;
        if (kind != PT_MTTL_PROPERTY) {
            memcpy(unit.before, sort, sizeof unit.before);
            sort[unit.params]++;
        }
        if (unit.self == PT_MTTL_ANY)
            c->t.flags |= PT_MTTL_THREADS;
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

/* A lookup from the present draft of a unit whose draft had these params; the text is `node`'s. */
static uint32_t add_lookup(struct compiler *c, uint32_t thread, uint32_t unit, const uint32_t *params,
                           const struct pt_ast *node)
{
    struct draft *d = c->draft;
    struct pt_buf text;
    struct pt_mttl_lookup lookup = {.thread = reference(d, thread), .unit = unit};
    for (uint32_t k = 0; k < c->t.units[unit].params; k++)
        lookup.args[k] = reference(d, params[k]);
    pt_buf_init(&text);
    pt_mttl_text(node, PT_LEVEL_IFF, &text);
    lookup.text = add_text(c, &text);
    pt_buf_release(&text);
    PT_PUSH(d->lookups, d->lookup_count, d->lookup_cap, c->t.lookup_count);
    PT_PUSH(c->t.lookups, c->t.lookup_count, c->t.lookup_cap, lookup);
    return c->t.lookup_count - 1;
}

/* Ends the draft and looks its unit up from the draft around it. */
static enum pt_status close_unit(struct compiler *c, enum pt_mttl_kind kind, const struct pt_ast *body, uint32_t a,
                                 uint32_t b, uint32_t thread, const struct pt_ast *node, uint32_t *ret_lookup)
{
    uint32_t unit = 0, params[PT_MTTL_PARAMS];
    enum pt_status s = finish_unit(c, kind, body, a, b, &unit);
    memcpy(params, c->draft->params, sizeof params);
    drop_draft(c);
    if (s == PT_OK)
        *ret_lookup = add_lookup(c, thread, unit, params, node);
    return s;
}

/* --- expressions --- */

struct expression {
    struct pt_insn *insns;
    uint32_t count;
    size_t cap;
    struct pt_mttl_operand *operands;
    uint32_t operand_count;
    size_t operand_cap;
    uint32_t depth, max_depth;
};

static enum pt_status export_value(struct compiler *c, const struct pt_ast *node, uint32_t thread,
                                   uint32_t *ret_lookup) PT_WARN_UNUSED;

static enum pt_status push_operand(struct compiler *c, struct expression *e, const struct pt_ast *node, uint32_t kind,
                                   uint32_t index)
{
    struct pt_mttl_operand operand = {kind, index};
    struct pt_insn insn = {PT_CODE_VAR, e->operand_count};
    if (e->operand_count == PT_MTTL_OPERANDS)
        return fail(c, node, "a comparison can have %d operands, and this is one more", PT_MTTL_OPERANDS);
    if (++e->depth > PT_CODE_MAX_DEPTH)
        return fail(c, node, "this expression is nested too deeply: more than %d operands at once", PT_CODE_MAX_DEPTH);
    if (e->depth > e->max_depth)
        e->max_depth = e->depth;
    PT_PUSH(e->operands, e->operand_count, e->operand_cap, operand);
    PT_PUSH(e->insns, e->count, e->cap, insn);
    return PT_OK;
}

static enum pt_status compile_value(struct compiler *c, struct expression *e, const struct pt_ast *node);

static enum pt_status compile_operator(struct compiler *c, struct expression *e, const struct pt_ast *node)
{
    struct pt_insn insn = {pt_ast_code_op((enum pt_ast_kind)node->kind), 0};
    enum pt_status s = compile_value(c, e, node->a);
    if (s == PT_OK && node->b) {
        s = compile_value(c, e, node->b);
        e->depth--;
    }
    if (s == PT_OK)
        PT_PUSH(e->insns, e->count, e->cap, insn);
    return s;
}

static enum pt_status compile_value(struct compiler *c, struct expression *e, const struct pt_ast *node)
{
    uint32_t thread = 0, lookup = 0;
    enum pt_status s;
    if (++c->work > MAX_WORK)
        return fail(c, node, "the property is too large once its lets are expanded");
    switch (node->kind) {
    case PT_AST_LET:
        return compile_value(c, e, node->a);
    case PT_AST_NUMBER:
    case PT_AST_STRING:
    case PT_AST_BOOL:
        return push_operand(c, e, node, PT_MTTL_OPERAND_CONSTANT, pt_mttl_add_constant(&c->t, node->value));
    case PT_AST_VAR:
        return push_operand(c, e, node, PT_MTTL_OPERAND_VAR, pt_mttl_add_var(&c->t, node->var, PT_MTTL_USE_VALUE));
    case PT_AST_ATOMIC_BLOCK: /* as a value: which execution of it the thread is in; see compile_atomic_block */
        return push_operand(c, e, node, PT_MTTL_OPERAND_BLOCK, pt_mttl_add_block(&c->t, node->text));
    case PT_AST_KNOWN:
        if ((s = find_thread(c, node, &thread)) != PT_OK)
            return s;
        if (thread == c->draft->self)
            return compile_value(c, e, node->a);
        s = export_value(c, node, thread, &lookup);
        return s == PT_OK ? push_operand(c, e, node, PT_MTTL_OPERAND_LOOKUP, lookup) : s;
    default:
        return compile_operator(c, e, node);
    }
}

/* The expression as an atom; `truth`: a value where a truth is needed. */
static enum pt_status compile_atom(struct compiler *c, const struct pt_ast *node, bool truth, uint32_t *ret_atom)
{
    struct expression e = {0};
    struct pt_buf text;
    enum pt_status s = compile_value(c, &e, node);
    pt_buf_init(&text);
    if (s == PT_OK) {
        struct pt_insn insn = {PT_CODE_TRUTH, 0};
        if (truth)
            PT_PUSH(e.insns, e.count, e.cap, insn);
        pt_mttl_text(node, PT_LEVEL_IFF, &text);
        struct pt_mttl_atom atom = {.insns = c->t.insn_count,
                                    .insn_count = e.count,
                                    .depth = e.max_depth,
                                    .operands = c->t.operand_count,
                                    .operand_count = e.operand_count,
                                    .text = add_text(c, &text)};
        for (uint32_t i = 0; i < e.count; i++)
            PT_PUSH(c->t.insns, c->t.insn_count, c->t.insn_cap, e.insns[i]);
        for (uint32_t i = 0; i < e.operand_count; i++)
            PT_PUSH(c->t.operands, c->t.operand_count, c->t.operand_cap, e.operands[i]);
        *ret_atom = c->t.atom_count;
        PT_PUSH(c->t.atoms, c->t.atom_count, c->t.atom_cap, atom);
    }
    pt_buf_release(&text);
    free(e.insns);
    free(e.operands);
    return s;
}

static enum pt_status export_value(struct compiler *c, const struct pt_ast *node, uint32_t thread, uint32_t *ret_lookup)
{
    struct draft d;
    uint32_t atom = 0;
    open_draft(c, &d, thread, node->thread.name);
    enum pt_status s = compile_atom(c, node->a, false, &atom);
    if (s != PT_OK) {
        drop_draft(c);
        return s;
    }
    return close_unit(c, PT_MTTL_VALUE, node->a, atom, 0, thread, node, ret_lookup);
}

/* --- formulas --- */

static enum pt_status compile_comparison(struct compiler *c, const struct pt_ast *node)
{
    uint32_t atom = 0;
    enum pt_status s = compile_atom(c, node, !pt_ast_is_comparison((enum pt_ast_kind)node->kind), &atom);
    if (s == PT_OK)
        emit(c, PT_MTTL_OP_ATOM, atom);
    return s;
}

/* @t f: f in place where t is self; an export of t otherwise. */
static enum pt_status compile_known(struct compiler *c, const struct pt_ast *node)
{
    struct draft d;
    uint32_t thread = 0, lookup = 0;
    enum pt_status s = find_thread(c, node, &thread);
    if (s != PT_OK)
        return s;
    if (thread == c->draft->self)
        return compile_formula(c, node->a);
    if (node->type != PT_TYPE_FORMULA)
        return compile_comparison(c, node);
    open_draft(c, &d, thread, node->thread.name);
    if ((s = compile_formula(c, node->a)) != PT_OK) {
        drop_draft(c);
        return s;
    }
    emit(c, PT_MTTL_OP_END, 0);
    s = close_unit(c, PT_MTTL_FORMULA, node->a, 0, 0, thread, node, &lookup);
    if (s == PT_OK)
        emit(c, PT_MTTL_OP_LOOKUP, lookup);
    return s;
}

/* A past operator: a unit of the same thread, with a program for each operand. */
static enum pt_status compile_past(struct compiler *c, const struct pt_ast *node)
{
    enum pt_mttl_kind kind = (enum pt_mttl_kind)(node->kind - PT_AST_PREVIOUSLY + PT_MTTL_PREVIOUSLY);
    struct draft d;
    uint32_t self = c->draft->self, b = 0, lookup = 0;
    open_draft(c, &d, self, c->draft->self_name);
    enum pt_status s = compile_formula(c, node->a);
    emit(c, PT_MTTL_OP_END, 0);
    if (s == PT_OK && node->b) {
        b = d.op_count;
        s = compile_formula(c, node->b);
        emit(c, PT_MTTL_OP_END, 0);
    }
    if (s != PT_OK) {
        drop_draft(c);
        return s;
    }
    s = close_unit(c, kind, node, 0, b, self, node, &lookup);
    if (s == PT_OK)
        emit(c, PT_MTTL_OP_LOOKUP, lookup);
    return s;
}
_Static_assert(PT_AST_INTERVAL_WEAK - PT_AST_PREVIOUSLY == PT_MTTL_INTERVAL_WEAK - PT_MTTL_PREVIOUSLY,
               "past operators in step");

static enum pt_status compile_quantifier(struct compiler *c, const struct pt_ast *node)
{
    uint32_t except = PT_MTTL_NO_EXCEPTION, symbol;
    enum pt_status s = PT_OK;
    if (node->thread.name && (s = find_thread(c, node, &except)) != PT_OK)
        return s;
    c->t.flags |= PT_MTTL_THREADS;
    symbol = new_symbol(c, node->text);
    bind(c, node->text, symbol);
    begin_loop(c, node->kind == PT_AST_EXISTS, symbol,
               except == PT_MTTL_NO_EXCEPTION ? except : reference(c->draft, except));
    s = compile_formula(c, node->a);
    end_loop(c);
    c->scope_count--;
    return s;
}

/* && || -> <-> */
static enum pt_status compile_binary(struct compiler *c, const struct pt_ast *node)
{
    struct draft *d = c->draft;
    uint32_t jump = 0;
    enum pt_status s = compile_formula(c, node->a);
    if (s != PT_OK)
        return s;
    if (node->kind == PT_AST_IFF) {
        if (d->stack == PT_MTTL_STACK)
            return fail(c, node, "more than %d '<->' stand inside each other", PT_MTTL_STACK);
        emit(c, PT_MTTL_OP_PUSH, 0);
        d->stack++;
        s = compile_formula(c, node->b);
        emit(c, PT_MTTL_OP_IFF, 0);
        d->stack--;
        return s;
    }
    if (node->kind == PT_AST_IMPLIES)
        emit(c, PT_MTTL_OP_NOT, 0);
    jump = emit_jump(c, node->kind == PT_AST_AND ? PT_MTTL_OP_IF_FALSE : PT_MTTL_OP_IF_TRUE);
    s = compile_formula(c, node->b);
    land(c, jump);
    return s;
}

/* --- the paper's formulas --- */

/* Trees made here have their places from the word they stand for, and no types but what compiling looks at. */
static struct pt_ast tree(const struct pt_ast *place, enum pt_ast_kind kind, struct pt_ast *a, struct pt_ast *b)
{
    return (struct pt_ast){.kind = (uint8_t)kind, .type = PT_TYPE_FORMULA, .place = place->place, .a = a, .b = b};
}

static struct pt_ast about(const struct pt_ast *place, enum pt_ast_kind kind, const char *thread, struct pt_ast *a)
{
    struct pt_ast node = tree(place, kind, a, NULL);
    node.thread = (struct pt_ast_thread){thread, thread};
    return node;
}

/* For any other thread: with self bound to `this`, so that it can be named inside @other(...). */
static enum pt_status compile_for_others(struct compiler *c, const struct pt_ast *node)
{
    bind(c, "this", c->draft->self);
    enum pt_status s = compile_formula(c, node);
    c->scope_count--;
    return s;
}

/*
 * forall other != this: (read(x) && once write(x) -> !@other write(x)) && (write(x) -> !@other(read(x) && once
 * write(x)))
 * && (write(x) -> !@other write(x))
 */
static enum pt_status compile_race_free(struct compiler *c, const struct pt_ast *node)
{
    struct pt_ast r = tree(node, PT_AST_READ, NULL, NULL), w = tree(node, PT_AST_WRITE, NULL, NULL);
    r.var = w.var = node->var;
    struct pt_ast once = tree(node, PT_AST_ONCE, &w, NULL), own = tree(node, PT_AST_AND, &r, &once);
    struct pt_ast they_wrote = about(node, PT_AST_KNOWN, "other", &w);
    struct pt_ast they_own = about(node, PT_AST_KNOWN, "other", &own);
    struct pt_ast not_wrote = tree(node, PT_AST_NOT, &they_wrote, NULL);
    struct pt_ast not_own = tree(node, PT_AST_NOT, &they_own, NULL);
    struct pt_ast first = tree(node, PT_AST_IMPLIES, &own, &not_wrote);
    struct pt_ast second = tree(node, PT_AST_IMPLIES, &w, &not_own);
    struct pt_ast third = tree(node, PT_AST_IMPLIES, &w, &not_wrote);
    struct pt_ast both = tree(node, PT_AST_AND, &first, &second), all = tree(node, PT_AST_AND, &both, &third);
    struct pt_ast forall = about(node, PT_AST_FORALL, "this", &all);
    forall.text = "other";
    bool plain = c->plain;
    c->plain = true;
    enum pt_status s = compile_for_others(c, &forall);
    c->plain = plain;
    return s;
}

/* atomic_block(B) > 0 -> !(exists other != this: atomic_block(B) == @other @this atomic_block(B)), B read as a value */
static enum pt_status compile_atomic_block(struct compiler *c, const struct pt_ast *node)
{
    struct pt_ast block = *node, zero = tree(node, PT_AST_NUMBER, NULL, NULL);
    block.type = zero.type = PT_TYPE_NUMBER;
    zero.value = pt_value_int(0);
    zero.text = "0";
    struct pt_ast inside = tree(node, PT_AST_GT, &block, &zero);
    struct pt_ast mine = about(node, PT_AST_KNOWN, "this", &block), theirs = about(node, PT_AST_KNOWN, "other", &mine);
    mine.type = theirs.type = PT_TYPE_NUMBER;
    struct pt_ast same = tree(node, PT_AST_EQ, &block, &theirs);
    struct pt_ast exists = about(node, PT_AST_EXISTS, "this", &same);
    exists.text = "other";
    struct pt_ast none = tree(node, PT_AST_NOT, &exists, NULL), all = tree(node, PT_AST_IMPLIES, &inside, &none);
    return compile_for_others(c, &all);
}

/* race_free(*): forall other != self: my access does not race with the access of other's last known state. */
static enum pt_status compile_race_free_all(struct compiler *c, const struct pt_ast *node)
{
    struct draft d;
    uint32_t lookup = 0, symbol = new_symbol(c, "other");
    struct pt_ast access = tree(node, PT_AST_LET, NULL, NULL), known = about(node, PT_AST_KNOWN, "other", &access);
    access.text = "access"; /* stands for what the language has no word for */
    c->t.flags |= PT_MTTL_RACES | PT_MTTL_THREADS;
    begin_loop(c, false, symbol, PT_MTTL_SELF);
    open_draft(c, &d, symbol, "other");
    enum pt_status s = close_unit(c, PT_MTTL_ACCESS, &access, 0, 0, symbol, &known, &lookup);
    if (s == PT_OK)
        emit(c, PT_MTTL_OP_NO_RACE, lookup);
    end_loop(c);
    return s;
}

/* --- */

static enum pt_status compile_leaf(struct compiler *c, const struct pt_ast *node)
{
    bool read = node->kind == PT_AST_READ;
    switch (node->kind) {
    case PT_AST_BOOL:
        emit(c, PT_MTTL_OP_CONST, node->value.i != 0);
        return PT_OK;
    case PT_AST_EVENT:
        emit(c, PT_MTTL_OP_EVENT, pt_mttl_add_event(&c->t, node->text));
        return PT_OK;
    case PT_AST_READ:
    case PT_AST_WRITE:
        emit(c,
             c->plain ? (read ? PT_MTTL_OP_PLAIN_R : PT_MTTL_OP_PLAIN_W) : (read ? PT_MTTL_OP_READ : PT_MTTL_OP_WRITE),
             pt_mttl_add_var(&c->t, node->var, PT_MTTL_USE_ACCESS));
        return PT_OK;
    default:
        return compile_comparison(c, node);
    }
}

static enum pt_status compile_formula(struct compiler *c, const struct pt_ast *node)
{
    enum pt_status s;
    if (++c->work > MAX_WORK)
        return fail(c, node, "the property is too large once its lets are expanded");
    switch (node->kind) {
    case PT_AST_LET:
        return compile_formula(c, node->a);
    case PT_AST_NOT:
        s = compile_formula(c, node->a);
        emit(c, PT_MTTL_OP_NOT, 0);
        return s;
    case PT_AST_AND:
    case PT_AST_OR:
    case PT_AST_IMPLIES:
    case PT_AST_IFF:
        return compile_binary(c, node);
    case PT_AST_EXISTS:
    case PT_AST_FORALL:
        return compile_quantifier(c, node);
    case PT_AST_KNOWN:
        return compile_known(c, node);
    case PT_AST_RACE_FREE:
        return node->var ? compile_race_free(c, node) : compile_race_free_all(c, node);
    case PT_AST_ATOMIC_BLOCK:
        return compile_atomic_block(c, node);
    default:
        return node->kind >= PT_AST_PREVIOUSLY && node->kind <= PT_AST_INTERVAL_WEAK ? compile_past(c, node)
                                                                                     : compile_leaf(c, node);
    }
}

static enum pt_status compile_property(struct compiler *c, const struct pt_property *property)
{
    const struct pt_ast *at = property->ast;
    struct draft d;
    uint32_t self = 0, unit = 0;
    enum pt_status s = PT_OK;
    c->property = property;
    c->scope_count = 0;
    if (at->kind == PT_AST_AT_EACH) {
        self = new_symbol(c, at->text);
        bind(c, at->text, self);
    } else if ((s = find_thread(c, at, &self)) != PT_OK) {
        return s;
    }
    open_draft(c, &d, self, at->kind == PT_AST_AT_EACH ? at->text : at->thread.name);
    s = compile_formula(c, at->a);
    emit(c, PT_MTTL_OP_END, 0);
    if (s == PT_OK)
        s = finish_unit(c, PT_MTTL_PROPERTY, at->a, 0, 0, &unit);
    drop_draft(c);
    if (s != PT_OK)
        return s;
    struct pt_mttl_property entry = {.name = pt_mttl_add_string(&c->t, property->name, strlen(property->name)),
                                     .text = pt_mttl_add_string(&c->t, property->text, strlen(property->text)),
                                     .file = pt_mttl_add_string(&c->t, property->file, strlen(property->file)),
                                     .line = property->line,
                                     .at = is_symbol(self) ? PT_MTTL_ANY : self,
                                     .unit = unit};
    PT_PUSH(c->t.properties, c->t.property_count, c->t.property_cap, entry);
    return PT_OK;
}

enum pt_status pt_mttl_compile(const struct pt_property *const *properties, uint32_t count, struct pt_mttl **ret_block,
                               struct pt_err *err)
{
    struct compiler c = {.err = err};
    enum pt_status s = PT_OK;
    pt_mttl_tables_init(&c.t);
    for (uint32_t i = 0; i < count && s == PT_OK; i++)
        s = compile_property(&c, properties[i]);
    if (s == PT_OK) {
        struct pt_mttl *block = pt_mttl_tables_pack(&c.t);
        if (block)
            *ret_block = block;
        else
            s = pt_err_set(err, PT_ELIMIT, "the properties do not fit into 4 GiB");
    }
    pt_mttl_tables_release(&c.t);
    free(c.scope);
    free(c.symbols);
    return s;
}
