#include "trace/event.h"

#include <string.h>

#include "trace/oprule.h"

static const struct {
    const char *word;
    enum pt_space space;
} ops[PT_OP_COUNT] = {
    [PT_OP_INIT] = {"init", PT_SPACE_VAR},
    [PT_OP_FORK] = {"fork", PT_SPACE_THREAD},
    [PT_OP_JOIN] = {"join", PT_SPACE_THREAD},
    [PT_OP_READ] = {"r", PT_SPACE_VAR},
    [PT_OP_WRITE] = {"w", PT_SPACE_VAR},
    [PT_OP_UPDATE] = {"u", PT_SPACE_VAR},
    [PT_OP_ACQ] = {"acq", PT_SPACE_LOCK},
    [PT_OP_REL] = {"rel", PT_SPACE_LOCK},
    [PT_OP_RACQ] = {"racq", PT_SPACE_LOCK},
    [PT_OP_RREL] = {"rrel", PT_SPACE_LOCK},
    [PT_OP_WAIT] = {"wait", PT_SPACE_OTHER},
    [PT_OP_NOTIFY] = {"notify", PT_SPACE_OTHER},
    [PT_OP_SYNC] = {"sync", PT_SPACE_OTHER},
    [PT_OP_BEGIN] = {"begin", PT_SPACE_BLOCK},
    [PT_OP_END] = {"end", PT_SPACE_BLOCK},
    [PT_OP_EVENT] = {"event", PT_SPACE_EVENT},
    [PT_OP_INTERNAL] = {"int", PT_SPACE_LOCAL},
    [PT_OP_STATE] = {"state", PT_SPACE_STATE},
    [PT_OP_CONTENDED] = {"contended", PT_SPACE_LOCK},
    [PT_OP_CLOCK] = {"clock", PT_SPACE_COUNT},
    [PT_OP_LOST] = {"lost", PT_SPACE_OTHER},
};

const char *pt_op_word(enum pt_op op)
{
    return ops[op].word;
}

enum pt_space pt_op_space(enum pt_op op)
{
    return ops[op].space;
}

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
    if (space == PT_SPACE_THREAD && (text[0] == '#' || (len == 1 && text[0] == '-')))
        return "this cannot be the name of a thread";
    return NULL;
}

void pt_name_clean(struct pt_buf *buf, enum pt_space space, const char *text)
{
    bool thread = space == PT_SPACE_THREAD;
    if (thread && (text[0] == '#' || strcmp(text, "-") == 0))
        pt_buf_puts(buf, "_");
    for (const char *c = text; *c; c++) {
        bool bad = (unsigned char)*c < 0x20 || *c == 0x7f || *c == '|' || *c == '"' || (thread && *c == ',');
        pt_buf_add(buf, bad ? "_" : c, 1);
    }
}
