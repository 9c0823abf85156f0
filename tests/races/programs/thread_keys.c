/* Destructors of keys belong to their thread, and come before its end.
 * race: none
 */
#include "races.h"

static pthread_key_t key;
static int x;

static void end(void *value)
{
    *(int *)value += 1;
}

static void *work(void *unused)
{
    x = 1;
    pthread_setspecific(key, &x);
    return NULL;
}

int main(void)
{
    pthread_key_create(&key, end);
    pthread_join(start(work, NULL), NULL);
    return x != 2;
}
