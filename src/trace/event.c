#include "trace/event.h"

#include <string.h>

#include "trace/oprule.h"

void pt_names_init(struct pt_names *names)
{
    for (int i = 0; i < PT_SPACE_COUNT; i++)
        pt_strtab_init(&names->space[i]);
}

void pt_names_release(struct pt_names *names)
{
    for (int i = 0; i < PT_SPACE_COUNT; i++)
        pt_strtab_release(&names->space[i]);
}

/* A line that starts so would be read as a comment, as one without a thread, or without its mark of UTF-8. */
static bool is_no_thread(const char *text, size_t len)
{
    return text[0] == '#' || (len == 1 && text[0] == '-') || (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0);
}

const char *pt_name_problem(enum pt_space space, const char *text, size_t len, size_t *ret_at)
{
    static const char forbidden[] = {'\0', '\r', '\n', '|'};
    static const char *const messages[] = {"a NUL byte cannot stand here", "a carriage return cannot stand here",
                                           "a newline cannot stand here", "'|' cannot stand in a name"};
    *ret_at = 0;
    if (space == PT_SPACE_STRING)
        return NULL;
    for (size_t i = 0; i < sizeof forbidden; i++) {
        const char *bad = memchr(text, forbidden[i], len);
        if (bad) {
            *ret_at = (size_t)(bad - text);
            return messages[i];
        }
    }
    if (space == PT_SPACE_LOC)
        return NULL;
    if (len == 0)
        return "a name is missing here";
    if (memmem(text, len, ")=\"", 3))
        return "a name cannot contain ')=\"', which starts a string value";
    if (space == PT_SPACE_STACK && memmem(text, len, ")=", 2))
        return "the name of a stack cannot contain ')=', which starts its text";
    if (space == PT_SPACE_THREAD && is_no_thread(text, len))
        return "this cannot be the name of a thread";
    return NULL;
}

const char *pt_stack_problem(const char *text, size_t len, size_t *ret_at)
{
    const char *problem = pt_name_problem(PT_SPACE_LOC, text, len, ret_at);
    if (problem)
        return problem;
    if (len == 0)
        return "the text of a stack is missing here";
    if (text[0] == '"' || memmem(text, len, ")=\"", 3))
        return "the text of a stack is no string value: it stands there without quotes";
    return NULL;
}

static void clean(struct pt_buf *buf, enum pt_space space, const char *text, size_t len)
{
    bool thread = space == PT_SPACE_THREAD;
    if (thread && len && is_no_thread(text, len))
        pt_buf_puts(buf, "_");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool bad = c < 0x20 || c == 0x7f || c == '|' || c == '"' || (thread && c == ',');
        pt_buf_add(buf, bad ? "_" : text + i, 1);
    }
}

void pt_name_clean(struct pt_buf *buf, enum pt_space space, const char *text)
{
    clean(buf, space, text, strlen(text));
}

uint32_t pt_names_intern_clean(struct pt_names *names, enum pt_space space, const char *text, size_t len)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    clean(&buf, space, text, len);
    if (!buf.len && space != PT_SPACE_LOC)
        pt_buf_puts(&buf, "_");
    uint32_t id = pt_strtab_intern(&names->space[space], buf.len ? buf.text : "", buf.len);
    pt_buf_release(&buf);
    return id;
}
