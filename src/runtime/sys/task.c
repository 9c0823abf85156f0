/*
 * Processes and tasks by system calls and what /proc says of them. Guarantee: no call touches errno, allocates, or is a
 * cancellation point. Cost: a system call each; three and some text for what /proc says.
 */
#include "runtime/sys/task.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/sys/sys.h"

bool pt_task_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t nanoseconds)
{
    struct timespec limit = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                             .tv_nsec = (long)(nanoseconds % 1000000000u)};
    return pt_sys_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, seen,
                       nanoseconds == PT_TASK_FOR_EVER ? 0 : (long)&limit) != -ETIMEDOUT;
}

void pt_task_wake(_Atomic uint32_t *word)
{
    pt_sys_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0);
}

void pt_task_pin(uint32_t processor)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&allowed);
    CPU_ZERO(&one);
    if (pt_sys_call(SYS_sched_getaffinity, 0, sizeof allowed, (long)&allowed, 0) <= 0 || !CPU_COUNT(&allowed))
        return;
    uint32_t skip = processor % (uint32_t)CPU_COUNT(&allowed);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && !skip--) {
            CPU_SET(cpu, &one);
            break;
        }
    pt_sys_call(SYS_sched_setaffinity, 0, sizeof one, (long)&one, 0);
}

void pt_task_yield(void)
{
    pt_sys_call(SYS_sched_yield, 0, 0, 0, 0);
}

void pt_task_die_with_parent(void)
{
    pt_sys_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
}

uint32_t pt_task_await_child(uint32_t child)
{
    int status = 0;
    while (pt_sys_call(SYS_wait4, (long)child, (long)&status, 0, 0) == -EINTR)
        ;
    return (uint32_t)status;
}

/* It yields at first, since the thread usually waits for this processor; then sleeps. */
void pt_task_await_end(uint32_t tid)
{
    enum { YIELDS = 100, SHORT = 20 * 1000 };
    long process = (long)pt_sys_process();
    if ((long)tid == process)
        return; /* the first thread stays as long as the process */
    for (unsigned turn = 0; pt_sys_call(SYS_tgkill, process, (long)tid, 0, 0) == 0; turn++)
        if (turn < YIELDS)
            pt_task_yield();
        else
            pt_sys_sleep(SHORT);
}

static char *put_number(char *to, uint32_t number)
{
    char digits[12];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

static bool read_path(const char *path, char *text, size_t room)
{
    int fd = pt_sys_open(path);
    if (fd < 0)
        return false;
    size_t len = pt_sys_read_at(fd, text, room - 1, 0);
    pt_sys_close(fd);
    text[len] = '\0';
    return true;
}

/* A file of /proc about a task, as much as there is room for. */
static bool read_about(uint32_t tid, const char *file, char *text, size_t room)
{
    char path[64] = "/proc/self/task/";
    strcpy(put_number(path + strlen(path), tid), file);
    return read_path(path, text, room);
}

/* Of the calling thread: the first one may have ended, and the process has none under its name any more. */
bool pt_task_about_file(int fd, char *text, size_t room)
{
    char path[64] = "/proc/thread-self/fdinfo/";
    *put_number(path + strlen(path), (uint32_t)fd) = '\0';
    return read_path(path, text, room);
}

bool pt_task_file_sort(int fd, char *text, size_t room)
{
    char path[64] = "/proc/thread-self/fd/";
    *put_number(path + strlen(path), (uint32_t)fd) = '\0';
    long len = pt_sys_call(SYS_readlink, (long)path, (long)text, (long)room - 1, 0);
    if (len < 0)
        return false;
    text[len] = '\0';
    return true;
}

int64_t pt_task_file_place(int fd)
{
    return pt_sys_call(SYS_lseek, fd, 0, SEEK_CUR, 0);
}

void pt_task_set_file_place(int fd, int64_t place)
{
    (void)pt_sys_call(SYS_lseek, fd, place, SEEK_SET, 0);
}

static uint64_t hexadecimal(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint64_t value = 0;
    for (at = at ? at + strlen(name) : ""; *at; at++) {
        unsigned digit = *at >= '0' && *at <= '9' ? (unsigned)(*at - '0') : (unsigned)(*at - 'a') + 10;
        if (digit > 15)
            break;
        value = value << 4 | digit;
    }
    return value;
}

bool pt_task_signals(uint32_t tid, uint64_t *ret_blocked, uint64_t *ret_pending)
{
    char text[4096];
    if (!read_about(tid, "/status", text, sizeof text))
        return false;
    *ret_blocked = hexadecimal(text, "\nSigBlk:\t");
    if (ret_pending)
        *ret_pending = hexadecimal(text, "\nSigPnd:\t") | hexadecimal(text, "\nShdPnd:\t");
    return true;
}

bool pt_task_queue_signal(int signal, const siginfo_t *info)
{
    return pt_sys_call(SYS_rt_sigqueueinfo, (long)pt_sys_process(), signal, (long)info, 0) == 0;
}

static const uint64_t second = 1000000000, microsecond = 1000;

static struct timeval time_of(uint64_t nanoseconds)
{
    return (struct timeval){.tv_sec = (time_t)(nanoseconds / second),
                            .tv_usec = (suseconds_t)((nanoseconds % second + microsecond - 1) / microsecond)};
}

uint64_t pt_task_alarm(uint64_t nanoseconds, uint64_t interval)
{
    struct itimerval now = {.it_value = time_of(nanoseconds), .it_interval = time_of(interval)}, before = {0};
    (void)pt_sys_call(SYS_setitimer, ITIMER_REAL, (long)&now, (long)&before, 0);
    return (uint64_t)before.it_value.tv_sec * second + (uint64_t)before.it_value.tv_usec * microsecond;
}

/* As one that was first over so many intervals ago, and is not again for long. */
bool pt_task_expire_file(int fd, uint64_t times)
{
    enum { INTERVAL = 1000, ABSOLUTE = 1 };
    time_t now = (time_t)(pt_sys_wall() / second), first = now - INTERVAL / 2 - (time_t)(times - 1) * INTERVAL;
    struct itimerspec time = {.it_value.tv_sec = first > 0 ? first : 1, .it_interval.tv_sec = INTERVAL};
    return pt_sys_call(SYS_timerfd_settime, fd, ABSOLUTE, (long)&time, 0) == 0;
}

static bool take_number(const char **text, uint64_t *ret_number)
{
    const char *begin = *text;
    for (*ret_number = 0;; (*text)++) {
        char c = **text;
        if (c >= '0' && c <= '9')
            *ret_number = *ret_number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *ret_number = *ret_number << 4 | (uint64_t)(c - 'a' + 10);
        else
            return *text != begin;
    }
}

/* A line is "from-to rw-s ...". */
bool pt_task_shares(const void *address)
{
    enum { ROOM = 1 << 22 };
    int fd = pt_sys_open("/proc/self/maps");
    char *text = fd < 0 ? NULL : pt_sys_reserve(ROOM);
    size_t bytes = text ? pt_sys_read_at(fd, text, ROOM - 1, 0) : 0;
    bool shared = true;
    for (const char *at = text; text && at < text + bytes;) {
        uint64_t from, to;
        if (!take_number(&at, &from) || *at++ != '-' || !take_number(&at, &to))
            break;
        if ((uintptr_t)address >= from && (uintptr_t)address < to) {
            shared = text + bytes - at > 4 && at[4] == 's';
            break;
        }
        while (at < text + bytes && *at++ != '\n')
            ;
    }
    if (text)
        pt_sys_release(text, ROOM);
    if (fd >= 0)
        pt_sys_close(fd);
    return shared;
}

char pt_task_state(uint32_t tid)
{
    char text[256];
    if (!read_about(tid, "/stat", text, sizeof text))
        return '\0';
    const char *name = strrchr(text, ')'); /* what is in between may hold anything */
    return name && name[1] == ' ' ? name[2] : '\0';
}
