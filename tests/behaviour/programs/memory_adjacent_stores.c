/* Stores that follow each other, of which a compiler would keep the last: each of them counts.
 * holds: x <= 9 && y <= 4 && row[1] <= 5
 * violated: x != 1
 * ordered: yes
 */
#include "say.h"

static int x, y, row[3];

int main(void)
{
    x = 1;
    x = 2;
    x = 3;
    said("x", 1), said("x", 2), said("x", 3);
    for (int i = 0; i < 5; i++)
        y = i;
    for (int i = 0; i < 5; i++)
        said("y", i);
    row[0] = 1, row[1] = 2, row[2] = 3;
    row[1] = 5;
    said("row[1]", 2), said("row[1]", 5);
    x = 9;
    x = 0;
    said("x", 9), said("x", 0);
    printf("%d %d %d\n", x, y, row[1]);
    return 0;
}
