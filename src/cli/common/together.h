/*
 * One `check` by several processes, which mpirun has started: `portent` hands over to portent-mpi (src/mpi), which
 * tells here who is with it. All processes do the same, and what they print is process 0's: the others print nothing,
 * unless something went wrong with them alone.
 */
#ifndef PT_CLI_COMMON_TOGETHER_H
#define PT_CLI_COMMON_TOGETHER_H

#include "engine/group.h"
#include "trace/event.h"

/* Under mpirun, of more than one process: portent-mpi takes our place. Returns only where it cannot, with the exit
 * status, or where we are alone, with a negative number. */
int pt_together_hand_over(char **argv);

/* What is written to `held`, in place of standard error, goes to `shown` where it is the only word about a failure. */
void pt_together_begin(struct pt_group *group, int held, int shown);
/* NULL: alone. */
struct pt_group *pt_together_group(void);
/* Does what is not divided among processes, and prints. Alone: it does. */
bool pt_together_leads(void);
/* Whether all of them are well. The first that is not tells why, by what it has written to standard error. */
bool pt_together_agree(bool well);
/* From here on everybody is alone; the others than the leader have nothing more to do. */
void pt_together_part(void);

/* What a process has read, in short: those of processes with other traces differ. Begins with 0. */
uint64_t pt_together_digest(uint64_t before, const struct pt_event *event);
/* With the names that the events were about. False, after a message: they are not the same everywhere. */
bool pt_together_same(uint64_t digest, const struct pt_names *names);

#endif
