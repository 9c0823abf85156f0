/*
 * Starting a program under observation: finding it as a shell does, handing it the channel, passing signals on,
 * learning how it ended. Whatever ends us, the program goes on: a guard process then releases the threads that wait
 * for room in their rings. The guard sleeps in a read and costs nothing meanwhile.
 */
#include "cli/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/common/whatis.h"

/* --- finding it --- */

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static char *search_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
        size_t len = strcspn(at, ":");
        struct pt_buf buf;
        pt_buf_init(&buf);
        pt_buf_add(&buf, len ? at : ".", len ? len : 1);
        pt_buf_printf(&buf, "/%s", name);
        if (is_file(buf.text) && access(buf.text, X_OK) == 0)
            return pt_buf_take(&buf);
        pt_buf_release(&buf);
        at = at[len] ? at + len + 1 : NULL;
    }
    return NULL;
}

static void not_a_program(const char *name, enum pt_file_kind kind, struct pt_err *err)
{
    (void)pt_err_set(err, PT_EIO, "'%s' is %s, not a program", name, pt_whatis_words(kind));
    pt_whatis_hint(name, kind, err);
}

char *pt_launch_find(const char *name, int *ret_exit, struct pt_err *err)
{
    char *found = strchr(name, '/') ? pt_xstrdup(name) : search_path(name);
    *ret_exit = PT_EXIT_NOT_FOUND;
    if (!found || access(found, F_OK) != 0) {
        (void)pt_err_set(err, PT_EIO, "there is no program '%s'", name);
        enum pt_file_kind kind = pt_whatis(name);
        if (kind != PT_FILE_UNKNOWN && kind != PT_FILE_PROGRAM && kind != PT_FILE_SCRIPT)
            not_a_program(name, kind, err);
        else if (!strchr(name, '/') && is_file(name))
            pt_err_hint(err, "to run the one in this folder, write './%s'", name);
    } else if (!is_file(found) || access(found, X_OK) != 0) {
        *ret_exit = PT_EXIT_CANNOT_RUN;
        (void)pt_err_set(err, PT_EIO, "'%s' cannot be run: it is not an executable file", name);
        enum pt_file_kind kind = pt_whatis(name);
        if (kind == PT_FILE_PROGRAM || kind == PT_FILE_SCRIPT)
            pt_err_hint(err, "'chmod +x %s' makes it one", name);
        else if (kind != PT_FILE_UNKNOWN)
            not_a_program(name, kind, err);
    } else {
        return found;
    }
    free(found);
    return NULL;
}

/* --- signals --- */

static volatile sig_atomic_t program; /* its process id, 0: none to send to */

/* Sent by a process (not the terminal, whose signals the program gets as well): it is meant for the program. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code <= 0 && program > 0 && info->si_pid != program)
        kill((pid_t)program, number);
    errno = saved;
}

static void wake_up(int number)
{
    (void)number; /* ends a wait in the kernel, that is all */
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void catch_signals(void)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO}, old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
    }
    struct sigaction child = {.sa_handler = wake_up, .sa_flags = SA_NOCLDSTOP};
    sigemptyset(&child.sa_mask);
    sigaction(SIGCHLD, &child, NULL);
}

static void release_signals(void)
{
    program = 0;
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        struct sigaction old;
        if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_sigaction == pass_on)
            signal(passed_on[i], SIG_DFL);
    }
}

/* --- the guard --- */

/* A program that was only started to be tried ends with who tried it: asked first, made to later. */
static void end_program(int pidfd)
{
    enum { PATIENCE_MS = 2000 };
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    (void)syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0);
    if (poll(&ended, 1, PATIENCE_MS) <= 0)
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* Lives in a process of its own, which holds nothing of ours but the pipe's end and the shared memory. Who is told of a
 * program through the pipe ends it, too: by a descriptor, since its number may be another's by then. */
static _Noreturn void guard(int pipe_end, struct pt_channel_reader *reader)
{
    pid_t told;
    int pidfd = -1;
    ssize_t got;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    if (dup2(pipe_end, 0) != 0)
        _exit(1);
    close_range(1, ~0U, 0); /* else whoever reads our output would wait for the guard to end, too */
    while ((got = read(0, &told, sizeof told)) != 0 && (got > 0 || errno == EINTR))
        if (got == (ssize_t)sizeof told)
            pidfd = (int)syscall(SYS_pidfd_open, told, 0);
    pt_channel_abandon(reader);
    if (pidfd >= 0)
        end_program(pidfd);
    _exit(0);
}

static enum pt_status start_guard(struct pt_channel_reader *reader, struct pt_launched *launched, struct pt_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pt_err_set(err, PT_EIO, "cannot make a pipe: %s", strerror(errno));
    launched->guard = fork();
    if (launched->guard == 0)
        guard(ends[0], reader);
    close(ends[0]);
    launched->guard_pipe = ends[1];
    if (launched->guard < 0) {
        close(ends[1]);
        return pt_err_set(err, PT_EIO, "cannot start a process: %s", strerror(errno));
    }
    return PT_OK;
}

static void stop_guard(struct pt_launched *launched)
{
    close(launched->guard_pipe);
    while (waitpid(launched->guard, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* --- the program --- */

static bool is_entry(const char *entry, const char *name)
{
    size_t len = strlen(name);
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Our environment with what the runtime looks for; the array is the caller's, its strings are not, but for the first
 * two. */
static char **make_environment(const struct pt_launch_means *means)
{
    size_t count = 0, kept = 2;
    while (environ[count])
        count++;
    char **made = pt_xcalloc(count + 3, sizeof *made);
    struct pt_buf channel, rendezvous;
    pt_buf_init(&channel);
    pt_buf_init(&rendezvous);
    pt_buf_printf(&channel, "%s=", PT_CHANNEL_ENV);
    if (!means->keeps_channel)
        pt_buf_printf(&channel, "%d", pt_channel_fd(means->reader));
    pt_buf_printf(&rendezvous, "%s=%s", PT_RENDEZVOUS_ENV, means->rendezvous ? means->rendezvous : "");
    made[0] = pt_buf_take(&channel);
    made[1] = pt_buf_take(&rendezvous);
    for (size_t i = 0; i < count; i++) {
        if (!is_entry(environ[i], PT_CHANNEL_ENV) && !is_entry(environ[i], PT_RENDEZVOUS_ENV))
            made[kept++] = environ[i];
    }
    return made;
}

static int spawn(const char *path, const char *const *arguments, const struct pt_launch_means *means,
                 const sigset_t *mask, pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* which we ignore */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char **environment = make_environment(means);
    /* posix_spawn changes no argument, but its prototype lacks the const. */
    char *const *plain = (char *const *)(uintptr_t)arguments;
    int failed = posix_spawn(ret_pid, path, NULL, &attributes, plain, environment);
    posix_spawnattr_destroy(&attributes);
    free(environment[0]);
    free(environment[1]);
    free(environment);
    return failed;
}

enum pt_status pt_launch(const char *path, const char *const *arguments, const struct pt_launch_means *means,
                         struct pt_launched *ret_launched, struct pt_err *err)
{
    struct pt_launched launched = {.reader = means->reader, .pidfd = -1, .stop = -1};
    sigset_t all, before;
    enum pt_status status = start_guard(means->reader, &launched, err);
    if (status != PT_OK)
        return status;
    /* A signal that comes in between waits until it is known whom to send it to. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    catch_signals();
    signal(SIGPIPE, SIG_IGN); /* that our messages are not read is no reason to stop observing */
    int failed = spawn(path, arguments, means, &before, &launched.program);
    if (failed) {
        status = pt_err_set(err, PT_EIO, "'%s' cannot be run: %s", path, strerror(failed));
        stop_guard(&launched);
    } else {
        program = launched.program;
        if (means->ends) /* fails when the guard is gone: then nobody ends the program */
            (void)!write(launched.guard_pipe, &launched.program, sizeof launched.program);
        *ret_launched = launched;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

int pt_launch_usual(const char *path, const char *const *arguments, uint64_t patience)
{
    const uint64_t look = 1000 * 1000;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        execv(path, (char *const *)(uintptr_t)arguments);
        _exit(PT_EXIT_NOT_FOUND);
    }
    for (uint64_t waited = 0; child > 0; waited += look) {
        pid_t ended = waitpid(child, &status, waited < patience ? WNOHANG : 0);
        if (ended == child)
            return waited >= patience    ? -1
                   : WIFSIGNALED(status) ? PT_EXIT_SIGNAL + WTERMSIG(status)
                                         : WEXITSTATUS(status);
        if (ended < 0 && errno != EINTR)
            return -1;
        nanosleep(&(struct timespec){.tv_nsec = (long)look}, NULL);
        if (waited + look >= patience)
            kill(child, SIGKILL);
    }
    return -1;
}

enum pt_status pt_launch_attach(const struct pt_launched *attached, struct pt_launched *ret_launched,
                                struct pt_err *err)
{
    struct pt_launched launched = *attached;
    enum pt_status status = start_guard(launched.reader, &launched, err);
    if (status == PT_OK)
        *ret_launched = launched;
    return status;
}

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) > 0;
}

bool pt_launch_detach(struct pt_launched *launched)
{
    bool ended = is_readable(launched->pidfd);
    stop_guard(launched);
    return ended;
}

static bool adopts; /* children are followed */

void pt_launch_adopt(void)
{
    adopts = true;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* refused: the child's end is learned from kill */
}

static bool has_ended(pid_t process)
{
    siginfo_t info = {0};
    int result = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT);
    if (result != 0 && errno == ECHILD) /* not ours, or not yet: its own parent lives */
        return kill(process, 0) != 0 && errno == ESRCH;
    return result == 0 ? info.si_pid != 0 : errno != EINTR;
}

/* The child that is observed, 0: none. One that is being made shows up in a moment, or never. */
static pid_t followed(const struct pt_launched *launched)
{
    uint32_t process = adopts ? pt_channel_process(launched->reader) : 0;
    for (unsigned tries = 0; process == PT_PROCESS_FORKING && tries < 100; tries++) {
        struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
        nanosleep(&moment, NULL);
        process = pt_channel_process(launched->reader);
    }
    return process == PT_PROCESS_FORKING ? 0 : (pid_t)process;
}

void pt_launch_kill(const struct pt_launched *launched, int number)
{
    pid_t child = followed(launched);
    kill(child ? child : launched->program, number);
}

/* Whatever lost its parent and has ended: a server may leave many behind while it runs. */
static void bury(const struct pt_launched *launched)
{
    siginfo_t info = {0};
    if (adopts && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
        info.si_pid != launched->program && info.si_pid != launched->guard)
        waitpid(info.si_pid, NULL, WNOHANG);
}

bool pt_launch_is_over(const struct pt_launched *launched)
{
    bury(launched);
    if (launched->pidfd >= 0 && is_readable(launched->stop))
        return true;
    if (launched->pidfd >= 0 ? !is_readable(launched->pidfd) : !has_ended(launched->program))
        return false;
    pid_t child = followed(launched);
    if (!child)
        return true;
    program = child; /* who gets our signals now */
    return has_ended(child);
}

/* Living children by the kernel's list, which not every kernel has; then there is nobody to wait for. */
static uint32_t list_children(pid_t helper, pid_t *ret_left, uint32_t room)
{
    char path[64];
    long child;
    uint32_t count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%ld", &child) == 1) {
        if (child == (long)helper)
            continue;
        if (count < room)
            ret_left[count] = (pid_t)child;
        count++;
    }
    if (file)
        fclose(file);
    return count;
}

uint32_t pt_launch_left(pid_t helper, pid_t *ret_left, uint32_t room)
{
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid && info.si_pid != helper) {
        waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
    return list_children(helper, ret_left, room);
}

int pt_launch_end(struct pt_launched *launched)
{
    int status = 0;
    release_signals();
    while (waitpid(launched->program, &status, 0) < 0 && errno == EINTR)
        ;
    pid_t child = followed(launched);
    if (child)
        waitpid(child, NULL, WNOHANG);
    stop_guard(launched);
    launched->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFSIGNALED(status) ? PT_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
