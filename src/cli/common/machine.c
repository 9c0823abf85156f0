/*
 * Processors and memory that may be used. The mask of the process says where it may run; a container's share of time is
 * a quota of its control group or of one above it: `cpu.max` in version 2, `cpu.cfs_quota_us` and `cpu.cfs_period_us`
 * in version 1; of memory it is `memory.max` and `memory.limit_in_bytes`. What cannot be read limits nothing.
 * Guarantee: at least 1, never more than the mask has. Cost: a few small files, read once.
 */
#include "cli/common/machine.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };

static unsigned cores_of_mask(void)
{
    for (int most = CPU_SETSIZE; most <= 64 * CPU_SETSIZE; most *= 4) { /* the kernel refuses what is too small */
        size_t size = CPU_ALLOC_SIZE(most);
        cpu_set_t *set = CPU_ALLOC(most);
        int found = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (found > 0)
            return (unsigned)found;
    }
    return 1;
}

static bool first_line(const char *folder, const char *name, char *line, size_t size)
{
    char path[PATH_MOST];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    return read;
}

/* Whole processors' worth of a quota, rounded up: what is left over is used as well. */
static unsigned quota(double time, double period, unsigned cores)
{
    if (time <= 0 || period <= 0 || time / period >= cores)
        return cores;
    unsigned whole = (unsigned)(time / period);
    return whole < time / period ? whole + 1 : whole;
}

static void quota_in(const char *folder, void *context)
{
    unsigned *cores = context;
    char line[128], period[128];
    double time, every;
    if (first_line(folder, "cpu.max", line, sizeof line) && sscanf(line, "%lf %lf", &time, &every) == 2)
        *cores = quota(time, every, *cores);
    else if (first_line(folder, "cpu.cfs_quota_us", line, sizeof line) &&
             first_line(folder, "cpu.cfs_period_us", period, sizeof period))
        *cores = quota(strtod(line, NULL), strtod(period, NULL), *cores);
}

static void memory_in(const char *folder, void *context)
{
    uint64_t *bytes = context;
    char line[128];
    if (!first_line(folder, "memory.max", line, sizeof line) &&
        !first_line(folder, "memory.limit_in_bytes", line, sizeof line))
        return;
    char *end;
    uint64_t most = strtoull(line, &end, 10); /* "max": as much as there is */
    if (end > line && most > 0 && most < *bytes)
        *bytes = most;
}

/* The group and those above it, as far as they can be seen below the mount. */
static void look_up(const char *mount, const char *group, void (*look)(const char *folder, void *context),
                    void *context)
{
    char folder[PATH_MOST];
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder)
        return;
    for (;;) {
        look(folder, context);
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < strlen(mount))
            return;
        *slash = '\0';
    }
}

/* Whether a list, separated by commas, begins with the controller. */
static bool begins_with(const char *controllers, const char *controller)
{
    size_t length = strlen(controller);
    return strncmp(controllers, controller, length) == 0 && (!controllers[length] || controllers[length] == ',');
}

/* All groups of the process that have to do with the controller. */
static void look_at_groups(const char *controller, void (*look)(const char *folder, void *context), void *context)
{
    char line[PATH_MOST], mount[64];
    FILE *file = fopen("/proc/self/cgroup", "re");
    snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    while (file && fgets(line, sizeof line, file)) { /* number:controllers:/path */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (!*controllers)
            look_up("/sys/fs/cgroup", group, look, context);
        else if (begins_with(controllers, controller))
            look_up(mount, group, look, context);
    }
    if (file)
        fclose(file);
}

unsigned pt_cores(void)
{
    unsigned cores = cores_of_mask();
    if (cores > 1)
        look_at_groups("cpu", quota_in, &cores);
    return cores;
}

uint64_t pt_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
    struct rlimit limit;
    look_at_groups("memory", memory_in, &bytes);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        bytes = limit.rlim_cur;
    return bytes;
}
