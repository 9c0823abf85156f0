/* A function that is explored in one process. */
#include <portent.h>
#include <pthread.h>
#include <stdlib.h>

static int count;

static void *add(void *unused)
{
    int seen = count;
    count = seen + 1;
    return unused;
}

static void body(void *fails)
{
    pthread_t thread;
    count = 0;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    if (count != 2 && *(int *)fails)
        abort();
}

int main(int argc, char **argv)
{
    int fails = argc > 1;
    (void)argv;
    portent_explore_body(body, &fails);
    return 5;
}
