/* Two threads have read when a third one writes, which has joined one of them: the other one's read races.
 * race: x r:B w:C
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    USE(x);
    return NULL;
}

static void *two(void *unused)
{
    USE(x); /* B */
    pass(1);
    await(2);
    return NULL;
}

int main(void)
{
    pthread_t first = start(one, NULL), second = start(two, NULL);
    pthread_join(first, NULL);
    await(1);
    x = 1; /* C */
    pass(2);
    pthread_join(second, NULL);
    return 0;
}
