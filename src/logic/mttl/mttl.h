/*
 * Decentralised properties (`at T:`, `at each i:`) to the block that core/mttl.h evaluates.
 */
#ifndef PT_LOGIC_MTTL_MTTL_H
#define PT_LOGIC_MTTL_MTTL_H

#include "core/mttl.h"
#include "logic/lang/property.h"

/*
 * All properties, of kind PT_KIND_MTTL, in one block, which the caller frees. Property k of the block is properties[k].
 * PT_ELIMIT, with a place, when one is larger than a block can hold (core/mttl.h has the limits).
 */
enum pt_status pt_mttl_compile(const struct pt_property *const *properties, uint32_t count, struct pt_mttl **ret_block,
                               struct pt_err *err) PT_WARN_UNUSED;

#endif
