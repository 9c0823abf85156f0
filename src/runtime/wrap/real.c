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
    /* A program may use nothing else of such a library, which the linker then left out. */
    static const struct {
        const char *prefix, *library;
    } libraries[] = {
        {"GOMP_", "libgomp.so.1"}, {"omp_", "libgomp.so.1"}, {"__kmpc_", "libomp.so.5"}, {"g_", "libglib-2.0.so.0"}};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !found; i++) {
        if (strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix)) == 0) {
            void *library = dlopen(libraries[i].library, RTLD_NOW | RTLD_GLOBAL);
            found = library ? dlsym(library, name) : NULL;
        }
    }
    if (!found)
        abort();
    return found;
}
#endif
