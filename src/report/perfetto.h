/*
 * A trace as Chrome trace-event JSON, which Perfetto, speedscope and chrome://tracing open: a track per thread with its
 * scheduler states, and beside it one for each lock it holds at the same time.
 */
#ifndef PT_REPORT_PERFETTO_H
#define PT_REPORT_PERFETTO_H

#include "base/buf.h"
#include "trace/event.h"

struct pt_perfetto;

/* `name` is the trace's. Appends to `buf` as events come; names and buf outlive this. */
struct pt_perfetto *pt_perfetto_new(const char *name, const struct pt_names *names, struct pt_buf *buf);
void pt_perfetto_event(struct pt_perfetto *perfetto, const struct pt_event *event);
/* Ends what is still open, completes the JSON, and frees. */
void pt_perfetto_finish(struct pt_perfetto *perfetto);

#endif
