/* Which programs a test command has started, as the result of `run` lists them, so that each can be asked more. */
#ifndef PT_CLI_CI_PLAN_H
#define PT_CLI_CI_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct pt_ci_program {
    uint64_t pid;              /* 0: the command itself, which was observed alone */
    const char *file;          /* the program */
    const char *folder;        /* where it was started, NULL: here */
    const char *const *words;  /* its command, then NULL */
    uint64_t threads;          /* that acted; 0: not known */
    const char *const *judged; /* property files all of whose properties were judged in it, then NULL */
    bool again;                /* the same command in the same folder stands before it in the plan */
};

struct pt_ci_plan {
    struct pt_arena arena;
    bool several;       /* the result is a list */
    int program_status; /* of the command, as a shell has it */
    struct pt_ci_program *programs;
    uint32_t count;
};

/* Reads a result that `run -r` wrote. Release in any case. */
enum pt_status pt_ci_plan_read(const char *path, struct pt_ci_plan *ret_plan, struct pt_err *err) PT_WARN_UNUSED;
void pt_ci_plan_release(struct pt_ci_plan *plan);
/* Tells all programs with the command of this one, in the same folder, how many threads it had. */
void pt_ci_plan_set_threads(struct pt_ci_plan *plan, const struct pt_ci_program *program, uint64_t threads);
/* NULL: there is none of this number. A process that became another program by exec is several: which of them a
 * recording is of is not known then, and no property file counts as judged. */
const struct pt_ci_program *pt_ci_plan_find(const struct pt_ci_plan *plan, uint64_t pid);

#endif
