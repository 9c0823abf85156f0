/* The address of a running program's event stream. */
#ifndef PT_CLI_WATCH_CONNECT_H
#define PT_CLI_WATCH_CONNECT_H

#include <stdbool.h>

#include "base/err.h"

/* Connects to unix:PATH or tcp:HOST:PORT. A program that was just started may need a moment, so this tries for a
 * second; `wait`: until somebody listens there. After Ctrl-C *ret_fd is -1. The descriptor does not
 * block. */
enum pt_status pt_watch_connect(const char *address, bool wait, int *ret_fd, struct pt_err *err) PT_WARN_UNUSED;

#endif
