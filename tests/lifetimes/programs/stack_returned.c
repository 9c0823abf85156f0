/* A pointer to a local of a function that has returned.
 * life: use of a stopped stack, observed w:A
 */
#include "races.h"

static __attribute__((noinline)) int *volatile *address(int *volatile *out)
{
    int local = 5;
    *out = &local;
    USE(*(volatile int *)*out);
    return out;
}

int main(void)
{
    int *volatile pointer;
    address(&pointer);
    *(volatile int *)pointer = 1; /* A */
    return 0;
}
