/* The functions behind ours. */
#include "runtime/wrap/interpose.h"

#ifndef PT_RT_STATIC
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *pt_real(const char *name)
{
    /* Condition variables exist in an old, incompatible version too, which a search without version may find first. */
    void *found = strncmp(name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    /* A program may use nothing else of its OpenMP library, which the linker then left out. */
    if (!found &&
        (strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0 || strncmp(name, "__kmpc_", 7) == 0)) {
        void *library = dlopen(name[0] == '_' ? "libomp.so.5" : "libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
        found = library ? dlsym(library, name) : NULL;
    }
    if (!found)
        abort();
    return found;
}
#endif
