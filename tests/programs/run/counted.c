/* Writes level ten times, where the runtime's clocks count to five: as if they had begun near their end. */
#include <stdint.h>
#include <stdio.h>

extern uint32_t pt_shadow_count_max; /* of the runtime, which is linked into the program */
static volatile int level;

int main(void)
{
    pt_shadow_count_max = 5;
    for (int i = 1; i <= 10; i++)
        level = i;
    printf("level %d\n", level);
    return 0;
}
