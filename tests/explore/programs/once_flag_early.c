/* "Is initialised" is set by whoever begins, not by whoever is done.
 * bug: order violation
 * depth: 2
 * fails: signal
 * signal: SEGV
 * place: A
 */
#include "catalogue.h"

static int values[] = {1, 2, 3};
static _Atomic int begun;
static int *_Atomic table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void)
{
    table = values;
}

static void *user(void *unused)
{
#ifdef FIXED
    pthread_once(&once, make);
#else
    if (!atomic_exchange(&begun, 1))
        pthread_once(&once, make); /* A */
#endif
    return table[1] == 2 ? unused : NULL;
}

int main(void)
{
    begun = 0;
    both(user, user);
    return 0;
}
