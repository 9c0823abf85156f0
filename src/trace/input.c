/*
 * Bytes for the readers of files: one growing buffer, filled by large reads or from memory, with zero bytes behind its
 * end so that readers may load whole words. An interrupted or non-blocking read is waited for. The buffer doubles only
 * when unread bytes fill half of it, so its size is bounded by what a reader leaves unread; every byte is copied at
 * most once for each time it is left over.
 */
#include "trace/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 256 * 1024 };

static void init(struct pt_input *input, size_t cap)
{
    *input = (struct pt_input){.fd = -1, .copy = -1, .cap = cap};
    input->buf = pt_xcalloc(1, cap + PT_INPUT_PAD);
}

enum pt_status pt_input_open(struct pt_input *input, const char *path, struct pt_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot open the trace: %s", strerror(errno));
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (!standard)
            close(fd);
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot read the trace: %s", strerror(EISDIR));
    }
    init(input, CHUNK);
    input->fd = fd;
    input->close_fd = !standard;
    return PT_OK;
}

void pt_input_from_memory(struct pt_input *input, const void *bytes, size_t len)
{
    init(input, len < CHUNK ? len + 1 : CHUNK);
    input->memory = input->whole = bytes;
    input->memory_len = input->whole_len = len;
}

void pt_input_release(struct pt_input *input)
{
    if (input->close_fd)
        close(input->fd);
    free(input->buf);
}

/* One read of at most `room` bytes; -1 with errno. A non-blocking descriptor is waited for. */
static ssize_t read_some(struct pt_input *input, char *to, size_t room)
{
    if (input->fd < 0) {
        size_t n = input->memory_len < room ? input->memory_len : room;
        if (n == 0)
            return 0;
        memcpy(to, input->memory, n);
        input->memory += n;
        input->memory_len -= n;
        return (ssize_t)n;
    }
    for (;;) {
        ssize_t n = read(input->fd, to, room);
        if (n >= 0)
            return n;
        if (errno == EAGAIN) {
            struct pollfd pfd = {.fd = input->fd, .events = POLLIN};
            if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
                return -1;
        } else if (errno != EINTR) {
            return -1;
        }
    }
}

static void copy_bytes(struct pt_input *input, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len && !input->copy_failed;) {
        ssize_t n = write(input->copy, bytes + done, len - done);
        if (n < 0 && errno != EINTR)
            input->copy_failed = errno;
        done += n > 0 ? (size_t)n : 0;
    }
}

enum pt_status pt_input_fill(struct pt_input *input, const char *label, struct pt_err *err)
{
    size_t left = pt_input_left(input);
    if (input->pos) {
        memmove(input->buf, input->buf + input->pos, left);
        input->offset += input->pos;
        input->pos = 0;
        input->end = left;
    }
    if (left > input->cap / 2) {
        input->cap *= 2;
        input->buf = pt_xrealloc(input->buf, input->cap + PT_INPUT_PAD);
    }
    ssize_t n = read_some(input, input->buf + left, input->cap - left);
    if (n < 0)
        return pt_err_at(err, PT_EIO, label, 0, 0, "cannot read the trace: %s", strerror(errno));
    if (input->copy >= 0)
        copy_bytes(input, input->buf + left, (size_t)n);
    input->end += (size_t)n;
    input->eof = n == 0;
    memset(input->buf + input->end, 0, PT_INPUT_PAD);
    return PT_OK;
}

uint64_t pt_input_size(const struct pt_input *input)
{
    struct stat st;
    if (input->fd < 0)
        return input->whole_len;
    return fstat(input->fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

bool pt_input_read_at(const struct pt_input *input, uint64_t offset, void *bytes, size_t len)
{
    if (input->fd < 0) {
        if (offset > input->whole_len || len > input->whole_len - offset)
            return false;
        memcpy(bytes, input->whole + offset, len);
        return true;
    }
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(input->fd, (char *)bytes + done, len - done, (off_t)(offset + done));
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool pt_input_seek(struct pt_input *input, uint64_t offset)
{
    if (offset > pt_input_size(input) || (input->fd >= 0 && lseek(input->fd, (off_t)offset, SEEK_SET) < 0))
        return false;
    if (input->fd < 0) {
        input->memory = input->whole + offset;
        input->memory_len = input->whole_len - offset;
    }
    input->offset = offset;
    input->pos = input->end = 0;
    input->eof = false;
    return true;
}

bool pt_input_ready(const struct pt_input *input)
{
    if (input->fd < 0 || input->eof)
        return true;
    struct pollfd pfd = {.fd = input->fd, .events = POLLIN};
    return poll(&pfd, 1, 0) != 0; /* a failure of poll is for read to report */
}
