/* Between tell.c, which puts down what a thread has found out, tell_trouble.c, which knows what is news, and
 * tell_print.c. */
#ifndef PT_RUNTIME_TELL_IMPL_H
#define PT_RUNTIME_TELL_IMPL_H

#include "core/told.h"
#include "runtime/log.h"
#include "runtime/monitor_impl.h"

struct pt_told {
    struct pt_told *next;
    uint32_t property;
    uint32_t slot;
    uint32_t result; /* enum pt_local_result */
    uint64_t state;
    size_t len;
    char bytes[PT_TOLD_BYTES];
};

static inline const struct pt_mttl_property *pt_tell_property(uint32_t property)
{
    return pt_mttl_at(pt_monitor_block, properties, struct pt_mttl_property, property);
}

static inline const char *pt_tell_string(uint32_t offset)
{
    return pt_mttl_string(pt_monitor_block, offset);
}

/* --- tell.c --- */
/* What the event is about: by a thread's or a watched variable's name, a name the program gave, or else the source. */
void pt_tell_put_object(struct pt_line *line, const struct pt_happening *what);
void pt_tell_put_place(struct pt_line *line, const struct pt_happening *what);
struct pt_happening pt_tell_happening(const struct pt_origin *from);
/* Of what race_free and atomic_block ask, only what decided is told: the accesses that race, and who has disturbed a
 * block. */
bool pt_tell_is_worth(const struct pt_mttl_view *view, struct pt_mttl_thread *memory, uint32_t lookup,
                      struct pt_value value);

/* --- tell_trouble.c; `what` is NULL in state 0 --- */
/* Whether the present state shows a trouble that none in this process has shown; it is noted. */
bool pt_tell_is_new(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                    const struct pt_happening *what);
/* Whether a suppression is about it, by either side. */
bool pt_tell_is_suppressed(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                           const struct pt_happening *what);

#endif
