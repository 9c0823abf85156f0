/*
 * Memory that has ended, in the runtime: marks against an array of flags, blocks that are kept against a list, stacks
 * and what was unmapped.
 */
#include <string.h>
#include <sys/mman.h>

#include "race_util.h"
#include "runtime/race/life_impl.h"

enum { SIZE = 1 << 14, STEPS = 20000, KEPT = 4096 };

static struct pt_race_self *self;
static unsigned found;
static const char *note;

/* At an address where nothing is. */
#define BASE ((uintptr_t)1 << 40)

static void test_marks(void **state)
{
    static bool flags[SIZE / 8];
    (void)state;
    for (unsigned i = 0; i < STEPS; i++) {
        uintptr_t from = below(SIZE / 8), to = from + below(SIZE / 8 - (unsigned)from + 1);
        bool mark = below(2);
        (mark ? pt_life_mark : pt_life_unmark)(BASE + from * 8, BASE + to * 8);
        memset(flags + from, mark, to - from);
        uintptr_t at = below(SIZE / 8), first = at;
        assert_int_equal(pt_life_is_marked(BASE + at * 8 + 3), flags[at]);
        while (first < SIZE / 8 && !flags[first])
            first++;
        assert_int_equal(pt_life_first_marked(BASE + at * 8, BASE + SIZE), BASE + first * 8);
    }
    pt_life_unmark(BASE, BASE + SIZE);
}

/* Blocks side by side, the oldest given back first, and never more than KEPT bytes. */
static void test_kept(void **state)
{
    uintptr_t first = BASE, next = BASE;
    struct pt_life_end end;
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        size_t size = 16 * (1 + below(20));
        for (uintptr_t old = pt_life_give_back(self, size); old; old = pt_life_give_back(self, size)) {
            assert_int_equal(old, first);
            assert_false(pt_life_is_marked(old));
            while (!pt_life_is_marked(first) && first < next)
                first += 16;
        }
        assert_int_equal(pt_life_keep(self, next, size), PT_LIFE_KEPT);
        assert_int_equal(pt_life_keep(self, next, size), PT_LIFE_KEPT_ALREADY);
        assert_true(pt_life_kept_at(next + size - 1, &end) && end.start == next && end.size == size);
        assert_false(pt_life_kept_at(next + size, &end));
        next += size;
        assert_true(next - first <= KEPT);
    }
    assert_int_equal(pt_life_keep(self, BASE - (1 << 20), KEPT + 16), PT_LIFE_NOT_KEPT);
    assert_int_equal(pt_life_give_back(self, KEPT + 16), 0);
    pt_life_drop(first);
    assert_false(pt_life_kept_block(first, &end));
}

static void test_double_free(void **state)
{
    uintptr_t block = BASE + ((uintptr_t)1 << 30), frame = (uintptr_t)__builtin_frame_address(0);
    (void)state;
    while (pt_life_give_back(self, 128))
        ;
    assert_int_equal(pt_life_free(self, block, frame), PT_LIFE_GOOD);
    assert_int_equal(pt_life_keep(self, block, 128), PT_LIFE_KEPT);
    found = 0;
    assert_int_equal(pt_life_free(self, block, frame), PT_LIFE_AGAIN);
    assert_string_equal(note, "double free");
    assert_int_equal(pt_life_free(self, block + 32, frame), PT_LIFE_WRONG);
    assert_string_equal(note, "invalid free");
    assert_int_equal(pt_life_free(self, block + 1, frame), PT_LIFE_WRONG);
    pt_life_access(self, block + 120, 8, PT_RACE_READ, NULL, frame);
    assert_string_equal(note, "use after free");
    assert_int_equal(found, 4);
    pt_life_access(self, block + 128, 8, PT_RACE_READ, NULL, frame);
    pt_life_access(self, block - 8, 8, PT_RACE_READ, NULL, frame);
    assert_int_equal(found, 4);
    pt_life_access(self, block - 8, 9, PT_RACE_READ, NULL, frame);
    assert_int_equal(found, 5);
}

/* What was unmapped counts while nothing is there: at a low address, because what the runtime itself maps to mark it,
   where the kernel likes, may come to lie in a hole that is left among other mappings. */
static void test_unmapped(void **state)
{
    struct pt_life_end end;
    (void)state;
    void *low = (void *)((uintptr_t)1 << 45); /* above the shadow of AddressSanitizer */
    char *pages = mmap(low, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(pages, low);
    munmap(pages, 8192);
    pt_life_unmapped(self, (uintptr_t)pages, (uintptr_t)pages + 5000);
    assert_true(pt_life_is_marked((uintptr_t)pages + 8000));
    assert_true(pt_life_stopped_at((uintptr_t)pages + 8000, &end) && end.what == PT_LIFE_MAPPING);
    assert_ptr_equal(mmap(pages, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), pages);
    assert_false(pt_life_stopped_at((uintptr_t)pages, &end));
    assert_false(pt_life_is_marked((uintptr_t)pages + 8000));
    munmap(pages, 8192);
}

/* Of those that were released the latest 24 MiB count, and those that were not all. */
static void test_stacks(void **state)
{
    enum { EACH = 8 << 20 };
    (void)state;
    for (uintptr_t i = 0; i < 6; i++) {
        uint32_t own = self->number;
        self->number = (uint32_t)(100 + i);
        pt_life_stack_ends(self, BASE + i * EACH, BASE + (i + 1) * EACH);
        self->number = own;
    }
    for (uint32_t i = 0; i < 5; i++)
        pt_life_stack_released(104 - i);
    for (uintptr_t i = 0; i < 6; i++)
        assert_int_equal(pt_life_is_marked(BASE + i * EACH + 64), i < 3 || i == 5);
    pt_life_stack_begins(BASE + EACH, BASE + 2 * EACH);
    assert_false(pt_life_is_marked(BASE + EACH + 64));
    assert_true(pt_life_is_marked(BASE + 64));
    pt_life_forget_stacks();
    assert_false(pt_life_is_marked(BASE + 64) || pt_life_is_marked(BASE + 5 * EACH + 64));
}

static bool is_new(uint64_t key)
{
    (void)key;
    return true;
}
static void on_found(const struct pt_found *what, uint64_t asked)
{
    assert_true(asked == PT_RACE_CHECK);
    assert_int_equal(what->check, PT_FOUND_LIFETIME);
    found++;
    note = what->note;
}

static int start(void **state)
{
    (void)state;
    pt_race_hooks = (struct pt_race_hooks){.is_new = is_new, .found = on_found};
    pt_race_looks.lives = true;
    if (!pt_race_start() || !pt_life_start(KEPT))
        return -1;
    self = pt_race_begin(0, NULL, NULL);
    return self ? 0 : -1;
}

int main(void)
{
    test_seed = 88172645463325252;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_kept),
                                       cmocka_unit_test(test_double_free), cmocka_unit_test(test_unmapped),
                                       cmocka_unit_test(test_stacks)};
    return cmocka_run_group_tests(tests, start, NULL);
}
