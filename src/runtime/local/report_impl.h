/* Between local/report.c, which puts down what a thread has found out, report_finding.c, which knows what is news, and
 * local/report_print.c. */
#ifndef PT_RUNTIME_LOCAL_REPORT_IMPL_H
#define PT_RUNTIME_LOCAL_REPORT_IMPL_H

#include "core/local_report.h"
#include "core/finding_key.h"
#include "runtime/local/monitor_impl.h"
#include "runtime/sys/log.h"

struct pt_unprinted {
    struct pt_unprinted *next;
    uint32_t property;
    uint32_t slot;
    uint32_t result; /* enum pt_local_result */
    uint64_t state;
    size_t len;
    char bytes[PT_LOCAL_REPORT_BYTES];
};

static inline const struct pt_mttl_property *pt_report_property(uint32_t property)
{
    return pt_mttl_at(pt_monitor_block, properties, struct pt_mttl_property, property);
}

static inline const char *pt_report_string(uint32_t offset)
{
    return pt_mttl_string(pt_monitor_block, offset);
}

/* --- local/report.c --- */
/* What the event is about: by a thread's or a watched variable's name, a name the program gave, or else the source. */
void pt_report_put_object(struct pt_line *line, const struct pt_local_event *what);
void pt_report_put_place(struct pt_line *line, const struct pt_local_event *what);
struct pt_local_event pt_report_event(const struct pt_origin *from);

/* --- report_finding.c --- */
struct pt_new_finding {
    uint32_t lookup, slot; /* that show it; PT_MTTL_NONE: the property is false by neither a race nor a block */
};
struct pt_new_findings {
    struct pt_new_finding list[PT_FINDINGS_AT_STATE]; /* what no state of the process has shown before */
    uint32_t count;
    bool suppressed; /* all that the state shows is */
};
/* In a child that begins anew: nothing was found yet. */
void pt_report_restart(void);
/* What the present state shows, and notes it; `what` is NULL in state 0. */
void pt_report_find(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                    const struct pt_local_event *what, struct pt_new_findings *ret_found);

#endif
