/* Main joins a thread, which has not joined the one that it had made.
 * race: x w:A w:B
 */
#include "races.h"

static int x;
static pthread_t second;

static void *inner(void *unused)
{
    x = 1; /* A */
    pass(1);
    return NULL;
}

static void *outer(void *unused)
{
    second = start(inner, NULL);
    return NULL;
}

int main(void)
{
    pthread_join(start(outer, NULL), NULL);
    await(1);
    x = 2; /* B */
    pthread_join(second, NULL);
    return x != 2;
}
