/* What the names of recordings say to a property: which of them it can use, and where in the heap the others lie. */
#ifndef PT_CLI_SUGGEST_NAMES_H
#define PT_CLI_SUGGEST_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Can a property name it? Not what has an address, a heap block's name, or brackets of its own. */
bool pt_suggest_is_nameable(const char *name);
/* The variable that it is a part of, for those that are one thing: an array of its elements, a container of the
 * library of what it is made of. Returns the length of its name. */
size_t pt_suggest_whole(const char *name);
/* A name that is an address: 0x55cf4fab13d0+8. */
bool pt_suggest_address(const char *name, uint64_t *ret_address);

#endif
