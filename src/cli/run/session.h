/* One observed run of a program: what `run` does, and `confirm` once per finding. */
#ifndef PT_CLI_RUN_SESSION_H
#define PT_CLI_RUN_SESSION_H

#include <sys/types.h>

#include "base/buf.h"
#include "cli/common/analyse.h"
#include "cli/common/output.h"
#include "cli/run/late.h"
#include "cli/run/resolve.h"
#include "core/found.h"
#include "core/settings.h"
#include "trace/channel.h"
#include "trace/debuginfo.h"
#include "trace/writer.h"

enum { PT_SESSION_WINDOW = 64, PT_SESSION_LOOKAHEAD = 256 }; /* as long as nobody asks for others */

/* Whether blocks were disturbed, which is looked for in recordings alone. */
#define PT_SESSION_BLOCKS (UINT32_C(1) << 16)

/* The output, which is the context of the engine's callbacks, and its own callbacks behind ours. */
struct pt_session_output {
    struct pt_output output; /* first */
    void (*found)(void *context, const struct pt_finding *finding);
    void (*observed)(void *context, const struct pt_finding *finding, const struct pt_step *step);
    bool violated; /* something was found */
};

/* Someone who follows the run closely; all may be NULL. */
struct pt_session_follower {
    void *context;
    void (*event)(void *context, const struct pt_event *event);
    /* Now and then, at least every 10 ms or so; true: the program is to end, asked first and made to later. */
    bool (*tick)(void *context, uint64_t now);
};

struct pt_session {
    /* What is asked for. */
    struct pt_settings settings; /* PORTENT_OPTIONS */
    struct pt_analyse analyse;
    struct pt_output_options output_options;
    char *program;        /* its file; owned */
    const char **modules; /* then NULL; owned */
    enum pt_on_full on_full;
    uint32_t keep;                      /* enum pt_keep, or-ed */
    uint32_t checks;                    /* 1 << enum pt_found_check, or-ed: what the program looks for itself */
    bool preload;                       /* the runtime is loaded into a program that does not have it */
    const struct pt_channel_gate *gate; /* an order to hold the program to; NULL: none */
    struct pt_session_follower follower;
    bool descends; /* the processes that the program starts are observed, too; the program need not be instrumented ...
                    */
    bool through;  /* ... and is not: the channel is not for it, what it starts comes to the rendezvous */
    const char *rendezvous; /* NULL: none */
    int herald;             /* with a rendezvous: who waits there is to be written the number of the observed program */
    struct pt_writer *writer; /* a copy of all events goes there; NULL: nowhere */
    const char *trace_path;   /* its file */
    bool wider; /* the properties, and these checks, are looked at in what the program records, in the orders that
                   `analyse` says */
    uint32_t wider_checks;    /* 1 << enum pt_found_check, or-ed; and PT_SESSION_BLOCKS */
    const char *record_limit; /* of it; NULL: none */
    char *recording; /* the file that the program records everything into by itself, which goes to `writer` when it has
                        ended; NULL: it does not; owned */

    /* What there is once it is prepared, and once it has run. */
    struct pt_names names;
    struct pt_debuginfo *info;
    struct pt_resolved resolved;
    struct pt_channel_reader *reader;
    struct pt_session_output output;
    struct pt_analysis *analysis;
    struct pt_founds *founds; /* of `checks` */
    struct pt_checks *later;  /* of `wider_checks`; NULL: none */
    struct pt_source *beside; /* `recording`, while it is followed; NULL: it is not, or not yet */
    bool kept;                /* `recording` is whole, and still there */
    char *torn;               /* why the recording is not whole; NULL: it is, or there is none */
    int program_status;       /* as a shell has it */
    int program_signal;       /* that killed it; 0: none did */
    bool halted;              /* it was asked to end, or made to */
    pid_t process;            /* that was observed */
    bool left;                /* the process still ran when its observation ended */
    struct pt_late late;      /* variables that are placed while it runs */
    bool *doubted;            /* of each finding: it is unknown for what the program did (doubt.h); owned */
    bool nonsense;            /* the analysis refused an event; the rest is not looked at */
    struct pt_buf unwritten;  /* output files that could not be written to their end, and why; empty: none */
};

/* A session without properties, with these settings (which point into the environment), NULL: the environment's. */
void pt_session_init(struct pt_session *session, const struct pt_settings *settings);
void pt_session_release(struct pt_session *session);
/* Looks up the names that the loaded properties use; a property that cannot be checked is an error already. */
enum pt_status pt_session_resolve(struct pt_session *session, struct pt_err *err) PT_WARN_UNUSED;
/* LD_PRELOAD for the program. What its properties name must be visible without instrumented code. */
enum pt_status pt_session_preload(struct pt_session *session, struct pt_err *err) PT_WARN_UNUSED;
enum pt_status pt_session_open(struct pt_session *session, struct pt_err *err) PT_WARN_UNUSED;
/* Runs the program and analyses its events until both have ended. `arguments` end in NULL. */
enum pt_status pt_session_run(struct pt_session *session, const char *const *arguments,
                              struct pt_err *err) PT_WARN_UNUSED;
/* The same for a process that has got the channel and runs already, until it has ended (`pidfd` is its) or `stop` is
 * readable. */
enum pt_status pt_session_attend(struct pt_session *session, pid_t process, int pidfd, int stop,
                                 struct pt_err *err) PT_WARN_UNUSED;
/* A copy of all events goes to this file, with clocks that name only what changed. */
enum pt_status pt_session_open_trace(struct pt_session *session, const char *path, const struct pt_format *format,
                                     struct pt_err *err) PT_WARN_UNUSED;
/* Whether a variable of this name was found in debug information because a property names it. */
bool pt_session_is_resolved(const struct pt_session *session, const char *name);
/* An event goes to the copy; to the analysis; to both. */
void pt_session_write(struct pt_session *session, const struct pt_event *event);
void pt_session_analyse(struct pt_session *session, const struct pt_event *event);
void pt_session_pass_on(struct pt_session *session, const struct pt_event *event);
/* An output file could not be written to its end, for this reason. */
void pt_session_unwritten(struct pt_session *session, const struct pt_err *err);
/* Nothing more is recorded: closes the copy of the events, which says what it lacks. */
void pt_session_close_trace(struct pt_session *session);
/* Finishes the analysis and warns of what went wrong. The findings live as long as the session. */
void pt_session_finish(struct pt_session *session, struct pt_result *ret_result);

#endif
