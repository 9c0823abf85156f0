/*
 * Decentralised properties on a trace: what each thread knows in each of its states, by the KNOWLEDGEVECTOR algorithm
 * of the DAME paper (section 2.3) as core/mttl.h has it. The runtime does the same inside the program; this one also
 * takes traces that carry clocks.
 *
 * Guarantee. Exact: a state is reported iff the formula is false in it by the paper's Table 1, over the order of
 * contract section 3. What is found is the same for every run that this order allows, so `how` is always observed.
 *
 * Cost. A read or write that teaches nothing compares two pointers; one that does, costs the number of threads and
 * variables that properties ask about. A state in which nothing changed is only counted.
 */
#ifndef PT_ENGINE_KNOWLEDGE_H
#define PT_ENGINE_KNOWLEDGE_H

#include "engine/analysis.h"

struct pt_knowledge;

/* findings[k] is that of properties[k], already described; what cannot be compiled is an error there. All of them,
 * names and options outlive the engine. NULL when there is no property. */
struct pt_knowledge *pt_knowledge_new(const struct pt_property *const *properties, struct pt_finding *const *findings,
                                      uint32_t count, const struct pt_names *names,
                                      const struct pt_analysis_options *options);
void pt_knowledge_free(struct pt_knowledge *knowledge);
/* Every event in order, init lines included. PT_EINPUT when a c= clock makes no sense. */
enum pt_status pt_knowledge_event(struct pt_knowledge *knowledge, const struct pt_event *event,
                                  struct pt_err *err) PT_WARN_UNUSED;
/* Events are missing here: nothing that comes after can be judged. */
void pt_knowledge_gap(struct pt_knowledge *knowledge);
void pt_knowledge_finish(struct pt_knowledge *knowledge, const char *lost);

/* The index of a name in one of a block's tables, PT_NONE when it is not there. */
uint32_t pt_knowledge_find(const struct pt_mttl *m, struct pt_mttl_table table, const char *name);

#endif
