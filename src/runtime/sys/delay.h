/*
 * Small random pauses before synchronisation, so that one run sees orders that are rare otherwise. Off unless asked for
 * (`delay=`); then threads start late, and some operations on locks, conditions, descriptors and atomic variables come
 * late, within a budget of each thread.
 */
#ifndef PT_RUNTIME_SYS_DELAY_H
#define PT_RUNTIME_SYS_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
extern bool pt_delay_on; /* set before main */
#pragma GCC visibility pop

/* Reads the options; says with which seed pauses are chosen, where that is wanted. */
void pt_delay_start(void);
/* The calling thread is this one from here on: what is random for it depends on the seed and on that. */
void pt_delay_thread(uint32_t number);
/* Outside of the runtime, with nothing locked. A thread is about to be started, or begins. */
void pt_delay_life(void);
/* About to use a lock or another object of synchronisation. */
void pt_delay_sync(void);
/* About to access an atomic variable in this order, in the compiler's number. */
void pt_delay_atomic(const void *address, int order);

#endif
