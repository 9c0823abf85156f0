/* Where the installation and the runtime library are. */
#include "cli/common/prefix.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

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

/* The folder of the runtime that holds `file`. */
bool pt_prefix_runtime(const char *prefix, const char *file, char *ret, size_t size)
{
    static const char *const folders[] = {"lib", PORTENT_LIBDIR};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (pt_prefix_folder(prefix, folders[i], file, ret, size))
            return true;
    return false;
}

char *pt_prefix_shared_runtime(void)
{
    static const char file[] = "libportent-rt.so";
    char prefix[PATH_MAX], folder[PATH_MAX + 64];
    struct pt_buf path;
    if (!pt_prefix_find(prefix, sizeof prefix) || !pt_prefix_runtime(prefix, file, folder, sizeof folder))
        return NULL;
    pt_buf_init(&path);
    pt_buf_printf(&path, "%s/%s", folder, file);
    return pt_buf_take(&path);
}
