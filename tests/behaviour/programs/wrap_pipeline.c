/* Three processes of the program in a pipeline, each of which passes the numbers on and writes.
 * holds: x <= 40
 * violated: x != 12
 * ordered: yes
 * run: sh -c './program < numbers | ./program | ./program'
 * files: numbers=1 2 3
 */
#include "say.h"

static int x;

int main(void)
{
    int number;
    while (scanf("%d", &number) == 1) {
        SAY(x, 2 * number);
        printf("%d\n", x);
    }
    return 0;
}
