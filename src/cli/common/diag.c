/*
 * Errors, warnings and usage messages on standard error, in the form FILE:LINE:COLUMN: error: MESSAGE, with the line
 * and a caret where they are known; and the whole of standard output, whose failures are noticed. What is printed was
 * made harmless to terminals before.
 */
#include "cli/common/diag.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/style.h"

unsigned pt_terminal_width(int fd)
{
    struct winsize size;
    if (!isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

bool pt_output(const struct pt_buf *buf)
{
    if (buf->len)
        fwrite(buf->text, 1, buf->len, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    struct pt_err err;
    (void)pt_err_set(&err, PT_EIO, "cannot write to standard output: %s", strerror(errno));
    pt_diag_error(&err);
    return false;
}

/*
 * The source line with a caret under byte `column`. The line was made harmless but for bytes above 0x7f by
 * pt_err_source. Tabs stay tabs, in the caret's line too, so that it stands right whatever a tab's width is. A line
 * longer than `width` is cut to the part around the caret.
 */
static void put_source(const struct pt_err *err, unsigned width, struct pt_buf *buf)
{
    size_t len = strlen(err->source), caret = err->column ? err->column - 1 : 0;
    size_t from = 0, to = len;
    if (width && len > width) {
        from = caret > width / 2 ? caret - width / 2 : 0;
        to = from + width < len ? from + width : len;
        if (from < len)
            from = pt_utf8_cut(err->source, from);
    }
    if (from >= len)
        return;
    for (size_t i = from; i < to;) {
        size_t n = pt_utf8_decode(err->source + i, to - i, NULL);
        if (err->source[i] == '\t')
            pt_buf_puts(buf, "\t");
        else
            pt_style_clean(buf, err->source + i, n ? n : 1);
        i += n ? n : 1;
    }
    pt_buf_puts(buf, "\n");
    if (err->column == 0 || caret > len)
        return;
    for (size_t i = from; i < caret;) {
        size_t n = pt_utf8_decode(err->source + i, len - i, NULL);
        pt_buf_puts(buf, err->source[i] == '\t' ? "\t" : " ");
        i += n ? n : 1;
    }
    pt_buf_puts(buf, "^\n");
}

/* As text, for lines of `width` columns; 0: lines are not cut. */
static void format(const struct pt_err *err, const char *severity, unsigned width, struct pt_buf *buf)
{
    struct pt_buf head;
    pt_buf_init(&head);
    pt_buf_puts(&head, err->file[0] ? err->file : "portent");
    if (err->file[0] && err->line)
        pt_buf_printf(&head, ":%" PRIu64, err->line);
    if (err->file[0] && err->line && err->column)
        pt_buf_printf(&head, ":%" PRIu32, err->column);
    pt_buf_printf(&head, ": %s: %s", severity, err->message);
    pt_style_clean(buf, head.text, head.len);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&head);
    if (err->source[0])
        put_source(err, width, buf);
    if (err->hint[0]) {
        pt_buf_puts(buf, "hint: ");
        pt_style_clean(buf, err->hint, strlen(err->hint));
        pt_buf_puts(buf, "\n");
    }
}

static void print(const struct pt_err *err, const char *severity)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    format(err, severity, pt_terminal_width(STDERR_FILENO), &buf);
    fwrite(buf.text, 1, buf.len, stderr);
    pt_buf_release(&buf);
}

void pt_diag_error(const struct pt_err *err)
{
    print(err, "error");
}

void pt_diag_warning(const struct pt_err *err)
{
    print(err, "warning");
}

static bool is_of_path(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.[]:", c));
}

void pt_diag_hint_arrow(const char *text, const char *path, struct pt_err *err)
{
    size_t len = strlen(path);
    for (const char *found = text; len && (found = strstr(found, path)); found += len) {
        const char *begin = found, *end = found + len;
        while (begin > text && (is_of_path(begin[-1]) || (begin - text > 1 && memcmp(begin - 2, "->", 2) == 0)))
            begin -= is_of_path(begin[-1]) ? 1 : 2;
        while (is_of_path(*end) || strncmp(end, "->", 2) == 0)
            end += is_of_path(*end) ? 1 : 2;
        const char *arrow = strstr(begin, "->");
        bool name = is_of_path(*begin) && !strchr("0123456789.[]:", *begin);
        if (name && arrow && arrow + 2 < end)
            pt_err_hint(err, "in a formula '->' is an implication; name what the pointer leads to: var v = %.*s;",
                        (int)(end - begin), begin);
    }
}

void pt_diag_usage(const char *command, const char *fmt, ...)
{
    struct pt_err err;
    va_list ap;
    (void)pt_err_set(&err, PT_EUSAGE, "%s", "");
    va_start(ap, fmt);
    vsnprintf(err.message, sizeof err.message, fmt, ap);
    va_end(ap);
    if (command)
        pt_err_hint(&err, "see 'portent %s --help'", command);
    pt_diag_error(&err);
}
