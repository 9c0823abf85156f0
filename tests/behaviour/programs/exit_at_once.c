/* _exit leaves out handlers and buffers; what was written before is known.
 * holds: x <= 7
 * violated: x != 7
 * ordered: yes
 */
#include "say.h"

static int x;

static void never(void)
{
    SAY(x, 100);
}

int main(void)
{
    atexit(never);
    puts("printed");
    fflush(stdout);
    printf("not printed");
    SAY(x, 6);
    SAY(x, 7);
    _exit(9);
}
