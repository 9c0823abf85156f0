/*
 * Files are known by how they begin: magic bytes, or the first line of a text that is no comment. This is asked only
 * when a file could not be read as what it should be, so a guess costs nothing when all is well and never refuses a
 * good file; where the beginning is not plain the kind is unknown, and the reader's own message stands. Reads 4 KiB.
 */
#include "cli/common/whatis.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "core/ptc.h"
#include "trace/format.h"

enum { HEAD = 4096 };

struct head {
    char text[HEAD + 1];
    size_t len;
};

static const struct {
    const char *words, *hint; /* '@' is the file's name, '^' the "./" before it where a shell wants that */
} kinds[] = {
    [PT_FILE_UNKNOWN] = {"something else", NULL},
    [PT_FILE_PROPERTIES] = {"a property file", "property files are given with -s: -s @"},
    [PT_FILE_TRACE] = {"a trace", "'portent check -s FILE.prop @' checks it, 'portent report --timeline' draws it"},
    [PT_FILE_RESULT] = {"a result of portent", "'portent report @' shows it, 'portent confirm' tries what it predicts"},
    [PT_FILE_SCHEDULE] = {"a schedule of 'portent explore'", "'portent replay @ -- PROGRAM' does that run again"},
    [PT_FILE_MODEL] = {"a model", "'portent model @' reads it"},
    [PT_FILE_PROGRAM] = {"a program", "'portent run -- ^@' runs it; with -o FILE.trace it records, with -r FILE.json "
                                      "it writes a result"},
    [PT_FILE_OBJECT] = {"an object file or a library",
                        "link it with 'portent cc', and give the program to 'portent run'"},
    [PT_FILE_SOURCE] = {"C or C++",
                        "'portent cc -pthread @ -o PROGRAM' compiles it, 'portent run -- ./PROGRAM' runs it"},
    [PT_FILE_COMPILED] = {"what 'portent compile' has written",
                          "programs read it by themselves; the property file is what "
                          "it was made from"},
    [PT_FILE_JSON] = {"JSON of something else", "results are what 'check --json', 'run -r' and 'model --json' write"},
    [PT_FILE_PAGE] = {"a page or a picture", "it was made from a result or a trace, which is what is needed here"},
    [PT_FILE_SCRIPT] = {"a script", "'portent run -- ^@' runs it, and follows the programs it starts"},
};

const char *pt_whatis_words(enum pt_file_kind kind)
{
    return kinds[kind].words;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    return starts(text, word) && (text[len] == ' ' || text[len] == '\t' || text[len] == '\n');
}

/* Behind blanks and C's comments; those that begin with '#' where `lines` says so. */
static const char *skip_comments(const char *text, bool lines)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (starts(text, "//") || (lines && *text == '#'))
            text += strcspn(text, "\n");
        else if (starts(text, "/*") && strstr(text, "*/"))
            text = strstr(text, "*/") + 2;
        else
            return text;
    }
}

/* THREAD|op(...)|... or THREAD|op|... */
static bool is_event(const char *line)
{
    const char *op = line + strcspn(line, "|\n");
    if (*op != '|' || op == line)
        return false;
    size_t len = strspn(op + 1, "abcdefghijklmnopqrstuvwxyz");
    const char *rest = op + 1 + len;
    return len && (*rest == '(' || *rest == '|') && memchr(rest, '|', strcspn(rest, "\n"));
}

static bool ends_with(const char *path, const char *ending)
{
    size_t len = strlen(path), n = strlen(ending);
    return len > n && strcmp(path + len - n, ending) == 0;
}

static bool is_source(const char *path, const char *text)
{
    static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i]))
            return true;
    const char *first = skip_comments(text, false);
    return starts(first, "#include") || starts(first, "#define") || starts(first, "#pragma");
}

static enum pt_file_kind kind_of_text(const char *path, const char *text)
{
    const char *first = text + strspn(text, " \t\r\n");
    if (starts(text, "portent-schedule "))
        return PT_FILE_SCHEDULE;
    if (starts(text, "#!") && text[2 + strspn(text + 2, " ")] == '/') /* "#!begin" is a line of traces */
        return PT_FILE_SCRIPT;
    if (*first == '{')
        return starts(first + 1 + strspn(first + 1, " \t\r\n"), "\"portent\":") ? PT_FILE_RESULT : PT_FILE_JSON;
    if (*first == '<')
        return PT_FILE_PAGE;
    if (is_source(path, text))
        return PT_FILE_SOURCE;
    if (is_event(skip_comments(text, true)))
        return PT_FILE_TRACE;
    first = skip_comments(text, false);
    size_t line = strcspn(first, "\n");
    if (is_word(first, "property") || is_word(first, "let") || is_word(first, "var") ||
        (is_word(first, "thread") && memchr(first, '=', line)))
        return PT_FILE_PROPERTIES;
    return ends_with(path, ".sml") ? PT_FILE_MODEL : PT_FILE_UNKNOWN;
}

static enum pt_file_kind kind_of(const char *path, const struct head *head)
{
    if (head->len > EI_NIDENT + 2 && memcmp(head->text, ELFMAG, SELFMAG) == 0)
        return head->text[EI_NIDENT] == ET_REL || ends_with(path, ".so") ? PT_FILE_OBJECT : PT_FILE_PROGRAM;
    if (starts(head->text, "!<arch>"))
        return PT_FILE_OBJECT;
    if (starts(head->text, PT_PTC_MAGIC))
        return PT_FILE_COMPILED;
    if (pt_format_of_file(path)->magic)
        return PT_FILE_TRACE;
    return memchr(head->text, '\0', head->len) ? PT_FILE_UNKNOWN : kind_of_text(path, head->text);
}

static bool read_head(const char *path, struct head *ret_head)
{
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return false;
    ret_head->len = fread(ret_head->text, 1, HEAD, file);
    ret_head->text[ret_head->len] = '\0';
    fclose(file);
    return true;
}

enum pt_file_kind pt_whatis(const char *path)
{
    struct head head;
    return read_head(path, &head) ? kind_of(path, &head) : PT_FILE_UNKNOWN;
}

void pt_whatis_hint(const char *path, enum pt_file_kind kind, struct pt_err *err)
{
    struct pt_buf hint;
    pt_buf_init(&hint);
    for (const char *c = kinds[kind].hint; c && *c; c++) {
        if (*c == '^')
            pt_buf_puts(&hint, strchr(path, '/') ? "" : "./");
        else if (*c == '@')
            pt_buf_puts(&hint, path);
        else
            pt_buf_add(&hint, c, 1);
    }
    if (hint.len)
        pt_err_hint(err, "%s", hint.text);
    pt_buf_release(&hint);
}

void pt_whatis_mend(const char *path, enum pt_file_kind wanted, struct pt_err *err)
{
    struct head head;
    if (err->status != PT_EINPUT || strcmp(err->file, path) != 0 || !read_head(path, &head))
        return;
    enum pt_file_kind kind = kind_of(path, &head);
    bool broken = kind == PT_FILE_JSON && strstr(err->message, "not JSON"); /* its reader says where */
    if (kind == PT_FILE_UNKNOWN || kind == wanted || broken)
        return;
    bool text = !memchr(head.text, '\0', head.len); /* of others no line is shown */
    (void)pt_err_at(err, PT_EINPUT, path, text, text, "this is %s, not %s", kinds[kind].words, kinds[wanted].words);
    if (text)
        pt_err_source(err, head.text, strcspn(head.text, "\r\n"));
    pt_whatis_hint(path, kind, err);
}
