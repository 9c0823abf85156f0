/* The inside of pt_syncp: syncp.c keeps the accesses, syncp_ask.c compares them. */
#ifndef PT_PREDICT_SYNCP_IMPL_H
#define PT_PREDICT_SYNCP_IMPL_H

#include "predict/syncp.h"

enum { PT_SYNCP_SCANNED = 32 }; /* groups of a variable that are looked through; later ones are found by the index */

/* By their kinds. */
bool pt_syncp_may_race(const struct pt_syncp *s, const struct pt_syncp_kind *a, const struct pt_syncp_kind *b);
/* The group's present access asks the others of its variable, unless it needs them all; each race is told. */
void pt_syncp_ask(struct pt_syncp *s, struct pt_syncp_group *g, const struct pt_syncp_access *now, bool needs_all);

#endif
