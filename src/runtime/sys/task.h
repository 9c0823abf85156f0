/* Processes and tasks of the kernel, as control of threads needs them (runtime/explore). As in sys.h, no call touches
 * errno, allocates, or is a cancellation point. */
#ifndef PT_RUNTIME_SYS_TASK_H
#define PT_RUNTIME_SYS_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
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
/* What /proc says of a task of this process: 'R', 'S', 'D', ...; '\0': nothing. */
char pt_task_state(uint32_t tid);

#endif
