/*
 * Each child is this same program, leader of a process group of its own, so that whatever it has started can be ended
 * with it. Signals of the terminal therefore reach us alone, and are sent on. Waiting is by a pidfd, with looks at the
 * clock and at Ctrl-C between. Guarantee: when pt_child_run returns, the child has been waited for; after a cut nothing
 * of its group is left.
 */
#include "cli/ci/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/common/interrupt.h"
#include "cli/common/progress.h"

enum { GRACE_S = 10, LOOK_MS = 100, CANNOT_RUN = 127, SIGNALLED = 128 };

static const uint64_t second = 1000000000;

void pt_words_list_add(struct pt_words_list *list, const char *word)
{
    PT_PUSH(list->items, list->count, list->cap, pt_xstrdup(word));
    PT_PUSH(list->items, list->count, list->cap, NULL);
    list->count--;
}

void pt_words_list_addf(struct pt_words_list *list, const char *fmt, ...)
{
    char *word;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&word, fmt, ap) < 0)
        abort(); /* it fails on lack of memory only */
    va_end(ap);
    pt_words_list_add(list, word);
    free(word);
}

void pt_words_list_release(struct pt_words_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct pt_words_list){0};
}

static _Noreturn void become(const struct pt_words_list *words, const struct pt_child *child)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), out = STDOUT_FILENO;
    setpgid(0, 0);
    if (child->output)
        out = open(child->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    char **argv = pt_xcalloc((size_t)words->count + 2, sizeof *argv);
    argv[0] = (char[]){"portent"};
    memcpy(argv + 1, words->items, words->count * sizeof *argv);
    if (in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) == STDIN_FILENO && dup2(out, STDOUT_FILENO) == STDOUT_FILENO &&
        (!child->folder || chdir(child->folder) == 0)) {
        static const int given_back[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < sizeof given_back / sizeof *given_back; i++)
            signal(given_back[i], SIG_DFL);
        execv("/proc/self/exe", argv);
    }
    fprintf(stderr, "portent ci: %s cannot be started: %s\n", words->items[0], strerror(errno));
    _exit(CANNOT_RUN);
}

/* Until it has ended, or until the moment; true: it has ended. */
static bool wait_until(int pidfd, uint64_t moment, bool heed_interrupt)
{
    struct pollfd wanted = {.fd = pidfd, .events = POLLIN};
    for (;;) {
        int ready = poll(&wanted, 1, LOOK_MS);
        if (ready > 0)
            return true;
        if ((moment && pt_progress_now() >= moment) || (heed_interrupt && pt_interrupted()))
            return false;
    }
}

int pt_child_run(const struct pt_words_list *words, struct pt_child *child)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(words, child);
    int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (pidfd < 0) {
        fprintf(stderr, "portent ci: %s cannot be started: %s\n", words->items[0], strerror(errno));
        if (pid > 0 && kill(pid, SIGKILL) == 0)
            (void)waitpid(pid, &status, 0);
        return CANNOT_RUN;
    }
    setpgid(pid, pid);
    child->cut = !wait_until(pidfd, child->deadline, true);
    if (child->cut) {
        kill(pid, child->signal ? child->signal : SIGTERM);
        (void)wait_until(pidfd, pt_progress_now() + GRACE_S * second, false);
        kill(-pid, SIGKILL);
    }
    close(pidfd);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}
