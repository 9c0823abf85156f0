/*
 * Jobs and their intermediate files.
 *
 * Everything temporary lives in one private folder (mkdtemp), so that removing it is removing all of it. The signal
 * handler does that, too, with system calls alone (opendir allocates): a compiler that is interrupted by make must
 * leave nothing behind. A signal sent to the driver only (make -j and timeouts do) is passed on to the running job
 * before.
 */
#include "instrument/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char workdir[4096];                /* "" when there is none */
static volatile sig_atomic_t running_job; /* process id, 0 when none */
static const int fatal_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGABRT, SIGSEGV, SIGBUS};

struct kernel_dirent { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Async-signal-safe. The folder holds plain files only. */
void pt_workdir_remove(void)
{
    if (workdir[0] == '\0')
        return;
    int fd = open(workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        _Alignas(struct kernel_dirent) char block[8192];
        long got;
        while ((got = syscall(SYS_getdents64, fd, block, sizeof block)) > 0) {
            for (long at = 0; at < got;) {
                const struct kernel_dirent *entry = (const void *)(block + at);
                at += entry->length;
                unlinkat(fd, entry->name, 0); /* "." and ".." refuse */
            }
        }
        close(fd);
    }
    rmdir(workdir);
    workdir[0] = '\0';
}

static void on_fatal_signal(int signal_number)
{
    if (running_job > 0)
        kill((pid_t)running_job, signal_number);
    pt_workdir_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void install_handlers(void)
{
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        struct sigaction old, mine = {.sa_handler = on_fatal_signal, .sa_flags = SA_RESTART | SA_NODEFER};
        sigemptyset(&mine.sa_mask);
        if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup stays nohup */
            sigaction(fatal_signals[i], &mine, NULL);
    }
}

enum pt_status pt_workdir_make(struct pt_err *err)
{
    static const char *const variables[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}; /* those that LLVM looks at */
    const char *parent = NULL;
    for (size_t i = 0; i < 4 && !(parent && *parent); i++)
        parent = getenv(variables[i]);
    if (!parent || !*parent)
        parent = "/tmp";
    char path[sizeof workdir];
    int len = snprintf(path, sizeof path, "%s/portent-cc-XXXXXX", parent);
    if (len < 0 || (size_t)len >= sizeof path)
        return pt_err_set(err, PT_EIO, "the name of the folder for temporary files is too long");
    if (!mkdtemp(path))
        return pt_err_set(err, PT_EIO, "cannot make a folder for temporary files in %.300s: %s", parent,
                          strerror(errno));
    memcpy(workdir, path, (size_t)len + 1);
    install_handlers();
    return PT_OK;
}

void pt_workdir_adopt(const char *folder)
{
    snprintf(workdir, sizeof workdir, "%s", folder);
}

const char *pt_workdir(void)
{
    return workdir;
}

const char *pt_workdir_name(struct pt_arena *arena, const char *suffix)
{
    static unsigned count;
    char name[sizeof workdir + 64];
    int len = snprintf(name, sizeof name, "%s/p%d-%u%s", workdir, (int)getpid(), count++, suffix);
    return pt_arena_strndup(arena, name, (size_t)len);
}

/* The environment with TMPDIR (and its synonyms, which rank after it) pointing to the work folder. */
static char **environment_with_tmpdir(struct pt_arena *arena)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **env = pt_arena_alloc(arena, (count + 2) * sizeof *env);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            env[n++] = environ[i];
    char *setting = pt_arena_alloc(arena, strlen(workdir) + 8);
    sprintf(setting, "TMPDIR=%s", workdir);
    env[n] = setting;
    return env;
}

static enum pt_status write_response_file(const struct pt_args *args, struct pt_arena *arena, const char **ret_path,
                                          struct pt_err *err)
{
    const char *path = pt_workdir_name(arena, ".rsp");
    FILE *file = fopen(path, "we");
    if (!file)
        return pt_err_set(err, PT_EIO, "cannot write %s: %s", path, strerror(errno));
    for (size_t i = 1; i < args->n; i++) {
        fputc('"', file);
        for (const char *c = args->v[i]; *c; c++) {
            if (*c == '"' || *c == '\\')
                fputc('\\', file);
            fputc(*c, file);
        }
        fputs("\"\n", file);
    }
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad)
        return pt_err_set(err, PT_EIO, "cannot write %s: %s", path, strerror(errno));
    *ret_path = path;
    return PT_OK;
}

static int spawn(char *const *argv, const struct pt_process *how, char **env, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (how->no_input)
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (how->stdout_path)
        posix_spawn_file_actions_addopen(&files, 1, how->stdout_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (how->stderr_path)
        posix_spawn_file_actions_addopen(&files, 2, how->stderr_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    /* No signal may fall between the birth of the job and our knowing its number. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &before);
    pid_t pid = 0;
    int error = posix_spawnp(&pid, argv[0], &files, &attributes, argv, env);
    running_job = error ? 0 : pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    *ret_pid = pid;
    return error;
}

enum pt_status pt_process_run(const struct pt_args *args, const struct pt_process *how, int *ret_status,
                              struct pt_err *err)
{
    struct pt_arena arena;
    pt_arena_init(&arena);
    enum pt_status result = PT_OK;
    char **env = how->temporaries_here ? environment_with_tmpdir(&arena) : environ;
    pid_t pid;
    int error = spawn((char *const *)args->v, how, env, &pid);
    if (error == E2BIG) {
        const char *path = NULL;
        result = write_response_file(args, &arena, &path, err);
        if (result == PT_OK) {
            char *at = pt_arena_alloc(&arena, strlen(path) + 2);
            sprintf(at, "@%s", path);
            bool is_cc1 = args->n > 1 && strncmp(args->v[1], "-cc1", 4) == 0; /* clang decides by the first argument */
            char *words[] = {(char *)args->v[0], is_cc1 ? (char *)args->v[1] : at, is_cc1 ? at : NULL, NULL};
            error = spawn(words, how, env, &pid);
        }
    }
    if (result == PT_OK && error)
        result = pt_err_set(err, PT_EIO, "cannot run %.300s: %s", args->v[0], strerror(error));
    pt_arena_release(&arena);
    if (result != PT_OK)
        return result;
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return pt_err_set(err, PT_EIO, "cannot wait for %.300s: %s", args->v[0], strerror(errno));
    running_job = 0;
    *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return PT_OK;
}
