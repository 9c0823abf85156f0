/*
 * Which files a report may quote. Whoever forges a result or a trace chooses its places and its roots alike, so neither
 * is believed: a file is opened only if it lies below a folder that the user has chosen, by standing in it or by
 * --source-root, and a root that a result records can only narrow the current folder.
 *
 * There are two tests. The path as written, without its "..", must lie in a chosen folder; else it is not even looked
 * at, since looking can wake a mount. What was then found, with every link resolved, must be a regular file below a
 * root; it is held by a descriptor that opens nothing (O_PATH), so that no pipe blocks, no device notices, and nobody
 * can put another file in its place between the test and the reading. Cost of a file: some system calls for each root.
 */
#include "cli/common/source_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

struct folders {
    char **paths; /* absolute, without "..", "." and doubled slashes */
    uint32_t count;
    size_t cap;
};

struct pt_source_roots {
    char *here;            /* the current folder, NULL: it has none */
    struct folders chosen; /* as the user or a compiler may write them */
    struct folders roots;  /* links resolved */
};

/* Puts an absolute path without "..", "." and doubled slashes into `buf`. */
static void normalise(const char *path, struct pt_buf *buf)
{
    pt_buf_init(buf);
    pt_buf_puts(buf, "");
    while (*path) {
        path += strspn(path, "/");
        size_t len = strcspn(path, "/");
        if (len == 2 && strncmp(path, "..", 2) == 0) {
            while (buf->len && buf->text[--buf->len] != '/')
                ;
            buf->text[buf->len] = '\0';
        } else if (len && !(len == 1 && *path == '.')) {
            pt_buf_puts(buf, "/");
            pt_buf_add(buf, path, len);
        }
        path += len;
    }
    if (!buf->len)
        pt_buf_puts(buf, "/");
}

static bool is_below(const char *path, const char *folder)
{
    size_t len = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_in(const struct folders *folders, const char *path)
{
    for (uint32_t i = 0; i < folders->count; i++)
        if (is_below(path, folders->paths[i]))
            return true;
    return false;
}

/* `path` seen from `base`. */
static void join(const char *base, const char *path, struct pt_buf *buf)
{
    pt_buf_init(buf);
    if (path[0] != '/')
        pt_buf_printf(buf, "%s/", base);
    pt_buf_puts(buf, path);
}

static void push(struct folders *folders, const char *path)
{
    struct pt_buf buf;
    normalise(path, &buf);
    PT_PUSH(folders->paths, folders->count, folders->cap, pt_buf_take(&buf));
}

static void release(struct folders *folders)
{
    for (uint32_t i = 0; i < folders->count; i++)
        free(folders->paths[i]);
    free(folders->paths);
}

/* The current folder as the shell calls it, by which compilers write their paths; NULL: as the system does. */
static const char *shell_folder(void)
{
    const char *name = getenv("PWD");
    struct stat named, here;
    bool same = name && name[0] == '/' && stat(name, &named) == 0 && stat(".", &here) == 0 &&
                named.st_dev == here.st_dev && named.st_ino == here.st_ino;
    return same ? name : NULL;
}

struct pt_source_roots *pt_source_roots_new(void)
{
    struct pt_source_roots *roots = pt_xcalloc(1, sizeof *roots);
    const char *name = shell_folder();
    roots->here = realpath(".", NULL);
    if (roots->here)
        push(&roots->chosen, roots->here);
    if (name)
        push(&roots->chosen, name);
    return roots;
}

void pt_source_roots_free(struct pt_source_roots *roots)
{
    release(&roots->chosen);
    release(&roots->roots);
    free(roots->here);
    free(roots);
}

enum pt_status pt_source_roots_add(struct pt_source_roots *roots, const char *folder, struct pt_err *err)
{
    struct stat info;
    struct pt_buf path;
    char *real = realpath(folder, NULL);
    if (!real || stat(real, &info) != 0 || !S_ISDIR(info.st_mode)) {
        (void)pt_err_set(err, PT_EIO, "--source-root: cannot use '%.200s': %s", folder,
                         strerror(real ? ENOTDIR : errno));
        free(real);
        return PT_EIO;
    }
    if (folder[0] == '/' || roots->here) {
        join(roots->here, folder, &path);
        push(&roots->chosen, path.text);
        pt_buf_release(&path);
    }
    push(&roots->chosen, real);
    push(&roots->roots, real);
    free(real);
    return PT_OK;
}

/* Of a recorded root, the part that lies in the current folder. */
static void record(struct pt_source_roots *roots, const char *recorded)
{
    struct pt_buf path;
    if (recorded[0] != '/')
        return;
    normalise(recorded, &path);
    char *real = is_below(path.text, roots->here) ? realpath(path.text, NULL) : NULL;
    if (is_below(roots->here, path.text))
        push(&roots->roots, roots->here);
    else if (real && is_below(real, roots->here))
        push(&roots->roots, real);
    free(real);
    pt_buf_release(&path);
}

void pt_source_roots_record(struct pt_source_roots *roots, const char *const *recorded)
{
    if (!roots->here)
        return;
    if (!recorded)
        push(&roots->roots, roots->here);
    for (; recorded && *recorded; recorded++)
        record(roots, *recorded);
}

/* Whether `fd`, which O_PATH gave, is a regular file below a root; `name` is its name under /proc. */
static bool may_read(const struct pt_source_roots *roots, int fd, const char *name)
{
    char real[PATH_MAX];
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    ssize_t len = readlink(name, real, sizeof real);
    if (len <= 0 || len == (ssize_t)sizeof real || real[0] != '/')
        return false;
    real[len] = '\0';
    return is_in(&roots->roots, real);
}

static int open_at(const struct pt_source_roots *roots, const char *base, const char *path)
{
    struct pt_buf whole, plain;
    char name[32];
    int found = -1, fd = -1;
    join(base, path, &whole);
    normalise(whole.text, &plain);
    if (is_in(&roots->chosen, plain.text))
        found = open(whole.text, O_PATH | O_CLOEXEC);
    if (found >= 0) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", found);
        if (may_read(roots, found, name))
            fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        close(found);
    }
    pt_buf_release(&plain);
    pt_buf_release(&whole);
    return fd;
}

int pt_source_roots_open(const struct pt_source_roots *roots, const char *path)
{
    int fd = -1;
    if (roots->here || path[0] == '/')
        fd = open_at(roots, roots->here, path);
    for (uint32_t i = 0; i < roots->roots.count && fd < 0 && path[0] != '/'; i++)
        fd = open_at(roots, roots->roots.paths[i], path);
    return fd;
}
