/*
 * What a result says of its making. The commit is read from git's own files (gitrepository-layout(5)): `.git` in the
 * folder or above it, a folder or a file that names one (of a worktree); HEAD in it, a commit or the name of a
 * reference; that in `refs/`, there or in the common folder of all worktrees, or in `packed-refs`. Whether files have
 * been changed since is not looked at.
 */
#include "cli/common/made.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "finding/made.h"

enum { LINE = 4096, HASH_LEAST = 40, HASH_MOST = 64, COMMAND_MOST = 4000 };

/* The first line of a file, without its end. False: there is none. */
static bool first_line(const char *path, char (*ret_line)[LINE])
{
    FILE *file = fopen(path, "re");
    bool ok = file && fgets(*ret_line, LINE, file);
    if (file)
        fclose(file);
    if (ok)
        (*ret_line)[strcspn(*ret_line, "\r\n")] = '\0';
    return ok;
}

static size_t hash_length(const char *text)
{
    size_t len = 0;
    while (isxdigit((unsigned char)text[len]))
        len++;
    return len;
}

static bool is_hash(const char *text)
{
    size_t len = hash_length(text);
    return text[len] == '\0' && len >= HASH_LEAST && len <= HASH_MOST;
}

/* `path` becomes folder/name, or name where that is absolute. */
static bool join(char (*path)[PATH_MAX], const char *folder, const char *name)
{
    int len = name[0] == '/' ? snprintf(*path, PATH_MAX, "%s", name) : snprintf(*path, PATH_MAX, "%s/%s", folder, name);
    return len > 0 && len < PATH_MAX;
}

/* Git's folder for the working tree around a folder. */
static bool find_git(const char *folder, char (*ret_git)[PATH_MAX])
{
    char at[PATH_MAX], line[LINE];
    struct stat about;
    if (!realpath(folder, at))
        return false;
    for (;;) {
        if (join(ret_git, at, ".git") && stat(*ret_git, &about) == 0) {
            if (S_ISDIR(about.st_mode))
                return true;
            return first_line(*ret_git, &line) && strncmp(line, "gitdir: ", 8) == 0 && join(ret_git, at, line + 8);
        }
        char *slash = strrchr(at, '/');
        if (!slash || slash == at)
            return false;
        *slash = '\0';
    }
}

static bool find_packed(const char *git, const char *reference, char (*ret_line)[LINE])
{
    char path[PATH_MAX];
    FILE *file = join(&path, git, "packed-refs") ? fopen(path, "re") : NULL;
    bool found = false;
    while (file && !found && fgets(*ret_line, LINE, file)) {
        size_t len = hash_length(*ret_line);
        (*ret_line)[strcspn(*ret_line, "\r\n")] = '\0';
        found = len >= HASH_LEAST && (*ret_line)[len] == ' ' && strcmp(*ret_line + len + 1, reference) == 0;
        if (found)
            (*ret_line)[len] = '\0';
    }
    if (file)
        fclose(file);
    return found;
}

static bool find_reference(const char *git, const char *reference, char (*ret_line)[LINE])
{
    char path[PATH_MAX];
    return (join(&path, git, reference) && first_line(path, ret_line)) || find_packed(git, reference, ret_line);
}

void pt_made_commit(const char *folder, struct pt_buf *ret_commit)
{
    char git[PATH_MAX], common[PATH_MAX], path[PATH_MAX], line[LINE], reference[LINE];
    ret_commit->len = 0;
    pt_buf_puts(ret_commit, "");
    if (!find_git(folder, &git) || !join(&path, git, "HEAD") || !first_line(path, &line))
        return;
    if (strncmp(line, "ref: ", 5) == 0) {
        snprintf(reference, sizeof reference, "%s", line + 5);
        bool found = find_reference(git, reference, &line);
        if (!found && join(&path, git, "commondir") && first_line(path, &line) && join(&common, git, line))
            found = find_reference(common, reference, &line);
        if (!found)
            return;
    }
    if (is_hash(line))
        pt_buf_puts(ret_commit, line);
}

/* A word that a shell takes as it is. */
static bool is_plain(const char *word)
{
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("@%+=:,./_-", *c))
            return false;
    return word[0];
}

static void add_word(struct pt_buf *buf, const char *word)
{
    if (buf->len)
        pt_buf_puts(buf, " ");
    if (is_plain(word)) {
        pt_buf_puts(buf, word);
        return;
    }
    pt_buf_puts(buf, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            pt_buf_puts(buf, "'\\''");
        else
            pt_buf_add(buf, c, 1);
    }
    pt_buf_puts(buf, "'");
}

void pt_made_time(time_t seconds, char text[PT_MADE_TIME])
{
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(text, PT_MADE_TIME, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static const char *now(void)
{
    static char text[PT_MADE_TIME];
    pt_made_time(time(NULL), text);
    return text;
}

static struct {
    int argc;
    char **argv;
} process;

void pt_made_begin(int argc, char **argv)
{
    process.argc = argc;
    process.argv = argv;
}

static char *command_line(void)
{
    struct pt_buf line;
    pt_buf_init(&line);
    for (int i = 0; i < process.argc && line.len < COMMAND_MOST; i++)
        add_word(&line, i ? process.argv[i] : "portent");
    if (line.len >= COMMAND_MOST)
        pt_buf_puts(&line, " ...");
    return pt_buf_take(&line);
}

const struct pt_made *pt_made_now(void)
{
    static struct pt_made made;
    static char host[HOST_NAME_MAX + 1];
    struct pt_buf commit;
    if (made.time)
        return &made;
    pt_buf_init(&commit);
    pt_made_commit(".", &commit);
    if (gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "unknown");
    char *hash = commit.len ? pt_buf_take(&commit) : NULL;
    pt_buf_release(&commit);
    made = (struct pt_made){
        .time = now(), .version = PORTENT_VERSION, .command = command_line(), .host = host, .commit = hash};
    return &made;
}
