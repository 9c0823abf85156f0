/* The memory of levels that many workers make: lent in one piece, and taken over by a part that needs more. */
#include <string.h>

#include "trace_util.h"

#include "engine/analysis_impl.h"
#include "engine/lattice_impl.h"
#include "logic/lang/property.h"

static uint64_t key_of(uint32_t part, uint32_t cut)
{
    return (uint64_t)part << 32 | cut;
}

static void fill(struct lat_level *level, uint32_t parts)
{
    for (uint32_t p = 0; p < parts; p++) {
        struct lat_part *part = &level->parts[p];
        for (uint32_t i = 0; i < part->cap; i++) {
            part->keys[i] = key_of(p, i);
            part->runs[i] = ~key_of(p, i);
            part->letters[i] = 3 * i + p;
            part->sets[i] = 5 * i + p;
        }
    }
}

static void check(const struct lat_level *level, uint32_t parts, uint32_t upto)
{
    for (uint32_t p = 0; p < parts; p++) {
        const struct lat_part *part = &level->parts[p];
        assert_true(part->cap >= upto);
        for (uint32_t i = 0; i < upto; i++)
            assert_true(part->keys[i] == key_of(p, i) && part->runs[i] == ~key_of(p, i) &&
                        part->letters[i] == 3 * i + p && part->sets[i] == 5 * i + p);
    }
}

static void reserve_and_grow(struct pt_lattice *l, uint32_t parts, uint32_t each)
{
    size_t before = l->bytes;
    struct lat_level *level = lat_level_new(parts);
    for (uint32_t round = 0; round < 3; round++) { /* more, and then less, in the same memory */
        uint32_t room = round == 1 ? 3 * each : each;
        lat_level_reserve(l, level, parts, room);
        uint32_t cap = level->parts[0].cap;
        assert_true(cap >= room && level->reserved >= room && level->reserved_parts == parts);
        fill(level, parts);
        check(level, parts, cap);
        lat_part_reserve(l, &level->parts[parts / 2], 1, cap + 1); /* one has more cuts than the others */
        assert_true(level->parts[parts / 2].cap > cap);
        check(level, parts, cap);
        size_t bytes = 0;
        for (uint32_t p = 0; p < parts; p++)
            bytes += (size_t)level->parts[p].cap * (2 * sizeof(uint64_t) + sizeof(pt_letter) + sizeof(pt_set));
        assert_int_equal(l->bytes - before, bytes);
    }
    lat_level_free(l, level);
    assert_int_equal(l->bytes, before);
}

static void test_lent_memory(void **state)
{
    (void)state;
    static const char text[] = "property p: x < 9;";
    struct pt_names names;
    struct pt_err err;
    struct pt_monitor *monitor;
    struct pt_properties *props = pt_properties_new();
    struct pt_analysis_options options = {.window = PT_ALL, .lookahead = PT_ALL, .jobs = 1, .trace = "t"};
    pt_names_init(&names);
    assert_int_equal(pt_properties_add(props, "t.prop", text, strlen(text), NULL, NULL, &err), PT_OK);
    assert_int_equal(pt_monitor_new(&props->items[0], 1000, &monitor, &err), PT_OK);
    struct pt_analysis_input input = {.property = &props->items[0], .monitor = monitor};
    struct pt_analysis *analysis = pt_analysis_new(&names, &input, 1, &options);
    reserve_and_grow(analysis->watched[0].lattice, 1, 1);
    reserve_and_grow(analysis->watched[0].lattice, 7, 511);
    reserve_and_grow(analysis->watched[0].lattice, 128, 3000); /* of large pages, where there are */
    pt_analysis_free(analysis);
    pt_monitor_free(monitor);
    pt_properties_free(props);
    pt_names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lent_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
