/* OpenMP: the library gives a task the memory of one that has ended in another thread, which nobody has waited for.
 * race: none
 * tsan: false ones, it does not see what the OpenMP library orders
 * flags: -fopenmp
 */
#include <sched.h>

#include "races.h"

static _Atomic int ended, sum;

static void create(int k)
{
#pragma omp task firstprivate(k)
    {
        atomic_fetch_add_explicit(&sum, k, memory_order_relaxed);
        atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed); /* which orders nothing */
    }
}

int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int k = 0; k < 100; k++) {
        create(k);
        for (int turns = 0; atomic_load_explicit(&ended, memory_order_relaxed) <= k && turns < 1000; turns++)
            sched_yield(); /* the other thread runs it, if it comes to that */
    }
    return sum != 4950;
}
