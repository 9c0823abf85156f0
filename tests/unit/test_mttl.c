/* The compiled form of decentralised properties: validity, damage, growing, and when a step may be skipped. */
#include "base/mem.h"
#include "logic/mttl/mttl.h"
#include "trace_util.h"

enum { MAX_THREADS = 8, CAP = 16, MAX_PROPERTIES = 4 };

static struct pt_mttl *compile(const char *text)
{
    struct pt_properties *props = pt_properties_new();
    const struct pt_property *list[MAX_PROPERTIES];
    struct pt_mttl *block = NULL;
    struct pt_err err;
    assert_int_equal(pt_properties_add(props, "test.prop", text, strlen(text), NULL, NULL, &err), PT_OK);
    for (uint32_t i = 0; i < props->count; i++)
        list[i] = &props->items[i];
    assert_int_equal(pt_mttl_compile(list, props->count, &block, &err), PT_OK);
    pt_properties_free(props);
    return block;
}

static const char mixed[] = "property a at each i: busy > 0 -> !(exists j != i: busy == @j @i busy);"
                            "property b at T1: (once @T2(x > 1)) <-> previously start(@T2 @T1 x / 2 > y);"
                            "property c at each i: forall j: historically (@j x >= y || write(x) || previously y > "
                            "0) since atomic_block(b);"
                            "property d at each i: atomic_block(c) && [event(go), read(x))w;";

/* One thread's side of a computation: everything pt_mttl_step wants, with nothing known of others. */
struct side {
    const struct pt_mttl *m;
    struct pt_mttl_initial *initial;
    struct pt_mttl_thread *thread;
    struct pt_mttl_entry *next, *shown;
    const struct pt_mttl_entry *known[MAX_THREADS];
    struct pt_value values[8];
    struct pt_mttl_verdict verdicts[MAX_PROPERTIES];
    struct pt_mttl_view view;
};

static void side_init(struct side *s, const struct pt_mttl *m, uint32_t slot, uint32_t used, uint32_t cap)
{
    *s = (struct side){.m = m};
    void *scratch = pt_xmalloc(pt_mttl_scratch_size(m));
    for (uint32_t v = 0; v < 8; v++)
        s->values[v] = pt_value_int(0);
    s->initial = pt_xmalloc(pt_mttl_initial_size(m));
    pt_mttl_initial_fill(m, s->values, scratch, s->initial);
    free(scratch);
    s->thread = pt_xmalloc(pt_mttl_thread_size(m, cap));
    pt_mttl_thread_init(m, s->thread, slot, cap);
    s->next = pt_xcalloc(1, pt_mttl_entry_size(m, CAP));
    s->shown = pt_xcalloc(1, pt_mttl_entry_size(m, CAP));
    s->view = (struct pt_mttl_view){.self = slot,
                                    .values = s->values,
                                    .known = s->known,
                                    .known_count = MAX_THREADS,
                                    .used = used,
                                    .initial = s->initial,
                                    .changed = PT_MTTL_ALL};
}

static void side_release(struct side *s)
{
    free(s->initial);
    free(s->thread);
    free(s->next);
    free(s->shown);
}

static unsigned side_step(struct side *s, struct pt_mttl_event event)
{
    s->view.event = event;
    unsigned flags = pt_mttl_step(s->m, &s->view, s->thread, s->next, s->verdicts);
    if (flags & PT_MTTL_EXPORTED || !s->known[s->view.self]) {
        memcpy(s->shown, s->next, pt_mttl_entry_size(s->m, s->thread->cap));
        s->known[s->view.self] = s->shown;
    }
    return flags;
}

static const struct pt_mttl_event quiet = {.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE};

static void test_compiled_is_valid(void **state)
{
    (void)state;
    struct pt_mttl *m = compile(mixed);
    assert_true(pt_mttl_validate(m, m->bytes));
    assert_int_equal(m->properties.count, 4);
    assert_int_equal(m->threads.count, 2);
    assert_int_equal(m->flags, PT_MTTL_THREADS);
    free(m);
    m = compile("property p at T1: @T2 x > @T2 @T1 y;"); /* nothing depends on the number of threads */
    assert_int_equal(m->flags, 0);
    assert_int_equal(pt_mttl_least_cap(m, 1000), 0);
    assert_int_equal(m->exports[0], 3);
    assert_true(pt_mttl_steps(m, 0) && pt_mttl_steps(m, 1) && !pt_mttl_steps(m, 2));
    free(m);
}

static void test_equal_units_are_shared(void **state)
{
    (void)state;
    struct pt_mttl *m = compile("property p at T1: @T2 x > 1 || @T2 x < 5 || once @T2(x == 1) || once @T2(x == 1);");
    assert_int_equal(m->exports[0], 2);
    assert_int_equal(m->past[0], 1);
    free(m);
}

/* Of whom others know something: those who are asked; all, only where they are quantified or asked by a variable. */
static void test_who_is_tracked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool named, others; /* the one thread that it names, if it does; any other */
    } cases[] = {
        {"property p at each i: x > 0 since y > 0;", false, false},
        {"property p at each i: @i x > 0;", false, false},
        {"property p at each i: @T x > 0 && once write(x);", true, false},
        {"property p at each i: @T @i x > 0;", true, true},
        {"property p at T: x > 0;", false, false},
        {"property p at T: exists j: @j x > 0;", true, true},
        {"property p at each i: forall j: x > 0;", true, true},
        {"property p at each i: x > 0; property q at each i: exists j != i: @j x > 0;", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pt_mttl *m = compile(cases[i].text);
        for (uint32_t slot = 0; slot < m->threads.count; slot++)
            assert_int_equal(pt_mttl_tracks(m, slot), cases[i].named);
        assert_int_equal(pt_mttl_tracks(m, m->threads.count), cases[i].others);
        free(m);
    }
}

/* Every cut is refused; every flipped byte is refused or harmless (AddressSanitizer sees to "harmless"). */
static void test_damage(void **state)
{
    (void)state;
    struct pt_mttl *m = compile(mixed);
    uint32_t size = m->bytes, accepted = 0;
    for (uint32_t cut = 0; cut < size; cut += 8) {
        struct pt_mttl *part = pt_xmalloc(cut + 8);
        memcpy(part, m, cut);
        assert_false(pt_mttl_validate(part, cut));
        free(part);
    }
    for (uint32_t at = 0; at < size; at++) {
        static const uint8_t masks[] = {1, 0x80, 0xff};
        for (size_t k = 0; k < sizeof masks; k++) {
            struct pt_mttl *bad = pt_xmalloc(size);
            memcpy(bad, m, size);
            ((uint8_t *)bad)[at] ^= masks[k];
            if (pt_mttl_validate(bad, size) && bad->threads.count == 2) {
                struct side s;
                side_init(&s, bad, 3, 4, CAP);
                for (uint32_t n = 0; n < 4; n++) {
                    s.view.changed = n < 2 ? PT_MTTL_ALL : n == 2 ? PT_MTTL_HEARD : 0;
                    (void)side_step(&s, (struct pt_mttl_event){.what = n, .name = 0});
                }
                side_release(&s);
                accepted++;
            }
            free(bad);
        }
    }
    assert_true(accepted > 0 && accepted < 3 * size);
    free(m);
}

/* A quantifier that no program has is not looked at by the checks, so there must be none. */
static void test_loops_in_use(void **state)
{
    (void)state;
    struct pt_mttl *m = compile("property p at each i: exists j: @j x > 0;");
    assert_int_equal(m->loops.count, 1);
    m->loops.count = 0;
    assert_false(pt_mttl_validate(m, m->bytes));
    m->loops.count = 2;
    assert_false(pt_mttl_validate(m, m->bytes));
    m->loops.count = 1;
    assert_true(pt_mttl_validate(m, m->bytes));
    free(m);
}

static struct pt_mttl_event random_event(uint64_t *seed)
{
    if (below(seed, 3) == 0)
        return quiet;
    return (struct pt_mttl_event){.what = 1 + below(seed, 7)};
}

static void assert_same_verdicts(const struct side *a, const struct side *b)
{
    for (uint32_t p = 0; p < a->m->properties.count; p++)
        assert_int_equal(a->verdicts[p].kind, b->verdicts[p].kind);
}

/* One side steps at every event, the other leaves out what the header allows: same verdicts in every state. */
static void test_skipping(void **state)
{
    (void)state;
    static const char *const texts[] = {
        mixed, "property p at each i: previously previously (x > 0) <-> previously start(x == 1) || !end(y > 0);"};
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct pt_mttl *m = compile(texts[seed % 2]);
        struct side full, lazy;
        uint64_t random = seed;
        bool marked = true, stable = false;
        uint32_t skipped = 0;
        side_init(&full, m, 2, 3, CAP);
        side_init(&lazy, m, 2, 3, CAP);
        (void)side_step(&full, quiet);
        (void)side_step(&lazy, quiet);
        for (uint32_t n = 0; n < 60; n++) {
            bool changes = below(&random, 4) == 0;
            struct pt_mttl_event event = n % 12 < 6 ? quiet : random_event(&random);
            if (changes)
                full.values[n % 3] = lazy.values[n % 3] = pt_value_int(below(&random, 3));
            (void)side_step(&full, event);
            if (changes || marked || !stable || pt_mttl_is_marked(&event)) {
                stable = side_step(&lazy, event) & PT_MTTL_STABLE;
                marked = pt_mttl_is_marked(&event);
            } else {
                skipped++;
            }
            assert_same_verdicts(&full, &lazy);
        }
        assert_true(skipped > 0);
        side_release(&full);
        side_release(&lazy);
        free(m);
    }
}

/* Memory that grows as threads turn up, against memory that was large from the start. */
static void test_growing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct pt_mttl *m = compile(mixed);
        struct side large, small;
        uint64_t random = seed;
        uint32_t used = 3;
        side_init(&large, m, 2, used, CAP);
        side_init(&small, m, 2, used, pt_mttl_least_cap(m, used));
        (void)side_step(&large, quiet);
        (void)side_step(&small, quiet);
        struct pt_mttl_entry *others[2] = {pt_xcalloc(1, pt_mttl_entry_size(m, CAP)),
                                           pt_xcalloc(1, pt_mttl_entry_size(m, CAP))};
        for (uint32_t n = 0; n < 40; n++) {
            if (used < MAX_THREADS && below(&random, 5) == 0) {
                struct side *sides[] = {&large, &small};
                used++;
                struct pt_mttl_thread *grown = pt_xmalloc(pt_mttl_thread_size(m, pt_mttl_least_cap(m, used)));
                pt_mttl_thread_grow(m, small.thread, grown, pt_mttl_least_cap(m, used));
                free(small.thread);
                small.thread = grown;
                for (int k = 0; k < 2; k++) { /* somebody like us is heard of */
                    memcpy(others[k], sides[k]->next, pt_mttl_entry_size(m, CAP));
                    others[k]->slot = used - 1;
                    sides[k]->known[used - 1] = others[k];
                    sides[k]->view.used = used;
                }
            }
            large.values[n % 3] = small.values[n % 3] = pt_value_int(below(&random, 3));
            struct pt_mttl_event event = random_event(&random);
            unsigned a = side_step(&large, event), b = side_step(&small, event);
            assert_int_equal(a & PT_MTTL_EXPORTED, b & PT_MTTL_EXPORTED);
            assert_same_verdicts(&large, &small);
        }
        free(others[0]);
        free(others[1]);
        side_release(&large);
        side_release(&small);
        free(m);
    }
}

static void expect_limit(const char *text, const char *message)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_mttl *block = NULL;
    struct pt_err err;
    assert_int_equal(pt_properties_add(props, "test.prop", text, strlen(text), NULL, NULL, &err), PT_OK);
    const struct pt_property *property = &props->items[0];
    assert_int_equal(pt_mttl_compile(&property, 1, &block, &err), PT_ELIMIT);
    assert_non_null(strstr(err.message, message));
    assert_string_equal(err.file, "test.prop");
    assert_true(err.line > 0 && err.column > 0);
    pt_properties_free(props);
}

static void test_limits(void **state)
{
    (void)state;
    expect_limit("property p at each i: exists j: exists k: exists l: exists m: @m(@i x == @j x && @k x == @l x);",
                 "more than 3 thread variables");
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "let a0 = x == @T2 x;");
    for (int i = 1; i < 40; i++)
        pt_buf_printf(&text, "let a%d = a%d && a%d;", i, i - 1, i - 1);
    pt_buf_puts(&text, "property p at T1: a39;");
    expect_limit(text.text, "too large");
    pt_buf_release(&text);
    pt_buf_puts(&text, "property p at T1: x == 0");
    for (int i = 1; i < 70; i++)
        pt_buf_printf(&text, " + @T%d x", i);
    pt_buf_puts(&text, ";");
    expect_limit(text.text, "64 operands");
    pt_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiled_is_valid), cmocka_unit_test(test_equal_units_are_shared),
        cmocka_unit_test(test_who_is_tracked),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_loops_in_use),      cmocka_unit_test(test_skipping),
        cmocka_unit_test(test_growing),           cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
