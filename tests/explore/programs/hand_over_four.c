/* A protocol of two threads that take turns by looking, without waiting: it breaks when each sees every answer of the
 * other.
 * bug: order violation
 * depth: 4
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int ball;
static pthread_mutex_t m = LOCK;

/* Hits the ball if it is there; how often it came in a row. */
static int play(int mine, int times)
{
    int hits = 0;
#ifdef FIXED
    lock(&m);
#endif
    for (int i = 0; i < times; i++) {
        if (ball != mine + 2 * hits)
            break;
        ball = mine + 2 * hits + 1; /* A */
        hits++;
    }
#ifdef FIXED
    unlock(&m);
#endif
    return hits;
}

static void *one(void *unused)
{
    assert(play(0, 3) < 3);
    return unused;
}

static void *two(void *unused)
{
    play(1, 2);
    return unused;
}

int main(void)
{
    lock(&m);
    unlock(&m);
    both(one, two);
    return 0;
}
