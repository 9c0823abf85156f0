/* Dekker's algorithm with C11 atomics; the counter is updated by one atomic instruction. */
#include <pthread.h>
#include <stdatomic.h>

#include "portent.h"

static atomic_int flag[2], turn, data;

static void *first(void *arg)
{
    for (;;) {
        flag[0] = 1;
        while (flag[1]) {
            if (turn != 0) {
                flag[0] = 0;
                while (turn != 0)
                    ;
                flag[0] = 1;
            }
        }
        portent_begin("critical");
        data++;
        portent_end("critical");
        turn = 1;
        flag[0] = 0;
    }
    return arg;
}

static void *second(void *arg)
{
    for (;;) {
        flag[1] = 1;
        while (flag[0]) {
            if (turn != 1) {
                flag[1] = 0;
                while (turn != 1)
                    ;
                flag[1] = 1;
            }
        }
        portent_begin("critical");
        data++;
        portent_end("critical");
        turn = 0;
        flag[1] = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
