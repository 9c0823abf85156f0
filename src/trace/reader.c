/* Tells the two forms apart and hands out the events of either. */
#include "trace/reader.h"

#include <stdlib.h>
#include <string.h>

#include "trace/binary.h"
#include "trace/input.h"
#include "trace/text.h"

struct pt_reader {
    char *label;
    struct pt_names *names;
    struct pt_input input;
    struct pt_text *text; /* at most one of these two; neither before the first bytes were seen */
    struct pt_binary_reader *binary;
    enum pt_read ended; /* PT_READ_EVENT as long as the reader goes on */
    struct pt_err err;  /* of the end, where it has one */
};

static struct pt_reader *new_reader(const char *label, struct pt_names *names)
{
    struct pt_reader *reader = pt_xcalloc(1, sizeof *reader);
    reader->label = pt_xstrdup(label);
    reader->names = names;
    reader->ended = PT_READ_EVENT;
    return reader;
}

enum pt_status pt_reader_open(const char *path, struct pt_names *names, struct pt_reader **ret_reader,
                              struct pt_err *err)
{
    struct pt_input input;
    enum pt_status status = pt_input_open(&input, path, err);
    if (status != PT_OK)
        return status;
    *ret_reader = new_reader(path, names);
    (*ret_reader)->input = input;
    return PT_OK;
}

struct pt_reader *pt_reader_from_memory(const char *label, const void *bytes, size_t len, struct pt_names *names)
{
    struct pt_reader *reader = new_reader(label, names);
    pt_input_from_memory(&reader->input, bytes, len);
    return reader;
}

void pt_reader_free(struct pt_reader *reader)
{
    if (!reader)
        return;
    pt_text_free(reader->text);
    pt_binary_reader_free(reader->binary);
    pt_input_release(&reader->input);
    free(reader->label);
    free(reader);
}

const char *pt_reader_label(const struct pt_reader *reader)
{
    return reader->label;
}

/* Enough bytes to tell the form: the magic, a byte that differs from it, or the end. */
static bool form_is_known(const struct pt_reader *reader)
{
    size_t left = pt_input_left(&reader->input);
    size_t n = left < PT_BINARY_MAGIC_LEN ? left : PT_BINARY_MAGIC_LEN;
    return n == PT_BINARY_MAGIC_LEN || reader->input.eof || memcmp(reader->input.buf, pt_binary_magic, n) != 0;
}

/* A non-empty input that ends within the magic is a torn binary trace. */
static void choose_form(struct pt_reader *reader)
{
    size_t left = pt_input_left(&reader->input);
    size_t n = left < PT_BINARY_MAGIC_LEN ? left : PT_BINARY_MAGIC_LEN;
    if (n && memcmp(reader->input.buf, pt_binary_magic, n) == 0)
        reader->binary = pt_binary_reader_new(reader->label, reader->names);
    else
        reader->text = pt_text_new(reader->label, reader->names);
}

static enum pt_read first(struct pt_reader *reader, struct pt_err *err)
{
    while (!form_is_known(reader))
        if (pt_input_fill(&reader->input, reader->label, err) != PT_OK)
            return PT_READ_ERROR;
    choose_form(reader);
    return PT_READ_EVENT;
}

static enum pt_read end_with(struct pt_reader *reader, enum pt_read got, const struct pt_err *err)
{
    reader->ended = got;
    if (got != PT_READ_END)
        reader->err = *err;
    return got;
}

enum pt_read pt_reader_next(struct pt_reader *reader, struct pt_event *ret_event, struct pt_err *err)
{
    enum pt_read got;
    if (reader->ended != PT_READ_EVENT) {
        if (reader->ended != PT_READ_END)
            *err = reader->err;
        return reader->ended;
    }
    if (!reader->text && !reader->binary) {
        got = first(reader, err);
        if (got != PT_READ_EVENT)
            return end_with(reader, got, err);
    }
    if (reader->text)
        got = pt_text_next(reader->text, &reader->input, ret_event, err);
    else
        got = pt_binary_next(reader->binary, &reader->input, ret_event, err);
    return got == PT_READ_EVENT ? got : end_with(reader, got, err);
}

static bool has_next(struct pt_reader *reader)
{
    if (reader->ended != PT_READ_EVENT)
        return true;
    if (!reader->text && !reader->binary) {
        if (!form_is_known(reader))
            return false;
        choose_form(reader);
    }
    if (reader->text)
        return pt_text_has_line(reader->text, &reader->input);
    return pt_binary_has_event(reader->binary, &reader->input);
}

bool pt_reader_would_block(struct pt_reader *reader)
{
    struct pt_err ignored; /* pt_reader_next meets the same failure and reports it */
    while (!has_next(reader)) {
        if (!pt_input_ready(&reader->input))
            return true;
        if (pt_input_fill(&reader->input, reader->label, &ignored) != PT_OK)
            return false;
    }
    return false;
}
