/* Few descriptors from the start, for the observer as well.
 * holds: x <= 5
 * violated: x != 5
 * ordered: yes
 * around: sh -c 'ulimit -n 20; exec "$@"' sh
 */
#include "say.h"

static int x;

static void *worker(void *given)
{
    SAY(x, x + 1);
    return given;
}

int main(void)
{
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
        pthread_join(thread, NULL);
    }
    printf("%d\n", x);
    return 0;
}
