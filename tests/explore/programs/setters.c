/* Three setters write a pair in two steps; a checker comes between the first pair's halves.
 * bug: atomicity violation
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int a, b;
static _Atomic int wrong;
static pthread_mutex_t m = LOCK;

static void enter(void)
{
#ifdef FIXED
    lock(&m);
#endif
}

static void leave(void)
{
#ifdef FIXED
    unlock(&m);
#endif
}

static void *setter(void *unused)
{
    enter();
    a = 1;
    b = -1; /* A */
    leave();
    return unused;
}

static void *checker(void *unused)
{
    enter();
    int x = a, y = b;
    leave();
    if (x + y != 0)
        wrong = 1;
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    lock(&m);
    unlock(&m);
    for (int i = 0; i < 4; i++)
        threads[i] = start(i < 3 ? setter : checker, NULL);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    return wrong;
}
