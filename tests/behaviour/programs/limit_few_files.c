/* Only eight descriptors: all of them are there for the program.
 * holds: x <= 8
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"
#include <fcntl.h>
#include <sys/resource.h>

static int x;

int main(void)
{
    struct rlimit few = {8, 8};
    NEED(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int opened = 0, file;
    while ((file = open("/dev/null", O_RDONLY)) >= 0) {
        SAY(x, file);
        opened++;
    }
    printf("%d %d\n", opened, errno == EMFILE);
    return 0;
}
