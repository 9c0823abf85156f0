/*
 * What a descriptor is, as the kernel knows it, so that both ends of a connection come to the same queues:
 *
 *     a pipe or FIFO        by its inode, which both ends have
 *     a pair of sockets     by the inode of the socket that sends (descriptor.c knows the other)
 *     a TCP connection      by both addresses, where it does not leave the machine
 *     a Unix connection     by both addresses; where one end has none, by the listener's: all such connections to it
 *                           are one
 *     datagrams             by the port, or path, that they go to
 *     connecting            by the port, or path, that is listened at
 *     an eventfd and others by the descriptor that it was opened as, and its copies
 *
 * Guarantee: two ends within one process have the same queue; different connections have different ones, except where
 * the table says that they are one. Cost: up to five system calls, once for each descriptor.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/hash.h"
#include "runtime/sys/sys.h"
#include "runtime/wrap/descriptor.h"

enum family {
    PIPE = 1,
    SOCKET,
    TCP,
    UNIX,
    UNIX_TO_LISTENER,
    UNIX_FROM_LISTENER,
    UDP,
    UNIX_DATAGRAM,
    TCP_LISTENER,
    UNIX_LISTENER
};

/* An address without what differs between equal ones. */
struct address {
    sa_family_t family; /* AF_INET6 for both versions */
    uint16_t port;
    uint32_t len; /* of the bytes */
    unsigned char bytes[sizeof(struct sockaddr_un)];
};

static struct pt_identity identify(enum family family, const void *a, size_t a_len, const void *b, size_t b_len)
{
    const uint64_t head[] = {family, a_len};
    uint64_t first = pt_fnv(pt_fnv(pt_fnv(PT_FNV_NOTHING, head, sizeof head), a, a_len), b, b_len);
    uint64_t second = pt_fnv(pt_fnv(pt_fnv(pt_mix64(PT_FNV_NOTHING), head, sizeof head), a, a_len), b, b_len);
    return (struct pt_identity){first, second | 1};
}

static struct pt_identity by_inode(enum family family, const struct stat *about)
{
    const uint64_t file[] = {about->st_dev, about->st_ino};
    return identify(family, file, sizeof file, NULL, 0);
}

static struct pt_identity by_port(enum family family, uint16_t port)
{
    return identify(family, &port, sizeof port, NULL, 0);
}

/* --- addresses --- */

/* False: of a family without queues. */
static bool normalise(const struct sockaddr *from, socklen_t len, struct address *ret_address)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    *ret_address = (struct address){0};
    if (len < sizeof(sa_family_t))
        return false;
    if (from->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = (const void *)from;
        memcpy(ret_address->bytes, mapped, sizeof mapped);
        memcpy(ret_address->bytes + sizeof mapped, &in->sin_addr, 4);
        ret_address->port = in->sin_port;
    } else if (from->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *in = (const void *)from;
        memcpy(ret_address->bytes, &in->sin6_addr, 16);
        ret_address->port = in->sin6_port;
    } else if (from->sa_family == AF_UNIX) {
        const struct sockaddr_un *in = (const void *)from;
        size_t most = len - offsetof(struct sockaddr_un, sun_path), path = most;
        if (len <= offsetof(struct sockaddr_un, sun_path) || len > sizeof *in)
            path = 0;
        else if (in->sun_path[0]) /* or else it is an abstract one, of all bytes */
            path = strnlen(in->sun_path, most);
        memcpy(ret_address->bytes, in->sun_path, path);
        ret_address->len = (uint32_t)path;
        ret_address->family = AF_UNIX;
        return true;
    } else {
        return false;
    }
    ret_address->len = 16;
    ret_address->family = AF_INET6;
    return true;
}

static bool address_of(int fd, bool peer, struct address *ret_address)
{
    struct sockaddr_storage address;
    uint32_t len = sizeof address;
    return pt_sys_socket_address(fd, peer, &address, &len) >= 0 &&
           normalise((const void *)&address, len < sizeof address ? len : sizeof address, ret_address);
}

static bool is_loopback(const struct address *address)
{
    static const unsigned char six[16] = {[15] = 1}, mapped[13] = {[10] = 0xff, [11] = 0xff, [12] = 127};
    return memcmp(address->bytes, six, sizeof six) == 0 || memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

/* Both ends are on this machine: only then may both be in this process. */
static bool stays_here(const struct address *own, const struct address *peer)
{
    return is_loopback(peer) || memcmp(own->bytes, peer->bytes, 16) == 0;
}

/* --- sockets --- */

static struct pt_identity by_both(enum family family, const struct address *from, const struct address *to)
{
    return identify(family, from, sizeof *from, to, sizeof *to);
}

static void describe_connection(const struct address *own, const struct address *peer, struct pt_described *d)
{
    bool here = own->family == AF_UNIX ? own->len || peer->len : stays_here(own, peer);
    d->lasts = true;
    d->takes = d->puts = here;
    if (!here)
        return;
    if (own->family != AF_UNIX || (own->len && peer->len)) {
        enum family family = own->family == AF_UNIX ? UNIX : TCP;
        d->out = by_both(family, own, peer);
        d->in = by_both(family, peer, own);
        return;
    }
    const struct address *listener = own->len ? own : peer;
    struct pt_identity to = by_both(UNIX_TO_LISTENER, listener, listener);
    struct pt_identity from = by_both(UNIX_FROM_LISTENER, listener, listener);
    d->out = own->len ? from : to;
    d->in = own->len ? to : from;
}

static struct pt_identity of_datagrams(const struct address *to)
{
    if (to->family == AF_UNIX)
        return to->len ? identify(UNIX_DATAGRAM, to->bytes, to->len, NULL, 0) : (struct pt_identity){0};
    return to->port ? by_port(UDP, to->port) : (struct pt_identity){0};
}

static bool exists(struct pt_identity identity)
{
    return identity.first || identity.second;
}

/* What it may still be bound to or connected with is asked for again. */
static void describe_datagrams(const struct address *own, const struct address *peer, struct pt_described *d)
{
    d->in = of_datagrams(own);
    d->out = peer ? of_datagrams(peer) : (struct pt_identity){0};
    d->takes = exists(d->in);
    d->puts = exists(d->out);
    d->lasts = d->takes;
}

static void describe_socket(int fd, const struct stat *about, struct pt_described *d)
{
    struct address own, peer;
    int type = pt_sys_socket_option(fd, SO_TYPE);
    d->sort = "socket";
    d->own = by_inode(SOCKET, about);
    if (type < 0 || !address_of(fd, false, &own)) {
        d->lasts = type >= 0; /* of another family */
        return;
    }
    bool connected = address_of(fd, true, &peer);
    if (type == SOCK_DGRAM)
        describe_datagrams(&own, connected ? &peer : NULL, d);
    else if (connected)
        describe_connection(&own, &peer, d);
}

struct pt_identity pt_describe_socket(int fd)
{
    struct stat about;
    return pt_sys_fstat(fd, &about) < 0 ? (struct pt_identity){0} : by_inode(SOCKET, &about);
}

struct pt_identity pt_describe_address(const struct sockaddr *address, socklen_t len, bool listener)
{
    struct address to;
    if (!address || !normalise(address, len, &to))
        return (struct pt_identity){0};
    if (!listener)
        return of_datagrams(&to);
    return to.family == AF_UNIX ? identify(UNIX_LISTENER, to.bytes, to.len, NULL, 0) : by_port(TCP_LISTENER, to.port);
}

struct pt_identity pt_describe_listener(int fd)
{
    struct sockaddr_storage address;
    uint32_t len = sizeof address;
    if (pt_sys_socket_address(fd, false, &address, &len) < 0)
        return (struct pt_identity){0};
    return pt_describe_address((const void *)&address, len < sizeof address ? len : sizeof address, true);
}

/* --- others --- */

/* An eventfd, timerfd, signalfd or epoll: all such have one inode. /proc calls them anon_inode:[eventfd]. */
static void describe_nameless(int fd, char *text, struct pt_described *d)
{
    static const char beginning[] = "anon_inode:";
    char *from = text + sizeof beginning - 1;
    d->lasts = d->takes = d->puts = true;
    d->sort = "descriptor";
    pt_sys_descriptor_text(fd, text, PT_SORT_MAX);
    if (strncmp(text, beginning, sizeof beginning - 1) != 0 || !*from)
        return;
    size_t len = strlen(from);
    if (*from == '[' && from[len - 1] == ']') {
        from[len - 1] = 0;
        from++;
    }
    d->sort = from;
}

void pt_describe(int fd, char *ret_text, struct pt_described *ret_described)
{
    struct stat about;
    *ret_described = (struct pt_described){0};
    if (pt_sys_fstat(fd, &about) < 0)
        return;
    ret_described->lasts = true;
    if (S_ISFIFO(about.st_mode)) {
        ret_described->sort = "pipe";
        ret_described->in = ret_described->out = by_inode(PIPE, &about);
        ret_described->takes = ret_described->puts = true;
    } else if (S_ISSOCK(about.st_mode)) {
        ret_described->lasts = false;
        describe_socket(fd, &about, ret_described);
    } else if (!(about.st_mode & S_IFMT)) {
        describe_nameless(fd, ret_text, ret_described);
    }
}
