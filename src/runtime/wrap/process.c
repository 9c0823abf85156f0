/*
 * Processes and threads that are made without pthread, ends without destructors, and seccomp filters. A copy of the
 * process leaves the channel as the child of a fork does. A thread that clone makes shares what the runtime knows of
 * the thread that made it, so nothing is recorded from then on, and the observer learns that. A filter makes the
 * runtime quiet (sys.h).
 *
 * Guarantee: the program gets what it would get without the runtime; what is not observed is reported. Cost: a
 * branch for each call.
 */
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/shadow/granule.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/syscall.h"

/* In the child. */
static void note_fork(void)
{
    if (pt_wrap_hooks.forked)
        pt_wrap_hooks.forked();
}

PT_WRAP(pid_t, _Fork, (void))
{
    pid_t child = PT_REAL(_Fork)();
    if (child == 0)
        note_fork();
    return child;
}

static void note_exit(int status)
{
    pt_explore_exits();
    if (pt_wrap_hooks.exits)
        pt_wrap_hooks.exits(status);
}

PT_WRAP(void, _exit, (int status))
{
    note_exit(status);
    PT_REAL(_exit)(status);
    __builtin_unreachable();
}

PT_WRAP(void, _Exit, (int status))
{
    note_exit(status);
    PT_REAL(_Exit)(status);
    __builtin_unreachable();
}

/* --- clone --- */

/* Two at once in one memory: what the first knows as itself is the second's, too. */
static void note_clone(uint64_t flags)
{
    if (!(flags & CLONE_VM) || flags & CLONE_VFORK || !pt_channel)
        return;
    pt_thread_self(); /* a child of a fork is to be observed for it */
    pt_runtime_stop("the program made a thread with clone, without pthread");
}

struct copied {
    int (*start)(void *);
    void *argument;
};

/* In the copy, where what the caller of clone had on its stack is still there. */
static int run_copied(void *argument)
{
    const struct copied copied = *(const struct copied *)argument;
    note_fork();
    int status = copied.start(copied.argument);
    note_exit(status); /* it ends without a call that could be seen */
    return status;
}

PT_WRAP(int, clone, (int (*start)(void *), void *stack, int flags, void *argument, ...))
{
    struct copied copied = {start, argument};
    bool copies = !((unsigned)flags & CLONE_VM);
    va_list list;
    va_start(list, argument);
    pid_t *parent_tid = va_arg(list, pid_t *);
    void *tls = va_arg(list, void *);
    pid_t *child_tid = va_arg(list, pid_t *);
    va_end(list);
    note_clone((unsigned)flags);
    return PT_REAL(clone)(copies ? run_copied : start, stack, flags, copies ? &copied : argument, parent_tid, tls,
                          child_tid);
}

/* --- filters --- */

static bool is_filter(long number, long first, long second)
{
    return (number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER)) ||
           (number == SYS_prctl && first == PR_SET_SECCOMP && second != SECCOMP_MODE_DISABLED);
}

/* Afterwards the runtime has no system calls, by which it gets memory, and pages of other threads (shadow/own.h). */
static void before_filter(void)
{
    pt_sys_reserve_ahead();
    pt_own_stop();
}

PT_WRAP(int, prctl, (int option, ...))
{
    unsigned long more[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        more[i] = va_arg(list, unsigned long);
    va_end(list);
    bool filter = pt_channel && is_filter(SYS_prctl, option, (long)more[0]);
    if (filter)
        before_filter();
    int result = PT_REAL(prctl)(option, more[0], more[1], more[2], more[3]);
    if (filter && result == 0)
        pt_sys_go_quiet();
    return result;
}

/* --- both, by number --- */

static uint64_t clone_flags(long number, const long *words)
{
    if (number == SYS_clone)
        return (uint64_t)words[0];
    return number == SYS_clone3 && words[0] ? ((const struct clone_args *)words[0])->flags : 0;
}

bool pt_syscall_before(long number, const long *words)
{
    if (number == SYS_exit_group)
        note_exit((int)words[0]);
    bool filter = pt_channel && is_filter(number, words[0], words[1]);
    if (filter)
        before_filter();
    note_clone(clone_flags(number, words));
    return filter;
}

void pt_syscall_after(long number, const long *words)
{
    bool makes = number == SYS_fork || number == SYS_clone || number == SYS_clone3;
    if (makes && !(clone_flags(number, words) & CLONE_VM))
        note_fork();
}
