/* The same with small blocks of one arena.
 * race: none
 */
#include "races.h"
#include <malloc.h>

static void *one(void *unused)
{
    for (int i = 0; i < 20; i++) {
        long *block = malloc(24);
        block[1] = i;
        USE(block[1]);
        free(block);
    }
    pass_one();
    await(2);
    return NULL;
}

int main(void)
{
    mallopt(M_ARENA_MAX, 1);
    both(one, one);
    for (int i = 0; i < 20; i++) {
        pthread_detach(start(one, NULL));
        pthread_join(start(one, NULL), NULL);
    }
    return 0;
}
