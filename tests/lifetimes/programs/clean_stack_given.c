/* A stack that is memory of the program's own, which it uses afterwards.
 * life: none
 */
#include "races.h"

static void *one(void *unused)
{
    volatile int local[200];
    local[5] = 1;
    return NULL;
}

int main(void)
{
    enum { SIZE = 1 << 18 };
    char *memory = aligned_alloc(4096, SIZE);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    NEED(pthread_attr_setstack(&attributes, memory, SIZE) == 0);
    for (int i = 0; i < 3; i++) {
        NEED(pthread_create(&thread, &attributes, one, NULL) == 0);
        pthread_join(thread, NULL);
        for (int at = 0; at < SIZE; at += 64)
            ((volatile char *)memory)[at] = 1;
    }
    free(memory);
    return 0;
}
