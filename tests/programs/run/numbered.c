/* Two threads of one function, of which the second is done before the first begins (tardy.c); with an argument
 * there is one in between that cannot be started. */
#include <pthread.h>
#include <unistd.h>

int level;
void count_from_here(void);
void let_it_begin(void);

static void *worker(void *number)
{
    level = *(int *)number;
    return NULL;
}

int main(int argc, char **argv)
{
    static int numbers[] = {1, 2};
    pthread_t threads[2];
    pthread_attr_t too_large;
    if (pthread_attr_init(&too_large) || pthread_attr_setstacksize(&too_large, (size_t)1 << 47))
        return 1;
    count_from_here();
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
        if (i == 0 && argc > 1 && pthread_create(&threads[1], &too_large, worker, argv) == 0)
            return 1;
    }
    pthread_join(threads[1], NULL);
    usleep(200 * 1000); /* the observer has waited for long enough, whatever it waits for */
    let_it_begin();
    return pthread_join(threads[0], NULL);
}
