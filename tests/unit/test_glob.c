/* Patterns of the shell (core/glob.h) against fnmatch(3): all short ones over a few characters, and some that matter.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/glob.h"

static void expect_same(const char *pattern, const char *text)
{
    bool matches = pt_glob_matches(pattern, strlen(pattern), text);
    if (matches != (fnmatch(pattern, text, 0) == 0))
        fail_msg("'%s' and '%s': %s", pattern, text, matches ? "matches" : "does not match");
}

/* A text of up to `len` characters of an alphabet, by its number. */
static void spell(uint64_t number, const char *alphabet, char *text)
{
    size_t letters = strlen(alphabet);
    for (; number; number = (number - 1) / letters)
        *text++ = alphabet[(number - 1) % letters];
    *text = '\0';
}

static void short_ones(void **state)
{
    (void)state;
    char pattern[16], text[16];
    unsigned matched = 0;
    for (uint64_t p = 0; p < 3000; p++)
        for (uint64_t t = 0; t < 120; t++) {
            spell(p, "a*?b/", pattern);
            spell(t, "ab/", text);
            expect_same(pattern, text);
            matched += pt_glob_matches(pattern, strlen(pattern), text);
        }
    assert_true(matched > 1000);
}

static void sets(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "[ab]", "[!ab]", "[a-c]*", "x[a-c]y", "[]]",      "[]a]b",  "[!]]", "[a-]", "\\*",      "a\\?b", "[\\]]", "[",
        "a[b",  "[^a]",  "\\",     "[a-c-e]", "*[0-9].c", "*.[ch]", "[*]",  "[?]x", "[a-b]**c", "lib/*", ""};
    static const char *const texts[] = {"a",   "b", "c",   "]",    "]b",      "ab",  "-",   "*", "a*b",
                                        "a?b", "[", "a[b", "x",    "^",       "xay", "xdy", "!", "\\",
                                        "?x",  "",  "bc",  "f1.c", "lib/x.c", "f.h", "e",   "d"};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            expect_same(patterns[p], texts[t]);
    assert_true(pt_glob_matches("ab*", 2, "ab")); /* the pattern ends where its length says */
    assert_false(pt_glob_matches("ab*", 2, "abc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_ones), cmocka_unit_test(sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
