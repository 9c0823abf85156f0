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

enum pt_status pt_spool(const char *path, char **ret_path, struct pt_err *err)
{
    const char *folder = getenv("TMPDIR");
    char name[4096], copied[64];
    int from = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot open '%s': %s", path, strerror(errno));
    snprintf(name, sizeof name, "%s/portent-pipe-XXXXXX", folder && *folder ? folder : "/tmp");
    int to = mkostemp(name, O_CLOEXEC);
    if (to >= 0)
        unlink(name);
    bool whole = to >= 0 && copy(from, to);
    int why = errno;
    if (from != STDIN_FILENO)
        close(from);
    if (!whole)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot keep what comes through the pipe: %s", strerror(why));
    snprintf(copied, sizeof copied, "/proc/self/fd/%d", to);
    *ret_path = pt_xstrdup(copied);
    return PT_OK;
}
