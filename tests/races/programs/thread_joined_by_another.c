/* Main joins the thread that has joined the one that wrote.
 * race: none
 */
#include "races.h"

static int x;

static void *inner(void *unused)
{
    x = 1;
    return NULL;
}

static void *outer(void *unused)
{
    pthread_join(start(inner, NULL), NULL);
    x++;
    return NULL;
}

int main(void)
{
    pthread_join(start(outer, NULL), NULL);
    x++;
    return x != 3;
}
