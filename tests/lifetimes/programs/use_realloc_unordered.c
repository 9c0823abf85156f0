/* Another thread's use, before realloc by chance.
 * life: use after free, predicted r:A free:B
 */
#include "races.h"

static char *volatile block;

static void *one(void *unused)
{
    USE(((volatile char *)block)[7]); /* A */
    pass(1);
    return NULL;
}

int main(void)
{
    block = calloc(20, 1);
    pthread_t thread = start(one, NULL);
    await(1);
    block = realloc(block, 4000); /* B */
    pthread_join(thread, NULL);
    free(block);
    return 0;
}
