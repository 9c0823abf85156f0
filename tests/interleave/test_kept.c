/*
 * A granule that one thread keeps (kept.h): its accesses without a lock, against another thread that comes to it, which
 * has the page opened first.
 */
#include "shadow_threads.h"

#include "runtime/shadow/granule.h"
#include "runtime/shadow/kept.h"

static pt_shadow_word *word(void)
{
    return pt_shadow_peek((uintptr_t)VARIABLE);
}

static int keep(void)
{
    play(0);
    for (unsigned i = 0; i < 20 * PT_KEPT_TURN && !(*word() & PT_SHADOW_KEPT); i++) {
        tick();
        store();
    }
    assert_true(*word() & PT_SHADOW_KEPT);
    forget_accesses();
    return 0;
}

/* The keeper has a ring of clocks by then, and the other thread knows what it has done. */
static int start_kept(void **state)
{
    return start(state) == 0 ? keep() : -1;
}

#ifndef PT_SEEDED
/* The keeper alone has had events: clocks are rungs. The other thread knows of all of them but the last. */
static int start_rungs(void **state)
{
    (void)state;
    if (start_without_events() != 0)
        return -1;
    pt_clock_ladder_start();
    int kept = keep();
    pt_shadow_take(&threads[1], threads[0].clock.id);
    tick(); /* so that its next access changes the word */
    assert_true(pt_clock_is_rung(threads[0].clock.id) && pt_clock_only_rungs());
    return kept;
}

/* ... and the granule has a record. */
static int start_record(void **state)
{
    if (start_rungs(state) != 0)
        return -1;
    __portent_load2(VARIABLE, NULL);
    assert_int_equal(*word() & PT_SHADOW_STATE, PT_SHADOW_FINE | PT_SHADOW_KEPT);
    tick();
    return 0;
}

/* The other thread has the keeper's clock: its next read is a known one, of a granule that it does not keep. */
static int start_known(void **state)
{
    if (start_kept(state) != 0)
        return -1;
    threads[1].clock.events = 0;
    pt_shadow_take(&threads[1], threads[0].clock.id);
    pt_shadow_set_clock(&threads[1], threads[0].clock.id);
    pt_clock_acquire(threads[0].clock.id, 1);
    return 0;
}
#endif

static uint64_t first;
static void reset_first(void)
{
    *VARIABLE = first;
}

static void explore_with(void (*a)(void), void (*b)(void), bool direct)
{
    first = *VARIABLE;
    expect(pt_interleave(&(struct pt_interleave){
        .threads = 2, .body = {a, b}, .begin = reset_first, .enter = play, .check = check, .direct = direct}));
}

/* With store buffers, what is short. */
static void explore_kept(void (*a)(void), void (*b)(void))
{
    explore_with(a, b, false);
}

/* No more than a lock, and a read or a write under it. */
static void look(void)
{
    unsigned thread = current;
    uint64_t seen = pt_granule_lock(word()), value;
    pt_granule_before_read(pt_self, seen, 0xff);
    value = __atomic_load_n(VARIABLE, __ATOMIC_RELAXED);
    if (known_of(&threads[thread], (unsigned)(value >> 32)) < (uint32_t)value)
        pt_interleave_fault("a read does not know of the write that it saw");
    pt_granule_end(pt_self, word(), seen, (uintptr_t)VARIABLE, 0xff, false);
}

static void tick_and_store(void)
{
    tick();
    store();
}

static void test_the_keeper_writes_and_another_reads(void **state)
{
    (void)state;
    explore_kept(tick_and_store, look);
}

#ifndef PT_SEEDED
/* The page is thread 0's, and this granule is not kept: a piece of memory there keeps it. */
static int start_beside(void **state)
{
    if (start_kept(state) != 0)
        return -1;
    pt_kept_open(word());
    assert_false(*word() & PT_SHADOW_KEPT);
    assert_int_equal(*pt_kept_cell_of((uintptr_t)VARIABLE) & PT_KEPT_BY, threads[0].keeper);
    return 0;
}

static void tick_and_fill(void)
{
    struct pt_locked_range range;
    tick();
    uint64_t value = (uint64_t)current << 32 | pt_self->clock.events;
    pt_enter(pt_self);
    bool kept = pt_kept_begin_piece(pt_self, (uintptr_t)VARIABLE, 8, true, &range);
    if (kept) {
        __atomic_store_n(VARIABLE, value, __ATOMIC_RELEASE);
        note(true, value);
        pt_kept_end_piece(pt_self, &range, true);
    }
    pt_leave(pt_self);
    if (!kept)
        store();
}

static void test_a_piece_keeps_and_another_reads(void **state)
{
    (void)state;
    explore_kept(tick_and_fill, look);
}

static void change(void)
{
    uint64_t seen = pt_granule_lock(word()), value = (uint64_t)current << 32 | pt_self->clock.events;
    pt_granule_before_write(pt_self, seen, 0xff);
    __atomic_store_n(VARIABLE, value, __ATOMIC_RELEASE);
    note(true, value);
    pt_granule_end(pt_self, word(), seen, (uintptr_t)VARIABLE, 0xff, true);
}

static void tick_and_load(void)
{
    tick();
    load();
}

static void load_part(void)
{
    tick();
    __portent_atomic_load2((uint16_t *)VARIABLE + 3, __ATOMIC_ACQUIRE, NULL);
}

/* The part of the value that says which of two it is: what was there first, or what another thread writes. */
static void load_first_part(void)
{
    uint16_t part = __portent_atomic_load2(VARIABLE, __ATOMIC_ACQUIRE, NULL);
    note(false, part == (uint16_t)first ? first : UINT64_C(1) << 32);
}

static void test_rungs_are_put_and_another_reads(void **state)
{
    (void)state;
    explore_with(store, look, true);
}

static void test_rungs_are_put_and_another_writes(void **state)
{
    (void)state;
    explore_with(load, change, true);
}

static void test_rungs_are_put_and_another_may_know(void **state)
{
    (void)state;
    assert_int_equal(pt_shadow_access(*word()), threads[1].clock.id);
    explore_with(store, load, true);
}

static void test_rungs_are_put_into_a_record(void **state)
{
    (void)state;
    assert_true((uint16_t)*VARIABLE);
    explore_with(load_first_part, change, true);
}

static void test_the_keeper_reads_and_another_writes(void **state)
{
    (void)state;
    explore_with(tick_and_load, change, true);
}

static void test_a_piece_keeps_and_another_writes(void **state)
{
    (void)state;
    explore_with(tick_and_fill, change, true);
}

static void test_both_write(void **state)
{
    (void)state;
    explore_with(tick_and_store, tick_and_store, true);
}

static void test_a_record_of_a_kept_granule(void **state)
{
    (void)state;
    explore_with(load_part, look, true);
}

static void test_a_known_read_of_what_another_keeps(void **state)
{
    (void)state;
    assert_int_equal(pt_shadow_access(*word()), threads[1].clock.id);
    explore_kept(tick_and_store, load);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_keeper_writes_and_another_reads, start_kept),
#ifndef PT_SEEDED
        cmocka_unit_test_setup(test_the_keeper_reads_and_another_writes, start_kept),
        cmocka_unit_test_setup(test_both_write, start_kept),
        cmocka_unit_test_setup(test_a_piece_keeps_and_another_reads, start_beside),
        cmocka_unit_test_setup(test_a_piece_keeps_and_another_writes, start_beside),
        cmocka_unit_test_setup(test_a_record_of_a_kept_granule, start_kept),
        cmocka_unit_test_setup(test_a_known_read_of_what_another_keeps, start_known),
        cmocka_unit_test_setup(test_rungs_are_put_and_another_reads, start_rungs),
        cmocka_unit_test_setup(test_rungs_are_put_and_another_writes, start_rungs),
        cmocka_unit_test_setup(test_rungs_are_put_and_another_may_know, start_rungs),
        cmocka_unit_test_setup(test_rungs_are_put_into_a_record, start_record),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
