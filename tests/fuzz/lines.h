/* What every format of traces has to do with any bytes: events that come out have a line of text that reads back as
 * itself, unless they have no text form. */
#ifndef PT_TESTS_FUZZ_LINES_H
#define PT_TESTS_FUZZ_LINES_H

#include <stdlib.h>
#include <string.h>

#include "trace/oprule.h"
#include "trace/source.h"
#include "trace/text.h"
#include "trace/writer.h"

/* A comma separates the entries of c=, so a thread with one in its name has no place there. */
static bool has_text_form(const struct pt_names *names, const struct pt_event *event)
{
    for (uint32_t i = 0; i < event->clock_len; i++)
        if (strchr(pt_name(names, PT_SPACE_THREAD, event->clock[i].thread), ','))
            return false;
    return true;
}

/* The lines of all events; false when one has no text form. */
static bool read_lines(const void *bytes, size_t len, struct pt_buf *lines, enum pt_read *ret_end)
{
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    bool expressible = true;
    pt_names_init(&names);
    struct pt_source *reader = pt_source_from_memory("fuzz", bytes, len, &names);
    while ((*ret_end = pt_source_next(reader, &event, &err)) == PT_READ_EVENT) {
        size_t start = lines->len;
        pt_event_to_text(&names, &event, lines);
        expressible = expressible && lines->len - start <= PT_LINE_MAX && has_text_form(&names, &event);
        pt_buf_add(lines, "\n", 1);
    }
    pt_source_free(reader);
    pt_names_release(&names);
    return expressible;
}

static void must_read_back(const struct pt_buf *file)
{
    struct pt_buf lines, again;
    enum pt_read end;
    pt_buf_init(&lines);
    pt_buf_init(&again);
    if (read_lines(file->text, file->len, &lines, &end) && lines.len) {
        if (!read_lines(lines.text, lines.len, &again, &end) || end != PT_READ_END)
            abort();
        if (again.len != lines.len || memcmp(again.text, lines.text, lines.len) != 0)
            abort();
    }
    pt_buf_release(&lines);
    pt_buf_release(&again);
}

#endif
