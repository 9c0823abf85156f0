#include "cli/prefix.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool pt_prefix_find(char *prefix, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", prefix, size - 1);
    if (len <= 0)
        return false;
    prefix[len] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return true;
}

bool pt_prefix_folder(const char *prefix, const char *folder, const char *file, char *ret, size_t size)
{
    char path[PATH_MAX + 256];
    snprintf(ret, size, "%s/%s", prefix, folder);
    snprintf(path, sizeof path, "%s/%s", ret, file);
    return access(path, R_OK) == 0;
}
