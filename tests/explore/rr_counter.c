/*
 * A stand-in for the hardware counter that rr needs, for machines without one: preloaded into rr, not into what it
 * records (rr record -v LD_PRELOAD=). rr counts conditional branches of each task, to know how far a task had come when
 * something happened to it from outside: a signal, or the end of its time.
 *
 * Without RR_COUNTER in the environment the count is always 0. rr then records and replays whatever enters the kernel
 * by itself, in order, and what it does to a task at a place that its registers alone tell; time slices do not end.
 * With RR_COUNTER=clock, nanoseconds of processor time are counted: time slices end, as `rr record --chaos` needs it,
 * and nothing that was recorded can be replayed. Both need `rr record -n`: buffered system calls are counted in.
 *
 * And since Linux 6.13 a part of [vvar] has a name of its own, which rr 5.6 takes for ordinary memory and cannot read:
 * the two are told as one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES = 1 << 16, WORDS = 6, LINE = 8192 };
enum count { REAL, STANDS, RISES }; /* what a descriptor counts; RISES: rr looks whether counting works at all */
static uint8_t counts[FILES];

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* AMD's count of speculated locks: one that rises is a reason for rr to give up. */
static int is_speculation(const struct perf_event_attr *about)
{
    return about->type == PERF_TYPE_RAW && about->config == 0x510825;
}

static long open_instead(__typeof__(&syscall) real, const long *words)
{
    struct perf_event_attr about;
    memcpy(&about, (const void *)words[0], sizeof about);
    int own = words[1] == 0; /* of rr itself: it tries the counter */
    int clock =
        !own && about.type == PERF_TYPE_RAW && getenv("RR_COUNTER") && strcmp(getenv("RR_COUNTER"), "clock") == 0;
    int rises = own && !is_speculation(&about);
    about.type = PERF_TYPE_SOFTWARE;
    about.config = clock ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY;
    long fd = real(SYS_perf_event_open, &about, words[1], words[2], words[3], words[4]);
    if (fd >= 0 && fd < FILES)
        counts[fd] = clock ? REAL : rises ? RISES : STANDS;
    return fd;
}

long syscall(long number, ...)
{
    __typeof__(&syscall) real = NEXT(syscall);
    long words[WORDS];
    va_list list;
    va_start(list, number);
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    long result = real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (number != SYS_perf_event_open)
        return result;
    if (result < 0 && (errno == ENOENT || errno == EOPNOTSUPP))
        return open_instead(real, words);
    if (result >= 0 && result < FILES)
        counts[result] = REAL;
    return result;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    static uint64_t risen;
    if (fd < 0 || fd >= FILES || counts[fd] == REAL || bytes != sizeof risen)
        return NEXT(read)(fd, to, bytes);
    uint64_t value = counts[fd] == RISES ? (risen += 1000) : 0;
    memcpy(to, &value, sizeof value);
    return sizeof value;
}

int close(int fd)
{
    if (fd >= 0 && fd < FILES)
        counts[fd] = REAL;
    return NEXT(close)(fd);
}

/* ---- [vvar] ---- */

static FILE *ahead_of; /* a line of it was read too early */
static char ahead[LINE];

static char *end_of(char *line, size_t *ret_len)
{
    char *dash = strchr(line, '-');
    *ret_len = dash ? strspn(dash + 1, "0123456789abcdef") : 0;
    return dash ? dash + 1 : line;
}

char *fgets(char *to, int size, FILE *file)
{
    __typeof__(&fgets) real = NEXT(fgets);
    size_t len, other;
    if (ahead_of && ahead_of == file) {
        ahead_of = NULL;
        snprintf(to, (size_t)size, "%s", ahead);
        return to;
    }
    if (!real(to, size, file))
        return NULL;
    if (!strstr(to, " [vvar]\n") || !real(ahead, sizeof ahead, file))
        return to;
    char *end = end_of(to, &len), *last = end_of(ahead, &other);
    if (strstr(ahead, " [vvar_vclock]\n") && len && len == other)
        memcpy(end, last, len);
    else
        ahead_of = file;
    return to;
}
