/*
 * What a running program's checks report, as findings: names, counts, one finding for what is the same, verdicts; and
 * the same findings as text and JSON, read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/ops.h"
#include "engine/found.h"
#include "finding/suppress.h"
#include "report/format.h"
#include "report/json.h"
#include "report/result.h"
#include "report/text.h"

static const struct pt_style plain = {.width = 80};

static const struct pt_site put_at = {"src/stack.c", "push", "s->top", 12, 3},
                            get_at = {"src/stack.c", "pop", "top", 20, 3}, called = {"src/main.c", "worker", "", 30, 1},
                            spawn = {"src/main.c", "main", "", 7, 1}, make = {"src/stack.c", "make", "", 4, 1},
                            locked = {"src/main.c", "lock_all", "", 28, 1};
static const struct pt_site *const put_stack[] = {&put_at, &called}, *const get_stack[] = {&get_at, &called},
                                   *const spawned[] = {&spawn}, *const made[] = {&make, &spawn};
static const struct pt_found_lock held[] = {{"guard", 0x1000, &locked}}, other_held[] = {{"", 0x2000, NULL}};

/* ---- names, as an observer has them ---- */

static bool settled = true;

static const char *object_at(void *context, uint64_t address, enum pt_space space)
{
    (void)context;
    if (space == PT_SPACE_LOCK)
        return address == 0x2000 ? "table.lock" : "0x1000";
    return address == 0x5000 ? "tank.level" : "0x7008";
}

static const char *thread_of(void *context, uint64_t number, bool settle)
{
    (void)context;
    return number == 1 ? "main" : number == 3 && (settled || settle) ? "worker#2" : NULL;
}

static const struct pt_found_names names = {object_at, thread_of, NULL};

/* ---- what is reported ---- */

static struct pt_found_side sides[3];

static struct pt_found race(uint64_t address)
{
    sides[0] = (struct pt_found_side){.thread = 1,
                                      .kind = PT_KIND_READ_AT,
                                      .flags = PT_FOUND_ATOMIC,
                                      .address = address,
                                      .size = 8,
                                      .variable = "top",
                                      .stack = {get_stack, 0, true}};
    sides[1] = (struct pt_found_side){.thread = 3,
                                      .kind = PT_KIND_WRITE_AT,
                                      .address = address,
                                      .size = 4,
                                      .variable = "s->top",
                                      .stack = {put_stack, 2, false},
                                      .locks = held,
                                      .lock_count = 1,
                                      .created = {spawned, 1, false}};
    return (struct pt_found){
        .check = PT_FOUND_RACE, .key = 77, .address = address, .size = 4, .sides = sides, .side_count = 2};
}

static struct pt_found in_block(struct pt_found found)
{
    found.block.size = 64;
    found.block.start = 0x7000;
    found.block.thread = 1;
    found.block.stack = (struct pt_found_stack){made, 2, false};
    return found;
}

static struct pt_found deadlock(void)
{
    struct pt_found found = race(0x5000);
    sides[0].kind = sides[1].kind = PT_KIND_ACQ;
    sides[0].address = 0x1000;
    sides[0].variable = "guard";
    sides[0].locks = other_held;
    sides[0].lock_count = 1;
    sides[1].address = 0x2000;
    sides[1].variable = "t->lock";
    found.check = PT_FOUND_DEADLOCK;
    found.how = PT_FOUND_PREDICTED;
    found.address = found.size = 0;
    return found;
}

static uint32_t told;
static void note_found(void *context, const struct pt_finding *finding)
{
    (void)context;
    assert_true(finding->side_count > 0);
    told++;
}

static const struct pt_analysis_options options = {.found = note_found};

static struct pt_founds *begin(uint32_t checks)
{
    told = 0;
    settled = true;
    return pt_founds_new(checks, NULL, 0, &names, &options);
}

static void take(struct pt_founds *founds, const struct pt_found *found, uint64_t key)
{
    char bytes[PT_FOUND_BYTES];
    pt_founds_take(founds, key, 1, bytes, pt_found_write(found, bytes, sizeof bytes));
}

/* ---- findings ---- */

static void of_global_memory(void **state)
{
    (void)state;
    struct pt_founds *founds = begin(1 << PT_FOUND_RACE);
    struct pt_found found = race(0x5000);
    struct pt_result result = {.trace = "prog"};
    take(founds, &found, 77);
    pt_founds_take(founds, 77, 500, NULL, 0);
    pt_founds_take(founds, 77, 400, NULL, 0);
    pt_founds_finish(founds, NULL, &result);
    assert_int_equal(result.count, 1);
    const struct pt_finding *f = result.findings[0];
    assert_string_equal(f->property, "races");
    assert_string_equal(f->kind, "race");
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->how, PT_HOW_OBSERVED);
    assert_string_equal(f->object, "tank.level");
    assert_int_equal(f->count, 500);
    assert_null(f->block);
    assert_int_equal(f->side_count, 2);
    assert_string_equal(f->sides[0].step.thread, "main");
    assert_string_equal(f->sides[0].step.op, "r");
    assert_true(f->sides[0].atomic);
    assert_true(f->sides[0].lost);
    assert_string_equal(f->sides[1].step.thread, "worker#2");
    assert_string_equal(f->sides[1].step.object, "tank.level");
    assert_string_equal(f->sides[1].step.loc, "src/stack.c:12");
    assert_string_equal(f->sides[1].stack[1], "worker src/main.c:30");
    assert_null(f->sides[1].stack[2]);
    assert_string_equal(f->sides[1].locks[0], "guard");
    assert_string_equal(f->sides[1].locked_at[0], "src/main.c:28");
    assert_string_equal(f->sides[1].created[0], "main src/main.c:7");
    pt_founds_free(founds);
}

/* Another key that turns out to be the same places and variable is the same finding; memory of the heap has the
 * source's name, and its id does not depend on the address. */
static void same_and_different(void **state)
{
    (void)state;
    struct pt_founds *founds = begin(0);
    struct pt_result result = {.trace = "prog"};
    struct pt_found found = race(0x5000);
    take(founds, &found, 1);
    take(founds, &found, 2);
    pt_founds_take(founds, 2, 10, NULL, 0);
    struct pt_found heap = race(0x7008);
    heap = in_block(heap);
    take(founds, &heap, 3);
    assert_int_equal(told, 2);
    pt_founds_take(founds, 0, 5, NULL, 0);
    pt_founds_finish(founds, "half of it is missing", &result);
    assert_int_equal(result.count, 1);
    const struct pt_finding *f = result.findings[0];
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->count, 11);
    assert_int_equal(f->untold, 5);
    assert_int_equal(f->more_count, 1);
    assert_string_equal(f->more[0]->object, "s->top");
    assert_int_equal(f->more[0]->block->step.value.i, 64);
    assert_string_equal(f->more[0]->block->stack[0], "make src/stack.c:4");
    assert_string_not_equal(pt_finding_id(f).text, pt_finding_id(f->more[0]).text);
    pt_founds_free(founds);
}

static void nothing_found(void **state)
{
    (void)state;
    struct pt_founds *founds = begin(1 << PT_FOUND_RACE | 1 << PT_FOUND_DEADLOCK);
    struct pt_result result = {.trace = "prog"};
    struct pt_buf text;
    pt_founds_take(founds, 9, 1, "rubbish", 7);
    pt_founds_finish(founds, NULL, &result);
    assert_int_equal(result.count, 2);
    assert_int_equal(result.findings[0]->verdict, PT_VERDICT_HOLDS);
    assert_string_equal(result.findings[1]->property, "deadlocks");
    pt_buf_init(&text);
    pt_report_text(result.findings[1], &plain, &text);
    assert_string_equal(text.text, "Check 'deadlocks': nothing was found in the observed run.\n");
    pt_buf_release(&text);
    pt_founds_free(founds);

    founds = begin(1 << PT_FOUND_RACE);
    result = (struct pt_result){.trace = "prog"};
    pt_founds_finish(founds, "events were lost", &result);
    assert_int_equal(result.findings[0]->verdict, PT_VERDICT_UNKNOWN);
    assert_string_equal(result.findings[0]->message, "events were lost");
    pt_founds_free(founds);
}

/* Races and lifetimes are a matter of accesses, deadlocks are not. */
static void not_all_looked_at(void **state)
{
    (void)state;
    const uint32_t checks = 1 << PT_FOUND_RACE | 1 << PT_FOUND_DEADLOCK | 1 << PT_FOUND_LIFETIME;
    for (int asked = 0; asked <= 1; asked++) {
        struct pt_founds *founds = begin(checks);
        struct pt_result result = {.trace = "prog"};
        pt_founds_leave_out(founds, "half was looked at", asked);
        pt_founds_finish(founds, NULL, &result);
        assert_int_equal(result.count, 3);
        for (unsigned i = 0; i < 3; i++) {
            const struct pt_finding *f = result.findings[i];
            bool concerned = i != PT_FOUND_DEADLOCK;
            assert_int_equal(f->verdict, concerned && !asked ? PT_VERDICT_UNKNOWN : PT_VERDICT_HOLDS);
            assert_int_equal(f->complete, !concerned || asked);
            if (concerned)
                assert_string_equal(f->message, "half was looked at");
            else
                assert_null(f->message);
        }
        pt_founds_free(founds);
    }
    struct pt_founds *founds = begin(checks);
    struct pt_result result = {.trace = "prog"};
    struct pt_found found = race(0x5000);
    take(founds, &found, 1);
    pt_founds_leave_out(founds, "half was looked at", false);
    pt_founds_finish(founds, NULL, &result);
    assert_int_equal(result.findings[PT_FOUND_RACE]->verdict, PT_VERDICT_VIOLATED);
    assert_false(result.findings[PT_FOUND_RACE]->complete);
    pt_founds_free(founds);
}

/* A thread whose name may still change is waited for, until the next record or the end. */
static void waits_for_names(void **state)
{
    (void)state;
    struct pt_found found = race(0x5000);
    for (unsigned at_end = 0; at_end < 2; at_end++) {
        struct pt_founds *founds = begin(0);
        struct pt_result result = {.trace = "prog"};
        settled = false;
        take(founds, &found, 77);
        assert_int_equal(told, 0);
        settled = !at_end;
        pt_founds_take(founds, 78, 2, NULL, 0);
        assert_int_equal(told, !at_end);
        pt_founds_finish(founds, NULL, &result);
        assert_int_equal(told, 1);
        assert_string_equal(result.findings[0]->sides[1].step.thread, "worker#2");
        pt_founds_free(founds);
    }
}

/* ---- reports ---- */

/* Text, and the text of the result that was written as JSON and read back, which is to be the same. */
static char *described(const struct pt_found *found)
{
    struct pt_founds *founds = begin(0);
    struct pt_result result = {.trace = "prog"};
    struct pt_buf text, json, again;
    struct pt_loaded *loaded;
    struct pt_err err;
    take(founds, found, 77);
    pt_founds_finish(founds, NULL, &result);
    pt_buf_init(&text);
    pt_buf_init(&json);
    pt_buf_init(&again);
    pt_report_text(result.findings[0], &plain, &text);
    pt_report_json(&result, &json);
    if (pt_result_read("r.json", json.text, json.len, &loaded, &err) != PT_OK)
        fail_msg("%s", err.message);
    pt_report_text(loaded->result.findings[0], &plain, &again);
    assert_string_equal(text.text, again.text);
    again.len = 0;
    pt_report_json(&loaded->result, &again);
    assert_string_equal(strstr(json.text, "\"findings\""), strstr(again.text, "\"findings\""));
    pt_buf_release(&json);
    pt_buf_release(&again);
    pt_loaded_free(loaded);
    pt_founds_free(founds);
    return pt_buf_take(&text);
}

static void as_text(void **state)
{
    (void)state;
    struct pt_found found = race(0x7008);
    found = in_block(found);
    char *text = described(&found);
    assert_string_equal(text, "Data race on s->top (seen 1 time).\n"
                              "  Write of size 4 of s->top at 0x7008 by thread worker#2, locks held: guard\n"
                              "    (locked at src/main.c:28):\n"
                              "    #0 push src/stack.c:12\n"
                              "    #1 worker src/main.c:30\n"
                              "\n"
                              "  Previous atomic read of size 8 of top at 0x7008 by thread main, no locks held:\n"
                              "    [stack lost]\n"
                              "\n"
                              "  Location is heap block 0x7000 of 64 bytes, allocated at src/stack.c:4 by\n"
                              "    thread main:\n"
                              "    #0 make src/stack.c:4\n"
                              "    #1 main src/main.c:7\n"
                              "\n"
                              "  Thread worker#2 was created at:\n"
                              "    #0 main src/main.c:7\n"
                              "\n"
                              "SUMMARY: portent: observed violation of 'races' on s->top at src/stack.c:12 and -\n");
    free(text);
    found = deadlock();
    text = described(&found);
    assert_string_equal(
        text, "Potential deadlock on guard, table.lock, in another order of these events (seen\n"
              "1 time).\n"
              "  Thread main can wait for guard (0x1000) at -, while it holds table.lock:\n"
              "    [stack lost]\n"
              "\n"
              "  Thread worker#2 can wait for table.lock (0x2000) at src/stack.c:12, while it\n"
              "    holds guard (locked at src/main.c:28):\n"
              "    #0 push src/stack.c:12\n"
              "    #1 worker src/main.c:30\n"
              "\n"
              "  Thread worker#2 was created at:\n"
              "    #0 main src/main.c:7\n"
              "\n"
              "  Only locks, and waits for threads, were looked at: what one thread has read of\n"
              "  another may rule it out. 'portent run --order sync' looks at that, too.\n"
              "\n"
              "SUMMARY: portent: predicted violation of 'deadlocks' on guard, table.lock at - and src/stack.c:12\n");
    free(text);
    found = race(0x7008);
    found = in_block(found);
    found.check = PT_FOUND_LIFETIME;
    found.note = "double free";
    sides[0].kind = sides[1].kind = PT_KIND_FREED;
    text = described(&found);
    assert_non_null(strstr(text, "Double free of s->top"));
    assert_non_null(strstr(text, "  Free of size 8 of top"));
    assert_non_null(strstr(text, "  Previous free of size 4 of s->top"));
    free(text);
}

/* What the contract says of a cycle, and that who begins it makes no other finding. */
static void cycles(void **state)
{
    (void)state;
    struct pt_founds *founds = begin(0);
    struct pt_result result = {.trace = "prog"};
    struct pt_found found = deadlock();
    struct pt_buf json;
    sides[2] = sides[0];
    sides[2].address = 0x5000;
    sides[2].variable = "third";
    found.side_count = 3;
    take(founds, &found, 1);
    struct pt_found_side first = sides[0];
    sides[0] = sides[1];
    sides[1] = sides[2];
    sides[2] = first;
    take(founds, &found, 2);
    pt_founds_finish(founds, NULL, &result);
    assert_int_equal(result.findings[0]->more_count, 0);
    assert_int_equal(result.findings[0]->count, 2);
    pt_buf_init(&json);
    pt_report_json(&result, &json);
    assert_non_null(strstr(json.text, "\"cycle\": [{\"thread\": \"main\", \"holds\": [\"table.lock\"], \"wants\": "
                                      "\"guard\", \"op\": \"acq\", \"loc\": \"-\""));
    assert_null(strstr(json.text, "\"first\""));
    pt_buf_release(&json);
    pt_founds_free(founds);
}

static void suppressions(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        bool race, deadlock;
    } cases[] = {{"race:^tank.level$", true, false},
                 {"race:^push$", true, false},
                 {"race:src/main.c:30", true, false},
                 {"race:^worker#2$", true, false},
                 {"race_top:^push$", true, false},
                 {"race_top:worker", false, false},
                 {"thread:worker", true, true},
                 {"called_from_lib:^src/stack.c$", true, true},
                 {"called_from_lib:push", false, false},
                 {"deadlock:push", false, true},
                 {"deadlock:table", false, true},
                 {"mutex:^guard$", false, true},
                 {"mutex:push", false, false},
                 {"property:races", true, false},
                 {"race:^main$", true, false},
                 {"lifetime:push", false, false},
                 {"race:guard", false, false}};
    struct pt_founds *founds = begin(0);
    struct pt_result result = {.trace = "prog"};
    struct pt_found found = race(0x5000);
    take(founds, &found, 1);
    found = deadlock();
    take(founds, &found, 2);
    pt_founds_finish(founds, NULL, &result);
    assert_int_equal(result.count, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_suppressions list;
        struct pt_err err;
        pt_suppressions_init(&list);
        assert_int_equal(pt_suppressions_add(&list, "s", cases[i].rule, strlen(cases[i].rule), &err), PT_OK);
        for (unsigned k = 0; k < 2; k++)
            if ((pt_suppressions_match(&list, result.findings[k]) != NULL) != (k ? cases[i].deadlock : cases[i].race))
                fail_msg("%s and '%s'", cases[i].rule, result.findings[k]->property);
        pt_suppressions_release(&list);
    }
    pt_founds_free(founds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_global_memory), cmocka_unit_test(same_and_different),
        cmocka_unit_test(nothing_found),    cmocka_unit_test(not_all_looked_at),
        cmocka_unit_test(waits_for_names),  cmocka_unit_test(as_text),
        cmocka_unit_test(cycles),           cmocka_unit_test(suppressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
