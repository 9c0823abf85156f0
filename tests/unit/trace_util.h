/* What the tests of traces share: reading from memory, comparing events, random numbers. */
#ifndef PT_TEST_TRACE_UTIL_H
#define PT_TEST_TRACE_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/source.h"
#include "trace/writer.h"

/* Reads all events of a trace and appends their canonical lines to `lines` (may be NULL); the way it ended. */
static inline enum pt_read read_all(const void *bytes, size_t len, struct pt_buf *lines, uint64_t *ret_count,
                                    struct pt_err *err)
{
    struct pt_names names;
    struct pt_event event;
    enum pt_read got;
    uint64_t count = 0;
    pt_names_init(&names);
    memset(err, 0, sizeof *err);
    struct pt_source *reader = pt_source_from_memory("test.trace", bytes, len, &names);
    while ((got = pt_source_next(reader, &event, err)) == PT_READ_EVENT) {
        count++;
        if (lines) {
            pt_event_to_text(&names, &event, lines);
            pt_buf_add(lines, "\n", 1);
        }
    }
    struct pt_err again = {0};
    assert_int_equal(pt_source_next(reader, &event, &again), got); /* an end stays an end */
    assert_string_equal(again.message, err->message);
    pt_source_free(reader);
    pt_names_release(&names);
    if (ret_count)
        *ret_count = count;
    return got;
}

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint32_t below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(next_random(state) % n);
}

#endif
