/* A local variable of main that both threads write.
 * race: * w:A w:B
 */
#include "races.h"

static void *one(void *local)
{
    *(int *)local = 1; /* A */
    return NULL;
}

static void *two(void *local)
{
    *(int *)local = 2; /* B */
    return NULL;
}

int main(void)
{
    int local = 0;
    pthread_t first = start(one, &local), second = start(two, &local);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return local == 0;
}
