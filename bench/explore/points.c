/* THREADS threads (4) with POINTS scheduling points (1000) together, that exits at once: what bench/explore measures.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int counter;
static int each;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < each; i++)
        atomic_fetch_add(&counter, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    int threads = argc > 1 ? atoi(argv[1]) : 4, points = argc > 2 ? atoi(argv[2]) : 1000;
    pthread_t all[MOST];
    if (threads < 1 || threads > MOST)
        return 2;
    each = points / threads;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, work, NULL) != 0)
            return 2;
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    return counter == each * threads ? 0 : 1;
}
