/* More events than fit into the buffers, while the observer is stopped. */
#include <signal.h>
#include <unistd.h>

int level;

int main(void)
{
    kill(getppid(), SIGSTOP);
    for (int i = 0; i < 1000000; i++)
        level = i;
    kill(getppid(), SIGCONT);
    return 0;
}
