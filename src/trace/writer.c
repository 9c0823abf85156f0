/* Writing either form through one buffer. */
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/binary.h"
#include "trace/text.h"

enum { FLUSH_BYTES = 64 * 1024 };

struct pt_writer {
    char *label;
    int fd;
    bool close_fd;
    const struct pt_names *names;
    struct pt_binary_writer *binary; /* NULL: text */
    struct pt_buf out;               /* not yet written */
    char *incomplete;                /* why, or NULL */
    bool failed;                     /* a write failed and was reported; the rest is dropped */
};

enum pt_status pt_writer_open(const char *path, enum pt_trace_form form, const struct pt_names *names,
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
    if (form == PT_FORM_BINARY) {
        writer->binary = pt_binary_writer_new(names);
        pt_binary_begin(&writer->out);
    }
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

enum pt_status pt_writer_add(struct pt_writer *writer, const struct pt_event *event, struct pt_err *err)
{
    if (writer->failed)
        return pt_err_at(err, PT_EIO, writer->label, 0, 0, "cannot write the trace: an earlier write failed");
    if (writer->binary) {
        enum pt_status status = pt_binary_add(writer->binary, event, &writer->out, err);
        if (status != PT_OK) {
            writer->failed = true;
            return status;
        }
    } else {
        pt_event_to_text(writer->names, event, &writer->out);
        pt_buf_add(&writer->out, "\n", 1);
    }
    return writer->out.len >= FLUSH_BYTES ? flush(writer, err) : PT_OK;
}

void pt_writer_set_incomplete(struct pt_writer *writer, const char *why)
{
    free(writer->incomplete);
    writer->incomplete = pt_xstrdup(why);
}

/* An incomplete text says so in a line of its own; an incomplete binary has no end marker. */
static void finish(struct pt_writer *writer)
{
    if (writer->binary && writer->incomplete)
        pt_binary_flush(writer->binary, &writer->out);
    else if (writer->binary)
        pt_binary_end(writer->binary, &writer->out);
    else if (writer->incomplete)
        pt_buf_printf(&writer->out, "%s%s\n", PT_TEXT_INCOMPLETE, writer->incomplete);
}

enum pt_status pt_writer_close(struct pt_writer *writer, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (writer->failed) {
        status = pt_err_at(err, PT_EIO, writer->label, 0, 0, "the trace is incomplete: an earlier write failed");
    } else {
        finish(writer);
        status = flush(writer, err);
    }
    if (writer->close_fd && close(writer->fd) != 0 && status == PT_OK)
        status = write_failed(writer, err);
    pt_binary_writer_free(writer->binary);
    pt_buf_release(&writer->out);
    free(writer->incomplete);
    free(writer->label);
    free(writer);
    return status;
}

static void put_name(const struct pt_names *names, enum pt_space space, uint32_t id, struct pt_buf *buf)
{
    const struct pt_strtab *tab = &names->space[space];
    pt_buf_add(buf, pt_strtab_text(tab, id), pt_strtab_len(tab, id));
}

void pt_event_to_text(const struct pt_names *names, const struct pt_event *event, struct pt_buf *buf)
{
    if (event->thread == PT_NONE)
        pt_buf_add(buf, "-", 1);
    else
        put_name(names, PT_SPACE_THREAD, event->thread, buf);
    pt_buf_add(buf, "|", 1);
    pt_buf_puts(buf, pt_op_word(event->op));
    if (pt_op_has_object(event->op)) {
        pt_buf_add(buf, "(", 1);
        put_name(names, pt_op_space(event->op), event->object, buf);
        pt_buf_add(buf, ")", 1);
    }
    if (event->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_add(buf, "=", 1);
        pt_value_to_text(event->value, buf);
    }
    pt_buf_add(buf, "|", 1);
    put_name(names, PT_SPACE_LOC, event->loc, buf);
    if (event->has_time)
        pt_buf_printf(buf, "|t=%llu", (unsigned long long)event->time);
    for (uint32_t i = 0; i < event->clock_len; i++) {
        pt_buf_puts(buf, i == 0 ? "|c=" : ",");
        put_name(names, PT_SPACE_THREAD, event->clock[i].thread, buf);
        pt_buf_printf(buf, ":%llu", (unsigned long long)event->clock[i].count);
    }
}
