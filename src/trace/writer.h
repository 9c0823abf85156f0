/* Writing traces, in any format that has an encoder (trace/format.h). */
#ifndef PT_TRACE_WRITER_H
#define PT_TRACE_WRITER_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/event.h"

struct pt_format;
struct pt_writer;

/* `path` "-" is standard output. Ids in events refer to `names`. */
enum pt_status pt_writer_open(const char *path, const struct pt_format *format, const struct pt_names *names,
                              struct pt_writer **ret_writer, struct pt_err *err) PT_WARN_UNUSED;
/* Before the first event: a file that is cut off before the writer was closed can be told from a whole one. */
void pt_writer_promise_end(struct pt_writer *writer);
/* From here on clocks name only what has to be named (trace/clock_state.h); every event with a clock comes here. */
void pt_writer_reduce_clocks(struct pt_writer *writer);
enum pt_status pt_writer_add(struct pt_writer *writer, const struct pt_event *event, struct pt_err *err) PT_WARN_UNUSED;
/* Events are missing, for that reason (one line): whoever reads the trace finds it torn at its end. */
void pt_writer_set_incomplete(struct pt_writer *writer, const char *why);
/* Flushes and closes, and reports what could not be written. Frees the writer in any case. */
enum pt_status pt_writer_close(struct pt_writer *writer, struct pt_err *err) PT_WARN_UNUSED;

/* One line of the text form, without newline; and a value as the text form writes it (so that reading gives it back).
 */
void pt_event_to_text(const struct pt_names *names, const struct pt_event *event, struct pt_buf *buf);
void pt_value_to_text(struct pt_value value, struct pt_buf *buf);

#endif
