/* PORTENT_OPTIONS (core/settings.h has the table), as this process sees them. */
#ifndef PT_RUNTIME_SYS_OPTIONS_H
#define PT_RUNTIME_SYS_OPTIONS_H

#include "core/settings.h"

extern struct pt_settings pt_options;

/* Reads them: under an observer those it was given, who has already said what is wrong with them; otherwise (NULL) the
 * environment's. */
void pt_options_start(const char *observers);

#endif
