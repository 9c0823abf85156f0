/* The judge of possible runs: what each order lets through, on traces worked out by hand. */
#include "trace_util.h"

#include <stdio.h>

#include "order/possible.h"

enum { MOST = 32 };

struct judged {
    struct pt_names names;
    struct pt_recorded events[MOST];
    struct pt_value initial[MOST];
    struct pt_recording recording;
};

static void take_trace(struct judged *j, const char *text)
{
    struct pt_event event;
    struct pt_err err;
    *j = (struct judged){0};
    pt_names_init(&j->names);
    for (uint32_t v = 0; v < MOST; v++)
        j->initial[v] = pt_value_int(0);
    struct pt_source *source = pt_source_from_memory("test.trace", text, strlen(text), &j->names);
    while (pt_source_next(source, &event, &err) == PT_READ_EVENT) {
        if (event.op == PT_OP_INIT)
            j->initial[event.object] = event.value;
        else
            j->events[j->recording.count++] = pt_recorded(&event);
    }
    pt_source_free(source);
    j->recording.events = j->events;
    j->recording.initial = j->initial;
    j->recording.initial_count = MOST;
}

/* How far the run, "3 1 2" by numbers of events, gets in the three orders. */
static void expect(const char *text, const char *run, uint64_t access, uint64_t sync, uint64_t values)
{
    struct judged j;
    uint64_t places[MOST], count = 0, want[] = {access, sync, values};
    int used;
    unsigned number;
    take_trace(&j, text);
    for (const char *at = run; sscanf(at, "%u%n", &number, &used) == 1; at += used)
        places[count++] = number - 1;
    for (unsigned order = PT_POSSIBLE_ACCESS; order <= PT_POSSIBLE_VALUES; order++) {
        const char *why = "";
        uint64_t got = pt_possible_play(&j.recording, (enum pt_possible)order, places, count, &why);
        if (got != want[order])
            fail_msg("order %u, run %s: %u events are possible, not %u (%s)", order, run, (unsigned)got,
                     (unsigned)want[order], why ? why : "");
        assert_int_equal(why == NULL, got == count);
    }
    pt_names_release(&j.names);
}

static void test_program_order(void **state)
{
    (void)state;
    const char *text = "A|event(a)|-\nA|event(b)|-\nB|event(c)|-\n";
    expect(text, "1 2 3", 3, 3, 3);
    expect(text, "3 1 2", 3, 3, 3);
    expect(text, "", 0, 0, 0);
    expect(text, "2", 0, 0, 0);
    expect(text, "1 1", 1, 1, 1);
    expect(text, "3 4", 1, 1, 1); /* there is no fourth */
}

static void test_threads(void **state)
{
    (void)state;
    const char *text = "A|fork(B)|-\nB|event(b)|-\nA|join(B)|-\nA|event(a)|-\n";
    expect(text, "1 2 3 4", 4, 4, 4);
    expect(text, "2", 0, 0, 0);
    expect(text, "1 3", 1, 1, 1);
    expect("A|fork(B)|-\nC|join(B)|-\n", "2", 0, 0, 0);
    expect("A|fork(B)|-\nC|join(B)|-\n", "1 2", 2, 2, 2);
}

/* Writes may be left out in sync, and change places in values. */
static void test_writes(void **state)
{
    (void)state;
    const char *text = "A|w(x)=1|-\nB|w(x)=2|-\n";
    expect(text, "1 2", 2, 2, 2);
    expect(text, "2", 0, 1, 1);
    expect(text, "2 1", 0, 1, 2);
}

static void test_reads(void **state)
{
    (void)state;
    const char *text = "A|w(x)=1|-\nA|w(x)=2|-\nA|w(x)=1|-\nB|r(x)=1|-\nB|r(x)|-\n";
    expect(text, "4", 0, 0, 0);
    expect(text, "1 4", 1, 1, 2);
    expect(text, "1 2 4", 2, 2, 2);
    expect(text, "1 4 5", 1, 1, 2); /* the second read has no value: it sees the third write alone */
    expect(text, "1 4 2 3 5", 1, 1, 5);
    expect("A|w(x)=1|-\nB|r(x)=0|-\n", "2", 0, 0, 0);                         /* it returned what nobody has written */
    expect("-|init(x)=7|-\nA|r(x)=7|-\nB|w(x)=7|-\n", "2 1", 0, 1, 2);        /* in sync the read would see the write */
    expect("A|w(x)|-\nB|w(x)=1|-\nA|r(x)=1|-\nB|r(x)=1|-\n", "2 4", 0, 2, 2); /* A is left out */
    expect("A|w(x)|-\nB|r(x)=1|-\nA|w(x)=1|-\n", "1 3 2", 1, 2, 2);           /* its writer has no value */
}

static void test_updates_and_parts(void **state)
{
    (void)state;
    const char *text = "A|u(x)=1|-\nB|u(x)=2|-\n";
    expect(text, "1 2", 2, 2, 2);
    expect(text, "2", 0, 0, 0);
    expect("A|w(x)=1|-|b=0-4\nB|w(x)=2|-|b=4-8\n", "2", 0, 0, 0);
    expect("A|w(x)=1|-\nB|w(x)=1|-\nC|r(x)=1|-|b=0-4\n", "1 3", 1, 1, 1);
}

static void test_locks(void **state)
{
    (void)state;
    const char *text = "A|acq(l)|-\nA|rel(l)|-\nB|acq(l)|-\nB|rel(l)|-\n";
    expect(text, "3 4", 0, 2, 2);
    expect(text, "3 4 1 2", 0, 2, 4);
    expect(text, "1 3", 1, 1, 1);
    expect(text, "3 1", 0, 1, 1);
    expect("A|acq(l)|-\nA|acq(l)|-\nA|rel(l)|-\nB|event(b)|-\nA|rel(l)|-\nB|acq(l)|-\n", "1 2 3 4 6", 4, 4, 4);
    expect("A|acq(l)|-\nB|fork(A2)|-\nC|join(A)|-\nC|acq(l)|-\n", "1 3 4", 3, 3, 3); /* A ended with it */
}

static void test_reader_locks(void **state)
{
    (void)state;
    const char *text = "A|racq(l)|-\nB|racq(l)|-\nA|rrel(l)|-\nB|rrel(l)|-\nC|acq(l)|-\nC|rel(l)|-\n";
    expect(text, "2 1 4 3 5 6", 6, 6, 6);
    expect(text, "1 5", 1, 1, 1);
    expect(text, "5 1", 0, 1, 1);
    expect(text, "5 6 1", 0, 2, 3);
    expect(text, "1 3 5 6 2", 2, 4, 5);
}

static void test_other_objects(void **state)
{
    (void)state;
    const char *text = "A|notify(c)|-\nB|wait(c)|-\nC|sync(c)|-\n";
    expect(text, "1 2 3", 3, 3, 3);
    expect(text, "2", 0, 0, 0);
    expect(text, "1 3", 1, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_order), cmocka_unit_test(test_threads),           cmocka_unit_test(test_writes),
        cmocka_unit_test(test_reads),         cmocka_unit_test(test_updates_and_parts), cmocka_unit_test(test_locks),
        cmocka_unit_test(test_reader_locks),  cmocka_unit_test(test_other_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
