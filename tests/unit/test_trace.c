/* The text form, values, the validator and the writer. */
#include "trace_util.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/oprule.h"
#include "trace/validate.h"
#include "trace/valuetext.h"

static void expect_canonical(const char *input, size_t len, const char *canonical)
{
    struct pt_buf lines;
    struct pt_err err;
    pt_buf_init(&lines);
    enum pt_read got = read_all(input, len, &lines, NULL, &err);
    if (got != PT_READ_END)
        print_error("%.*s: %s\n", (int)len, input, err.message);
    assert_int_equal(got, PT_READ_END);
    char *text = pt_buf_take(&lines);
    assert_string_equal(text, canonical);
    free(text);
}

static void test_every_operation(void **state)
{
    (void)state;
    static const char trace[] = "-|init(w)=20|-\n"
                                "T1|fork(T2)|a.c:10\n"
                                "T1|r(x)|a.c:11\n"
                                "T1|r(x)=3|a.c:11\n"
                                "T1|w(x)=5|a.c:12\n"
                                "T1|w(x)|7\n"
                                "T1|u(x)=6|a.c:12\n"
                                "T1|acq(l)|a.c:13\n"
                                "T1|rel(l)|a.c:15\n"
                                "T1|racq(l)|a.c:13\n"
                                "T1|rrel(l)|a.c:15\n"
                                "T1|wait(c)|a.c:16\n"
                                "T1|notify(c)|a.c:17\n"
                                "T1|sync(b)|a.c:17\n"
                                "T1|begin(transfer)|a.c:18\n"
                                "T1|end(transfer)|a.c:19\n"
                                "T1|event(write)|a.c:20\n"
                                "T1|int(busy)=1|a.c:21\n"
                                "T1|state(blocked)|-\n"
                                "T1|contended(l)|-\n"
                                "T1|join(T2)|a.c:30|t=7|c=T1:3,T2:1\n"
                                "-|clock|-|t=500\n"
                                "-|lost(events)=12|-|t=501\n";
    expect_canonical(trace, sizeof trace - 1, trace);
}

static void test_accepted_lines(void **state)
{
    (void)state;
    static const struct {
        const char *input, *canonical;
    } cases[] = {
        {"", ""},
        {"\n\n# comment\n \t \n#|\n", ""},
        {"T1|r(V1)|123", "T1|r(V1)|123\n"}, /* RAPID, without the last newline */
        {"T1|r(x)|a\r\nT1|r(x)|b\r\n\r\n", "T1|r(x)|a\nT1|r(x)|b\n"},
        {"T1|r(x)||c=a:b:4,T1:0|t=3", "T1|r(x)||t=3|c=a:b:4,T1:0\n"},
        {"a b|r(x)|some place, with # and =\n", "a b|r(x)|some place, with # and =\n"},
        {"T|w(a[3])=1|\nT|w(f(int)::x)=2|\nT|r(f(int)::x)|\n", "T|w(a[3])=1|\nT|w(f(int)::x)=2|\nT|r(f(int)::x)|\n"},
        {"T|r(tank.level)|\nT|r(a)=5)|\nT|w(a)=b)=5|\n", "T|r(tank.level)|\nT|r(a)=5)|\nT|w(a)=b)=5|\n"},
        {"T|w(x)=\"a|b)\"|l\n", "T|w(x)=\"a\\174b)\"|l\n"},
        {"T|w(m[\"k\"])=\")=\"|l\n", "T|w(m[\"k\"])=\")=\"|l\n"},
        {"T|w(x)=\"\\\"|\\\\\"|l\n", "T|w(x)=\"\\\"\\174\\\\\"|l\n"},
        {"T|w(x)=\"\\x41\\101\\u00e9\\U0001F600\\n\\0\\a\"|\n", "T|w(x)=\"AA\u00e9\U0001F600\\n\\000\\007\"|\n"},
        {"T|w(x)=\"\"|\n", "T|w(x)=\"\"|\n"},
        {"T|w(x)=007|\nT|w(x)=-0|\nT|w(x)=0xFf|\nT|w(x)=-0x10|\n", "T|w(x)=7|\nT|w(x)=0|\nT|w(x)=255|\nT|w(x)=-16|\n"},
        {"T|w(x)=-9223372036854775808|\nT|w(x)=18446744073709551615|\nT|w(x)=0xffffffffffffffff|\n",
         "T|w(x)=-9223372036854775808|\nT|w(x)=18446744073709551615|\nT|w(x)=18446744073709551615|\n"},
        {"T|w(x)=1.0|\nT|w(x)=1e9|\nT|w(x)=.5|\nT|w(x)=-2.|\nT|w(x)=1E-3|\nT|w(x)=0.1|\n",
         "T|w(x)=1.0|\nT|w(x)=1000000000.0|\nT|w(x)=0.5|\nT|w(x)=-2.0|\nT|w(x)=0.001|\nT|w(x)=0.1|\n"},
        {"T|w(x)=inf|\nT|w(x)=-inf|\nT|w(x)=nan|\nT|w(x)=true|\nT|w(x)=false|\n",
         "T|w(x)=inf|\nT|w(x)=-inf|\nT|w(x)=nan|\nT|w(x)=true|\nT|w(x)=false|\n"},
        {"-|clock|-|t=1\n-|init(x)=1|-\nT|r(x)|\n-|clock|-|t=18446744073709551615\n",
         "-|clock|-|t=1\n-|init(x)=1|-\nT|r(x)|\n-|clock|-|t=18446744073709551615\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_canonical(cases[i].input, strlen(cases[i].input), cases[i].canonical);
}

static void test_malformed_lines(void **state)
{
    (void)state;
#define CASE(text, line, column, message)                                                                              \
    {                                                                                                                  \
        text, sizeof(text) - 1, line, column, message                                                                  \
    }
    static const struct {
        const char *text;
        size_t len;
        uint64_t line;
        uint32_t column;
        const char *message;
    } cases[] = {
        CASE("T1", 1, 3, "there is no operation"),
        CASE("# fine\nT1|r(x)|1\n\nT1|r(x)\n", 4, 8, "there is no place"),
        CASE("T1|foo(x)|-", 1, 4, "unknown operation 'foo'"),
        CASE("T1|readwrite(x)|-", 1, 4, "unknown operation 'readwrite'"),
        CASE("T1|contendee(l)|-", 1, 4, "unknown operation 'contendee'"),
        CASE("T1||-", 1, 4, "an operation is expected"),
        CASE("T1|r|-", 1, 5, "needs an object"),
        CASE("T1|r()|-", 1, 6, "a name is missing"),
        CASE("T1|r(x|-", 1, 7, "the ')' of 'r(' is missing"),
        CASE("T1|r(x)5|-", 1, 9, "the ')' of 'r(' is missing"),
        CASE("T1|w(x)=|-", 1, 9, "a value is expected"),
        CASE("T1|w(x)=12z|-", 1, 11, "does not belong to a number"),
        CASE("T1|w(x)= 1|-", 1, 9, "this is no value"),
        CASE("T1|w(x)=+1|-", 1, 9, "this is no value"),
        CASE("T1|w(x)=0x|-", 1, 11, "a hexadecimal digit is expected"),
        CASE("T1|w(x)=0x1g|-", 1, 12, "not a hexadecimal digit"),
        CASE("T1|w(x)=18446744073709551616|-", 1, 9, "does not fit 64 bits"),
        CASE("T1|w(x)=0x10000000000000000|-", 1, 9, "does not fit 64 bits"),
        CASE("T1|w(x)=-9223372036854775809|-", 1, 9, "does not fit 64 bits"),
        CASE("T1|w(x)=1e999|-", 1, 9, "too large for a double"),
        CASE("T1|w(x)=1e|-", 1, 11, "expected in the exponent"),
        CASE("T1|w(x)=-|-", 1, 10, "a digit is expected"),
        CASE("T1|w(x)=.|-", 1, 10, "a digit is expected"),
        CASE("T1|w(x)=infinity|-", 1, 9, "this is no value"),
        CASE("T1|w(x)=maybe|-", 1, 9, "this is no value"),
        CASE("T1|w(x)=\"abc|-", 1, 9, "the string does not end"),
        CASE("T1|w(x)=\"abc\\\"|-", 1, 9, "the string does not end"),
        CASE("T1|w(x)=\"a\"b|-", 1, 12, "nothing may follow the closing quote"),
        CASE("T1|w(x)=\"\\q\"|-", 1, 10, "this escape does not exist"),
        CASE("T1|w(x)=\"\\x\"|-", 1, 10, "too few digits"),
        CASE("T1|w(x)=\"\\u12\"|-", 1, 10, "too few digits"),
        CASE("T1|w(x)=\"\\x100\"|-", 1, 10, "names no character"),
        CASE("T1|w(x)=\"\\x10000000000000041\"|-", 1, 10, "names no character"),
        CASE("T1|w(x)=\"\\400\"|-", 1, 10, "names no character"),
        CASE("T1|w(x)=\"\\ud800\"|-", 1, 10, "names no character"),
        CASE("T1|w(x)=\"a\0b\"|-", 1, 11, "a control character"),
        CASE("T1|acq(l)=1|-", 1, 10, "'acq' takes no value"),
        CASE("T1|int(b)|-", 1, 10, "'int' needs a value"),
        CASE("-|init(w)|-", 1, 10, "'init' needs a value"),
        CASE("T1|init(w)=1|-", 1, 1, "'init' belongs to no thread"),
        CASE("T1|clock|-|t=1", 1, 1, "'clock' belongs to no thread"),
        CASE("-|clock(x)|-|t=1", 1, 8, "'clock' takes no object"),
        CASE("-|clock|-", 1, 10, "'clock' needs a time"),
        CASE("T1|lost(events)=3|-", 1, 1, "'lost' belongs to no thread"),
        CASE("-|lost(events)|-", 1, 15, "'lost' needs a value"),
        CASE("-|r(x)|-", 1, 1, "'r' needs a thread"),
        CASE("|r(x)|-", 1, 1, "'r' needs a thread"),
        CASE("T1|w(x)=1|-\n-|init(x)=1|-\n", 2, 1, "before the first event"),
        CASE("T1|r(x)|-|q=1", 1, 11, "unknown field"),
        CASE("T1|r(x)|-|", 1, 11, "unknown field"),
        CASE("T1|r(x)|-|t", 1, 11, "unknown field"),
        CASE("T1|r(x)|-|t=", 1, 13, "a time must be"),
        CASE("T1|r(x)|-|t=-1", 1, 13, "a time must be"),
        CASE("T1|r(x)|-|t=18446744073709551616", 1, 13, "a time must be"),
        CASE("T1|r(x)|-|t=1|t=2", 1, 15, "'t=' is given twice"),
        CASE("T1|r(x)|-|c=T1:1|c=T1:1", 1, 18, "'c=' is given twice"),
        CASE("T1|r(x)|-|c=", 1, 13, "THREAD:COUNT is expected"),
        CASE("T1|r(x)|-|c=T1", 1, 13, "THREAD:COUNT is expected"),
        CASE("T1|r(x)|-|c=T1:1,", 1, 18, "THREAD:COUNT is expected"),
        CASE("T1|r(x)|-|c=:1", 1, 13, "a name is missing"),
        CASE("T1|r(x)|-|c=T1:x", 1, 16, "the count of a clock entry"),
        CASE("T1|r(x)|-|c=T1:", 1, 16, "the count of a clock entry"),
        CASE("T1|fork(-)|-", 1, 9, "cannot be the name of a thread"),
        CASE("T1|fork(#a)|-", 1, 9, "cannot be the name of a thread"),
        CASE("T1|r(a\0b)|-", 1, 7, "NUL byte"),
        CASE("T\0|r(a)|-", 1, 2, "NUL byte"),
        CASE("T1|r(a)|ab\0", 1, 11, "NUL byte"),
        CASE("T1|r\0(a)|-", 1, 4, "unknown operation"),
        CASE("T1|r(x)|a\rb", 1, 10, "carriage return"),
        CASE("T1|r(x)|a\r\r\n", 1, 10, "carriage return"),
        CASE("T1)=\"|r(x)|a", 1, 1, "cannot contain"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_err err;
        enum pt_read got = read_all(cases[i].text, cases[i].len, NULL, NULL, &err);
        if (got != PT_READ_ERROR || err.line != cases[i].line || err.column != cases[i].column ||
            !strstr(err.message, cases[i].message))
            fail_msg("%s: ended as %d at %d:%d: %s", cases[i].text, got, (int)err.line, (int)err.column, err.message);
        assert_int_equal(err.status, PT_EINPUT);
        assert_string_equal(err.file, "test.trace");
        assert_true(err.source[0] != '\0');
    }
}

/* A file that ends within a line, cut after each of its bytes: never an error, and everything before that line is read.
 */
static void test_torn_text(void **state)
{
    (void)state;
    static const char first[] = "T1|w(x)=1|a.c:1\n", last[] = "T1|w(x)=\"a b\"|a.c:2|c=T1:2,T2:11";
    char text[sizeof first + sizeof last];
    uint64_t count;
    struct pt_err err;
    size_t place = (size_t)(strstr(last, "|a") - last) + 1, fields = (size_t)(strstr(last, "|c=") - last);
    snprintf(text, sizeof text, "%s%s", first, last);
    for (size_t len = 1; len < sizeof last; len++) {
        bool whole = len >= place && len <= fields;
        enum pt_read got = read_all(text, sizeof first - 1 + len, NULL, &count, &err);
        assert_int_equal(got, whole ? PT_READ_END : PT_READ_TORN);
        assert_int_equal(count, whole ? 2 : 1);
        if (!whole && (err.line != 2 || !strstr(err.message, "torn in line 2")))
            fail_msg("%s", err.message);
    }
}

static void test_long_lines(void **state)
{
    (void)state;
    struct pt_buf text;
    struct pt_err err;
    for (int extra = 0; extra < 2; extra++) {
        pt_buf_init(&text);
        pt_buf_puts(&text, "T1|r(x)|1\nT1|r(x)|");
        while (text.len < 10 + PT_LINE_MAX + (size_t)extra)
            pt_buf_puts(&text, "a");
        pt_buf_puts(&text, "\nT1|r(x)|2\n");
        uint64_t count;
        enum pt_read got = read_all(text.text, text.len, NULL, &count, &err);
        assert_int_equal(got, extra ? PT_READ_ERROR : PT_READ_END);
        assert_int_equal(count, extra ? 1 : 3);
        if (extra)
            assert_int_equal(err.line, 2);
        pt_buf_release(&text);
    }
}

/* Numbers from all over, and those around the borders of the kinds. */
static struct pt_value random_number(uint64_t *random)
{
    uint64_t bits = next_random(random) >> below(random, 64);
    switch (below(random, 4)) {
    case 0:
        return pt_value_int((int64_t)bits);
    case 1:
        return pt_value_uint(bits);
    case 2:
        return pt_value_float((double)(int64_t)bits / (double)(1 + below(random, 1000)));
    default: {
        double d;
        bits = next_random(random);
        memcpy(&d, &bits, sizeof d);
        return pt_value_float(isnan(d) ? (double)NAN : d);
    }
    }
}

static void test_values_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 20240607, random = seed;
    struct pt_strtab strings;
    pt_strtab_init(&strings);
    for (int i = 0; i < 20000; i++) {
        struct pt_value value = random_number(&random), back = {0};
        struct pt_value_problem problem;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_value_to_text(value, &text);
        bool good = pt_value_parse(text.text, text.len, &strings, &back, &problem);
        if (!good || !pt_value_same(value, back))
            fail_msg("seed %llu, value %d: %s does not read back", (unsigned long long)seed, i, text.text);
        pt_buf_release(&text);
    }
    pt_strtab_release(&strings);
}

/* Bytes arrive one by one: the reader says when it would wait, and never invents an event. */
static void test_pipe_in_pieces(void **state)
{
    (void)state;
    static const char trace[] = "# c\nT1|w(x)=1|a\r\n\nT2|r(x)=1|b|t=5\nT2|w(y)=\"|\"|b";
    int fds[2];
    char path[64];
    struct pt_names names;
    struct pt_source *reader;
    struct pt_event event;
    struct pt_err err;
    assert_int_equal(pipe(fds), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    pt_names_init(&names);
    assert_int_equal(pt_source_open(path, &names, &reader, &err), PT_OK);
    unsigned events = 0;
    for (size_t i = 0; i < sizeof trace - 1; i++) {
        assert_int_equal(write(fds[1], trace + i, 1), 1);
        bool complete = trace[i] == '\n' && i > 3 && trace[i - 1] != '\n'; /* of an event's line */
        assert_int_equal(pt_source_ready(reader), complete);
        if (!complete)
            continue;
        assert_int_equal(pt_source_next(reader, &event, &err), PT_READ_EVENT);
        events++;
    }
    assert_int_equal(events, 2);
    assert_int_equal(event.line, 4);
    assert_true(event.has_time);
    close(fds[1]);
    assert_true(pt_source_ready(reader));
    assert_int_equal(pt_source_next(reader, &event, &err), PT_READ_EVENT);
    assert_int_equal(event.line, 5);
    assert_int_equal(pt_source_next(reader, &event, &err), PT_READ_END);
    pt_source_free(reader);
    pt_names_release(&names);
    close(fds[0]);
}

static void test_validator(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t line;       /* 0: legal */
        const char *message; /* "": likewise */
    } cases[] = {
        {"A|acq(l)|\nA|acq(l)|\nA|rel(l)|\nA|rel(l)|\n", 0, ""},
        {"A|acq(l)|\nA|acq(l)|\nA|rel(l)|\nA|rel(l)|\nA|rel(l)|\n", 5, "does not hold"},
        {"A|rel(l)|\n", 1, "does not hold"},
        {"A|acq(l)|\nB|rel(l)|\n", 2, "thread 'B' releases lock 'l', which it does not hold"},
        {"A|acq(l)|\nB|acq(l)|\nB|rel(l)|\nA|rel(l)|\n", 2,
         "thread 'B' acquires lock 'l', which thread 'A' holds since line 1"},
        {"A|acq(l)|\nB|acq(m)|\nA|rel(l)|\nB|acq(l)|\n", 0, ""},
        {"A|acq(l)|\nA|acq(l)|\nA|rel(l)|\nB|racq(l)|\n", 4, "which thread 'A' holds since line 1"},
        {"A|racq(l)|\nB|racq(l)|\nA|rrel(l)|\nA|acq(l)|\n", 4, "which thread 'B' holds since line 2"},
        {"A|racq(l)|\nB|racq(l)|\nA|acq(l)|\n", 3, "which thread 'B' holds since line 2"},
        {"A|racq(l)|\nA|acq(l)|\nB|racq(l)|\n", 3, "which thread 'A' holds since line 1"},
        {"A|racq(l)|\nA|acq(l)|\nA|rel(l)|\nB|racq(l)|\n", 0, ""},
        {"B|acq(l)|\nA|join(B)|\nA|acq(l)|\nA|rel(l)|\n", 0, ""}, /* a robust mutex */
        {"B|racq(l)|\nC|racq(l)|\nA|join(B)|\nA|acq(l)|\n", 4, "which thread 'C' holds since line 2"},
        {"A|acq(l)|\n-|lost(events)=1|\nB|acq(l)|\n", 0, ""},
        {"A|acq(l)|\nA|rel(m)|\n", 2, "does not hold"},
        {"A|racq(l)|\nB|racq(l)|\nA|rrel(l)|\nB|rrel(l)|\n", 0, ""},
        {"A|racq(l)|\nA|rel(l)|\n", 2, "must release it by 'rrel'"},
        {"A|acq(l)|\nA|rrel(l)|\n", 2, "must release it by 'rel'"},
        {"A|racq(l)|\nA|acq(l)|\nA|rel(l)|\nA|rrel(l)|\n", 0, ""},
        {"A|rrel(l)|\n", 1, "does not hold"},
        {"A|acq(l)|\n", 0, ""},
        {"A|fork(B)|\nB|r(x)|\nA|join(B)|\nA|r(x)|\n", 0, ""},
        {"A|fork(B)|\nA|join(B)|\n", 0, ""},
        {"A|r(x)|\nB|r(x)|\nB|join(A)|\nB|join(A)|\n", 4, "already joined at line 3"},
        {"A|fork(A)|\n", 1, "forks itself"},
        {"A|join(A)|\n", 1, "joins itself"},
        {"A|fork(B)|\nA|fork(B)|\n", 2, "already forked at line 1"},
        {"B|r(x)|\nA|fork(B)|\n", 2, "has acted before, first at line 1"},
        {"A|fork(B)|\nA|join(B)|\nB|r(x)|\n", 3, "acts after it was joined at line 2"},
        {"A|fork(B)|\nA|join(B)|\nA|fork(B)|\n", 3, "already forked"},
        {"A|join(B)|\n", 1, "neither forked nor seen"},
        {"A|r(x)||c=B:1\nA|join(B)|\n", 2, "neither forked nor seen"},
        {"-|init(x)=1|\n-|clock||t=1\nA|r(x)|\n", 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_names names;
        struct pt_event event;
        struct pt_err err;
        enum pt_status status = PT_OK;
        pt_names_init(&names);
        struct pt_source *reader = pt_source_from_memory("v", cases[i].text, strlen(cases[i].text), &names);
        struct pt_validator *validator = pt_validator_new("v", &names);
        while (status == PT_OK && pt_source_next(reader, &event, &err) == PT_READ_EVENT)
            status = pt_validator_check(validator, &event, &err);
        if (status != (cases[i].line ? PT_EINPUT : PT_OK))
            fail_msg("%s: status %d", cases[i].text, status);
        if (status != PT_OK && (err.line != cases[i].line || !strstr(err.message, cases[i].message)))
            fail_msg("%s: line %d: %s", cases[i].text, (int)err.line, err.message);
        pt_validator_free(validator);
        pt_source_free(reader);
        pt_names_release(&names);
    }
}

/* Random holds against plain counters: the table's growth and deletion. */
static void test_validator_many_holds(void **state)
{
    (void)state;
    enum { THREADS = 7, LOCKS = 301 };
    static unsigned held[THREADS][LOCKS];
    uint64_t seed = 99, random = seed;
    struct pt_names names;
    struct pt_err err;
    char name[16];
    pt_names_init(&names);
    for (int i = 0; i < LOCKS; i++) {
        pt_strtab_intern(&names.space[PT_SPACE_LOCK], name, (size_t)snprintf(name, sizeof name, "l%d", i));
        pt_strtab_intern(&names.space[PT_SPACE_THREAD], name, (size_t)snprintf(name, sizeof name, "T%d", i));
    }
    struct pt_validator *validator = pt_validator_new("v", &names);
    for (uint64_t i = 1; i < 200000; i++) {
        uint32_t thread = below(&random, THREADS), lock = below(&random, LOCKS);
        bool acquire = below(&random, 2);
        struct pt_event event = {.line = i, .op = acquire ? PT_OP_ACQ : PT_OP_REL, .thread = thread, .object = lock};
        bool others = false;
        for (uint32_t t = 0; t < THREADS; t++)
            others = others || (t != thread && held[t][lock]);
        enum pt_status expected = (acquire ? !others : held[thread][lock] > 0) ? PT_OK : PT_EINPUT;
        if (pt_validator_check(validator, &event, &err) != expected)
            fail_msg("seed %llu, step %llu", (unsigned long long)seed, (unsigned long long)i);
        if (expected == PT_OK)
            held[thread][lock] += acquire ? 1u : -1u;
    }
    pt_validator_free(validator);
    pt_names_release(&names);
}

static void test_files(void **state)
{
    (void)state;
    struct pt_names names;
    struct pt_source *reader = NULL;
    struct pt_writer *writer = NULL;
    struct pt_err err;
    pt_names_init(&names);
    assert_int_equal(pt_source_open("/no/such/file", &names, &reader, &err), PT_EIO);
    assert_string_equal(err.file, "/no/such/file");
    assert_int_equal(pt_source_open("/", &names, &reader, &err), PT_EIO);
    assert_int_equal(pt_writer_open("/no/such/file", &pt_format_text, &names, &writer, &err), PT_EIO);
    assert_null(reader);
    assert_null(writer);
    struct pt_event event = {.op = PT_OP_READ};
    event.thread = pt_strtab_intern(&names.space[PT_SPACE_THREAD], "T", 1);
    event.object = pt_strtab_intern(&names.space[PT_SPACE_VAR], "x", 1);
    event.loc = pt_strtab_intern(&names.space[PT_SPACE_LOC], "", 0);
    const struct pt_format *const formats[] = {&pt_format_text, &pt_format_binary};
    for (int i = 0; i < 2; i++) {
        if (pt_writer_open("/dev/full", formats[i], &names, &writer, &err) != PT_OK)
            continue; /* not every system has it */
        assert_int_equal(pt_writer_add(writer, &event, &err), PT_OK);
        assert_int_equal(pt_writer_close(writer, &err), PT_EIO);
        assert_non_null(strstr(err.message, "cannot write the trace"));
    }
    pt_names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),      cmocka_unit_test(test_accepted_lines),
        cmocka_unit_test(test_malformed_lines),      cmocka_unit_test(test_torn_text),
        cmocka_unit_test(test_long_lines),           cmocka_unit_test(test_values_round_trip),
        cmocka_unit_test(test_pipe_in_pieces),       cmocka_unit_test(test_validator),
        cmocka_unit_test(test_validator_many_holds), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
