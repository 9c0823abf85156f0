/* OpenMP: two threads write between two barriers, as fast as they can: one that leaves the first barrier late is not
 * ordered after what the other did on its way to the second.
 * race: x w:A w:B
 * tsan: also false ones, it does not see the barriers of the OpenMP library
 * flags: -fopenmp
 */
#include "races.h"
#include <omp.h>

static int x, y;

int main(void)
{
    for (int i = 0; i < 100; i++)
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0)
            y++;
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            x = 1; /* A */
        else
            x = 2; /* B */
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            y++;
#pragma omp barrier
    }
    return x == 0 || y != 200;
}
