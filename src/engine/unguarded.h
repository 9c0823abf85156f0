/*
 * Which variables of a recorded run are shared without a lock: two threads access them, one of them writes, and neither
 * forks and joins nor a lock that both have keep the accesses apart. Who wants to make another run happen has to order
 * these, beside locks; the order of all other accesses follows.
 */
#ifndef PT_ENGINE_UNGUARDED_H
#define PT_ENGINE_UNGUARDED_H

#include "finding/finding.h"
#include "trace/event.h"

enum { PT_SCHEDULE_MAX = 20000 }; /* steps: a longer run has no schedule */

struct pt_unguarded;
struct pt_unguarded *pt_unguarded_new(void);
void pt_unguarded_free(struct pt_unguarded *unguarded); /* NULL is fine */
/* The events of the run, in recorded order. */
void pt_unguarded_event(struct pt_unguarded *unguarded, uint32_t thread, enum pt_op op, uint32_t object);
/* Is an event with this object one that a schedule has? Of all kinds but relevant events. */
bool pt_unguarded_matters(const struct pt_unguarded *unguarded, enum pt_op op, uint32_t object);

#endif
