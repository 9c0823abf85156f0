/* timeout passes a signal on to its program, which sent it, and waits for it; the handler writes.
 * holds: x <= 2
 * violated: x != 2
 * ordered: yes
 * run: timeout --preserve-status 60 ./program
 */
#include "say.h"
#include <fcntl.h>

static volatile int x;

static void handler(int number)
{
    (void)number;
    SAY(x, 2);
    _exit(21);
}

/* Until then timeout does not know whom it waits for, and would end by itself. */
static void await_sleep_of(long process)
{
    char path[32], text[512] = "", *state = NULL;
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    while (!state || state[2] != 'S') {
        usleep(1000);
        int fd = open(path, O_RDONLY);
        if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
            _exit(9);
        close(fd);
        state = strrchr(text, ')');
    }
}

int main(void)
{
    signal(SIGTERM, handler);
    SAY(x, 1);
    await_sleep_of(getppid());
    kill(getppid(), SIGTERM);
    for (;;)
        pause();
}
