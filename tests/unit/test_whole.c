/* Whether the answer of a run is whole (cli/run/whole.h): each reason by itself, several at once, and the exit status.
 */
#include "trace_util.h"

#include "cli/run/whole.h"
#include "logic/lang/parse.h"
#include "logic/monitor/monitor.h"

/* A run of up to eight properties, all of which hold. */
struct run {
    struct pt_finding findings[8], *list[8];
    struct pt_analysis_input inputs[8];
    struct pt_result result;
    struct pt_whole_facts facts;
};

static void begin(struct run *run, uint32_t count)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    memset(run, 0, sizeof *run);
    for (uint32_t i = 0; i < count; i++) {
        run->findings[i] =
            (struct pt_finding){.property = names[i], .kind = "mttl", .verdict = PT_VERDICT_HOLDS, .monitorable = true};
        run->list[i] = &run->findings[i];
    }
    run->result.findings = run->list;
    run->result.count = count;
    run->facts =
        (struct pt_whole_facts){.started = true, .inputs = run->inputs, .input_count = 8, .result = &run->result};
}

/* NULL: it is whole. */
static void expect(const struct run *run, const char *reasons)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    assert_int_equal(pt_whole_reasons(&run->facts, &buf), reasons != NULL);
    if (reasons)
        assert_string_equal(buf.text, reasons);
    pt_buf_release(&buf);
}

static void each_reason_is_given(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 2);
    expect(&run, NULL);
    run.findings[1].verdict = PT_VERDICT_ERROR;
    expect(&run, "property 'b' could not be evaluated");
    run.findings[1].verdict = PT_VERDICT_UNKNOWN;
    expect(&run, "property 'b' remained unknown, because the analysis was cut short");
    run.findings[1].verdict = PT_VERDICT_HOLDS;
    run.findings[0].monitorable = false;
    expect(&run, "property 'a' can never be violated");
    begin(&run, 1);
    run.facts.foreign = "level";
    expect(&run, "code that is not instrumented wrote level");
    begin(&run, 1);
    run.facts.unwritten = "t.trace: no space";
    expect(&run, "t.trace: no space");
    begin(&run, 1);
    run.facts.sampled = "half was looked at";
    expect(&run, "half was looked at");
    run.facts.input_count = 0; /* the finding is a built-in check's: its reason is given */
    run.findings[0].verdict = PT_VERDICT_UNKNOWN;
    expect(&run, "half was looked at");
    begin(&run, 0);
    run.facts.started = false;
    run.facts.lost = "events were lost"; /* of what? */
    expect(&run, "nothing was observed");
}

static void reasons_come_together(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 8);
    for (uint32_t i = 0; i < 6; i++)
        run.findings[i].verdict = PT_VERDICT_ERROR;
    run.findings[6].verdict = PT_VERDICT_UNKNOWN; /* by what was lost, which is said once */
    run.facts.lost = "3 events were lost";
    run.facts.foreign = "x";
    expect(&run, "3 events were lost; properties 'a', 'b', 'c', 'd', ... could not be evaluated; code that is not "
                 "instrumented wrote x");
}

/* A property of a monitor, and which of its names were not seen. */
static void expect_unseen(const char *text, const char *const *unseen, bool whole)
{
    struct run run;
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    begin(&run, 1);
    assert_int_equal(pt_properties_add(props, "t.prop", text, strlen(text), NULL, NULL, &err), PT_OK);
    assert_int_equal(pt_monitor_new(&props->items[0], 1000, &run.inputs[0].monitor, &err), PT_OK);
    run.findings[0].kind = "ltl";
    run.findings[0].unseen = unseen;
    expect(&run, whole ? NULL : "property 'a' named what was not observed");
    run.facts.lost = "lost";
    expect(&run, "lost");
    pt_monitor_free(run.inputs[0].monitor);
    pt_properties_free(props);
}

static void names_that_were_not_seen(void **state)
{
    (void)state;
    expect_unseen("property a: always (x > 1 -> event(go));", (const char *const[]){NULL}, true);
    expect_unseen("property a: always (x > 1 -> event(go));", (const char *const[]){"x", NULL}, false);
    expect_unseen("property a: always (x > 1 -> event(go));", (const char *const[]){"go", NULL}, true);
    expect_unseen("property a: always !event(go);", (const char *const[]){"go", NULL}, false);
}

static void a_thread_that_never_ran(void **state)
{
    struct run run;
    (void)state;
    begin(&run, 1);
    run.findings[0].unseen = (const char *const[]){NULL};
    expect(&run, NULL);
    run.findings[0].unseen = (const char *const[]){"worker", NULL};
    expect(&run, "property 'a' named what was not observed");
    run.findings[0].kind = "module";
    expect(&run, NULL);
}

static void the_exit_status(void **state)
{
    (void)state;
    assert_int_equal(pt_whole_exit(0, false, 66, true, false), 0);
    assert_int_equal(pt_whole_exit(0, false, 66, false, false), PT_EXIT_NOT_WHOLE);
    assert_int_equal(pt_whole_exit(0, false, 66, false, true), 0);
    assert_int_equal(pt_whole_exit(5, false, 66, false, false), 5);
    assert_int_equal(pt_whole_exit(5, true, 66, false, false), 66);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_is_given),     cmocka_unit_test(reasons_come_together),
        cmocka_unit_test(names_that_were_not_seen), cmocka_unit_test(a_thread_that_never_ran),
        cmocka_unit_test(the_exit_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
