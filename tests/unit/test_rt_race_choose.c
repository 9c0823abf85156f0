/* Which accesses the race engine looks at (runtime/race/choose.c): lists, many places. */
#include <stdio.h>

#include "race_util.h"
#include "runtime/race/choose.h"
#include "runtime/sys/options.h"

enum { PLACES = 20000 };

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
    return pt_race_takes(thread, site) || !pt_race_choose(thread, site);
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

/* More than the table has room for at first; none loses what is known of it. */
static void many_places(void **state)
{
    (void)state;
    begin(0, "odd.c", "", "");
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < PLACES; i++)
            assert_int_equal(looked_at(&sites[i], 2), i % 2 ? 0 : 2);
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
    begin(0, "*", "", "");
    for (unsigned i = 0; i < 1000; i++)
        assert_true(looks_at(NULL));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(off), cmocka_unit_test(many_places), cmocka_unit_test(lists),
                                       cmocka_unit_test(without_place)};
    for (unsigned i = 0; i < PLACES; i++)
        sites[i] = at(i % 2 ? "odd.c" : "even.c", "f");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
