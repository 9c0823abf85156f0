/*
 * Which functions the source itself opts out. Clang leaves a trace of no_sanitize("thread") in its output only when it
 * compiles for ThreadSanitizer. So where the source, or a header of it that is not the system's, mentions such an
 * attribute, it is compiled once more that way, only to see which functions are then left alone.
 *
 * Cost: a look through the text of the source and its headers; where they mention it, a pass of the front end.
 */
#include "instrument/opt_outs.h"

#include "instrument/process.h"

static bool file_mentions(const char *path, const char *word)
{
    size_t len = 0;
    char *text = pt_read_whole(path, &len);
    bool found = text && memmem(text, len, word, strlen(word)) != NULL;
    free(text);
    return found;
}

/* Does the source, or a header that is not the system's, speak of no_sanitize (or no_sanitize_thread)? */
static bool may_opt_out(const char *source, const char *headers)
{
    static const char word[] = "no_sanitize";
    if (!source || strcmp(source, "-") == 0)
        return false; /* standard input can be read only once */
    if (file_mentions(source, word))
        return true;
    size_t len = 0;
    char *list = pt_read_whole(headers, &len);
    bool found = false;
    char *next = NULL;
    for (char *path = list ? strtok_r(list, "\n", &next) : NULL; path && !found; path = strtok_r(NULL, "\n", &next))
        found = file_mentions(path, word);
    free(list);
    return found;
}

const char *pt_opt_outs(const struct pt_orders *orders)
{
    if (!may_opt_out(orders->source, orders->headers))
        return NULL;
    struct pt_process how = {.stdout_path = "/dev/null", .stderr_path = "/dev/null", .no_input = true};
    struct pt_err err;
    int exit_status = 1;
    pt_workdir_adopt(orders->folder);
    enum pt_status status = pt_process_run(&orders->tsan_job, &how, &exit_status, &err);
    return status == PT_OK && exit_status == 0 ? orders->tsan_bitcode : NULL;
}
