/* The same where it was joined.
 * race: none
 */
#include "races.h"

static int x;

static void last(void)
{
    x++;
}

static void *work(void *unused)
{
    x = 1;
    return NULL;
}

int main(void)
{
    atexit(last);
    pthread_join(start(work, NULL), NULL);
    return 0;
}
