/* A relaxed update by a third thread continues the release sequence.
 * race: none
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    pass(1);
    return NULL;
}

static void *middle(void *unused)
{
    await(1);
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    pass(2);
    return NULL;
}

static void *two(void *unused)
{
    await(2);
    NEED(atomic_load_explicit(&flag, memory_order_acquire) == 2);
    x = 2;
    return NULL;
}

int main(void)
{
    pthread_t third = start(middle, NULL);
    both(one, two);
    pthread_join(third, NULL);
    return x != 2;
}
