/* Between tell.c, which puts down what a thread has found out, tell_trouble.c, which knows what is news, and
 * tell_print.c. */
#ifndef PT_RUNTIME_TELL_IMPL_H
#define PT_RUNTIME_TELL_IMPL_H

#include "core/told.h"
#include "core/trouble.h"
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
bool pt_tell_is_observed(void);
/* What the event is about: by a thread's or a watched variable's name, a name the program gave, or else the source. */
void pt_tell_put_object(struct pt_line *line, const struct pt_happening *what);
void pt_tell_put_place(struct pt_line *line, const struct pt_happening *what);
struct pt_happening pt_tell_happening(const struct pt_origin *from);

/* --- tell_trouble.c --- */
struct pt_tell_trouble {
    uint32_t lookup, slot; /* that tell of it; PT_MTTL_NONE: the property is false by neither a race nor a block */
};
struct pt_tell_troubles {
    struct pt_tell_trouble list[PT_TROUBLES_AT]; /* what no state of the process has shown before */
    uint32_t count;
    bool suppressed; /* all that the state shows is */
};
void pt_tell_start(void);
/* What the present state shows, and notes it; `what` is NULL in state 0. */
void pt_tell_find(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                  const struct pt_happening *what, struct pt_tell_troubles *ret_found);

#endif
