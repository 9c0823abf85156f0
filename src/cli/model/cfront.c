#include "cli/model/cfront.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/common/prefix.h"
#include "net/program_text.h"

static enum pt_status start(char *const *arguments, int *ret_output, pid_t *ret_pid, struct pt_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pt_err_set(err, PT_EIO, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    int error = posix_spawn(ret_pid, arguments[0], &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    *ret_output = ends[0];
    if (error == 0)
        return PT_OK;
    close(ends[0]);
    return pt_err_set(err, PT_EIO, "cannot start %.300s: %s", arguments[0], strerror(error));
}

static void read_all(int fd, struct pt_buf *to)
{
    char block[65536];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        pt_buf_add(to, block, (size_t)got);
    }
}

static enum pt_status run(char *const *arguments, struct pt_program *program, struct pt_err *err)
{
    int output = -1, status = 0;
    pid_t pid = 0;
    if (start(arguments, &output, &pid, err) != PT_OK)
        return err->status;
    struct pt_buf text;
    pt_buf_init(&text);
    read_all(output, &text);
    close(output);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    enum pt_status result;
    if (WIFSIGNALED(status))
        result = pt_err_set(err, PT_EIO, "the C front end was ended by signal %d", WTERMSIG(status));
    else
        result = pt_program_parse(text.text ? text.text : "", text.len, program, err);
    pt_buf_release(&text);
    return result;
}

enum pt_status pt_cfront_read(const struct pt_cfront_sources *sources, struct pt_program *program, struct pt_err *err)
{
    char prefix[PATH_MAX], include[PATH_MAX + 64], path[PATH_MAX + 64], unroll[16], count[24];
    if (!pt_prefix_find(prefix, sizeof prefix) ||
        !pt_prefix_folder(prefix, "include", "portent.h", include, sizeof include))
        return pt_err_set(err, PT_EIO, "cannot find portent.h beside the program");
    snprintf(path, sizeof path, "%s/libexec/portent/portent-cfront", prefix);
    snprintf(unroll, sizeof unroll, "%u", sources->unroll);
    snprintf(count, sizeof count, "%zu", sources->file_count);
    char **arguments = pt_xcalloc(sources->file_count + sources->argument_count + 6, sizeof *arguments);
    size_t n = 0;
    arguments[n++] = path;
    arguments[n++] = unroll;
    arguments[n++] = (char *)(sources->wary ? "wary" : "plain");
    arguments[n++] = include;
    arguments[n++] = count;
    for (size_t i = 0; i < sources->file_count; i++)
        arguments[n++] = (char *)sources->files[i];
    for (size_t i = 0; i < sources->argument_count; i++)
        arguments[n++] = (char *)sources->arguments[i];
    enum pt_status status = run(arguments, program, err);
    free(arguments);
    return status;
}
