/*
 * Any bytes as a text trace. Whatever is accepted must survive both round trips: its canonical text reads back as
 * itself, and so does its binary form.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/binary.h"
#include "trace/validate.h"
#include "trace/writer.h"

/* The canonical lines of the events before the first problem; `binary` (may be NULL) receives them in that form. */
static enum pt_read read_lines(const void *bytes, size_t len, struct pt_buf *lines, struct pt_buf *binary)
{
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    enum pt_read got;
    bool legal = true;
    pt_names_init(&names);
    struct pt_source *reader = pt_source_from_memory("fuzz", bytes, len, &names);
    struct pt_validator *validator = pt_validator_new("fuzz", &names);
    void *writer = binary ? pt_binary_encoder.begin(&names, binary) : NULL;
    while ((got = pt_source_next(reader, &event, &err)) == PT_READ_EVENT) {
        legal = legal && pt_validator_check(validator, &event, &err) == PT_OK;
        pt_event_to_text(&names, &event, lines);
        pt_buf_add(lines, "\n", 1);
        if (binary && pt_binary_encoder.add(writer, &names, &event, binary, &err) != PT_OK)
            abort();
    }
    if (binary) {
        pt_binary_encoder.end(writer, NULL, binary);
        pt_binary_encoder.release(writer);
    }
    pt_validator_free(validator);
    pt_source_free(reader);
    pt_names_release(&names);
    return got;
}

static void expect_lines(const struct pt_buf *input, const struct pt_buf *lines)
{
    struct pt_buf again;
    pt_buf_init(&again);
    if (read_lines(input->text, input->len, &again, NULL) != PT_READ_END)
        abort();
    if (again.len != lines->len || (again.len && memcmp(again.text, lines->text, again.len) != 0))
        abort();
    pt_buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_buf lines, binary;
    if (size >= PT_BINARY_MAGIC_LEN && memcmp(data, pt_binary_magic, PT_BINARY_MAGIC_LEN) == 0)
        return 0;
    pt_buf_init(&lines);
    pt_buf_init(&binary);
    read_lines(data, size, &lines, &binary);
    expect_lines(&lines, &lines);
    expect_lines(&binary, &lines);
    pt_buf_release(&lines);
    pt_buf_release(&binary);
    return 0;
}
