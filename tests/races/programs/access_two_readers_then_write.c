/* Two threads have read when a third one writes: both reads race with the write.
 * race: x r:A w:C
 * race: x r:B w:C
 * tsan: one of the two, it reports one race of an access
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    USE(x); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(x); /* B */
    pass(2);
    return NULL;
}

int main(void)
{
    pthread_t first = start(one, NULL), second = start(two, NULL);
    await(2);
    x = 1; /* C */
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
