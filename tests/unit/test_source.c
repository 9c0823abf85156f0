/*
 * One run through every format of trace/formats.def: the same events, names, ends and losses must come out of each. A
 * format without a maker below fails this test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "channel_util.h"
#include "core/recording.h"
#include "trace/format.h"
#include "trace/writer.h"
#include "wire_util.h"

/* The run, without times and clocks, which not every format has. */
static const char run[] = "-|init(x)=7|-\n"
                          "main|w(x)=2|a.c:12\n"
                          "worker|event(go)|a.c:12\n"
                          "worker|u(x)=-3|-\n"
                          "main|w(x)=5|-\n";
enum { EVENTS = 5 };

enum ending { WHOLE, DAMAGED };

/* A source that is being tested, and what it stands on. */
struct made {
    struct pt_names names;
    struct pt_source *source;
    struct pt_buf bytes;
    struct fixture channel;
    int sockets[2];
};

/* --- files --- */

static void encode(const struct pt_format *format, enum ending ending, struct pt_buf *out)
{
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    pt_names_init(&names);
    struct pt_source *source = pt_source_from_memory("run", run, strlen(run), &names);
    void *state = format->encoder->begin(&names, out);
    while (pt_source_next(source, &event, &err) == PT_READ_EVENT)
        assert_int_equal(format->encoder->add(state, &names, &event, out, &err), PT_OK);
    format->encoder->end(state, ending == DAMAGED ? "2 events were lost" : NULL, out);
    format->encoder->release(state);
    pt_source_free(source);
    pt_names_release(&names);
}

static void make_file(struct made *made, const struct pt_format *format, enum ending ending)
{
    encode(format, ending, &made->bytes);
    made->source = pt_source_from_memory("label", made->bytes.text, made->bytes.len, &made->names);
}

/* --- the channel --- */

static const char *function(void *context, uint64_t start, uint64_t base)
{
    (void)context;
    return start - base == 16 ? "worker" : NULL;
}

static void open_channel(struct made *made)
{
    static const struct pt_channel_var x = {.name = "x", .offset = 0x1000, .size = 4, .type = PT_WATCH_INT};
    static const char *const events[] = {"go"};
    struct pt_channel_setup setup = {
        .vars = &x, .var_count = 1, .events = events, .event_count = 1, .ring_bytes = RING_BYTES, .ring_max = RINGS};
    struct pt_err err;
    assert_int_equal(pt_channel_create(&setup, &made->names, &made->channel.reader, &err), PT_OK);
    made->channel.map = pt_channel_map(made->channel.reader);
    made->source = pt_channel_source(made->channel.reader);
    pt_channel_set_function(made->channel.reader, function, NULL);
}

static void put_access(struct fixture *f, uint32_t thread, uint64_t number, uint32_t kind, uint32_t site, uint32_t own,
                       int value)
{
    struct written w = {.type = PT_RECORD_EVENT,
                        .kind = kind,
                        .thread = thread,
                        .number = number,
                        .site = site,
                        .clock = {{thread, own}},
                        .clock_count = 1,
                        .value = &value,
                        .value_bytes = kind == PT_KIND_USER ? 0 : sizeof value};
    put_event(f, thread, w);
}

static void make_channel(struct made *made, const struct pt_format *format, enum ending ending)
{
    struct fixture *f = &made->channel;
    int seven = 7;
    (void)format;
    open_channel(made);
    f->map->program_state = PT_PROGRAM_RUNNING;
    open_ring(f, 0);
    open_ring(f, 1);
    put_thread(f, 0, 0, 0, "");
    put_thread(f, 1, 1, 16, "");
    put_site(f, 0, 3, "a.c", 12);
    put_site(f, 1, 3, "a.c", 12);
    put_event(f, 0, (struct written){.type = PT_RECORD_INIT, .kind = PT_KIND_WRITE, .value = &seven, .value_bytes = 4});
    put_access(f, 0, 1, PT_KIND_WRITE, 3, 1, 2);
    put_access(f, 1, 2, PT_KIND_USER, 3, 1, 0);
    put_access(f, 1, 3, PT_KIND_UPDATE, 0, 2, -3);
    put_access(f, 0, 4, PT_KIND_WRITE, 0, 2, 5);
    if (ending == DAMAGED)
        f->map->dropped = 2;
    pt_channel_set_ended(f->reader);
}

/* --- the stream --- */

static void put_stream(struct pt_buf *out, enum ending ending)
{
    struct pt_wire_site site = {.id = 3, .line = 12};
    struct pt_buf events;
    int64_t values[] = {7, 2, -3, 5};
    pt_buf_init(&events);
    add_hello(out);
    add_name(out, PT_WIRE_THREAD, 0, "main");
    add_name(out, PT_WIRE_THREAD, 1, "worker");
    add_name(out, PT_WIRE_VAR, 0, "x");
    add_name(out, PT_WIRE_USER, 2, "go");
    add_frame(out, PT_WIRE_SITE, BODY(site), "a.c");
    add_event(&events, (struct pt_wire_event){0, PT_WIRE_OP_WRITE, PT_VALUE_INT, 8, 0, 0, 0, PT_WIRE_NONE}, values);
    add_events(out, PT_WIRE_SNAPSHOT, START, 1, &events);
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_WRITE, PT_VALUE_INT, 8, 0, 0, 3, PT_WIRE_NONE}, values + 1);
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_USER, 0, 0, 1, 2, 3, PT_WIRE_NONE}, "");
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_UPDATE, PT_VALUE_INT, 8, 1, 0, 0, PT_WIRE_NONE},
              values + 2);
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_WRITE, PT_VALUE_INT, 8, 0, 0, 0, PT_WIRE_NONE}, values + 3);
    add_events(out, PT_WIRE_EVENTS, START, 4, &events);
    if (ending == WHOLE)
        add_clock(out, PT_WIRE_BYE, START + 4, T + 100);
    pt_buf_release(&events);
}

static void open_wire(struct made *made)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, made->sockets), 0);
    made->source = pt_wire_source_new(made->sockets[0], "label", &made->names);
}

static void make_wire(struct made *made, const struct pt_format *format, enum ending ending)
{
    (void)format;
    open_wire(made);
    put_stream(&made->bytes, ending);
    assert_int_equal(write(made->sockets[1], made->bytes.text, made->bytes.len), made->bytes.len);
    close(made->sockets[1]);
    made->sockets[1] = -1;
}

/* --- recordings --- */

static void add_chunk(struct pt_buf *out, struct pt_rec_chunk chunk, const struct pt_buf *bytes)
{
    chunk.magic = PT_REC_CHUNK_MAGIC;
    chunk.raw = chunk.stored = bytes ? (uint32_t)bytes->len : 0;
    chunk.sum = pt_rec_sum(&chunk, bytes ? (const uint8_t *)bytes->text : NULL);
    pt_buf_add(out, (const char *)&chunk, sizeof chunk);
    if (bytes)
        pt_buf_add(out, bytes->text, bytes->len);
}

/* A definition, with texts behind it. */
static void define(struct pt_buf *out, struct pt_record *record, size_t bytes, const char *texts, size_t len)
{
    record->bytes = (uint32_t)((bytes + len + 7) / 8 * 8);
    pt_buf_add(out, (const char *)record, bytes);
    pt_buf_add(out, texts, len);
    while (out->len % 8)
        pt_buf_add(out, "", 1);
}

static void add_definitions(struct pt_buf *out)
{
    struct pt_buf defs;
    struct pt_record_thread worker = {.head.type = PT_RECORD_THREAD, .thread = 1},
                            main = {.head.type = PT_RECORD_THREAD};
    struct pt_record_watch watch = {.head.type = PT_RECORD_WATCH, .type = PT_WATCH_INT, .size = 4};
    struct pt_record_event init = {.head.type = PT_RECORD_INIT, .value_bytes = 4};
    struct pt_record_site site = {.head.type = PT_RECORD_SITE, .site = 1, .line = 12};
    struct pt_record_name name = {.head.type = PT_RECORD_NAME, .number = 1};
    pt_buf_init(&defs);
    define(&defs, &main.head, offsetof(struct pt_record_thread, name), "", 1);
    define(&defs, &worker.head, offsetof(struct pt_record_thread, name), "worker", 7);
    define(&defs, &watch.head, offsetof(struct pt_record_watch, name), "x", 2);
    define(&defs, &init.head, sizeof init, "\7\0\0", 4);
    define(&defs, &site.head, offsetof(struct pt_record_site, texts), "a.c\0f\0", 7);
    define(&defs, &name.head, offsetof(struct pt_record_name, text), "go", 3);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_DEFS}, &defs);
    pt_buf_release(&defs);
}

/* An event of a new shape, with a higher stamp. */
static void log_event(struct pt_buf *log, unsigned kind, unsigned site, uint32_t size, uint64_t address, int64_t value)
{
    uint8_t bytes[64] = {PT_REC_SHAPE_NEW | PT_REC_STAMP}, *to = bytes + 1;
    to = pt_rec_put(to, site);
    *to++ = (uint8_t)kind;
    *to++ = 0;
    *to++ = kind == PT_KIND_UPDATE ? PT_MEMORY_NONE : 0;
    to = pt_rec_put(to, size);
    to = pt_rec_put(to, pt_rec_fold(address) << 1);
    if (pt_rec_has_value(kind, size))
        to = pt_rec_put(to, pt_rec_fold((uint64_t)value));
    to = pt_rec_put(to, 10);
    pt_buf_add(log, (const char *)bytes, (size_t)(to - bytes));
}

/* Main's stamps are 10 and 30, those of the worker 15 and 25. */
static void make_recording(struct made *made, const struct pt_format *format, enum ending ending)
{
    struct pt_buf one, two, three, *out = &made->bytes;
    (void)format;
    pt_buf_init(&one);
    pt_buf_init(&two);
    pt_buf_init(&three);
    log_event(&one, PT_KIND_WRITE, 1, 4, 0, 2);
    log_event(&two, PT_KIND_OTHER_USER, 1, 0, 1, 0);
    log_event(&two, PT_KIND_UPDATE, 0, 4, UINT64_MAX, 0xfffffffd);
    log_event(&three, PT_KIND_WRITE, 0, 4, 0, 5);
    pt_buf_add(out, PT_REC_MAGIC, PT_REC_MAGIC_LEN);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_FIRST}, NULL);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .piece = 1, .stamp = 20}, &three);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .thread = 1, .stamp = 5}, &two);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS}, &one);
    add_definitions(out);
    add_chunk(out, (struct pt_rec_chunk){.kind = ending == WHOLE ? PT_REC_END : PT_REC_MARK, .stamp = 30}, NULL);
    made->source = pt_source_from_memory("label", out->text, out->len, &made->names);
    pt_buf_release(&one);
    pt_buf_release(&two);
    pt_buf_release(&three);
}

static const struct {
    const char *name;
    void (*make)(struct made *made, const struct pt_format *format, enum ending ending);
    enum pt_read damaged; /* how a damaged one ends */
    uint64_t lost;        /* as far as it knows */
} makers[] = {
    {"text", make_file, PT_READ_TORN, 0},           {"binary", make_file, PT_READ_TORN, 0},
    {"recording", make_recording, PT_READ_TORN, 0}, {"channel", make_channel, PT_READ_END, 2},
    {"wire", make_wire, PT_READ_TORN, 0},
};
enum { MAKERS = sizeof makers / sizeof *makers };

static unsigned maker_of(const struct pt_format *format)
{
    unsigned i = 0;
    while (i < MAKERS && strcmp(makers[i].name, format->name) != 0)
        i++;
    if (i == MAKERS)
        fail_msg("no maker for the format '%s'", format->name);
    return i;
}

static void begin(struct made *made)
{
    *made = (struct made){.sockets = {-1, -1}};
    pt_names_init(&made->names);
    pt_buf_init(&made->bytes);
}

static void finish(struct made *made)
{
    pt_source_free(made->source);
    pt_names_release(&made->names);
    pt_buf_release(&made->bytes);
    for (int i = 0; i < 2; i++)
        if (made->sockets[i] >= 0)
            close(made->sockets[i]);
}

/* --- what every source has to do --- */

/* What an event's place must be: lines and records count from 1, the numbers of a run rise. */
static void check_place(enum pt_unit unit, uint32_t index, uint64_t line, uint64_t *before)
{
    if (unit != PT_UNIT_EVENT)
        assert_int_equal(line, index + 1);
    else if (index)
        assert_true(line > *before);
    *before = line;
}

/* `some`: of those that are at hand, if there are any. */
static enum pt_read read_one(struct made *made, bool some, struct pt_event *event, struct pt_err *err)
{
    return some && pt_source_some(made->source, event, 1) ? PT_READ_EVENT : pt_source_next(made->source, event, err);
}

/* Everything until the end; live sources are waited for. The lines of the events, without time and clock. */
static enum pt_read read_source(struct made *made, bool some, struct pt_buf *lines, uint32_t *ret_count,
                                struct pt_err *err)
{
    struct pt_event event;
    uint64_t before = 0;
    uint32_t waits = 0;
    enum pt_read got;
    *ret_count = 0;
    while ((got = read_one(made, some, &event, err)) == PT_READ_EVENT || got == PT_READ_WAIT) {
        if (got == PT_READ_WAIT) {
            assert_true(waits++ < 10);
            pt_source_wait(made->source, UINT64_C(10000000000));
            continue;
        }
        if (event.op == PT_OP_CLOCK || event.op == PT_OP_STACK) /* the goodbye of a stream; what recordings have */
            continue;
        check_place(pt_source_format(made->source)->unit, (*ret_count)++, event.line, &before);
        event.has_time = false;
        event.clock_len = 0;
        event.stack = 0;
        pt_event_to_text(pt_source_names(made->source), &event, lines);
        pt_buf_add(lines, "\n", 1);
    }
    return got;
}

static void check_source(const struct pt_format *format, enum ending ending, bool some)
{
    unsigned maker = maker_of(format);
    struct made made;
    struct pt_buf lines;
    struct pt_event event;
    struct pt_err err = {0}, again = {0};
    uint32_t count;
    begin(&made);
    pt_buf_init(&lines);
    makers[maker].make(&made, format, ending);
    enum pt_read end = read_source(&made, some, &lines, &count, &err);
    assert_ptr_equal(pt_source_format(made.source), format);
    assert_ptr_equal(pt_source_names(made.source), &made.names);
    assert_string_not_equal(pt_source_label(made.source), "");
    assert_string_equal(lines.text, run);
    assert_int_equal(count, EVENTS);

    struct pt_loss loss = pt_source_loss(made.source);
    assert_int_equal(end, ending == WHOLE ? PT_READ_END : makers[maker].damaged);
    assert_int_equal(loss.events, ending == WHOLE ? 0 : makers[maker].lost);
    assert_int_equal(loss.why[0] != '\0', ending == DAMAGED);
    if (end == PT_READ_TORN)
        assert_string_equal(loss.why, err.message);
    assert_int_equal(pt_source_next(made.source, &event, &again), end); /* an end stays an end */
    assert_string_equal(again.message, err.message);
    assert_true(pt_source_ready(made.source));
    pt_buf_release(&lines);
    finish(&made);
}

static void test_same_events(void **state)
{
    (void)state;
    for (uint32_t i = 0; pt_formats[i]; i++)
        for (int some = 0; some < 2; some++)
            check_source(pt_formats[i], WHOLE, some);
}

static void test_losses(void **state)
{
    (void)state;
    for (uint32_t i = 0; pt_formats[i]; i++)
        for (int some = 0; some < 2; some++)
            check_source(pt_formats[i], DAMAGED, some);
}

/* A live source that has nothing says so at once. */
static void test_live(void **state)
{
    (void)state;
    void (*const openers[])(struct made *) = {open_channel, open_wire};
    for (int i = 0; i < 2; i++) {
        struct made made;
        struct pt_event event;
        struct pt_err err;
        begin(&made);
        openers[i](&made);
        for (int n = 0; n < 3; n++) {
            assert_true(pt_source_ready(made.source));
            assert_int_equal(pt_source_next(made.source, &event, &err), PT_READ_WAIT);
            pt_source_wait(made.source, 1000);
        }
        assert_int_equal(pt_source_fd(made.source), made.sockets[0]);
        finish(&made);
    }
}

/* A gap in a stream is an event where it stands, and counts as lost. */
static void test_gap(void **state)
{
    (void)state;
    struct made made;
    struct pt_event event;
    struct pt_err err;
    begin(&made);
    open_wire(&made);
    add_hello(&made.bytes);
    add_lost(&made.bytes, START, 7);
    add_clock(&made.bytes, PT_WIRE_BYE, START + 7, T + 1);
    assert_int_equal(write(made.sockets[1], made.bytes.text, made.bytes.len), made.bytes.len);
    pt_source_wait(made.source, UINT64_C(10000000000));
    assert_int_equal(pt_source_next(made.source, &event, &err), PT_READ_EVENT);
    assert_int_equal(event.op, PT_OP_LOST);
    assert_int_equal(event.value.i, 7);
    assert_int_equal(pt_source_next(made.source, &event, &err), PT_READ_EVENT);
    assert_int_equal(event.op, PT_OP_CLOCK);
    assert_int_equal(event.time, T + 1);
    assert_int_equal(pt_source_next(made.source, &event, &err), PT_READ_END);
    struct pt_loss loss = pt_source_loss(made.source);
    assert_int_equal(loss.events, 7);
    assert_string_equal(loss.why, "");
    finish(&made);
}

/* A program that never answers was not observed. */
static void test_silent_program(void **state)
{
    (void)state;
    struct made made;
    struct pt_event event;
    struct pt_err err;
    begin(&made);
    open_channel(&made);
    pt_channel_set_ended(made.channel.reader);
    assert_int_equal(pt_source_next(made.source, &event, &err), PT_READ_END);
    assert_string_equal(pt_source_loss(made.source).why, "nothing was observed");
    finish(&made);
}

/* Formats of files are recognised by their first bytes, and by the names of files to be written. */
static void test_recognition(void **state)
{
    (void)state;
    char path[] = "/tmp/portent-test-XXXXXX";
    struct pt_names names;
    struct pt_event event = {.op = PT_OP_CLOCK, .thread = PT_NONE, .object = PT_NONE, .has_time = true};
    struct pt_err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_ptr_equal(pt_format_of_file(path), &pt_format_text); /* an empty one */
    pt_names_init(&names);
    event.loc = pt_strtab_intern(&names.space[PT_SPACE_LOC], "-", 1);
    for (uint32_t i = 0; pt_formats[i]; i++) {
        struct pt_writer *writer;
        if (!pt_formats[i]->encoder)
            continue;
        assert_int_equal(pt_writer_open(path, pt_formats[i], &names, &writer, &err), PT_OK);
        assert_int_equal(pt_writer_add(writer, &event, &err), PT_OK);
        assert_int_equal(pt_writer_close(writer, &err), PT_OK);
        assert_ptr_equal(pt_format_of_file(path), pt_formats[i]);
    }
    assert_ptr_equal(pt_format_of_file("/no/such/file"), &pt_format_text);
    assert_ptr_equal(pt_format_of_name("run.ptb"), &pt_format_binary);
    assert_ptr_equal(pt_format_of_name(".ptb"), &pt_format_text);
    assert_ptr_equal(pt_format_of_name("run.trace"), &pt_format_text);
    unlink(path);
    pt_names_release(&names);
}

/* The same run as make_recording's, with marks in it, and a piece in two parts around one. */
static void make_growing(struct pt_buf *out, enum ending ending)
{
    struct pt_buf one, two, rest, three;
    pt_buf_init(&one);
    pt_buf_init(&two);
    pt_buf_init(&rest);
    pt_buf_init(&three);
    log_event(&one, PT_KIND_WRITE, 1, 4, 0, 2);
    log_event(&two, PT_KIND_OTHER_USER, 1, 0, 1, 0);
    log_event(&rest, PT_KIND_UPDATE, 0, 4, UINT64_MAX, 0xfffffffd);
    log_event(&three, PT_KIND_WRITE, 0, 4, 0, 5);
    pt_buf_add(out, PT_REC_MAGIC, PT_REC_MAGIC_LEN);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_FIRST}, NULL);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .thread = 1, .stamp = 5}, &two);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS}, &one);
    add_definitions(out);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_MARK, .stamp = 12}, NULL);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .piece = 1, .stamp = 20}, &three);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .thread = 1, .stamp = 5, .from = (uint32_t)two.len},
              &rest);
    add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_MARK, .stamp = 30}, NULL);
    if (ending == WHOLE)
        add_chunk(out, (struct pt_rec_chunk){.kind = PT_REC_END, .stamp = 30}, NULL);
    pt_buf_release(&one);
    pt_buf_release(&two);
    pt_buf_release(&rest);
    pt_buf_release(&three);
}

/* A recording that is read while it is written, a few bytes at a time: nothing comes before a mark says that it is all
 * there, nothing is missing or comes twice, and the end is that of the file. */
static void check_followed(enum ending ending, size_t step)
{
    char path[] = "/tmp/test_source_XXXXXX";
    struct made made;
    struct pt_buf lines, file;
    struct pt_err err = {0};
    int fd = mkstemp(path);
    uint32_t waits = 0, some = 0, count = 0;
    enum pt_read got = PT_READ_WAIT;
    begin(&made);
    pt_buf_init(&lines);
    pt_buf_init(&file);
    make_growing(&file, ending);
    size_t first = PT_REC_MAGIC_LEN + sizeof(struct pt_rec_chunk) + 1;
    assert_true(fd >= 0 && write(fd, file.text, first) == (ssize_t)first);
    assert_int_equal(pt_source_open(path, &made.names, &made.source, &err), PT_OK);
    pt_source_follow(made.source, true);
    for (size_t at = first; got == PT_READ_WAIT; waits++) {
        struct pt_event event;
        while ((got = pt_source_next(made.source, &event, &err)) == PT_READ_EVENT) {
            count++;
            event.stack = 0;
            if (event.op == PT_OP_STACK)
                continue;
            pt_event_to_text(&made.names, &event, &lines);
            pt_buf_add(&lines, "\n", 1);
        }
        some += count && at < file.len;
        size_t left = file.len - at < step ? file.len - at : step;
        if (!left)
            pt_source_follow(made.source, false);
        assert_int_equal(write(fd, file.text + at, left), left);
        at += left;
    }
    assert_int_equal(got, ending == WHOLE ? PT_READ_END : PT_READ_TORN);
    assert_string_equal(lines.text, run);
    assert_true(waits > 3 && some > 0);
    close(fd);
    unlink(path);
    pt_buf_release(&lines);
    pt_buf_release(&file);
    finish(&made);
}

static void test_followed(void **state)
{
    (void)state;
    for (size_t step = 1; step < 60; step += 7) {
        check_followed(WHOLE, step);
        check_followed(DAMAGED, step);
    }
}

/* An event of the first shape, at the same address, with the value of the event before it and one more, and a higher
 * stamp. */
static void log_again(struct pt_buf *log)
{
    uint8_t bytes[64] = {PT_REC_SHAPE_KNOWN | PT_REC_ADDRESS | PT_REC_STAMP}, *to = bytes + 1;
    to = pt_rec_put(to, 0);
    to = pt_rec_put(to, pt_rec_fold(1));
    to = pt_rec_put(to, 10);
    pt_buf_add(log, (const char *)bytes, (size_t)(to - bytes));
}

/* Three pieces of a log, of which the second, with that number, goes on with the shapes of the first, and the third
 * too: the last value that is read, and how it ends. */
static int64_t last_of_pieces(uint32_t second, enum pt_rec_kind kind, enum pt_read *ret_got)
{
    struct made made;
    struct pt_buf one, more;
    struct pt_event event;
    struct pt_err err;
    int64_t last = 0;
    begin(&made);
    pt_buf_init(&one);
    pt_buf_init(&more);
    log_event(&one, PT_KIND_WRITE, 1, 4, 0, 2);
    log_again(&one);
    log_again(&more);
    pt_buf_add(&made.bytes, PT_REC_MAGIC, PT_REC_MAGIC_LEN);
    add_chunk(&made.bytes, (struct pt_rec_chunk){.kind = PT_REC_FIRST}, NULL);
    add_definitions(&made.bytes);
    add_chunk(&made.bytes, (struct pt_rec_chunk){.kind = PT_REC_EVENTS}, &one);
    add_chunk(&made.bytes, (struct pt_rec_chunk){.kind = kind, .piece = second, .stamp = 20}, &more);
    add_chunk(&made.bytes, (struct pt_rec_chunk){.kind = kind, .piece = second + 1, .stamp = 30}, &more);
    add_chunk(&made.bytes, (struct pt_rec_chunk){.kind = PT_REC_END, .stamp = 60}, NULL);
    made.source = pt_source_from_memory("label", made.bytes.text, made.bytes.len, &made.names);
    while ((*ret_got = pt_source_next(made.source, &event, &err)) == PT_READ_EVENT)
        last = event.op == PT_OP_WRITE ? event.value.i : last;
    pt_buf_release(&one);
    pt_buf_release(&more);
    finish(&made);
    return last;
}

/* A piece that goes on has the shapes of the one before it; where that is missing, or nothing is said to go on, it
 * makes no sense. */
static void test_pieces(void **state)
{
    enum pt_read got;
    (void)state;
    assert_int_equal(last_of_pieces(1, PT_REC_MORE, &got), 5);
    assert_int_equal(got, PT_READ_END);
    assert_int_equal(last_of_pieces(2, PT_REC_MORE, &got), 3);
    assert_int_equal(got, PT_READ_TORN);
    assert_int_equal(last_of_pieces(1, PT_REC_EVENTS, &got), 3);
    assert_int_equal(got, PT_READ_TORN);
}

/* What is read goes to the copy byte by byte, and a copy that fails says why and harms nothing. */
static void test_copy(void **state)
{
    (void)state;
    char path[] = "/tmp/portent-copy-XXXXXX", got[sizeof run + 1];
    int copy = mkstemp(path);
    assert_true(copy >= 0);
    for (int turn = 0; turn < 2; turn++) {
        struct pt_names names;
        struct pt_event event;
        struct pt_err err;
        int events = 0;
        pt_names_init(&names);
        struct pt_source *source = pt_source_from_memory("run", run, strlen(run), &names);
        pt_source_copy(source, copy);
        while (pt_source_next(source, &event, &err) == PT_READ_EVENT)
            events++;
        assert_int_equal(events, EVENTS);
        assert_int_equal(pt_source_copy_failed(source), turn ? EBADF : 0);
        pt_source_free(source);
        pt_names_release(&names);
        if (turn == 0) {
            assert_int_equal(pread(copy, got, sizeof got, 0), strlen(run));
            assert_memory_equal(got, run, strlen(run));
            close(copy);
        }
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_followed),    cmocka_unit_test(test_same_events), cmocka_unit_test(test_losses),
        cmocka_unit_test(test_live),        cmocka_unit_test(test_gap),         cmocka_unit_test(test_silent_program),
        cmocka_unit_test(test_recognition), cmocka_unit_test(test_pieces),      cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
