/* The inside of pt_syncp: syncp.c keeps the accesses, syncp_kinds.c says which may race, syncp_ask.c compares them. */
#ifndef PT_PREDICT_SYNCP_IMPL_H
#define PT_PREDICT_SYNCP_IMPL_H

#include "predict/syncp.h"

enum { PT_SYNCP_SCANNED = 32 }; /* groups of a variable that are looked through; later ones are found by the index */

/* By their kinds. */
bool pt_syncp_may_race(const struct pt_syncp *s, const struct pt_syncp_kind *a, const struct pt_syncp_kind *b);
/* The kind of a group, by its index among its variable's. */
uint32_t pt_syncp_kind_of(struct pt_syncp *s, struct pt_syncp_var *var, const struct pt_syncp_group *like);
void pt_syncp_drop_kinds(struct pt_syncp *s, struct pt_syncp_var *var);
/* Whether the access, which is the variable's latest, of that kind, needs all that may race with it. */
bool pt_syncp_needs_all(struct pt_syncp *s, struct pt_syncp_var *var, uint32_t kind, uint32_t thread,
                        const struct pt_syncp_access *now);

/* From here on somebody asks what the latest accesses of groups are. */
void pt_syncp_begin_asking(struct pt_syncp *s, struct pt_syncp_var *var);
/* The group's present access asks the others of its variable; each race is told. */
void pt_syncp_ask(struct pt_syncp *s, struct pt_syncp_group *g, const struct pt_syncp_access *now);
/* Nobody will ask the group any more. */
void pt_syncp_give_up(struct pt_syncp *s, struct pt_syncp_group *g);

#endif
