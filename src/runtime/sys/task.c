#include "runtime/sys/task.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

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

char pt_task_state(uint32_t tid)
{
    char path[64] = "/proc/self/task/", text[256];
    char *end = put_number(path + strlen(path), tid);
    strcpy(end, "/stat");
    int fd = pt_sys_open(path);
    if (fd < 0)
        return '\0';
    size_t len = pt_sys_read_at(fd, text, sizeof text - 1, 0);
    pt_sys_close(fd);
    text[len] = '\0';
    const char *name = strrchr(text, ')'); /* what is in between may hold anything */
    return name && name[1] == ' ' ? name[2] : '\0';
}
