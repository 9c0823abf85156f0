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
 * atomic_block(NAME) is the formula of the DAME paper, section 3, made as a tree and compiled; the paper's conjunction
 * over all j is `forall j != i` here. race_free is no such formula: properties with it do not come here.
 *
 * Cost: linear in the property with its lets expanded, which is bounded (MAX_WORK).
 */
#include "logic/mttl/mttl.h"

#include <stdlib.h>
#include <string.h>

#include "logic/mttl/build.h"

enum { MAX_WORK = 1 << 17 }; /* nodes of all properties, lets expanded */

static enum pt_status compile_formula(struct pt_mttl_compiler *c, const struct pt_ast *node) PT_WARN_UNUSED;

/* A jump whose target is not known yet, and its target: the next op. */
static uint32_t emit_jump(struct pt_mttl_compiler *c, enum pt_mttl_opcode op)
{
    pt_mttl_emit(c, op, 0);
    return c->draft->op_count - 1;
}

static void land(struct pt_mttl_compiler *c, uint32_t jump)
{
    c->draft->ops[jump].arg = c->draft->op_count;
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

static enum pt_status export_value(struct pt_mttl_compiler *c, const struct pt_ast *node, uint32_t thread,
                                   uint32_t *ret_lookup) PT_WARN_UNUSED;

static enum pt_status push_operand(struct pt_mttl_compiler *c, struct expression *e, const struct pt_ast *node,
                                   uint32_t kind, uint32_t index)
{
    struct pt_mttl_operand operand = {kind, index};
    struct pt_insn insn = {PT_CODE_VAR, e->operand_count};
    if (e->operand_count == PT_MTTL_OPERANDS)
        return pt_mttl_fail(c, node, "a comparison can have %d operands, and this is one more", PT_MTTL_OPERANDS);
    if (++e->depth > PT_CODE_MAX_DEPTH)
        return pt_mttl_fail(c, node, "this expression is nested too deeply: more than %d operands at once",
                            PT_CODE_MAX_DEPTH);
    if (e->depth > e->max_depth)
        e->max_depth = e->depth;
    PT_PUSH(e->operands, e->operand_count, e->operand_cap, operand);
    PT_PUSH(e->insns, e->count, e->cap, insn);
    return PT_OK;
}

static enum pt_status compile_value(struct pt_mttl_compiler *c, struct expression *e, const struct pt_ast *node);

static enum pt_status compile_operator(struct pt_mttl_compiler *c, struct expression *e, const struct pt_ast *node)
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

static enum pt_status compile_value(struct pt_mttl_compiler *c, struct expression *e, const struct pt_ast *node)
{
    uint32_t thread = 0, lookup = 0;
    enum pt_status s;
    if (++c->work > MAX_WORK)
        return pt_mttl_fail(c, node, "the property is too large once its lets are expanded");
    switch (node->kind) {
    case PT_AST_LET:
    case PT_AST_RANGE:
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
        if ((s = pt_mttl_find_thread(c, node, &thread)) != PT_OK)
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
static enum pt_status compile_atom(struct pt_mttl_compiler *c, const struct pt_ast *node, bool truth,
                                   uint32_t *ret_atom)
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
                                    .text = pt_mttl_add_text(c, &text)};
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

static enum pt_status export_value(struct pt_mttl_compiler *c, const struct pt_ast *node, uint32_t thread,
                                   uint32_t *ret_lookup)
{
    struct pt_mttl_draft d;
    uint32_t atom = 0;
    pt_mttl_open_draft(c, &d, thread, node->thread.name);
    enum pt_status s = compile_atom(c, node->a, false, &atom);
    if (s != PT_OK) {
        pt_mttl_drop_draft(c);
        return s;
    }
    return pt_mttl_close_unit(c, PT_MTTL_VALUE, node->a, atom, 0, thread, node, ret_lookup);
}

/* --- formulas --- */

static enum pt_status compile_comparison(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    uint32_t atom = 0;
    enum pt_status s = compile_atom(c, node, !pt_ast_is_comparison((enum pt_ast_kind)node->kind), &atom);
    if (s == PT_OK)
        pt_mttl_emit(c, PT_MTTL_OP_ATOM, atom);
    return s;
}

/* @t f: f in place where t is self; an export of t otherwise. */
static enum pt_status compile_known(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    struct pt_mttl_draft d;
    uint32_t thread = 0, lookup = 0;
    enum pt_status s = pt_mttl_find_thread(c, node, &thread);
    if (s != PT_OK)
        return s;
    if (thread == c->draft->self)
        return compile_formula(c, node->a);
    if (node->type != PT_TYPE_FORMULA)
        return compile_comparison(c, node);
    pt_mttl_open_draft(c, &d, thread, node->thread.name);
    if ((s = compile_formula(c, node->a)) != PT_OK) {
        pt_mttl_drop_draft(c);
        return s;
    }
    pt_mttl_emit(c, PT_MTTL_OP_END, 0);
    s = pt_mttl_close_unit(c, PT_MTTL_FORMULA, node->a, 0, 0, thread, node, &lookup);
    if (s == PT_OK)
        pt_mttl_emit(c, PT_MTTL_OP_LOOKUP, lookup);
    return s;
}

/* A past operator: a unit of the same thread, with a program for each operand. */
static enum pt_status compile_past(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    enum pt_mttl_kind kind = (enum pt_mttl_kind)(node->kind - PT_AST_PREVIOUSLY + PT_MTTL_PREVIOUSLY);
    struct pt_mttl_draft d;
    uint32_t self = c->draft->self, b = 0, lookup = 0;
    pt_mttl_open_draft(c, &d, self, c->draft->self_name);
    enum pt_status s = compile_formula(c, node->a);
    pt_mttl_emit(c, PT_MTTL_OP_END, 0);
    if (s == PT_OK && node->b) {
        b = d.op_count;
        s = compile_formula(c, node->b);
        pt_mttl_emit(c, PT_MTTL_OP_END, 0);
    }
    if (s != PT_OK) {
        pt_mttl_drop_draft(c);
        return s;
    }
    s = pt_mttl_close_unit(c, kind, node, 0, b, self, node, &lookup);
    if (s == PT_OK)
        pt_mttl_emit(c, PT_MTTL_OP_LOOKUP, lookup);
    return s;
}

static enum pt_status compile_quantifier(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    uint32_t except = PT_MTTL_NO_EXCEPTION, symbol;
    enum pt_status s = PT_OK;
    if (node->thread.name && (s = pt_mttl_find_thread(c, node, &except)) != PT_OK)
        return s;
    c->t.flags |= PT_MTTL_THREADS;
    symbol = pt_mttl_new_symbol(c, node->text);
    pt_mttl_bind(c, node->text, symbol);
    pt_mttl_begin_loop(c, node->kind == PT_AST_EXISTS, symbol,
                       except == PT_MTTL_NO_EXCEPTION ? except : pt_mttl_reference(c->draft, except));
    s = compile_formula(c, node->a);
    pt_mttl_end_loop(c);
    c->scope_count--;
    return s;
}

/* && || -> <-> */
static enum pt_status compile_binary(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    struct pt_mttl_draft *d = c->draft;
    uint32_t jump = 0;
    enum pt_status s = compile_formula(c, node->a);
    if (s != PT_OK)
        return s;
    if (node->kind == PT_AST_IFF) {
        if (d->stack == PT_MTTL_STACK)
            return pt_mttl_fail(c, node, "more than %d '<->' stand inside each other", PT_MTTL_STACK);
        pt_mttl_emit(c, PT_MTTL_OP_PUSH, 0);
        d->stack++;
        s = compile_formula(c, node->b);
        pt_mttl_emit(c, PT_MTTL_OP_IFF, 0);
        d->stack--;
        return s;
    }
    if (node->kind == PT_AST_IMPLIES)
        pt_mttl_emit(c, PT_MTTL_OP_NOT, 0);
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
static enum pt_status compile_for_others(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    pt_mttl_bind(c, "this", c->draft->self);
    enum pt_status s = compile_formula(c, node);
    c->scope_count--;
    return s;
}

/* atomic_block(B) > 0 -> !(exists other != this: atomic_block(B) == @other @this atomic_block(B)), B read as a value */
static enum pt_status compile_atomic_block(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    struct pt_ast block = *node, zero = tree(node, PT_AST_NUMBER, NULL, NULL);
    block.type = zero.type = PT_TYPE_NUMBER;
    zero.value = pt_value_int(0);
    zero.text = "0";
    struct pt_ast inside = tree(node, PT_AST_GT, &block, &zero);
    struct pt_ast mine = about(node, PT_AST_KNOWN, "this", &block), theirs = about(node, PT_AST_KNOWN, "other", &mine);
    mine.type = theirs.type = PT_TYPE_NUMBER;
    theirs.text = PT_MTTL_TEXT_DISTURBED;
    struct pt_ast same = tree(node, PT_AST_EQ, &block, &theirs);
    struct pt_ast exists = about(node, PT_AST_EXISTS, "this", &same);
    exists.text = "other";
    struct pt_ast none = tree(node, PT_AST_NOT, &exists, NULL), all = tree(node, PT_AST_IMPLIES, &inside, &none);
    return compile_for_others(c, &all);
}

/* --- */

static enum pt_status compile_leaf(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    bool read = node->kind == PT_AST_READ;
    switch (node->kind) {
    case PT_AST_BOOL:
        pt_mttl_emit(c, PT_MTTL_OP_CONST, node->value.i != 0);
        return PT_OK;
    case PT_AST_EVENT:
        pt_mttl_emit(c, PT_MTTL_OP_EVENT, pt_mttl_add_event(&c->t, node->text));
        return PT_OK;
    case PT_AST_READ:
    case PT_AST_WRITE:
        pt_mttl_emit(c, read ? PT_MTTL_OP_READ : PT_MTTL_OP_WRITE,
                     pt_mttl_add_var(&c->t, node->var, PT_MTTL_USE_ACCESS));
        return PT_OK;
    default:
        return compile_comparison(c, node);
    }
}

static enum pt_status compile_formula(struct pt_mttl_compiler *c, const struct pt_ast *node)
{
    enum pt_status s;
    if (++c->work > MAX_WORK)
        return pt_mttl_fail(c, node, "the property is too large once its lets are expanded");
    switch (node->kind) {
    case PT_AST_LET:
        return compile_formula(c, node->a);
    case PT_AST_NOT:
        s = compile_formula(c, node->a);
        pt_mttl_emit(c, PT_MTTL_OP_NOT, 0);
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
    case PT_AST_ATOMIC_BLOCK:
        return compile_atomic_block(c, node);
    default:
        return pt_ast_is_past((enum pt_ast_kind)node->kind) ? compile_past(c, node) : compile_leaf(c, node);
    }
}

static enum pt_status compile_property(struct pt_mttl_compiler *c, const struct pt_property *property)
{
    const struct pt_ast *at = property->ast;
    struct pt_mttl_draft d;
    uint32_t self = 0, unit = 0;
    enum pt_status s = PT_OK;
    c->property = property;
    c->scope_count = 0;
    if (at->kind == PT_AST_AT_EACH) {
        self = pt_mttl_new_symbol(c, at->text);
        pt_mttl_bind(c, at->text, self);
    } else if ((s = pt_mttl_find_thread(c, at, &self)) != PT_OK) {
        return s;
    }
    pt_mttl_open_draft(c, &d, self, at->kind == PT_AST_AT_EACH ? at->text : at->thread.name);
    s = compile_formula(c, at->a);
    pt_mttl_emit(c, PT_MTTL_OP_END, 0);
    if (s == PT_OK)
        s = pt_mttl_finish_unit(c, PT_MTTL_PROPERTY, at->a, 0, 0, &unit);
    pt_mttl_drop_draft(c);
    if (s != PT_OK)
        return s;
    struct pt_mttl_property entry = {.name = pt_mttl_add_string(&c->t, property->name, strlen(property->name)),
                                     .text = pt_mttl_add_string(&c->t, property->text, strlen(property->text)),
                                     .file = pt_mttl_add_string(&c->t, property->file, strlen(property->file)),
                                     .line = property->line,
                                     .at = pt_mttl_is_symbol(self) ? PT_MTTL_ANY : self,
                                     .unit = unit};
    PT_PUSH(c->t.properties, c->t.property_count, c->t.property_cap, entry);
    return PT_OK;
}

enum pt_status pt_mttl_compile(const struct pt_property *const *properties, uint32_t count, struct pt_mttl **ret_block,
                               struct pt_err *err)
{
    struct pt_mttl_compiler c = {.err = err};
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
