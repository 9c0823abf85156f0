/* A process and its child write what is no longer common.
 * race: none
 */
#include "races.h"
#include <sys/wait.h>

static int x;

static void *work(void *unused)
{
    x++;
    return NULL;
}

int main(void)
{
    pthread_t thread = start(work, NULL);
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        x = 5;
        pthread_join(start(work, NULL), NULL);
        _exit(x != 6);
    }
    int status;
    x = 7;
    waitpid(child, &status, 0);
    return x != 7 || status != 0;
}
