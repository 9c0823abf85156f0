/* The same line frees twice.
 * life: double free, observed free:A free:A
 */
#include "races.h"

static void *volatile block;

static __attribute__((noinline)) void drop(void)
{
    free(block); /* A */
    __asm__ volatile("");
}

int main(void)
{
    block = malloc(3000);
    drop();
    drop();
    return 0;
}
