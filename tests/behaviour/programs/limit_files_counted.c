/* The descriptors that a program opens have the numbers that they have plain.
 * holds: x <= 100
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"
#include <fcntl.h>

static int x;

int main(void)
{
    int ends[2];
    NEED(pipe(ends) == 0);
    SAY(x, ends[0]);
    SAY(x, ends[1]);
    SAY(x, dup(1));
    SAY(x, fcntl(0, F_DUPFD, 20));
    printf("%d %d %d\n", ends[0], ends[1], x);
    return 0;
}
