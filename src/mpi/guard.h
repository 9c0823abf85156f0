/* A process that does nothing but watch another one, which does the work. */
#ifndef PT_MPI_GUARD_H
#define PT_MPI_GUARD_H

/*
 * Returns in a new process, which does the work. The old one stays, passes signals on, and ends with the new one's exit
 * status; if that dies of a signal, with a message and the status "unknown": what mpirun sees end is ours, and so is
 * the status that it hands on, where a process that is killed itself would leave it with a number of its own.
 */
void pt_guard(void);

#endif
