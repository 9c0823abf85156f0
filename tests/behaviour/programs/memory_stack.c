/* Stack arrays, alloca, variable lengths, and deep recursion with a pointer to a caller's variable.
 * holds: x >= 0
 * violated: x < 5050
 * ordered: yes
 */
#include "say.h"
#include <alloca.h>

static int x;

static void add(int *total, int n)
{
    char *room = alloca((size_t)n + 1);
    memset(room, n, (size_t)n);
    *total += room[n / 2];
    if (n > 1)
        add(total, n - 1);
    else
        SAY(x, *total);
}

static int lengths(int n)
{
    int cells[n], sum = 0;
    for (int i = 0; i < n; i++)
        cells[i] = i;
    for (int i = 0; i < n; i++)
        sum += cells[i];
    return sum;
}

int main(void)
{
    int total = 0;
    add(&total, 100);
    for (int i = 1; i < 4; i++)
        SAY(x, lengths(100 * i));
    printf("%d %d\n", total, x);
    return 0;
}
