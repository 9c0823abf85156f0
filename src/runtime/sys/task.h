/* Processes and tasks of the kernel, as control of threads needs them (runtime/explore). As in sys.h, no call touches
 * errno, allocates, or is a cancellation point. */
#ifndef PT_RUNTIME_SYS_TASK_H
#define PT_RUNTIME_SYS_TASK_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Waits until *word differs from `seen`, is woken, or the time has passed; within this process alone, which is faster.
 * False: the time has passed. */
#define PT_TASK_FOR_EVER UINT64_MAX
bool pt_task_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t nanoseconds);
void pt_task_wake(_Atomic uint32_t *word);
/* The calling thread, and whom it starts from here on, run on this one of the processors that it may run on, counted
 * from 0, around. */
void pt_task_pin(uint32_t processor);
void pt_task_yield(void);
/* The process dies when whoever started it does. */
void pt_task_die_with_parent(void);
/* Waits for the end of a child; its status as waitpid has it. */
uint32_t pt_task_await_child(uint32_t child);
/* Waits until a thread of this process, which is about to end, has. */
void pt_task_await_end(uint32_t tid);
/* The signals that a task of this process blocks, and those that are pending for it or the process, as
 * pt_sys_swap_signal_mask has them; ret_pending may be NULL. False: it is not there. */
bool pt_task_signals(uint32_t tid, uint64_t *ret_blocked, uint64_t *ret_pending);
/* Sends the process a signal, with this about it. */
bool pt_task_queue_signal(int signal, const siginfo_t *info);
/* The timer of alarm, in nanoseconds; 0: off. Returns how much was left. */
uint64_t pt_task_alarm(uint64_t nanoseconds, uint64_t interval);
/* The file of a timer, of CLOCK_REALTIME, that is not set: it was over so many times, and nobody has read that. False:
 * there is no such file. */
bool pt_task_expire_file(int fd, uint64_t times);
/* What a descriptor is ("pipe:[7]", "anon_inode:[eventfd]"), and what the kernel says about it (fdinfo), as much as
 * there is room for. False: it is not there. */
bool pt_task_file_sort(int fd, char *text, size_t room);
bool pt_task_about_file(int fd, char *text, size_t room);
/* Where reading and writing goes on in a file; negative: it is not there, or has no such place. */
int64_t pt_task_file_place(int fd);
void pt_task_set_file_place(int fd, int64_t place);
/* Whether other processes may have this memory, too (MAP_SHARED); true also where that cannot be known. */
bool pt_task_shares(const void *address);
/* What /proc says of a task of this process: 'R', 'S', 'D', ...; '\0': nothing. */
char pt_task_state(uint32_t tid);

#endif
