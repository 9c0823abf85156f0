/* Nobody reads standard output any more: SIGPIPE ends the program, or EPIPE comes where it is ignored.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"

static int x;

int main(void)
{
    int ends[2];
    NEED(pipe(ends) == 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    NEED(write(ends[1], "a", 1) == -1 && errno == EPIPE);
    SAY(x, 1);
    signal(SIGPIPE, SIG_DFL);
    SAY(x, 2);
    puts("before");
    fflush(stdout);
    NEED(write(ends[1], "a", 1) == 1);
    return 0;
}
