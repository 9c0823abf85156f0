/* The child of a fork frees and uses its own.
 * life: none
 */
#include "races.h"
#include <sys/wait.h>

int main(void)
{
    volatile int *block = calloc(40, sizeof *block), *freed = calloc(40, sizeof *block);
    free((void *)freed);
    pid_t child = fork();
    if (child == 0) {
        block[3] = 1;
        free((void *)block);
        for (int i = 0; i < 1000; i++) {
            volatile int *other = malloc(160);
            other[1] = i;
            free((void *)other);
        }
        _exit(0);
    }
    int status;
    NEED(waitpid(child, &status, 0) == child && status == 0);
    block[3] = 2;
    free((void *)block);
    return 0;
}
