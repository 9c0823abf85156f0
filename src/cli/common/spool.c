#include "cli/common/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

bool pt_spool_is_pipe(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

/* Whether all of it was copied; errno says why not. */
static bool copy(int from, int to)
{
    char bytes[1 << 16];
    ssize_t got;
    while ((got = read(from, bytes, sizeof bytes)) != 0) {
        if (got < 0 && errno != EINTR)
            return false;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, bytes + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR)
                return false;
            done += put < 0 ? 0 : put;
        }
    }
    return true;
}

enum pt_status pt_spool_open(int *ret_fd, char **ret_path, struct pt_err *err)
{
    const char *folder = getenv("TMPDIR");
    char name[4096], path[64];
    folder = folder && *folder ? folder : "/tmp";
    snprintf(name, sizeof name, "%s/portent-pipe-XXXXXX", folder);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return pt_err_set(err, PT_EIO, "there can be no temporary file in '%s': %s", folder, strerror(errno));
    unlink(name);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *ret_fd = fd;
    *ret_path = pt_xstrdup(path);
    return PT_OK;
}

enum pt_status pt_spool(const char *path, char **ret_path, struct pt_err *err)
{
    int to, from = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *copied = NULL;
    if (from < 0)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot open '%s': %s", path, strerror(errno));
    enum pt_status status = pt_spool_open(&to, &copied, err);
    if (status == PT_OK && !copy(from, to))
        status = pt_err_at(err, PT_EIO, path, 0, 0, "cannot keep what comes through the pipe: %s", strerror(errno));
    if (from != STDIN_FILENO)
        close(from);
    if (status != PT_OK) {
        free(copied);
        return status;
    }
    *ret_path = copied;
    return PT_OK;
}
