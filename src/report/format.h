/*
 * What a report is made from and by whom. formats.def lists the reports that have an option; text is what is made
 * without one. (JSON is not among them: it is what commands write their results in, and what a result is read from.)
 * Adding a report is a file that defines its struct pt_report_format and a row there.
 */
#ifndef PT_REPORT_FORMAT_H
#define PT_REPORT_FORMAT_H

#include "report/result.h"
#include "report/style.h"
#include "trace/event.h"

/* Lent by the caller, who may read files. NULL where the place has no readable line. Valid until the next call. */
struct pt_source_lines {
    const char *(*line)(void *context, const char *place);
    void *context;
};

/* What a report may want to know beside what it is about. */
struct pt_report_context {
    const char *name;   /* of the input's file, as it is called in commands */
    const char *folder; /* paths below it are written relative to it; NULL or "": none is */
    struct pt_source_lines lines;
    struct pt_style style;      /* of text */
    const struct pt_made *made; /* the report itself; NULL: that is not said */
};

/* A report of a trace: its events come one by one, since it may be too long to be loaded. */
struct pt_report_events {
    void *(*begin)(const struct pt_report_context *context, const struct pt_names *names, struct pt_buf *buf);
    void (*event)(void *state, const struct pt_event *event);
    /* One sentence when something does not fit into the report, else "". NULL: everything does. */
    const char *(*limits)(void *state);
    /* Appends the rest, and frees. */
    void (*finish)(void *state, struct pt_buf *buf);
};

struct pt_report_format {
    const char *name;
    /* NULL: it cannot be made from that. */
    void (*from_result)(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf);
    const struct pt_report_events *from_trace;
    bool is_picture; /* its file may be named at once, as in --timeline FILE.svg TRACE */
};

extern const struct pt_report_format pt_report_format_text;
#define PT_REPORT(name, help) extern const struct pt_report_format pt_report_format_##name;
#include "report/formats.def"

#endif
