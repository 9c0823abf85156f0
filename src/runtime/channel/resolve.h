/* Where the watched variables of the configuration lie, once their modules are loaded. */
#ifndef PT_RUNTIME_CHANNEL_RESOLVE_H
#define PT_RUNTIME_CHANNEL_RESOLVE_H

#include <stdbool.h>

#include "runtime/thread/thread.h"

/* Finds the configured variables of all modules that are loaded and not yet found, and records their initial values.
 * `is_other`: this module is another build than the one that the configuration was made for; its variables are left
 * out. */
void pt_resolve_watched(struct pt_thread *self, bool (*is_other)(const char *module));

#endif
