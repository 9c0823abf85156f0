/*
 * Runs a piece of concurrent code in all interleavings of its atomic operations.
 *
 * The code under test is the real one. It is compiled with atomics.h put before it, which turns each atomic operation
 * into a stop at the scheduler and then the operation; threads are coroutines, and the scheduler goes through all
 * schedules depth first, running the code anew for each. What the program's own data and bss held before the first run
 * is put back before each of the others, so static variables need no help.
 *
 * Memory. Every thread has a store buffer, first in, first out, as in x86's memory order (TSO): an atomic store goes
 * in, and to memory at any later time; a load takes the newest value of its own buffer, else memory's;
 * read-modify-writes and seq_cst fences wait until the buffer is empty. So a missing fence between a store and a load
 * is found; what only weaker machines do (loads that pass loads, stores that pass stores) is not, and is argued in the
 * heads of the protocols. Accesses that are not atomic are part of the step before them: they are taken to be ordered,
 * which is what the protocol under test is for, except in copies (memcpy), of which each 8 bytes are a step.
 *
 * Reduction, unless `all` switches it off. Sleep sets (Godefroid 1996): of schedules that differ only in the order of
 * independent steps, one is run to its end. Two steps are independent when they are of different threads and touch
 * different 8 bytes, or only read; a wait counts as a read of what it waits for, and a buffer's step depends on its
 * thread's fences. Such steps commute and neither can block the other. And where the next step of a thread touches what
 * in no run another thread conflicts with, that step is taken at once, alone: it is a persistent set. What is shared is
 * learned while running; whenever something turns out to be, the search begins again, so in the search that counts the
 * sets were right from its beginning. Both keep every order of dependent steps, hence every state in which a run can
 * end and every fault: the reduction is sound.
 *
 * Waiting: a thread that spins (pause) stops until the memory that it looked at last is not as it saw it; a spin that
 * would see the same again changes nothing. After a compare-and-swap that failed it goes on at once. Waits have no
 * time-out. When nobody can go on and not all have ended, that is a fault (deadlock).
 */
#ifndef PT_TESTS_INTERLEAVE_EXPLORE_H
#define PT_TESTS_INTERLEAVE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PT_INTERLEAVE_THREADS = 3 };

struct pt_interleave {
    unsigned threads;
    void (*body[PT_INTERLEAVE_THREADS])(void);
    void (*begin)(void);            /* before each run, for what is not in the program's data; may be NULL */
    void (*enter)(unsigned thread); /* the code that runs next is this thread's; may be NULL */
    const char *(*check)(void);     /* after each run: NULL, or what is wrong; may be NULL */
    bool all;                       /* no reduction */
    bool direct;                    /* stores go to memory at once: sequential consistency */
    uint64_t most;                  /* runs; more are a fault. 0: as many as there are */
};

struct pt_interleave_result {
    uint64_t runs;     /* to their end */
    uint64_t cut;      /* begun, and given up because another has shown or will show the same */
    const char *fault; /* of the last run; NULL: there was none in any */
    unsigned steps;    /* of the longest */
};

struct pt_interleave_result pt_interleave(const struct pt_interleave *what);
/* From the code under test: this must not be. */
void pt_interleave_fault(const char *why);

/* The operations; outside pt_interleave they are done at once. */
enum pt_interleave_kind {
    PT_INTERLEAVE_READ,
    PT_INTERLEAVE_WRITE,
    PT_INTERLEAVE_UPDATE,
    PT_INTERLEAVE_FENCE,
    PT_INTERLEAVE_WAIT,
    PT_INTERLEAVE_BARRIER
};
void pt_interleave_step(enum pt_interleave_kind kind, const volatile void *at);
void pt_interleave_load(const volatile void *at, void *value, size_t bytes);
void pt_interleave_store(volatile void *at, const void *value, size_t bytes);
/* What an update left there, for the wait that may follow; NULL, of no bytes: a wait would be over at once. */
void pt_interleave_saw(const volatile void *at, const void *value, size_t bytes);
/* Until the memory looked at last is not as it was seen, and until *at is not `seen`. */
void pt_interleave_pause(void);
void pt_interleave_await(const volatile void *at, uint64_t seen, size_t bytes);
void pt_interleave_copy(void *to, const void *from, size_t bytes);
/* All threads pass a fence (membarrier): what their buffers have is in memory. Every step depends on it. */
void pt_interleave_barrier(void);

#endif
