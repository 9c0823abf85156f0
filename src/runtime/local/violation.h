/*
 * Violations that the program's own threads find (decentralised properties), and the functions it wants called then
 * (portent_on_violation).
 */
#ifndef PT_RUNTIME_LOCAL_VIOLATION_H
#define PT_RUNTIME_LOCAL_VIOLATION_H

#include "runtime/thread/thread.h"

/*
 * This thread has violated the property, whose name lives for ever. The program's functions are called in this thread,
 * in the order they were given: at once, or, inside the runtime, when the thread leaves it and has nothing locked any
 * more. Then, with halt_on_error, the program ends with status `exitcode`. A violation while such a function runs is
 * counted and calls nothing, since recovery that violates would never end.
 */
void pt_violation_notify(struct pt_thread *self, const char *property);
/* Calls what was deferred (pt_thread_attend). */
void pt_violation_attend(struct pt_thread *self);
/* In the child of a fork: no other thread registers functions. */
void pt_violation_forked(void);

#endif
