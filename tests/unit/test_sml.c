/* The SML front end: the graphs it makes, and each error with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "base/table.h"
#include "net/sml.h"

static const struct {
    const char *text;
    unsigned line, column;
    const char *message; /* a part of it */
} bad[] = {
    {"", 1, 1, "no thread"},
    {"int X;\n", 2, 1, "no thread"},
    {"int X; null", 1, 12, "no thread"},
    {"int X, X; skip", 1, 8, "'X' is declared twice"},
    {"int X; lock X; skip", 1, 13, "'X' is declared twice"},
    {"int ;", 1, 5, "expected the name of a variable"},
    {"lock int;", 1, 6, "expected the name of a lock"},
    {"acquire(m)", 1, 9, "no lock 'm' is declared"},
    {"int m; acquire(m)", 1, 16, "'m' is a variable, not a lock"},
    {"lock m; x := m", 1, 14, "'m' is a lock, which has no value"},
    {"lock m; m := 1", 1, 9, "'m' is a lock, which cannot be assigned to"},
    {"lock m; acquire m", 1, 17, "expected '('"},
    {"lock m; acquire()", 1, 17, "expected the name of a lock"},
    {"x = 1", 1, 3, "expected ':='"},
    {"x :=", 1, 5, "expected a number or a name, but the program ends here"},
    {"x := 1 < 2", 1, 8, "expected a statement, '||' or the end"},
    {"x := (1 < 2)", 1, 6, "expected a number here"},
    {"x := true", 1, 6, "expected a number here"},
    {"while (x) { }", 1, 8, "expected a condition"},
    {"while (x = 1 = 2) { }", 1, 8, "expected a number here"},
    {"while (x = 1 and 2) { }", 1, 18, "expected a condition"},
    {"while (!x) { }", 1, 9, "expected a condition"},
    {"while (true { }", 1, 13, "expected ')'"},
    {"while (true) skip", 1, 14, "expected '{'"},
    {"while (true) { skip", 1, 20, "expected a statement or '}', but the program ends here"},
    {"if (true) { } else skip", 1, 20, "expected '{'"},
    {"begin skip", 1, 11, "expected a statement or 'end', but the program ends here"},
    {"begin : skip end", 1, 9, "expected the block's name"},
    {"end", 1, 1, "expected a statement"},
    {"skip || || skip", 1, 9, "expected a statement"},
    {"skip || ;", 1, 10, "expected a statement, but the program ends here"},
    {"skip }", 1, 6, "expected a statement, '||' or the end"},
    {"thread { skip } skip", 1, 17, "expected 'thread' or the end"},
    {"thread a skip", 1, 10, "expected '{'"},
    {"skip /* never\nends", 1, 6, "this comment never ends"},
    {"skip\n  $", 2, 3, "this character has no meaning"},
    {"x := 1a", 1, 6, "cannot begin with a digit"},
    {"x | y", 1, 3, "this character has no meaning"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pt_program program;
        struct pt_err err;
        pt_program_init(&program);
        assert_int_equal(pt_sml_parse("p.sml", bad[i].text, strlen(bad[i].text), &program, &err), PT_EINPUT);
        if (err.line != bad[i].line || err.column != bad[i].column || !strstr(err.message, bad[i].message))
            fail_msg("'%s': %u:%u: %s", bad[i].text, (unsigned)err.line, err.column, err.message);
        assert_string_equal(err.file, "p.sml");
        pt_program_release(&program);
    }
}

static void parse(const char *text, struct pt_program *program)
{
    struct pt_err err;
    pt_program_init(program);
    if (pt_sml_parse("p.sml", text, strlen(text), program, &err) != PT_OK)
        fail_msg("%u:%u: %s", (unsigned)err.line, err.column, err.message);
}

/* "0>1 kind text; ..." for the steps of one thread. */
static void assert_steps(const struct pt_program *p, uint32_t thread, const char *expected)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, "");
    for (uint32_t s = 0; s < p->step_count; s++) {
        const struct pt_prog_step *step = &p->steps[s];
        if (step->thread != thread)
            continue;
        pt_buf_printf(&buf, "%u>%u %s", step->from, step->to, step->text);
        for (uint32_t a = 0; a < step->read_count + step->write_count; a++)
            pt_buf_printf(&buf, " %c%s", a < step->read_count ? 'r' : 'w',
                          p->vars[p->accesses[step->access_start + a]]);
        pt_buf_puts(&buf, "; ");
    }
    assert_string_equal(buf.text, expected);
    pt_buf_release(&buf);
}

static void test_graphs(void **state)
{
    (void)state;
    struct pt_program p;
    parse("int X, Y; lock m\n"
          "X := Y + a * X; if (X > 0 || Y = 1) { skip } ; acquire(m) release(m) ||\n"
          "while (true) { begin : B while (!X = 2) { } end } || if (1 < 2) { } else { Y := -(2) / 1 } || null",
          &p);
    assert_int_equal(p.thread_count, 3);
    assert_steps(&p, 0,
                 "0>1 X := Y + a * X rY wX; 1>2 if (X > 0 || Y = 1): true rX rY; 1>3 if (X > 0 || Y = 1): false rX rY; "
                 "2>3 skip; 3>4 acquire(m); 4>5 release(m); ");
    assert_steps(&p, 1,
                 "0>1 while (true): true; 0>4 while (true): false; 1>2 begin : B; 2>2 while (!X = 2): true rX; "
                 "2>3 while (!X = 2): false rX; 3>0 end; ");
    assert_steps(&p, 2, "0>2 if (1 < 2): true; 0>1 if (1 < 2): false; 1>2 Y := -(2) / 1 wY; ");
    assert_int_equal(p.block_count, 1);
    assert_string_equal(p.blocks[0].name, "B");
    assert_int_equal(p.blocks[0].thread, 1);
    assert_int_equal(p.blocks[0].place.line, 3);
    assert_int_equal(p.threads[1].start, 0);
    assert_int_equal(p.threads[1].stop, 4);
    pt_program_release(&p);
}

static void test_threads(void **state)
{
    (void)state;
    struct pt_program p;
    parse("# a comment\nthread one { begin skip end begin skip end } thread { } // another\n", &p);
    assert_int_equal(p.thread_count, 2);
    assert_string_equal(p.threads[0].name, "one");
    assert_string_equal(p.threads[1].name, "thread 2");
    assert_int_equal(p.blocks[1].number, 2);
    assert_int_equal(p.threads[1].start, p.threads[1].stop);
    pt_program_release(&p);
    parse("; int X;; ; skip;; skip || ; X := 1; ||", &p); /* more semicolons than are needed */
    assert_int_equal(p.thread_count, 2);
    assert_steps(&p, 0, "0>1 skip; 1>2 skip; ");
    assert_steps(&p, 1, "0>1 X := 1 wX; ");
    pt_program_release(&p);
}

static void nest(const char *open, const char *inner, const char *close, uint32_t depth, enum pt_status expected)
{
    struct pt_buf text;
    struct pt_program p;
    struct pt_err err = {0};
    pt_buf_init(&text);
    pt_buf_puts(&text, "int X; X := X ");
    for (uint32_t i = 0; i < depth; i++)
        pt_buf_puts(&text, open);
    pt_buf_puts(&text, inner);
    for (uint32_t i = 0; i < depth; i++)
        pt_buf_puts(&text, close);
    pt_program_init(&p);
    assert_int_equal(pt_sml_parse("p.sml", text.text, text.len, &p, &err), expected);
    if (expected != PT_OK)
        assert_non_null(strstr(err.message, "nested too deeply"));
    pt_program_release(&p);
    pt_buf_release(&text);
}

static void test_depth(void **state)
{
    (void)state;
    nest("begin ", "skip ", "end ", 900, PT_OK);
    nest("begin ", "skip ", "end ", 10000, PT_EINPUT);
    nest("while (true) { ", "skip ", "} ", 10000, PT_EINPUT);
    nest("+ (1 ", "", ")", 10000, PT_EINPUT);
    nest("- -", "1", "", 10000, PT_EINPUT);
    nest("if (true) { } else { ", "skip", "} ", 10000, PT_EINPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
