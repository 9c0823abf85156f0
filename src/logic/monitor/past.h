/*
 * Past-time formulas as a deterministic machine: at most one remembered bit per temporal subformula, one linear pass
 * over the subformulas per state (Havelund and Roşu, "Synthesizing monitors for safety properties"; the first state as
 * contract section 2 defines it).
 */
#ifndef PT_LOGIC_MONITOR_PAST_H
#define PT_LOGIC_MONITOR_PAST_H

#include "base/err.h"
#include "logic/formula/bdd.h"
#include "logic/formula/formula.h"

struct pt_past {
    const struct pt_fpool *pool;
    pt_formula *nodes; /* the subformulas of the roots, operands before operators */
    uint32_t node_count;
    uint32_t *local;      /* pool id -> index into nodes, PT_NONE for others */
    uint32_t *memory;     /* index into nodes -> its bit in the memory, PT_NONE where it needs none */
    uint32_t memory_bits; /* at most 64 */
};

/* What is remembered between two states. `first`: there is no state yet. */
struct pt_past_memory {
    uint64_t bits;
    bool first;
};

/* The roots have no future operators. PT_ELIMIT when more than 64 bits would have to be remembered. */
enum pt_status pt_past_init(struct pt_past *past, const struct pt_fpool *pool, const pt_formula *roots,
                            uint32_t root_count, struct pt_err *err) PT_WARN_UNUSED;
void pt_past_release(struct pt_past *past);
struct pt_past_memory pt_past_start(const struct pt_past *past);
/* One state: proposition i is bit i of `letter`; values[k] becomes the value of nodes[k]. */
struct pt_past_memory pt_past_step(const struct pt_past *past, struct pt_past_memory memory, uint64_t letter,
                                   bool *values);
/* The same for all letters at once: values[k] and next[bit] become BDDs over the propositions. */
void pt_past_step_symbolic(const struct pt_past *past, struct pt_past_memory memory, struct pt_bdds *bdds,
                           pt_bdd *values, pt_bdd *next);

#endif
