/*
 * Futexes that a program or a library uses by itself, through syscall(): a wake comes before the return of the wait on
 * the same word, or of one that found that the word had changed. What a lock of a library that is not instrumented does
 * in its own instructions, taking itself where nobody has it, stays unseen; where there is contention, it comes here.
 *
 * Guarantee: what a thread did before a wake is known after the wait. Cost: a call and a comparison for each syscall().
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "runtime/shadow/slow.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/syscall.h"

static bool is_wait(int operation)
{
    switch (operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
    case FUTEX_TRYLOCK_PI:
        return true;
    default:
        return false;
    }
}

static void used(uintptr_t word)
{
    pt_wrap_sync((const void *)word, PT_EFFECT(syscall), NULL);
}

/* Its words: the futex, the operation, a value, a time or another value, a second futex, which gets some of those who
 * wait or is woken, too, and a third value. */
long pt_syscall_futex(pt_syscall_function real, const long *words)
{
    int operation = (int)words[1] & FUTEX_CMD_MASK;
    bool waits = is_wait(operation);
    if (!waits)
        used((uintptr_t)words[0]);
    if (operation == FUTEX_WAKE_OP || operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE)
        used((uintptr_t)words[4]);
    if (waits)
        pt_wrap_blocks((const void *)words[0], PT_GATE_WAITS_OTHER);
    long result = real(SYS_futex, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (waits)
        pt_wrap_blocks(NULL, PT_GATE_RUNS);
    if (waits && (result >= 0 || errno == EAGAIN)) {
        int error = errno;
        used((uintptr_t)words[0]);
        errno = error;
    }
    return result;
}
