/*
 * Addresses: where a program listens (unix:PATH and tcp:HOST:PORT, with every address that a host's name stands for),
 * and where programs find us (listen:unix:PATH). Nothing here waits.
 */
#include "cli/watch/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/wire.h"

enum { TARGETS_MAX = 8, BACKLOG = 4096 };

/* A name may stand for several addresses, `localhost` for those of IPv4 and of IPv6. */
struct pt_targets {
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

static enum pt_status find_unix(const char *address, struct pt_targets *targets, struct pt_err *err)
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

static enum pt_status find_tcp(const char *address, struct pt_targets *targets, struct pt_err *err)
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

bool pt_targets_may_come(int why)
{
    return why == ENOENT || why == ECONNREFUSED || why == EAGAIN || why == ENOTDIR || why == EINTR;
}

int pt_targets_try(const struct pt_targets *targets)
{
    int why = 0;
    for (unsigned i = 0; i < targets->count; i++) {
        int fd = try_one(&targets->all[i]);
        if (fd >= 0)
            return fd;
        if (!why || pt_targets_may_come(errno))
            why = errno;
    }
    errno = why;
    return -1;
}

enum pt_status pt_targets_find(const char *address, struct pt_targets **ret_targets, struct pt_err *err)
{
    struct pt_targets *targets = pt_xcalloc(1, sizeof *targets);
    enum pt_status status = strncmp(address, "unix:", 5) == 0  ? find_unix(address, targets, err)
                            : strncmp(address, "tcp:", 4) == 0 ? find_tcp(address, targets, err)
                                                               : bad_address(address, err);
    if (status == PT_OK)
        *ret_targets = targets;
    else
        free(targets);
    return status;
}

/* --- listening --- */

static enum pt_status cannot_listen(const char *address, const char *why, struct pt_err *err)
{
    return pt_err_set(err, PT_EIO, "cannot listen at %.200s: %s", address, why);
}

/* A socket file that nobody listens at any more is what a watcher that was killed has left. */
static bool is_outdated(const struct pt_targets *targets)
{
    struct stat about;
    const struct sockaddr_un *at = (const struct sockaddr_un *)&targets->all[0].at;
    if (lstat(at->sun_path, &about) != 0 || !S_ISSOCK(about.st_mode))
        return false;
    int fd = try_one(&targets->all[0]);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == ECONNREFUSED;
}

/* A socket that listens, at a name of its own, which it gives to *ret_path, not to be seen yet. The file is for its
 * owner alone from the moment it is there: the mode of the socket is that of the file. */
static int listen_aside(const char *path, char (*ret_path)[sizeof((struct sockaddr_un *)0)->sun_path])
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (snprintf(*ret_path, sizeof *ret_path, "%s.%ld", path, (long)getpid()) >= (int)sizeof *ret_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, *ret_path, sizeof *ret_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(*ret_path); /* of a dead process with our number */
    if (fd >= 0 && fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

/* Whoever finds the file finds somebody who listens: between bind and listen a program would take it for one that was
 * left behind, and replace it. So it gets its name when all is done, by a link, which replaces nothing. */
static int listen_at(const struct pt_targets *targets)
{
    const char *path = ((const struct sockaddr_un *)&targets->all[0].at)->sun_path;
    char aside[sizeof((struct sockaddr_un *)0)->sun_path];
    int fd = listen_aside(path, &aside);
    if (fd < 0)
        return -1;
    int failed = link(aside, path), why = errno;
    if (failed && why == EEXIST && is_outdated(targets)) {
        failed = unlink(path) || link(aside, path);
        why = errno;
    }
    unlink(aside);
    if (!failed)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

enum pt_status pt_watch_listen(const char *address, struct pt_listener *listener, struct pt_err *err)
{
    struct pt_targets *targets;
    struct stat about;
    if (strncmp(address, "unix:", 5) != 0)
        return pt_err_set(err, PT_EUSAGE, "'listen:%.200s' is no address to listen at: listen:unix:PATH", address);
    enum pt_status status = pt_targets_find(address, &targets, err);
    if (status != PT_OK)
        return status;
    int fd = listen_at(targets);
    if (fd < 0 && errno == EEXIST) {
        status = cannot_listen(address, "the file exists, and is in use or no socket", err);
        pt_err_hint(err,
                    "a program that was started before has its own stream there: watch %.120s, or start it after this "
                    "command",
                    address);
    } else if (fd < 0) {
        status = cannot_listen(address, strerror(errno), err);
    }
    *listener = (struct pt_listener){.fd = fd, .path = address + strlen("unix:")};
    if (fd >= 0 && lstat(listener->path, &about) == 0) {
        listener->device = about.st_dev;
        listener->inode = about.st_ino;
    }
    free(targets);
    return status;
}

int pt_watch_accept(const struct pt_listener *listener)
{
    static const char greeting[] = PT_WIRE_WATCHER;
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && send(fd, greeting, sizeof greeting, MSG_NOSIGNAL) != (ssize_t)sizeof greeting) {
        close(fd);
        errno = EAGAIN;
        return -1;
    }
    return fd;
}

void pt_watch_unlisten(struct pt_listener *listener)
{
    struct stat about;
    if (listener->fd < 0)
        return;
    if (lstat(listener->path, &about) == 0 && about.st_dev == listener->device && about.st_ino == listener->inode)
        unlink(listener->path);
    close(listener->fd);
    listener->fd = -1;
}
