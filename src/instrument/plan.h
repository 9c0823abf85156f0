/* What clang would do for a command line: its own answer (clang -###), taken apart. */
#ifndef PT_INSTRUMENT_PLAN_H
#define PT_INSTRUMENT_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "instrument/args.h"

struct pt_plan {
    struct pt_args *jobs;
    size_t count, cap;
    struct pt_buf header;      /* clang's version and target, as -v shows them */
    struct pt_buf diagnostics; /* warnings of the driver */
    bool refused;              /* clang reported an error instead of (or beside) a plan */
};

/* Takes the text of -### apart; strings go to the arena. */
void pt_plan_parse(struct pt_plan *plan, const char *text, size_t len, struct pt_arena *arena);
void pt_plan_release(struct pt_plan *plan);

#endif
