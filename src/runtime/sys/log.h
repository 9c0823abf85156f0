/* Messages of the runtime: a line at a time, to where log_path says. Rare, and never from inside a hook. */
#ifndef PT_RUNTIME_SYS_LOG_H
#define PT_RUNTIME_SYS_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "core/settings.h"

struct pt_line {
    size_t len;
    char text[500]; /* what does not fit is cut off */
};

void pt_line_text(struct pt_line *line, const char *text);
void pt_line_span(struct pt_line *line, struct pt_span span);
void pt_line_number(struct pt_line *line, uint64_t number);
void pt_line_hex(struct pt_line *line, uint64_t number);
/* Text of several lines. */
void pt_log_write(const char *text, size_t len);
/* Writes the line, with a newline, in one piece. */
void pt_line_write(struct pt_line *line);

/* Text of several lines that is put together first. What does not fit is cut off; control characters are shown as
 * question marks. */
struct pt_page {
    char *text;
    size_t room, len;
};
void pt_page_text(struct pt_page *page, const char *text);
void pt_page_number(struct pt_page *page, uint64_t number);
void pt_page_hex(struct pt_page *page, uint64_t number);

#endif
