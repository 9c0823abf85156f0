/* One more run of a program, held to the order of a predicted violation: was it right? */
#ifndef PT_CLI_RUN_REPLAY_H
#define PT_CLI_RUN_REPLAY_H

#include "cli/run/session.h"

struct pt_replay_options {
    const char *program;          /* its file */
    const char *const *arguments; /* then NULL */
    const char *const *modules;   /* libraries that it opens later, then NULL; may be NULL */
    const char *properties;       /* where the property stands, NULL: where the finding says */
    bool foreign;                 /* it is not known that the finding is about a run of this program */
    uint64_t patience;            /* nanoseconds that may pass without a step */
    uint32_t automaton_limit;     /* 0: the usual one */
    uint32_t passes;              /* of a block: so often its thread passes the place of its last event before */
    const struct pt_settings *settings;
};

struct pt_replay_outcome {
    bool confirmed;
    bool interrupted; /* by SIGINT: whoever asked for it wants no further runs */
    char *reason;     /* not confirmed: why; the caller frees it */
    char *broke;      /* confirmed: the event that broke the property, in words; NULL: the initial state did */
    int status;       /* the program's, as a shell has it, ... */
    int signal;       /* ... or what killed it; 0: nothing did */
    bool halted;      /* it did not end by itself */
    bool stuck;       /* it was deadlocked, and ended for that */
    char *said;       /* the assertion of it that failed, with its place; NULL: none did; the caller frees it */
    uint32_t played;  /* steps that happened in the order of the schedule ... */
    uint32_t steps;   /* ... of so many */
};

/* Can this finding be confirmed at all? Otherwise why not, as the end of a sentence. */
const char *pt_replay_refusal(const struct pt_finding *finding);
/* What was seen beside the verdict goes into the finding's `confirmation`, but for how the program ended. PT_EINPUT:
 * the property cannot be loaded, or the program is not the one (or not instrumented). */
enum pt_status pt_replay(struct pt_finding *finding, const struct pt_replay_options *options,
                         struct pt_replay_outcome *ret_outcome, struct pt_err *err) PT_WARN_UNUSED;

#endif
