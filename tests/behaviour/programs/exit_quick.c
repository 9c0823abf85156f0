/* quick_exit runs the handlers of at_quick_exit alone.
 * holds: x <= 8
 * violated: x != 8
 * ordered: yes
 */
#include "say.h"

static int x;

static void quick(void)
{
    SAY(x, 8);
    puts("quick");
    fflush(stdout);
}

static void never(void)
{
    SAY(x, 100);
}

int main(void)
{
    atexit(never);
    at_quick_exit(quick);
    SAY(x, 1);
    quick_exit(17);
}
