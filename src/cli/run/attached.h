/* A process that the started program started, directly or not, and that asks to be observed: its observer. */
#ifndef PT_CLI_RUN_ATTACHED_H
#define PT_CLI_RUN_ATTACHED_H

#include "cli/run/session.h"

struct pt_attach {
    const struct pt_session *session; /* that of the started program: what is asked for */
    const char *trace_path;           /* NULL: nothing is recorded */
    int connection;                   /* the process, which waits for a channel */
    int stop;                         /* readable when nobody is to be observed any longer */
    int results;                      /* where to write what was found (processes.h) */
    uint32_t came;                    /* how many have asked before it */
    uint32_t again;                   /* processes with this number that were observed before: it called exec */
    pid_t process;
};

/* Lives in a process of its own, beside others. Observes until the process has ended, and then ends itself. */
_Noreturn void pt_attached_observe(const struct pt_attach *attach);

#endif
