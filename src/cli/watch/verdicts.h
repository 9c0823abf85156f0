/* What `watch` prints while the stream lasts: verdicts as they change, and the log. */
#ifndef PT_CLI_WATCH_VERDICTS_H
#define PT_CLI_WATCH_VERDICTS_H

#include "cli/common/output.h"
#include "engine/within.h"

struct pt_verdicts {
    const struct pt_output_options *options;
    struct pt_output *output;
    bool log;            /* every event with the automata's states (JamaicaVM paper, Figures 5 and 6) */
    bool silent;         /* nothing is printed before the end */
    const char *trace;   /* the stream's address */
    const char *program; /* whose stream it is; NULL: it has not said so yet */
    uint32_t pid;
    const struct pt_names *names;
    struct pt_analysis *analysis;
    struct pt_finding **findings; /* the analysis's */
    uint32_t count;
    enum pt_verdict *shown; /* of each property */
    uint64_t lost;          /* so far */
    uint64_t before;        /* time of the event before, for the log */
    struct pt_buf lines;    /* of the log, not printed yet */
    void (*found)(void *context, const struct pt_finding *finding);
    /* Called with each change, for views; may be NULL. */
    void (*changed)(void *context, uint32_t index, const struct pt_change *change);
    void *context;
};

/* Takes the engine's reports of violations upon itself; call it between pt_output_begin and pt_analysis_new. */
void pt_verdicts_begin(struct pt_verdicts *verdicts, struct pt_output *output, struct pt_analysis_options *engine);
void pt_verdicts_attach(struct pt_verdicts *verdicts, struct pt_analysis *analysis);
void pt_verdicts_release(struct pt_verdicts *verdicts);
/* After an event, a gap or a reading of the clock was analysed. */
void pt_verdicts_after(struct pt_verdicts *verdicts, const struct pt_event *event);
/* Prints what waits; call it when nothing more comes at once. */
void pt_verdicts_flush(struct pt_verdicts *verdicts);
/* Whether no verdict can change any more. */
bool pt_verdicts_is_settled(const struct pt_verdicts *verdicts);
/* The stream has ended: what would hold of a variable that it never mentioned is unknown, since a running program sends
 * only some of its variables. An event that never came is different: it did not happen. The inputs are the analysis's.
 */
void pt_verdicts_doubt_unseen(struct pt_verdicts *verdicts, const struct pt_analysis_input *inputs);
/* The last line of --json, or the rest of the text; gives the exit status. */
int pt_verdicts_end(struct pt_verdicts *verdicts, struct pt_result *result);

/* The verdict of property i as it is now. */
enum pt_verdict pt_verdicts_now(const struct pt_verdicts *verdicts, uint32_t index);

#endif
