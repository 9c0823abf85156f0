/* The decoder of event streams: streams written by hand, in one piece and byte by byte, good ones and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trace/writer.h"
#include "wire_util.h"

static void add_names(struct pt_buf *out)
{
    struct pt_wire_site site = {.id = 3, .line = 12};
    add_name(out, PT_WIRE_THREAD, 0, "main");
    add_name(out, PT_WIRE_THREAD, 1, "work|er");
    add_name(out, PT_WIRE_VAR, 0, "w");
    add_name(out, PT_WIRE_LOCK, 9, "m");
    add_name(out, PT_WIRE_USER, 2, "go");
    add_name(out, PT_WIRE_STATE, 1, "blocked: lock");
    add_frame(out, PT_WIRE_SITE, BODY(site), "a.c");
}

/* A stream with every kind of frame. */
static void make_stream(struct pt_buf *out)
{
    struct pt_buf events;
    int64_t value = -3;
    pt_buf_init(&events);
    add_hello(out);
    add_names(out);
    add_event(&events, (struct pt_wire_event){0, PT_WIRE_OP_WRITE, PT_VALUE_INT, 8, 0, 0, 0, PT_WIRE_NONE}, &value);
    add_event(&events, (struct pt_wire_event){0, PT_WIRE_OP_ACQ, 0, 0, 0, 9, 0, PT_WIRE_NONE}, "");
    add_events(out, PT_WIRE_SNAPSHOT, START, 2, &events);
    add_frame(out, (enum pt_wire_type)99, "of the future", 13, NULL);
    value = 4;
    add_event(&events, (struct pt_wire_event){10, PT_WIRE_OP_UPDATE, PT_VALUE_INT, 8, 0, 0, 3, PT_WIRE_NONE}, &value);
    add_event(&events, (struct pt_wire_event){5, PT_WIRE_OP_CONTENDED, 0, 0, 1, 9, 0, 0}, "");
    add_event(&events, (struct pt_wire_event){0, PT_WIRE_OP_STATE, 0, 0, 1, 1, 0, 9}, "");
    add_events(out, PT_WIRE_EVENTS, START, 3, &events);
    add_lost(out, START + 3, 7);
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_WRITE, PT_VALUE_STRING, 3, 1, 0, 0, PT_WIRE_NONE}, "a\"b");
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_USER, 0, 0, 1, 2, 0, PT_WIRE_NONE}, "");
    add_event(&events, (struct pt_wire_event){1, PT_WIRE_OP_END, 0, 0, 1, 0, 0, PT_WIRE_NONE}, "");
    add_events(out, PT_WIRE_EVENTS, START + 10, 3, &events);
    add_clock(out, PT_WIRE_CLOCK, START + 13, T + 100);
    add_clock(out, PT_WIRE_BYE, START + 13, T + 200);
    pt_buf_release(&events);
}

static const char expected[] = "hello /bin/prog 42 7\n"
                               "snapshot 0 -|init(w)=-3|-|t=1000\n"
                               "snapshot 0 main|acq(m)|-|t=1000\n"
                               "event 5 main|u(w)=4|a.c:12|t=1010\n"
                               "event 6 work_er|contended(m)|-|t=1015 by main\n"
                               "event 7 work_er|state(blocked)|-|t=1015 for lock m\n"
                               "lost 7\n"
                               "event 15 work_er|w(w)=\"a\\\"b\"|-|t=1016\n"
                               "event 16 work_er|event(go)|-|t=1017\n"
                               "event 17 work_er|state(ended)|-|t=1018\n"
                               "clock -|clock|-|t=1100\n"
                               "bye\n";

static void print_item(enum pt_wire_read what, const struct pt_wire_item *item, const struct pt_names *names,
                       struct pt_buf *out)
{
    static const char *const words[] = {"event", "snapshot", "lost", "clock", "hello", "bye"};
    pt_buf_puts(out, words[what]);
    if (what == PT_WIRE_READ_HELLO)
        pt_buf_printf(out, " %s %u %u", item->program, item->pid, (unsigned)item->wall);
    else if (what == PT_WIRE_READ_LOST)
        pt_buf_printf(out, " %u", (unsigned)item->lost);
    else if (what == PT_WIRE_READ_EVENT || what == PT_WIRE_READ_SNAPSHOT)
        pt_buf_printf(out, " %u", (unsigned)item->event.line);
    if (what <= PT_WIRE_READ_SNAPSHOT || what == PT_WIRE_READ_CLOCK) {
        pt_buf_puts(out, " ");
        pt_event_to_text(names, &item->event, out);
    }
    if (item->other != PT_NONE)
        pt_buf_printf(out, " by %s", pt_name(names, PT_SPACE_THREAD, item->other));
    if (item->detail)
        pt_buf_printf(out, " for %s", item->detail);
    pt_buf_puts(out, "\n");
}

/* Decodes a stream that is fed in pieces; returns what came last. */
static enum pt_wire_read decode(const struct pt_buf *stream, size_t piece, struct pt_buf *out, struct pt_err *err,
                                struct pt_wire_counts *ret_counts)
{
    struct pt_names names;
    struct pt_wire_item item;
    enum pt_wire_read what = PT_WIRE_READ_MORE;
    pt_names_init(&names);
    struct pt_wire *wire = pt_wire_new("unix:/x", &names);
    for (size_t at = 0; at < stream->len && what != PT_WIRE_READ_ERROR; at += piece) {
        pt_wire_feed(wire, stream->text + at, stream->len - at < piece ? stream->len - at : piece);
        while ((what = pt_wire_next(wire, &item, err)) < PT_WIRE_READ_MORE)
            print_item(what, &item, &names, out);
    }
    *ret_counts = pt_wire_counts(wire);
    pt_wire_free(wire);
    pt_names_release(&names);
    return what;
}

static void test_good(void **state)
{
    static const size_t pieces[] = {SIZE_MAX, 1, 7, 64};
    (void)state;
    struct pt_buf stream, out;
    struct pt_err err;
    struct pt_wire_counts counts;
    pt_buf_init(&stream);
    make_stream(&stream);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        pt_buf_init(&out);
        size_t piece = pieces[i] < stream.len ? pieces[i] : stream.len;
        assert_int_equal(decode(&stream, piece, &out, &err, &counts), PT_WIRE_READ_MORE);
        assert_string_equal(out.text, expected);
        assert_int_equal(counts.events, 6);
        assert_int_equal(counts.lost, 7);
        assert_int_equal(counts.bytes, stream.len);
        pt_buf_release(&out);
    }
    pt_buf_release(&stream);
}

static void expect_error(struct pt_buf *stream, const char *message)
{
    struct pt_buf out;
    struct pt_err err;
    struct pt_wire_counts counts;
    pt_buf_init(&out);
    assert_int_equal(decode(stream, stream->len, &out, &err, &counts), PT_WIRE_READ_ERROR);
    assert_string_equal(err.file, "unix:/x");
    if (!strstr(err.message, message))
        fail_msg("'%s' is not in '%s'", message, err.message);
    pt_buf_release(&out);
    pt_buf_release(stream);
}

static void test_no_stream(void **state)
{
    (void)state;
    struct pt_buf stream;
    pt_buf_init(&stream);
    pt_buf_puts(&stream, "HTTP/1.1 200 OK and so on");
    expect_error(&stream, "byte 0: it does not begin as one");
    add_clock(&stream, PT_WIRE_CLOCK, 1, 1);
    expect_error(&stream, "byte 0: it does not begin as one");
    add_hello(&stream);
    stream.text[8] ^= 1; /* the magic */
    expect_error(&stream, "it does not begin as one");
    add_hello(&stream);
    stream.text[6] = 9;
    expect_error(&stream, "version that this portent does not know");
}

static void test_bad_frames(void **state)
{
    (void)state;
    struct pt_buf stream, events;
    pt_buf_init(&stream);
    pt_buf_init(&events);
    add_hello(&stream);
    add_hello(&stream);
    expect_error(&stream, "begins a second time");
    add_hello(&stream);
    add_clock(&stream, PT_WIRE_CLOCK, START + 1, T);
    expect_error(&stream, "events are missing, and nobody says so");
    add_hello(&stream);
    add_lost(&stream, START, 0);
    expect_error(&stream, "number of lost events");
    add_hello(&stream);
    add_lost(&stream, START, UINT64_MAX);
    expect_error(&stream, "number of lost events");
    add_hello(&stream);
    size_t at = stream.len;
    add_clock(&stream, PT_WIRE_CLOCK, START, T);
    memcpy(stream.text + at, &(uint32_t){12}, 4);
    expect_error(&stream, "impossible length");
    add_hello(&stream);
    add_frame(&stream, PT_WIRE_CLOCK, "", 0, NULL);
    expect_error(&stream, "too short");
    add_hello(&stream);
    add_name(&stream, PT_WIRE_SPACES, 0, "x");
    expect_error(&stream, "no meaning");
    add_hello(&stream);
    add_frame(&stream, PT_WIRE_NAME, "12345678no end..", 16, NULL);
    expect_error(&stream, "does not end");
    add_hello(&stream);
    add_events(&stream, PT_WIRE_EVENTS, START, 1, &events);
    expect_error(&stream, "an event is cut off");
    pt_buf_release(&events);
}

static void test_bad_events(void **state)
{
    static const struct {
        struct pt_wire_event event;
        const char *message;
    } cases[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0}, "an event has no meaning"},
        {{0, PT_WIRE_OP_STATE + 1, 0, 0, 0, 0, 0, 0}, "an event has no meaning"},
        {{0, PT_WIRE_OP_ACQ, 0, 0, 7, 9, 0, 0}, "a thread that has no name"},
        {{0, PT_WIRE_OP_ACQ, 0, 0, 0, 8, 0, 0}, "something that has no name"},
        {{0, PT_WIRE_OP_ACQ, 0, 0, 0, 9, 4, 0}, "a place that was not defined"},
        {{0, PT_WIRE_OP_ACQ, PT_VALUE_INT, 8, 0, 9, 0, 0}, "value makes no sense"},
        {{0, PT_WIRE_OP_WRITE, PT_VALUE_INT, 4, 0, 0, 0, 0}, "wrong length"},
        {{0, PT_WIRE_OP_WRITE, PT_VALUE_UNKNOWN, 4, 0, 0, 0, 0}, "wrong length"},
        {{0, PT_WIRE_OP_WRITE, 77, 8, 0, 0, 0, 0}, "value makes no sense"},
    };
    (void)state;
    struct pt_buf stream, events;
    pt_buf_init(&stream);
    pt_buf_init(&events);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        add_hello(&stream);
        add_names(&stream);
        add_event(&events, cases[i].event, "12345678");
        add_events(&stream, PT_WIRE_EVENTS, START, 1, &events);
        expect_error(&stream, cases[i].message);
    }
    add_hello(&stream);
    add_names(&stream);
    add_event(&events, (struct pt_wire_event){0, PT_WIRE_OP_WRITE, PT_VALUE_STRING, 8, 0, 0, 0, 0}, "12345678");
    events.len -= 8;
    add_events(&stream, PT_WIRE_EVENTS, START, 1, &events);
    expect_error(&stream, "value is cut off");
    pt_buf_release(&events);
}

/* Ids may be any number: small ones, ones out of proportion, and the neighbours of either are told apart. */
static void test_ids(void **state)
{
    static const uint32_t ids[] = {0, 17, (1u << 18) - 1, 1u << 18, UINT32_MAX - 1, UINT32_MAX};
    (void)state;
    struct pt_buf stream, events, out, want;
    struct pt_err err;
    struct pt_wire_counts counts;
    uint32_t count = sizeof ids / sizeof *ids;
    pt_buf_init(&stream);
    pt_buf_init(&events);
    pt_buf_init(&out);
    pt_buf_init(&want);
    add_hello(&stream);
    pt_buf_puts(&want, "hello /bin/prog 42 7\n");
    for (uint32_t i = count; i-- > 0;) {
        struct pt_wire_site site = {.id = ids[i], .line = i};
        char name[] = {'t', (char)('0' + i), '\0'};
        add_name(&stream, PT_WIRE_THREAD, ids[i], name);
        add_name(&stream, PT_WIRE_USER, ids[i], name);
        if (ids[i])
            add_frame(&stream, PT_WIRE_SITE, BODY(site), "a.c");
    }
    for (uint32_t i = 0; i < count; i++) {
        add_event(&events, (struct pt_wire_event){0, PT_WIRE_OP_USER, 0, 0, ids[i], ids[i], ids[i], PT_WIRE_NONE}, "");
        pt_buf_printf(&want, i ? "event %u t%u|event(t%u)|a.c:%u|t=1000\n" : "event %u t%u|event(t%u)|-|t=1000\n",
                      START + i, i, i, i);
    }
    add_events(&stream, PT_WIRE_EVENTS, START, count, &events);
    assert_int_equal(decode(&stream, stream.len, &out, &err, &counts), PT_WIRE_READ_MORE);
    assert_string_equal(out.text, want.text);
    for (uint32_t i = 1; i < count - 1; i++) { /* their neighbours have no name */
        size_t len = stream.len;
        uint32_t next = ids[i] + 1 == ids[i + 1] ? ids[i] - 1 : ids[i] + 1;
        struct pt_wire_event event = {0, PT_WIRE_OP_USER, 0, 0, next, 0, 0, PT_WIRE_NONE};
        if (next == ids[i - 1] || next == ids[i + 1])
            continue;
        add_event(&events, event, "");
        add_events(&stream, PT_WIRE_EVENTS, START + count, 1, &events);
        assert_int_equal(decode(&stream, stream.len, &out, &err, &counts), PT_WIRE_READ_ERROR);
        assert_non_null(strstr(err.message, "a thread that has no name"));
        stream.len = len;
    }
    pt_buf_release(&want);
    pt_buf_release(&out);
    pt_buf_release(&events);
    pt_buf_release(&stream);
}

/* A stream that stops anywhere, or with any byte changed, is decoded up to there or refused; nothing worse. */
static void test_damaged(void **state)
{
    (void)state;
    struct pt_buf stream, out;
    struct pt_err err;
    struct pt_wire_counts counts;
    pt_buf_init(&stream);
    pt_buf_init(&out);
    make_stream(&stream);
    size_t len = stream.len, refused = 0;
    for (size_t cut = 1; cut < len; cut++) {
        stream.len = cut;
        assert_int_equal(decode(&stream, cut, &out, &err, &counts), PT_WIRE_READ_MORE);
        assert_int_equal(memcmp(out.text ? out.text : "", expected, out.len), 0);
        out.len = 0;
    }
    stream.len = len;
    for (size_t at = 0; at < len; at++) {
        stream.text[at] ^= 0x41;
        refused += decode(&stream, len, &out, &err, &counts) == PT_WIRE_READ_ERROR;
        stream.text[at] ^= 0x41;
        out.len = 0;
    }
    assert_true(refused > len / 4);
    pt_buf_release(&out);
    pt_buf_release(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),       cmocka_unit_test(test_no_stream), cmocka_unit_test(test_bad_frames),
        cmocka_unit_test(test_bad_events), cmocka_unit_test(test_damaged),   cmocka_unit_test(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
