/*
 * Programs come and go. One epoll descriptor has them all; each wake-up takes in one read of each program that has
 * something to say, so that none keeps the others waiting, and the cost is by what came, not by how many there are. A
 * program whose stream has ended is concluded at once, but where the terminal is drawn on, which has no room for it:
 * then at the end. Ended ones are kept for the views, PT_FLEET_KEPT of them; those that violated something go last.
 */
#include "cli/watch/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "cli/common/progress.h"

enum { RETRY_MS = 20, PATIENCE_MS = 1000, AT_ONCE = 256 };

void pt_fleet_init(struct pt_fleet *fleet, struct pt_watching *watching)
{
    *fleet = (struct pt_fleet){.watching = watching, .listener = {.fd = -1}, .epoll = -1, .exit_status = PT_EXIT_HOLDS};
}

void pt_fleet_release(struct pt_fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->pending_count; i++) {
        free(fleet->pending[i].targets);
        if (fleet->pending[i].fd >= 0)
            close(fleet->pending[i].fd);
    }
    for (uint32_t i = 0; i < fleet->count; i++)
        pt_watched_free(fleet->members[i]);
    pt_watch_unlisten(&fleet->listener);
    if (fleet->epoll >= 0)
        close(fleet->epoll);
    free(fleet->pending);
    free(fleet->members);
}

/* --- who is watched --- */

enum pt_status pt_fleet_address(struct pt_fleet *fleet, const char *address, struct pt_err *err)
{
    if (strncmp(address, "listen:", 7) == 0) {
        if (fleet->listens)
            return pt_err_set(err, PT_EUSAGE, "one listen: address is enough: any number of programs can come there");
        fleet->listens = address + 7;
        return PT_OK;
    }
    struct pt_pending pending = {.address = address, .fd = -1};
    enum pt_status status = pt_targets_find(address, &pending.targets, err);
    if (status == PT_OK)
        PT_PUSH(fleet->pending, fleet->pending_count, fleet->pending_cap, pending);
    return status;
}

/* Contract section 1: 2 before 1 before 3 before 0. */
static void count_status(struct pt_fleet *fleet, int status)
{
    static const int rank[] = {[PT_EXIT_HOLDS] = 0, [PT_EXIT_UNKNOWN] = 1, [PT_EXIT_VIOLATED] = 2, [PT_EXIT_BAD] = 3};
    if (rank[status] > rank[fleet->exit_status])
        fleet->exit_status = status;
}

static void say_nobody(struct pt_fleet *fleet, const char *address, int why)
{
    struct pt_err err;
    (void)pt_err_set(&err, PT_EIO, "cannot connect to %.200s: %s", address, strerror(why));
    if (pt_targets_may_come(why))
        pt_err_hint(&err, "is a program running with PORTENT_OPTIONS=events=%.120s? --wait waits for it", address);
    pt_diag_error(&err);
    count_status(fleet, PT_EXIT_BAD);
}

static void drop_pending(struct pt_fleet *fleet, uint32_t i)
{
    free(fleet->pending[i].targets);
    memmove(&fleet->pending[i], &fleet->pending[i + 1], (--fleet->pending_count - i) * sizeof *fleet->pending);
}

/* Tries all that have not come once; those for which there is no hope, or with `last` no time, are given up. Returns
 * how many are still to come. */
static uint32_t try_pending(struct pt_fleet *fleet, bool last)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < fleet->pending_count;) {
        struct pt_pending *pending = &fleet->pending[i];
        if (pending->fd < 0 && (pending->fd = pt_targets_try(pending->targets)) < 0) {
            if (last || !pt_targets_may_come(errno)) {
                say_nobody(fleet, pending->address, errno);
                drop_pending(fleet, i);
                continue;
            }
            missing++;
        }
        i++;
    }
    return missing;
}

bool pt_fleet_call(struct pt_fleet *fleet, bool wait)
{
    bool several = fleet->pending_count > 1 || fleet->listens;
    for (int waited = 0; !pt_interrupted(); waited += RETRY_MS) {
        if (!try_pending(fleet, !wait && waited >= PATIENCE_MS) || (wait && several))
            break;
        poll(NULL, 0, RETRY_MS);
    }
    return fleet->pending_count || fleet->listens;
}

static void allow_many(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void watch_descriptor(const struct pt_fleet *fleet, int fd, struct pt_watched *member)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = member};
    epoll_ctl(fleet->epoll, EPOLL_CTL_ADD, fd, &wanted);
}

static enum pt_status add(struct pt_fleet *fleet, const char *address, int fd, struct pt_err *err)
{
    struct pt_watched *member;
    enum pt_status status = pt_watched_new(fleet->watching, address, fd, fleet->record, &member, err);
    if (status != PT_OK)
        return status;
    member->id = ++fleet->came;
    PT_PUSH(fleet->members, fleet->count, fleet->cap, member);
    fleet->alive++;
    watch_descriptor(fleet, fd, member);
    return PT_OK;
}

/* Those that have been reached. */
static enum pt_status add_pending(struct pt_fleet *fleet, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < fleet->pending_count && status == PT_OK;) {
        struct pt_pending *pending = &fleet->pending[i];
        if (pending->fd < 0) {
            i++;
            continue;
        }
        int fd = pending->fd;
        const char *address = pending->address;
        drop_pending(fleet, i);
        status = add(fleet, address, fd, err);
    }
    return status;
}

enum pt_status pt_fleet_begin(struct pt_fleet *fleet, struct pt_err *err)
{
    allow_many();
    fleet->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (fleet->epoll < 0)
        return pt_err_set(err, PT_EIO, "no descriptor is free: %s", strerror(errno));
    enum pt_status status = fleet->listens ? pt_watch_listen(fleet->listens, &fleet->listener, err) : PT_OK;
    if (status != PT_OK)
        return status;
    if (fleet->listener.fd >= 0)
        watch_descriptor(fleet, fleet->listener.fd, NULL);
    return add_pending(fleet, err);
}

/* --- coming and going --- */

static void welcome(struct pt_fleet *fleet)
{
    struct pt_err err;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        int fd = pt_watch_accept(&fleet->listener);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) { /* asked again when somebody has gone */
            epoll_ctl(fleet->epoll, EPOLL_CTL_DEL, fleet->listener.fd, NULL);
            fleet->full = true;
            (void)pt_err_set(&err, PT_OK, "no descriptor is free: programs that come now wait until another one ends");
            pt_diag_warning(&err);
        }
        if (fd < 0)
            return;
        if (add(fleet, fleet->listens, fd, &err) != PT_OK)
            pt_diag_error(&err);
    }
}

static void conclude(struct pt_fleet *fleet, struct pt_watched *member)
{
    if (member->concluded)
        return;
    member->concluded = true;
    count_status(fleet, pt_watched_conclude(member));
}

static bool violated(const struct pt_watched *member)
{
    for (uint32_t i = 0; i < member->verdicts.count; i++)
        if (member->verdicts.shown[i] == PT_VERDICT_VIOLATED)
            return true;
    return false;
}

static void forget(struct pt_fleet *fleet, uint32_t i)
{
    struct pt_watched *member = fleet->members[i];
    member->output_options.quiet = true; /* where it is not concluded yet: the terminal is drawn on */
    conclude(fleet, member);
    memmove(&fleet->members[i], &fleet->members[i + 1], (--fleet->count - i) * sizeof(struct pt_watched *));
    pt_watched_free(member);
    fleet->forgotten++;
}

/* Makes room: the first that has ended, of those that violated nothing if there are any. */
static void tidy(struct pt_fleet *fleet)
{
    uint32_t kept = fleet->watching->shown ? PT_FLEET_KEPT : 0;
    while (fleet->watching->several && fleet->count - fleet->alive > kept) {
        uint32_t oldest = fleet->count;
        for (uint32_t i = 0; i < fleet->count; i++) {
            const struct pt_watched *member = fleet->members[i];
            if (!member->over || (oldest < fleet->count && violated(member)))
                continue;
            if (oldest == fleet->count || violated(fleet->members[oldest]))
                oldest = i;
        }
        forget(fleet, oldest);
    }
}

/* Its stream is over: the descriptor is free for another one. */
static void let_go(struct pt_fleet *fleet, struct pt_watched *member)
{
    epoll_ctl(fleet->epoll, EPOLL_CTL_DEL, member->fd, NULL);
    close(member->fd);
    member->fd = -1;
    fleet->alive--;
    if (fleet->watching->several && !fleet->watching->live)
        conclude(fleet, member);
    if (fleet->full) {
        fleet->full = false;
        watch_descriptor(fleet, fleet->listener.fd, NULL);
    }
}

int pt_fleet_fd(const struct pt_fleet *fleet, int *timeout_ms)
{
    if (fleet->pending_count && *timeout_ms > RETRY_MS)
        *timeout_ms = RETRY_MS;
    return fleet->epoll;
}

static void call_pending(struct pt_fleet *fleet)
{
    struct pt_err err;
    if (!fleet->pending_count)
        return;
    (void)try_pending(fleet, false);
    if (add_pending(fleet, &err) != PT_OK)
        pt_diag_error(&err);
}

void pt_fleet_run(struct pt_fleet *fleet, uint64_t looked)
{
    struct epoll_event ready[AT_ONCE];
    int count = epoll_wait(fleet->epoll, ready, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        if (ready[i].data.ptr)
            pt_watched_receive(ready[i].data.ptr);
        else
            welcome(fleet);
    }
    call_pending(fleet);
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct pt_watched *member = fleet->members[i];
        if (member->fd < 0)
            continue;
        /* Where more were ready than fitted, some may have something to say that we have not read. */
        if (!member->over && count < AT_ONCE)
            pt_watched_wait(member, looked);
        if (member->over)
            let_go(fleet, member);
    }
    tidy(fleet);
}

bool pt_fleet_is_over(const struct pt_fleet *fleet)
{
    return fleet->alive == 0 && fleet->pending_count == 0 && fleet->listener.fd < 0;
}

int pt_fleet_end(struct pt_fleet *fleet)
{
    pt_watch_unlisten(&fleet->listener);
    for (uint32_t i = 0; i < fleet->count; i++)
        conclude(fleet, fleet->members[i]);
    if (fleet->watching->live && fleet->forgotten && !fleet->watching->output_options.quiet)
        fprintf(stderr, "portent: %" PRIu64 " more had ended before; the exit status counts them\n", fleet->forgotten);
    return fleet->exit_status;
}

struct pt_watched *pt_fleet_member(const struct pt_fleet *fleet, uint64_t id)
{
    if (!fleet->watching->several)
        return fleet->count ? fleet->members[0] : NULL;
    for (uint32_t i = 0; i < fleet->count; i++)
        if (fleet->members[i]->id == id)
            return fleet->members[i];
    return NULL;
}
