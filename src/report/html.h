/* The HTML report: one self-contained page. */
#ifndef PT_REPORT_HTML_H
#define PT_REPORT_HTML_H

#include "report/format.h"

/* `name` is how the result's file is called in commands; `made` is about the page, NULL: that is not said. */
void pt_report_html(const struct pt_loaded *loaded, const char *name, const struct pt_source_lines *lines,
                    const struct pt_made *made, struct pt_buf *buf);

#endif
