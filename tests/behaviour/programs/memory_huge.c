/* A huge static array of which little is touched, far apart, and one block of the heap of that kind.
 * holds: x >= 0 && cells[99999999] >= 0
 * violated: cells[99999999] != 3
 * ordered: yes
 */
#include "say.h"

static int x, cells[100000000];

int main(void)
{
    char *block = malloc((size_t)1 << 32);
    NEED(block);
    for (int i = 0; i < 10; i++) {
        cells[i * 9999999] = i;
        block[(size_t)i << 28] = (char)i;
    }
    for (int i = 0; i < 10; i++)
        SAY(x, cells[i * 9999999] + block[(size_t)i << 28]);
    SAY(cells[99999999], 3);
    free(block);
    printf("%d\n", x);
    return 0;
}
