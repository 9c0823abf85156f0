#include "runtime/wrap/turn.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/sys/sys.h"

enum { STANDARD = 3 };

/* What others may put into or take from: not files, nor what the program was started with. */
static bool carries(int fd)
{
    struct stat about;
    if (fd < STANDARD || pt_sys_fstat(fd, &about) != 0)
        return false;
    return S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || (about.st_mode & S_IFMT) == 0;
}

static bool is_waiting(int fd)
{
    int flags = pt_sys_descriptor_flags(fd);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

bool pt_turn_descriptor_played(int fd, short events, bool may_end, const struct pt_site *site)
{
    if (!carries(fd))
        return true;
    bool waits = events && is_waiting(fd);
    return pt_explore_point(
               &(struct pt_explore_op){.kind = PT_EXPLORE_DESCRIPTOR,
                                       .object = (const void *)(intptr_t)fd,
                                       .other = (const void *)(intptr_t)(waits ? events : 0),
                                       .interrupts = waits && may_end ? PT_EXPLORE_MAY_RESTART : PT_EXPLORE_GOES_ON,
                                       .site = site}) != PT_EXPLORE_INTERRUPTED;
}

void pt_turn_stream(struct _IO_FILE *stream, const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0) && stream && stream->_IO_read_ptr >= stream->_IO_read_end)
        pt_turn_descriptor_played(fileno_unlocked(stream), POLLIN, false, site);
}

enum pt_turn_polls pt_turn_poll_played(struct pollfd *list, unsigned long count, int64_t nanoseconds,
                                       const sigset_t *mask, const struct pt_site *site)
{
    uint64_t blocked = 0;
    if (!pt_explore_has_clock())
        return PT_TURN_NOT_PLAYED;
    if (mask)
        memcpy(&blocked, mask, sizeof blocked);
    uint32_t answer = pt_explore_point(
        &(struct pt_explore_op){.kind = PT_EXPLORE_DESCRIPTOR,
                                .what = PT_EXPLORE_IS_POLL,
                                .object = list,
                                .other = (const void *)count,
                                .deadline = nanoseconds < 0 ? 0 : pt_explore_after((uint64_t)nanoseconds),
                                .mask = mask ? &blocked : NULL,
                                .interrupts = nanoseconds ? PT_EXPLORE_IS_ENDED : PT_EXPLORE_GOES_ON,
                                .site = site});
    if (answer == PT_EXPLORE_INTERRUPTED)
        return PT_TURN_INTERRUPTED;
    return answer == PT_EXPLORE_FREE_TO_GO ? PT_TURN_NOT_PLAYED : PT_TURN_NO_TIME;
}

void pt_turn_made(const int ends[2])
{
    if (__builtin_expect(pt_explore_on, 0))
        for (int i = 0; i < 2; i++)
            pt_explore_made(ends[i]);
}
