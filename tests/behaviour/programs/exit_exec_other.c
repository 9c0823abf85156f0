/* The program takes its place by echo, which is not instrumented: what it did before is known.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"

static int x;

int main(void)
{
    SAY(x, 1);
    SAY(x, 2);
    puts("before");
    fflush(stdout);
    execlp("echo", "echo", "after", (char *)NULL);
    return 98;
}
