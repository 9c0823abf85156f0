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

#include "runtime/explore/explore.h"
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

/* --- where threads are scheduled --- */

/* Until when it waits: a plain wait has a time span, the others a moment of CLOCK_REALTIME or CLOCK_MONOTONIC. */
static uint64_t deadline_of(const long *words)
{
    const struct timespec *limit = (const struct timespec *)words[3];
    if (!limit)
        return 0;
    if (((int)words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return pt_explore_after((uint64_t)limit->tv_sec * 1000000000 + (uint64_t)limit->tv_nsec);
    return pt_explore_until((int)words[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, limit);
}

/* The word is looked at in one step, and the thread goes on in a later one. */
static long play_wait(pt_syscall_function real, const long *words)
{
    const void *word = (const void *)words[0];
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_FUTEX_WAIT, .object = word});
    if (!words[3] && !((int)words[1] & FUTEX_PRIVATE_FLAG) &&
        pt_explore_is_shared(PT_EXPLORE_FUTEX_WOKEN, PT_EXPLORE_IS_OTHER, word)) {
        pt_explore_away(NULL); /* another process may wake it */
        long result = real(SYS_futex, words[0], words[1], words[2], words[3], words[4], words[5]);
        int error = errno;
        pt_explore_back(NULL);
        used((uintptr_t)word);
        errno = error;
        return result;
    }
    pt_explore_waits(word); /* before it is looked at: a thread that nobody schedules may change it, and wake */
    if (__atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST) != (uint32_t)words[2]) {
        pt_explore_waits_not();
        used((uintptr_t)word);
        errno = EAGAIN;
        return -1;
    }
    uint32_t answer = pt_explore_point(
        &(struct pt_explore_op){.kind = PT_EXPLORE_FUTEX_WOKEN, .object = word, .deadline = deadline_of(words)});
    if (answer & PT_EXPLORE_TIMED_OUT) {
        errno = ETIMEDOUT;
        return -1;
    }
    used((uintptr_t)word);
    return 0;
}

/* Who would be moved to another futex is woken: that may happen without a cause. */
static long play_wake(pt_syscall_function real, const long *words, int operation)
{
    const void *word = (const void *)words[0], *other = (const void *)words[4];
    bool two = operation == FUTEX_WAKE_OP || operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE;
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_FUTEX_WAKE, .object = word});
    used((uintptr_t)word);
    if (two)
        used((uintptr_t)other);
    long result = real(SYS_futex, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (result < 0)
        return result;
    uint32_t count = operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET || operation == FUTEX_WAKE_OP
                         ? (uint32_t)words[2]
                         : UINT32_MAX;
    result += pt_explore_wakes(word, count);
    return operation == FUTEX_WAKE_OP ? result + pt_explore_wakes(other, (uint32_t)words[3]) : result;
}

/* Its words: the futex, the operation, a value, a time or another value, a second futex, which gets some of those who
 * wait or is woken, too, and a third value. */
long pt_syscall_futex(pt_syscall_function real, const long *words)
{
    int operation = (int)words[1] & FUTEX_CMD_MASK;
    bool waits = is_wait(operation);
    if (__builtin_expect(pt_explore_on, 0) && pt_explore_slot() != PT_EXPLORE_NO_SLOT) {
        if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
            return play_wait(real, words);
        if (!waits)
            return play_wake(real, words, operation);
    }
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
