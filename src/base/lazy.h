/*
 * Shared libraries that only few commands need (XML, debug information, HTTP), loaded at the first call of one of their
 * functions, so that the others start without them. cmake/lazy.cmake makes a stand-in for such a library: for each
 * function one of the same name that jumps to the real one, and looks it up before the first time.
 */
#ifndef PT_BASE_LAZY_H
#define PT_BASE_LAZY_H

#include <stdint.h>

struct pt_lazy {
    const char *library; /* by which the linker finds it, "libdw.so.1" */
    const char *names;   /* of the functions, each with a NUL behind it */
    void **functions;    /* the real ones; NULL: not looked up yet */
};

/* The real function `index`. Where the library cannot be had, the program ends with one line and status 3. */
void *pt_lazy_resolve(const struct pt_lazy *lazy, uint64_t index);

#endif
