/* Objects of malloc, whoever's it is. */
#ifndef PT_RUNTIME_SYS_HEAP_H
#define PT_RUNTIME_SYS_HEAP_H

#include <stddef.h>

/* The bytes of an object that malloc gave; 0 when it is NULL or its allocator does not say. */
size_t pt_heap_size(const void *memory);

#endif
