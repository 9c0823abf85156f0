/* What the parts of the MtTL compiler share; nothing outside the folder includes this. */
#ifndef PT_LOGIC_MTTL_BUILD_H
#define PT_LOGIC_MTTL_BUILD_H

#include "base/buf.h"
#include "base/table.h"
#include "logic/lang/ast.h"
#include "logic/mttl/mttl.h"

/* The tables of a block while they grow. A string is its offset in `strings`. */
struct pt_mttl_tables {
    struct pt_buf strings;
    struct pt_strtab string_ids, unit_ids; /* a unit's key: see mttl.c */
    uint32_t *string_offsets, *unit_indexes;
    size_t string_cap, unit_index_cap;
    struct pt_strtab thread_ids, var_ids, event_ids, block_ids; /* by target */
    struct pt_mttl_name *threads, *vars, *events, *blocks;
    struct pt_mttl_property *properties;
    struct pt_mttl_unit *units;
    struct pt_mttl_op *ops;
    struct pt_mttl_loop *loops;
    struct pt_mttl_lookup *lookups;
    struct pt_mttl_atom *atoms;
    struct pt_insn *insns;
    struct pt_mttl_operand *operands;
    struct pt_mttl_constant *constants;
    uint32_t thread_count, var_count, event_count, block_count, property_count, unit_count, op_count, loop_count,
        lookup_count, atom_count, insn_count, operand_count, constant_count;
    size_t thread_cap, var_cap, event_cap, block_cap, property_cap, unit_cap, op_cap, loop_cap, lookup_cap, atom_cap,
        insn_cap, operand_cap, constant_cap;
    uint32_t flags;
    uint32_t past[PT_MTTL_PARAMS + 1], exports[PT_MTTL_PARAMS + 1];
};

/* --- mttl/block.c --- */
void pt_mttl_tables_init(struct pt_mttl_tables *t);
void pt_mttl_tables_release(struct pt_mttl_tables *t);
uint32_t pt_mttl_add_string(struct pt_mttl_tables *t, const char *text, size_t len);
/* Their indices; the same name has the same one. */
uint32_t pt_mttl_add_thread(struct pt_mttl_tables *t, const char *name, const char *target);
uint32_t pt_mttl_add_var(struct pt_mttl_tables *t, const struct pt_varref *var, uint32_t use);
uint32_t pt_mttl_add_event(struct pt_mttl_tables *t, const char *name);
uint32_t pt_mttl_add_block(struct pt_mttl_tables *t, const char *name);
uint32_t pt_mttl_add_constant(struct pt_mttl_tables *t, struct pt_value value);
/* The finished block, malloc'ed; NULL when it is larger than 4 GiB. */
struct pt_mttl *pt_mttl_tables_pack(const struct pt_mttl_tables *t);

/* --- mttl/text.c: a tree in the language's own words; `let` names stay names --- */
void pt_mttl_text(const struct pt_ast *node, enum pt_level level, struct pt_buf *buf);

/* --- mttl/unit.c: threads, ops, and units under construction --- */
/* A name in scope: a variable's symbol, or a named thread's slot. */
struct pt_mttl_binding {
    const char *name;
    uint32_t thread;
};

struct pt_mttl_open_loop {
    struct pt_mttl_loop loop; /* variable, except: symbols; from, to: relative to the unit's program */
    uint32_t depth;           /* quantifiers around it in the unit */
};

/* A unit under construction. */
struct pt_mttl_draft {
    struct pt_mttl_draft *around;
    uint32_t self; /* a slot or a symbol */
    const char *self_name;
    struct pt_mttl_op *ops;
    uint32_t op_count;
    size_t op_cap;
    struct pt_mttl_open_loop *loops;
    uint32_t loop_count;
    size_t loop_cap;
    uint32_t *lookups; /* their indices */
    uint32_t lookup_count;
    size_t lookup_cap;
    uint32_t stack, loop, depth; /* at the next op: truth values on the stack, innermost loop + 1, loops around */
    uint32_t params[PT_MTTL_PARAMS];
    uint32_t param_count;
};

struct pt_mttl_compiler {
    struct pt_mttl_tables t;
    const struct pt_property *property;
    struct pt_mttl_draft *draft;
    struct pt_mttl_binding *scope;
    uint32_t scope_count;
    size_t scope_cap;
    const char **symbols; /* names of all variables so far */
    uint32_t symbol_count;
    size_t symbol_cap;
    uint32_t work;
    struct pt_err *err;
};

static inline bool pt_mttl_is_symbol(uint32_t thread)
{
    return thread >= PT_MTTL_ENV0 && thread != PT_MTTL_SELF;
}

static inline uint32_t pt_mttl_reference(const struct pt_mttl_draft *d, uint32_t thread)
{
    return thread == d->self ? PT_MTTL_SELF : thread;
}

enum pt_status pt_mttl_fail(struct pt_mttl_compiler *c, const struct pt_ast *node, const char *fmt, ...)
    PT_PRINTF(3, 4);
/* A subformula's text for reports, which need not be whole. */
uint32_t pt_mttl_add_text(struct pt_mttl_compiler *c, const struct pt_buf *text);
uint32_t pt_mttl_new_symbol(struct pt_mttl_compiler *c, const char *name);
void pt_mttl_bind(struct pt_mttl_compiler *c, const char *name, uint32_t thread); /* undo: scope_count-- */
/* A slot or a symbol: the innermost variable of that name, else the thread of that name. */
enum pt_status pt_mttl_find_thread(struct pt_mttl_compiler *c, const struct pt_ast *node,
                                   uint32_t *ret_thread) PT_WARN_UNUSED;
void pt_mttl_emit(struct pt_mttl_compiler *c, enum pt_mttl_opcode op, uint32_t arg);
void pt_mttl_begin_loop(struct pt_mttl_compiler *c, bool exists, uint32_t symbol, uint32_t except);
void pt_mttl_end_loop(struct pt_mttl_compiler *c);
void pt_mttl_open_draft(struct pt_mttl_compiler *c, struct pt_mttl_draft *d, uint32_t self, const char *self_name);
void pt_mttl_drop_draft(struct pt_mttl_compiler *c);
/* The present draft as a unit, an old one if there is one that says the same; the draft stays open. */
enum pt_status pt_mttl_finish_unit(struct pt_mttl_compiler *c, enum pt_mttl_kind kind, const struct pt_ast *node,
                                   uint32_t a, uint32_t b, uint32_t *ret_unit) PT_WARN_UNUSED;
/* Ends the present draft and looks its unit up from the draft around it. */
enum pt_status pt_mttl_close_unit(struct pt_mttl_compiler *c, enum pt_mttl_kind kind, const struct pt_ast *body,
                                  uint32_t a, uint32_t b, uint32_t thread, const struct pt_ast *node,
                                  uint32_t *ret_lookup) PT_WARN_UNUSED;

#endif
