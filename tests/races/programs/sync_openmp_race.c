/* OpenMP: a counter that nobody guards.
 * race: count rw:A rw:A
 * tsan: also false ones, it does not see the barriers of the OpenMP library
 * flags: -fopenmp
 */
#include "races.h"

static int count;

int main(void)
{
#pragma omp parallel num_threads(2)
    {
        count++; /* A */
#pragma omp barrier
    }
    return count == 0;
}
