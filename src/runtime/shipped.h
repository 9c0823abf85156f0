/* Properties that ship with a program: the file of `portent compile`, loaded without an observer. */
#ifndef PT_RUNTIME_SHIPPED_H
#define PT_RUNTIME_SHIPPED_H

#include <stddef.h>

#include "core/channel.h"

/* A channel that nobody reads, with the configuration of the file that PORTENT_OPTIONS names (properties=FILE). NULL,
 * after a sentence, when the file is none of this program's: the program then runs unmonitored. */
struct pt_channel *pt_shipped_open(size_t *ret_bytes);

#endif
