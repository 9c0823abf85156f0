/* A ticket lock: a relaxed update takes the number, the acquire load waits for it.
 * race: none
 */
#include "races.h"

static atomic_int next_ticket, serving;
static int x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        int mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
        while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
            usleep(20);
        x++;
        atomic_store_explicit(&serving, mine + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 20;
}
