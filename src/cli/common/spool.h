/* What comes through a pipe, where it can be looked at first and then read: in a file without a name. */
#ifndef PT_CLI_COMMON_SPOOL_H
#define PT_CLI_COMMON_SPOOL_H

#include <stdbool.h>

#include "base/err.h"

/* A named pipe, or what `<(command)` and /dev/stdin are then. */
bool pt_spool_is_pipe(const char *path);
/* Reads the pipe ("-": standard input) to its end. *ret_path names the copy as long as the process lives; the caller
 * frees it. */
enum pt_status pt_spool(const char *path, char **ret_path, struct pt_err *err) PT_WARN_UNUSED;
/* An empty one of these, to be written to and, by its name, read again. */
enum pt_status pt_spool_open(int *ret_fd, char **ret_path, struct pt_err *err) PT_WARN_UNUSED;

#endif
