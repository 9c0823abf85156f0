/* What a running program's threads tell about decentralised properties (engine/local.c), in whatever order it is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/channel.h"
#include "core/told.h"
#include "engine/local.h"
#include "logic/mttl.h"

struct told {
    int times;
    char object[20];
};

static void found(void *context, const struct pt_finding *finding)
{
    struct told *told = context;
    told->times++;
    snprintf(told->object, sizeof told->object, "%s", finding->first.event.object);
}

static struct pt_mttl *block_of(struct pt_properties *props)
{
    static const char text[] = "property p at each i: race_free(x);";
    struct pt_err err;
    struct pt_mttl *block;
    assert_int_equal(pt_properties_add(props, "p.prop", text, sizeof text - 1, NULL, NULL, &err), PT_OK);
    const struct pt_property *list[] = {&props->items[0]};
    assert_int_equal(pt_mttl_compile(list, 1, &block, &err), PT_OK);
    return block;
}

static struct pt_told_report full(char *bytes, size_t room)
{
    struct pt_told_writer w = {.bytes = bytes, .room = room};
    struct pt_told_step step = {.op = "w", .object = "x", .source = "", .place = "a.c:1"};
    pt_told_put_step(&w, &step);
    pt_told_put_number(&w, 0);
    pt_told_put_number(&w, 0);
    return (struct pt_told_report){
        .result = PT_LOCAL_VIOLATED, .thread = "T1", .from = 3, .to = 3, .told = bytes, .told_bytes = w.len};
}

/* Reports: 0 the one with both sides, 1 a later one of another thread. */
static struct told take(const int *order, int count)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_mttl *block = block_of(props);
    struct pt_finding *finding = pt_finding_new();
    struct pt_names names;
    pt_names_init(&names);
    struct told told = {0};
    struct pt_analysis_options options = {.found = found, .context = &told};
    struct pt_locals *locals = pt_locals_new(block, &finding, &names, &options);
    char bytes[200];
    struct pt_told_report reports[] = {full(bytes, sizeof bytes),
                                       {.result = PT_LOCAL_VIOLATED, .thread = "T2", .from = 7, .to = 8, .told = ""}};
    for (int i = 0; i < count; i++)
        pt_locals_take(locals, &reports[order[i]]);
    pt_locals_finish(locals, NULL);
    assert_int_equal(finding->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(finding->local_count, count);
    pt_locals_free(locals);
    pt_names_release(&names);
    pt_finding_free(finding);
    free(block);
    pt_properties_free(props);
    return told;
}

static void both_sides_are_told(void **state)
{
    (void)state;
    static const int orders[][2] = {{0, 1}, {1, 0}};
    for (int i = 0; i < 2; i++) {
        struct told told = take(orders[i], 2);
        assert_int_equal(told.times, 1);
        assert_string_equal(told.object, "x");
    }
}

static void a_violation_is_told_without_them(void **state)
{
    (void)state;
    struct told told = take((const int[]){1}, 1);
    assert_int_equal(told.times, 1);
    assert_string_equal(told.object, "");
}

/* Debug information knows of nothing above 0x1000. */
static const char *lock_name(void *context, uint64_t address)
{
    snprintf(context, 20, address < 0x1000 ? "lock %x" : "0x%x", (unsigned)address);
    return context;
}

/* The program has only addresses, and the source's words; the observer knows the names. */
static void locks_get_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *op, *object, *source, *expected;
    } cases[] = {{"acq", "0x1f0", "", "lock 1f0"}, {"rrel", "0x2", "p->lock", "lock 2"},
                 {"w", "0x1f0", "", "0x1f0"},      {"acq", "m", "", "m"},
                 {"rel", "0x7000", "", "0x7000"},  {"rel", "0x7000", "p->lock", "p->lock"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_mttl *block = block_of(props);
        struct pt_finding *finding = pt_finding_new();
        struct pt_analysis_options options = {0};
        struct pt_names names;
        char bytes[200], text[20];
        struct pt_told_writer w = {.bytes = bytes, .room = sizeof bytes};
        pt_names_init(&names);
        struct pt_locals *locals = pt_locals_new(block, &finding, &names, &options);
        pt_told_put_step(&w,
                         &(struct pt_told_step){
                             .op = cases[i].op, .object = cases[i].object, .source = cases[i].source, .place = "-"});
        pt_told_put_number(&w, 0);
        pt_told_put_number(&w, 0);
        pt_locals_take(locals, &(struct pt_told_report){.result = PT_LOCAL_VIOLATED,
                                                        .thread = "T1",
                                                        .from = 1,
                                                        .to = 1,
                                                        .told = bytes,
                                                        .told_bytes = w.len,
                                                        .lock_name = lock_name,
                                                        .context = text});
        assert_string_equal(finding->first.event.object, cases[i].expected);
        pt_locals_free(locals);
        pt_names_release(&names);
        pt_finding_free(finding);
        free(block);
        pt_properties_free(props);
    }
}

/* The property is about each thread: T1 told everything or not, T2 begins in the last case alone. */
static void who_has_not_ended_has_not_told_all(void **state)
{
    (void)state;
    static const struct {
        enum pt_local_result results[3];
        int count;
        bool lost, complete;
        uint64_t states;
        enum pt_verdict verdict;
    } cases[] = {
        {{PT_LOCAL_BEGUN, PT_LOCAL_STATES}, 2, false, true, 5, PT_VERDICT_HOLDS},
        {{PT_LOCAL_STATES, PT_LOCAL_BEGUN}, 2, false, true, 5, PT_VERDICT_HOLDS}, /* rings are read in any order */
        {{PT_LOCAL_BEGUN}, 1, false, false, 1, PT_VERDICT_HOLDS},
        {{PT_LOCAL_BEGUN, PT_LOCAL_VIOLATED}, 2, false, false, 1, PT_VERDICT_VIOLATED},
        {{PT_LOCAL_BEGUN, PT_LOCAL_STATES}, 2, true, false, 5, PT_VERDICT_UNKNOWN},
        {{PT_LOCAL_BEGUN, PT_LOCAL_STATES, PT_LOCAL_BEGUN}, 3, false, false, 6, PT_VERDICT_HOLDS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_mttl *block = block_of(props);
        struct pt_finding *finding = pt_finding_new();
        struct pt_analysis_options options = {0};
        struct pt_names names;
        pt_names_init(&names);
        struct pt_locals *locals = pt_locals_new(block, &finding, &names, &options);
        for (int k = 0; k < cases[i].count; k++)
            pt_locals_take(
                locals,
                &(struct pt_told_report){
                    .result = cases[i].results[k], .thread = k == 2 ? "T2" : "T1", .from = 4, .to = 4, .told = ""});
        pt_locals_finish(locals, cases[i].lost ? "lost" : NULL);
        assert_int_equal(finding->complete, cases[i].complete);
        assert_int_equal(finding->states, cases[i].states);
        assert_int_equal(finding->verdict, cases[i].verdict);
        assert_int_equal(finding->message != NULL, !cases[i].complete);
        pt_locals_free(locals);
        pt_names_release(&names);
        pt_finding_free(finding);
        free(block);
        pt_properties_free(props);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_are_told),
        cmocka_unit_test(a_violation_is_told_without_them),
        cmocka_unit_test(locks_get_their_names),
        cmocka_unit_test(who_has_not_ended_has_not_told_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
