/* Locks on files that keep threads apart (file_lock.c). Each does nothing without an observer. */
#ifndef PT_RUNTIME_WRAP_FILE_LOCK_H
#define PT_RUNTIME_WRAP_FILE_LOCK_H

#include <stdbool.h>

/* Is it a command of fcntl that takes or gives up such a lock? */
bool pt_file_lock_is(int command);
/* That command. */
int pt_file_lock_control(int fd, int command, void *argument, int (*real)(int fd, int command, ...));
/* Before the descriptor is closed. */
void pt_file_lock_closes(int fd);
/* In the child of a fork. */
void pt_file_lock_restart(void);

#endif
