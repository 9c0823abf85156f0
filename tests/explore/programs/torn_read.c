/* A sequence lock whose reader does not look again whether a writer came meanwhile.
 * bug: atomicity violation
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic unsigned sequence;
static _Atomic int x, y;

static void *writer(void *unused)
{
    for (int i = 1; i <= 2; i++) {
        sequence++;
        x = i;
        y = i;
        sequence++;
    }
    return unused;
}

static void *reader(void *unused)
{
    unsigned before;
    int a, b;
    do {
        while ((before = sequence) & 1)
            sched_yield();
        a = x;
        b = y; /* A */
#ifdef FIXED
    } while (sequence != before);
#else
    } while (0);
#endif
    assert(a == b);
    return unused;
}

int main(void)
{
    both(writer, reader);
    return 0;
}
