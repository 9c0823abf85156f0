/* Not instrumented: prints the calls that the thread is in, innermost first, as instrumented code has stored them. */
#include <stdio.h>

#include "core/calls.h"

/*
 * The frame outside of `site`, which is an access, or what this returned last: where its function was inlined, or else
 * the next call. *at is 0 at first. NULL: there is none, or none that is known.
 */
static inline const struct pt_site *outer_of(const struct pt_calls *calls, const struct pt_site *site, uint32_t *at)
{
    if (site && site->caller)
        return site->caller;
    if (*at >= pt_calls_known(calls))
        return NULL;
    return pt_calls_at(calls, calls->depth - 1 - (*at)++);
}

void print_stack(const char *what)
{
    uint32_t at = 0;
    printf("%s:", what);
    for (const struct pt_site *site = NULL; (site = outer_of(&__portent_calls, site, &at)) != NULL;)
        printf(" %s", site->function);
    printf(" lost %u\n", pt_calls_lost(&__portent_calls));
}
