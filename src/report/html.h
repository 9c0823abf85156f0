/* The HTML report: one self-contained page. */
#ifndef PT_REPORT_HTML_H
#define PT_REPORT_HTML_H

#include "base/buf.h"
#include "report/result.h"

/* Lent by the caller, who may read files. NULL where the place has no readable line. Valid until the next call. */
struct pt_sources {
    const char *(*line)(void *context, const char *place);
    void *context;
};

/* `name` is how the result's file is called in commands. */
void pt_report_html(const struct pt_loaded *loaded, const char *name, const struct pt_sources *sources,
                    struct pt_buf *buf);

#endif
