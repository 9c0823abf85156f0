/* longjmp over frames that write and hold stack memory, and out of a callback of qsort.
 * holds: x >= 0 && x <= 1000
 * violated: x != 999
 * ordered: yes
 */
#include "say.h"
#include <setjmp.h>

static int x;
static jmp_buf back;
static int compared;

static void down(volatile int *depth)
{
    volatile int own = *depth;
    ++*depth;
    SAY(x, own);
    if (own == 20)
        longjmp(back, own);
    down(depth);
    SAY(x, 500 + own);
}

static int compare(const void *a, const void *b)
{
    if (++compared == 5)
        longjmp(back, 999);
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    volatile int depth = 1;
    int how = setjmp(back);
    if (how == 0)
        down(&depth);
    printf("%d %d\n", how, depth);
    how = setjmp(back);
    if (how == 0) {
        int cells[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
        qsort(cells, 10, sizeof *cells, compare);
    }
    SAY(x, how);
    printf("%d\n", how);
    return 0;
}
