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
#include "core/local_report.h"
#include "engine/local.h"
#include "logic/mttl/mttl.h"

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
    static const char text[] = "property p at each i: atomic_block(b);";
    struct pt_err err;
    struct pt_mttl *block;
    assert_int_equal(pt_properties_add(props, "p.prop", text, sizeof text - 1, NULL, NULL, &err), PT_OK);
    const struct pt_property *list[] = {&props->items[0]};
    assert_int_equal(pt_mttl_compile(list, 1, &block, &err), PT_OK);
    return block;
}

static struct pt_thread_report full(char *bytes, size_t room)
{
    struct pt_local_report_writer w = {.bytes = bytes, .room = room};
    struct pt_local_report_step step = {.kind = PT_KIND_WRITE, .object = "x", .place = "a.c:1"};
    pt_local_report_put_step(&w, &step);
    pt_local_report_put_number(&w, 0);
    pt_local_report_put_number(&w, 0);
    return (struct pt_thread_report){
        .result = PT_LOCAL_VIOLATED, .thread = "T1", .from = 3, .to = 3, .report = bytes, .report_bytes = w.len};
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
    struct pt_locals *locals =
        pt_locals_new(block, (const struct pt_property *const[]){&props->items[0]}, &finding, &names, &options);
    char bytes[200];
    struct pt_thread_report reports[] = {
        full(bytes, sizeof bytes), {.result = PT_LOCAL_VIOLATED, .thread = "T2", .from = 7, .to = 8, .report = ""}};
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
static const char *object(void *context, const struct pt_local_report_step *step, struct pt_value *ret_value)
{
    *ret_value = pt_value_int(7);
    if (!step->at)
        return step->object;
    snprintf(context, 20, step->at < 0x1000 ? "thing %x" : "0x%x", (unsigned)step->at);
    return context;
}

static uint64_t line_of(void *context, const char *thread, uint64_t state, const struct pt_local_report_step *step)
{
    (void)context;
    assert_string_equal(thread, "work<int_ char>");
    return state + step->last - step->from;
}

/* The program has only addresses, and the source's words; the observer knows the names, and keeps the words for what
 * has none. */
static void things_get_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *object, *expected, *source;
        uint64_t at;
    } cases[] = {{"0x1f0", "thing 1f0", NULL, 0x1f0},
                 {"p->lock", "thing 2", NULL, 2},
                 {"m", "m", NULL, 0},
                 {"0x7000", "0x7000", NULL, 0x7000},
                 {"p->lock", "0x7000", "p->lock", 0x7000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_properties *props = pt_properties_new();
        struct pt_mttl *block = block_of(props);
        struct pt_finding *finding = pt_finding_new();
        struct pt_analysis_options options = {0};
        struct pt_names names;
        char bytes[1000], text[20];
        struct pt_local_report_writer w = {.bytes = bytes, .room = sizeof bytes};
        struct pt_local_report_step step = {
            .kind = PT_KIND_WRITE_AT, .object = cases[i].object, .place = "a|b.c:3", .at = cases[i].at};
        pt_names_init(&names);
        struct pt_locals *locals =
            pt_locals_new(block, (const struct pt_property *const[]){&props->items[0]}, &finding, &names, &options);
        pt_local_report_put_step(&w, &step);
        pt_local_report_put_number(&w, 0);
        pt_local_report_put_number(&w, 2);
        for (uint64_t k = 0; k < 2; k++) {
            pt_local_report_put_text(&w, PT_MTTL_TEXT_DISTURBED);
            pt_local_report_put_text(&w, "work<int, char>");
            pt_local_report_put_number(&w, 1);
            pt_local_report_put_value(&w, (struct pt_value){0});
            pt_local_report_put_number(&w, 10);
            struct pt_local_report_step other = step;
            other.at = step.at ? step.at + k : 0;
            other.from = 100;
            other.last = 103;
            pt_local_report_put_step(&w, &other);
        }
        pt_locals_take(locals, &(struct pt_thread_report){.result = PT_LOCAL_VIOLATED,
                                                          .thread = "T1",
                                                          .from = 1,
                                                          .to = 1,
                                                          .report = bytes,
                                                          .report_bytes = w.len,
                                                          .object = object,
                                                          .state = line_of,
                                                          .context = text});
        assert_false(w.full);
        assert_string_equal(finding->first.event.object, cases[i].expected);
        assert_string_equal(finding->first.event.loc, "a_b.c:3");
        assert_int_equal(finding->first.event.value.i, 7);
        assert_int_equal(finding->first.event.source != NULL, cases[i].source != NULL);
        if (cases[i].source)
            assert_string_equal(finding->first.event.source, cases[i].source);
        assert_int_equal(finding->first.knew_count, 2);
        assert_string_equal(finding->first.knew[0].from.object, cases[i].expected);
        assert_string_equal(finding->first.knew[0].thread, "work<int_ char>");
        assert_int_equal(finding->first.knew[0].state, 13);
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
        struct pt_locals *locals =
            pt_locals_new(block, (const struct pt_property *const[]){&props->items[0]}, &finding, &names, &options);
        for (int k = 0; k < cases[i].count; k++)
            pt_locals_take(
                locals,
                &(struct pt_thread_report){
                    .result = cases[i].results[k], .thread = k == 2 ? "T2" : "T1", .from = 4, .to = 4, .report = ""});
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
        cmocka_unit_test(things_get_their_names),
        cmocka_unit_test(who_has_not_ended_has_not_told_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
