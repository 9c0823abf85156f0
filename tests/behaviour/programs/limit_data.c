/* The program limits its own data to 200 MB, of which the tables of the runtime take nothing.
 * holds: x <= 3
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"
#include <sys/resource.h>

static int x;
static char *volatile much, *volatile some;

static void *worker(void *given)
{
    SAY(x, 2);
    return given;
}

int main(void)
{
    rlim_t now = 200 << 20;
    struct rlimit data = {now, now};
    pthread_t thread;
    NEED(setrlimit(RLIMIT_DATA, &data) == 0);
    SAY(x, 1);
    much = malloc((size_t)300 << 20);
    some = malloc(20 << 20);
    printf("%d %d\n", much != NULL, some != NULL);
    memset(some, 1, 20 << 20);
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_join(thread, NULL);
    SAY(x, 3);
    free(some);
    return 0;
}
