/* fork: parent and child have their own copies; the child's end is waited for.
 * holds: x <= 50
 * violated: x != 3
 * ordered: yes
 * optional: children
 * status: 67, without exec
 */
#include "say.h"
#include <sys/wait.h>

static int x;

int main(void)
{
    int status;
    SAY(x, 1);
    pid_t child = fork();
    if (child == 0) {
        SAY(x, 50);
        exit(x);
    }
    SAY(x, 2);
    NEED(waitpid(child, &status, 0) == child);
    SAY(x, 3);
    printf("%d %d\n", WEXITSTATUS(status), x);
    return 0;
}
