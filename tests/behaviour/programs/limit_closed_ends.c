/* Standard input, output and error are closed: what the program opens gets their numbers.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 * around: sh -c 'exec "$@" <&- >&- 2>&-' sh
 */
#include "say.h"
#include <fcntl.h>

static int x;

int main(void)
{
    for (int i = 0; i < 3; i++) {
        int file = open("/dev/null", O_RDWR);
        if (file != i)
            return 50 + file;
        SAY(x, file);
    }
    return 0;
}
