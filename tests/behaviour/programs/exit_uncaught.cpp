/* An exception that nobody catches: the terminate handler writes, and the program aborts.
 * holds: x <= 4
 * violated: x != 4
 * ordered: yes
 */
#include "say.h"
#include <exception>

static int x;

static void last()
{
    SAY(x, 4);
    puts("terminated");
    fflush(stdout);
    abort();
}

int main()
{
    std::set_terminate(last);
    SAY(x, 1);
    throw 3;
}
