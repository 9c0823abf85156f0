/* Findings of two analyses that are to be the same. */
#ifndef FINDINGS_UTIL_H
#define FINDINGS_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding/finding.h"

static inline void same_steps(const struct pt_step *a, const struct pt_step *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(a[i].number, b[i].number);
        assert_string_equal(a[i].thread, b[i].thread);
    }
}

/* What is told beside: whether the run is there, and in words why not. */
static inline void same_messages(const struct pt_finding *a, const struct pt_finding *b)
{
    assert_int_equal(a->witness_lost, b->witness_lost);
    assert_int_equal(!a->message, !b->message);
    if (a->message)
        assert_string_equal(a->message, b->message);
}

static inline void same_findings(const struct pt_finding *a, const struct pt_finding *b)
{
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->how, b->how);
    assert_int_equal(a->relevant, b->relevant);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->states, b->states);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->complete, b->complete);
    assert_int_equal(a->witness_from, b->witness_from);
    assert_int_equal(a->witness_count, b->witness_count);
    assert_int_equal(a->actual_count, b->actual_count);
    assert_int_equal(a->move_count, b->move_count);
    assert_int_equal(a->switches, b->switches);
    same_steps(a->witness, b->witness, a->witness_count);
    same_steps(a->actual, b->actual, a->actual_count);
}

#endif
