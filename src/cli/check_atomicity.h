/* portent check --atomicity: the blocks of a recorded run. */
#ifndef PT_CLI_CHECK_ATOMICITY_H
#define PT_CLI_CHECK_ATOMICITY_H

#include <stdbool.h>

#include "report/style.h"

struct pt_check_blocks {
    const char *trace; /* "-": standard input */
    bool json, quiet;
    struct pt_style style;
};

/* The exit status. */
int pt_check_atomicity(const struct pt_check_blocks *check);

#endif
