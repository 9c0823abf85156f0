/*
 * A process of our own that listens at an abstract Unix socket, whose name the program's descendants find in their
 * environment (core/channel.h), and forks an observer for each that connects. Only processes of our user are answered.
 * When the program has ended, what it left behind may go on for a while: GRACE_MS if it is observed, ORPHAN_MS
 * if it is not, since it may be about to start something that is. Then whatever still runs goes on unobserved. If `run`
 * dies, the broker and the observers end, too, and the processes go on. Costs nothing while nobody comes.
 */
#include "cli/run/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "cli/run/attached.h"
#include "cli/run/launch.h"

enum { GRACE_MS = 2000, ORPHAN_MS = 500, LOOK_MS = 5, REAP_MS = 50, BACKLOG = 1024, LEFT_MAX = 64 };

/* --- in the broker --- */

struct broker {
    const struct pt_session *session;
    const char *trace_path;
    int listener, control, results;
    int stop[2]; /* its writing end is the broker's alone: when it is closed all observers stop */
    _Atomic uint32_t *running;
    pid_t *seen; /* processes that came, each once per coming */
    uint32_t seen_count;
    size_t seen_cap;
};

static void reap(struct broker *b, bool wait)
{
    while (waitpid(-1, NULL, wait ? 0 : WNOHANG) > 0)
        atomic_fetch_sub(b->running, 1);
}

static void answer(struct broker *b, int connection)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || peer.uid != geteuid() || peer.pid <= 0)
        return;
    struct pt_attach attach = {.session = b->session,
                               .trace_path = b->trace_path,
                               .connection = connection,
                               .stop = b->stop[0],
                               .results = b->results,
                               .came = b->seen_count,
                               .process = peer.pid};
    for (uint32_t i = 0; i < b->seen_count; i++)
        attach.again += b->seen[i] == peer.pid;
    PT_PUSH(b->seen, b->seen_count, b->seen_cap, peer.pid);
    atomic_fetch_add(b->running, 1);
    pid_t observer = fork();
    if (observer == 0) {
        close(b->listener);
        close(b->control);
        close(b->stop[1]);
        pt_attached_observe(&attach);
    }
    if (observer < 0) {
        atomic_fetch_sub(b->running, 1);
        fprintf(stderr, "portent: process %ld was not observed: %s\n", (long)peer.pid, strerror(errno));
    }
}

static void accept_all(struct broker *b)
{
    for (int connection; (connection = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        answer(b, connection);
        close(connection);
    }
}

static _Noreturn void serve(struct broker *b)
{
    /* Signals of the terminal are for the program; our end comes with its. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    pid_t started = 0; /* it may come, too, having called exec, and then is not there for the first time */
    if (read(b->control, &started, sizeof started) == sizeof started && started)
        PT_PUSH(b->seen, b->seen_count, b->seen_cap, started);
    for (;;) {
        struct pollfd wait[] = {{.fd = b->listener, .events = POLLIN}, {.fd = b->control, .events = POLLIN}};
        bool busy = atomic_load(b->running) > 0;
        (void)poll(wait, 2, busy ? REAP_MS : -1);
        accept_all(b); /* also in the end: who has come by now is seen */
        reap(b, false);
        if (wait[1].revents)
            break;
    }
    close(b->listener);
    close(b->stop[1]);
    reap(b, true);
    _exit(0);
}

/* --- beside it --- */

static enum pt_status open_rendezvous(char *ret_name, size_t room, int *ret_fd, struct pt_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t random = 0;
    (void)!getrandom(&random, sizeof random, 0);
    int len = snprintf(ret_name, room, "portent-%ld-%016llx", (long)getpid(), (unsigned long long)random);
    memcpy(address.sun_path + 1, ret_name, (size_t)len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, bytes) != 0 || listen(fd, BACKLOG) != 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return pt_err_set(err, PT_EIO, "cannot make a socket for what the program starts: %s", strerror(why));
    }
    *ret_fd = fd;
    return PT_OK;
}

enum pt_status pt_broker_start(struct pt_session *session, const char *trace_path, struct pt_broker *broker,
                               struct pt_err *err)
{
    struct broker b = {.session = session, .trace_path = trace_path};
    int control[2];
    *broker = (struct pt_broker){0};
    enum pt_status status = open_rendezvous(broker->name, sizeof broker->name, &b.listener, err);
    if (status != PT_OK)
        return status;
    broker->running = b.running =
        mmap(NULL, sizeof *b.running, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    broker->results = b.results = memfd_create("portent results", MFD_CLOEXEC);
    if (b.running == MAP_FAILED || b.results < 0 || fcntl(b.results, F_SETFL, O_APPEND) != 0 ||
        pipe2(control, O_CLOEXEC) != 0 || pipe2(b.stop, O_CLOEXEC) != 0 || (broker->process = fork()) < 0)
        return pt_err_set(err, PT_EIO, "cannot observe what the program starts: %s", strerror(errno));
    if (broker->process == 0) {
        close(control[1]);
        b.control = control[0];
        serve(&b);
    }
    close(control[0]);
    close(b.stop[0]);
    close(b.stop[1]);
    close(b.listener);
    broker->control = control[1];
    session->rendezvous = broker->name;
    session->herald = control[1];
    return PT_OK;
}

/* Until nobody of them lives, or they have had their time. How many are left, and the first of them. */
static uint32_t wait_for_left(const struct pt_broker *broker, pid_t left[LEFT_MAX])
{
    uint64_t begun = pt_progress_now();
    uint32_t count;
    while ((count = pt_launch_left(broker->process, left, LEFT_MAX))) {
        uint64_t waited = (pt_progress_now() - begun) / 1000000;
        if (waited >= (uint64_t)(atomic_load(broker->running) ? GRACE_MS : ORPHAN_MS))
            break;
        struct timespec moment = {.tv_nsec = LOOK_MS * 1000 * 1000};
        nanosleep(&moment, NULL);
    }
    return count < LEFT_MAX ? count : LEFT_MAX;
}

static bool has_come(const struct pt_processes *processes, pid_t process)
{
    for (uint32_t i = 0; i < processes->count; i++) {
        if (processes->items[i].process == process)
            return true;
    }
    return false;
}

/* One that goes on and could have been observed, but was not: a copy that a fork made. Others are none of our business.
 */
static void report_left(struct pt_processes *processes, pid_t left)
{
    char program[64];
    struct pt_debuginfo *info;
    struct pt_err err;
    snprintf(program, sizeof program, "/proc/%ld/exe", (long)left);
    if (has_come(processes, left) ||
        pt_debuginfo_open(program, &(struct pt_debuginfo_options){0}, &info, &err) != PT_OK)
        return;
    if (pt_debuginfo_has_runtime(info)) {
        size_t properties = (size_t)processes->property_count + 1;
        struct pt_observed process = {.process = left,
                                      .program = pt_xstrdup(program),
                                      .json = pt_xstrdup(""),
                                      .judged = pt_xcalloc(properties, sizeof *process.judged),
                                      .unknown = pt_xcalloc(properties, sizeof *process.unknown)};
        fprintf(stderr,
                "portent: the answer is not whole: process %ld, which the program left behind, is not observed\n",
                (long)left);
        PT_PUSH(processes->items, processes->count, processes->cap, process);
    }
    pt_debuginfo_free(info);
}

void pt_broker_finish(struct pt_broker *broker, uint32_t property_count, struct pt_processes *ret_processes)
{
    pid_t left[LEFT_MAX];
    *ret_processes = (struct pt_processes){.property_count = property_count};
    if (!broker->process)
        return;
    uint32_t count = wait_for_left(broker, left);
    close(broker->control);
    while (waitpid(broker->process, NULL, 0) < 0 && errno == EINTR)
        ;
    pt_processes_read(broker->results, property_count, ret_processes);
    for (uint32_t i = 0; i < count; i++)
        report_left(ret_processes, left[i]);
    close(broker->results);
    munmap((void *)broker->running, sizeof *broker->running);
    broker->process = 0;
}
