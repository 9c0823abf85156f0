/* A variable that a part of the program writes which is not instrumented (foreign_plain.c). */
#include <pthread.h>
#include <stdio.h>

int level;
void fill(void);

static void *reader(void *sum)
{
    *(int *)sum += level;
    *(int *)sum += level; /* the same value again is no news */
    return NULL;
}

int main(void)
{
    int sum = 0;
    level = 1;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        fill();
        pthread_create(&thread, NULL, reader, &sum);
        pthread_join(thread, NULL);
    }
    printf("sum %d\n", sum);
    return 0;
}
