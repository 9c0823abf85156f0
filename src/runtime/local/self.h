/* What decentralised monitoring keeps of a thread. It lies beside the thread, and is all zero when it begins. */
#ifndef PT_RUNTIME_LOCAL_SELF_H
#define PT_RUNTIME_LOCAL_SELF_H

#include <stdint.h>

enum { PT_VIOLATED_MAX = 16 };

struct pt_local_self {
    struct pt_monitor *monitor;            /* NULL: the properties are not about this thread (monitor.h) */
    struct pt_unprinted *unprinted;        /* reports that wait to be printed (report.c) */
    const void *callback_frame;            /* where the stack was when the program's code for violations was called */
    const char *violated[PT_VIOLATED_MAX]; /* properties whose violation waits to be reported (violation.c) */
    uint32_t violated_count;
};

#endif
