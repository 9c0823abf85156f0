/* expect: worker true, worker true, whole false */
/* Before the first thread starts and after the last has ended nobody can come in between. */
#include <pthread.h>

#include "portent.h"

static int config, result[2];

static void *run(void *arg)
{
    portent_begin("worker");
    int *slot = arg;
    *slot = config;
    *slot += config;
    portent_end("worker");
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    config = 1;
    config = 2;
    portent_begin("whole");
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run, &result[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    config = result[0] + result[1];
    portent_end("whole");
    return config;
}
