/* OpenMP: tasks that are waited for, alone, in groups and at barriers, and that depend on each other.
 * race: none
 * tsan: false ones, it does not see what the OpenMP library orders
 * flags: -fopenmp
 */
#include "races.h"

static int fibonacci(int n)
{
    int one, two;
    if (n < 2)
        return n;
#pragma omp task shared(one)
    one = fibonacci(n - 1);
#pragma omp task shared(two)
    two = fibonacci(n - 2);
#pragma omp taskwait
    return one + two;
}

int main(void)
{
    int result = 0, x = 0, y = 0, sum = 0, *a = malloc(64 * sizeof *a);
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        {
            result = fibonacci(9);
#pragma omp task depend(out : x)
            x = 1;
#pragma omp task depend(in : x) depend(out : y)
            y = x + 1;
#pragma omp task depend(in : y)
            sum = y + 1;
#pragma omp taskgroup
            {
#pragma omp task
                {
#pragma omp task
                    a[0] = 5;
                }
            }
            a[0]++;
#pragma omp taskloop grainsize(4)
            for (int i = 1; i < 64; i++)
                a[i] = i;
            for (int i = 1; i < 64; i++)
                a[0] += a[i];
        }
#pragma omp for
        for (int i = 0; i < 64; i++)
            a[i]++;
    }
    result += sum + a[0];
    free(a);
    return result != 34 + 3 + 6 + 2016 + 1;
}
