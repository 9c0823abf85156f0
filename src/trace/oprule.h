/* What a name in a trace may be; both forms obey it, as they obey the rows of core/ops.def. */
#ifndef PT_TRACE_OPRULE_H
#define PT_TRACE_OPRULE_H

#include <stddef.h>

#include "trace/event.h"

enum {
    PT_LINE_MAX = 1 << 20, /* bytes of a line of the text form; so no name is longer */
};

/*
 * What is wrong with a name, NULL when nothing is: a name of one form can always be written in the other. No name but
 * a string value holds NUL, CR, LF or '|'; only places and strings may be empty; objects do not hold `)="`, which
 * starts a string value, nor stacks `)=`, which starts their text; threads are not "-" and do not start with '#' or a
 * mark of UTF-8 (nor can c= name one that holds a comma). *ret_at is the offset of the offending byte.
 */
const char *pt_name_problem(enum pt_space space, const char *text, size_t len, size_t *ret_at);
/* Likewise of the text of a stack, which stands in a line without quotes. */
const char *pt_stack_problem(const char *text, size_t len, size_t *ret_at);

#endif
