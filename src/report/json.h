/* The JSON object of `check` (contract section 4). */
#ifndef PT_REPORT_JSON_H
#define PT_REPORT_JSON_H

#include "base/buf.h"
#include "finding/finding.h"
#include "report/json_writer.h"

struct pt_made;

/* The member "made" of a result; NULL: it has none. */
void pt_report_json_made(const struct pt_made *made, struct pt_json *json);

/* One line, with a newline at its end. */
void pt_report_json(const struct pt_result *result, struct pt_buf *buf);
/* The member "suppressions", where some were asked for. */
void pt_report_json_suppressions(const struct pt_result *result, struct pt_json *json);

#endif
