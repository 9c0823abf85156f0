/* Tables, arenas, growing text, errors, UTF-8. */
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/utf8.h"
#include "trace_util.h"

static void test_strtab(void **state)
{
    (void)state;
    struct pt_strtab tab;
    char text[16];
    pt_strtab_init(&tab);
    assert_int_equal(pt_strtab_find(&tab, "a", 1), PT_NONE);
    const char *first = NULL;
    for (uint32_t i = 0; i < 5000; i++) { /* many times past the first rehash */
        int n = snprintf(text, sizeof text, "n%u", i);
        assert_int_equal(pt_strtab_find(&tab, text, (size_t)n), PT_NONE);
        assert_int_equal(pt_strtab_intern(&tab, text, (size_t)n), i);
        if (i == 0)
            first = pt_strtab_text(&tab, 0);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(text, sizeof text, "n%u", i);
        assert_int_equal(pt_strtab_intern(&tab, text, (size_t)n), i);
        assert_int_equal(pt_strtab_find(&tab, text, (size_t)n), i);
        assert_string_equal(pt_strtab_text(&tab, i), text);
        assert_int_equal(pt_strtab_len(&tab, i), n);
    }
    assert_ptr_equal(pt_strtab_text(&tab, 0), first); /* copies never move */
    assert_int_equal(tab.count, 5000);
    assert_true(pt_strtab_bytes(&tab) > 5000 * sizeof(uint32_t));
    /* Bytes, not C strings: the empty one, zeros inside, prefixes of each other. */
    uint32_t empty = pt_strtab_intern(&tab, "", 0), zero = pt_strtab_intern(&tab, "\0", 1);
    uint32_t two = pt_strtab_intern(&tab, "\0\0", 2);
    assert_true(empty != zero && zero != two);
    assert_int_equal(pt_strtab_intern(&tab, "\0\0x", 2), two);
    assert_int_equal(pt_strtab_len(&tab, empty), 0);
    assert_int_equal((uintptr_t)pt_strtab_text(&tab, two) % 16, 0); /* structures are interned too */
    pt_strtab_release(&tab);
}

static void test_map64(void **state)
{
    (void)state;
    struct pt_map64 map;
    uint64_t seed = 3, keys[3000];
    pt_map64_init(&map);
    for (uint32_t i = 0; i < 3000; i++) {
        keys[i] = i < 1000 ? i : i < 2000 ? (uint64_t)i << 32 : next_random(&seed);
        if (i == 2999)
            keys[i] = UINT64_MAX;
        assert_int_equal(pt_map64_get(&map, keys[i]), PT_NONE);
        uint32_t *place = pt_map64_at(&map, keys[i]);
        assert_int_equal(*place, PT_NONE);
        *place = i;
    }
    assert_int_equal(map.count, 3000);
    for (uint32_t i = 0; i < 3000; i++) {
        assert_int_equal(pt_map64_get(&map, keys[i]), i);
        assert_int_equal(*pt_map64_at(&map, keys[i]), i);
    }
    assert_int_equal(map.count, 3000);
    assert_true(pt_map64_bytes(&map) >= 3000 * sizeof(struct pt_map64_slot));
    pt_map64_release(&map);
}

static void test_arena(void **state)
{
    (void)state;
    struct pt_arena arena;
    uint64_t seed = 9;
    unsigned char *blocks[400];
    uint32_t sizes[400];
    pt_arena_init(&arena);
    for (uint32_t i = 0; i < 400; i++) { /* small ones, and some that need a block of their own */
        sizes[i] = i % 50 == 7 ? 100000 : 1 + below(&seed, 3000);
        blocks[i] = pt_arena_alloc(&arena, sizes[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (uint32_t k = 0; k < sizes[i]; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)(i % 255) + 1, sizes[i]);
    }
    for (uint32_t i = 0; i < 400; i++) /* nobody wrote into a neighbour */
        assert_true(blocks[i][0] == i % 255 + 1 && blocks[i][sizes[i] - 1] == i % 255 + 1);
    assert_true(arena.bytes > 8 * 100000);
    assert_string_equal(pt_arena_strndup(&arena, "abcdef", 3), "abc");
    assert_non_null(pt_arena_alloc(&arena, 0));
    struct pt_arena other, none;
    pt_arena_init(&other);
    pt_arena_init(&none);
    const char *text = pt_arena_strndup(&other, "kept", 4);
    size_t both = arena.bytes + other.bytes;
    pt_arena_adopt(&arena, &other);
    pt_arena_adopt(&arena, &none);
    assert_int_equal(arena.bytes, both);
    assert_null(other.head);
    pt_arena_release(&other);
    assert_string_equal(text, "kept");
    pt_arena_adopt(&none, &arena); /* into one without anything */
    pt_arena_adopt(&arena, &none);
    assert_string_equal(text, "kept");
    pt_arena_release(&arena);
    assert_int_equal(arena.bytes, 0);
    assert_non_null(pt_arena_alloc(&arena, 10)); /* usable again */
    pt_arena_release(&arena);
}

static void test_aligned_and_grow(void **state)
{
    (void)state;
    for (size_t size = 0; size < 300; size += 37) {
        unsigned char *p = pt_xaligned(64, size);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        free(p);
    }
    uint32_t *list = NULL, len = 0;
    size_t cap = 0;
    for (uint32_t i = 0; i < 1000; i++)
        PT_PUSH(list, len, cap, i * 3);
    assert_int_equal(len, 1000);
    assert_true(cap >= 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list[i], i * 3);
    PT_GROW(list, cap, 5000);
    assert_true(cap >= 5000);
    assert_int_equal(list[999], 2997);
    free(list);
}

static void test_buf(void **state)
{
    (void)state;
    struct pt_buf buf;
    char expected[20000];
    size_t len = 0;
    pt_buf_init(&buf);
    assert_null(buf.text);
    char *nothing = pt_buf_take(&buf);
    assert_string_equal(nothing, "");
    free(nothing);
    for (int i = 0; i < 1500; i++) {
        pt_buf_printf(&buf, "%d-%s;", i, "xy");
        len += (size_t)snprintf(expected + len, sizeof expected - len, "%d-%s;", i, "xy");
    }
    pt_buf_puts(&buf, "end");
    pt_buf_add(&buf, "\0z", 2);
    assert_int_equal(buf.len, len + 5);
    assert_memory_equal(buf.text, expected, len);
    assert_memory_equal(buf.text + len, "end\0z", 6); /* with the closing NUL */
    char *text = pt_buf_take(&buf);
    assert_null(buf.text);
    assert_int_equal(buf.len, 0);
    free(text);
    pt_buf_release(&buf);
}

static void test_err(void **state)
{
    (void)state;
    struct pt_err err;
    char longer[1000];
    memset(&err, 'x', sizeof err);
    assert_int_equal(pt_err_set(&err, PT_ELIMIT, "no %s of %d", "more", 7), PT_ELIMIT);
    assert_int_equal(err.status, PT_ELIMIT);
    assert_string_equal(err.message, "no more of 7");
    assert_string_equal(err.file, "");
    assert_string_equal(err.hint, "");
    assert_string_equal(err.source, "");
    assert_int_equal(err.line, 0);
    assert_int_equal(pt_err_at(&err, PT_EINPUT, "a.trace", 12, 3, "bad %c", 'q'), PT_EINPUT);
    assert_string_equal(err.file, "a.trace");
    assert_int_equal(err.line, 12);
    assert_int_equal(err.column, 3);
    assert_string_equal(err.message, "bad q");
    pt_err_hint(&err, "did you mean '%s'?", "always");
    assert_string_equal(err.hint, "did you mean 'always'?");
    pt_err_source(&err, "a\tb\x01\x1b[0m\x7f\xc3\xa9", 11);
    assert_string_equal(err.source, "a\tb??[0m?\xc3\xa9");
    memset(longer, 'w', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    pt_err_source(&err, longer, sizeof longer - 1);
    assert_int_equal(strlen(err.source), sizeof err.source - 1);
    assert_int_equal(pt_err_at(&err, PT_EIO, longer, 1, 1, "%s", longer), PT_EIO); /* cut, not overrun */
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
}

/* Every code point there and back; its bytes cut short, overlong or with a byte too many are malformed. */
static void test_utf8(void **state)
{
    (void)state;
    char text[4];
    uint32_t point;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        size_t n = pt_utf8_encode(c, text);
        bool surrogate = c >= 0xd800 && c <= 0xdfff;
        assert_int_equal(pt_utf8_decode(text, sizeof text, &point), surrogate ? 0 : n);
        if (!surrogate)
            assert_int_equal(point, c);
        if (n > 1)
            assert_int_equal(pt_utf8_decode(text, n - 1, NULL), 0);
    }
    static const char *const malformed[] = {
        "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80",
        "\xff", "\xc3(",    "\xe2(\xa1"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_int_equal(pt_utf8_decode(malformed[i], strlen(malformed[i]), NULL), 0);
    assert_int_equal(pt_utf8_cut("ab\xe2\x82\xac"
                                 "c",
                                 4),
                     2);
    assert_int_equal(pt_utf8_cut("ab\xe2\x82\xac"
                                 "c",
                                 5),
                     5);
    assert_true(pt_utf8_is_control('\n') && pt_utf8_is_control(0x7f) && pt_utf8_is_control(0x9f));
    assert_false(pt_utf8_is_control(' ') || pt_utf8_is_control(0xa0));
}

static void test_xml(void **state)
{
    (void)state;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_xml_escape(&buf, "<a b=\"\xc3\xa4\">\x01&\n\t\xff\xef\xbf\xbe!");
    assert_string_equal(buf.text, "&lt;a b=&quot;\xc3\xa4&quot;&gt;?&amp;\n\t?"
                                  "?!");
    pt_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strtab), cmocka_unit_test(test_map64),
        cmocka_unit_test(test_arena),  cmocka_unit_test(test_aligned_and_grow),
        cmocka_unit_test(test_buf),    cmocka_unit_test(test_err),
        cmocka_unit_test(test_utf8),   cmocka_unit_test(test_xml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
