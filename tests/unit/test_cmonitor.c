/*
 * The C99 monitors: random deterministic automata, and names and texts chosen to break a generator, are written,
 * compiled by the system's compiler with every warning an error, and run beside the automaton on random words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/table.h"
#include "logic/automaton/automaton.h"

enum { MAX_LEN = 8, WORDS = 40 };

static uint64_t random_state;
static char folder[] = "/tmp/portent-cmonitor-XXXXXX";

static uint32_t pick(uint32_t below)
{
    random_state += 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(pt_mix64(random_state) % below);
}

static struct pt_automaton *propositions(const char *const *names, uint32_t count)
{
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->bdds = pt_bdds_new(1 << 16);
    aut->prop_count = count;
    aut->props = pt_xmalloc((count + 1) * sizeof *aut->props);
    for (uint32_t i = 0; i < count; i++)
        aut->props[i] = pt_xstrdup(names[i]);
    aut->state_count = 1;
    aut->first = pt_xcalloc(2, sizeof *aut->first);
    aut->edges = pt_xcalloc(1, sizeof *aut->edges);
    aut->accepting = pt_xcalloc(1, sizeof *aut->accepting);
    return aut;
}

static pt_bdd random_label(struct pt_bdds *bdds, uint32_t props)
{
    pt_bdd label = PT_BDD_TRUE;
    for (uint32_t i = 0, n = 1 + pick(4); props > 0 && i < n; i++) {
        pt_bdd var = pt_bdd_var(bdds, pick(props));
        var = pick(2) ? var : pt_bdd_not(bdds, var);
        label = pick(3) ? pt_bdd_and(bdds, label, var) : pt_bdd_or(bdds, pt_bdd_not(bdds, label), var);
    }
    return label;
}

/* Labels of a state are disjoint and cover everything; about one edge in five is bad. */
static struct pt_dfa *random_dfa(struct pt_automaton *aut, uint32_t states)
{
    struct pt_dfa *dfa = pt_xcalloc(1, sizeof *dfa);
    dfa->state_count = states;
    dfa->initial = pick(states);
    dfa->first = pt_xcalloc(states + 1, sizeof *dfa->first);
    dfa->edges = pt_xmalloc((states * 4 + 1) * sizeof *dfa->edges);
    uint32_t count = 0;
    for (uint32_t s = 0; s < states; s++) {
        pt_bdd rest = PT_BDD_TRUE;
        for (uint32_t i = 0, n = 1 + pick(4); rest != PT_BDD_FALSE && i < n; i++) {
            pt_bdd label = i + 1 == n ? rest : pt_bdd_and(aut->bdds, rest, random_label(aut->bdds, aut->prop_count));
            rest = pt_bdd_and(aut->bdds, rest, pt_bdd_not(aut->bdds, label));
            if (label != PT_BDD_FALSE)
                dfa->edges[count++] = (struct pt_edge){.dst = pick(5) ? pick(states) : PT_NONE, .label = label};
        }
        dfa->first[s + 1] = count;
    }
    return dfa;
}

/* After how many letters the run is bad; len + 1: it is not. */
static unsigned violation(const struct pt_automaton *aut, const struct pt_dfa *dfa, const uint64_t *word, unsigned len)
{
    uint32_t state = dfa->initial;
    for (unsigned i = 0; state != PT_NONE; i++) {
        if (i == len)
            return len + 1;
        uint32_t e = dfa->first[state];
        while (!pt_bdd_eval(aut->bdds, dfa->edges[e].label, word[i]))
            e++;
        state = dfa->edges[e].dst;
        if (state == PT_NONE)
            return i + 1;
    }
    return 0;
}

static void write_file(const char *name, const char *text, size_t len)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void shell(const char *command)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "cd %s && %s", folder, command);
    if (system(buf.text) != 0)
        fail_msg("failed: %s", command);
    pt_buf_release(&buf);
}

static void compile(const char *macro)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf,
                  "cc -std=c99 -pedantic -Wall -Wextra -Werror -c -o m.o m.c && "
                  "cc -std=c99 -pedantic -Wall -Wextra -Werror -D%s -o m m.c && "
                  "{ ! command -v c++ >/dev/null || c++ -x c++ -Wall -Wextra -Werror -D%s -o mpp m.c; }",
                  macro, macro);
    shell(buf.text);
    pt_buf_release(&buf);
}

/* Runs the compiled monitor on a word and compares what it prints and returns. */
static void compare(const struct pt_automaton *aut, const struct pt_dfa *dfa, const uint64_t *word, unsigned len)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, "");
    for (unsigned i = 0; i < len; i++) {
        for (uint32_t p = 0; p < aut->prop_count; p++)
            pt_buf_printf(&buf, "%d%s", (int)(word[i] >> p & 1), pick(2) ? " " : "");
        pt_buf_puts(&buf, "\n");
    }
    write_file("word", buf.text ? buf.text : "", buf.len);
    pt_buf_release(&buf);
    char command[128], got[64] = "", want[64];
    snprintf(command, sizeof command, "%s/m < %s/word", folder, folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(got, sizeof got, pipe));
    int status = pclose(pipe);
    unsigned at = violation(aut, dfa, word, len);
    if (at <= len)
        snprintf(want, sizeof want, "violated at line %u\n", at);
    else
        snprintf(want, sizeof want, "not violated in %u lines\n", len);
    assert_string_equal(got, want);
    assert_int_equal(WEXITSTATUS(status), at <= len);
}

static void check(const struct pt_automaton *aut, const struct pt_dfa *dfa, const char *name, const char *macro,
                  unsigned words)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_cmonitor_write(aut, dfa, name, &buf);
    write_file("m.c", buf.text, buf.len);
    compile(macro);
    for (unsigned w = 0; w < words; w++) {
        uint64_t word[MAX_LEN];
        unsigned len = pick(MAX_LEN + 1);
        for (unsigned i = 0; i < len; i++)
            word[i] = (uint64_t)pick(UINT32_MAX) << 32 | pick(UINT32_MAX);
        compare(aut, dfa, word, len);
    }
    pt_buf_release(&buf);
}

static void random_monitors(void **state)
{
    (void)state;
    const char *given = getenv("PORTENT_TEST_SEED");
    uint64_t base = given ? strtoull(given, NULL, 10) : 1;
    printf("seeds %llu to %llu (PORTENT_TEST_SEED sets the first)\n", (unsigned long long)base,
           (unsigned long long)base + 7);
    static const char *const names[] = {"w > 26", "v > 55", "p", "event(x)", "a.b[3]", "int"};
    for (uint64_t seed = base; seed < base + 8; seed++) {
        random_state = seed * 1000003;
        struct pt_automaton *aut = propositions(names, seed % 7);
        struct pt_dfa *dfa = random_dfa(aut, 1 + pick(8));
        check(aut, dfa, "valve", "valve_MAIN", WORDS);
        pt_dfa_free(dfa);
        pt_automaton_free(aut);
    }
}

/* Texts that try to leave their comment, and names that are no identifiers. */
static void hostile_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"x */ #error", "a // b",       "c /* d", "e\\",      "f\n#error",
                                        "*/*/",        "\xc3\xa9 > 0", "?\?/",   "\"s\" %d", ""};
    static const struct {
        const char *name, *macro;
    } names[] = {{"*/ 3 x\n#error", "m3_x_error_MAIN"},
                 {"", "monitor_MAIN"},
                 {"__x__", "x_MAIN"},
                 {"int", "int_MAIN"},
                 {"7", "m7_MAIN"},
                 {"\xe2\x80\xae\\", "monitor_MAIN"}};
    random_state = 7;
    struct pt_automaton *aut = propositions(texts, sizeof texts / sizeof *texts);
    struct pt_dfa *dfa = random_dfa(aut, 5);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(aut, dfa, names[i].name, names[i].macro, 3);
    check(aut, dfa, NULL, "monitor_MAIN", 3);
    pt_dfa_free(dfa);
    pt_automaton_free(aut);
}

/* A property that is violated before the first letter, and one that cannot be. */
static void extremes(void **state)
{
    (void)state;
    static const char *const names[] = {"a"};
    struct pt_automaton *aut = propositions(names, 1);
    uint32_t first[] = {0, 1};
    struct pt_edge loop = {.dst = 0, .label = PT_BDD_TRUE};
    struct pt_dfa never = {.state_count = 0, .initial = PT_NONE, .first = first};
    struct pt_dfa always = {.state_count = 1, .initial = 0, .first = first, .edges = &loop};
    check(aut, &never, "x", "x_MAIN", 3);
    check(aut, &always, "x", "x_MAIN", 3);
    pt_automaton_free(aut);
}

static void malformed_lines(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    struct pt_automaton *aut = propositions(names, 2);
    uint32_t first[] = {0, 1};
    struct pt_edge loop = {.dst = 0, .label = PT_BDD_TRUE};
    struct pt_dfa always = {.state_count = 1, .initial = 0, .first = first, .edges = &loop};
    check(aut, &always, "x", "x_MAIN", 0);
    shell("printf '01\\n0\\n' | ./m 2>err; test $? = 2 && grep -q '^line 2: ' err");
    shell("printf '012\\n' | ./m 2>err; test $? = 2 && grep -q '^line 1: ' err");
    shell("printf '0 x\\n' | ./m 2>err; test $? = 2");
    shell("printf '01\\r\\n11' | ./m | grep -q 'not violated in 2 lines'");
    pt_automaton_free(aut);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const files[] = {"m.c", "m.o", "m", "mpp", "word", "err"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_monitors),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(extremes),
        cmocka_unit_test(malformed_lines),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
