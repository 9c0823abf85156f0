/* The functions behind ours. */
#include "runtime/wrap/interpose.h"

#ifndef PT_RT_STATIC
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/thread/thread.h"

/* Inside the runtime, since the search takes a lock of libc's: a handler that leaves by siglongjmp, or an asynchronous
 * cancellation, would keep it. */
static void *search(const char *name)
{
    struct pt_thread *self = pt_thread_now();
    if (self)
        pt_thread_enter(self);
    /* Condition variables exist in an old, incompatible version too, which a search without version may find first. */
    void *found = strncmp(name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    if (self)
        pt_thread_leave(self);
    return found;
}

/* The path of a loaded module, by number. The search must not go on inside: what loads one has the locks the other way
 * round. */
struct nth {
    size_t left;
    char path[PATH_MAX];
    bool found;
};

static int look_at(struct dl_phdr_info *module, size_t size, void *context)
{
    (void)size;
    struct nth *nth = context;
    nth->found = nth->left-- == 0;
    if (nth->found)
        snprintf(nth->path, sizeof nth->path, "%s", module->dlpi_name);
    return nth->found;
}

/* That of a library which a part of the program has loaded for itself: there, too, ours comes first. */
static void *search_loaded(const char *name)
{
    Dl_info ours, theirs;
    void *found = NULL;
    if (!dladdr((void *)look_at, &ours))
        return NULL;
    for (size_t i = 0; !found; i++) {
        struct nth nth = {.left = i};
        dl_iterate_phdr(look_at, &nth);
        if (!nth.found)
            return NULL;
        void *library = *nth.path ? dlopen(nth.path, RTLD_NOLOAD | RTLD_LAZY) : NULL;
        found = library ? dlsym(library, name) : NULL;
        if (found && (!dladdr(found, &theirs) || ours.dli_fbase == theirs.dli_fbase))
            found = NULL;
        if (library)
            dlclose(library);
    }
    return found;
}

void *pt_real(const char *name)
{
    void *found = search(name);
    if (!found)
        found = search_loaded(name);
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
