/* Command lines that need no plan. */
#ifndef PT_INSTRUMENT_DIRECT_H
#define PT_INSTRUMENT_DIRECT_H

#include <stdbool.h>

#include "instrument/args.h"

struct pt_direct {
    const char *source;
    bool optimize;
    const char *level;   /* as in struct pt_orders */
    struct pt_args rest; /* of the arguments: without output and dependency files */
};
/* Does the command line compile one source to an object, and say nothing that plan and jobs would have to look at? */
bool pt_direct_take(const struct pt_args *args, struct pt_direct *ret_direct);

#endif
