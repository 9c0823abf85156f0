/*
 * The copy has the bytes as they came, so that its events have the same lines and names. It is written as they are
 * read, and costs what the trace has, on the disk; a write that fails is told by whoever needs the copy then.
 */
#include "cli/common/again.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/common/interrupt.h"
#include "cli/common/spool.h"

bool pt_again_stays(const char *trace)
{
    struct stat about;
    return stat(trace, &about) == 0 && S_ISREG(about.st_mode);
}

/* Standard input that is a file, at its beginning. */
static bool is_file_at_0(const char *trace)
{
    struct stat about;
    return strcmp(trace, "-") == 0 && fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
           lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

void pt_again_init(struct pt_again *again, const char *trace, struct pt_names *names, bool leaves_out)
{
    struct pt_err err;
    *again = (struct pt_again){.names = names, .leaves_out = leaves_out, .copy = -1};
    if (pt_again_stays(trace))
        again->path = pt_xstrdup(trace);
    else if (is_file_at_0(trace))
        again->path = pt_xstrdup("/proc/self/fd/0");
    else if (pt_spool_open(&again->copy, &again->path, &err) != PT_OK)
        snprintf(again->why, sizeof again->why, "%s", err.message);
    else
        (void)signal(SIGXFSZ, SIG_IGN); /* a limit on files (ulimit -f) is a full disk, and no reason to end */
}

void pt_again_release(struct pt_again *again)
{
    if (again->copy >= 0)
        close(again->copy);
    free(again->path);
}

void pt_again_begin(struct pt_again *again, struct pt_source *source)
{
    if (again->copy < 0)
        return;
    pt_source_copy(source, again->copy);
    again->source = source;
}

static void look(struct pt_again *again)
{
    int failed = again->source ? pt_source_copy_failed(again->source) : 0;
    if (failed)
        snprintf(again->why, sizeof again->why, "what has come could not be kept in a temporary file: %s",
                 strerror(failed));
}

void pt_again_end(struct pt_again *again)
{
    look(again);
    again->source = NULL;
}

/* False: it has fewer. */
static bool give(struct pt_source *source, uint64_t count, void (*take)(void *context, const struct pt_event *event),
                 void *context)
{
    enum { MANY = 128 };
    struct pt_event events[MANY];
    struct pt_err err;
    while (count && !pt_interrupted()) {
        uint32_t got = pt_source_some(source, events, MANY);
        if (!got && pt_source_next(source, events, &err) != PT_READ_EVENT)
            return count == UINT64_MAX;
        for (uint32_t i = 0; count && i < (got ? got : 1); i++) {
            take(context, &events[i]);
            count -= events[i].thread != PT_NONE && count != UINT64_MAX;
        }
    }
    return true;
}

const char *pt_again_read(void *of, uint64_t count, void (*take)(void *context, const struct pt_event *event),
                          void *context)
{
    struct pt_again *again = of;
    struct pt_source *source;
    struct pt_err err;
    look(again);
    if (!again->why[0] && pt_source_open(again->path, again->names, &source, &err) != PT_OK)
        snprintf(again->why, sizeof again->why, "the trace could not be read again: %s", err.message);
    if (again->why[0])
        return again->why;
    if (again->leaves_out)
        pt_source_leave_out(source);
    bool whole = give(source, count, take, context);
    pt_source_free(source);
    if (pt_interrupted())
        return "interrupted";
    return whole ? NULL : "the trace has become shorter while it was read";
}
