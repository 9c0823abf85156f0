/* What is said of `within` properties: the event or the silence that decided, and lines of a log. */
#ifndef PT_REPORT_WITHIN_H
#define PT_REPORT_WITHIN_H

#include "finding/finding.h"
#include "report/style.h"
#include "trace/event.h"

bool pt_within_is(const struct pt_finding *finding);
/* The sentence, the event, its place and time, the automaton's states before it, and the SUMMARY line. */
void pt_within_violation(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
void pt_within_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);

/* "2.5 ms": a time with the unit that fits it, exactly. */
void pt_within_time(struct pt_buf *buf, uint64_t nanoseconds);

/*
 * A line of the log of the JamaicaVM paper's Figures 5 and 6, without newline: the event, with the time since the one
 * before it, and the automaton's current states. `before` is the time of the event before, or that of the event itself.
 */
void pt_within_log(const struct pt_names *names, const struct pt_event *event, uint64_t before, const uint32_t *states,
                   uint32_t count, bool final, struct pt_buf *buf);

#endif
