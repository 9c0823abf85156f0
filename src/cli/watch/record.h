/*
 * The recording of a stream as a trace that `check`, `report` and `convert` read (-o). It begins with what was so when
 * the connection was made: initial values, and a line for each lock held and each thread that is not running, so that
 * what follows is a possible run. Those lines are letters to `check`, which they were not to us; so what goes without
 * saying, a thread that runs, gets none. Gaps are `lost` lines. Of the clock the first reading is kept where it comes
 * before every event, since time counts from there, and the last one where it is later than every event: the others say
 * nothing that the events after them do not.
 */
#ifndef PT_CLI_WATCH_RECORD_H
#define PT_CLI_WATCH_RECORD_H

#include "trace/wire.h"
#include "trace/writer.h"

struct pt_recording {
    struct pt_writer *writer; /* NULL: nothing is recorded, or it failed and that was reported */
    struct pt_event *facts;   /* of the snapshot: they follow the initial values, whatever order they came in */
    uint32_t fact_count;
    size_t fact_cap;
    uint64_t lines;
    uint64_t written, clock; /* times: of the last line, and of the stream */
    bool started;            /* something of the stream itself is written */
    uint32_t loc;            /* "-" */
    uint32_t running;        /* the state */
};

/* The binary form when the name ends in .ptb. */
enum pt_status pt_recording_open(struct pt_recording *record, const char *path, struct pt_names *names,
                                 struct pt_err *err) PT_WARN_UNUSED;
/* A fact of the snapshot other than an initial value. */
void pt_recording_fact(struct pt_recording *record, const struct pt_event *event);
/* An initial value, an event, a `lost` or a `clock` line. Returns its line in the trace, 0: none. */
uint64_t pt_recording_take(struct pt_recording *record, const struct pt_event *event);
void pt_recording_close(struct pt_recording *record);

#endif
