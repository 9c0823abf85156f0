/* A null pointer in a thread ends the program by SIGSEGV; all writes before are known.
 * holds: x <= 20
 * violated: x != 20
 */
#include "say.h"

static int x;
static int *volatile nowhere;

static void *worker(void *given)
{
    for (int i = 1; i <= 20; i++)
        SAY(x, i);
    *nowhere = 1;
    return given;
}

int main(void)
{
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_join(thread, NULL);
    return 0;
}
