/* The file is opened for each line: a program may close descriptors it does not know, or use them for something else.
 */
#include "runtime/sys/log.h"

#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

void pt_line_span(struct pt_line *line, struct pt_span span)
{
    for (size_t i = 0; i < span.len && line->len < sizeof line->text - 1; i++)
        line->text[line->len++] = span.at[i];
}

void pt_line_text(struct pt_line *line, const char *text)
{
    for (; *text && line->len < sizeof line->text - 1; text++)
        line->text[line->len++] = *text;
}

void pt_line_number(struct pt_line *line, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    pt_line_span(line, (struct pt_span){digits + at, sizeof digits - at});
}

void pt_line_hex(struct pt_line *line, uint64_t number)
{
    char digits[16];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[number & 15];
    while (number >>= 4);
    pt_line_text(line, "0x");
    pt_line_span(line, (struct pt_span){digits + at, sizeof digits - at});
}

void pt_page_text(struct pt_page *page, const char *text)
{
    for (; *text && page->len < page->room; text++)
        page->text[page->len++] = (unsigned char)*text < 0x20 && *text != '\n' ? '?' : *text;
}

void pt_page_number(struct pt_page *page, uint64_t number)
{
    struct pt_line line = {0};
    pt_line_number(&line, number);
    line.text[line.len] = 0;
    pt_page_text(page, line.text);
}

void pt_page_hex(struct pt_page *page, uint64_t number)
{
    struct pt_line line = {0};
    pt_line_hex(&line, number);
    line.text[line.len] = 0;
    pt_page_text(page, line.text);
}

/* The descriptor for messages; one that is to be closed is put into *ret_own as well. */
static int open_log(int *ret_own)
{
    *ret_own = -1;
    if (!pt_options.log_path.len || pt_span_is(pt_options.log_path, "stderr")) /* none: options are not read yet */
        return 2;
    if (pt_span_is(pt_options.log_path, "stdout"))
        return 1;
    struct pt_line path = {0};
    pt_line_span(&path, pt_options.log_path);
    pt_line_text(&path, ".");
    pt_line_number(&path, pt_sys_process());
    path.text[path.len] = 0;
    *ret_own = pt_sys_open_log(path.text);
    return *ret_own < 0 ? 2 : *ret_own;
}

void pt_log_write(const char *text, size_t len)
{
    int own, fd = open_log(&own);
    pt_sys_write(fd, text, len);
    if (own >= 0)
        pt_sys_close(own);
}

void pt_line_write(struct pt_line *line)
{
    line->text[line->len] = '\n';
    pt_log_write(line->text, line->len + 1);
}
