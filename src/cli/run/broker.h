/* The rendezvous for the processes that an observed program starts: each that comes gets an observer of its own. */
#ifndef PT_CLI_RUN_BROKER_H
#define PT_CLI_RUN_BROKER_H

#include "cli/run/processes.h"
#include "cli/run/session.h"

struct pt_broker {
    pid_t process; /* 0: there is none */
    int control;   /* gets the number of the observed program; closing it ends the observation */
    int results;
    _Atomic uint32_t *running; /* how many are observed now */
    char name[64];             /* of the rendezvous */
};

/* Starts it, before the program: session->rendezvous is then its name, and
 * whoever comes there waits until session->herald has got the number of the program, 0 if it is not observed itself.
 * `trace_path` NULL: nothing is recorded. */
enum pt_status pt_broker_start(struct pt_session *session, const char *trace_path, struct pt_broker *ret_broker,
                               struct pt_err *err) PT_WARN_UNUSED;
/* The program has ended: waits for what it left behind, but not for long, and gives what was found. */
void pt_broker_finish(struct pt_broker *broker, uint32_t property_count, struct pt_processes *ret_processes);

#endif
