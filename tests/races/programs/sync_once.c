/* What pthread_once has run is there for all that call it.
 * race: none
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
    USE(x);
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 5;
}
