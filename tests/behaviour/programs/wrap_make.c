/* make runs the program as a check, which fails.
 * holds: x <= 3
 * violated: x != 3
 * ordered: yes
 * run: make -s -f /dev/stdin check
 * stdin: check:\n\t./program || exit 4\n
 */
#include "say.h"

static int x;

int main(void)
{
    SAY(x, 3);
    puts("checked");
    return 0;
}
