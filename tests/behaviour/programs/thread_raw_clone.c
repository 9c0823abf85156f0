/* A thread by the bare clone, of which libc knows nothing: it works on memory, and its end is waited for.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 * optional: unobserved
 * status: 67, nothing was recorded from there on
 */
#include "say.h"
#include <sched.h>
#include <sys/wait.h>

static int x;
static int cells[100];

static int worker(void *given)
{
    for (int i = 0; i < 100; i++)
        cells[i] = *(int *)given + i;
    return 5;
}

int main(void)
{
    int status, start = 3;
    char *stack = malloc(65536);
    SAY(x, 1);
    pid_t child = clone(worker, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &start);
    NEED(child > 0 && waitpid(child, &status, 0) == child);
    SAY(x, 2);
    printf("%d %d\n", WEXITSTATUS(status), cells[99]);
    free(stack);
    return 0;
}
