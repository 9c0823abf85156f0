/* main closes the pipe after what it wanted; a worker that is late writes to nobody.
 * bug: shutdown race
 * depth: 1
 * fails: signal
 * signal: PIPE
 * place: A
 */
#include "catalogue.h"

static int ends[2];
static _Atomic int started;

static void *writer(void *unused)
{
    if (started++ == 0)
        NEED(write(ends[1], "first", 5) == 5);
    else
        NEED(write(ends[1], "more", 4) == 4); /* A */
    return unused;
}

int main(void)
{
    char bytes[5];
    NEED(pipe(ends) == 0);
    pthread_t one = start(writer, NULL), two = start(writer, NULL);
    usleep(10000);
    NEED(read(ends[0], bytes, 5) > 0);
#ifdef FIXED
    join(one);
    join(two);
    close(ends[0]);
#else
    close(ends[0]);
    join(one);
    join(two);
#endif
    return 0;
}
