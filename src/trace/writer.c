/*
 * Writing a trace in any format that can be written: the format's encoder appends to one buffer, which goes to the file
 * whenever it is large enough. A write that fails is reported once; what comes after it is dropped. Memory: the buffer
 * and what the encoder collects.
 */
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/clock_state.h"
#include "trace/format.h"

enum { FLUSH_BYTES = 64 * 1024 };

struct pt_writer {
    char *label;
    int fd;
    bool close_fd;
    const struct pt_names *names;
    const struct pt_encoder *encoder;
    void *state;       /* the encoder's */
    struct pt_buf out; /* not yet written */
    char *incomplete;  /* why, or NULL */
    bool reduces;      /* clocks are to name only what has to be */
    struct pt_clock_state clocks;
    bool failed; /* a write failed and was reported; the rest is dropped */
};

enum pt_status pt_writer_open(const char *path, const struct pt_format *format, const struct pt_names *names,
                              struct pt_writer **ret_writer, struct pt_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return pt_err_at(err, PT_EIO, path, 0, 0, "cannot create the trace: %s", strerror(errno));
    struct pt_writer *writer = pt_xcalloc(1, sizeof *writer);
    writer->label = pt_xstrdup(path);
    writer->fd = fd;
    writer->close_fd = !standard;
    writer->names = names;
    pt_buf_init(&writer->out);
    writer->encoder = format->encoder;
    writer->state = writer->encoder->begin(names, &writer->out);
    *ret_writer = writer;
    return PT_OK;
}

static enum pt_status write_failed(struct pt_writer *writer, struct pt_err *err)
{
    int why = errno;
    writer->failed = true;
    return pt_err_at(err, PT_EIO, writer->label, 0, 0, "cannot write the trace: %s", strerror(why));
}

static enum pt_status flush(struct pt_writer *writer, struct pt_err *err)
{
    size_t done = 0;
    while (done < writer->out.len) {
        ssize_t n = write(writer->fd, writer->out.text + done, writer->out.len - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd pfd = {.fd = writer->fd, .events = POLLOUT};
            if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
                return write_failed(writer, err);
        } else if (errno != EINTR) {
            return write_failed(writer, err);
        }
    }
    writer->out.len = 0;
    return PT_OK;
}

/* At once, since the recorder may not live to the first flush. What cannot be written now is reported by the next one.
 */
void pt_writer_promise_end(struct pt_writer *writer)
{
    if (writer->encoder->promise)
        writer->encoder->promise(writer->state, &writer->out);
    ssize_t n = write(writer->fd, writer->out.text, writer->out.len);
    if (n > 0) {
        memmove(writer->out.text, writer->out.text + n, writer->out.len - (size_t)n);
        writer->out.len -= (size_t)n;
    }
}

void pt_writer_reduce_clocks(struct pt_writer *writer)
{
    writer->reduces = true;
}

static struct pt_event reduced(struct pt_writer *writer, struct pt_event event)
{
    if (writer->reduces && event.clock && event.clock_len > PT_CLOCK_SHORT)
        pt_clock_state_reduce(&writer->clocks, &event);
    else if (writer->reduces && event.clock)
        pt_clock_state_take(&writer->clocks, &event);
    return event;
}

enum pt_status pt_writer_add(struct pt_writer *writer, const struct pt_event *event, struct pt_err *err)
{
    if (writer->failed)
        return pt_err_at(err, PT_EIO, writer->label, 0, 0, "cannot write the trace: an earlier write failed");
    struct pt_event written = reduced(writer, *event);
    enum pt_status status = writer->encoder->add(writer->state, writer->names, &written, &writer->out, err);
    if (status != PT_OK) {
        writer->failed = true;
        return status;
    }
    return writer->out.len >= FLUSH_BYTES ? flush(writer, err) : PT_OK;
}

void pt_writer_set_incomplete(struct pt_writer *writer, const char *why)
{
    free(writer->incomplete);
    writer->incomplete = pt_xstrdup(why);
}

enum pt_status pt_writer_close(struct pt_writer *writer, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (writer->failed) {
        status = pt_err_at(err, PT_EIO, writer->label, 0, 0, "the trace is incomplete: an earlier write failed");
    } else {
        writer->encoder->end(writer->state, writer->incomplete, &writer->out);
        status = flush(writer, err);
    }
    if (writer->close_fd && close(writer->fd) != 0 && status == PT_OK)
        status = write_failed(writer, err);
    writer->encoder->release(writer->state);
    pt_buf_release(&writer->out);
    pt_clock_state_release(&writer->clocks);
    free(writer->incomplete);
    free(writer->label);
    free(writer);
    return status;
}
