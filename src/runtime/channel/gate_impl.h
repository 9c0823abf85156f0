/* What the files of the gate share. */
#ifndef PT_RUNTIME_CHANNEL_GATE_IMPL_H
#define PT_RUNTIME_CHANNEL_GATE_IMPL_H

#include "runtime/channel/gate.h"

enum { GATE_SLICE_NS = 20 * 1000 * 1000 }; /* how long a thread sleeps before it looks again by itself */

struct pt_gate_thread *pt_gate_slot(const struct pt_thread *self); /* the caller's own; NULL: its number is too high */
bool pt_gate_is_open(void);
/* The schedule has been played. */
bool pt_gate_is_played(uint32_t turn);
/* Says what the thread does, and returns what it did before: a handler may wait while the code below it does. */
uint32_t pt_gate_say(struct pt_gate_thread *slot, uint32_t doing);

/* Where the thread's next entry is that has not happened; the schedule's count: it has none. */
uint32_t pt_gate_next_entry(struct pt_thread *self);
/* An entry has happened. Several threads may do this at a time, each with its own entry. */
void pt_gate_mark_done(uint32_t at);
/* Until the schedule has an entry of the thread next; for so many nanoseconds at most. */
void pt_gate_wait_turn(struct pt_thread *self, uint64_t limit);

/* --- entries that meet (pt_gate_meet.c) --- */

/* What a thread is about to do: of enum pt_gate_kind one that begins with AT. */
struct gate_event {
    enum pt_gate_kind kind;
    uintptr_t address;
    size_t size;
    const struct pt_site *site; /* NULL: not known */
};
/* If it is an entry that meets others, waits until it may be done. False: it is none. */
bool pt_gate_meet(struct pt_thread *self, const struct gate_event *event);
/* The thread does something else: what it stood before has happened. */
void pt_gate_flush(struct pt_thread *self);

/* --- after the schedule (gate_after.c) --- */

/* The last entry is about to be done: who has the floor from then on. */
void pt_gate_take_floor(void);
/* Waits until the thread has the floor. False: the schedule is not played yet. */
bool pt_gate_wait_floor(struct pt_thread *self);
/* The thread that has the floor is about to give up this lock: who broke what was predicted, and waits for it, goes on
 * before the caller does anything else. */
void pt_gate_note_given(struct pt_thread *self, uint64_t lock);

#endif
