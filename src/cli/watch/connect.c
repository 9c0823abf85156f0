/*
 * Connecting to the event stream of a program: parses unix:PATH and tcp:HOST:PORT, tries every address that a host's
 * name stands for, and tries again while nobody listens, for a second or, with --wait, for ever. Ctrl-C ends the
 * waiting. Only the wait between two tries takes time.
 */
#include "cli/watch/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/common/interrupt.h"

enum { RETRY_MS = 20, PATIENCE_MS = 1000, TARGETS_MAX = 8 };

/* Where to connect to: a name may stand for several addresses, `localhost` for those of IPv4 and of IPv6. */
struct targets {
    unsigned count;
    struct target {
        struct sockaddr_storage at;
        socklen_t len;
    } all[TARGETS_MAX];
};

static enum pt_status bad_address(const char *address, struct pt_err *err)
{
    enum pt_status status = pt_err_set(err, PT_EUSAGE, "'%.200s' is no address: unix:PATH or tcp:HOST:PORT", address);
    pt_err_hint(err, "start the program with PORTENT_OPTIONS=events=ADDRESS, and watch the same ADDRESS");
    return status;
}

static enum pt_status find_unix(const char *address, struct targets *targets, struct pt_err *err)
{
    struct sockaddr_un *at = (struct sockaddr_un *)&targets->all[0].at;
    const char *path = address + strlen("unix:");
    size_t len = strlen(path);
    if (len == 0)
        return bad_address(address, err);
    if (len >= sizeof at->sun_path)
        return pt_err_set(err, PT_EUSAGE, "the path of a socket has at most %zu bytes, this one has %zu",
                          sizeof at->sun_path - 1, len);
    at->sun_family = AF_UNIX;
    memcpy(at->sun_path, path, len + 1);
    targets->all[0].len = sizeof *at;
    targets->count = 1;
    return PT_OK;
}

static enum pt_status find_tcp(const char *address, struct targets *targets, struct pt_err *err)
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
    for (const struct addrinfo *each = found; each && targets->count < TARGETS_MAX; each = each->ai_next) {
        struct target *target = &targets->all[targets->count++];
        memcpy(&target->at, each->ai_addr, each->ai_addrlen);
        target->len = each->ai_addrlen;
    }
    freeaddrinfo(found);
    return PT_OK;
}

/* A connection, or -1 with errno. */
static int try_one(const struct target *target)
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

/* The first address that answers. Where none does, an errno by which waiting may help comes before others. */
static int try(const struct targets *targets)
{
    int why = 0;
    for (unsigned i = 0; i < targets->count; i++) {
        int fd = try_one(&targets->all[i]);
        if (fd >= 0)
            return fd;
        if (!why || nobody_listens(errno))
            why = errno;
    }
    errno = why;
    return -1;
}

enum pt_status pt_watch_connect(const char *address, bool wait, int *ret_fd, struct pt_err *err)
{
    struct targets targets = {0};
    enum pt_status status = strncmp(address, "unix:", 5) == 0  ? find_unix(address, &targets, err)
                            : strncmp(address, "tcp:", 4) == 0 ? find_tcp(address, &targets, err)
                                                               : bad_address(address, err);
    if (status != PT_OK)
        return status;
    int fd;
    for (int waited = 0; (fd = try(&targets)) < 0 && !pt_interrupted(); waited += RETRY_MS) {
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
