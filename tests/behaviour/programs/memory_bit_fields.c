/* Bit-fields beside each other, signed and unsigned; only a store that changes one counts as a write of it.
 * holds: flags.small <= 7 && flags.middle >= -16 && flags.wide >= 0
 * violated: flags.middle != -5
 * ordered: yes
 */
#include "say.h"

static struct {
    unsigned small : 3;
    int middle : 5;
    unsigned long wide : 40;
} flags;

int main(void)
{
    for (int i = 1; i < 8; i++) {
        flags.small = (unsigned)i & 7;
        said("flags.small", i);
        flags.middle = -i;
        said("flags.middle", -i);
        flags.wide = (1UL << 39) + (unsigned long)i;
        said("flags.wide", (1L << 39) + i);
    }
    printf("%u %d %lu\n", flags.small, flags.middle, (unsigned long)flags.wide);
    return 0;
}
