/* A function that is repeated in one process, and races in some of its schedules. */
#include <portent.h>
#include <pthread.h>

static int hits, came;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int comes_first(void)
{
    pthread_mutex_lock(&lock);
    int first = came++ == 0;
    pthread_mutex_unlock(&lock);
    return first;
}

static void *add(void *unused)
{
    if (!comes_first())
        hits++;
    return unused;
}

static void *other(void *unused)
{
    if (comes_first())
        hits++;
    return unused;
}

static void body(void *unused)
{
    pthread_t one, two;
    hits = came = 0;
    pthread_create(&one, NULL, add, unused);
    pthread_create(&two, NULL, other, unused);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

int main(void)
{
    portent_explore_body(body, NULL);
    return 0;
}
