/* Threads that allocate: prints what it counted, and whether an allocator of its own has seen it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern unsigned long frees;
int n;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    for (int i = 0; i < 200; i++) {
        char *volatile text = malloc(50);
        strcpy(text, "hello");
        text = realloc(text, 100);
        text = reallocarray(text, 30, 10);
        if (strcmp(text, "hello") != 0)
            abort();
        free(text);
        pthread_mutex_lock(&mutex);
        n++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", n, frees >= 600);
    return 0;
}
