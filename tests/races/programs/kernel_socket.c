/* A pair of sockets, there and back.
 * race: none
 */
#include "races.h"
#include <sys/socket.h>

static int ends[2], x;

static void *one(void *unused)
{
    char byte;
    x = 1;
    NEED(send(ends[0], "a", 1, 0) == 1);
    NEED(recv(ends[0], &byte, 1, 0) == 1);
    x++;
    return NULL;
}

static void *two(void *unused)
{
    char byte;
    NEED(recv(ends[1], &byte, 1, 0) == 1);
    x++;
    NEED(write(ends[1], "a", 1) == 1);
    return NULL;
}

int main(void)
{
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    both(one, two);
    return x != 3;
}
