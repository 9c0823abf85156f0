/* So few addresses from the start that the runtime finds no room: it runs as plain, and the answer says so.
 * holds: x <= 5
 * violated: x != 5
 * around: sh -c 'ulimit -v 2000000; exec "$@"' sh
 * optional: unobserved
 * status: 67, the runtime has no memory left
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
