/*
 * Asking for a channel. The observer reads the program's debug information before it answers, so the answer may take as
 * long as that; when the observer dies the connection ends, and the process goes on unobserved.
 *
 * Guarantee: bounded, and whatever fails leaves no descriptor open. Cost: at the start of a process only.
 */
#include "runtime/channel/attach.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/channel.h"
#include "runtime/sys/sys.h"

static const int64_t answer_ns = 60 * (int64_t)1000000000, busy_ns = 5 * 1000 * 1000;
enum { BUSY_TRIES = 2000 }; /* of busy_ns each: so many processes start at once that they have to queue */

/* Of the address of an abstract socket; 0: the environment names none. */
static size_t find_address(struct sockaddr_un *ret_address)
{
    const char *name = pt_sys_getenv(PT_RENDEZVOUS_ENV);
    size_t len = name ? strlen(name) : 0;
    if (!len || len > sizeof ret_address->sun_path - 1)
        return 0;
    memset(ret_address, 0, sizeof *ret_address);
    ret_address->sun_family = AF_UNIX;
    memcpy(ret_address->sun_path + 1, name, len);
    return offsetof(struct sockaddr_un, sun_path) + 1 + len;
}

static bool connect_to(int fd, const struct sockaddr_un *address, size_t len)
{
    int result = -EAGAIN;
    for (unsigned tries = 0; result == -EAGAIN && tries < BUSY_TRIES; tries++) {
        if (tries)
            pt_sys_sleep((uint64_t)busy_ns);
        result = pt_sys_connect(fd, address, len);
    }
    return result == 0;
}

static int ask(int fd)
{
    struct pt_hello hello = {.magic = PT_CHANNEL_MAGIC, .version = PT_CHANNEL_VERSION};
    uint64_t begun = pt_sys_now();
    if (pt_sys_send(fd, &hello, sizeof hello) != (long)sizeof hello)
        return -1;
    for (int64_t left = answer_ns; left > 0; left = answer_ns - (int64_t)(pt_sys_now() - begun)) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = pt_sys_poll(&wait, 1, left);
        if (ready > 0)
            return pt_sys_receive_fd(fd);
        if (ready < 0 && ready != -EINTR)
            return -1;
    }
    return -1;
}

int pt_attach_request(void)
{
    struct sockaddr_un address;
    size_t len = find_address(&address);
    int fd = len ? pt_sys_socket(AF_UNIX) : -1;
    if (fd < 0)
        return -1;
    int channel = connect_to(fd, &address, len) ? ask(fd) : -1;
    pt_sys_close(fd);
    return channel;
}
