/* syscall(), by which programs do themselves what libc has functions for: who is interested in which call. */
#ifndef PT_RUNTIME_WRAP_SYSCALL_H
#define PT_RUNTIME_WRAP_SYSCALL_H

#include <stdbool.h>

typedef long (*pt_syscall_function)(long number, ...);

/* futex.c: makes a call of SYS_futex with these six words. */
long pt_syscall_futex(pt_syscall_function real, const long *words);
/* process.c: before threads are made and filters set; true: if the call succeeds, a filter is in force. */
bool pt_syscall_before(long number, const long *words);

#endif
