/* Memory of alloca, and arrays of a length that is not known before.
 * life: none
 */
#include "races.h"

static __attribute__((noinline)) int sum(int count)
{
    volatile int numbers[count];
    volatile int *more = __builtin_alloca((size_t)count * sizeof *more);
    int total = 0;
    for (int i = 0; i < count; i++)
        numbers[i] = more[i] = i;
    for (int i = 0; i < count; i++)
        total += numbers[i] + more[i];
    return total;
}

int main(void)
{
    NEED(sum(100) == 9900 && sum(3000) == 8997000);
    return 0;
}
