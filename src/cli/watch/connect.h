/* Where programs are found, and where they find us. */
#ifndef PT_CLI_WATCH_CONNECT_H
#define PT_CLI_WATCH_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pt_targets;

/* The places that an address, unix:PATH or tcp:HOST:PORT, stands for; the caller frees them. */
enum pt_status pt_targets_find(const char *address, struct pt_targets **ret_targets, struct pt_err *err) PT_WARN_UNUSED;
/* A connection to the first that answers, not blocking; -1 with errno. Where none answers, an errno by which waiting
 * may help comes before others. */
int pt_targets_try(const struct pt_targets *targets);
/* Whether nobody listens there yet. */
bool pt_targets_may_come(int why);

struct pt_listener {
    int fd; /* -1: nobody listens */
    const char *path;
    uint64_t device, inode; /* of the socket file */
};

/* Listens at unix:PATH, which is kept, for programs that connect (docs/wire-format.md). */
enum pt_status pt_watch_listen(const char *address, struct pt_listener *listener, struct pt_err *err) PT_WARN_UNUSED;
/* A program that has come, greeted; -1 with errno: EAGAIN, or why it cannot be taken in. */
int pt_watch_accept(const struct pt_listener *listener);
/* Removes the file too, if it is still ours. */
void pt_watch_unlisten(struct pt_listener *listener);

#endif
