/* The file of `portent compile`, and what threads tell: good ones are taken, others refused without a false step. */
#include "base/mem.h"
#include "core/hash.h"
#include "core/ptc.h"
#include "core/local_report.h"
#include "logic/mttl/mttl.h"
#include "trace/channel.h"
#include "trace_util.h"

static const char properties[] = "property a at each i: busy > 0 -> !(exists j != i: busy == @j @i busy + x);"
                                 "property b at T1: (once @T2(z > 1)) && (y == 0 since @T2 x == 3);";

static struct pt_mttl *compile(void)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_mttl *block = NULL;
    struct pt_err err;
    assert_int_equal(pt_properties_add(props, "t.prop", properties, strlen(properties), NULL, NULL, &err), PT_OK);
    const struct pt_property *list[] = {&props->items[0], &props->items[1]};
    assert_int_equal(pt_mttl_compile(list, 2, &block, &err), PT_OK);
    pt_properties_free(props);
    return block;
}

static uint32_t find(const struct pt_mttl *m, const char *name)
{
    uint32_t v = 0;
    while (strcmp(pt_mttl_string(m, pt_mttl_at(m, vars, struct pt_mttl_name, v)->name), name) != 0)
        v++;
    return v;
}

/* A file, 8-aligned, which the caller frees. */
static char *make_file(size_t *ret_len)
{
    struct pt_mttl *block = compile();
    struct pt_channel_var vars[] = {{.name = "x", .offset = 64, .size = 4, .type = PT_WATCH_INT, .local = 1},
                                    {.name = "y", .module = "lib.so", .offset = 72, .size = 8, .type = PT_WATCH_FLOAT}};
    struct pt_channel_name functions[] = {{NULL, 16, "main"}, {"lib.so", 32, "worker"}};
    struct pt_channel_library libraries[] = {{.module = "lib.so", .needed = true, .id_bytes = 3, .id = "abc"}};
    struct pt_channel_setup setup = {.vars = vars,
                                     .var_count = 2,
                                     .block = block,
                                     .functions = functions,
                                     .function_count = 2,
                                     .libraries = libraries,
                                     .library_count = 1};
    struct pt_buf config;
    pt_buf_init(&config);
    pt_channel_configure(&setup, &config);
    struct pt_ptc head = {.magic = PT_PTC_MAGIC,
                          .version = PT_PTC_VERSION,
                          .config_bytes = config.len,
                          .hash = pt_fnv(PT_FNV_NOTHING, config.text, config.len)};
    *ret_len = sizeof head + config.len;
    char *file = pt_xmalloc(*ret_len);
    memcpy(file, &head, sizeof head);
    memcpy(file + sizeof head, config.text, config.len);
    pt_buf_release(&config);
    free(block);
    return file;
}

static void test_good(void **state)
{
    (void)state;
    size_t len;
    char *file = make_file(&len);
    assert_null(pt_ptc_problem(file, len));
    free(file);
}

static void test_cut_short(void **state)
{
    (void)state;
    size_t len;
    char *file = make_file(&len);
    for (size_t cut = 0; cut < len; cut++) {
        char *part = pt_xmalloc(cut + 1); /* of its own, so that a read past the end is seen */
        memcpy(part, file, cut);
        char *exact = pt_xrealloc(part, cut ? cut : 1);
        assert_non_null(pt_ptc_problem(exact, cut));
        free(exact);
    }
    free(file);
}

/* Damage is seen by the hash; what was made up, with the right hash, by the checks: at least nothing is read outside.
 */
static void test_damaged(void **state)
{
    (void)state;
    size_t len;
    char *file = make_file(&len);
    struct pt_ptc *head = (void *)file;
    unsigned refused = 0, tried = 0;
    for (size_t at = sizeof *head; at < len; at++) {
        char before = file[at];
        for (unsigned bit = 0; bit < 8; bit++) {
            file[at] = (char)(before ^ 1 << bit);
            assert_non_null(pt_ptc_problem(file, len));
            head->hash = pt_fnv(PT_FNV_NOTHING, head + 1, head->config_bytes);
            refused += pt_ptc_problem(file, len) != NULL;
            tried++;
            file[at] = before;
            head->hash = pt_fnv(PT_FNV_NOTHING, head + 1, head->config_bytes);
        }
    }
    assert_true(refused > tried / 4 && refused < tried);
    free(file);
}

static void test_bad_tables(void **state)
{
    (void)state;
    size_t len;
    char *file = make_file(&len);
    struct pt_config *config = (void *)(file + sizeof(struct pt_ptc));
    size_t bytes = len - sizeof(struct pt_ptc);
    struct pt_config good = *config;
    assert_true(pt_config_is_sound(config, bytes));
    config->watch_count = UINT32_MAX;
    assert_false(pt_config_is_sound(config, bytes));
    *config = good;
    config->functions = (uint32_t)bytes + 8;
    assert_false(pt_config_is_sound(config, bytes));
    *config = good;
    struct pt_watch *watch = (void *)((char *)config + config->watches);
    uint32_t local = watch->local;
    watch->local = 1000;
    assert_false(pt_config_is_sound(config, bytes));
    watch->local = local;
    assert_true(pt_config_is_sound(config, bytes));
    struct pt_library *library = (void *)((char *)config + config->libraries);
    assert_string_equal((char *)config + library->module, "lib.so");
    assert_true(library->needed && library->id_bytes == 3 && memcmp(library->id, "abc", 3) == 0);
    library->id_bytes = PT_ID_MAX + 1;
    assert_false(pt_config_is_sound(config, bytes));
    library->id_bytes = PT_ID_MAX;
    assert_true(pt_config_is_sound(config, bytes));
    library->module = (uint32_t)bytes;
    assert_false(pt_config_is_sound(config, bytes));
    library->module = 0;
    config->library_count = 2 + (uint32_t)(bytes / sizeof *library);
    assert_false(pt_config_is_sound(config, bytes));
    free(file);
}

static void test_mentions(void **state)
{
    (void)state;
    struct pt_mttl *m = compile();
    uint8_t *marks = pt_xmalloc(m->units.count);
    assert_true(pt_mttl_mentions(m, 0, find(m, "busy"), marks));
    assert_true(pt_mttl_mentions(m, 0, find(m, "x"), marks));
    assert_false(pt_mttl_mentions(m, 0, find(m, "y"), marks));
    assert_false(pt_mttl_mentions(m, 1, find(m, "busy"), marks));
    for (const char *name = "xyz"; *name; name++)
        assert_true(pt_mttl_mentions(m, 1, find(m, (char[]){*name, 0}), marks));
    free(marks);
    free(m);
}

static void test_told(void **state)
{
    (void)state;
    char bytes[200];
    struct pt_local_report_writer w = {.bytes = bytes, .room = sizeof bytes};
    struct pt_local_report_step step = {PT_KIND_ACQ, "p->lock", "a.c:3", 0x1f0, 0x1e0, 0x1f4, pt_value_int(-7)};
    pt_local_report_put_step(&w, &step);
    pt_local_report_put_number(&w, 42);
    pt_local_report_put_value(&w, pt_value_string("abc", 3));
    assert_false(w.full);
    for (size_t cut = 0; cut <= w.len; cut++) {
        char *part = pt_xmalloc(cut + 1), *exact = pt_xrealloc(part, cut ? cut : 1);
        memcpy(exact, bytes, cut);
        struct pt_local_report_reader r = {exact, cut, false};
        struct pt_local_report_step back = pt_local_report_step(&r);
        uint64_t number = pt_local_report_number(&r);
        struct pt_value value = pt_local_report_value(&r);
        assert_int_equal(r.bad, cut < w.len);
        if (!r.bad) {
            assert_int_equal(back.kind, PT_KIND_ACQ);
            assert_string_equal(back.object, "p->lock");
            assert_true(back.at == 0x1f0 && back.from == 0x1e0 && back.last == 0x1f4);
            assert_string_equal(back.place, "a.c:3");
            assert_true(back.value.i == -7 && number == 42 && value.len == 3 && memcmp(value.s, "abc", 3) == 0);
        }
        free(exact);
    }
    w.room = w.len + 3; /* what does not fit is left out as a whole, and so is the rest */
    size_t before = w.len;
    pt_local_report_put_text(&w, "long");
    pt_local_report_put_text(&w, "");
    assert_true(w.full && w.len == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),       cmocka_unit_test(test_cut_short), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_bad_tables), cmocka_unit_test(test_mentions),  cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
