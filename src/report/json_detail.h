/* What the JSON object says beyond contract section 4 (docs/reports.md lists it). */
#ifndef PT_REPORT_JSON_DETAIL_H
#define PT_REPORT_JSON_DETAIL_H

#include "finding/finding.h"
#include "report/json_writer.h"

/* Members of the property's object. */
void pt_json_detail(struct pt_json *json, const struct pt_finding *finding);
/* Of a violation: what people decided about it, in how many results it was found, and whether another run broke it. */
void pt_json_decisions(struct pt_json *json, const struct pt_finding *finding);
/* The members of one event, as the contract has them. */
void pt_json_step(struct pt_json *json, const struct pt_step *step);
/* A list of them. */
void pt_json_steps(struct pt_json *json, const char *key, const struct pt_step *steps, uint32_t count);
/* One side of what a built-in check found, or of what another run has shown of it (check.c). */
void pt_json_side(struct pt_json *json, const char *key, const struct pt_side *side);
/* What `confirm` holds a program to, where the finding has it. */
void pt_json_schedule(struct pt_json *json, const struct pt_finding *finding);

#endif
