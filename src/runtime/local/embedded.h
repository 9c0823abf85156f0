/* Properties that are embedded in a program's configuration: the file of `portent compile`, loaded without an observer.
 */
#ifndef PT_RUNTIME_LOCAL_EMBEDDED_H
#define PT_RUNTIME_LOCAL_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

#include "core/channel.h"

/* A channel that nobody reads, with the configuration of the file that PORTENT_OPTIONS names (properties=FILE). NULL,
 * after a sentence, when the file is none of this program's: the program then runs unmonitored. */
struct pt_channel *pt_embedded_open(size_t *ret_bytes);
/* Is the loaded library of this name another build than the one that embedded properties were compiled for? Its places
 * are none of those they know, then. */
bool pt_embedded_is_other(const char *file);
/* A library was opened. If the properties need it and it is another build, they are not checked any more, after a
 * sentence that says so. */
void pt_embedded_opened(void);

#endif
