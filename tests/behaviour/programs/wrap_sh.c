/* The shell starts the program, twice, one after the other, and ends with the second one's status.
 * holds: x <= 5
 * violated: x != 4
 * ordered: yes
 * run: sh -c './program 1; ./program 3'
 */
#include "say.h"

static int x;

int main(int count, char **arguments)
{
    NEED(count == 2);
    int start = atoi(arguments[1]);
    SAY(x, start);
    SAY(x, start + 1);
    printf("started with %d\n", start);
    return start;
}
