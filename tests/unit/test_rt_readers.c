/* Variables that many threads read and few write: readings, alone with the layers below, against plain vectors. */
#include "shadow_model.h"

#include "core/hooks.h"

enum { STEPS = 60000, AT = 16 };

static uint64_t word_now(void)
{
    return atomic_load(pt_shadow_peek((uintptr_t)model_memory + AT));
}

/* The threads that have a reading of the variable, by bit. */
static uint64_t readers_now(void)
{
    return word_now() & PT_SHADOW_FINE ? pt_fines[pt_shadow_access(word_now())].readers : 0;
}

static void read_it(unsigned thread)
{
    model_play(thread);
    (void)__portent_load4(model_memory + AT, NULL);
    model_read(thread, AT, 4);
    model_check(thread);
}

static void write_it(unsigned thread)
{
    model_play(thread);
    __portent_store4(model_memory + AT, thread, NULL);
    model_write(thread, AT, 4);
    model_check(thread);
    assert_int_equal(readers_now(), 0);
}

/* Readers whose clocks grow, none of which has heard of the others. */
static void make_readings(void)
{
    write_it(0);
    for (unsigned i = 0; i < 40; i++) {
        unsigned thread = 1 + i % (MODEL_THREADS - 1);
        model_tick(thread);
        read_it(thread);
    }
}

static void test_readers_get_readings(void **state)
{
    (void)state;
    make_readings();
    assert_int_equal(readers_now(), 0x1e);
    uint64_t before = word_now();
    for (unsigned i = 0; i < 100; i++) { /* and the word is then left alone */
        model_tick(1 + i % 4);
        read_it(1 + i % 4);
    }
    assert_int_equal(word_now(), before);
}

/* The writer hears of every read, and a later reader of nothing but the write. */
static void test_a_write_collects_them(void **state)
{
    (void)state;
    make_readings();
    write_it(0);
    for (unsigned i = 1; i < MODEL_THREADS; i++)
        assert_int_equal(model_threads[0].clock.count[i], model_threads[i].clock.count[i]);
    read_it(1);
}

/* A thread that ends leaves its last read behind, in the record. */
static void test_the_end_of_a_reader(void **state)
{
    (void)state;
    make_readings();
    uint32_t reads = model_threads[3].clock.count[3];
    pt_readers_end(model_play(3));
    assert_int_equal(readers_now(), 0x16);
    write_it(0);
    assert_int_equal(vector_of(model_threads[0].self.clock.id).count[3], reads);
}

/* A variable's memory is given back: nothing of its readers stays, and they may read there again. */
static void test_the_end_of_the_variable(void **state)
{
    (void)state;
    make_readings();
    model_forget(state);
    assert_int_equal(word_now(), 0);
    uint32_t heard = model_threads[0].clock.count[2];
    model_tick(2);
    write_it(0);
    assert_int_equal(model_threads[0].clock.count[2], heard);
    read_it(2);
}

static void test_reads_and_rare_writes(void **state)
{
    (void)state;
    unsigned seed = 5, with_readings = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned thread = random_below(&seed, MODEL_THREADS);
        if (random_below(&seed, 3) == 0)
            model_tick(thread);
        if (random_below(&seed, 60) == 0)
            write_it(thread);
        else
            read_it(thread);
        with_readings += readers_now() != 0;
    }
    assert_true(with_readings > STEPS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_readers_get_readings, model_forget),
        cmocka_unit_test_setup(test_a_write_collects_them, model_forget),
        cmocka_unit_test_setup(test_the_end_of_a_reader, model_forget),
        cmocka_unit_test_setup(test_the_end_of_the_variable, model_forget),
        cmocka_unit_test_setup(test_reads_and_rare_writes, model_forget),
    };
    return cmocka_run_group_tests(tests, model_start, NULL);
}
