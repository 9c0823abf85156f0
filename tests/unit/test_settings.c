/* PORTENT_OPTIONS: how its text is cut into pairs, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/settings.h"

static char complaints[256];

static void complain(void *context, enum pt_setting_problem problem, struct pt_span name, struct pt_span pair)
{
    assert_ptr_equal(context, complaints);
    assert_ptr_equal(name.at, pair.at);
    size_t len = strlen(complaints);
    struct pt_span shown = problem == PT_SETTING_UNKNOWN ? name : pair;
    snprintf(complaints + len, sizeof complaints - len, "%c(%.*s)", problem == PT_SETTING_UNKNOWN ? '?' : '!',
             (int)shown.len, shown.at);
}

static struct pt_settings settings_of(const char *text)
{
    struct pt_settings settings;
    complaints[0] = '\0';
    pt_settings_read(&settings, text, complain, complaints);
    return settings;
}

static void expect_text(struct pt_span span, const char *text)
{
    if (!pt_span_is(span, text))
        fail_msg("'%.*s' is not '%s'", (int)span.len, span.at, text);
}

static void defaults(void **state)
{
    (void)state;
    struct pt_settings s = settings_of(NULL);
    assert_int_equal(s.exitcode, 66);
    assert_false(s.halt_on_error);
    expect_text(s.log_path, "stderr");
    expect_text(s.color, "auto");
    assert_int_equal(s.given, 0);
    s = settings_of(" ::  ");
    assert_int_equal(s.given, 0);
    assert_string_equal(complaints, "");
}

static void separators(void **state)
{
    (void)state;
    struct pt_settings s = settings_of("halt_on_error=1:exitcode=7 verbosity=-1\tcolor=never");
    assert_true(s.halt_on_error);
    assert_int_equal(s.exitcode, 7);
    assert_int_equal(s.verbosity, -1);
    expect_text(s.color, "never");
    assert_true(pt_setting_given(&s, PT_SETTING_AT_exitcode));
    assert_false(pt_setting_given(&s, PT_SETTING_AT_log_path));
    assert_string_equal(complaints, "");
}

/* A colon separates only where a new pair begins, so values may hold addresses and paths. */
static void colons_in_values(void **state)
{
    (void)state;
    expect_text(settings_of("log_path=tcp:127.0.0.1:7777:exitcode=1").log_path, "tcp:127.0.0.1:7777");
    expect_text(settings_of("log_path=unix:/tmp/a=b:").log_path, "unix:/tmp/a=b");
    expect_text(settings_of("log_path=a:b c").log_path, "a:b");
    expect_text(settings_of("log_path='a b:exitcode=2':exitcode=3").log_path, "a b:exitcode=2");
    expect_text(settings_of("log_path=\"open").log_path, "open");
    assert_int_equal(settings_of("log_path='x':exitcode=3").exitcode, 3);
}

static void mistakes(void **state)
{
    (void)state;
    struct pt_settings s = settings_of("halt_on_eror=1:exitcode=ten:exitcode=99999999999999999999:color=blue color =3");
    assert_string_equal(complaints,
                        "?(halt_on_eror)!(exitcode=ten)!(exitcode=99999999999999999999)!(color=blue)!(color)?()");
    assert_int_equal(s.exitcode, 66);
    expect_text(s.color, "auto");
    assert_int_equal(s.given, 0);
    assert_int_equal(settings_of("exitcode=255 exitcode=256 exitcode=-1").exitcode, 255); /* a status has 8 bits: 0 */
    assert_string_equal(complaints, "!(exitcode=256)!(exitcode=-1)");
    assert_int_equal(settings_of("exitcode=1 exitcode=2 exitcode=").exitcode, 2);
    assert_string_equal(complaints, "!(exitcode=)");
    assert_false(settings_of("help=2").help);
    assert_true(settings_of("help=yes").help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(separators),
        cmocka_unit_test(colons_in_values),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
