/*
 * Stamps: the order of recorded events, exact where they depend on each other, at the cost of one word of shadow for
 * each granule of memory, and without any counter that all threads share.
 *
 * A thread's stamp is a Lamport clock that also follows the time. Each granule has a word: the thread that touched it
 * last, and its stamp then. An event of another thread gets a higher stamp than that, and leaves its own. The time (of
 * the processor's counter, in units of 64 cycles) raises stamps, too, when they have fallen behind by more than
 * PT_STAMP_LAG, so that events that do not depend on each other come about in the order in which they happened.
 *
 * Why the order is exact. The granule is locked while its word is read and written and the event gets its stamp, so the
 * events of a granule come one after the other; from each to the next the stamp does not fall, and rises where the
 * thread changes. It does not fall within a thread. A child begins above its fork, a join is above the child's last
 * event. So for every two events of which one depends on the other, through whatever chain, the later one has the
 * higher stamp or is of the same thread and later in its log: sorting by stamps, then by thread, keeps all dependences.
 * This orders reads of one granule by different threads too, which is more than is needed, and what happened. Counters
 * of different cores that disagree cost nothing but the order of independent events. Where threads take turns
 * (runtime/explore), these too have the order in which they happened (record.c).
 *
 * Reads do not look at the time: what a run is judged by is when writes happen, and asking the processor costs as much
 * as the rest of the event. A read stands between what its thread did before and after, and behind the write that it
 * saw; and above the floor, which the writer raises (write.c).
 *
 * Memory that begins or ends has a floor for each of its whole pages instead of a word for each granule; and all
 * beginnings and ends are ordered among themselves by one word (extents), since the allocator hands memory from thread
 * to thread in ways that nobody sees.
 */
#ifndef PT_RUNTIME_RECORD_STAMP_H
#define PT_RUNTIME_RECORD_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PT_STAMP_BITS = 44, PT_STAMP_UNIT = 6, PT_STAMP_LAG = 16, PT_STAMP_THREADS = (1 << 20) - 2 };
enum { PT_STAMP_AHEAD = 1 << 10 }; /* that counters of cores, and chains of events, may be ahead of the time */

bool pt_stamp_start(void);
/* The time, as a stamp. */
uint64_t pt_stamp_now(void);
/* From now on no event that a thread begins has a stamp below this one. */
void pt_stamp_raise_floor(uint64_t floor);
/* The stamp of an event of `thread`, whose last one was `stamp`, that touches this memory, which is locked. */
uint64_t pt_stamp_touch(uint32_t thread, uint64_t stamp, uintptr_t address, size_t size);
/* The same where it lies in one granule; and whether nobody has touched that before. Not `timed`: it need not follow
 * the time. */
uint64_t pt_stamp_touch_one(uint32_t thread, uint64_t stamp, uintptr_t address, bool timed, bool *ret_new);
/* Whether nobody has touched the granule, which is locked; and from now on the thread has. */
bool pt_stamp_is_new(uintptr_t address);
void pt_stamp_claim(uint32_t thread, uintptr_t address);
/* The same of memory that begins or ends. */
uint64_t pt_stamp_extent(uint32_t thread, uint64_t stamp, uintptr_t from, uintptr_t to);

#endif
