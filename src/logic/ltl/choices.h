/* The tableau by lists of choices instead of decision diagrams, for formulas over many propositions. */
#ifndef PT_LOGIC_LTL_CHOICES_H
#define PT_LOGIC_LTL_CHOICES_H

#include "logic/ltl/tgba.h"

/* NULL where some state has more choices than a short list, or past the limits. Not pruned. */
struct pt_tgba *pt_tgba_by_choices(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit);

#endif
