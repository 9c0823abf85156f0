/* User events that the program does not make itself: calls and returns of functions (functions.c). */
#ifndef PT_RUNTIME_API_H
#define PT_RUNTIME_API_H

#include "core/site.h"

/* As portent_event of `kind`, at this place. In recordings it is called `name`; the same pointer where nothing is
 * added. */
void pt_api_function_event(const struct pt_site *site, const char *kind, const char *name);

#endif
