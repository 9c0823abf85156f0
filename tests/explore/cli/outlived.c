/* Exit handlers free what a thread still uses that nobody has joined; with an argument it is joined. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *data;
static atomic_int uses;

static void clean_up(void)
{
    int *old = data;
    data = NULL;
    free(old);
}

static void *worker(void *unused)
{
    for (int i = 0; i < 2; i++) {
        uses++;
        if (!data)
            abort();
    }
    return unused;
}

int main(int argc, char **argv)
{
    (void)argv;
    data = calloc(1, sizeof *data);
    atexit(clean_up);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (argc > 1)
        pthread_join(thread, NULL);
    return 0;
}
