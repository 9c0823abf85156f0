/* A thread whose relaxed update continues another one's release sequence publishes nothing of its own.
 * race: y w:A w:B
 * tsan: nothing or the same; it joins the clocks of all that release
 */
#include "races.h"

static atomic_int flag;
static int x, y;

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
    y = 1; /* A */
    atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    pass(2);
    return NULL;
}

static void *two(void *unused)
{
    await(2);
    NEED(atomic_load_explicit(&flag, memory_order_acquire) == 2);
    x = 2;
    y = 2; /* B */
    return NULL;
}

int main(void)
{
    pthread_t third = start(middle, NULL);
    both(one, two);
    pthread_join(third, NULL);
    return x + y != 4;
}
