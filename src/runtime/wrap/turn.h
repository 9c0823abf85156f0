/* Calls that may wait for something of the kernel's, where threads are scheduled (runtime/explore): a thread that would
 * wait for a descriptor can be taken once it would not; other calls are made without the turn. Without control each of
 * these costs a load and a branch. */
#ifndef PT_RUNTIME_WRAP_TURN_H
#define PT_RUNTIME_WRAP_TURN_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>

#include "core/site.h"
#include "runtime/explore/explore.h"

struct _IO_FILE;

/* Before a call that takes from a descriptor or puts into it: `events` of poll for which it would wait, 0: none. False:
 * a handler has ended the wait, if it `may_end`. */
bool pt_turn_descriptor_played(int fd, short events, bool may_end, const struct pt_site *site);
static inline void pt_turn_descriptor(int fd, short events, const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_turn_descriptor_played(fd, events, false, site);
}
/* The same in a wrapper, which returns then. */
#define PT_TURN_INPUT(fd, site)                                                                                        \
    do {                                                                                                               \
        if (__builtin_expect(pt_explore_on, 0) && !pt_turn_descriptor_played(fd, POLLIN, true, site)) {                \
            errno = EINTR;                                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
    } while (0)
/* The same before a call that reads from a stream, unless that has bytes left. */
void pt_turn_stream(struct _IO_FILE *stream, const struct pt_site *site);

/* Before a call that waits for one of these, perhaps with other signals blocked; `nanoseconds` negative: for ever. */
enum pt_turn_polls {
    PT_TURN_NOT_PLAYED,
    PT_TURN_NO_TIME, /* the call is to be made with a time limit of 0 */
    PT_TURN_INTERRUPTED,
};
enum pt_turn_polls pt_turn_poll_played(struct pollfd *list, unsigned long count, int64_t nanoseconds,
                                       const sigset_t *mask, const struct pt_site *site);
static inline enum pt_turn_polls pt_turn_poll(struct pollfd *list, unsigned long count, int64_t nanoseconds,
                                              const sigset_t *mask, const struct pt_site *site)
{
    return __builtin_expect(pt_explore_on, 0) ? pt_turn_poll_played(list, count, nanoseconds, mask, site)
                                              : PT_TURN_NOT_PLAYED;
}
/* In a wrapper: does `played` before a call with a time limit of 0, and returns where a handler has ended the wait. */
#define PT_TURN_POLL(polls, played)                                                                                    \
    do {                                                                                                               \
        enum pt_turn_polls polls_ = (polls);                                                                           \
        if (polls_ == PT_TURN_INTERRUPTED) {                                                                           \
            errno = EINTR;                                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
        if (polls_ == PT_TURN_NO_TIME)                                                                                 \
            played;                                                                                                    \
    } while (0)

/* Around any other call that may wait. */
static inline void pt_turn_away(const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_away(site);
}
static inline void pt_turn_back(const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_back(site);
}

/* Both ends are this process's, as long as it does not fork. */
void pt_turn_made(const int ends[2]);

#endif
