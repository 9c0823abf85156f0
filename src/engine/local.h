/*
 * Decentralised properties that a running program evaluates itself (runtime/local/monitor.h): what its threads report
 * becomes findings, as knowledge.h makes them of a trace.
 */
#ifndef PT_ENGINE_LOCAL_H
#define PT_ENGINE_LOCAL_H

#include "core/mttl.h"
#include "engine/analysis.h"

struct pt_locals;

/* findings[k] is that of property k of the block, already described. All of them outlive it. */
struct pt_locals *pt_locals_new(const struct pt_mttl *block, const struct pt_property *const *properties,
                                struct pt_finding *const *findings, const struct pt_names *names,
                                const struct pt_analysis_options *options);
void pt_locals_free(struct pt_locals *locals);
void pt_locals_take(struct pt_locals *locals, const struct pt_thread_report *report);
/* Events and threads of the program, as far as they were reported: a thread reports when it ends. */
void pt_locals_counts(const struct pt_locals *locals, uint64_t *ret_events, uint64_t *ret_threads);
void pt_locals_finish(struct pt_locals *locals, const char *lost);

#endif
