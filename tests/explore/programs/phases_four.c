/* A reader takes the phase twice; the writer has to stop between its steps, and once more before the third.
 * bug: atomicity violation
 * depth: 4
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int phase;
static pthread_mutex_t m = LOCK;

static void *stepper(void *unused)
{
    for (int i = 1; i <= 3; i++) {
#ifdef FIXED
        lock(&m);
#endif
        phase = i; /* A */
#ifdef FIXED
        unlock(&m);
#endif
    }
    return unused;
}

static void *reader(void *unused)
{
    lock(&m);
    int first = phase, second = phase;
    unlock(&m);
    assert(!(first == 1 && second == 2));
    return unused;
}

int main(void)
{
    both(stepper, reader);
    return 0;
}
