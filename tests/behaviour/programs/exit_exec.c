/* The program takes its own place by exec, with an argument, and writes before and after.
 * holds: x <= 6
 * violated: x != 5
 * ordered: yes
 */
#include "say.h"

static int x;

int main(int count, char **arguments)
{
    if (count == 1) {
        SAY(x, 1);
        SAY(x, 2);
        puts("before");
        fflush(stdout);
        execl("/proc/self/exe", arguments[0], "again", (char *)NULL);
        return 98;
    }
    SAY(x, 5);
    printf("after %s\n", arguments[1]);
    return 6;
}
