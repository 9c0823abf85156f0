/*
 * Descriptors: whether what makes one ready is this process alone. Of pipes and pairs of sockets the wrappers say so;
 * of eventfds, timers and epolls (with all that they watch) the kernel tells what they are. It is asked when nobody can
 * go on: then that decides whether threads are stuck.
 *
 * Guarantee: a descriptor that something outside may make ready is not called own, as long as the program closes by the
 * functions of libc and does not inherit an eventfd. Cost: some system calls, when nobody can go on.
 */
#include <string.h>
#include <sys/syscall.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

enum { OWN = 1024 };
static uint64_t own_files[OWN / 64]; /* descriptors whose other ends are this process's, too */

static bool is_counted(int fd)
{
    return fd >= 0 && fd < OWN;
}

static bool is_made(int fd)
{
    return is_counted(fd) && own_files[fd / 64] >> fd % 64 & 1;
}

void pt_explore_made(int fd)
{
    if (is_counted(fd))
        own_files[fd / 64] |= UINT64_C(1) << fd % 64;
}

void pt_explore_closed(int fd)
{
    if (is_counted(fd))
        own_files[fd / 64] &= ~(UINT64_C(1) << fd % 64);
}

void pt_explore_copied(int from, int to)
{
    if (is_made(from))
        pt_explore_made(to);
    else
        pt_explore_closed(to);
}

/* What an epoll watches: lines "tfd: NUMBER events: ...". More than there is room for: not known. */
static bool watches_own(int fd, unsigned depth)
{
    char text[4096];
    const char *word = "tfd:", *at = text;
    if (!pt_task_about_file(fd, text, sizeof text) || strlen(text) + 1 == sizeof text)
        return false;
    while ((at = strstr(at, word))) {
        int watched = 0;
        for (at += strlen(word); *at == ' '; at++)
            ;
        for (; *at >= '0' && *at <= '9'; at++)
            watched = watched * 10 + (*at - '0');
        if (!pt_file_is_own(watched, depth))
            return false;
    }
    return true;
}

bool pt_file_is_own(int fd, unsigned depth)
{
    enum { DEEP = 4 };
    char sort[64];
    if (pt_explore_has_forked() || depth > DEEP)
        return false;
    if (is_made(fd))
        return true;
    if (!pt_task_file_sort(fd, sort, sizeof sort))
        return false;
    if (strcmp(sort, "anon_inode:[eventfd]") == 0)
        return true;
    if (strcmp(sort, "anon_inode:[timerfd]") == 0)
        return pt_explore_timer_of_file(fd) >= 0;
    return strcmp(sort, "anon_inode:[eventpoll]") == 0 && watches_own(fd, depth + 1);
}
