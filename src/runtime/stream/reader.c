/*
 * Readers: a socket and a queue of bytes each. Frames go into the queue whole or not at all, and the kernel takes as
 * much as it likes without anybody waiting. What a reader has missed needs no book-keeping: the number it expects says
 * it, and the next frame that fits is preceded by a LOST for the difference.
 *
 * Guarantee: a reader sees whole frames, in order, and every gap as a LOST. Cost: one copy of each frame for each
 * reader; at most PT_QUEUE_BYTES of memory.
 */
#include <errno.h>
#include <string.h>

#include "runtime/stream/impl.h"

enum { HEAR_MOST = 16, PATH = 4096 };

struct pt_stream_reader pt_readers[PT_READERS_MAX];
uint32_t pt_reader_count;

bool pt_blob_reserve(struct pt_blob *blob, size_t need)
{
    if (need <= blob->cap)
        return true;
    size_t cap = blob->cap ? blob->cap : 1 << 16;
    while (cap < need)
        cap *= 2;
    unsigned char *bytes = pt_sys_reserve(cap);
    if (!bytes)
        return false;
    if (blob->bytes) {
        memcpy(bytes, blob->bytes, blob->len);
        pt_sys_release(blob->bytes, blob->cap);
    }
    blob->bytes = bytes;
    blob->cap = cap;
    return true;
}

bool pt_blob_frame(struct pt_blob *blob, enum pt_wire_type type, const void *body, size_t len, const char *text)
{
    size_t end = text ? strlen(text) + 1 : 0, bytes = sizeof(struct pt_wire_frame) + len + end;
    size_t padded = (bytes + 7) & ~(size_t)7;
    if (padded > PT_WIRE_FRAME_MAX || !pt_blob_reserve(blob, blob->len + padded))
        return false;
    unsigned char *at = blob->bytes + blob->len;
    struct pt_wire_frame head = {(uint32_t)padded, (uint16_t)type, PT_WIRE_VERSION};
    memcpy(at, &head, sizeof head);
    if (len)
        memcpy(at + sizeof head, body, len);
    if (text)
        memcpy(at + sizeof head + len, text, end);
    memset(at + bytes, 0, padded - bytes);
    blob->len += padded;
    return true;
}

/* Programs may close descriptors that they do not know; then the number is theirs, and not ours to close. */
static bool is_ours(long error)
{
    return error != -EBADF && error != -ENOTSOCK;
}

/* After this error, 0 for none. */
static void give_up(struct pt_stream_reader *reader, long error)
{
    if (is_ours(error))
        pt_sys_close(reader->fd);
    pt_sys_release(reader->queue, PT_QUEUE_BYTES);
    *reader = (struct pt_stream_reader){.fd = -1};
    pt_reader_count--;
}

static void enqueue(struct pt_stream_reader *reader, const void *bytes, size_t len)
{
    size_t at = reader->head % PT_QUEUE_BYTES, first = PT_QUEUE_BYTES - at < len ? PT_QUEUE_BYTES - at : len;
    memcpy(reader->queue + at, bytes, first);
    memcpy(reader->queue, (const unsigned char *)bytes + first, len - first);
    reader->head += len;
}

/* As many whole frames of a list as fit, from where the reader is in it. True: all of them. */
static bool put_list(struct pt_stream_reader *reader, const struct pt_blob *list, size_t *at, size_t *room)
{
    while (*at < list->len) {
        struct pt_wire_frame frame;
        memcpy(&frame, list->bytes + *at, sizeof frame);
        if (frame.bytes > *room)
            return false;
        enqueue(reader, list->bytes + *at, frame.bytes);
        *at += frame.bytes;
        *room -= frame.bytes;
    }
    return true;
}

/* The names that the reader has not got yet. */
static bool put_names(struct pt_stream_reader *reader, size_t room)
{
    if (reader->thread_names_made != pt_thread_names_made) {
        reader->thread_names_made = pt_thread_names_made;
        reader->thread_names = 0;
    }
    return put_list(reader, &pt_static_names, &reader->static_names, &room) &&
           put_list(reader, &pt_thread_names, &reader->thread_names, &room);
}

void pt_reader_put(struct pt_stream_reader *reader, const struct pt_blob *frame, uint64_t number, uint64_t next,
                   uint64_t time)
{
    struct pt_wire_lost lost = {.head = {sizeof lost, PT_WIRE_LOST, PT_WIRE_VERSION},
                                .number = reader->expected,
                                .count = number - reader->expected,
                                .time = reader->time,
                                .thread = PT_WIRE_NONE};
    size_t room = PT_QUEUE_BYTES - (size_t)(reader->head - reader->tail);
    size_t need = frame->len + (lost.count ? sizeof lost : 0);
    reader->full = need > room || !put_names(reader, room - need);
    if (reader->full)
        return;
    if (lost.count)
        enqueue(reader, &lost, sizeof lost);
    enqueue(reader, frame->bytes, frame->len);
    reader->expected = next;
    reader->time = time;
}

void pt_reader_flush(struct pt_stream_reader *reader)
{
    while (reader->tail != reader->head) {
        size_t at = reader->tail % PT_QUEUE_BYTES, len = (size_t)(reader->head - reader->tail);
        if (len > PT_QUEUE_BYTES - at)
            len = PT_QUEUE_BYTES - at;
        long sent = pt_sys_send(reader->fd, reader->queue + at, len);
        if (sent == -EINTR)
            continue;
        if (sent == -EAGAIN)
            return;
        if (sent <= 0) {
            give_up(reader, sent);
            return;
        }
        reader->tail += (uint64_t)sent;
    }
}

/* Readers have nothing to say; what they say is thrown away. One that has closed its end may still listen: whether it
 * does shows when something is sent. */
void pt_reader_hear(struct pt_stream_reader *reader)
{
    char nothing[4096];
    for (unsigned i = 0; i < HEAR_MOST; i++) {
        long got = pt_sys_receive(reader->fd, nothing, sizeof nothing);
        if (got == 0)
            reader->deaf = true;
        if (got == 0 || got == -EAGAIN)
            return;
        if (got < 0 && got != -EINTR) {
            give_up(reader, got);
            return;
        }
    }
}

static void greet(struct pt_stream_reader *reader, uint64_t number, uint64_t now)
{
    static char program[PATH];
    static struct pt_blob frame;
    struct pt_wire_hello hello = {.magic = PT_WIRE_MAGIC,
                                  .number = number,
                                  .time = now,
                                  .wall = pt_sys_wall(),
                                  .pid = (uint32_t)pt_sys_process()};
    if (!program[0])
        pt_sys_program(program, sizeof program);
    frame.len = 0;
    if (pt_blob_frame(&frame, PT_WIRE_HELLO, &hello.head + 1, sizeof hello - sizeof hello.head, program))
        enqueue(reader, frame.bytes, frame.len);
    frame.len = 0;
    pt_stream_snapshot(&frame, number, now);
    pt_reader_put(reader, &frame, number, number, now);
}

/* One that has said its last may well be gone; it makes room for another. */
static struct pt_stream_reader *free_place(void)
{
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        if (pt_readers[i].fd < 0)
            return &pt_readers[i];
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        if (pt_readers[i].deaf) {
            give_up(&pt_readers[i], 0);
            return &pt_readers[i];
        }
    return NULL;
}

bool pt_reader_accept(int *ret_fd)
{
    int fd = pt_sys_accept(pt_stream_listener);
    *ret_fd = fd < 0 ? -1 : fd;
    if (fd >= 0)
        return true;
    if (!is_ours(fd) || fd == -EINVAL)
        pt_stream_listener = -1;
    return fd == -EAGAIN;
}

void pt_reader_add(int fd, uint64_t number, uint64_t now)
{
    struct pt_stream_reader *reader = free_place();
    unsigned char *queue = reader ? pt_sys_reserve(PT_QUEUE_BYTES) : NULL;
    if (!queue) {
        pt_sys_close(fd);
        return;
    }
    pt_sys_no_delay(fd);
    *reader = (struct pt_stream_reader){.fd = fd, .queue = queue, .expected = number, .time = now};
    pt_reader_count++;
    greet(reader, number, now);
}
