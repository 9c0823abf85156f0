/* What each operation's line may and must carry; both forms of a trace obey it. */
#ifndef PT_TRACE_OPRULE_H
#define PT_TRACE_OPRULE_H

#include <stddef.h>

#include "trace/event.h"

enum {
    PT_LINE_MAX = 1 << 20, /* bytes of a line of the text form; so no name is longer */
};

enum pt_value_rule { PT_VALUE_NEVER, PT_VALUE_MAY, PT_VALUE_MUST };

static inline enum pt_value_rule pt_op_value_rule(enum pt_op op)
{
    switch (op) {
    case PT_OP_INIT:
    case PT_OP_INTERNAL:
    case PT_OP_LOST:
        return PT_VALUE_MUST;
    case PT_OP_READ:
    case PT_OP_WRITE:
    case PT_OP_UPDATE:
        return PT_VALUE_MAY;
    default:
        return PT_VALUE_NEVER;
    }
}

static inline bool pt_op_has_thread(enum pt_op op)
{
    return op != PT_OP_INIT && op != PT_OP_CLOCK && op != PT_OP_LOST;
}

/*
 * What is wrong with a name, NULL when nothing is: a name of one form can always be written in the other. No name but
 * a string value holds NUL, CR, LF or '|'; only places and strings may be empty; objects do not hold `)="`, which
 * starts a string value; threads are not "-" and do not start with '#' (nor can c= name one that holds a comma).
 * *ret_at is the offset of the offending byte.
 */
const char *pt_name_problem(enum pt_space space, const char *text, size_t len, size_t *ret_at);

#endif
