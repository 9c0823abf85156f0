/*
 * A library to be preloaded that makes programs paced by pauses have the same run on every machine, however busy.
 *
 * A pause ends when three things hold: its time is over; no other thread has a pause that ends earlier by the
 * schedule; and every other thread rests, in a pause or blocked. The schedule counts pauses alone: work takes no time
 * in it, so it does not matter how long the machine holds a thread up. Pauses that end at the same time end in the
 * order in which they began.
 *
 * Guarantee: at the end of a pause nothing is still under way that was to come before it. A thread rests when the
 * kernel says so (state S) and it has not run between two looks; all have then been at rest at one moment, and none can
 * go on by itself. Waiting with a time limit, and for other processes, counts as resting.
 *
 * Cost: a pause is longer than asked by some 0.1 ms, or by what others still have to do.
 *
 * Nothing here may itself be an event of the program that is tested, so everything is done by raw system calls. Portent
 * itself is left alone: it is not what is paced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAUSES = 64, PATIENCE_S = 60, LOOK_NS = 100 * 1000 };

struct pause {
    long thread; /* 0: free */
    int64_t end; /* by the schedule */
    uint64_t turn;
};

/* All under `lock`, for which threads wait without resting. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static struct pause pauses[PAUSES];
static int64_t schedule; /* when the last pause ended */
static uint64_t turns;
static bool off;

__attribute__((constructor)) static void start(void)
{
    off = strcmp(program_invocation_short_name, "portent") == 0;
}

static void take(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        syscall(SYS_sched_yield);
}

static void give(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static int64_t now(void)
{
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void sleep_until(int64_t end)
{
    struct timespec time = {end / 1000000000, end % 1000000000};
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0 && errno == EINTR)
        continue;
}

static bool is_pausing(long thread)
{
    for (int i = 0; i < PAUSES; i++)
        if (pauses[i].thread == thread)
            return true;
    return false;
}

/* Adds the thread, and how often it has run, to the sum. False: it does not rest. */
static bool add_thread(long thread, uint64_t *sum)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
    int file = (int)syscall(SYS_open, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true; /* it has ended */
    long length = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[length > 0 ? length : 0] = '\0';
    const char *state = strstr(text, "\nState:\t"), *runs = strstr(text, "\nvoluntary_ctxt_switches:\t");
    if (!state || !runs)
        return length <= 0; /* it has ended meanwhile, or the kernel does not say */
    *sum = (*sum ^ (uint64_t)thread) * UINT64_C(1099511628211);
    *sum = (*sum ^ strtoull(runs + strlen("\nvoluntary_ctxt_switches:\t"), NULL, 10)) * UINT64_C(1099511628211);
    return strchr("SZX", state[strlen("\nState:\t")]) != NULL;
}

/* Whether every thread rests that is not pausing; what they have done so far goes into the sum. */
static bool look(uint64_t *sum)
{
    char entries[4096] __attribute__((aligned(8)));
    bool rest = true;
    int folder = (int)syscall(SYS_open, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long length;
    *sum = 0;
    while (rest && (length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < length && rest; at += ((struct dirent64 *)(entries + at))->d_reclen) {
            long thread = strtol(((struct dirent64 *)(entries + at))->d_name, NULL, 10);
            if (thread > 0 && !is_pausing(thread))
                rest = add_thread(thread, sum);
        }
    syscall(SYS_close, folder);
    return rest;
}

static bool all_rest(void)
{
    uint64_t before, after;
    return look(&before) && look(&after) && before == after;
}

static bool is_next(const struct pause *mine)
{
    for (int i = 0; i < PAUSES; i++)
        if (pauses[i].thread &&
            (pauses[i].end < mine->end || (pauses[i].end == mine->end && pauses[i].turn < mine->turn)))
            return false;
    return true;
}

static void fail(const char *why)
{
    syscall(SYS_write, 2, why, strlen(why));
    abort();
}

static struct pause *begin(int64_t length)
{
    struct pause *mine = pauses;
    take();
    while (mine < pauses + PAUSES && mine->thread)
        mine++;
    if (mine == pauses + PAUSES)
        fail("steady: too many threads pause at once\n");
    *mine = (struct pause){syscall(SYS_gettid), schedule + length, turns++};
    give();
    return mine;
}

static void steady_pause(int64_t length)
{
    int64_t time_over = now() + length;
    if (off) {
        sleep_until(time_over);
        return;
    }
    struct pause *mine = begin(length);
    sleep_until(time_over);
    for (;;) {
        take();
        if (is_next(mine) && all_rest())
            break;
        give();
        if (now() > time_over + PATIENCE_S * INT64_C(1000000000))
            fail("steady: the other threads do not come to rest\n");
        sleep_until(now() + LOOK_NS);
    }
    schedule = mine->end;
    mine->thread = 0;
    give();
}

int usleep(useconds_t time)
{
    steady_pause((int64_t)time * 1000);
    return 0;
}

unsigned sleep(unsigned seconds)
{
    steady_pause(seconds * INT64_C(1000000000));
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    steady_pause(time->tv_sec * INT64_C(1000000000) + time->tv_nsec);
    return 0;
}

/* Newer C++ libraries pause by this one. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (flags & TIMER_ABSTIME)
        return syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
    return nanosleep(time, left);
}
