/* What of this machine the process may use. */
#ifndef PT_CLI_COMMON_MACHINE_H
#define PT_CLI_COMMON_MACHINE_H

#include <stdint.h>

/* How many processors at a time: those that it may run on, and no more than the quota of its control groups pays for;
 * at least 1. */
unsigned pt_cores(void);

/* How many bytes of memory: what there is, what its control groups let it have, and its limit of address space. */
uint64_t pt_memory(void);

#endif
