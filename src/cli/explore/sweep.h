/* Recordings of controlled runs lie in a folder for temporary files; they go with this process, whatever ends it. */
#ifndef PT_CLI_EXPLORE_SWEEP_H
#define PT_CLI_EXPLORE_SWEEP_H

/* Before anything is recorded, and before there are other threads. Where it cannot be done, what a process that is
 * killed leaves stays. */
void pt_explore_sweep_start(void);
/* Nothing is recorded any more. */
void pt_explore_sweep_end(void);

#endif
