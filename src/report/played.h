/* Schedules that `explore` found: as text and as JSON; result_played.c reads them back. */
#ifndef PT_REPORT_PLAYED_H
#define PT_REPORT_PLAYED_H

#include "finding/finding.h"
#include "report/json_writer.h"
#include "report/style.h"

/* A failure: how it ended, the schedule beside the nearest that passed, who waits for what, and the SUMMARY line. */
void pt_played_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* "main runs to a.c:10, worker runs to b.c:20, main goes on". */
void pt_played_sentence(const struct pt_played *played, struct pt_buf *buf);
/* Of what a check found: the schedule that shows it, and how to see it again. */
void pt_played_shows(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf);
/* "main waits at a.c:10 to lock m, which worker has". */
void pt_played_wait(const struct pt_played_wait *wait, struct pt_buf *buf);
/* Members of the finding's object. */
void pt_played_json(struct pt_json *json, const struct pt_played *played);
/* The member "explore" of the result. */
void pt_explored_json(struct pt_json *json, const struct pt_explored *explored);

#endif
