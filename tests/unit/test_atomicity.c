/* Causal atomicity: verdicts, sizes of the literature, witnesses, limits, and that nothing depends on the reductions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../bench/sml_programs.h"
#include "net/atomicity.h"
#include "net/sml.h"

/* Parses and checks `text`; the caller releases both. */
static void check(const char *text, struct pt_atomicity_options options, struct pt_program *program,
                  struct pt_atomicity *result)
{
    struct pt_err err;
    pt_program_init(program);
    if (pt_sml_parse("p.sml", text, strlen(text), program, &err) != PT_OK ||
        pt_atomicity_check(program, &options, result, &err) != PT_OK)
        fail_msg("%u:%u: %s in %s", (unsigned)err.line, err.column, err.message, text);
}

/* One letter per block: y, n or ?. */
static void assert_verdicts(const char *text, struct pt_atomicity_options options, const char *expected)
{
    struct pt_program program;
    struct pt_atomicity result;
    check(text, options, &program, &result);
    assert_int_equal(program.block_count, strlen(expected));
    for (uint32_t b = 0; b < program.block_count; b++) {
        if ("yn?"[result.blocks[b].atomic] != expected[b])
            fail_msg("block %u of %u: %c, expected %s in\n%s", b + 1, program.block_count,
                     "yn?"[result.blocks[b].atomic], expected, text);
        assert_int_equal(result.blocks[b].witness_count > 0, expected[b] == 'n');
    }
    pt_atomicity_release(&result);
    pt_program_release(&program);
}

static void assert_both(const char *text, const char *expected)
{
    assert_verdicts(text, (struct pt_atomicity_options){.jobs = 1}, expected);
    assert_verdicts(text, (struct pt_atomicity_options){.plain = true, .jobs = 1}, expected);
    assert_verdicts(text, (struct pt_atomicity_options){.plain = true, .contextual = true, .jobs = 1}, expected);
    assert_verdicts(text, (struct pt_atomicity_options){.all = true, .jobs = 3}, expected);
}

static void assert_family(enum pt_sml_family family, uint32_t threads, char expected)
{
    struct pt_buf text;
    char verdicts[64];
    uint32_t blocks = family == PT_SML_STAR ? threads : 1;
    memset(verdicts, expected, blocks);
    verdicts[blocks] = '\0';
    pt_buf_init(&text);
    pt_sml_write(family, threads, &text);
    assert_both(text.text, verdicts);
    pt_buf_release(&text);
}

static void test_table(void **state)
{
    (void)state;
    struct pt_buf text;
    for (uint32_t n = 1; n <= 4; n++) {
        assert_family(PT_SML_ACQUIRE1, n, 'y');
        assert_family(PT_SML_STAR, n, 'y');
        assert_family(PT_SML_ACQUIRE2, n, 'y');
        assert_family(PT_SML_WIDE, n, 'y');
        if (n > 1)
            assert_family(PT_SML_NACQUIRE, n, 'n');
    }
    assert_family(PT_SML_FLAG, 3, 'y');
    assert_family(PT_SML_ACQUIRE1, 30, 'y');
    assert_family(PT_SML_STAR, 30, 'y');
    assert_family(PT_SML_NACQUIRE, 8, 'n');
    for (int both = 0; both <= 1; both++) {
        pt_buf_init(&text);
        pt_sml_write_dekker(both, &text);
        assert_both(text.text, both ? "yy" : "y");
        pt_buf_release(&text);
    }
    assert_both(pt_sml_bluetooth, "nn");
    assert_both(pt_sml_bluetooth3, "nn");
}

/* Programs each about one rule of the colours. */
static void test_rules(void **state)
{
    (void)state;
    assert_both("int Y; lock l; begin acquire(l); Y := 5; Y := 3; release(l) end || x := Y - 2", "n");
    assert_both("int Y; lock l; begin acquire(l); Y := 5; Y := 3; release(l) end || acquire(l); x := Y; release(l)",
                "y");
    assert_both("int X; begin x := X; y := X end || X := 1", "n");            /* a write between two reads */
    assert_both("int X; begin x := X; y := X end || z := X", "y");            /* reads are independent */
    assert_both("int X; begin X := 1; x := X end || z := X", "y");            /* its own read, nobody else writes */
    assert_both("int X; begin X := 1; X := 2 end || z := X", "n");            /* a read between two writes */
    assert_both("int X; begin X := 1 end; X := 2 || z := X", "y");            /* after the end it does not matter */
    assert_both("int X; while (true) { begin X := 1 end } || z := X", "y");   /* nor in the next occurrence */
    assert_both("int X, Y; begin X := 1; Y := 1 end || Y := 2; X := 2", "y"); /* in the wrong order */
    assert_both("int X, Y; begin X := 1; Y := 1 end || X := 2; Y := 2", "n");
    assert_both("int X, Y; begin X := 1; Y := 1 end || x := X || Y := 2", "y");    /* two threads that do not meet */
    assert_both("int X, Y, Z; begin X := 1; Y := 1 end || Z := X || Y := Z", "n"); /* by way of a third variable */
    assert_both("int X; lock l; begin acquire(l); release(l); acquire(l); release(l) end || acquire(l); release(l)",
                "n");
    assert_both("int X; begin X := 1; begin skip end; X := 2 end || x := X", "ny"); /* nested blocks */
    assert_both("int X; begin begin X := 1 end; skip end; X := 2 || x := X", "yy");
    assert_both("int X; begin X := 1; begin X := 2; X := 3 end end || x := X", "nn");
    assert_both("begin skip end", "y");
    assert_both("int X; begin X := 1; X := 1 end", "y");
    assert_both("begin skip end || null", "y");
}

/* A release that no data flow shows to be a holder's, but that is never reached: no thread may be left out then. */
static void test_stuck(void **state)
{
    (void)state;
    assert_both("int X; lock l; begin acquire(l); acquire(l); release(l); release(l); X := 1; X := 2 end || X := 3",
                "y");
    assert_both("int X; lock l; begin X := 1; X := 2; acquire(l); acquire(l); release(l); release(l) end || X := 3",
                "n");
}

/* A foreign step that touches many variables, picking up from one and dropping on another, or on the same. */
static void test_wide_steps(void **state)
{
    (void)state;
#define SUM  "A + B + C + D + E + F + G + H"
#define VARS "int A, B, C, D, E, F, G, H; "
#define REST "; B := 1; C := 1; D := 1; E := 1; F := 1; G := 1"
    assert_both(VARS "begin H := 1; x := A end || A := " SUM REST, "n");
    assert_both(VARS "begin H := 1; H := 2 end || A := " SUM REST, "n");
    assert_both(VARS "begin x := H; y := B end || A := " SUM REST "; H := 1", "y");
    assert_both(VARS "begin H := 1; y := G end || A := " SUM REST, "n");
    assert_both(VARS "begin H := 1 end; y := G || A := " SUM REST, "y");
}

static void test_unsafe(void **state)
{
    (void)state;
    struct pt_program program;
    struct pt_atomicity result;
    struct pt_err err;
    const char text[] = "int X; lock m;\nbegin X := 1; X := 2 end || X := 1;\n  release(m) || acquire(m)";
    for (int plain = 0; plain <= 1; plain++) {
        struct pt_atomicity_options options = {.plain = plain, .jobs = 1};
        pt_program_init(&program);
        assert_int_equal(pt_sml_parse("p.sml", text, sizeof text - 1, &program, &err), PT_OK);
        assert_int_equal(pt_atomicity_check(&program, &options, &result, &err), PT_EINPUT);
        assert_int_equal(err.line, 3);
        assert_int_equal(err.column, 3);
        assert_non_null(strstr(err.message, "release(m)"));
        pt_program_release(&program);
    }
}

static void assert_sizes(const char *text, uint64_t events, uint64_t cutoffs)
{
    struct pt_program program;
    struct pt_atomicity result;
    check(text, (struct pt_atomicity_options){.plain = true, .jobs = 1}, &program, &result);
    assert_int_equal(result.events, events);
    if (cutoffs)
        assert_int_equal(result.cutoffs, cutoffs);
    pt_atomicity_release(&result);
    pt_program_release(&program);
}

/* Sizes of the prefixes of the paper's net, as other implementations have them. */
static void test_sizes(void **state)
{
    (void)state;
    struct pt_buf text;
    for (uint32_t n = 2; n <= 40; n += n < 8 ? 1 : 16) {
        pt_buf_init(&text);
        pt_sml_write(PT_SML_ACQUIRE1, n, &text);
        assert_sizes(text.text, 9 * n + 5, 2 * n);
        text.len = 0;
        pt_sml_write(PT_SML_STAR, n, &text);
        assert_sizes(text.text, 14 * n, 2 * n);
        pt_buf_release(&text);
    }
    pt_buf_init(&text);
    pt_sml_write_dekker(false, &text);
    assert_sizes(text.text, 170, 0);
    text.len = 0;
    pt_sml_write(PT_SML_FLAG, 3, &text);
    assert_sizes(text.text, 306, 0);
    pt_buf_release(&text);
    assert_sizes(pt_sml_bluetooth, 93, 0);
    assert_sizes(pt_sml_bluetooth3, 136, 0);
}

static void test_witness(void **state)
{
    (void)state;
    struct pt_program program;
    struct pt_atomicity result;
    check("int X; thread { skip; begin x := X; y := X end }\nthread { skip } thread { X := 1 }",
          (struct pt_atomicity_options){.jobs = 1}, &program, &result);
    const struct pt_witness *w = &result.blocks[0].witnesses[0];
    static const char *const steps[] = {"skip", "begin", "x := X", "X := 1", "y := X"};
    assert_int_equal(w->count, 5); /* the second thread's step is not in the way and left out */
    for (uint32_t i = 0; i < w->count; i++)
        assert_string_equal(program.steps[w->events[i].step].text, steps[i]);
    assert_int_equal(w->begin, 1);
    assert_int_equal(w->foreign, 3);
    assert_int_equal(w->later, 4);
    assert_int_equal(w->events[3].cause_count, 1);
    assert_int_equal(w->events[3].causes[0], 2);
    pt_atomicity_release(&result);
    pt_program_release(&program);
}

/* A run that violates nothing is not taken for a witness. */
static void test_witness_check(void **state)
{
    (void)state;
    struct pt_program program;
    struct pt_arena arena;
    struct pt_witness witness;
    struct pt_err err;
    const char text[] = "int X; begin X := 1; X := 2 end || x := X";
    pt_program_init(&program);
    pt_arena_init(&arena);
    assert_int_equal(pt_sml_parse("p.sml", text, sizeof text - 1, &program, &err), PT_OK);
    enum { BEGIN, FIRST, SECOND, END, READ };
    const uint32_t good[] = {BEGIN, FIRST, READ, SECOND}, early[] = {READ, BEGIN, FIRST, SECOND},
                   jump[] = {BEGIN, SECOND, READ, SECOND}, late[] = {BEGIN, FIRST, SECOND, READ};
    assert_int_equal(pt_witness_make(&program, 0, good, 4, 0, &arena, &witness, &err), PT_OK);
    assert_int_equal(pt_witness_make(&program, 0, early, 4, 1, &arena, &witness, &err), PT_EUSAGE);
    assert_int_equal(pt_witness_make(&program, 0, jump, 4, 0, &arena, &witness, &err), PT_EUSAGE);
    assert_int_equal(pt_witness_make(&program, 0, late, 4, 0, &arena, &witness, &err), PT_EUSAGE);
    assert_int_equal(pt_witness_make(&program, 0, good, 4, 1, &arena, &witness, &err), PT_EUSAGE);
    pt_arena_release(&arena);
    pt_program_release(&program);
}

/* Identical threads: the same verdicts, and witnesses in which the right thread begins. */
static void test_identical(void **state)
{
    (void)state;
    struct pt_program program;
    struct pt_atomicity result;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "int X;");
    for (int i = 0; i < 20; i++)
        pt_buf_printf(&text, "thread { begin a%d := X; X := a%d end }\n", i, i);
    check(text.text, (struct pt_atomicity_options){.jobs = 1}, &program, &result);
    assert_in_range(result.events, 1, 400);
    for (uint32_t b = 0; b < program.block_count; b++) {
        assert_int_equal(result.blocks[b].atomic, PT_ATOMIC_NO);
        const struct pt_witness *w = &result.blocks[b].witnesses[0];
        assert_int_equal(program.steps[w->events[w->begin].step].thread, b);
        assert_int_equal(program.steps[w->events[w->later].step].thread, b);
        assert_int_not_equal(program.steps[w->events[w->foreign].step].thread, b);
    }
    pt_atomicity_release(&result);
    pt_program_release(&program);
    pt_buf_release(&text);
}

static void test_all(void **state)
{
    (void)state;
    struct pt_program program;
    struct pt_atomicity result;
    const char text[] = "int X; begin X := 1; X := 2; x := X end || X := 3";
    check(text, (struct pt_atomicity_options){.jobs = 1, .all = true}, &program, &result);
    assert_int_equal(result.blocks[0].witness_count, 2);
    pt_atomicity_release(&result);
    pt_program_release(&program);
    check(text, (struct pt_atomicity_options){.jobs = 1}, &program, &result);
    assert_int_equal(result.blocks[0].witness_count, 1);
    pt_atomicity_release(&result);
    pt_program_release(&program);
}

static void test_limits(void **state)
{
    (void)state;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_sml_write(PT_SML_FLAG, 4, &text);
    for (int plain = 0; plain <= 1; plain++) {
        assert_verdicts(text.text, (struct pt_atomicity_options){.plain = plain, .jobs = 1, .event_limit = 10}, "?");
        assert_verdicts(text.text, (struct pt_atomicity_options){.plain = plain, .jobs = 1, .memory_limit = 2000}, "?");
    }
    pt_buf_release(&text);
}

/* More blocks than one group has: shared by threads, with the same result. */
static void test_jobs(void **state)
{
    (void)state;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "int X, Y; thread { ");
    for (int i = 0; i < 100; i++)
        pt_buf_printf(&text, "begin X := %d; %s := 1 end; ", i, i % 3 == 0 ? "X" : "z");
    pt_buf_puts(&text, "} thread { X := 1 }");
    struct pt_program program[2];
    struct pt_atomicity result[2];
    for (uint32_t j = 0; j < 2; j++)
        check(text.text, (struct pt_atomicity_options){.jobs = j == 0 ? 1 : 4}, &program[j], &result[j]);
    assert_int_equal(result[0].events, result[1].events);
    for (uint32_t b = 0; b < 100; b++) {
        assert_int_equal(result[0].blocks[b].atomic, b % 3 == 0 ? PT_ATOMIC_NO : PT_ATOMIC_YES);
        assert_int_equal(result[1].blocks[b].atomic, result[0].blocks[b].atomic);
        if (b % 3 == 0)
            assert_int_equal(result[0].blocks[b].witnesses[0].count, result[1].blocks[b].witnesses[0].count);
    }
    for (uint32_t j = 0; j < 2; j++) {
        pt_atomicity_release(&result[j]);
        pt_program_release(&program[j]);
    }
    pt_buf_release(&text);
}

/* Threads that start and await each other, which SML cannot say. */
static uint32_t add_step(struct pt_program *p, uint32_t thread, enum pt_step_kind kind, uint32_t from, uint32_t object,
                         uint32_t written)
{
    struct pt_prog_step step = {
        .kind = (uint8_t)kind, .thread = thread, .from = from, .to = from + 1, .object = object};
    step.text = "step";
    return pt_program_add_step(p, &step, NULL, 0, &written, written == UINT32_MAX ? 0 : 1);
}

static void build_spawn(struct pt_program *p, bool join_inside, bool child_has_steps)
{
    struct pt_source_place nowhere = {0};
    pt_program_init(p);
    uint32_t x = pt_program_add_var(p, "X");
    uint32_t main = pt_program_add_thread(p, "main", nowhere), child = pt_program_add_thread(p, "child", nowhere);
    uint32_t block = pt_program_add_block(p, main, NULL, nowhere);
    for (uint32_t i = 0; i < 6; i++)
        (void)pt_program_add_node(p, main);
    for (uint32_t i = 0; i < 2; i++)
        (void)pt_program_add_node(p, child);
    p->threads[main].stop = 5;
    p->threads[child].spawned = true;
    p->threads[child].stop = child_has_steps ? 1 : 0;
    add_step(p, main, PT_STEP_BEGIN, 0, block, UINT32_MAX);
    add_step(p, main, PT_STEP_SPAWN, 1, child, UINT32_MAX);
    add_step(p, main, join_inside ? PT_STEP_JOIN : PT_STEP_PLAIN, 2, join_inside ? child : UINT32_MAX, UINT32_MAX);
    add_step(p, main, PT_STEP_END, 3, block, UINT32_MAX);
    add_step(p, main, join_inside ? PT_STEP_PLAIN : PT_STEP_JOIN, 4, join_inside ? UINT32_MAX : child, UINT32_MAX);
    if (child_has_steps)
        add_step(p, child, PT_STEP_PLAIN, 0, UINT32_MAX, x);
}

static void test_spawn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct pt_program p;
        struct pt_atomicity result;
        struct pt_err err;
        bool inside = i & 1, steps = i & 2;
        struct pt_atomicity_options options = {.plain = i & 4, .jobs = 1};
        build_spawn(&p, inside, steps);
        assert_int_equal(pt_atomicity_check(&p, &options, &result, &err), PT_OK);
        assert_int_equal(result.blocks[0].atomic, inside && steps ? PT_ATOMIC_NO : PT_ATOMIC_YES);
        pt_atomicity_release(&result);
        pt_program_release(&p);
    }
}

/* Threads that take turns with a lock and end. Which of them are through must not be told apart: that would be 2^n
 * markings. All different, so that symmetry does not help. */
static void test_through(void **state)
{
    (void)state;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "int X; lock m;\n");
    for (int i = 0; i < 20; i++) {
        pt_buf_puts(&text, "thread { begin acquire(m); X := 1; ");
        for (int k = 0; k < i; k++)
            pt_buf_puts(&text, "skip; ");
        pt_buf_puts(&text, "X := 2; release(m) end }\n");
    }
    assert_verdicts(text.text, (struct pt_atomicity_options){.event_limit = 1000, .jobs = 1}, "yyyyyyyyyyyyyyyyyyyy");
    pt_buf_puts(&text, "thread { X := 3 }\n");
    assert_verdicts(text.text, (struct pt_atomicity_options){.event_limit = 4000, .jobs = 1}, "nnnnnnnnnnnnnnnnnnnn");
    pt_buf_release(&text);
}

/* The same with threads that main starts, and awaits afterwards; each has a block around its use of the lock. */
static void test_through_spawned(void **state)
{
    (void)state;
    enum { WORKERS = 16 };
    struct pt_source_place nowhere = {0};
    struct pt_program p;
    struct pt_atomicity result;
    struct pt_err err;
    pt_program_init(&p);
    uint32_t x = pt_program_add_var(&p, "X"), m = pt_program_add_lock(&p, "m");
    uint32_t main = pt_program_add_thread(&p, "main", nowhere);
    for (uint32_t i = 0; i <= 2 * WORKERS; i++)
        (void)pt_program_add_node(&p, main);
    p.threads[main].stop = 2 * WORKERS;
    for (uint32_t i = 0; i < WORKERS; i++) {
        uint32_t worker = pt_program_add_thread(&p, "worker", nowhere);
        uint32_t block = pt_program_add_block(&p, worker, NULL, nowhere);
        for (uint32_t k = 0; k < 7; k++)
            (void)pt_program_add_node(&p, worker);
        p.threads[worker].spawned = true;
        p.threads[worker].stop = 6;
        add_step(&p, main, PT_STEP_SPAWN, i, worker, UINT32_MAX);
        add_step(&p, main, PT_STEP_JOIN, WORKERS + i, worker, UINT32_MAX);
        add_step(&p, worker, PT_STEP_BEGIN, 0, block, UINT32_MAX);
        add_step(&p, worker, PT_STEP_ACQUIRE, 1, m, UINT32_MAX);
        add_step(&p, worker, PT_STEP_PLAIN, 2, UINT32_MAX, x);
        add_step(&p, worker, PT_STEP_PLAIN, 3, UINT32_MAX, x);
        add_step(&p, worker, PT_STEP_RELEASE, 4, m, UINT32_MAX);
        add_step(&p, worker, PT_STEP_END, 5, block, UINT32_MAX);
    }
    struct pt_atomicity_options options = {.event_limit = 1000, .jobs = 1};
    assert_int_equal(pt_atomicity_check(&p, &options, &result, &err), PT_OK);
    for (uint32_t b = 0; b < WORKERS; b++)
        assert_int_equal(result.blocks[b].atomic, PT_ATOMIC_YES);
    pt_atomicity_release(&result);
    pt_program_release(&p);
}

/* Threads that differ: plain violations are found without unfolding anything, and what is atomic stays so. */
static void test_many(void **state)
{
    (void)state;
    struct pt_program program;
    struct pt_atomicity result;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "int X, Y; lock m, n;\n");
    for (uint32_t i = 0; i < 40; i++) {
        bool locked = i % 4 == 3, twice = i % 4 == 2;
        pt_buf_printf(&text, "thread { begin %s t := %s; ",
                      locked  ? "acquire(n);"
                      : twice ? "acquire(m);"
                              : "",
                      locked ? "Y" : "X");
        for (uint32_t k = 0; k < i; k++)
            pt_buf_puts(&text, "t := t + 1; ");
        pt_buf_printf(&text, "%s %s := t %s end }\n", twice ? "release(m); acquire(m);" : "", locked ? "Y" : "X",
                      locked  ? "; release(n)"
                      : twice ? "; release(m)"
                              : "");
    }
    check(text.text, (struct pt_atomicity_options){.jobs = 1}, &program, &result);
    for (uint32_t b = 0; b < 40; b++)
        assert_int_equal(result.blocks[b].atomic, b % 4 == 3 ? PT_ATOMIC_YES : PT_ATOMIC_NO);
    assert_true(result.events < 1500); /* those of the atomic ones */
    pt_atomicity_release(&result);
    pt_program_release(&program);
    pt_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_rules),
        cmocka_unit_test(test_stuck),     cmocka_unit_test(test_wide_steps),
        cmocka_unit_test(test_unsafe),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_witness),   cmocka_unit_test(test_witness_check),
        cmocka_unit_test(test_identical), cmocka_unit_test(test_many),
        cmocka_unit_test(test_all),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_jobs),      cmocka_unit_test(test_spawn),
        cmocka_unit_test(test_through),   cmocka_unit_test(test_through_spawned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
