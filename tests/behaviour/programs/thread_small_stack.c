/* Threads on the smallest stacks there may be: one from the system, one of the program's own memory.
 * holds: x <= 4
 * violated: x < 4
 * ordered: yes
 */
#include "say.h"
#include <limits.h>

static int x;
static _Alignas(4096) char own[16384];

static void *worker(void *given)
{
    char here;
    if (given)
        NEED(&here >= own && &here < own + sizeof own);
    SAY(x, x + 1);
    SAY(x, x + 1);
    return given;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    NEED(pthread_attr_setstacksize(&attributes, 16384) == 0);
    NEED(pthread_create(&thread, &attributes, worker, NULL) == 0);
    pthread_join(thread, NULL);
    NEED(pthread_attr_setstack(&attributes, own, sizeof own) == 0);
    NEED(pthread_create(&thread, &attributes, worker, own) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    printf("%d\n", x);
    return 0;
}
