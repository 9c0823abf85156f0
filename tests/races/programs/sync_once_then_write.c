/* pthread_once orders what it ran, and nothing that comes later.
 * race: x w:A w:B
 */
#include "races.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int x;

static void make(void)
{
    x = 5;
}

static void *one(void *unused)
{
    pthread_once(&once, make);
    x = 6; /* A */
    return NULL;
}

static void *two(void *unused)
{
    pthread_once(&once, make);
    x = 7; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 5;
}
