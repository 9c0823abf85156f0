/* What makes a sequence of well-formed lines a possible run: a lock is held by one thread, or by readers, and released
 * by its holders; threads act between their fork and their join. */
#ifndef PT_TRACE_VALIDATE_H
#define PT_TRACE_VALIDATE_H

#include "base/err.h"
#include "trace/event.h"

struct pt_validator;

struct pt_validator *pt_validator_new(const char *label, const struct pt_names *names);
void pt_validator_free(struct pt_validator *validator);
/* After a `lost` line, what may have been in the gap is not missed: a lock's acquisition, a thread's fork.
 * PT_EINPUT with the line number when `event` cannot follow the events before it. */
enum pt_status pt_validator_check(struct pt_validator *validator, const struct pt_event *event,
                                  struct pt_err *err) PT_WARN_UNUSED;

#endif
