/* Two threads with twelve relevant events each, some of them in no order: where counts begin must not matter. */
#include <pthread.h>
#include <stdio.h>

static volatile int level, a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *own)
{
    volatile int *mine = own;
    for (int i = 1; i <= 6; i++) {
        *mine = i;
        pthread_mutex_lock(&lock);
        level = level + 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    level = 1;
    pthread_create(&first, NULL, work, (void *)&a);
    pthread_create(&second, NULL, work, (void *)&b);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    level = level + 1;
    printf("level %d\n", level);
    return 0;
}
