/* RLIMIT_AS leaves a thousand megabytes above what is there: threads and memory work as plain.
 * holds: x <= 3
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"
#include <sys/resource.h>

static int x;
static char *volatile some;

static void *worker(void *given)
{
    SAY(x, 2);
    return given;
}

int main(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    NEED(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    rlim_t now = (rlim_t)pages * 4096 + ((rlim_t)1000 << 20);
    struct rlimit all = {now, now};
    pthread_t thread;
    NEED(setrlimit(RLIMIT_AS, &all) == 0);
    SAY(x, 1);
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_join(thread, NULL);
    some = malloc(100 << 20);
    NEED(some);
    memset(some, 1, 100 << 20);
    free(some);
    SAY(x, 3);
    puts("enough");
    return 0;
}
