/*
 * The virtual clock. It begins at the time that was asked for, moves by a little with each step, and jumps to the end
 * of a sleep or a time limit when a thread is taken that waited for that. Whoever reads it again and again while nobody
 * else runs waits for it in a loop: it moves with each such read, the more the longer that goes on. Processor time and
 * clocks of other processes are the kernel's.
 *
 * Guarantee: the same schedule tells the same times, if the time of the beginning is given. Cost: none.
 */
#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"

static const uint64_t second = 1000000000, monotonic_at = 1000 * (uint64_t)1000000000; /* when the program began */

void pt_explore_clock_start(void)
{
    pt_run.clock = pt_run.input->clock ? pt_run.input->clock : pt_sys_wall();
    pt_run.clock_began = pt_run.clock;
    pt_run.clock_reads = pt_run.clock_read_in = 0;
}

bool pt_explore_has_clock(void)
{
    return pt_explore_on && !(pt_run.input->wishes & PT_EXPLORE_REAL_TIME) && pt_explore_slot() != PT_EXPLORE_NO_SLOT;
}

static bool is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static bool is_monotonic(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_BOOTTIME;
}

/* The first reads of a stretch cost nothing, as those of a program that notes times; a loop of a second ends after some
 * thousand reads. */
static void move_with_reads(void)
{
    enum { EACH = 256, MOST = 10, MICROSECOND = 1000 };
    if (pt_run.clock_read_in != pt_run.result->taken_count)
        pt_run.clock_reads = 0;
    pt_run.clock_read_in = pt_run.result->taken_count;
    uint64_t times = pt_run.clock_reads++ / EACH;
    if (times)
        pt_run.clock += (uint64_t)MICROSECOND << (times < MOST ? times : MOST);
}

bool pt_explore_clock(clockid_t clock, struct timespec *to)
{
    if (!pt_explore_has_clock() || !(is_wall(clock) || is_monotonic(clock)))
        return false;
    move_with_reads();
    pt_run.result->times |= pt_run.several ? PT_EXPLORE_CLOCK_READ : 0;
    uint64_t time = is_wall(clock) ? pt_run.clock : pt_run.clock - pt_run.clock_began + monotonic_at;
    to->tv_sec = (time_t)(time / second);
    to->tv_nsec = (long)(time % second);
    return true;
}

uint64_t pt_explore_after(uint64_t nanoseconds)
{
    return pt_run.clock + nanoseconds + !(pt_run.clock + nanoseconds);
}

uint64_t pt_explore_left(uint64_t deadline)
{
    return deadline > pt_run.clock ? deadline - pt_run.clock : 1;
}

uint64_t pt_explore_until(clockid_t clock, const struct timespec *limit)
{
    uint64_t time = limit->tv_sec < 0 ? 0 : (uint64_t)limit->tv_sec * second + (uint64_t)limit->tv_nsec;
    if (is_monotonic(clock))
        time = time < monotonic_at ? pt_run.clock_began : time - monotonic_at + pt_run.clock_began;
    return time + !time;
}
