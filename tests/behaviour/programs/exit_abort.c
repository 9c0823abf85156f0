/* abort after a handler of SIGABRT has written.
 * holds: x <= 3
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"

static int x;

static void on_abort(int number)
{
    (void)number;
    SAY(x, 2);
}

int main(void)
{
    signal(SIGABRT, on_abort);
    puts("to be aborted");
    fflush(stdout);
    SAY(x, 1);
    abort();
}
