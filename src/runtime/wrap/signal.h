/* Signals of this process on their way, for the functions that send them in other files, and those that get them. */
#ifndef PT_RUNTIME_WRAP_SIGNAL_H
#define PT_RUNTIME_WRAP_SIGNAL_H

#include "core/site.h"

/* It will come to some thread of the process; before the call that makes it so. */
void pt_signal_put(int signal, int kind, const struct pt_site *site);
/* The calling thread got it. */
void pt_signal_take(int signal, int kind, const struct pt_site *site);

#endif
