#include "cli/watch_source.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/interrupt.h"

enum { RETRY_MS = 20, PATIENCE_MS = 1000 };

struct target {
    struct sockaddr_storage at;
    socklen_t len;
};

static enum pt_status bad_address(const char *address, struct pt_err *err)
{
    enum pt_status status = pt_err_set(err, PT_EUSAGE, "'%.200s' is no address: unix:PATH or tcp:HOST:PORT", address);
    pt_err_hint(err, "start the program with PORTENT_OPTIONS=events=ADDRESS, and watch the same ADDRESS");
    return status;
}

static enum pt_status find_unix(const char *address, struct target *target, struct pt_err *err)
{
    struct sockaddr_un *at = (struct sockaddr_un *)&target->at;
    const char *path = address + strlen("unix:");
    size_t len = strlen(path);
    if (len == 0)
        return bad_address(address, err);
    if (len >= sizeof at->sun_path)
        return pt_err_set(err, PT_EUSAGE, "the path of a socket has at most %zu bytes, this one has %zu",
                          sizeof at->sun_path - 1, len);
    at->sun_family = AF_UNIX;
    memcpy(at->sun_path, path, len + 1);
    target->len = sizeof *at;
    return PT_OK;
}

static enum pt_status find_tcp(const char *address, struct target *target, struct pt_err *err)
{
    const char *host = address + strlen("tcp:"), *port = strrchr(host, ':');
    char name[256];
    if (!port || port == host || !port[1])
        return bad_address(address, err);
    size_t len = (size_t)(port - host);
    if (host[0] == '[' && host[len - 1] == ']' && len > 2) { /* [::1] */
        host++;
        len -= 2;
    }
    if (len >= sizeof name)
        return bad_address(address, err);
    memcpy(name, host, len);
    name[len] = '\0';
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
    int failure = getaddrinfo(name, port + 1, &hints, &found);
    if (failure)
        return pt_err_set(err, PT_EUSAGE, "'%.200s' is no address of a host and its port: %s", address,
                          gai_strerror(failure));
    memcpy(&target->at, found->ai_addr, found->ai_addrlen);
    target->len = found->ai_addrlen;
    freeaddrinfo(found);
    return PT_OK;
}

/* A connection, or -1 with errno. */
static int try(const struct target *target)
{
    int fd = socket(target->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&target->at, target->len) == 0 &&
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static bool nobody_listens(int why)
{
    return why == ENOENT || why == ECONNREFUSED || why == EAGAIN || why == ENOTDIR;
}

enum pt_status pt_source_connect(const char *address, bool wait, int *ret_fd, struct pt_err *err)
{
    struct target target = {0};
    enum pt_status status = strncmp(address, "unix:", 5) == 0  ? find_unix(address, &target, err)
                            : strncmp(address, "tcp:", 4) == 0 ? find_tcp(address, &target, err)
                                                               : bad_address(address, err);
    if (status != PT_OK)
        return status;
    int fd;
    for (int waited = 0; (fd = try(&target)) < 0 && !pt_interrupted(); waited += RETRY_MS) {
        int why = errno;
        if (why == EINTR)
            continue;
        if (!nobody_listens(why) || (!wait && waited >= PATIENCE_MS)) {
            status = pt_err_set(err, PT_EIO, "cannot connect to %.200s: %s", address, strerror(why));
            if (nobody_listens(why))
                pt_err_hint(err, "is a program running with PORTENT_OPTIONS=events=%.120s? --wait waits for it",
                            address);
            return status;
        }
        poll(NULL, 0, RETRY_MS);
    }
    *ret_fd = fd;
    return PT_OK;
}
