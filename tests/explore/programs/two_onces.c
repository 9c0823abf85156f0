/* Two modules guard one initialisation, each with a pthread_once_t of its own.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static pthread_once_t mine = PTHREAD_ONCE_INIT, other = PTHREAD_ONCE_INIT;
static _Atomic int ready, made;

static void make(void)
{
    if (!ready) {
        made++; /* A */
        ready = 1;
    }
}

static void *one(void *unused)
{
    pthread_once(&mine, make);
    return unused;
}

static void *two(void *unused)
{
#ifdef FIXED
    pthread_once(&mine, make);
#else
    pthread_once(&other, make);
#endif
    return unused;
}

int main(void)
{
    (void)other;
    both(one, two);
    assert(made == 1);
    return 0;
}
