/*
 * What all sources share, and files as sources. A file's format is settled by its first bytes, when its first event is
 * asked for and not before: opening a pipe waits for nobody. From then on the format's own function answers, one
 * indirect call per event. An end, of whatever kind, is remembered and given again.
 *
 * Everything streams: memory is what the format's reader keeps, and names.
 */
#include "trace/source.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "trace/format.h"

const struct pt_format *const pt_formats[] = {
#define PT_FORMAT(name, help) &pt_format_##name,
#define PT_FORMAT_READ(name)  &pt_format_##name,
#include "trace/formats.def"
    NULL};

/* --- formats --- */

enum probe { PROBE_NO, PROBE_MAYBE, PROBE_YES };

/* Can these first bytes of a file be of this format? MAYBE: its magic begins like this. */
static enum probe probe(const struct pt_format *format, const void *bytes, size_t len)
{
    size_t n = len < format->magic_len ? len : format->magic_len;
    if (!format->open || !format->magic || memcmp(bytes, format->magic, n) != 0)
        return PROBE_NO;
    return n == format->magic_len ? PROBE_YES : PROBE_MAYBE;
}

/* The format of a file that begins with these bytes; NULL: more are needed to say. A file that is not empty and ends
 * within a magic is a torn one of that format, of the first of several. */
static const struct pt_format *recognise(const void *bytes, size_t len, bool is_all)
{
    const struct pt_format *maybe = NULL;
    for (uint32_t i = 0; pt_formats[i]; i++) {
        enum probe answer = probe(pt_formats[i], bytes, len);
        if (answer == PROBE_YES)
            return pt_formats[i];
        if (answer == PROBE_MAYBE && !maybe)
            maybe = pt_formats[i];
    }
    if (maybe && !is_all)
        return NULL;
    return maybe && len ? maybe : &pt_format_text;
}

const struct pt_format *pt_format_of_file(const char *path)
{
    char first[64];
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(first, 1, sizeof first, file) : 0;
    if (file)
        fclose(file);
    return recognise(first, len, true);
}

const struct pt_format *pt_format_of_name(const char *path)
{
    size_t len = strlen(path);
    for (uint32_t i = 0; pt_formats[i]; i++) {
        const char *ending = pt_formats[i]->ending;
        if (ending && pt_formats[i]->encoder && len > strlen(ending) &&
            strcmp(path + len - strlen(ending), ending) == 0)
            return pt_formats[i];
    }
    return &pt_format_text;
}

/* --- any source --- */

void pt_source_init(struct pt_source *source, const struct pt_format *format, const char *label, struct pt_names *names)
{
    *source = (struct pt_source){.next = format ? format->next : NULL,
                                 .format = format,
                                 .names = names,
                                 .label = pt_xstrdup(label),
                                 .ended = PT_READ_EVENT};
}

static enum pt_read repeat_end(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    (void)ret_event;
    if (source->ended != PT_READ_END)
        *err = source->err;
    return source->ended;
}

enum pt_read pt_source_settle(struct pt_source *source, enum pt_read got, const struct pt_err *err)
{
    if (got == PT_READ_WAIT || source->ended != PT_READ_EVENT)
        return got;
    source->ended = got;
    source->next = repeat_end;
    if (got != PT_READ_END)
        source->err = *err;
    return got;
}

uint32_t pt_source_some(struct pt_source *source, struct pt_event *events, uint32_t most)
{
    bool has = source->format && source->format->some && source->ended == PT_READ_EVENT;
    return has ? source->format->some(source, events, most) : 0;
}

struct pt_names *pt_source_names(const struct pt_source *source)
{
    return source->names;
}

const char *pt_source_label(const struct pt_source *source)
{
    return source->label;
}

const struct pt_format *pt_source_format(const struct pt_source *source)
{
    return source->format;
}

struct pt_loss pt_source_loss(const struct pt_source *source)
{
    struct pt_loss loss = {0};
    if (source->format && source->format->loss)
        loss = source->format->loss(source);
    if (!loss.why[0] && (source->ended == PT_READ_TORN || source->ended == PT_READ_ERROR))
        snprintf(loss.why, sizeof loss.why, "%s", source->err.message);
    return loss;
}

/* --- files --- */

/* A live source, which no file is, has a function to wait with. */
static bool is_live(const struct pt_source *source)
{
    return source->format && source->format->wait;
}

static struct pt_file_source *file_of(struct pt_source *source)
{
    return (struct pt_file_source *)source;
}

/* Settles the format if the bytes at hand do; false: they do not. */
static bool choose_format(struct pt_file_source *file)
{
    struct pt_source *source = &file->source;
    const struct pt_input *input = &file->input;
    source->format = recognise(input->buf + input->pos, pt_input_left(input), input->eof);
    if (!source->format)
        return false;
    file->state = source->format->open(source);
    source->next = source->format->next;
    return true;
}

/* `next` of a file whose format is not known. */
static enum pt_read first(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct pt_file_source *file = file_of(source);
    while (!choose_format(file))
        if (pt_input_fill(&file->input, source->label, err) != PT_OK)
            return PT_READ_ERROR;
    return source->next(source, ret_event, err);
}

enum pt_read pt_source_seek(struct pt_source *source, uint64_t event, struct pt_err *err)
{
    struct pt_file_source *file = file_of(source);
    struct pt_event passed;
    uint64_t before = 0;
    enum pt_read got = PT_READ_EVENT;
    while (!source->format && !choose_format(file))
        if (pt_input_fill(&file->input, source->label, err) != PT_OK)
            return PT_READ_ERROR;
    if (source->format->seek && !source->format->seek(source, event, &before))
        before = 0;
    for (; before + 1 < event && got == PT_READ_EVENT; before++)
        got = pt_source_next(source, &passed, err);
    return got;
}

static struct pt_file_source *new_file(const char *label, struct pt_names *names)
{
    struct pt_file_source *file = pt_xcalloc(1, sizeof *file);
    pt_source_init(&file->source, NULL, label, names);
    file->source.next = first;
    return file;
}

enum pt_status pt_source_open(const char *path, struct pt_names *names, struct pt_source **ret_source,
                              struct pt_err *err)
{
    struct pt_input input;
    enum pt_status status = pt_input_open(&input, path, err);
    if (status != PT_OK)
        return status;
    struct pt_file_source *file = new_file(path, names);
    file->input = input;
    *ret_source = &file->source;
    return PT_OK;
}

struct pt_source *pt_source_from_memory(const char *label, const void *bytes, size_t len, struct pt_names *names)
{
    struct pt_file_source *file = new_file(label, names);
    pt_input_from_memory(&file->input, bytes, len);
    return &file->source;
}

static bool has_next(struct pt_file_source *file)
{
    if (file->source.ended != PT_READ_EVENT)
        return true;
    return (file->source.format || choose_format(file)) && file->source.format->has_next(file->state, &file->input);
}

bool pt_source_ready(struct pt_source *source)
{
    struct pt_err ignored; /* pt_source_next meets the same failure and reports it */
    if (is_live(source))
        return true;
    struct pt_file_source *file = file_of(source);
    while (!has_next(file)) {
        if (!pt_input_ready(&file->input))
            return false;
        if (pt_input_fill(&file->input, source->label, &ignored) != PT_OK)
            return true;
    }
    return true;
}

void pt_source_leave_out(struct pt_source *source)
{
    source->leaves_out = true;
}

void pt_source_copy(struct pt_source *source, int fd)
{
    file_of(source)->input.copy = fd;
}

int pt_source_copy_failed(const struct pt_source *source)
{
    return ((const struct pt_file_source *)source)->input.copy_failed;
}

void pt_source_follow(struct pt_source *source, bool follows)
{
    source->follows = follows;
}

void pt_source_hold(struct pt_source *source, bool holds)
{
    source->holds = holds;
}

bool pt_source_poll(int fd, uint64_t nanoseconds)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    return ppoll(&wanted, 1, &time, NULL) > 0;
}

void pt_source_wait(struct pt_source *source, uint64_t nanoseconds)
{
    if (is_live(source))
        source->format->wait(source, nanoseconds);
}

int pt_source_fd(const struct pt_source *source)
{
    if (is_live(source))
        return source->format->fd ? source->format->fd(source) : -1;
    return ((const struct pt_file_source *)source)->input.fd;
}

static void free_file(struct pt_file_source *file)
{
    if (file->state)
        file->source.format->release(file->state);
    pt_input_release(&file->input);
    free(file);
}

void pt_source_free(struct pt_source *source)
{
    if (!source)
        return;
    char *label = source->label;
    if (is_live(source))
        source->format->free(source);
    else
        free_file(file_of(source));
    free(label);
}
