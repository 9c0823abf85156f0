/* Main returns a status; what destructors of the program write comes after it.
 * holds: x <= 9
 * violated: x != 9
 * ordered: yes
 */
#include "say.h"

static int x;

__attribute__((constructor)) static void before(void)
{
    SAY(x, 1);
}

__attribute__((destructor)) static void after(void)
{
    SAY(x, 9);
    puts("after main");
}

int main(void)
{
    SAY(x, 5);
    return 41;
}
