/* Which accesses the race engine looks at (runtime/race/choose.c): bursts and gaps, lists, many places. */
#include <stdio.h>

#include "race_util.h"
#include "runtime/race/choose.h"
#include "runtime/sys/options.h"

enum { PLACES = 20000, BURST = 16 };

static struct pt_site sites[PLACES];
static struct pt_race_self *thread;

static struct pt_span span(const char *text)
{
    return (struct pt_span){text, strlen(text)};
}

static void begin(int64_t sample, const char *skip_file, const char *only_file, const char *skip_function)
{
    pt_options.sample = sample;
    pt_options.skip_file = span(skip_file);
    pt_options.only_file = span(only_file);
    pt_options.skip_function = span(skip_function);
    pt_race_choose_start();
    static uint32_t number;
    thread = calloc(1, sizeof *thread);
    thread->hb.id = ++number;
}

static void end(void)
{
    free(thread);
    thread = NULL;
}

static bool looks_at(const struct pt_site *site)
{
    enum pt_race_chosen chosen = pt_race_chosen(thread, site);
    return chosen == PT_RACE_ASKS ? !pt_race_choose(thread, site) : chosen == PT_RACE_LOOKS;
}

static unsigned looked_at(const struct pt_site *site, unsigned of)
{
    unsigned count = 0;
    for (unsigned i = 0; i < of; i++)
        count += looks_at(site);
    return count;
}

static struct pt_site at(const char *file, const char *function)
{
    return (struct pt_site){file, function, "", 1, 1, NULL};
}

static void off(void **state)
{
    (void)state;
    begin(0, "", "", "");
    assert_false(pt_race_chooses);
    end();
    begin(1, "", "", "");
    assert_false(pt_race_chooses);
    end();
}

/* Everything at first, then less and less, and one in N in the end; each place for itself. */
static void cold_first(void **state)
{
    (void)state;
    begin(1000, "", "", "");
    assert_true(pt_race_chooses);
    assert_int_equal(looked_at(&sites[0], BURST), BURST);
    assert_int_equal(looked_at(&sites[0], 20), 0);
    unsigned early = looked_at(&sites[0], 10000), warm = looked_at(&sites[0], 1000000);
    unsigned late = looked_at(&sites[0], 10000000);
    assert_in_range(early, 3 * BURST, 6 * BURST);
    assert_in_range(warm, 1000000 / 1000 / 2, 1000000 / 1000 * 2);
    assert_in_range(late, 10000000 / 1000 * 3 / 4, 10000000 / 1000 * 5 / 4);
    assert_int_equal(looked_at(&sites[1], BURST), BURST);
    end();
}

/* Places whose accesses go round some number of objects show all of them. */
static void gaps_are_random(void **state)
{
    (void)state;
    enum { OBJECTS = 64 };
    bool seen[OBJECTS] = {false};
    unsigned count = 0;
    begin(100, "", "", "");
    for (unsigned i = 0; i < 2000000; i++)
        if (looks_at(&sites[0]) && !seen[i % OBJECTS]) {
            seen[i % OBJECTS] = true;
            count++;
        }
    assert_int_equal(count, OBJECTS);
    end();
}

/* More than the table has room for at first; none loses what is known of it. */
static void many_places(void **state)
{
    (void)state;
    begin(1000, "", "", "");
    for (unsigned i = 0; i < PLACES; i++)
        assert_int_equal(looked_at(&sites[i], BURST), BURST);
    for (unsigned i = 0; i < PLACES; i++)
        assert_int_equal(looked_at(&sites[i], 1), 0);
    end();
}

static void lists(void **state)
{
    (void)state;
    static const struct {
        const char *skip_file, *only_file, *skip_function, *file, *function;
        bool looks;
    } rows[] = {
        {"a.c", "", "", "src/a.c", "f", false},     {"a.c", "", "", "./a.c", "f", false},
        {"a.c", "", "", "src/ba.c", "f", true},     {"x.c,a.?,", "", "", "/usr/src/a.c", "f", false},
        {"src/*", "", "", "src/a.c", "f", false},   {"src/*", "", "", "/usr/src/a.c", "f", true},
        {"*/src/*", "", "", "src/a.c", "f", false}, {"*/src/*", "", "", "/usr/src/a.c", "f", false},
        {"*/src/*", "", "", "a.c", "f", true},      {"", "a.c", "", "src/a.c", "f", true},
        {"", "a.c", "", "b.c", "f", false},         {"a.c", "src/*", "", "src/a.c", "f", false},
        {"", "", "ns::*,g", "a.c", "ns::f", false}, {"", "", "ns::*,g", "a.c", "g", false},
        {"", "", "ns::*,g", "a.c", "gg", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pt_site site = at(rows[i].file, rows[i].function);
        begin(0, rows[i].skip_file, rows[i].only_file, rows[i].skip_function);
        assert_true(pt_race_chooses);
        unsigned count = looked_at(&site, 200000);
        if (count != (rows[i].looks ? 200000 : 0))
            fail_msg("row %zu: %u", i, count);
        end();
    }
}

/* What has no place in the source cannot be chosen by it. */
static void without_place(void **state)
{
    (void)state;
    begin(1000, "*", "", "");
    for (unsigned i = 0; i < 1000; i++)
        assert_true(looks_at(NULL));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off),         cmocka_unit_test(cold_first), cmocka_unit_test(gaps_are_random),
        cmocka_unit_test(many_places), cmocka_unit_test(lists),      cmocka_unit_test(without_place)};
    for (unsigned i = 0; i < PLACES; i++)
        sites[i] = at("a.c", "f");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
