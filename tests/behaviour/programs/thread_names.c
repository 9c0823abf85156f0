/* Threads that name themselves: a property may speak of them, and the names are the kernel's as well.
 * holds: x >= 0
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"

static int x;

static void *worker(void *given)
{
    char name[16], found[16];
    snprintf(name, sizeof name, "worker %ld", (long)given);
    NEED(pthread_setname_np(pthread_self(), name) == 0);
    NEED(pthread_getname_np(pthread_self(), found, sizeof found) == 0);
    SAY(x, (long)given);
    puts(found);
    return NULL;
}

int main(void)
{
    for (long i = 1; i <= 3; i++) {
        pthread_t thread;
        NEED(pthread_create(&thread, NULL, worker, (void *)i) == 0);
        pthread_join(thread, NULL);
    }
    return 0;
}
