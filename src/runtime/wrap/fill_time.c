/*
 * Functions that fill memory with times, and with what is known of the system.
 *
 * Guarantee: what they return is the real functions'. Cost: that of fill.c.
 */
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"

static void fixed(const struct pt_site *site, const void *memory, size_t size, bool done)
{
    if (done)
        pt_fill(site, memory, size);
}

/* Where threads are scheduled time is virtual: true, this is it. */
static bool explored(clockid_t clock, struct timespec *to)
{
    return __builtin_expect(pt_explore_on, 0) && pt_explore_clock(clock, to);
}
static bool explored_day(struct timeval *to)
{
    struct timespec now;
    if (!to || !explored(CLOCK_REALTIME, &now))
        return false;
    *to = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return true;
}
/* `played`: time is virtual, and what is filled has been; then the result is `virtually`. */
#define TELLING(returns, name, parameters, arguments, played, virtually, done)                                         \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        returns result = (played) ? (virtually) : PT_REAL(name) arguments;                                             \
        fixed(site, to, sizeof *to, done);                                                                             \
        return result;                                                                                                 \
    }

PT_WRAP(time_t, time, (time_t * to))
{
    const struct pt_site *site = pt_call_take_fill();
    struct timespec now;
    bool played = explored(CLOCK_REALTIME, &now);
    time_t result = played ? now.tv_sec : PT_REAL(time)(to);
    if (played && to)
        *to = result;
    fixed(site, to, sizeof *to, result != (time_t)-1);
    return result;
}
TELLING(int, gettimeofday, (struct timeval * to, void *zone), (to, zone), explored_day(to), 0, result == 0)
TELLING(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), explored(clock, to), 0, result == 0)
pt_sys_clock *pt_wrap_real_clock(void)
{
    return PT_REAL(clock_gettime);
}
PT_FILLING(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to),
           fixed(site, to, sizeof *to, result == 0))
TELLING(int, timespec_get, (struct timespec * to, int base), (to, base),
        base == TIME_UTC && explored(CLOCK_REALTIME, to), TIME_UTC, result != 0)
PT_FILLING(struct tm *, localtime_r, (const time_t *from, struct tm *to), (from, to),
           fixed(site, to, sizeof *to, result))
PT_FILLING(struct tm *, gmtime_r, (const time_t *from, struct tm *to), (from, to), fixed(site, to, sizeof *to, result))
PT_FILLING(char *, asctime_r, (const struct tm *from, char *to), (from, to), pt_fill_text(site, result))
PT_FILLING(char *, ctime_r, (const time_t *from, char *to), (from, to), pt_fill_text(site, result))
/* What is returned is one object for all threads, so only those who guard it may call these: a library's calls, of
 * whose locks little is known, are left out. */
PT_FILLING(struct tm *, localtime, (const time_t *from), (from), fixed(site, result, sizeof *result, site))
PT_FILLING(struct tm *, gmtime, (const time_t *from), (from), fixed(site, result, sizeof *result, site))
PT_FILLING(char *, asctime, (const struct tm *from), (from), if (site) pt_fill_text(site, result))
PT_FILLING(char *, ctime, (const time_t *from), (from), if (site) pt_fill_text(site, result))
PT_FILLING(size_t, strftime, (char *to, size_t size, const char *format, const struct tm *time),
           (to, size, format, time), fixed(site, to, result + 1, result != 0))

PT_FILLING(clock_t, times, (struct tms * to), (to), fixed(site, to, sizeof *to, true))
PT_FILLING(int, uname, (struct utsname * to), (to), fixed(site, to, sizeof *to, result == 0))
PT_FILLING(int, gethostname, (char *to, size_t size), (to, size), if (result == 0) pt_fill_text(site, to))
PT_FILLING(int, getrusage, (__rusage_who_t who, struct rusage *to), (who, to), fixed(site, to, sizeof *to, result == 0))
PT_FILLING(int, getrlimit, (__rlimit_resource_t which, struct rlimit *to), (which, to),
           fixed(site, to, sizeof *to, result == 0))
PT_FILLING(int, sysinfo, (struct sysinfo * to), (to), fixed(site, to, sizeof *to, result == 0))
