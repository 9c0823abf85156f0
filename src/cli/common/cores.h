/* How many processors this process may use at a time: those that it may run on, and no more than the quota of its
 * control groups pays for; at least 1. */
#ifndef PT_CLI_COMMON_CORES_H
#define PT_CLI_COMMON_CORES_H

unsigned pt_cores(void);

#endif
