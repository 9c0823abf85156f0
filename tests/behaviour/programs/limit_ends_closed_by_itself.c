/* The program closes standard input, output and error, and opens files in their place.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"
#include <fcntl.h>

static int x;

int main(void)
{
    puts("here");
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        close(i);
    for (int i = 0; i < 3; i++) {
        int file = open("/dev/null", O_RDWR);
        if (file != i)
            return 50 + file;
        SAY(x, file);
    }
    return 0;
}
