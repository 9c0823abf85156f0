/*
 * Which of its two bodies a function of an instrumented program runs (instrument/twins.c): the one with a hook for each
 * access, or its twin, in which only what orders threads has hooks: atomic operations, calls that synchronise, memory
 * that is allocated, and the calls that a thread is in; of accesses it tells by stretches, to who samples races
 * (core/look.h). It is asked when a function is entered, and a call that has begun in one of them ends there. So it is
 * set once, before main, and only where nobody can ask for more later.
 */
#ifndef PT_CORE_PLAIN_H
#define PT_CORE_PLAIN_H

#include <stdint.h>

enum pt_plain {
    PT_PLAIN_NOT,     /* the body with hooks */
    PT_PLAIN_SAMPLED, /* the twin */
    PT_PLAIN_ALL,     /* the twin, and nobody asks for its atomic operations, either: they need no hooks */
};
extern uint8_t __portent_plain; /* enum pt_plain */

#endif
