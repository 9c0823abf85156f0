/* Two threads write a variable each, and count together under a lock in memory that lies apart: so what they write is
 * in an order that neither variable tells of. `level` is written by both. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    volatile int level;
    char apart[4096];
    volatile int a, b;
} s;
static volatile int *count;
static pthread_mutex_t *lock;

static void *work(void *own)
{
    volatile int *mine = own;
    for (int i = 1; i <= 6; i++) {
        *mine = i;
        pthread_mutex_lock(lock);
        *count = *count + 1;
        if (*count % 2)
            s.level = s.level + 1;
        pthread_mutex_unlock(lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    count = calloc(1, 1 << 20);
    lock = (pthread_mutex_t *)((volatile char *)count + (1 << 16));
    pthread_mutex_init(lock, NULL);
    s.level = 1;
    pthread_create(&first, NULL, work, (void *)&s.a);
    pthread_create(&second, NULL, work, (void *)&s.b);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    s.level = s.level + 1;
    printf("level %d\n", s.level);
    return 0;
}
