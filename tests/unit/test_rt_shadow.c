/* Shadow memory and the hooks of accesses, alone with the layers below, against algorithm A with plain vectors. */
#include "shadow_model.h"

#include "core/hooks.h"
#include "runtime/shadow/granule.h"
#include "runtime/shadow/kept.h"

enum { STEPS = 120000 };

static unsigned char expected[MODEL_BYTES];

/* --- the word --- */

static void test_a_word_has_what_was_packed(void **state)
{
    (void)state;
    pt_clock_id most = (1u << PT_CLOCK_BITS) - 1;
    uint64_t word = pt_shadow_pack(most, 0, 0);
    assert_int_equal(pt_shadow_access(word), most);
    assert_int_equal(pt_shadow_write(word), 0);
    assert_int_equal(pt_shadow_bytes(word), 0);
    word = pt_shadow_pack(0, most, 0);
    assert_int_equal(pt_shadow_access(word), 0);
    assert_int_equal(pt_shadow_write(word), most);
    assert_int_equal(pt_shadow_bytes(word), 0);
    word = pt_shadow_pack(5, 4, 0xff);
    assert_int_equal(pt_shadow_bytes(word), 0xff);
    assert_int_equal(pt_shadow_pack(most, most, 0xff) & PT_SHADOW_STATE, 0);
    assert_int_equal(pt_bytes_at(0x1003, 2), 0x18);
    assert_int_equal(pt_bytes_at(0x1000, 8), 0xff);
}

static void test_a_granule_is_locked_once(void **state)
{
    (void)state;
    pt_shadow_word word = pt_shadow_pack(7, 6, 1);
    assert_int_equal(pt_granule_lock(&word), pt_shadow_pack(7, 6, 1));
    assert_true(atomic_load(&word) & PT_SHADOW_LOCKED);
    pt_granule_unlock(&word, pt_shadow_pack(9, 9, 1));
    assert_int_equal(pt_granule_lock(&word), pt_shadow_pack(9, 9, 1));
    pt_granule_unlock(&word, 0);
}

/* --- accesses --- */

static void load(unsigned thread, unsigned at, unsigned size)
{
    const void *address = model_memory + at;
    uint64_t value = size == 1   ? __portent_load1(address, NULL)
                     : size == 2 ? __portent_load2(address, NULL)
                     : size == 4 ? __portent_load4(address, NULL)
                                 : __portent_load8(address, NULL);
    assert_memory_equal(&value, expected + at, size);
    model_read(thread, at, size);
}

static void store(unsigned thread, unsigned at, unsigned size, uint64_t value)
{
    void *address = model_memory + at;
    if (size == 1)
        __portent_store1(address, (uint8_t)value, NULL);
    else if (size == 2)
        __portent_store2(address, (uint16_t)value, NULL);
    else if (size == 4)
        __portent_store4(address, (uint32_t)value, NULL);
    else
        __portent_store8(address, value, NULL);
    memcpy(expected + at, &value, size);
    model_write(thread, at, size);
}

static void update(unsigned thread, unsigned at, uint32_t operand)
{
    uint32_t before;
    at &= ~3u;
    memcpy(&before, expected + at, sizeof before);
    assert_int_equal(__portent_atomic_rmw4(model_memory + at, operand, PT_RMW_ADD, __ATOMIC_SEQ_CST, NULL), before);
    before += operand;
    memcpy(expected + at, &before, sizeof before);
    model_write(thread, at, sizeof before);
}

/* Every other one finds what it expects, and is a write; the others are reads. */
static void exchange(unsigned thread, unsigned at, uint32_t desired)
{
    uint32_t before, guess;
    at &= ~3u;
    memcpy(&before, expected + at, sizeof before);
    guess = desired & 1 ? before : ~before;
    uint32_t old = __portent_atomic_cas4(model_memory + at, guess, desired, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, NULL);
    assert_int_equal(old, before);
    if (guess != before) {
        model_read(thread, at, sizeof before);
        return;
    }
    memcpy(expected + at, &desired, sizeof desired);
    model_write(thread, at, sizeof desired);
}

static void fill(unsigned thread, unsigned at, unsigned size, unsigned char byte)
{
    __portent_memset(model_memory + at, byte, size, NULL);
    memset(expected + at, byte, size);
    model_write(thread, at, size);
}

static void copy(unsigned thread, unsigned to, unsigned from, unsigned size)
{
    __portent_memmove(model_memory + to, model_memory + from, size, NULL, NULL);
    memmove(expected + to, expected + from, size);
    model_read(thread, from, size);
    model_write(thread, to, size);
}

static void forget(unsigned thread, unsigned from, unsigned size)
{
    uintptr_t address = (uintptr_t)model_memory + from;
    pt_shadow_clear(model_play(thread), address, address + size, false);
    memset(&model_bytes[from], 0, size * sizeof *model_bytes);
}

static void step(unsigned *seed, unsigned thread)
{
    unsigned what = random_below(seed, 1000), size = 1u << random_below(seed, 4);
    unsigned at = random_below(seed, MODEL_BYTES - 8 + 1), range = 1 + random_below(seed, 40);
    if (what < 700) /* mostly as programs do: aligned, and a few variables */
        at = at / 8 * 8 % 40 + (what & 1 ? 4 : 0), size = what & 1 ? 4 : 8;
    if (at + range > MODEL_BYTES)
        range = MODEL_BYTES - at;
    if (what < 450 || (what >= 700 && what < 800))
        load(thread, at, size);
    else if (what < 880)
        store(thread, at, size, *seed);
    else if (what < 910)
        update(thread, at, *seed);
    else if (what < 940)
        exchange(thread, at, *seed >> 3);
    else if (what < 960)
        fill(thread, at, range, (unsigned char)*seed);
    else if (what < 985)
        copy(thread, at, random_below(seed, MODEL_BYTES - range + 1), range);
    else
        forget(thread, at, range);
}

/* As if records were many, so that fast paths pack granules, or no longer so. */
static void pretend_many(bool many)
{
    static bool were;
    if (many != were)
        atomic_fetch_add(&pt_fines_out, many ? PT_FINE_MANY + 1u : -(PT_FINE_MANY + 1u));
    were = many;
}

static void test_accesses_follow_algorithm_a(void **state)
{
    (void)state;
    unsigned seed = 20, thread = 0;
    memcpy(expected, model_memory, sizeof expected);
    for (unsigned i = 0; i < STEPS; i++) {
        pretend_many(i / 1000 % 2);
        if (random_below(&seed, 4) == 0)
            thread = random_below(&seed, MODEL_THREADS);
        model_play(thread);
        if (random_below(&seed, 12) == 0)
            model_tick(thread);
        step(&seed, thread);
        model_check(thread);
        assert_memory_equal(model_memory, expected, sizeof expected);
    }
    pretend_many(false);
}

/* Every byte's clocks are those of the model. */
static void check_bytes(void)
{
    for (unsigned i = 0; i < MODEL_BYTES; i++) {
        uint64_t word = atomic_load(pt_shadow_peek((uintptr_t)model_memory + i));
        const struct pt_fine *fine = word & PT_SHADOW_FINE ? &pt_fines[pt_shadow_access(word)] : NULL;
        bool known = fine || pt_shadow_bytes(word) >> i % 8 & 1;
        pt_clock_id access = fine ? fine->access[i % 8] : pt_shadow_access(word);
        struct vector found = vector_of(known ? access : 0), read = model_bytes[i].access, write = model_bytes[i].write;
        if (!fine || !fine->readers) /* what these have is not there yet */
            assert_memory_equal(&found, &read, sizeof found);
        found = vector_of(known ? fine ? fine->write[i % 8] : pt_shadow_write(word) : 0);
        assert_memory_equal(&found, &write, sizeof found);
    }
}

static void keep_again(void);

/* A variable that no other step touches, as a lock would be. */
static void take_turn(unsigned thread)
{
    static uint64_t turn;
    static struct vector taken;
    __portent_atomic_rmw8(&turn, 1, PT_RMW_ADD, __ATOMIC_SEQ_CST, NULL);
    vector_join(&model_threads[thread].clock, &taken);
    taken = model_threads[thread].clock;
}

/* Accesses of any kind by threads that take turns, each for a while so that they keep pages. `ordered`: each event is
 * made with a variable that the last one was made with, too, so that it knows of all of them. */
static void play_around(unsigned *seed, unsigned steps, bool ordered)
{
    unsigned thread = 0;
    for (unsigned i = 0; i < steps; i++) {
        if (random_below(seed, i / 4000 % 2 ? 4 : 150) == 0)
            thread = random_below(seed, MODEL_THREADS);
        model_play(thread);
        pretend_many(i / 1000 % 2);
        if (random_below(seed, 12) == 0) {
            if (ordered)
                take_turn(thread);
            model_tick(thread);
            if (ordered)
                take_turn(thread);
        }
        step(seed, thread);
        model_check(thread);
        assert_memory_equal(model_memory, expected, sizeof expected);
        if (i % 50 == 0)
            check_bytes();
        if (i % 20 == 0)
            keep_again();
        assert_true(!ordered || !model_threads[thread].self.clock.id ||
                    pt_clock_is_rung(model_threads[thread].self.clock.id));
    }
    pretend_many(false);
}

static unsigned kept_granules(void)
{
    unsigned kept = 0;
    for (unsigned at = 0; at < MODEL_BYTES; at += 8)
        kept += (atomic_load(pt_shadow_peek((uintptr_t)model_memory + at)) & PT_SHADOW_KEPT) != 0;
    return kept;
}

static uint64_t word_at(unsigned at)
{
    return atomic_load(pt_shadow_peek((uintptr_t)model_memory + at));
}

static void tick_in_order(unsigned thread)
{
    model_play(thread);
    take_turn(thread);
    model_tick(thread);
    take_turn(thread);
}

static void store_all(unsigned thread)
{
    for (unsigned at = 0; at < MODEL_BYTES; at += 8)
        store(thread, at, 8, at);
}

/* A keeper ends lives as far as nobody else has locked a granule. */
static void check_forgetting(struct pt_shadow_self *self)
{
    uintptr_t from = (uintptr_t)model_memory;
    pt_shadow_word *other = pt_shadow_peek(from + 16);
    pt_kept_open(other);
    uint64_t seen = pt_granule_lock(other);
    assert_int_equal(pt_kept_forget(self, pt_shadow_peek(from), from, from + MODEL_BYTES), from + 16);
    assert_int_equal(atomic_load(other), seen | PT_SHADOW_LOCKED);
    pt_granule_unlock(other, seen);
    memset(model_bytes, 0, 16 * sizeof *model_bytes);
    check_bytes();
}

/* The short ways of a keeper, one by one: where records are many one goes when its bytes agree, and of a granule that
 * is kept in part there may be something to learn. */
static void check_short_ways(void)
{
    struct pt_shadow_self *self = &model_threads[0].self;
    for (unsigned i = 0; i < 100 && kept_granules() < MODEL_BYTES / 8; i++) {
        tick_in_order(0);
        keep_again();
        store_all(0);
    }
    assert_int_equal(kept_granules(), MODEL_BYTES / 8);
    check_forgetting(self);
    pretend_many(true);
    tick_in_order(0);
    load(0, 24, 4);
    assert_int_equal(word_at(24) & PT_SHADOW_STATE, PT_SHADOW_KEPT | PT_SHADOW_FINE);
    load(0, 28, 4);
    assert_int_equal(word_at(24) & PT_SHADOW_STATE, PT_SHADOW_KEPT);
    pretend_many(false);
    store_all(0);
    tick_in_order(0);
    tick_in_order(1);
    store(1, 36, 4, 1);
    assert_int_equal(kept_granules(), 0);
    keep_again();
    model_play(0);
    self->kept_turn = PT_KEPT_TURN - 1; /* looks for a page that it could keep at its next access */
    store(0, 40, 8, 1);
    store(0, 32, 4, 1);
    assert_int_equal(word_at(32) & PT_SHADOW_STATE, PT_SHADOW_KEPT | PT_SHADOW_FINE);
    load(0, 36, 4);
    model_check(0);
    check_bytes();
}

/* Nobody keeps it. Its life ends under a thread that is to know what was written there, or is not. */
static void check_ends_of_rungs(void)
{
    static uint64_t memory;
    uintptr_t from = (uintptr_t)&memory;
    for (unsigned keep = 0; keep < 2; keep++) {
        tick_in_order(0);
        __portent_store8(&memory, keep, NULL);
        pt_shadow_word *word = pt_shadow_peek(from);
        struct pt_shadow_self *other = model_play(1);
        assert_int_equal(atomic_load(word) & PT_SHADOW_STATE, 0);
        assert_true(pt_clock_only_rungs() && other->clock.id < pt_shadow_write(atomic_load(word)));
        assert_true(pt_shadow_clear(other, from, from + 8, keep));
        assert_int_equal(atomic_load(word), 0);
        if (keep)
            vector_join(&model_threads[1].clock, &model_threads[0].clock);
        model_check(1);
    }
}

/* The same where clocks have references: they come back. */
static void check_references(unsigned thread)
{
    static uint64_t memory;
    uintptr_t from = (uintptr_t)&memory;
    struct pt_shadow_self *self = model_play(thread);
    assert_false(pt_clock_is_rung(self->clock.id));
    __portent_store8(&memory, 1, NULL);
    int64_t credit = self->clock.credit;
    assert_true(pt_shadow_clear(self, from, from + 8, false));
    assert_int_equal(self->clock.credit, credit + 2);
}

/* While all events are in one order clocks are numbers of rungs; after the first that is not, they are both. */
static void test_rungs_follow_algorithm_a(void **state)
{
    (void)state;
    unsigned seed = 33;
    memcpy(expected, model_memory, sizeof expected);
    pt_clock_ladder_start();
    play_around(&seed, STEPS, true);
    check_short_ways();
    check_ends_of_rungs();
    model_play(0);
    model_tick(0);
    model_tick(1); /* which does not know of that */
    check_references(1);
    play_around(&seed, STEPS / 2, false);
    check_bytes();
    model_forget(state);
    uint32_t records = 0; /* all are with threads again */
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        records += model_threads[i].self.fines.count;
    assert_int_equal(records, atomic_load(&pt_fines_out));
}

/* --- pages that a thread keeps --- */

/* What the page and its threads have come to decide for good is forgotten, so that it goes on. */
static void keep_again(void)
{
    atomic_fetch_and(pt_kept_cell_of((uintptr_t)model_memory), (uint32_t)PT_KEPT_BY);
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        model_threads[i].self.never_keeps = false;
        atomic_store(&model_threads[i].self.keeping, UINT32_C(1) << 31); /* so many uses that they were worth it */
    }
}

/* Each plays for long enough to keep the granules, in plain and in fine form, alone and in pieces; then another comes.
 */
static void test_kept_pages_follow_algorithm_a(void **state)
{
    (void)state;
    unsigned seed = 7, thread = 0, kept = 0, fine = 0, opened = 0, before = 0;
    memcpy(expected, model_memory, sizeof expected);
    for (unsigned i = 0; i < STEPS; i++) {
        if (random_below(&seed, 150) == 0)
            thread = random_below(&seed, MODEL_THREADS);
        unsigned now = random_below(&seed, 300) == 0 ? random_below(&seed, MODEL_THREADS) : thread;
        model_play(now);
        if (random_below(&seed, 5) == 0)
            model_tick(now);
        step(&seed, now);
        model_check(now);
        assert_memory_equal(model_memory, expected, sizeof expected);
        unsigned granules = kept_granules();
        kept += granules > 0;
        fine += (atomic_load(pt_shadow_peek((uintptr_t)model_memory)) & PT_SHADOW_STATE) ==
                (PT_SHADOW_KEPT | PT_SHADOW_FINE);
        opened += before > 3 && !granules;
        before = granules;
        keep_again();
    }
    assert_true(kept > STEPS / 2 && fine > STEPS / 20 && opened > 100);
}

/* Pages on which nobody has been are a thread's as soon as it fills them; when their memory ends, so does what is known
 * of it. */
static void test_a_fresh_page_that_is_filled_ends(void **state)
{
    enum { PAGE = 4096, PIECE = 512 };
    static _Alignas(PAGE) unsigned char fresh[3 * PAGE];
    uintptr_t from = (uintptr_t)fresh + PAGE;
    (void)state;
    for (unsigned write = 0; write < 2; write++, from += PAGE) {
        struct pt_shadow_self *self = model_play(1);
        model_tick(1);
        __portent_store8(fresh, 1, NULL); /* makes the leaf */
        if (write)
            __portent_memset((void *)from, 1, PIECE, NULL);
        else
            __portent_memcpy(fresh, (void *)from, PIECE, NULL, NULL);
        uint64_t seen = atomic_load(pt_shadow_peek(from + PIECE / 2));
        assert_int_equal(pt_shadow_access(seen), self->clock.id);
        assert_true(!write || seen & PT_SHADOW_KEPT);
        assert_true(pt_shadow_clear(self, from, from + PIECE, false));
        for (uintptr_t at = from; at < from + PIECE; at += 8)
            assert_int_equal(atomic_load(pt_shadow_peek(at)) & ~PT_SHADOW_KEPT, 0);
    }
}

/* A piece on the thread's own page keeps no granule of which there is something to learn. */
static void test_a_piece_where_another_was_learns(void **state)
{
    enum { PAGE = 4096, PIECE = 512 };
    static _Alignas(PAGE) unsigned char fresh[2 * PAGE];
    unsigned char *page = fresh + PAGE;
    (void)state;
    for (unsigned thread = 1; thread < 3; thread++) {
        model_play(thread);
        model_tick(thread);
        __portent_store8(fresh + 8 * thread, 1, NULL); /* makes the leaf */
        if (thread == 1)
            __portent_memset(page, 1, PIECE, NULL);
        else
            __portent_store8(page + PIECE + 8, 1, NULL);
        model_check(thread);
    }
    assert_int_equal(atomic_load(pt_kept_cell_of((uintptr_t)page)) & PT_KEPT_BY, model_threads[1].self.kept_as);
    model_play(1);
    __portent_memset(page + PIECE, 1, PIECE, NULL);
    vector_join(&model_threads[1].clock, &model_threads[2].clock);
    model_check(1);
}

/* What a thread has kept when it ended is opened without it; its slot's next thread has other numbers. */
static void test_the_end_of_a_keeper(void **state)
{
    (void)state;
    struct pt_shadow_self *self = model_play(3);
    for (unsigned i = 0; i < 1000 && !kept_granules(); i++) {
        model_tick(3);
        store(3, 0, 8, i);
        keep_again();
    }
    assert_true(kept_granules());
    uint32_t number = self->kept_as;
    pt_kept_end(self);
    pt_shadow_settle(self);
    model_play(3);
    model_tick(3);
    store(3, 0, 8, 1);
    assert_int_equal(kept_granules(), 0);
    for (unsigned i = 0; i < 1000 && !kept_granules(); i++) {
        model_tick(3);
        store(3, 0, 8, i);
        keep_again();
    }
    assert_true(self->kept_as && self->kept_as != number);
    model_check(3);
}

/* Who used the page before does not come back: whoever uses it now has it after a while. */
static void test_a_page_without_use_changes_hands(void **state)
{
    (void)state;
    keep_again();
    for (unsigned thread = 0; thread < 2; thread++) {
        for (unsigned i = 0; i < 4 * PT_KEPT_TURN; i++) {
            model_play(thread);
            model_tick(thread);
            store(thread, 0, 8, i);
        }
        assert_int_equal(atomic_load(pt_kept_cell_of((uintptr_t)model_memory)) & PT_KEPT_BY,
                         model_threads[thread].self.kept_as);
        model_forget(state);
    }
}

/* A page that has had several keepers is nobody's for good. */
static void test_a_shared_page_is_not_kept(void **state)
{
    (void)state;
    keep_again();
    for (unsigned turn = 0; turn < 2 * PT_KEPT_TIMES; turn++)
        for (unsigned thread = 0; thread < 2; thread++)
            for (unsigned i = 0; i < 3 * PT_KEPT_TURN; i++) {
                model_play(thread);
                model_tick(thread);
                store(thread, 0, 8, i);
                model_check(thread);
            }
    assert_int_equal(atomic_load(pt_kept_cell_of((uintptr_t)model_memory)), PT_KEPT_NEVER);
    assert_int_equal(kept_granules(), 0);
}

/* A thread inside the runtime is a handler that nobody knows of: it accesses, and nothing else changes. */
static void test_inside_the_runtime_nothing_changes(void **state)
{
    (void)state;
    model_play(1);
    model_tick(1);
    __portent_store4(model_memory, 1, NULL);
    struct pt_shadow_self *self = model_play(0);
    pt_clock_id clock = self->clock.id;
    uint64_t word = atomic_load(pt_shadow_peek((uintptr_t)model_memory));
    pt_enter(self);
    __portent_store4(model_memory, 2, NULL);
    assert_int_equal(__portent_load4(model_memory, NULL), 2);
    pt_leave(self);
    assert_int_equal(self->clock.id, clock);
    assert_int_equal(atomic_load(pt_shadow_peek((uintptr_t)model_memory)), word);
}

/* --- watched variables --- */

static struct {
    unsigned initial, written, foreign;
    uint32_t object, value;
} seen;

static void on_initial(struct pt_shadow_self *self, uint32_t object)
{
    (void)self;
    seen.initial++;
    seen.object = object;
}

static void on_written(struct pt_shadow_self *self, uint32_t object, enum pt_event_kind kind,
                       const struct pt_site *site)
{
    (void)site;
    assert_true(self->busy && kind == PT_KIND_WRITE);
    assert_true(atomic_load(pt_shadow_peek(pt_watched[object].address)) & PT_SHADOW_LOCKED);
    seen.written++;
    memcpy(&seen.value, pt_watched[object].last, sizeof seen.value);
}

static void on_foreign(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site)
{
    (void)self, (void)object, (void)site;
    seen.foreign++;
}

static void test_watched_variables_are_reported(void **state)
{
    (void)state;
    static _Alignas(8) uint32_t pair[2];
    struct pt_shadow_self *self = model_play(2);
    struct pt_shadow_hooks before = pt_shadow_hooks;
    pt_shadow_hooks.initial = on_initial;
    pt_shadow_hooks.written = on_written;
    pt_shadow_hooks.foreign = on_foreign;
    pt_enter(self);
    pt_watch_add(self, (uintptr_t)&pair[0], 4, PT_WATCH_INT, "first");
    pt_leave(self);
    assert_int_equal(seen.initial, 1);
    assert_string_equal(pt_watch_name(seen.object), "first");
    __portent_store4(&pair[0], 41, NULL);
    assert_int_equal(seen.written, 1);
    assert_int_equal(seen.value, 41);
    __portent_store4(&pair[1], 42, NULL); /* its neighbour is not watched */
    assert_int_equal(seen.written, 1);
    __portent_store8(pair, UINT64_C(0x500000006), NULL);
    assert_int_equal(seen.written, 2);
    assert_int_equal(seen.value, 6);
    pair[0] = 7; /* by code that is not instrumented */
    assert_int_equal(__portent_load4(&pair[0], NULL), 7);
    assert_int_equal(seen.foreign, 1);
    assert_int_equal(__portent_load4(&pair[0], NULL), 7);
    assert_int_equal(seen.foreign, 1);
    pt_shadow_clear(self, (uintptr_t)pair, (uintptr_t)(pair + 2), false); /* its life is over */
    __portent_store4(&pair[0], 8, NULL);
    assert_int_equal(seen.written, 2);
    pt_shadow_hooks = before;
}

static void count_watched(void *context, uint32_t object, const struct pt_watched *watched)
{
    (void)object;
    assert_true(pt_watch_address(watched));
    ++*(unsigned *)context;
}

/* A variable in two granules ends with the first of them: nobody looks at its memory any more, which may be gone. */
static void test_a_variable_ends_as_a_whole(void **state)
{
    (void)state;
    static _Alignas(8) unsigned char memory[24];
    struct pt_shadow_self *self = model_play(2);
    struct pt_shadow_hooks before = pt_shadow_hooks;
    pt_shadow_hooks.initial = on_initial;
    pt_shadow_hooks.written = on_written;
    unsigned watched = 0, written = seen.written;
    pt_enter(self);
    pt_watch_add(self, (uintptr_t)memory, 16, PT_WATCH_INT, "both");
    pt_leave(self);
    uint32_t object = seen.object;
    pt_watch_each(count_watched, &watched);
    assert_true(watched > 0);
    __portent_store8(memory + 8, 1, NULL);
    assert_int_equal(seen.written, written + 1);
    pt_shadow_clear(self, (uintptr_t)memory, (uintptr_t)memory + 8, false);
    assert_int_equal(pt_watch_address(&pt_watched[object]), 0);
    __portent_store8(memory + 8, 2, NULL);
    assert_int_equal(seen.written, written + 1);
    unsigned left = 0;
    pt_watch_each(count_watched, &left);
    assert_int_equal(left, watched - 1);
    pt_shadow_hooks = before;
}

/* Counts go on where their lower half begins anew, and clocks before and after that are as they should be to each
 * other. */
static void test_counts_go_on(void **state)
{
    (void)state;
    struct pt_shadow_self *self = model_play(0), *other = model_play(1);
    model_threads[0].self.clock.events = model_threads[0].clock.count[0] = (UINT64_C(1) << 33) - 2;
    model_tick(0);
    pt_shadow_take(other, self->clock.id);
    vector_join(&model_threads[1].clock, &model_threads[0].clock);
    model_tick(0);
    assert_int_equal(vector_of(self->clock.id).count[0], UINT64_C(1) << 33);
    assert_false(pt_clock_leq(self->clock.id, other->clock.id));
    pt_shadow_take(other, self->clock.id);
    vector_join(&model_threads[1].clock, &model_threads[0].clock);
    assert_true(pt_clock_leq(self->clock.id, other->clock.id));
    model_check(0);
    model_check(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_word_has_what_was_packed),
        cmocka_unit_test(test_a_granule_is_locked_once),
        cmocka_unit_test_setup(test_rungs_follow_algorithm_a, model_forget), /* there are no clocks yet */
        cmocka_unit_test_setup(test_accesses_follow_algorithm_a, model_forget),
        cmocka_unit_test_setup(test_kept_pages_follow_algorithm_a, model_forget),
        cmocka_unit_test_setup(test_the_end_of_a_keeper, model_forget),
        cmocka_unit_test_setup(test_a_fresh_page_that_is_filled_ends, model_forget),
        cmocka_unit_test_setup(test_a_piece_where_another_was_learns, model_forget),
        cmocka_unit_test_setup(test_a_page_without_use_changes_hands, model_forget),
        cmocka_unit_test_setup(test_a_shared_page_is_not_kept, model_forget),
        cmocka_unit_test_setup(test_inside_the_runtime_nothing_changes, model_forget),
        cmocka_unit_test_setup(test_watched_variables_are_reported, model_forget),
        cmocka_unit_test_setup(test_a_variable_ends_as_a_whole, model_forget),
        cmocka_unit_test_setup(test_counts_go_on, model_forget),
    };
    return cmocka_run_group_tests(tests, model_start, NULL);
}
