/* Frames that are left by longjmp, and others in their place.
 * life: none
 */
#include "races.h"
#include <setjmp.h>

static jmp_buf back;

static __attribute__((noinline)) void deep(int depth)
{
    volatile int local[30];
    local[7] = depth;
    if (!depth)
        longjmp(back, 1);
    deep(depth - 1);
    USE(local[7]);
}

int main(void)
{
    for (volatile int i = 0; i < 20; i++)
        if (!setjmp(back))
            deep(20);
    return 0;
}
