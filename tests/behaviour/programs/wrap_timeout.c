/* timeout starts the program in a group of its own, and passes its status on.
 * holds: x <= 5
 * violated: x != 2
 * ordered: yes
 * run: timeout 30 ./program
 */
#include "say.h"

static int x;

int main(void)
{
    for (int i = 1; i <= 5; i++)
        SAY(x, i);
    puts("in time");
    return 11;
}
