/*
 * The programs that are watched: those whose addresses were given, and those that come by themselves where we listen.
 * Each is judged by itself; the exit status is the worst of all (contract section 1).
 */
#ifndef PT_CLI_WATCH_FLEET_H
#define PT_CLI_WATCH_FLEET_H

#include "cli/watch/connect.h"
#include "cli/watch/watched.h"

enum {
    PT_FLEET_KEPT = 64, /* programs that have ended and can still be looked at */
    PT_FLEET_MANY = 8,
};

/* An address where nobody was yet. */
struct pt_pending {
    const char *address;
    struct pt_targets *targets;
    int fd; /* -1: nobody is there */
};

struct pt_fleet {
    struct pt_watching *watching;
    const char *record; /* where the one stream goes to (-o); NULL: nowhere */
    struct pt_pending *pending;
    uint32_t pending_count;
    size_t pending_cap;
    struct pt_watched **members; /* in the order in which they came, those that are kept after their end too */
    uint32_t count;
    size_t cap;
    uint32_t alive;
    uint64_t came, forgotten; /* of those that came, so many have ended and are not kept */
    const char *listens;      /* unix:PATH; NULL: nobody comes by himself */
    struct pt_listener listener;
    int epoll;
    bool full; /* no descriptor was free for one that wanted to come */
    int exit_status;
};

void pt_fleet_init(struct pt_fleet *fleet, struct pt_watching *watching);
void pt_fleet_release(struct pt_fleet *fleet);

/* An operand of the command: unix:PATH, tcp:HOST:PORT, or listen:unix:PATH, at most one of these. Connects to nobody.
 */
enum pt_status pt_fleet_address(struct pt_fleet *fleet, const char *address, struct pt_err *err) PT_WARN_UNUSED;
/* Connects to those that are there, waiting for the others: for a second, or with `wait` for ever; but where there are
 * several, and with `wait`, not at all: they are called while the rest is watched. False: somebody did not come, which
 * is said, and there is nobody else. */
bool pt_fleet_call(struct pt_fleet *fleet, bool wait);
/* Watching begins for all that were called or listened for. */
enum pt_status pt_fleet_begin(struct pt_fleet *fleet, struct pt_err *err) PT_WARN_UNUSED;

/* It has no thread of its own: wait for pt_fleet_fd, at most *timeout_ms, then call pt_fleet_run with the time before
 * the wait. */
int pt_fleet_fd(const struct pt_fleet *fleet, int *timeout_ms);
void pt_fleet_run(struct pt_fleet *fleet, uint64_t looked);
/* Nobody is left and nobody can come. */
bool pt_fleet_is_over(const struct pt_fleet *fleet);
/* Says of all what has not been said, and gives the exit status. */
int pt_fleet_end(struct pt_fleet *fleet);

/* The member of this id, NULL: it is gone; and, of a fleet that is no fleet, the only one (whatever the id). */
struct pt_watched *pt_fleet_member(const struct pt_fleet *fleet, uint64_t id);

#endif
