/* The inside of the layer: found.c counts and reports, print.c writes for people. */
#ifndef PT_RUNTIME_FOUND_FOUND_IMPL_H
#define PT_RUNTIME_FOUND_FOUND_IMPL_H

#include "runtime/found/found.h"

/* Prints a finding, whose bytes are whole, in one piece. */
void pt_found_print(struct pt_thread *self, const char *bytes, size_t len);

#endif
