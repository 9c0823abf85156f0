/* What the parts of the MtTL compiler share; nothing outside the folder includes this. */
#ifndef PT_LOGIC_MTTL_BUILD_H
#define PT_LOGIC_MTTL_BUILD_H

#include "base/buf.h"
#include "base/table.h"
#include "logic/ast.h"
#include "logic/mttl.h"

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

/* --- mttl_block.c --- */
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

/* --- mttl_text.c: a tree in the language's own words; `let` names stay names --- */
void pt_mttl_text(const struct pt_ast *node, enum pt_ast_level level, struct pt_buf *buf);

#endif
