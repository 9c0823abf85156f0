/*
 * Patterns of the shell without a shell: * for any characters (slashes too), ? for one, [a-z] and [!a-z] for one of
 * these, \ before what is meant literally. As fnmatch(3) without flags, for the monitored process, which allocates
 * nothing; classes such as [[:alpha:]] are not known.
 */
#ifndef PT_CORE_GLOB_H
#define PT_CORE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Is the whole text one that the pattern, of `len` characters, describes? */
bool pt_glob_matches(const char *pattern, size_t len, const char *text);

#endif
