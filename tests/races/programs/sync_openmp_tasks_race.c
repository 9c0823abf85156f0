/* OpenMP: two tasks of one parent, which nothing orders, in two threads.
 * race: x w:A w:B
 * tsan: also false ones, it does not see what the OpenMP library orders
 * flags: -fopenmp
 */
#include "races.h"

static int x;

int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        {
            await(1);
            x = 1; /* A */
            pass(2);
        }
#pragma omp task
        {
            x = 2; /* B */
            pass(1);
            await(2);
        }
    }
    return x == 0;
}
