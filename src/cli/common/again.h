/*
 * The events of a trace once more, for analyses that need several passes (pt_analysis_options.again): from its file,
 * or, of what comes by once (standard input, a pipe), from a copy in a file without a name, below TMPDIR or /tmp.
 */
#ifndef PT_CLI_COMMON_AGAIN_H
#define PT_CLI_COMMON_AGAIN_H

#include "engine/analysis.h"
#include "trace/source.h"

struct pt_again {
    struct pt_names *names;
    bool leaves_out;          /* pt_source_leave_out */
    char *path;               /* where they are; NULL: nowhere */
    int copy;                 /* the descriptor of a copy that is made; -1: none */
    struct pt_source *source; /* of which it is made, as long as it is read */
    char why[640];            /* why they are not there; "": they are */
};

/* Whether this is a file that stays, and can be read as often as somebody likes. */
bool pt_again_stays(const char *trace);
/* Where the events of this trace ("-": standard input) will be. Whether there is a copy, and whether it is whole, is
 * told when it is read. */
void pt_again_init(struct pt_again *again, const char *trace, struct pt_names *names, bool leaves_out);
void pt_again_release(struct pt_again *again);
/* Before the first event of the trace itself; and when it was read. */
void pt_again_begin(struct pt_again *again, struct pt_source *source);
void pt_again_end(struct pt_again *again);
/* As pt_analysis_options.again, of a struct pt_again. */
const char *pt_again_read(void *again, uint64_t count, void (*take)(void *context, const struct pt_event *event),
                          void *context);

#endif
