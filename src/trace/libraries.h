/* The shared libraries a program will load at its start, as the dynamic linker would find them. */
#ifndef PT_TRACE_LIBRARIES_H
#define PT_TRACE_LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

struct pt_libraries {
    char **paths;
    uint32_t count;
    size_t cap;
};

/*
 * Appends the path of every library that `program` needs, directly or through another one, in the linker's order
 * (breadth first). `search` is what LD_LIBRARY_PATH holds, or NULL. What cannot be found or read is left out: the
 * dynamic linker will say so better.
 */
void pt_libraries_find(const char *program, const char *search, struct pt_libraries *libraries);
void pt_libraries_release(struct pt_libraries *libraries);

#endif
