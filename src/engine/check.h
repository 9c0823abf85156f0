/*
 * Built-in checks: what is looked for in a run without a property. Each is a struct pt_check_kind and a row of
 * checks.def; commands make their options from the rows, feed the checks that were chosen, and pass on what they found
 * without knowing which they are.
 */
#ifndef PT_ENGINE_CHECK_H
#define PT_ENGINE_CHECK_H

#include "base/err.h"
#include "engine/group.h"
#include "finding/finding.h"
#include "trace/event.h"

/* The widest order (contract section 3) in which is looked for more than the recorded run has: each has those before.
 */
enum pt_check_order { PT_CHECK_ACCESS, PT_CHECK_SYNC, PT_CHECK_VALUES };

struct pt_check_options {
    const char *trace; /* its name, for places in messages */
    enum pt_check_order order;
    bool automatic;  /* the wider orders only as far as memory goes, which is no reason to know less of the run */
    uint64_t near;   /* events before a race from which on a run may differ from the recorded one; 0, PT_ALL: all */
    bool by_default; /* nobody asked for it: no finding where the trace does not have what the check needs */
    uint64_t counted_before;      /* as in struct pt_analysis_options */
    uint64_t memory_limit;        /* bytes, for each check; 0: none */
    uint64_t log_limit;           /* without one: bytes of events that are kept for searches; 0: no end */
    uint64_t (*now)(void);        /* nanoseconds, for `seconds` and `effort`; may be NULL */
    uint64_t effort;              /* nanoseconds that searches may take in `values`; 0: no end */
    const struct pt_group *group; /* processes that do it together (group.h); NULL: alone */
    /* Whether people have decided about a finding before; NULL: about none. */
    bool (*suppressed)(void *context, const struct pt_finding *finding);
    void *context;
};

/* What a check found out: one of the two, which belongs to the check. */
struct pt_check_found {
    /* An entry of "properties" (contract section 4), `builtin`, of which each violation has its sides; the others than
     * the first are `more`. Text, JSON, results read back, reports, suppressions, baselines and the exit status come
     * from that. */
    struct pt_finding *finding;
    /* Of atomicity: as `model` reports the blocks of a program, in a member of their own. */
    struct pt_block_findings *blocks;
};

struct pt_check_kind {
    /* The names and what the options point to outlive the check. */
    void *(*begin)(const struct pt_names *names, const struct pt_check_options *options);
    /* Every event of the trace in order, each a possible one after those before it. PT_EINPUT, with its place: this
     * one makes no sense to the check. */
    enum pt_status (*event)(void *check, const struct pt_event *event, struct pt_err *err);
    /* The same of several, which have no clocks. *ret_taken: how many were, which are not all where one makes no sense.
     * NULL: `event` is called for each. */
    enum pt_status (*events)(void *check, const struct pt_event *events, uint32_t count, uint32_t *ret_taken,
                             struct pt_err *err);
    /* The trace has ended; `lost`: why events are missing, NULL. Called at most once. */
    struct pt_check_found (*finish)(void *check, const char *lost);
    void (*free)(void *check);
};

#define PT_CHECK(name, help) extern const struct pt_check_kind pt_check_##name;
#include "engine/checks.def"

/* Several checks in one pass. */
struct pt_checks;

struct pt_checks *pt_checks_new(const struct pt_check_kind *const *kinds, uint32_t count, const struct pt_names *names,
                                const struct pt_check_options *options);
void pt_checks_free(struct pt_checks *checks);
/* Stops at the first check that refuses the event. */
enum pt_status pt_checks_event(struct pt_checks *checks, const struct pt_event *event,
                               struct pt_err *err) PT_WARN_UNUSED;
/* The same of several, which have no clocks (pt_source_some): stops before the first event that some check refuses. */
enum pt_status pt_checks_events(struct pt_checks *checks, const struct pt_event *events, uint32_t count,
                                struct pt_err *err) PT_WARN_UNUSED;
/* Of one check. */
enum pt_status pt_check_events(const struct pt_check_kind *kind, void *check, const struct pt_event *events,
                               uint32_t count, uint32_t *ret_taken, struct pt_err *err) PT_WARN_UNUSED;
/* Adds what was found to the result, whose findings are then a list of ours; valid until the checks are freed. */
void pt_checks_finish(struct pt_checks *checks, const char *lost, struct pt_result *result);

#endif
