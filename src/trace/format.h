/*
 * What a format is: how its events are read and, where they can be, written. formats.def lists all of them; adding one
 * is a file that defines its struct pt_format and a row there (README.md has an example).
 */
#ifndef PT_TRACE_FORMAT_H
#define PT_TRACE_FORMAT_H

#include "base/buf.h"
#include "trace/input.h"
#include "trace/source.h"

/* What an event's `line` counts, for messages: "x.trace:12". */
enum pt_unit {
    PT_UNIT_LINE,   /* lines of a text, which can be shown */
    PT_UNIT_RECORD, /* events of a file */
    PT_UNIT_EVENT,  /* events of a run, as the program counts them or as they arrive */
};

/* Events to bytes. They are appended to a buffer that the caller empties as it likes. */
struct pt_encoder {
    /* Appends what a file begins with; the state of the others, NULL where there is none. */
    void *(*begin)(const struct pt_names *names, struct pt_buf *out);
    /* Right after it, where asked for: from here on the file is torn until its last bytes are there. NULL: it is so. */
    void (*promise)(void *state, struct pt_buf *out);
    enum pt_status (*add)(void *state, const struct pt_names *names, const struct pt_event *event, struct pt_buf *out,
                          struct pt_err *err);
    /* The last bytes. `incomplete`: why events are missing, so that whoever reads the file finds it torn; NULL: none.
     */
    void (*end)(void *state, const char *incomplete, struct pt_buf *out);
    void (*release)(void *state);
};

struct pt_format {
    const char *name;
    enum pt_unit unit;

    /* Of files. */
    const char *ending;   /* a file of that name is written in this format, ".ptb"; NULL: no name says so */
    const uint8_t *magic; /* the first bytes; NULL: a file that begins like none of the others */
    size_t magic_len;
    void *(*open)(const struct pt_source *source); /* the state of a reader; NULL: the format is none of files */
    bool (*has_next)(void *state, struct pt_input *input); /* does `input` hold already what `next` needs? */
    void (*release)(void *state);
    /* Before anything was read, goes near an event, counted from 1: true: the next one comes after *ret_before others.
     * False, or NULL: it has to be read from the beginning. */
    bool (*seek)(struct pt_source *source, uint64_t event, uint64_t *ret_before);

    /* Of live sources. */
    void (*wait)(struct pt_source *source, uint64_t nanoseconds);
    int (*fd)(const struct pt_source *source);
    struct pt_loss (*loss)(const struct pt_source *source);
    void (*free)(struct pt_source *source); /* frees everything but the label */

    /* Of both. */
    enum pt_read (*next)(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err);
    /* See pt_source_some; NULL: it never has several. */
    uint32_t (*some)(struct pt_source *source, struct pt_event *events, uint32_t most);
    const struct pt_encoder *encoder; /* NULL: it cannot be written */
};

#define PT_FORMAT(name, help) extern const struct pt_format pt_format_##name;
#define PT_FORMAT_READ(name)  extern const struct pt_format pt_format_##name;
#include "trace/formats.def"

/* All of them, in the order of formats.def, then NULL. */
extern const struct pt_format *const pt_formats[];

/* The format of a file by its first bytes. One that cannot be opened is text: reading it will say why. */
const struct pt_format *pt_format_of_file(const char *path);
/* The format to write a file of this name in. */
const struct pt_format *pt_format_of_name(const char *path);

/* A file as a source: what `next` of a file's format is given. */
struct pt_file_source {
    struct pt_source source;
    struct pt_input input;
    void *state; /* the format's, NULL until the first bytes have been seen */
};

/* The beginning of a source, for those who make one. */
void pt_source_init(struct pt_source *source, const struct pt_format *format, const char *label,
                    struct pt_names *names);
/* Waits until a descriptor can be read, at most so long; false: it cannot. */
bool pt_source_poll(int fd, uint64_t nanoseconds);

#endif
