/*
 * Processors that may be used. The mask of the process says where it may run; a container's share of time is a quota of
 * its control group or of one above it: `cpu.max` in version 2, `cpu.cfs_quota_us` and `cpu.cfs_period_us` in version
 * 1. What cannot be read limits nothing. Guarantee: at least 1, never more than the mask has. Cost: a few small files,
 * read once.
 */
#include "cli/common/cores.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static unsigned quota_in(const char *folder, unsigned cores)
{
    char line[128], period[128];
    double time, every;
    if (first_line(folder, "cpu.max", line, sizeof line) && sscanf(line, "%lf %lf", &time, &every) == 2)
        return quota(time, every, cores);
    if (first_line(folder, "cpu.cfs_quota_us", line, sizeof line) &&
        first_line(folder, "cpu.cfs_period_us", period, sizeof period))
        return quota(strtod(line, NULL), strtod(period, NULL), cores);
    return cores;
}

/* The group and those above it, as far as they can be seen below the mount. */
static unsigned quota_up(const char *mount, const char *group, unsigned cores)
{
    char folder[PATH_MOST];
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder)
        return cores;
    for (;;) {
        cores = quota_in(folder, cores);
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < strlen(mount))
            return cores;
        *slash = '\0';
    }
}

unsigned pt_cores(void)
{
    unsigned cores = cores_of_mask();
    char line[PATH_MOST];
    FILE *file = cores > 1 ? fopen("/proc/self/cgroup", "re") : NULL;
    while (file && fgets(line, sizeof line, file)) { /* number:controllers:/path */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (!*controllers)
            cores = quota_up("/sys/fs/cgroup", group, cores);
        else if (strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0)
            cores = quota_up("/sys/fs/cgroup/cpu", group, cores);
    }
    if (file)
        fclose(file);
    return cores;
}
