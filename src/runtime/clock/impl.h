/* Between clock.c, which knows what clocks are, and clock/ring.c, which knows which number comes next. */
#ifndef PT_RUNTIME_CLOCK_IMPL_H
#define PT_RUNTIME_CLOCK_IMPL_H

#include "runtime/clock/clock.h"

bool pt_clock_ring_start(void);
void pt_clock_ring_restart(void);
/* A common number with room for `pairs` and one reference, or 0 when there is no more. */
pt_clock_id pt_clock_make(struct pt_clock_self *self, uint32_t pairs);
/* The next free number of the thread's ring, with one reference and what it meant before; 0: a common one will do. */
pt_clock_id pt_clock_ring_next(struct pt_clock_self *self);

#endif
