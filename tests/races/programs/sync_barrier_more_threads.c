/* Four threads use a barrier that is for two, again and again. Two of three leave it together; the last one waits for a
 * fourth, which comes when they have left, and reads what that one wrote before.
 * race: none
 */
#include "races.h"
#include <sched.h>

enum { ROUNDS = 100 };

static pthread_barrier_t barriers[ROUNDS];
static _Atomic int left[ROUNDS], late[ROUNDS];
static int x[ROUNDS];

static void *meet(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barriers[i]);
        if (atomic_load_explicit(&late[i], memory_order_relaxed))
            USE(x[i]);
        else
            atomic_fetch_add_explicit(&left[i], 1, memory_order_relaxed);
    }
    return NULL;
}

static void *come_late(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load_explicit(&left[i], memory_order_relaxed) < 2)
            sched_yield();
        x[i] = 1;
        atomic_store_explicit(&late[i], 1, memory_order_relaxed);
        pthread_barrier_wait(&barriers[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < ROUNDS; i++)
        pthread_barrier_init(&barriers[i], NULL, 2);
    for (int i = 0; i < 4; i++)
        threads[i] = start(i < 3 ? meet : come_late, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
