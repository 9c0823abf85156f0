/* One thousand five hundred threads that are all alive at once.
 * holds: arrived <= 1500
 * violated: arrived < 1500
 * levels: -O2
 */
#include "say.h"

enum { ALL = 1500 };
static int arrived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;

static void *arrive(void *given)
{
    pthread_mutex_lock(&lock);
    SAY(arrived, arrived + 1);
    if (arrived == ALL)
        pthread_cond_broadcast(&all_here);
    while (arrived < ALL)
        pthread_cond_wait(&all_here, &lock);
    pthread_mutex_unlock(&lock);
    return given;
}

int main(void)
{
    static pthread_t threads[ALL];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < ALL; i++)
        NEED(pthread_create(&threads[i], &small, arrive, NULL) == 0);
    for (int i = 0; i < ALL; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", arrived);
    return 0;
}
