/* A relaxed store by a third thread ends the release sequence.
 * race: x w:A w:B
 * tsan: nothing, a relaxed store leaves what it keeps of the variable as it is
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_store_explicit(&flag, 1, memory_order_release);
    pass(1);
    return NULL;
}

static void *middle(void *unused)
{
    await(1);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    pass(2);
    return NULL;
}

static void *two(void *unused)
{
    await(2);
    NEED(atomic_load_explicit(&flag, memory_order_acquire) == 2);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    pthread_t third = start(middle, NULL);
    both(one, two);
    pthread_join(third, NULL);
    return x != 2;
}
