/*
 * Built-in checks through their interface, end to end: a small one that only this test has is fed, reported as text,
 * JSON and the formats of `report`, read back, suppressed, merged, and decides the verdict of the result. That
 * atomicity goes the same way, beside it, is tested here too; what it decides, in tests/cases/ and tests/oracle/.
 */
#include "trace_util.h"

#include <stdio.h>

#include "engine/check.h"
#include "finding/blocks.h"
#include "finding/suppress.h"
#include "report/format.h"
#include "report/json.h"
#include "report/text.h"

/* ---- the check: an unlock by a thread that has not locked; its kind is one of ThreadSanitizer's types ---- */

enum { LOCKS = 8 };

struct unlocks {
    const struct pt_names *names;
    struct pt_finding *finding;
    struct toy_lock {
        uint32_t owner;      /* a thread, PT_NONE: none */
        struct pt_side last; /* its latest unlock, when `event` is not 0 */
        struct pt_finding *found;
    } locks[LOCKS];
    uint64_t seq;
};

static void *unlocks_begin(const struct pt_names *names, const struct pt_check_options *options)
{
    struct unlocks *u = pt_xcalloc(1, sizeof *u);
    assert_string_equal(options->trace, "test.trace");
    u->names = names;
    u->finding = pt_finding_new();
    u->finding->property = "unlocks";
    u->finding->kind = "mutex";
    u->finding->builtin = u->finding->monitorable = u->finding->complete = true;
    u->finding->order = "access";
    for (uint32_t i = 0; i < LOCKS; i++)
        u->locks[i].owner = PT_NONE;
    return u;
}

static void unlocks_free(void *check)
{
    struct unlocks *u = check;
    pt_finding_free(u->finding);
    free(u);
}

static struct pt_side side_of(struct unlocks *u, const struct pt_event *event)
{
    static const char *const stack[] = {"give a.c:7", "main a.c:1", NULL};
    const char **locks = pt_arena_alloc(&u->finding->arena, (LOCKS + 1) * sizeof *locks);
    for (uint32_t i = 0, count = 0; i < LOCKS; i++)
        if (u->locks[i].owner == event->thread)
            locks[count++] = pt_name(u->names, PT_SPACE_LOCK, i);
    return (struct pt_side){.step = {.thread = pt_name(u->names, PT_SPACE_THREAD, event->thread),
                                     .op = "rel",
                                     .object = pt_name(u->names, PT_SPACE_LOCK, event->object),
                                     .loc = pt_name(u->names, PT_SPACE_LOC, event->loc),
                                     .var = PT_NONE},
                            .event = u->seq,
                            .stack = stack,
                            .locks = locks};
}

static void found(struct unlocks *u, struct toy_lock *lock, const struct pt_side *side)
{
    if (!lock->found) {
        bool first = u->finding->verdict != PT_VERDICT_VIOLATED;
        u->finding->verdict = PT_VERDICT_VIOLATED;
        u->finding->how = PT_HOW_OBSERVED;
        lock->found = first ? u->finding : pt_finding_add(u->finding);
        lock->found->object = side->step.object;
        lock->found->sides = pt_arena_alloc(&lock->found->arena, 2 * sizeof *side);
        lock->found->sides[lock->found->side_count++] = *side;
        if (lock->last.event)
            lock->found->sides[lock->found->side_count++] = lock->last;
    }
    lock->found->count++;
}

static enum pt_status unlocks_event(void *check, const struct pt_event *event, struct pt_err *err)
{
    struct unlocks *u = check;
    u->seq++;
    if (event->op != PT_OP_ACQ && event->op != PT_OP_REL)
        return PT_OK;
    if (event->object >= LOCKS)
        return pt_err_at(err, PT_EINPUT, "test.trace", event->line, 0, "too many locks");
    struct toy_lock *lock = &u->locks[event->object];
    if (event->op == PT_OP_ACQ) {
        lock->owner = event->thread;
        return PT_OK;
    }
    struct pt_side side = side_of(u, event);
    if (lock->owner != event->thread)
        found(u, lock, &side);
    else
        lock->owner = PT_NONE;
    lock->last = side;
    return PT_OK;
}

static struct pt_check_found unlocks_finish(void *check, const char *lost)
{
    struct unlocks *u = check;
    if (lost && u->finding->verdict == PT_VERDICT_HOLDS) {
        u->finding->verdict = PT_VERDICT_UNKNOWN;
        u->finding->message = lost;
    }
    return (struct pt_check_found){.finding = u->finding};
}

static const struct pt_check_kind check_unlocks = {
    .begin = unlocks_begin,
    .event = unlocks_event,
    .finish = unlocks_finish,
    .free = unlocks_free,
};

/* ---- one pass ---- */

struct pass {
    struct pt_names names;
    struct pt_checks *checks;
    struct pt_result result;
};

static enum pt_status run(struct pass *pass, const char *trace, const char *lost, struct pt_err *err)
{
    static const struct pt_check_kind *const kinds[] = {&pt_check_atomicity, &check_unlocks};
    const struct pt_check_options options = {.trace = "test.trace"};
    enum pt_status status = PT_OK;
    struct pt_event event;
    memset(pass, 0, sizeof *pass);
    pass->result.trace = "test.trace";
    pt_names_init(&pass->names);
    pass->checks = pt_checks_new(kinds, 2, &pass->names, &options);
    struct pt_source *source = pt_source_from_memory("test.trace", trace, strlen(trace), &pass->names);
    while (status == PT_OK && pt_source_next(source, &event, err) == PT_READ_EVENT)
        status = pt_checks_event(pass->checks, &event, err);
    pt_source_free(source);
    if (status == PT_OK)
        pt_checks_finish(pass->checks, lost, &pass->result);
    return status;
}

static void release(struct pass *pass)
{
    pt_checks_free(pass->checks);
    pt_names_release(&pass->names);
}

static const char wrong[] = "T1|acq(l)|a.c:1\n"
                            "T1|rel(l)|a.c:2\n"
                            "T2|acq(k)|a.c:5\n"
                            "T2|rel(l)|a.c:6\n"
                            "T2|rel(l)|a.c:6\n"
                            "T1|rel(k)|a.c:9\n";

static const struct pt_style plain = {.width = 80};

static void test_found(void **state)
{
    (void)state;
    struct pass pass;
    struct pt_err err;
    assert_int_equal(run(&pass, wrong, NULL, &err), PT_OK);
    assert_int_equal(pass.result.count, 1);
    assert_non_null(pass.result.blocks); /* atomicity was there too */
    assert_int_equal(pass.result.blocks->count, 0);
    const struct pt_finding *finding = pass.result.findings[0];
    assert_int_equal(finding->more_count, 1);
    assert_int_equal(finding->count, 2);
    assert_int_equal(pt_result_verdict(&pass.result), PT_VERDICT_VIOLATED);
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_report_text(finding, &plain, &buf);
    assert_string_equal(buf.text, "Check 'unlocks' found a violation on l, 2 times.\n\n"
                                  "  First: rel(l) by T2 (a.c:6), event 4; locked: k.\n"
                                  "    in give a.c:7\n"
                                  "    in main a.c:1\n"
                                  "  Second: rel(l) by T1 (a.c:2), event 2; locked: l.\n"
                                  "    in give a.c:7\n"
                                  "    in main a.c:1\n"
                                  "SUMMARY: portent: observed violation of 'unlocks' at rel(l) by T2 (a.c:6)\n");
    pt_buf_release(&buf);
    release(&pass);
}

static void test_nothing_found(void **state)
{
    (void)state;
    static const char right[] = "T1|acq(l)|a.c:1\nT1|rel(l)|a.c:2\n";
    struct pass pass;
    struct pt_err err;
    struct pt_buf buf;
    assert_int_equal(run(&pass, right, NULL, &err), PT_OK);
    assert_int_equal(pt_result_verdict(&pass.result), PT_VERDICT_HOLDS);
    pt_buf_init(&buf);
    pt_report_text(pass.result.findings[0], &plain, &buf);
    assert_string_equal(buf.text, "Check 'unlocks': nothing was found in the observed run.\n");
    release(&pass);
    buf.len = 0;
    assert_int_equal(run(&pass, right, "the end is missing", &err), PT_OK);
    assert_int_equal(pt_result_verdict(&pass.result), PT_VERDICT_UNKNOWN);
    pt_report_text(pass.result.findings[0], &plain, &buf);
    assert_string_equal(buf.text, "Check 'unlocks' is unknown: the end is missing.\n");
    pt_buf_release(&buf);
    release(&pass);
}

/* Only what the check can say is wrong stops the pass, with its place. */
static void test_refused(void **state)
{
    (void)state;
    struct pass pass;
    struct pt_err err;
    assert_int_equal(run(&pass,
                         "T|acq(a)|-\nT|acq(b)|-\nT|acq(c)|-\nT|acq(d)|-\nT|acq(e)|-\nT|acq(f)|-\nT|acq(g)|-\n"
                         "T|acq(h)|-\nT|acq(i)|-\n",
                         NULL, &err),
                     PT_EINPUT);
    assert_int_equal(err.line, 9);
    release(&pass);
}

static struct pt_loaded *read_back(const struct pt_result *result)
{
    struct pt_buf buf;
    struct pt_loaded *loaded;
    struct pt_err err;
    pt_buf_init(&buf);
    pt_report_json(result, &buf);
    if (pt_result_read("r.json", buf.text, buf.len, &loaded, &err) != PT_OK)
        fail_msg("%s: %s", err.message, buf.text);
    pt_buf_release(&buf);
    return loaded;
}

#define STACK "\"stack\": [\"give a.c:7\", \"main a.c:1\"], "

/* The members that contract section 4 promises, in an order of their own. */
static void test_json(void **state)
{
    (void)state;
    struct pass pass;
    struct pt_err err;
    struct pt_buf buf;
    assert_int_equal(run(&pass, wrong, NULL, &err), PT_OK);
    struct pt_finding *k = pass.result.findings[0]->more[0];
    k->witness = pt_arena_alloc(&k->arena, sizeof *k->witness);
    k->witness[k->witness_count++] = k->sides[0].step;
    pt_buf_init(&buf);
    pt_report_json(&pass.result, &buf);
    char expected[2000];
    snprintf(expected, sizeof expected,
             "\"properties\": [{\"name\": \"unlocks\", \"kind\": \"mutex\", \"verdict\": \"violated\", "
             "\"monitorable\": true, \"findings\": [{\"id\": \"%s\", \"how\": \"observed\", \"order\": \"access\", "
             "\"object\": \"l\", \"count\": 2, "
             "\"first\": {\"thread\": \"T2\", \"op\": \"rel\", \"object\": \"l\", \"loc\": \"a.c:6\", "
             "\"event\": 4, " STACK "\"locks\": [\"k\"]}, "
             "\"second\": {\"thread\": \"T1\", \"op\": \"rel\", \"object\": \"l\", \"loc\": \"a.c:2\", "
             "\"event\": 2, " STACK "\"locks\": [\"l\"]}, \"witness\": []}, "
             "{\"id\": \"%s\", \"how\": \"observed\", \"order\": \"access\", \"object\": \"k\", \"count\": 1, "
             "\"first\": {\"thread\": \"T1\", \"op\": \"rel\", \"object\": \"k\", \"loc\": \"a.c:9\", "
             "\"event\": 6, " STACK "\"locks\": []}, "
             "\"witness\": [{\"thread\": \"T1\", \"op\": \"rel\", \"object\": \"k\", \"loc\": \"a.c:9\"}]}], "
             "\"complete\": true, ",
             pt_finding_id(pass.result.findings[0]).text, pt_finding_id(k).text);
    if (!strstr(buf.text, expected))
        fail_msg("%s\nis not in\n%s", expected, buf.text);
    pt_buf_release(&buf);
    release(&pass);
}

/* A result read back has each violation as a finding; it reads and is called the same. */
static void test_read_back(void **state)
{
    (void)state;
    struct pass pass;
    struct pt_err err;
    assert_int_equal(run(&pass, wrong, NULL, &err), PT_OK);
    struct pt_loaded *loaded = read_back(&pass.result), *other = read_back(&pass.result);
    const struct pt_finding *before[] = {pass.result.findings[0], pass.result.findings[0]->more[0]};
    assert_int_equal(loaded->result.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct pt_buf one, two;
        pt_buf_init(&one);
        pt_buf_init(&two);
        pt_report_text(before[i], &plain, &one);
        pt_report_text(loaded->result.findings[i], &plain, &two);
        assert_string_equal(one.text, two.text);
        assert_string_equal(pt_finding_id(before[i]).text, pt_finding_id(loaded->result.findings[i]).text);
        pt_buf_release(&one);
        pt_buf_release(&two);
    }
    assert_int_equal(pt_result_verdict(&loaded->result), PT_VERDICT_VIOLATED);
    pt_loaded_merge(loaded, other);
    assert_int_equal(loaded->result.count, 2);
    assert_int_equal(loaded->result.findings[0]->times, 2);
    pt_loaded_free(loaded);
    release(&pass);
}

static void test_bad_results(void **state)
{
    (void)state;
    static const struct {
        const char *findings, *message;
    } cases[] = {
        {"[]", "\"how\""},
        {"3", "\"findings\""},
        {"[{\"how\": \"observed\", \"count\": 1}]", "\"object\""},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": -1}]", "\"count\""},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": 1, \"first\": []}]", "\"first\""},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": 1, \"first\": {\"thread\": \"T\", \"op\": \"w\", "
         "\"object\": \"x\", \"event\": -1}}]",
         "\"event\""},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": 1, \"first\": {\"thread\": \"T\", \"op\": \"w\", "
         "\"object\": \"x\", \"address\": \"12z\"}}]",
         "\"address\""},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": 1, \"first\": {\"thread\": \"T\", \"op\": \"w\", "
         "\"object\": \"x\", \"locks\": [\"l\"], \"locked_at\": []}}]",
         "\"locked_at\""},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": 1, \"cycle\": [3]}]", "a side"},
        {"[{\"how\": \"observed\", \"object\": \"l\", \"count\": 1, \"cycle\": [{\"thread\": \"T\", \"loc\": \"-\"}]}]",
         "\"wants\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        struct pt_loaded *loaded;
        struct pt_err err;
        snprintf(text, sizeof text,
                 "{\"portent\": 1, \"trace\": \"x\", \"events\": 1, \"threads\": 1, \"properties\": [{\"name\": "
                 "\"unlocks\", \"kind\": \"mutex\", \"verdict\": \"violated\", \"findings\": %s}]}",
                 cases[i].findings);
        assert_int_equal(pt_result_read("r.json", text, strlen(text), &loaded, &err), PT_EINPUT);
        if (!strstr(err.message, cases[i].message))
            fail_msg("'%s' is not in: %s", cases[i].message, err.message);
    }
}

/* What people decided: by the check's name, by its kind and a side's name, by a call; and what counts in the end. */
static void test_suppressed(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        bool l, k; /* whether the findings on these locks match */
    } cases[] = {{"property:unlocks", true, true}, {"mutex:^k$", false, true}, {"mutex:a.c:2", true, false},
                 {"mutex:give", true, true},       {"race:k", false, false},   {"mutex:^x$", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pass pass;
        struct pt_suppressions list;
        struct pt_err err;
        assert_int_equal(run(&pass, wrong, NULL, &err), PT_OK);
        pt_suppressions_init(&list);
        assert_int_equal(pt_suppressions_add(&list, "s", cases[i].rule, strlen(cases[i].rule), &err), PT_OK);
        struct pt_finding *l = pass.result.findings[0], *k = l->more[0];
        assert_int_equal(pt_suppressions_match(&list, l) != NULL, cases[i].l);
        assert_int_equal(pt_suppressions_match(&list, k) != NULL, cases[i].k);
        l->suppressed = cases[i].l ? cases[i].rule : NULL;
        k->suppressed = cases[i].k ? cases[i].rule : NULL;
        assert_int_equal(pt_result_verdict(&pass.result),
                         cases[i].l && cases[i].k ? PT_VERDICT_HOLDS : PT_VERDICT_VIOLATED);
        struct pt_loaded *loaded = read_back(&pass.result);
        assert_int_equal(loaded->result.findings[1]->suppressed != NULL, cases[i].k);
        assert_int_equal(pt_result_verdict(&loaded->result), pt_result_verdict(&pass.result));
        pt_loaded_free(loaded);
        pt_suppressions_release(&list);
        release(&pass);
    }
}

static const char *no_line(void *context, const char *place)
{
    (void)context;
    (void)place;
    return NULL;
}

/* Every format that results have names the check and, where it describes violations, their sides. */
static void test_formats(void **state)
{
    (void)state;
    static const struct {
        const struct pt_report_format *format;
        const char *has;
    } cases[] = {{&pt_report_format_text, "Check 'unlocks' found a violation on k"},
                 {&pt_report_format_html, "\"second\": {\"thread\": \"T1\""},
                 {&pt_report_format_sarif, "The other side is rel(l) by T1 (a.c:2)."},
                 {&pt_report_format_sarif, "Built-in check 'unlocks' (mutex)"},
                 {&pt_report_format_junit, "Second: rel(l) by T1 (a.c:2), event 2"}};
    struct pass pass;
    struct pt_err err;
    const struct pt_report_context context = {.name = "r.json", .lines = {no_line, NULL}, .style = plain};
    assert_int_equal(run(&pass, wrong, NULL, &err), PT_OK);
    struct pt_loaded *loaded = read_back(&pass.result);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_buf buf;
        pt_buf_init(&buf);
        cases[i].format->from_result(loaded, &context, &buf);
        if (!strstr(buf.text, cases[i].has))
            fail_msg("'%s' is not in: %.3000s", cases[i].has, buf.text);
        pt_buf_release(&buf);
    }
    pt_loaded_free(loaded);
    release(&pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),      cmocka_unit_test(test_nothing_found), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_read_back),     cmocka_unit_test(test_bad_results),
        cmocka_unit_test(test_suppressed), cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
