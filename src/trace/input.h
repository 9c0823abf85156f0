/* Bytes from a descriptor or from memory, in large chunks, with as much of them kept as the reader still needs. */
#ifndef PT_TRACE_INPUT_H
#define PT_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* This many zero bytes follow the last byte of the buffer, so that short words can be loaded whole. */
enum { PT_INPUT_PAD = 16 };

struct pt_input {
    int fd; /* -1: from memory */
    bool close_fd;
    const char *memory; /* what is left of it */
    size_t memory_len;
    const char *whole; /* all of it */
    size_t whole_len;
    char *buf;
    size_t pos, end, cap; /* unread bytes are buf[pos..end) */
    uint64_t offset;      /* in the whole input, of buf[0] */
    bool eof;             /* nothing comes after buf[end) */
    int copy;             /* a descriptor that gets all bytes that are read, too; -1: none */
    int copy_failed;      /* errno of its first write that failed, after which it gets no more; 0: none has */
};

enum pt_status pt_input_open(struct pt_input *input, const char *path, struct pt_err *err) PT_WARN_UNUSED;
void pt_input_from_memory(struct pt_input *input, const void *bytes, size_t len);
void pt_input_release(struct pt_input *input);

/*
 * Waits for more bytes and appends them, or sets eof. Unread bytes may move (pos becomes 0). The buffer grows when the
 * unread bytes fill it, so callers bound what they leave unread.
 */
enum pt_status pt_input_fill(struct pt_input *input, const char *label, struct pt_err *err) PT_WARN_UNUSED;
/* The bytes of a file or of memory as a whole; 0: it is something that goes by. */
uint64_t pt_input_size(const struct pt_input *input);
/* Some of them, wherever reading is; false: they are not all there. */
bool pt_input_read_at(const struct pt_input *input, uint64_t offset, void *bytes, size_t len);
/* Reading goes on from there; false: it cannot. */
bool pt_input_seek(struct pt_input *input, uint64_t offset);
/* Whether pt_input_fill would return at once. */
bool pt_input_ready(const struct pt_input *input);

static inline size_t pt_input_left(const struct pt_input *input)
{
    return input->end - input->pos;
}

#endif
