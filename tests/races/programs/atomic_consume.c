/* A consume load: compilers make it an acquire load.
 * race: none
 */
#include "races.h"

static int block;
static int *_Atomic pointer;

static void *one(void *unused)
{
    block = 1;
    atomic_store_explicit(&pointer, &block, memory_order_release);
    return NULL;
}

static void *two(void *unused)
{
    int *p;
    while (!(p = atomic_load_explicit(&pointer, memory_order_consume)))
        usleep(100);
    *p = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return block != 2;
}
