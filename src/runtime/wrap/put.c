/*
 * Functions that put something into a descriptor: they come before whoever takes it out. And those by which descriptors
 * come and go: what ends a direction is put into it, too, since whoever finds the end knows of it.
 *
 * Guarantee: what they do and return is the real functions'; nothing is locked while they run, so they may block, be
 * cancelled or be interrupted as ever, and be called in a handler. Cost: that of descriptor.c.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/wrap/descriptor.h"
#include "runtime/wrap/file_lock.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/virtual.h"

/* `before` with the `site` of the call, then the call. */
#define PUTTING(returns, name, parameters, arguments, before)                                                          \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        before;                                                                                                        \
        return PT_REAL(name) arguments;                                                                                \
    }
#define PUT(name)               PUT_EVENT(name, POLLOUT)
#define PUT_EVENT(name, events) (pt_turn_descriptor(fd, events, site), pt_descriptor_put(fd, PT_EFFECT(name), site))

PUTTING(ssize_t, write, (int fd, const void *buffer, size_t size), (fd, buffer, size), pt_read(site, buffer, size);
        PUT(write))
PUTTING(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count),
        pt_read_vector(site, pieces, count > 0 ? (size_t)count : 0);
        PUT(writev))
PUTTING(ssize_t, vmsplice, (int fd, const struct iovec *pieces, size_t count, unsigned flags),
        (fd, pieces, count, flags), PUT(vmsplice))
PUTTING(int, eventfd_write, (int fd, eventfd_t value), (fd, value), PUT(eventfd_write))
PUTTING(int, epoll_ctl, (int fd, int operation, int other, struct epoll_event *event), (fd, operation, other, event),
        PUT_EVENT(epoll_ctl, 0))
PUTTING(int, shutdown, (int fd, int how), (fd, how), PUT_EVENT(shutdown, 0))

PT_WRAP(int, timerfd_settime, (int fd, int flags, const struct itimerspec *time, struct itimerspec *before))
{
    const struct pt_site *site = pt_call_take_fill();
    PUT_EVENT(timerfd_settime, 0);
    static const struct itimerspec off;
    bool played = pt_virtual_set_file(fd, flags, time, before);
    int result = PT_REAL(timerfd_settime)(fd, played ? 0 : flags, played ? &off : time, played ? NULL : before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(int, timerfd_gettime, (int fd, struct itimerspec *to))
{
    const struct pt_site *site = pt_call_take_fill();
    int result = pt_virtual_get_file(fd, to) ? 0 : PT_REAL(timerfd_gettime)(fd, to);
    if (result == 0)
        pt_fill(site, to, sizeof *to);
    return result;
}

PT_WRAP(int, timerfd_create, (int clock, int flags))
{
    bool played = __builtin_expect(pt_explore_on, 0) && pt_virtual_is_clock(clock);
    if (!played && pt_explore_on)
        pt_explore_outside();
    int fd = PT_REAL(timerfd_create)(played ? CLOCK_REALTIME : clock, flags);
    if (played && fd >= 0)
        pt_virtual_file(fd, clock);
    return fd;
}

/* --- sockets --- */

/* A datagram may have an address of its own. */
static void sent(int fd, const struct sockaddr *address, socklen_t len, int kind, const struct pt_site *site)
{
    pt_turn_descriptor(fd, POLLOUT, site);
    if (!pt_is_active())
        return;
    if (address && len)
        pt_descriptor_sync_address(fd, address, len, false, kind, site);
    pt_descriptor_put(fd, kind, site);
}

static void connects(int fd, const struct sockaddr *address, socklen_t len, int kind, const struct pt_site *site)
{
    pt_turn_descriptor(fd, 0, site);
    if (pt_is_active())
        pt_descriptor_sync_address(fd, address, len, true, kind, site);
    pt_descriptor_forget(fd); /* what is known of it may be another thing now */
}

PUTTING(ssize_t, send, (int fd, const void *buffer, size_t size, int flags), (fd, buffer, size, flags),
        pt_read(site, buffer, size);
        PUT(send))
PUTTING(ssize_t, sendto,
        (int fd, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG address, socklen_t len),
        (fd, buffer, size, flags, address, len), pt_read(site, buffer, size);
        sent(fd, address.__sockaddr__, len, PT_EFFECT(sendto), site))
PUTTING(
    ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), if (message) {
        pt_read_vector(site, message->msg_iov, message->msg_iovlen);
        sent(fd, message->msg_name, message->msg_namelen, PT_EFFECT(sendmsg), site);
    })
PT_WRAP(int, sendmmsg, (int fd, struct mmsghdr *list, unsigned count, int flags))
{
    const struct pt_site *site = pt_call_take_fill();
    for (unsigned i = 0; i < count && pt_is_active(); i++)
        pt_read_vector(site, list[i].msg_hdr.msg_iov, list[i].msg_hdr.msg_iovlen);
    for (unsigned i = 0; i < count && pt_is_active(); i++)
        sent(fd, list[i].msg_hdr.msg_name, list[i].msg_hdr.msg_namelen, PT_EFFECT(sendmmsg), site);
    int result = PT_REAL(sendmmsg)(fd, list, count, flags);
    for (int i = 0; i < result; i++)
        pt_fill(site, &list[i].msg_len, sizeof list[i].msg_len);
    return result;
}
PUTTING(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t len), (fd, address, len),
        connects(fd, address.__sockaddr__, len, PT_EFFECT(connect), site))

/* --- from one to the other --- */

/* What was put into `in` comes out of `out`, perhaps before the call has returned. */
static void moves(int in, int out, int kind, const struct pt_site *site)
{
    pt_turn_descriptor(in, POLLIN, site);
    if (!pt_is_active())
        return;
    pt_descriptor_feed(in, out);
    pt_descriptor_put(out, kind, site);
}

#define MOVING(name, parameters, arguments)                                                                            \
    PT_WRAP(ssize_t, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        moves(in, out, PT_EFFECT(name), site);                                                                         \
        ssize_t result = PT_REAL(name) arguments;                                                                      \
        if (result >= 0)                                                                                               \
            pt_descriptor_take(in, PT_KIND_WAIT, site);                                                                \
        return result;                                                                                                 \
    }
MOVING(sendfile, (int out, int in, off_t *at, size_t count), (out, in, at, count))
MOVING(sendfile64, (int out, int in, off64_t *at, size_t count), (out, in, at, count))
MOVING(splice, (int in, off64_t *in_at, int out, off64_t *out_at, size_t count, unsigned flags),
       (in, in_at, out, out_at, count, flags))
MOVING(tee, (int in, int out, size_t count, unsigned flags), (in, out, count, flags))

/* --- descriptors come and go --- */

/* Before it is another's. */
static void closes(int fd, int kind, const struct pt_site *site)
{
    pt_turn_descriptor(fd, 0, site);
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_closed(fd);
    pt_file_lock_closes(fd);
    pt_descriptor_put(fd, kind, site);
    pt_descriptor_forget(fd);
    pt_descriptor_sync_number(fd, kind, site);
}

PUTTING(int, close, (int fd), (fd), closes(fd, PT_EFFECT(close), site))

#ifdef PT_RT_STATIC
/* A C library of before 2.34 does not have them. */
int __real_close_range(unsigned first, unsigned last, int flags) __attribute__((weak));
void __real_closefrom(int first) __attribute__((weak));
#endif
enum { MOST_CLOSED = 1 << 20 };
static void close_all(unsigned first, unsigned last, int kind, const struct pt_site *site)
{
    last = last < MOST_CLOSED ? last : MOST_CLOSED;
    for (unsigned fd = first; fd <= last && pt_is_watching(); fd++)
        if (pt_descriptor_is_known((int)fd))
            closes((int)fd, kind, site);
        else
            pt_file_lock_closes((int)fd);
}
PUTTING(int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags),
        if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC)) close_all(first, last, PT_EFFECT(close_range), site))
PUTTING(void, closefrom, (int first), (first),
        close_all(first < 0 ? 0 : (unsigned)first, MOST_CLOSED, PT_EFFECT(closefrom), site))

static void copied(int fd, int made, const struct pt_site *site)
{
    if (made < 0)
        return;
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_copied(fd, made);
    pt_descriptor_sync_number(made, PT_KIND_WAIT, site);
    pt_descriptor_copy(fd, made);
}

PT_FILLING(int, dup, (int fd), (fd), copied(fd, result, site))

/* `to` is closed, if it was open. */
#define REPLACING(name, parameters, arguments)                                                                         \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        if (fd != to)                                                                                                  \
            closes(to, PT_EFFECT(name), site);                                                                         \
        int result = PT_REAL(name) arguments;                                                                          \
        copied(fd, result, site);                                                                                      \
        return result;                                                                                                 \
    }
REPLACING(dup2, (int fd, int to), (fd, to))
REPLACING(dup3, (int fd, int to, int flags), (fd, to, flags))

/* Whatever the command, its argument is a word. */
#define CONTROLLING(name)                                                                                              \
    PT_WRAP(int, name, (int fd, int command, ...))                                                                     \
    {                                                                                                                  \
        va_list list;                                                                                                  \
        va_start(list, command);                                                                                       \
        void *argument = va_arg(list, void *);                                                                         \
        va_end(list);                                                                                                  \
        if (__builtin_expect(pt_file_lock_is(command), 0))                                                             \
            return pt_file_lock_control(fd, command, argument, PT_REAL(name));                                         \
        int result = PT_REAL(name)(fd, command, argument);                                                             \
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                                                          \
            copied(fd, result, NULL);                                                                                  \
        return result;                                                                                                 \
    }
CONTROLLING(fcntl)
CONTROLLING(fcntl64)
