/* What was found out about the processes that an observed program started: written by their observers, read by `run`.
 */
#ifndef PT_CLI_RUN_PROCESSES_H
#define PT_CLI_RUN_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "finding/finding.h"

struct pt_observed {
    pid_t process;
    uint32_t came; /* they are numbered as they ask to be observed */
    char *program; /* its file */
    char *folder;  /* where it was started, "" where that is not known */
    bool observed; /* otherwise `error` says why not */
    bool violated, whole;
    char *json; /* its result, "" where it is not observed */
    struct pt_err error;
    /* For each property whether it is judged there, and where not, because of which name; and whether what it names was
     * not observed, though it is judged. */
    bool *judged;
    struct pt_err *unknown;
    bool *unseen;
};

struct pt_processes {
    struct pt_observed *items; /* in the order in which they came */
    uint32_t count, property_count;
    size_t cap;
};

/* Appends a process to a file that several observers write to; one that cannot be written is missing there. */
void pt_observed_write(int fd, const struct pt_observed *process, uint32_t property_count);
void pt_processes_read(int fd, uint32_t property_count, struct pt_processes *ret_processes);
void pt_processes_release(struct pt_processes *processes);
uint32_t pt_processes_observed(const struct pt_processes *processes);
/* Why a property was judged in none of them, though there are some; NULL: each was somewhere. */
const struct pt_err *pt_processes_unknown(const struct pt_processes *processes);

/* Is the property judged, and what it names observed in none of those where it is? */
bool pt_processes_unseen(const struct pt_processes *processes, uint32_t property);

/* How reports name a process: "process 4711 (./prog)". */
void pt_observed_label(pid_t process, const char *program, struct pt_buf *buf);
/* One result with a list of processes, of the command that started them; `whole` has its trace, words, status and
 * folders. */
void pt_processes_json(const struct pt_processes *processes, const struct pt_result *whole, struct pt_buf *buf);

#endif
