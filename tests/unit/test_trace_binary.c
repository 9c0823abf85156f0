/* The binary form: round trips, torn, damaged and hostile files. */
#include "trace_util.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/binary_index.h"
#include "trace/oprule.h"

static const char *const odd_names[] = {"x",
                                        "a[3]",
                                        "f(int)::x",
                                        "tank.level",
                                        "a)=5",
                                        "(",
                                        ")",
                                        "m[\"k\"]",
                                        "\xc3\xa9",
                                        "a b",
                                        "=\"",
                                        "x:1",
                                        "long name of a variable, longer than any cache",
                                        "#x",
                                        "t=1",
                                        "w(x)=1"};

static uint32_t random_name(struct pt_names *names, enum pt_space space, uint64_t *random)
{
    char text[80];
    const char *odd = odd_names[below(random, sizeof odd_names / sizeof *odd_names)];
    bool plain = below(random, 4) != 0 || space == PT_SPACE_THREAD || space == PT_SPACE_STACK;
    int n = plain ? snprintf(text, sizeof text, "%c%u", 'A' + space, below(random, below(random, 8) ? 20 : 5000))
                  : snprintf(text, sizeof text, "%s", odd);
    return pt_strtab_intern(&names->space[space], text, (size_t)n);
}

static struct pt_value random_string(struct pt_names *names, uint64_t *random)
{
    char bytes[24];
    size_t len = below(random, sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)next_random(random);
    uint32_t id = pt_strtab_intern(&names->space[PT_SPACE_STRING], bytes, len);
    return pt_value_string(pt_name(names, PT_SPACE_STRING, id), (uint32_t)len);
}

static struct pt_value random_value(struct pt_names *names, uint64_t *random)
{
    uint64_t bits = next_random(random);
    switch (below(random, 8)) {
    case 0: {
        double d;
        memcpy(&d, &bits, sizeof d);
        return pt_value_float(isnan(d) ? (double)NAN : d);
    }
    case 1:
        return pt_value_bool(bits & 1);
    case 2:
        return random_string(names, random);
    case 3:
        return pt_value_uint(bits);
    default:
        return pt_value_int((int64_t)bits >> below(random, 64));
    }
}

/* Any event that the rules allow; `wild`: with times, clocks and large values. */
static struct pt_event random_event(struct pt_names *names, uint64_t *random, bool wild, bool first,
                                    struct pt_clock_entry *clock)
{
    struct pt_event event = {.op = (uint8_t)below(random, PT_OP_COUNT), .thread = PT_NONE, .object = PT_NONE};
    if (event.op == PT_OP_INIT && !first)
        event.op = PT_OP_WRITE;
    if (pt_op_has_thread(event.op))
        event.thread = random_name(names, PT_SPACE_THREAD, random);
    if (pt_op_has_object(event.op))
        event.object = random_name(names, pt_op_space(event.op), random);
    event.loc = below(random, 20) ? random_name(names, PT_SPACE_LOC, random)
                                  : pt_strtab_intern(&names->space[PT_SPACE_LOC], "", 0);
    enum pt_value_rule rule = pt_op_value_rule(event.op);
    if (rule == PT_VALUE_MUST || (rule == PT_VALUE_MAY && below(random, 3)))
        event.value = wild ? random_value(names, random) : pt_value_int((int64_t)below(random, 100));
    if (rule == PT_VALUE_TEXT) {
        uint32_t id = random_name(names, PT_SPACE_STRING, random);
        event.value =
            pt_value_string(pt_name(names, PT_SPACE_STRING, id), pt_strtab_len(&names->space[PT_SPACE_STRING], id));
    }
    if (event.op == PT_OP_FENCE || (wild && pt_op_may_be_ordered(event.op) && below(random, 2)))
        event.order = (uint8_t)(1 + below(random, PT_MEMORY_COUNT - 1));
    if (wild && pt_op_may_be_partial(event.op) && below(random, 3) == 0) {
        event.from = (uint16_t)below(random, PT_EVENT_BYTES);
        event.to = (uint16_t)(event.from + 1 + below(random, PT_EVENT_BYTES - event.from));
    }
    if (wild && event.thread != PT_NONE && below(random, 4) == 0)
        event.stack = random_name(names, PT_SPACE_STACK, random) + 1;
    event.has_time = event.op == PT_OP_CLOCK || (wild && below(random, 2));
    if (event.has_time)
        event.time = next_random(random) >> below(random, 64);
    if (wild && below(random, 4) == 0) {
        event.clock = clock;
        event.clock_len = 1 + below(random, 8);
        for (uint32_t i = 0; i < event.clock_len; i++)
            clock[i] = (struct pt_clock_entry){random_name(names, PT_SPACE_THREAD, random),
                                               next_random(random) >> below(random, 64)};
    }
    return event;
}

/* The same random trace in both forms. */
static void random_trace(uint64_t seed, uint32_t events, bool wild, struct pt_buf *text, struct pt_buf *binary)
{
    struct pt_names names;
    struct pt_clock_entry clock[8];
    struct pt_err err;
    uint64_t random = seed;
    bool first = true;
    pt_names_init(&names);
    pt_buf_init(text);
    pt_buf_init(binary);
    void *writer = pt_binary_encoder.begin(&names, binary);
    for (uint32_t i = 0; i < events; i++) {
        struct pt_event event = random_event(&names, &random, wild, first, clock);
        first &= event.thread == PT_NONE;
        pt_event_to_text(&names, &event, text);
        pt_buf_add(text, "\n", 1);
        assert_int_equal(pt_binary_encoder.add(writer, &names, &event, binary, &err), PT_OK);
    }
    pt_binary_encoder.end(writer, NULL, binary);
    pt_binary_encoder.release(writer);
    pt_names_release(&names);
}

static void expect_same(const struct pt_buf *a, const struct pt_buf *b, uint64_t seed)
{
    if (a->len != b->len || memcmp(a->text, b->text, a->len) != 0)
        fail_msg("the round trip of seed %llu differs", (unsigned long long)seed);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 100, PT_BLOCK_EVENTS - 1, PT_BLOCK_EVENTS, PT_BLOCK_EVENTS + 1, 30000};
    for (uint64_t seed = 1; seed <= 2 * sizeof sizes / sizeof *sizes; seed++) {
        struct pt_buf text, binary, from_text, from_binary;
        struct pt_err err;
        uint32_t events = sizes[seed / 2 % (sizeof sizes / sizeof *sizes)];
        uint64_t count;
        random_trace(seed, events, seed & 1, &text, &binary);
        pt_buf_init(&from_text);
        pt_buf_init(&from_binary);
        enum pt_read got = read_all(text.text, text.len, &from_text, NULL, &err);
        if (got != PT_READ_END)
            fail_msg("seed %llu, line %llu: %s: %s", (unsigned long long)seed, (unsigned long long)err.line,
                     err.message, err.source);
        expect_same(&text, &from_text, seed);
        got = read_all(binary.text, binary.len, &from_binary, &count, &err);
        if (got != PT_READ_END)
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        assert_int_equal(count, events);
        expect_same(&text, &from_binary, seed);
        pt_buf_release(&text);
        pt_buf_release(&binary);
        pt_buf_release(&from_text);
        pt_buf_release(&from_binary);
    }
}

/* The ids of names do not depend on the form, and both readers may share names that are there already. */
static void test_same_ids(void **state)
{
    (void)state;
    struct pt_buf forms[2];
    struct pt_names names[2];
    struct pt_source *readers[2];
    struct pt_event events[2];
    struct pt_err err;
    random_trace(77, 20000, true, &forms[0], &forms[1]);
    for (int i = 0; i < 2; i++) {
        pt_names_init(&names[i]);
        pt_strtab_intern(&names[i].space[PT_SPACE_VAR], "before", 6);
        readers[i] = pt_source_from_memory("t", forms[i].text, forms[i].len, &names[i]);
    }
    while (pt_source_next(readers[0], &events[0], &err) == PT_READ_EVENT) {
        assert_int_equal(pt_source_next(readers[1], &events[1], &err), PT_READ_EVENT);
        assert_int_equal(events[0].line, events[1].line);
        assert_int_equal(events[0].thread, events[1].thread);
        assert_int_equal(events[0].object, events[1].object);
        assert_int_equal(events[0].loc, events[1].loc);
        assert_true(pt_value_same(events[0].value, events[1].value));
    }
    assert_int_equal(pt_source_next(readers[1], &events[1], &err), PT_READ_END);
    for (int i = 0; i < 2; i++) {
        pt_source_free(readers[i]);
        pt_names_release(&names[i]);
        pt_buf_release(&forms[i]);
    }
}

static bool is_prefix(const struct pt_buf *part, const struct pt_buf *whole)
{
    return part->len <= whole->len && (part->len == 0 || memcmp(part->text, whole->text, part->len) == 0);
}

/* A small file of several blocks. */
static void several_blocks(struct pt_buf *text, struct pt_buf *binary, uint32_t *ret_events)
{
    struct pt_names names;
    struct pt_err err;
    struct pt_event event;
    pt_buf_init(text);
    pt_buf_init(binary);
    pt_names_init(&names);
    *ret_events = 0;
    void *writer = pt_binary_encoder.begin(&names, binary);
    for (int i = 0; i < 2 * PT_BLOCK_EVENTS + 10; i++, ++*ret_events)
        pt_buf_puts(text, "T1|w(x)=1|a.c:1|t=1\n");
    struct pt_source *reader = pt_source_from_memory("t", text->text, text->len, &names);
    while (pt_source_next(reader, &event, &err) == PT_READ_EVENT)
        assert_int_equal(pt_binary_encoder.add(writer, &names, &event, binary, &err), PT_OK);
    pt_binary_encoder.end(writer, NULL, binary);
    pt_binary_encoder.release(writer);
    pt_source_free(reader);
    pt_names_release(&names);
}

/* Each prefix gives the events of its whole blocks and is torn; prefixes that end in a block lose that block only. */
static void test_truncation(void **state)
{
    (void)state;
    struct pt_buf text, binary;
    struct pt_err err;
    uint32_t events;
    several_blocks(&text, &binary, &events);
    uint64_t last = 0;
    for (size_t len = 1; len <= binary.len; len++) {
        uint64_t count;
        enum pt_read got = read_all(binary.text, len, NULL, &count, &err);
        assert_int_equal(got, len == binary.len ? PT_READ_END : PT_READ_TORN);
        assert_true(count >= last);
        assert_true(count == events || count % PT_BLOCK_EVENTS == 0);
        if (got == PT_READ_TORN)
            assert_non_null(strstr(err.message, "the trace is torn at byte"));
        last = count;
    }
    assert_int_equal(last, events);
    pt_buf_add(&binary, "x", 1);
    assert_int_equal(read_all(binary.text, binary.len, NULL, &last, &err), PT_READ_TORN);
    assert_int_equal(last, events);
    pt_buf_release(&text);
    pt_buf_release(&binary);
}

/* Each byte damaged in three ways: what is delivered is a prefix of the truth, and the damage does not go unnoticed. */
static void test_damage(void **state)
{
    (void)state;
    struct pt_buf text, binary;
    struct pt_err err;
    random_trace(5, 40, true, &text, &binary);
    for (size_t at = 0; at < binary.len; at++) {
        static const unsigned char flips[] = {0x01, 0x80, 0xff};
        for (size_t i = 0; i < sizeof flips; i++) {
            struct pt_buf lines;
            pt_buf_init(&lines);
            binary.text[at] ^= (char)flips[i];
            enum pt_read got = read_all(binary.text, binary.len, &lines, NULL, &err);
            if (got != PT_READ_TORN && got != PT_READ_ERROR)
                fail_msg("the damage at byte %zu was not noticed", at);
            assert_true(is_prefix(&lines, &text));
            binary.text[at] ^= (char)flips[i];
            pt_buf_release(&lines);
        }
    }
    pt_buf_release(&text);
    pt_buf_release(&binary);
}

/* A file of one block that is stored as it is, with a good checksum. */
static void wrap(const char *payload, size_t len, uint32_t events, uint32_t raw_len, struct pt_buf *file)
{
    uint8_t header[PT_BLOCK_HEADER_LEN] = {0};
    uint32_t stored_len = (uint32_t)len; /* this test runs on little-endian machines, as the format is */
    memcpy(header, pt_block_magic, PT_BLOCK_MAGIC_LEN);
    memcpy(header + 4, &events, 4);
    memcpy(header + 8, &raw_len, 4);
    memcpy(header + 12, &stored_len, 4);
    uint64_t sum = pt_block_checksum(header, payload, len);
    memcpy(header + PT_BLOCK_CHECKED_LEN, &sum, 8);
    pt_buf_init(file);
    pt_binary_header(file);
    pt_buf_add(file, (const char *)header, sizeof header);
    pt_buf_add(file, payload, len);
}

/* The payload of a random trace of one block. */
static void random_payload(uint64_t seed, uint32_t events, struct pt_buf *payload)
{
    struct pt_buf text, binary;
    random_trace(seed, events, true, &text, &binary);
    const char *block = binary.text + PT_BINARY_HEADER_LEN;
    uint32_t raw_len, stored_len;
    memcpy(&raw_len, block + 8, 4);
    memcpy(&stored_len, block + 12, 4);
    pt_buf_init(payload);
    char *raw = pt_xmalloc(raw_len);
    if (stored_len == raw_len)
        memcpy(raw, block + PT_BLOCK_HEADER_LEN, raw_len);
    else
        assert_int_equal(ZSTD_decompress(raw, raw_len, block + PT_BLOCK_HEADER_LEN, stored_len), raw_len);
    pt_buf_add(payload, raw, raw_len);
    free(raw);
    pt_buf_release(&text);
    pt_buf_release(&binary);
}

/* Damage under a good checksum: every event that comes out is a legal line, and nothing crashes. */
static void test_hostile_payloads(void **state)
{
    (void)state;
    uint64_t random = 4242;
    for (int round = 0; round < 3000; round++) {
        uint32_t events = 1 + below(&random, 30);
        struct pt_buf payload, file, lines;
        struct pt_err err;
        random_payload(below(&random, 20), events, &payload);
        for (uint32_t i = 1 + below(&random, 3); i > 0; i--)
            payload.text[below(&random, (uint32_t)payload.len)] = (char)next_random(&random);
        if (below(&random, 4) == 0)
            payload.len = below(&random, (uint32_t)payload.len + 1);
        wrap(payload.text, payload.len, events, (uint32_t)payload.len, &file);
        pt_buf_init(&lines);
        enum pt_read got = read_all(file.text, file.len, &lines, NULL, &err);
        assert_true(got == PT_READ_ERROR || got == PT_READ_TORN); /* there is no end marker */
        assert_int_equal(err.status, PT_EINPUT);
        pt_buf_release(&lines);
        pt_buf_release(&file);
        pt_buf_release(&payload);
    }
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        uint32_t events, raw_len;
        const char *message;
    } cases[] = {
        {0, 64, "beyond the limits"},
        {PT_BLOCK_EVENTS + 1, 64, "beyond the limits"},
        {1, PT_BLOCK_BYTES + 1, "beyond the limits"},
        {1, PT_BLOCK_BYTES, "cannot be decompressed"},
    };
    char payload[64] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_buf file;
        struct pt_err err;
        wrap(payload, sizeof payload, cases[i].events, cases[i].raw_len, &file);
        assert_int_equal(read_all(file.text, file.len, NULL, NULL, &err), PT_READ_ERROR);
        assert_non_null(strstr(err.message, cases[i].message));
        pt_buf_release(&file);
    }
    struct pt_buf file;
    struct pt_err err;
    pt_buf_init(&file);
    pt_binary_header(&file);
    file.text[8] = 9;
    assert_int_equal(read_all(file.text, file.len, NULL, NULL, &err), PT_READ_ERROR);
    assert_non_null(strstr(err.message, "version 9"));
    pt_buf_release(&file);
}

/* One name that compresses very well: the writer must not make what the reader refuses as a bomb. */
static void test_large_names(void **state)
{
    (void)state;
    struct pt_names names;
    struct pt_buf name, file, lines, expected;
    struct pt_err err;
    pt_names_init(&names);
    pt_buf_init(&name);
    pt_buf_init(&file);
    pt_buf_init(&lines);
    pt_buf_init(&expected);
    while (name.len < PT_LINE_MAX)
        pt_buf_puts(&name, "aaaaaaaa");
    struct pt_event event = {.op = PT_OP_WRITE};
    event.thread = pt_strtab_intern(&names.space[PT_SPACE_THREAD], "T", 1);
    event.loc = pt_strtab_intern(&names.space[PT_SPACE_LOC], "", 0);
    event.object = pt_strtab_intern(&names.space[PT_SPACE_VAR], name.text, name.len);
    void *writer = pt_binary_encoder.begin(&names, &file);
    assert_int_equal(pt_binary_encoder.add(writer, &names, &event, &file, &err), PT_OK);
    pt_binary_encoder.end(writer, NULL, &file);
    assert_int_equal(read_all(file.text, file.len, &lines, NULL, &err), PT_READ_END);
    pt_event_to_text(&names, &event, &expected);
    pt_buf_add(&expected, "\n", 1);
    expect_same(&expected, &lines, 0);
    pt_buf_puts(&name, "a");
    event.object = pt_strtab_intern(&names.space[PT_SPACE_VAR], name.text, name.len);
    assert_int_equal(pt_binary_encoder.add(writer, &names, &event, &file, &err), PT_ELIMIT);
    pt_binary_encoder.release(writer);
    pt_buf_release(&name);
    pt_buf_release(&file);
    pt_buf_release(&lines);
    pt_buf_release(&expected);
    pt_names_release(&names);
}

static void test_pipe_in_pieces(void **state)
{
    (void)state;
    struct pt_buf text, binary;
    struct pt_names names;
    struct pt_source *reader;
    struct pt_event event;
    struct pt_err err;
    int fds[2];
    char path[64];
    random_trace(9, 50, true, &text, &binary);
    pt_names_init(&names);
    assert_int_equal(pipe(fds), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    assert_int_equal(pt_source_open(path, &names, &reader, &err), PT_OK);
    unsigned events = 0;
    for (size_t i = 0; i < binary.len; i++) {
        assert_int_equal(write(fds[1], binary.text + i, 1), 1);
        while (pt_source_ready(reader)) {
            assert_int_equal(pt_source_next(reader, &event, &err), PT_READ_EVENT);
            events++;
        }
    }
    assert_int_equal(events, 50); /* before the end is known */
    close(fds[1]);
    assert_true(pt_source_ready(reader));
    assert_int_equal(pt_source_next(reader, &event, &err), PT_READ_END);
    pt_source_free(reader);
    pt_names_release(&names);
    pt_buf_release(&text);
    pt_buf_release(&binary);
    close(fds[0]);
}

/* Through files, as convert does it. */
static void test_files(void **state)
{
    (void)state;
    char path[] = "/tmp/portent-test-XXXXXX";
    struct pt_buf text, binary, lines;
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    random_trace(31, 20000, true, &text, &binary);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const struct pt_format *const formats[] = {&pt_format_text, &pt_format_binary};
    for (int i = 0; i < 2; i++) {
        struct pt_writer *writer;
        struct pt_source *reader;
        pt_buf_init(&lines);
        pt_names_init(&names);
        assert_int_equal(pt_writer_open(path, formats[i], &names, &writer, &err), PT_OK);
        reader = pt_source_from_memory("t", binary.text, binary.len, &names);
        while (pt_source_next(reader, &event, &err) == PT_READ_EVENT)
            assert_int_equal(pt_writer_add(writer, &event, &err), PT_OK);
        assert_int_equal(pt_writer_close(writer, &err), PT_OK);
        pt_source_free(reader);
        assert_int_equal(pt_source_open(path, &names, &reader, &err), PT_OK);
        assert_string_equal(pt_source_label(reader), path);
        while (pt_source_next(reader, &event, &err) == PT_READ_EVENT) {
            pt_event_to_text(&names, &event, &lines);
            pt_buf_add(&lines, "\n", 1);
        }
        expect_same(&text, &lines, 31);
        pt_source_free(reader);
        pt_names_release(&names);
        pt_buf_release(&lines);
    }
    unlink(path);
    pt_buf_release(&text);
    pt_buf_release(&binary);
}

/* A file that is larger than what is read at a time is decoded ahead, in another thread: with the same events and the
 * same end, whatever it is. */
static void test_ahead(void **state)
{
    (void)state;
    char path[] = "/tmp/portent-test-XXXXXX";
    struct pt_buf text, binary;
    uint64_t random = 3;
    random_trace(41, 60000, true, &text, &binary);
    assert_true(binary.len > 1 << 19);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 24; i++) {
        struct pt_buf lines[2];
        struct pt_names names;
        struct pt_event event;
        struct pt_err err[2];
        size_t at = below(&random, (uint32_t)binary.len), len = i % 3 == 1 ? at : binary.len;
        char before = binary.text[at];
        enum pt_read ends[2] = {0};
        binary.text[at] = (char)(before ^ (i % 3 == 2));
        assert_int_equal(pwrite(fd, binary.text, len, 0), (ssize_t)len);
        assert_int_equal(ftruncate(fd, (off_t)len), 0);
        for (int from = 0; from < 2; from++) {
            struct pt_source *reader = pt_source_from_memory(path, binary.text, len, &names);
            pt_names_init(&names);
            pt_buf_init(&lines[from]);
            if (from) {
                pt_source_free(reader);
                assert_int_equal(pt_source_open(path, &names, &reader, &err[from]), PT_OK);
            }
            uint32_t most = i % 4 ? UINT32_MAX : below(&random, 40000); /* sometimes it is left before its end */
            while (most-- && (ends[from] = pt_source_next(reader, &event, &err[from])) == PT_READ_EVENT) {
                pt_event_to_text(&names, &event, &lines[from]);
                pt_buf_add(&lines[from], "\n", 1);
            }
            pt_source_free(reader);
            pt_names_release(&names);
        }
        if (i % 4) {
            assert_int_equal(ends[0], ends[1]);
            expect_same(&lines[0], &lines[1], 41);
            assert_true(ends[0] == PT_READ_END || strcmp(err[0].message, err[1].message) == 0);
        }
        binary.text[at] = before;
        for (int from = 0; from < 2; from++)
            pt_buf_release(&lines[from]);
    }
    close(fd);
    unlink(path);
    pt_buf_release(&text);
    pt_buf_release(&binary);
}

/* The lines of at most `most` events from this one on. */
static enum pt_read read_from(const struct pt_buf *file, uint64_t event, uint32_t most, struct pt_buf *lines,
                              struct pt_err *err)
{
    struct pt_names names;
    struct pt_event read;
    pt_names_init(&names);
    struct pt_source *reader = pt_source_from_memory("t", file->text, file->len, &names);
    enum pt_read got = pt_source_seek(reader, event, err);
    lines->len = 0;
    for (uint32_t i = 0; i < most && got == PT_READ_EVENT; i++) {
        got = pt_source_next(reader, &read, err);
        if (got != PT_READ_EVENT)
            break;
        assert_int_equal(read.line, event + i);
        pt_event_to_text(&names, &read, lines);
        pt_buf_add(lines, "\n", 1);
    }
    pt_source_free(reader);
    pt_names_release(&names);
    return got;
}

/* Where the line of an event begins. */
static const char *line_of(const struct pt_buf *text, uint64_t event)
{
    const char *at = text->text;
    while (--event)
        at = strchr(at, '\n') + 1;
    return at;
}

static bool has_index(const struct pt_buf *file)
{
    struct pt_input input;
    struct pt_binary_index index;
    pt_input_from_memory(&input, file->text, file->len);
    bool has = pt_binary_index_load(&input, &index);
    pt_input_release(&input);
    if (has)
        pt_binary_index_release(&index);
    return has;
}

/* From any event on, what is read is what comes there; of the text, too, which has no index. */
static void test_seek(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 100, PT_BLOCK_EVENTS, PT_BLOCK_EVENTS + 1, 30000};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct pt_buf text, binary, lines;
        struct pt_err err;
        uint64_t random = seed, events = sizes[seed / 2 % 5];
        random_trace(seed, (uint32_t)events, seed & 1, &text, &binary);
        assert_true(has_index(&binary));
        pt_buf_init(&lines);
        for (int i = 0; i < 30; i++) {
            uint64_t event = 1 + below(&random, (uint32_t)events);
            uint32_t most = below(&random, 3) ? 3 : 40000;
            enum pt_read got = read_from(i % 10 ? &binary : &text, event, most, &lines, &err);
            assert_int_equal(got, event + most > events + 1 ? PT_READ_END : PT_READ_EVENT);
            const char *expected = line_of(&text, event);
            assert_int_equal(memcmp(expected, lines.text, lines.len), 0);
            assert_true(got == PT_READ_EVENT || expected + lines.len == text.text + text.len);
        }
        assert_int_equal(read_from(&binary, events + 2, 1, &lines, &err), PT_READ_END);
        pt_buf_release(&lines);
        pt_buf_release(&text);
        pt_buf_release(&binary);
    }
}

/* Of a file whose end is damaged or cut off, no wrong event comes. */
static void test_damaged_index(void **state)
{
    (void)state;
    struct pt_buf text, binary, lines;
    struct pt_err err;
    uint64_t random = 5;
    random_trace(13, 20000, true, &text, &binary);
    pt_buf_init(&lines);
    for (int i = 0; i < 150; i++) {
        size_t at = binary.len - 1 - below(&random, i & 1 ? 200 : (uint32_t)binary.len - 20), len = binary.len;
        char before = binary.text[at];
        uint64_t event = 1 + below(&random, 20000);
        binary.text[at] = (char)(before ^ (char)(1 + below(&random, 255)));
        binary.len = i % 5 ? len : at;
        (void)read_from(&binary, event, 5, &lines, &err);
        if (lines.len)
            assert_int_equal(memcmp(line_of(&text, event), lines.text, lines.len), 0);
        binary.text[at] = before;
        binary.len = len;
    }
    pt_buf_release(&lines);
    pt_buf_release(&text);
    pt_buf_release(&binary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_ids),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_hostile_payloads),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_large_names),
        cmocka_unit_test(test_pipe_in_pieces),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_seek),
        cmocka_unit_test(test_damaged_index),
    };
    return cmocka_run_group_tests_name("trace_binary", tests, NULL, NULL);
}
