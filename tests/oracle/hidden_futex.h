/*
 * Waiting and waking by which programs of the oracles take turns: the system call is made by hand, so that nothing
 * which looks at a program's memory, atomic operations or calls can know of it. For sources that clang compiles alone.
 */
#ifndef PT_TESTS_HIDDEN_FUTEX_H
#define PT_TESTS_HIDDEN_FUTEX_H

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static inline void futex(atomic_int *word, int operation, int value)
{
#ifdef __x86_64__
    register long timeout __asm__("r10") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_futex), "D"(word), "S"((long)operation), "d"((long)value), "r"(timeout)
                     : "rcx", "r11", "memory");
#else
    (void)word, (void)operation, (void)value;
    sched_yield();
#endif
}

#endif
