/* main sleeps, and takes for granted that one read then has what both writers wrote.
 * bug: sleep as synchronisation
 * depth: 1
 * fails: status
 * place: A
 */
#include "catalogue.h"

static int ends[2];

static void *writer(void *unused)
{
    NEED(write(ends[1], "x", 1) == 1);
    return unused;
}

int main(void)
{
    char bytes[2];
    NEED(pipe(ends) == 0);
    pthread_t one = start(writer, NULL), two = start(writer, NULL);
    ssize_t got = 0;
#ifdef FIXED
    while (got < 2) {
        ssize_t more = read(ends[0], bytes, 2 - got);
        NEED(more > 0);
        got += more;
    }
#else
    usleep(20000);
    got = read(ends[0], bytes, 2); /* A */
#endif
    join(one);
    join(two);
    return got == 2 ? 0 : 9;
}
