/*
 * Functions that fill memory from sockets, and with what happened to file descriptors.
 *
 * Guarantee: what they return and how they end is the real functions'. Cost: that of fill.c, for each piece, and of
 * descriptor.c.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "runtime/wrap/fill.h"

#ifndef PT_RT_STATIC
#include <netdb.h>
#endif

/* As much as is returned; nothing after an error. */
static void returned(const struct pt_site *site, const void *buffer, ssize_t result)
{
    if (result > 0)
        pt_fill(site, buffer, (size_t)result);
}

static void fixed(const struct pt_site *site, const void *memory, size_t size, int result)
{
    if (result == 0)
        pt_fill(site, memory, size);
}

/* An address, or an option, and its length: what does not fit into `room` was cut off. */
static void sized(const struct pt_site *site, const void *memory, const socklen_t *length, socklen_t room)
{
    if (!memory || !length || !pt_is_active())
        return;
    pt_fill(site, memory, *length < room ? *length : room);
    pt_fill(site, length, sizeof *length);
}

PT_TAKING(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), (fd, buffer, size, flags), fd, result >= 0,
          returned(site, buffer, result))
PT_TAKING(ssize_t, __recv_chk, (int fd, void *buffer, size_t size, size_t room, int flags),
          (fd, buffer, size, room, flags), fd, result >= 0, returned(site, buffer, result))

/* A connection that somebody asked for. */
static void accepted(int fd, int made, int kind, const struct pt_site *site)
{
    pt_descriptor_forget(made);
    if (!pt_is_active())
        return;
    pt_descriptor_sync_number(made, kind, site);
    pt_descriptor_sync_listener(fd, kind, site);
}

/* `done` says whether `address` and `length` were filled. */
#define ADDRESSED(returns, name, parameters, arguments, turn, done, report)                                            \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        socklen_t length_before = length && pt_is_active() ? *length : 0;                                              \
        turn;                                                                                                          \
        returns result = PT_REAL(name) arguments;                                                                      \
        report;                                                                                                        \
        if (done)                                                                                                      \
            sized(site, address.__sockaddr__, length, length_before);                                                  \
        return result;                                                                                                 \
    }
ADDRESSED(ssize_t, recvfrom, (int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG address, socklen_t *length),
          (fd, buffer, size, flags, address, length), PT_TURN_INPUT(fd, site), result >= 0,
          if (result >= 0) pt_descriptor_take(fd, PT_EFFECT(recvfrom), site);
          returned(site, buffer, result))
ADDRESSED(ssize_t, __recvfrom_chk,
          (int fd, void *buffer, size_t size, size_t room, int flags, __SOCKADDR_ARG address, socklen_t *length),
          (fd, buffer, size, room, flags, address, length), PT_TURN_INPUT(fd, site), result >= 0,
          if (result >= 0) pt_descriptor_take(fd, PT_EFFECT(__recvfrom_chk), site);
          returned(site, buffer, result))
ADDRESSED(int, accept, (int fd, __SOCKADDR_ARG address, socklen_t *length), (fd, address, length),
          PT_TURN_INPUT(fd, site), result >= 0, if (result >= 0) accepted(fd, result, PT_EFFECT(accept), site))
ADDRESSED(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *length, int flags), (fd, address, length, flags),
          PT_TURN_INPUT(fd, site), result >= 0, if (result >= 0) accepted(fd, result, PT_EFFECT(accept4), site))
ADDRESSED(int, getsockname, (int fd, __SOCKADDR_ARG address, socklen_t *length), (fd, address, length), , result == 0, )
ADDRESSED(int, getpeername, (int fd, __SOCKADDR_ARG address, socklen_t *length), (fd, address, length), , result == 0, )

PT_WRAP(int, getsockopt, (int fd, int level, int option, void *value, socklen_t *length))
{
    const struct pt_site *site = pt_call_take_fill();
    socklen_t room = length && pt_is_active() ? *length : 0;
    int result = PT_REAL(getsockopt)(fd, level, option, value, length);
    if (result == 0)
        sized(site, value, length, room);
    return result;
}

/* What a message has beside its bytes; `before` is how it was given. */
static void message(const struct pt_site *site, const struct msghdr *before, const struct msghdr *now, size_t bytes)
{
    pt_fill_vector(site, now->msg_iov, now->msg_iovlen, bytes);
    if (now->msg_name) {
        pt_fill(site, now->msg_name, now->msg_namelen < before->msg_namelen ? now->msg_namelen : before->msg_namelen);
        pt_fill(site, &now->msg_namelen, sizeof now->msg_namelen);
    }
    pt_fill(site, now->msg_control,
            now->msg_controllen < before->msg_controllen ? now->msg_controllen : before->msg_controllen);
    pt_fill(site, &now->msg_controllen, sizeof now->msg_controllen);
    pt_fill(site, &now->msg_flags, sizeof now->msg_flags);
}

PT_WRAP(ssize_t, recvmsg, (int fd, struct msghdr *to, int flags))
{
    const struct pt_site *site = pt_call_take_fill();
    struct msghdr before = to && pt_is_active() ? *to : (struct msghdr){0};
    PT_TURN_INPUT(fd, site);
    ssize_t result = PT_REAL(recvmsg)(fd, to, flags);
    if (result >= 0) {
        pt_descriptor_take(fd, PT_EFFECT(recvmsg), site);
        message(site, &before, to, (size_t)result);
    }
    return result;
}

/* The lengths that were given are gone afterwards: those that came back are no longer than what lies there. */
PT_WRAP(int, recvmmsg, (int fd, struct mmsghdr *list, unsigned count, int flags, struct timespec *limit))
{
    const struct pt_site *site = pt_call_take_fill();
    PT_TURN_INPUT(fd, site);
    int result = PT_REAL(recvmmsg)(fd, list, count, flags, limit);
    if (result > 0)
        pt_descriptor_take(fd, PT_EFFECT(recvmmsg), site);
    for (int i = 0; i < result; i++) {
        message(site, &list[i].msg_hdr, &list[i].msg_hdr, list[i].msg_len);
        pt_fill(site, &list[i].msg_len, sizeof list[i].msg_len);
    }
    if (result >= 0 && limit)
        pt_fill(site, limit, sizeof *limit);
    return result;
}

PT_FILLING(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends),
           if (result == 0) pt_descriptor_paired(ends);
           fixed(site, ends, sizeof(int[2]), result))

/* Of each entry only what happened. */
static void polled(const struct pt_site *site, const struct pollfd *list, nfds_t count, int result)
{
    for (nfds_t i = 0; i < count && result >= 0 && pt_is_active(); i++)
        pt_fill(site, &list[i].revents, sizeof list[i].revents);
}
/* Of milliseconds; negative: for ever. */
static int64_t nanoseconds(int milliseconds)
{
    return milliseconds < 0 ? -1 : (int64_t)milliseconds * 1000000;
}
static int64_t nanoseconds_of(const struct timespec *limit)
{
    return limit ? limit->tv_sec * 1000000000 + limit->tv_nsec : -1;
}
static const struct timespec no_time;

PT_FILLING_AT(int, poll, (struct pollfd * list, nfds_t count, int timeout), (list, count, timeout),
              PT_TURN_POLL(pt_turn_poll(list, count, nanoseconds(timeout), NULL, site), timeout = 0),
              polled(site, list, count, result))
PT_FILLING_AT(int, __poll_chk, (struct pollfd * list, nfds_t count, int timeout, size_t room),
              (list, count, timeout, room),
              PT_TURN_POLL(pt_turn_poll(list, count, nanoseconds(timeout), NULL, site), timeout = 0),
              polled(site, list, count, result))
PT_FILLING_AT(int, ppoll, (struct pollfd * list, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
              (list, count, timeout, mask),
              PT_TURN_POLL(pt_turn_poll(list, count, nanoseconds_of(timeout), mask, site), timeout = &no_time),
              polled(site, list, count, result))

/* The sets of select as a list for poll, where threads are scheduled. */
static enum pt_turn_polls explored_select(int count, fd_set *const sets[3], int64_t time, const sigset_t *mask,
                                          const struct pt_site *site)
{
    enum { MOST = 64 };
    static const short events[] = {POLLIN, POLLOUT, POLLPRI};
    struct pollfd list[MOST];
    unsigned used = 0;
    if (__builtin_expect(!pt_explore_on, 1))
        return PT_TURN_NOT_PLAYED;
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
        struct pollfd one = {.fd = fd};
        for (int i = 0; i < 3; i++)
            one.events |= sets[i] && FD_ISSET(fd, sets[i]) ? events[i] : 0;
        if (one.events && used == MOST)
            return PT_TURN_NOT_PLAYED;
        if (one.events)
            list[used++] = one;
    }
    return pt_turn_poll(list, used, time, mask, site);
}

static void selected(const struct pt_site *site, int count, fd_set *const sets[3], int result)
{
    for (int i = 0; i < 3 && result >= 0; i++)
        pt_fill(site, sets[i], ((size_t)count + 63) / 64 * 8);
}
PT_WRAP(int, select, (int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *limit))
{
    const struct pt_site *site = pt_call_take_fill();
    struct timeval none = {0};
    int64_t time = limit && pt_explore_on ? (int64_t)limit->tv_sec * 1000000000 + limit->tv_usec * 1000 : -1;
    struct timeval *real_limit = limit;
    PT_TURN_POLL(explored_select(count, (fd_set *const[]){in, out, other}, time, NULL, site), real_limit = &none);
    int result = PT_REAL(select)(count, in, out, other, real_limit);
    selected(site, count, (fd_set *const[]){in, out, other}, result);
    if (result >= 0 && limit) /* Linux says how much of it is left */
        pt_fill(site, limit, sizeof *limit);
    return result;
}
PT_FILLING_AT(int, pselect,
              (int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *limit, const sigset_t *mask),
              (count, in, out, other, limit, mask),
              PT_TURN_POLL(explored_select(count, (fd_set *const[]){in, out, other}, nanoseconds_of(limit), mask, site),
                           limit = &no_time),
              selected(site, count, (fd_set *const[]){in, out, other}, result))

static void waited(const struct pt_site *site, const struct epoll_event *events, int result)
{
    if (result > 0)
        pt_fill(site, events, (size_t)result * sizeof *events);
}
/* An epoll can itself be polled. */
static enum pt_turn_polls explored_epoll(int fd, int timeout, const sigset_t *mask, const struct pt_site *site)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return pt_turn_poll(&one, 1, nanoseconds(timeout), mask, site);
}
#define EPOLL(name, parameters, arguments, mask)                                                                       \
    PT_FILLING_AT(int, name, parameters, arguments,                                                                    \
                  PT_TURN_POLL(explored_epoll(fd, timeout, mask, site), timeout = 0),                                  \
                  if (result > 0) pt_descriptor_take(fd, PT_EFFECT(name), site);                                       \
                  waited(site, events, result))
EPOLL(epoll_wait, (int fd, struct epoll_event *events, int count, int timeout), (fd, events, count, timeout), NULL)
EPOLL(epoll_pwait, (int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
      (fd, events, count, timeout, mask), mask)

PT_FILLING(const char *, inet_ntop, (int family, const void *address, char *buffer, socklen_t size),
           (family, address, buffer, size), pt_fill_text(site, result))
PT_FILLING(int, inet_pton, (int family, const char *text, void *to), (family, text, to),
           if (result == 1) pt_fill(site, to, family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr)))

#ifndef PT_RT_STATIC
PT_FILLING(int, getaddrinfo,
           (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list),
           (name, service, hints, list), fixed(site, list, sizeof *list, result))
#endif
