/* OpenMP: a reduction, a critical section, a barrier, a single and ordered sections.
 * race: none
 * tsan: false ones, it does not see the barriers of the OpenMP library
 * flags: -fopenmp
 */
#include "races.h"

int main(void)
{
    int *a = malloc(100 * sizeof *a);
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 100; i++) {
        a[i] = i;
        sum += a[i];
    }
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        sum++;
#pragma omp barrier
#pragma omp single
        sum++;
    }
#pragma omp parallel for ordered num_threads(3)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
        sum += i;
    }
    free(a);
    return sum != 4950 + 4 + 45;
}
