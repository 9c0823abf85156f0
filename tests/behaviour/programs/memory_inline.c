/* C99's inline without an external definition links, and its write is seen.
 * holds: x <= 21
 * violated: x != 21
 * ordered: yes
 * levels: -O2
 */
#include "say.h"

int x;

inline int twice(int n)
{
    SAY(x, n);
    return 2 * n;
}

int main(void)
{
    int sum = 0;
    for (int i = 19; i <= 21; i++)
        sum += twice(i);
    printf("%d\n", sum);
    return 0;
}
