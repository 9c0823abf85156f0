/* Not instrumented: prints the calls that the thread is in, innermost first, as instrumented code has stored them. */
#include <stdio.h>

#include "core/calls.h"

void print_stack(const char *what)
{
    uint32_t at = 0;
    printf("%s:", what);
    for (const struct pt_site *site = NULL; (site = pt_calls_outer(&__portent_calls, site, &at)) != NULL;)
        printf(" %s", site->function);
    printf(" lost %u\n", pt_calls_lost(&__portent_calls));
}
