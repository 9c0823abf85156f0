/* What belongs to a thread is freed when it ends.
 * life: none
 */
#include "races.h"

static pthread_key_t key;

static void drop(void *block)
{
    ((volatile int *)block)[1]++;
    free(block);
}

static void *one(void *unused)
{
    pthread_setspecific(key, calloc(4, sizeof(int)));
    return NULL;
}

int main(void)
{
    pthread_key_create(&key, drop);
    for (int i = 0; i < 20; i++)
        both(one, one);
    return 0;
}
