/* The text form's reader: lines to events. */
#ifndef PT_TRACE_TEXT_H
#define PT_TRACE_TEXT_H

#include "trace/input.h"
#include "trace/reader.h"

#define PT_TEXT_INCOMPLETE "#!incomplete " /* begins the comment that says why events are missing */

struct pt_text;

struct pt_text *pt_text_new(const char *label, struct pt_names *names);
void pt_text_free(struct pt_text *text);
enum pt_read pt_text_next(struct pt_text *text, struct pt_input *input, struct pt_event *ret_event,
                          struct pt_err *err) PT_WARN_UNUSED;
/* Whether `input` already holds what the next call needs; skips comments and blank lines. */
bool pt_text_has_line(struct pt_text *text, struct pt_input *input);

#endif
