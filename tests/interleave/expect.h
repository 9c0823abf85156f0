/* What every exploration of a protocol must give: no fault, or, in a build with a seeded one, that fault. */
#ifndef PT_INTERLEAVE_EXPECT_H
#define PT_INTERLEAVE_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect(struct pt_interleave_result result)
{
    print_message("%llu runs, %llu cut, at most %u steps\n", (unsigned long long)result.runs,
                  (unsigned long long)result.cut, result.steps);
#ifdef PT_SEEDED
    assert_non_null(result.fault);
#else
    if (result.fault)
        fail_msg("%s", result.fault);
    assert_true(result.runs > 1);
#endif
}

#endif
