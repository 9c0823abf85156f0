/* What is thread-local in a library that was opened is freed for libc, by whoever gets the stack of its thread next.
 * life: none
 * libraries: -ldl
 */
#include "races.h"
#include <dlfcn.h>

static void *library;

static void *uses(void *context)
{
    void *volatile *own = (void *volatile *)dlsym(library, "_ZSt15__once_callable");
    NEED(own);
    *own = context;
    return *own;
}

static void *joins(void *context)
{
    pthread_join(start(uses, NULL), NULL);
    pass(1);
    await(2);
    return context;
}

int main(void)
{
    library = dlopen("libstdc++.so.6", RTLD_NOW);
    NEED(library);
    pthread_t first = start(joins, NULL);
    await(1); /* its stack is free now, with what was thread-local */
    pthread_join(start(uses, NULL), NULL);
    pass(2);
    pthread_join(first, NULL);
    return 0;
}
