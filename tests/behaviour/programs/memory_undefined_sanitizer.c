/* -fsanitize=undefined reports what it reports plain, and the program goes on.
 * holds: x >= -2147483648
 * violated: x != 64
 * ordered: yes
 * flags: -fsanitize=undefined
 */
#include "say.h"

static int x = 1;

int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < 6; i++)
        SAY(x, x << count);
    volatile int shift = 40;
    int most = 0x7fffffff;
    most += count;
    printf("%d %d\n", x, most < 0);
    return (1 << shift) == 12345;
}
