/* Between monitor.c, which evaluates, local/facts.c, which makes facts of it, local/slots.c, which knows the
 * threads. */
#ifndef PT_RUNTIME_LOCAL_MONITOR_IMPL_H
#define PT_RUNTIME_LOCAL_MONITOR_IMPL_H

#include "runtime/local/monitor.h"

static inline const struct pt_mttl_name *pt_monitor_var(uint32_t var)
{
    return pt_mttl_at(pt_monitor_block, vars, struct pt_mttl_name, var);
}
static inline struct pt_knows pt_monitor_knows(const struct pt_thread *self)
{
    return pt_clocks[self->shadow.clock.id].knows; /* of the empty clock: nothing */
}

/* Where a thread stands in vectors of knowledge. */
uint32_t pt_monitor_place(uint32_t slot);
/* For pt_shadow_hooks: the thread's clock was `before`. Does it know more now? */
void pt_monitor_clock_changed(struct pt_shadow_self *self, pt_clock_id before);
/* The thread knows this from here on. The caller's reference to it is taken over. */
void pt_monitor_learn(struct pt_thread *self, struct pt_fact *fact);
/* A value whose text, if it is one, is copied to *room, which moves on; and how long that text is. */
struct pt_value pt_monitor_copy_value(struct pt_value value, char **room);
size_t pt_monitor_text_of(struct pt_value value);
/* What the thread's entry has now becomes known with its clock. */
void pt_monitor_show(struct pt_thread *self, struct pt_local_monitor *monitor, const struct pt_local_event *what);
/* What others know of a thread before its first event. */
struct pt_fact *pt_monitor_first_fact(struct pt_thread *self, const struct pt_local_monitor *monitor);
void pt_monitor_close(struct pt_thread *self, uint32_t property);
/* A thread before its first event: its state 0 is evaluated, and reported if it is bad. `actor` is running. Properties
 * `at each` are not about a thread that never starts: theirs is reported when it does. */
struct pt_local_monitor *pt_monitor_make(struct pt_thread *actor, uint32_t slot);
void pt_monitor_starts(struct pt_thread *actor, struct pt_local_monitor *monitor);
void pt_monitor_unmake(struct pt_thread *self, struct pt_local_monitor *monitor);

/* The functions that threads are named after; once for all who want names. */
bool pt_monitor_names_start(const struct pt_config *config);
bool pt_monitor_slots_start(const struct pt_mttl *block, const struct pt_config *config);
void pt_monitor_slots_restart(void);
/* Slots handed out so far. */
uint32_t pt_monitor_used(void);
/* State 0 of the threads that the properties name, whether they will start or not. */
void pt_monitor_introduce_named(struct pt_thread *self);

#endif
