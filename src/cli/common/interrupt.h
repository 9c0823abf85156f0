/* Ctrl-C as a request to stop and report what is known so far. */
#ifndef PT_CLI_COMMON_INTERRUPT_H
#define PT_CLI_COMMON_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT is only noted and a second one kills. Does nothing where SIGINT is ignored. */
void pt_interrupt_catch(void);
/* SIGTERM and SIGHUP too, for commands that have something to put back in order. */
void pt_interrupt_catch_all(void);
bool pt_interrupted(void);
/* Waits until a descriptor can be read without waiting; false: a SIGINT came before that. */
bool pt_interrupt_wait(int fd);

#endif
