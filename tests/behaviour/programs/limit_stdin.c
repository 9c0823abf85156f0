/* What comes on standard input is the program's, to its end.
 * holds: x <= 30
 * violated: x != 23
 * ordered: yes
 * stdin: a line of text\nand another\n
 */
#include "say.h"

static int x;

int main(void)
{
    int character;
    while ((character = getchar()) != EOF) {
        if (character != '\n')
            SAY(x, x + 1);
        putchar(character);
    }
    printf("%d\n", x);
    return 0;
}
