/*
 * Built-in checks that a running program does itself (runtime/found/found.h): what it reports becomes findings, as
 * check.h makes them of a trace, one for each check that was asked for.
 */
#ifndef PT_ENGINE_FOUND_H
#define PT_ENGINE_FOUND_H

#include "core/found.h"
#include "engine/analysis.h"

/* How a recording of the run names things; each may be NULL, and may give NULL for what it does not know. Texts live
 * during the call. */
struct pt_found_names {
    const char *(*object)(void *context, uint64_t address, enum pt_space space);
    /* `settle`: whatever is known by now; otherwise NULL where the name is not final. Numbers are those of the report.
     */
    const char *(*thread)(void *context, uint64_t number, bool settle);
    void *context;
};

struct pt_founds;

/* `checks`: 1 << enum pt_found_check, or-ed. `properties`: the findings of the race_free properties, by their numbers
 * in the program's configuration; those are the caller's, and get what is reported for them. The options' callbacks are
 * called for each finding as it comes. */
struct pt_founds *pt_founds_new(uint32_t checks, struct pt_finding *const *properties, uint32_t property_count,
                                const struct pt_found_names *names, const struct pt_analysis_options *options);
void pt_founds_free(struct pt_founds *founds);
/* A report, or (without bytes) how often by now. Bytes that are not whole are ignored. */
void pt_founds_take(struct pt_founds *founds, uint64_t key, uint64_t count, const char *report, size_t bytes);
/* Not all accesses are looked at, for this reason, which lives as long as `founds`; deadlocks are no matter of it.
 * `asked`: nobody wants to know of the others, so a check that finds nothing still holds, and says what it did not look
 * at; otherwise it is unknown. */
void pt_founds_leave_out(struct pt_founds *founds, const char *why, bool asked);
/* The run has ended; `lost`: something of it is missing. Adds what was found to the result, whose findings are then a
 * list of ours; valid until this is freed. A check that found nothing holds, in the observed run, unless that was lost.
 */
void pt_founds_finish(struct pt_founds *founds, const char *lost, struct pt_result *result);

#endif
