/* The shadow word: threads that lock it by fast and slow paths at the same time. */
#include "runtime/shadow/fast.h"
#include "shadow_threads.h"

static void load_twice(void)
{
    load();
    tick();
    load();
}
static void store_twice(void)
{
    store();
    tick();
    store();
}
static void load_store(void)
{
    load();
    store();
}

/* The lock alone: what it protects, which is no atomic, is changed by one at a time. */
static unsigned changes[THREADS];

static void change(void)
{
    unsigned seen[THREADS];
    memcpy(seen, changes, sizeof seen);
    seen[current]++;
    memcpy(changes, seen, sizeof seen);
}

static void lock_and_change(void)
{
    pt_shadow_word *word = pt_shadow_peek((uintptr_t)VARIABLE);
    uint64_t seen = pt_granule_lock(word);
    change();
    pt_granule_unlock(word, seen);
}

static void lock_fast_and_change(void)
{
    pt_shadow_word *word = pt_shadow_peek((uintptr_t)VARIABLE);
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    bool locked = !(seen & PT_SHADOW_LOCKED) && pt_fast_lock(pt_self, word, seen);
    if (locked) {
        change();
        pt_granule_unlock(word, seen);
    }
    pt_fast_leave(pt_self);
    if (!locked)
        lock_and_change();
}

static const char *check_changes(void)
{
    for (unsigned i = 0; i < 2; i++)
        if (changes[i] != 1)
            return "a change is lost";
    return *pt_shadow_peek((uintptr_t)VARIABLE) & PT_SHADOW_LOCKED ? "the granule is locked" : NULL;
}

static void explore_changes(void (*a)(void), void (*b)(void))
{
    memset(changes, 0, sizeof changes);
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {a, b}, .enter = play, .check = check_changes}));
}

static void test_two_locks(void **state)
{
    (void)state;
    explore_changes(lock_and_change, lock_and_change);
}
static void test_a_lock_and_a_fast_one(void **state)
{
    (void)state;
    explore_changes(lock_and_change, lock_fast_and_change);
}

static void test_two_writers(void **state)
{
    (void)state;
    explore(2, store, store, NULL);
}
static void test_writer_and_reader(void **state)
{
    (void)state;
    explore(2, store, load_twice, NULL);
}
static void test_passed_clocks(void **state)
{
    (void)state;
    explore(2, store_twice, load, NULL);
}
static void test_read_then_write(void **state)
{
    (void)state;
    explore(2, load_store, load, NULL);
}
static void test_two_writers_and_a_reader(void **state)
{
    (void)state;
    explore(3, store, store, load);
}
static void test_a_writer_and_two_readers(void **state)
{
    (void)state;
    explore(3, store, load, load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_two_locks, start),
        cmocka_unit_test_setup(test_a_lock_and_a_fast_one, start),
        cmocka_unit_test_setup(test_two_writers, start),
        cmocka_unit_test_setup(test_writer_and_reader, start),
        cmocka_unit_test_setup(test_passed_clocks, start),
        cmocka_unit_test_setup(test_read_then_write, start),
        cmocka_unit_test_setup(test_two_writers_and_a_reader, start),
        cmocka_unit_test_setup(test_a_writer_and_two_readers, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
