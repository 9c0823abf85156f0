/* A program whose threads are scheduled: its process, the memory file shared with it, one run after the other. */
#ifndef PT_EXPLORE_PROGRAM_H
#define PT_EXPLORE_PROGRAM_H

#include "base/buf.h"
#include "base/err.h"
#include "explore/outcome.h"

struct pt_explore_program;

struct pt_explore_setup {
    const char *path;
    const char *const *arguments; /* argv, then NULL */
    const char *options;          /* PORTENT_OPTIONS */
    bool serves;                  /* fork server; false: one process is one run */
    bool watches;                 /* no control: only what its checks find is told */
    bool own_streams;          /* input, output and error are those of the tool; else output is kept, and input is the
                                  tool's if that is a file, from its beginning in each run */
    uint32_t job;              /* its number, for the processor that it runs on */
    uint32_t processors;       /* without control: it may use so many; 0: all */
    bool (*interrupted)(void); /* asked now and then during a run: true ends it; NULL: never */
};

enum pt_status pt_explore_program_new(const struct pt_explore_setup *setup, struct pt_explore_program **ret_program,
                                      struct pt_err *err) PT_WARN_UNUSED;
void pt_explore_program_free(struct pt_explore_program *program);
struct pt_explore *pt_explore_program_file(struct pt_explore_program *program);
/* Whether its process could not be a fork server, though it was to be. */
bool pt_explore_program_is_unserved(const struct pt_explore_program *program);

/*
 * Does the run that `plan` describes, at most `timeout` nanoseconds of it (0: no limit). PT_EIO: the program cannot be
 * started. A fork server that has died is started again. A run that was interrupted is not done. The program's process
 * belongs to the calling thread and ends with it.
 */
enum pt_status pt_explore_program_run(struct pt_explore_program *program, const struct pt_explore_plan *plan,
                                      uint64_t timeout, struct pt_explore_outcome *ret_outcome,
                                      struct pt_err *err) PT_WARN_UNUSED;
/* Writes a plan for a process that somebody else starts, a debugger for instance: it is to find what is appended to
 * `ret_value` in PT_EXPLORE_ENV, as long as this process lives. */
void pt_explore_program_lend(struct pt_explore_program *program, const struct pt_explore_plan *plan,
                             struct pt_buf *ret_value);
/* Of that process: whether it is about to stop for a debugger, and waits to be told why; looks for at most `ns`. */
bool pt_explore_program_asks(struct pt_explore_program *program, uint64_t ns);
void pt_explore_program_tell(struct pt_explore_program *program, const char *text);
/* What it has done so far, and its number; 0: it was never under control. */
uint32_t pt_explore_program_look(struct pt_explore_program *program, const struct pt_explore_plan *plan,
                                 struct pt_explore_outcome *ret_outcome);
/* One run without any control: of the outcome there is how it ended, what it printed, and what its checks found. */
enum pt_status pt_explore_program_plain(const struct pt_explore_setup *setup, uint64_t timeout,
                                        struct pt_explore_outcome *ret_outcome, struct pt_err *err) PT_WARN_UNUSED;

#endif
