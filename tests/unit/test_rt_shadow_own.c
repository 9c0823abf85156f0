/*
 * Pages that one thread alone uses (shadow/own.h), by threads that run at once: two write pages of their own, which
 * they come to own, and read each other's now and then; a third only reads the first one's. Each value says how many
 * events its writer had had, so that every read can say what its thread must know. The third knows exactly that:
 * nothing else tells it anything.
 */
#include "shadow_model.h"

#include <pthread.h>

#include "core/hooks.h"
#include "runtime/shadow/own.h"

enum { WRITERS = 2, READER = 2, ROUNDS = 20000, WORDS = 512, STAY = 150, MOVED = 100 };

static _Alignas(4096) uint64_t pages[WRITERS][WORDS];
static _Atomic unsigned wrong, owned;
static _Atomic bool over;

static uint64_t known_of(unsigned self, unsigned thread)
{
    uint64_t count = vector_of(model_threads[self].self.clock.id).count[thread];
    return count ? count - MODEL_BEFORE : 0;
}

/* What is there was written by `of`, at that event. */
static uint64_t look(unsigned self, unsigned of, unsigned at)
{
    uint64_t value = __portent_load8(&pages[of][at], NULL);
    if (known_of(self, of) < value)
        wrong++;
    return value;
}

/* However often others come, it may become its own again. */
static void allow(unsigned page)
{
    pt_shadow_word *word = pt_shadow_peek((uintptr_t)pages[page]);
    if (word)
        atomic_fetch_and(pt_own_cell_of(word), (1u << PT_OWN_TIMES_AT) - 1);
}

static bool owns(unsigned self)
{
    pt_shadow_word *word = pt_shadow_peek((uintptr_t)pages[self]);
    return word && (atomic_load(pt_own_cell_of(word)) & PT_OWN_NUMBER) == model_threads[self].self.clock.slot + 1;
}

static void *write_pages(void *number)
{
    unsigned self = (unsigned)(uintptr_t)number, seed = self + 1;
    struct pt_shadow_self *thread = model_play(self);
    uint64_t moved[MOVED];
    for (unsigned round = 0; round < ROUNDS; round++) {
        pt_enter(thread);
        pt_shadow_tick(thread);
        pt_leave(thread);
        uint64_t events = thread->clock.events - MODEL_BEFORE;
        for (unsigned i = 0; i < STAY; i++) {
            unsigned at = random_below(&seed, WORDS);
            if (i % 3 == 0)
                look(self, self, at);
            else
                __portent_store8(&pages[self][at], events, NULL);
        }
        for (unsigned i = 0; i < MOVED; i++)
            moved[i] = events;
        __portent_memmove(&pages[self][round % (WORDS - MOVED)], moved, sizeof moved, NULL, NULL);
        owned += owns(self);
        allow(self);
        if (random_below(&seed, 20) == 0)
            look(self, 1 - self, random_below(&seed, WORDS));
    }
    over = true;
    return NULL;
}

static void *read_pages(void *unused)
{
    unsigned seed = 99;
    uint64_t most = 0;
    model_play(READER);
    while (!over) {
        uint64_t value = look(READER, 0, random_below(&seed, WORDS));
        most = value > most ? value : most;
        if (known_of(READER, 0) != most)
            wrong++;
        pt_sys_sleep(200000);
    }
    return unused;
}

static void test_others_learn_what_the_owner_knew(void **state)
{
    (void)state;
    pthread_t threads[WRITERS + 1];
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_pages, (void *)i);
    pthread_create(&threads[READER], NULL, read_pages, NULL);
    for (unsigned i = 0; i <= READER; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_true(owned > ROUNDS / 20);
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        pt_own_end_all(model_play(i));
    assert_int_equal(pt_own_pages, 0);
}

/* From then on a thread that comes could not have the page. */
static void test_none_are_owned_where_there_are_no_calls(void **state)
{
    (void)state;
    struct pt_shadow_self *thread = model_play(3);
    pt_shadow_word *word = pt_shadow_word_of((uintptr_t)model_memory);
    for (unsigned i = 0; i < 40; i++)
        model_tick(3);
    __portent_store8(model_memory, 1, NULL);
    pt_own_take(thread, word, (uintptr_t)model_memory);
    assert_int_equal(pt_own_pages, 1);
    model_play(4);
    pt_own_stop();
    assert_int_equal(pt_own_pages, 0);
    assert_false(atomic_load(word) & PT_SHADOW_LOCKED);
    pt_own_take(model_play(3), word, (uintptr_t)model_memory);
    assert_int_equal(pt_own_pages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_others_learn_what_the_owner_knew, model_forget),
        cmocka_unit_test_setup(test_none_are_owned_where_there_are_no_calls, model_forget),
    };
    return cmocka_run_group_tests(tests, model_start, NULL);
}
