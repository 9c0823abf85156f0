/*
 * Which functions are instrumented: --only-file, --skip-file and --skip-function, each with a list of patterns and as
 * often as one likes, and the lists of clang's -fsanitize-ignorelist, as far as they are for ThreadSanitizer: what
 * stands before the first section or in one whose name matches `thread`, of the kinds src, fun and mainfile, without a
 * category.
 *
 * A pattern of a file without a slash is for its last component; others are for the name that the compiler was given,
 * or, if that is relative, also for the name with its folder before it. A function of a header is of that header,
 * wherever it is included. Those of an ignorelist are for whole names, as in clang.
 *
 * Guarantee: a function that is left alone has no hooks, in whatever function its code ends up. Cost: the number of
 * functions times that of the patterns.
 */
#include "instrument/choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

#include "base/buf.h"

/* The pattern is for a list of names, `a,b`; braces of the shell are not known. */
static void add_list(struct pt_args *to, const char *list, char separator, struct pt_arena *arena)
{
    while (*list) {
        size_t len = 0;
        while (list[len] && list[len] != separator)
            len++;
        if (len > 0)
            pt_args_add(to, pt_arena_strndup(arena, list, len));
        list += len + (list[len] != '\0');
    }
}

static bool matches_name(const struct pt_args *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->n; i++)
        if (fnmatch(patterns->v[i], name, 0) == 0)
            return true;
    return false;
}

static bool matches_file(const struct pt_args *patterns, const char *file, const char *folder, bool last_component)
{
    while (strncmp(file, "./", 2) == 0) /* how clang calls a header beside a source that has no folder in its name */
        file += 2;
    const char *slash = strrchr(file, '/');
    struct pt_buf whole;
    bool found = false;
    pt_buf_init(&whole);
    pt_buf_printf(&whole, "%s%s%s", *file == '/' ? "" : folder, *file == '/' || !*folder ? "" : "/", file);
    for (size_t i = 0; i < patterns->n && !found; i++) {
        const char *pattern = patterns->v[i];
        bool last = last_component && !strchr(pattern, '/');
        found = fnmatch(pattern, last && slash ? slash + 1 : file, 0) == 0 ||
                (!last && fnmatch(pattern, whole.text, 0) == 0);
    }
    pt_buf_release(&whole);
    return found;
}

bool pt_choice_leaves_alone(const struct pt_choice *choice, const struct pt_chosen *f)
{
    if (choice->only_files.n > 0 && !matches_file(&choice->only_files, f->file, f->folder, true))
        return true;
    return matches_file(&choice->skip_files, f->file, f->folder, true) ||
           matches_name(&choice->skip_functions, f->name) || matches_name(&choice->skip_functions, f->symbol) ||
           matches_file(&choice->ignored_files, f->file, f->folder, false) ||
           matches_file(&choice->ignored_units, f->unit, f->folder, false) ||
           matches_name(&choice->ignored_functions, f->symbol);
}

/* A section is for one sanitizer or several: [thread], [address|thread], [*]. */
static bool is_for_threads(char *names)
{
    char *next = NULL;
    for (char *name = strtok_r(names, "|", &next); name; name = strtok_r(NULL, "|", &next))
        if (fnmatch(name, "thread", 0) == 0)
            return true;
    return false;
}

static void read_line(struct pt_choice *choice, char *line, bool *for_threads, struct pt_arena *arena)
{
    static const struct {
        const char *prefix;
        size_t list;
    } kinds[] = {{"src:", offsetof(struct pt_choice, ignored_files)},
                 {"fun:", offsetof(struct pt_choice, ignored_functions)},
                 {"mainfile:", offsetof(struct pt_choice, ignored_units)}};
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t end = strlen(line); end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t');)
        line[--end] = '\0';
    size_t len = strlen(line);
    if (*line == '[' && line[len - 1] == ']') {
        line[len - 1] = '\0';
        *for_threads = is_for_threads(line + 1);
        return;
    }
    if (*line == '#' || !*for_threads || strchr(line, '=')) /* a category is for another sanitizer's use */
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(line, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            add_list((struct pt_args *)((char *)choice + kinds[i].list), line + strlen(kinds[i].prefix), '|', arena);
}

static enum pt_status read_ignorelist(struct pt_choice *choice, const char *path, struct pt_arena *arena,
                                      struct pt_err *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return pt_err_set(err, PT_EIO, "cannot read %.300s: %s", path, strerror(errno));
    char *line = NULL;
    size_t cap = 0;
    bool for_threads = true;
    while (getline(&line, &cap, file) > 0)
        read_line(choice, line, &for_threads, arena);
    free(line);
    fclose(file);
    return PT_OK;
}

enum pt_status pt_choice_take(struct pt_choice *choice, int argc, char **argv, struct pt_arena *arena,
                              struct pt_args *ret_rest, struct pt_err *err)
{
    const struct {
        const char *option;
        struct pt_args *list; /* NULL: an ignorelist */
    } options[] = {{"--only-file=", &choice->only_files},
                   {"--skip-file=", &choice->skip_files},
                   {"--skip-function=", &choice->skip_functions},
                   {"-fsanitize-ignorelist=", NULL},
                   {"-fsanitize-blacklist=", NULL}};
    enum pt_status status = PT_OK;
    for (int i = 0; i < argc && status == PT_OK; i++) {
        bool ours = false;
        for (size_t o = 0; o < sizeof options / sizeof *options && status == PT_OK; o++) {
            size_t len = strlen(options[o].option);
            if (strncmp(argv[i], options[o].option, len) != 0)
                continue;
            ours = options[o].list != NULL;
            if (ours)
                add_list(options[o].list, argv[i] + len, ',', arena);
            else
                status = read_ignorelist(choice, argv[i] + len, arena, err);
        }
        if (!ours)
            pt_args_add(ret_rest, argv[i]);
    }
    return status;
}

void pt_choice_release(struct pt_choice *choice)
{
    pt_args_release(&choice->only_files);
    pt_args_release(&choice->skip_files);
    pt_args_release(&choice->skip_functions);
    pt_args_release(&choice->ignored_files);
    pt_args_release(&choice->ignored_functions);
    pt_args_release(&choice->ignored_units);
}
