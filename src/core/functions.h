/*
 * Calls and returns of functions as events (`call(f)`, `return(f)` in properties). The instrumentor makes one record
 * for each function of the program, and a test of `state` where it begins and before each of its returns:
 *
 *     if (record.state) __portent_called(&record, ...);
 *
 * A record begins as PT_FUNCTION_NEW; the first call asks the runtime, which then knows for good whether anybody
 * wants the function's events (`calls=` of core/settings.h). The state is a byte that only goes from NEW to one of the
 * others, whoever comes first.
 */
#ifndef PT_CORE_FUNCTIONS_H
#define PT_CORE_FUNCTIONS_H

#include <stdint.h>

#include "core/site.h"

/* `$1` to `$6` in properties. */
enum { PT_FUNCTION_ARGUMENTS = 6 };

enum pt_function_state { PT_FUNCTION_QUIET, PT_FUNCTION_NEW, PT_FUNCTION_WATCHED };

struct pt_function_record {
    const struct pt_site *site; /* where it is defined; its name is the site's function */
    /* One letter for each argument: i, u: an integer, with and without sign; p: a pointer, 0 for null and else 1; -:
     * one that has no value here. */
    const char *arguments;
    volatile uint8_t state;  /* enum pt_function_state */
    volatile uint8_t wanted; /* bit i: argument i + 1 is part of the event's name */
};

/* `calls=`: patterns with commas between them, each for names of functions; behind `$` the numbers of the arguments
 * that are wanted, as in `put$12`. */
#define PT_FUNCTION_WANTS '$'

#endif
