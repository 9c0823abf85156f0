/* Programs as text: round trip, and no text whatsoever makes an inconsistent program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/table.h"
#include "net/program_text.h"

static void make(struct pt_program *program)
{
    struct pt_source_place place = {"a\tb\\c.c", 3, 7}, nowhere = {0};
    uint32_t reads[] = {0}, writes[] = {1};
    pt_program_init(program);
    program->file = "a.c";
    pt_program_add_var(program, "x");
    pt_program_add_var(program, "line\nbreak");
    pt_program_add_lock(program, "m");
    for (int i = 0; i < 2; i++) {
        pt_program_add_thread(program, i ? "worker" : "main", place);
        pt_program_add_node(program, (uint32_t)i);
        pt_program_add_node(program, (uint32_t)i);
    }
    program->threads[1].spawned = true;
    program->threads[1].stop = 1;
    pt_program_add_block(program, 1, NULL, nowhere);
    struct pt_prog_step spawn = {.kind = PT_STEP_SPAWN, .to = 1, .object = 1, .text = "start worker", .place = place};
    struct pt_prog_step begin = {.kind = PT_STEP_BEGIN, .thread = 1, .text = "begin", .place = nowhere};
    struct pt_prog_step plain = {.kind = PT_STEP_PLAIN, .thread = 1, .to = 1, .object = PT_NONE, .text = "=-\\"};
    pt_program_add_step(program, &spawn, NULL, 0, NULL, 0);
    pt_program_add_step(program, &begin, NULL, 0, NULL, 0);
    pt_program_add_step(program, &plain, reads, 1, writes, 1);
    pt_program_add_note(program, "coarse", place);
}

static char *print(const struct pt_program *program)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_program_print(program, &buf);
    return pt_buf_take(&buf);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct pt_program first, second;
    struct pt_err err;
    make(&first);
    char *text = print(&first);
    pt_program_init(&second);
    assert_int_equal(pt_program_parse(text, strlen(text), &second, &err), PT_OK);
    char *again = print(&second);
    assert_string_equal(text, again);
    assert_string_equal(second.vars[1], "line\nbreak");
    assert_string_equal(second.steps[2].text, "=-\\");
    assert_string_equal(second.threads[0].place.file, "a\tb\\c.c");
    assert_int_equal(second.threads[0].stop, PT_NONE);
    assert_null(second.blocks[0].name);
    free(text);
    free(again);
    pt_program_release(&first);
    pt_program_release(&second);
}

static void test_error(void **state)
{
    (void)state;
    struct pt_err why = {0}, err;
    struct pt_buf buf;
    struct pt_program program;
    (void)pt_err_at(&why, PT_EINPUT, "b.c", 4, 2, "recursion");
    pt_buf_init(&buf);
    pt_program_print_error(&why, &buf);
    pt_program_init(&program);
    assert_int_equal(pt_program_parse(buf.text, buf.len, &program, &err), PT_EINPUT);
    assert_string_equal(err.file, "b.c");
    assert_int_equal(err.line, 4);
    assert_int_equal(err.column, 2);
    assert_string_equal(err.message, "recursion");
    pt_program_release(&program);
    pt_buf_release(&buf);
}

/* Every id of an accepted program is in range. */
static void check_consistent(const struct pt_program *p)
{
    for (uint32_t i = 0; i < p->thread_count; i++) {
        assert_true(p->threads[i].start < p->threads[i].node_count);
        assert_true(p->threads[i].stop == PT_NONE || p->threads[i].stop < p->threads[i].node_count);
    }
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct pt_prog_step *s = &p->steps[i];
        assert_true(s->thread < p->thread_count);
        assert_true(s->from < p->threads[s->thread].node_count && s->to < p->threads[s->thread].node_count);
        assert_true(s->from != p->threads[s->thread].stop);
        for (uint32_t k = 0; k < (uint32_t)s->read_count + s->write_count; k++)
            assert_true(p->accesses[s->access_start + k] < p->var_count);
        if (s->kind == PT_STEP_BEGIN || s->kind == PT_STEP_END)
            assert_true(p->blocks[s->object].thread == s->thread);
    }
}

static void try_text(const char *text, size_t len)
{
    struct pt_program program;
    struct pt_err err;
    pt_program_init(&program);
    if (pt_program_parse(text, len, &program, &err) == PT_OK)
        check_consistent(&program);
    else
        assert_int_equal(err.status, PT_EINPUT);
    pt_program_release(&program);
}

static void test_damage(void **state)
{
    (void)state;
    static const char replacements[] = "09-=\t\n\\,x";
    struct pt_program first;
    make(&first);
    char *text = print(&first);
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        char *cut = malloc(i + 1); /* exactly as long as it is: a read beyond is seen */
        memcpy(cut, text, i);
        try_text(cut, i);
        free(cut);
        char before = text[i];
        for (const char *c = replacements; *c; c++) {
            text[i] = *c;
            try_text(text, len);
        }
        text[i] = '\0';
        try_text(text, len);
        text[i] = before;
    }
    free(text);
    pt_program_release(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
