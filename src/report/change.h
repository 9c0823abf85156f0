/* A verdict that changes while a program is watched, in words and as a member of the JSON object. */
#ifndef PT_REPORT_CHANGE_H
#define PT_REPORT_CHANGE_H

#include "finding/finding.h"
#include "report/json_writer.h"
#include "report/style.h"

/* To unknown or back. Violations and errors have a report of their own (report/text.h). */
void pt_change_text(const struct pt_change *change, const struct pt_style *style, struct pt_buf *buf);
void pt_change_json(const struct pt_change *change, struct pt_json *json);
/* "{1, 2, 4}" */
void pt_change_states(const uint32_t *states, uint32_t count, struct pt_buf *buf);

#endif
