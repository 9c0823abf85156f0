/* read, pread, readv, recv and recvmsg fill what is watched.
 * holds: level >= 0 && level <= 90
 * violated: level != 40
 * ordered: yes
 */
#include "say.h"
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int level;
static int ends[2];

static void send_number(int number)
{
    NEED(write(ends[1], &number, sizeof number) == sizeof number);
}

int main(void)
{
    char gap[2];
    struct iovec parts[] = {{&level, sizeof level}, {gap, sizeof gap}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 1};
    NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    send_number(10);
    NEED(read(ends[0], &level, sizeof level) == sizeof level);
    said("level", 10);
    send_number(20);
    NEED(readv(ends[0], parts, 2) == sizeof level);
    said("level", 20);
    send_number(30);
    NEED(recv(ends[0], &level, sizeof level, 0) == sizeof level);
    said("level", 30);
    send_number(40);
    NEED(recvmsg(ends[0], &message, 0) == sizeof level);
    said("level", 40);
    int file = memfd_create("level", MFD_CLOEXEC), fifty = 50;
    NEED(pwrite(file, &fifty, sizeof fifty, 100) == sizeof fifty);
    NEED(pread(file, &level, sizeof level, 100) == sizeof level);
    said("level", 50);
    printf("%d\n", level);
    return 0;
}
