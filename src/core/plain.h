/*
 * Which of its two bodies a function of an instrumented program runs (instrument/twins.c): the one with a hook for each
 * access, or its twin, in which only what orders threads has hooks: atomic operations, calls that synchronise, memory
 * that is allocated, and the calls that a thread is in. It is asked when a function is entered, and a call that has
 * begun in one of them ends there.
 *
 * Each function has a counter, PT_PLAIN_TIMES at first, and runs its twin if it is below __portent_plain. If it is not,
 * and __portent_plain is not PT_PLAIN_NEVER, it is counted down: so under PT_PLAIN_OFTEN, in the gaps of sampling, what
 * was seldom run has its hooks.
 */
#ifndef PT_CORE_PLAIN_H
#define PT_CORE_PLAIN_H

#include <stdint.h>

enum {
    PT_PLAIN_NEVER = 0,
    PT_PLAIN_OFTEN = 1,    /* where the function has been run PT_PLAIN_TIMES times under this */
    PT_PLAIN_ALWAYS = 255, /* nobody asks for anything in this process */
    PT_PLAIN_TIMES = 32
};

extern uint8_t __portent_plain; /* one byte, which threads read and write whole */

#endif
