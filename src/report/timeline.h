/*
 * The ThreadMonitor's picture of a trace (JamaicaVM paper, Figure 2) as SVG: a line per thread, thick where it runs;
 * flags for locks entered (to the right of the pole) and left (to the left), octagons for contention, circles for
 * accesses, boxes for user events.
 */
#ifndef PT_REPORT_TIMELINE_H
#define PT_REPORT_TIMELINE_H

#include "base/buf.h"
#include "trace/event.h"

/* What one picture holds; more is left out, and the picture says so. */
enum { PT_TIMELINE_THREADS = 50, PT_TIMELINE_MARKS = 3000 };

struct pt_timeline;

/* `name` is the trace's; both outlive this. */
struct pt_timeline *pt_timeline_new(const char *name, const struct pt_names *names);
void pt_timeline_event(struct pt_timeline *timeline, const struct pt_event *event);
/* One sentence when something does not fit into the picture, else "". Valid until it is finished. */
const char *pt_timeline_limits(struct pt_timeline *timeline);
/* Appends the picture, and frees. */
void pt_timeline_finish(struct pt_timeline *timeline, struct pt_buf *buf);

#endif
