/* Living with findings: what is suppressed or known from a baseline does not count. */
#ifndef PT_CLI_COMMON_TRIAGE_H
#define PT_CLI_COMMON_TRIAGE_H

#include "base/buf.h"
#include "cli/common/options.h"
#include "finding/suppress.h"
#include "report/result.h"
#include "report/style.h"

/* Rows of the commands' tables of options. */
#define PT_OPTION_SUPPRESSIONS                                                                                         \
    {                                                                                                                  \
        "suppressions", 0, "FILE", NULL,                                                                               \
            "suppress the violations that this file lists (property:NAME, block:NAME and ThreadSanitizer's syntax); "  \
            "may be "                                                                                                  \
            "repeated"                                                                                                 \
    }
#define PT_OPTION_BASELINE                                                                                             \
    {                                                                                                                  \
        "baseline", 0, "FILE", NULL,                                                                                   \
            "report only violations that are not in this result of an earlier run; may be "                            \
            "repeated"                                                                                                 \
    }

struct pt_triage {
    struct pt_suppressions suppressions;
    struct pt_baseline_entry {
        struct pt_finding_id id;
        char *property;
    } * known;
    uint32_t known_count;
    size_t known_cap;
};

void pt_triage_init(struct pt_triage *triage);
void pt_triage_release(struct pt_triage *triage);
enum pt_status pt_triage_suppressions(struct pt_triage *triage, const char *path, struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_triage_baseline(struct pt_triage *triage, const char *path, struct pt_err *err) PT_WARN_UNUSED;
/* The files that the command line names by these options. */
enum pt_status pt_triage_load(struct pt_triage *triage, const struct pt_option *table, const struct pt_parsed *parsed,
                              struct pt_err *err) PT_WARN_UNUSED;

/* Whether a violation does not count; and before its run is known: whether it may turn out so. */
bool pt_triage_suppresses(const struct pt_triage *triage, const struct pt_finding *finding);
bool pt_triage_may_suppress(const struct pt_triage *triage, const struct pt_finding *finding);
/* Marks one block of a program. */
void pt_triage_block(struct pt_triage *triage, struct pt_block *block);
/* Marks the result's findings and blocks, and lists the suppressions in it. */
void pt_triage_apply(struct pt_triage *triage, struct pt_result *result);
/* What does not count and why, and which suppressions were of no use; nothing without either. */
void pt_triage_text(const struct pt_result *result, const struct pt_style *style, struct pt_buf *buf);

#endif
