/* The bitcode of containers_body.c, put into the rewriting by cmake/embed.cmake. */
#ifndef PT_INSTRUMENT_CONTAINERS_H
#define PT_INSTRUMENT_CONTAINERS_H

#include <stddef.h>

extern const char pt_embedded_containers[];
extern const size_t pt_embedded_containers_len;

#endif
