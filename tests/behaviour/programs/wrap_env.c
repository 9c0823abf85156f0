/* env gives the program a variable and takes one away.
 * holds: x <= 8
 * violated: x != 8
 * ordered: yes
 * run: env -u LANG GIVEN=8 nice ./program
 */
#include "say.h"

static int x;

int main(void)
{
    NEED(!getenv("LANG") && getenv("GIVEN"));
    SAY(x, atoi(getenv("GIVEN")));
    puts(getenv("GIVEN"));
    return 0;
}
