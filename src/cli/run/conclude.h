/* The end of `portent run`: results, warnings and the exit status. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "cli/run/processes.h"
#include "cli/run/session.h"

/* One `portent run`, as its options have it. */
struct pt_run {
    struct pt_session session; /* first */
    const char *result_path, *trace_path;
    FILE *result_file;
    int found_exit;
    char *own_trace; /* trace_path with the program's number; NULL: it is trace_path */
    bool confirm, lenient, effort_given, patience_given;
    uint64_t patience;         /* nanoseconds, when confirming */
    struct pt_buf patterns[3]; /* of --skip-file, --only-file and --skip-function */
};

/* Prints everything, writes the result, confirms what was predicted where that is asked for, and returns the exit
 * status. `processes` are those that were observed beside the started one, which is put at their head. */
int pt_run_conclude(struct pt_run *run, const char *const *program, struct pt_processes *processes);
