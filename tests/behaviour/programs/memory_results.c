/* What functions give back through pointers: the results of wait, join, clocks, addresses of ends.
 * holds: status >= 0 && moment.tv_sec >= 0
 * violated: status != 768
 * optional: unsaid
 * status: 67, without exec
 */
#include "say.h"
#include <sys/time.h>
#include <sys/wait.h>

static int status;
static struct timeval moment;

int main(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    NEED(waitpid(child, &status, 0) == child);
    NEED(gettimeofday(&moment, NULL) == 0 && moment.tv_sec > 1000000000);
    printf("%d\n", WEXITSTATUS(status));
    status = 0;
    return 0;
}
