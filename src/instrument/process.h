/* Running compiler jobs, and a folder for their intermediate files that disappears however the driver ends. */
#ifndef PT_INSTRUMENT_PROCESS_H
#define PT_INSTRUMENT_PROCESS_H

#include "base/err.h"
#include "base/mem.h"
#include "instrument/args.h"

/* Makes the folder and installs the signal handlers that remove it. One at a time. */
enum pt_status pt_workdir_make(struct pt_err *err) PT_WARN_UNUSED;
void pt_workdir_remove(void);
/* Uses the folder that another process has made, and removes. */
void pt_workdir_adopt(const char *folder);
const char *pt_workdir(void);
/* A fresh name in the folder, ending in `suffix`; in the arena. */
const char *pt_workdir_name(struct pt_arena *arena, const char *suffix);

struct pt_process {
    const char *stdout_path, *stderr_path; /* files to write to; NULL: inherited */
    bool no_input;                         /* standard input is empty */
    bool temporaries_here;                 /* the child's own temporary files go to the work folder, too */
};
/*
 * Runs args and waits. The exit status, or 128 + the signal that ended it, as a shell says. A command line longer than
 * the system takes is passed through a response file (@FILE), which all of clang's tools read.
 */
enum pt_status pt_process_run(const struct pt_args *args, const struct pt_process *how, int *ret_status,
                              struct pt_err *err) PT_WARN_UNUSED;

#endif
