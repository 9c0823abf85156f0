/* What a built-in check found (engine/check.h), whichever check it is: as text and as JSON. */
#ifndef PT_REPORT_CHECK_H
#define PT_REPORT_CHECK_H

#include "finding/finding.h"
#include "report/json_writer.h"
#include "report/style.h"

/* Whether it is a violation of a built-in check of this kind, with its sides. */
bool pt_check_is_of(const struct pt_finding *finding, const char *kind);
/* "data race on x", "double free of p, in another order of these events". */
void pt_check_what(const struct pt_finding *finding, struct pt_buf *buf);
/* "data race", "potential deadlock", "double free"; NULL: of another check. */
const char *pt_check_title(const struct pt_finding *finding);
/* What is to be said beside it, so that no more is claimed than is known; NULL: nothing. */
const char *pt_check_reserve(const struct pt_finding *finding);
void pt_check_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* One violation: how often, both sides with their calls and locks, and the SUMMARY line. */
void pt_check_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* What is said of a check's violations at the end, where they were reported as they came. */
void pt_check_again(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* The member "findings" of the check's object, and "untold" where there are more; result_check.c reads them back. */
void pt_check_json(struct pt_json *json, const struct pt_finding *finding);

#endif
