/* What the reader and the writer of the text form share. */
#ifndef PT_TRACE_TEXT_H
#define PT_TRACE_TEXT_H

#include "trace/format.h"

#define PT_TEXT_INCOMPLETE "#!incomplete " /* begins the comment that says why events are missing */
/* The comments around a recording: a file that has the first and not the second was cut off. */
#define PT_TEXT_BEGIN "#!begin"
#define PT_TEXT_END   "#!end"

extern const struct pt_encoder pt_text_encoder;

#endif
