/* What the files of the gate share. */
#ifndef PT_RUNTIME_CHANNEL_GATE_IMPL_H
#define PT_RUNTIME_CHANNEL_GATE_IMPL_H

#include "runtime/channel/gate.h"

enum { GATE_SLICE_NS = 20 * 1000 * 1000 }; /* how long a thread sleeps before it looks again by itself */

struct pt_gate_thread *gate_slot(const struct pt_thread *self); /* the caller's own; NULL: its number is too high */
bool gate_is_open(void);
/* The schedule has been played. */
bool gate_is_played(uint32_t turn);
/* Says what the thread does, and returns what it did before: a handler may wait while the code below it does. */
uint32_t gate_say(struct pt_gate_thread *slot, uint32_t doing);

/* --- after the schedule (gate_after.c) --- */

/* The last entry is about to be done: who has the floor from then on. */
void gate_take_floor(void);
/* Waits until the thread has the floor. False: the schedule is not played yet. */
bool gate_wait_floor(struct pt_thread *self);
/* The thread that has the floor is about to give up this lock: who broke what was predicted, and waits for it, goes on
 * before the caller does anything else. */
void gate_note_given(struct pt_thread *self, uint64_t lock);

#endif
