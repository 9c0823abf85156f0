/* The ring of records, alone with the layer of system calls, against a queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/channel/ring.h"
#include "runtime/sys/runtime.h"

enum { RINGS = 2, RING_BYTES = 4096, STEPS = 40000, QUEUE = 1024 };

static struct pt_ring *ring_at(unsigned index)
{
    return (void *)((char *)pt_channel + pt_channel->rings_offset + index * (sizeof(struct pt_ring) + RING_BYTES));
}

static int make_channel(void **state)
{
    (void)state;
    size_t at = (sizeof(struct pt_channel) + 63) & ~(size_t)63;
    pt_channel = aligned_alloc(64, (at + RINGS * (sizeof(struct pt_ring) + RING_BYTES) + 63) & ~(size_t)63);
    memset(pt_channel, 0, at + RINGS * (sizeof(struct pt_ring) + RING_BYTES));
    pt_channel->rings_offset = at;
    pt_channel->ring_max = RINGS;
    pt_channel->ring_bytes = RING_BYTES;
    pt_channel->on_full = PT_ON_FULL_DROP;
    return 0;
}

static int free_channel(void **state)
{
    (void)state;
    free(pt_channel);
    pt_channel = NULL;
    return 0;
}

static unsigned random_below(unsigned *seed, unsigned limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % limit;
}

/* The observer's next record; padding is passed over. NULL: there is none. */
static const struct pt_record *next_record(struct pt_ring *ring)
{
    for (;;) {
        uint64_t head = atomic_load(&ring->head), tail = atomic_load(&ring->tail);
        assert_in_range(head - tail, 0, RING_BYTES);
        if (head == tail)
            return NULL;
        const struct pt_record *record = (const void *)(ring->data + tail % RING_BYTES);
        assert_true(record->bytes >= sizeof *record && record->bytes % 8 == 0);
        assert_in_range(tail % RING_BYTES + record->bytes, 0, RING_BYTES); /* in one piece */
        if (record->type != PT_RECORD_PAD)
            return record;
        atomic_store(&ring->tail, tail + record->bytes);
    }
}

static void check_record(const struct pt_record *record, uint32_t bytes, unsigned char fill)
{
    assert_int_equal(record->bytes, bytes);
    assert_int_equal(record->type, PT_RECORD_NAME);
    const unsigned char *body = (const unsigned char *)(record + 1);
    for (uint32_t i = 0; i < bytes - sizeof *record; i++)
        assert_int_equal(body[i], fill);
}

static void test_records_come_out_as_they_went_in(void **state)
{
    (void)state;
    static struct {
        uint32_t bytes;
        unsigned char fill;
    } queue[QUEUE];
    struct pt_ring_writer writer = {0};
    unsigned seed = 3, in = 0, out = 0, refused = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        struct pt_ring *ring = ring_at(0);
        if (random_below(&seed, 100) < 55) {
            uint32_t bytes = 16 + 8 * random_below(&seed, step % 7 ? 20 : 200);
            struct pt_record *record = pt_ring_place(&writer, 5, bytes, PT_RECORD_NAME);
            if (!record) { /* only if it would not fit, its padding included */
                refused++;
                assert_true(atomic_load(&ring->head) - atomic_load(&ring->tail) + 2 * bytes > RING_BYTES);
                continue;
            }
            unsigned char fill = (unsigned char)step;
            memset(record + 1, fill, bytes - sizeof *record);
            assert_true(in - out < QUEUE);
            queue[in % QUEUE].bytes = bytes;
            queue[in++ % QUEUE].fill = fill;
            uint64_t before = atomic_load(&ring->head);
            assert_true(before != writer.head); /* not before it is published */
            pt_ring_publish(&writer);
            assert_int_equal(atomic_load(&ring->head), writer.head);
        } else {
            const struct pt_record *record = next_record(ring);
            assert_int_equal(record != NULL, in != out);
            if (!record)
                continue;
            check_record(record, queue[out % QUEUE].bytes, queue[out % QUEUE].fill);
            out++;
            atomic_fetch_add(&ring->tail, record->bytes);
        }
    }
    assert_true(refused > 100 && out > 1000);
}

static void test_each_writer_has_a_ring(void **state)
{
    (void)state;
    struct pt_ring_writer one = {0}, two = {0}, three = {0};
    assert_non_null(pt_ring_place(&one, 11, 16, PT_RECORD_NAME));
    assert_non_null(pt_ring_place(&two, 12, 16, PT_RECORD_NAME));
    assert_ptr_not_equal(one.ring, two.ring);
    assert_int_equal(one.ring->thread, 11);
    assert_int_equal(two.ring->thread, 12);
    assert_int_equal(atomic_load(&pt_channel->rings_used), RINGS);
    assert_null(pt_ring_place(&three, 13, 16, PT_RECORD_NAME));
}

/* A ring that the observer has freed goes on from where it was. */
static void test_a_ring_is_used_again(void **state)
{
    (void)state;
    struct pt_ring_writer one = {0}, next = {0};
    assert_non_null(pt_ring_place(&one, 1, 64, PT_RECORD_NAME));
    pt_ring_publish(&one);
    struct pt_ring *ring = one.ring;
    pt_ring_end(&one);
    assert_null(one.ring);
    assert_int_equal(atomic_load(&ring->state), PT_RING_ENDED);
    atomic_store(&ring->tail, 64);
    atomic_store(&ring->state, PT_RING_FREE);
    assert_non_null(pt_ring_place(&next, 2, 24, PT_RECORD_NAME));
    assert_ptr_equal(next.ring, ring);
    assert_int_equal(next.head, 64 + 24);
    assert_int_equal(ring->thread, 2);
}

/* --- many rings --- */

enum { MANY = 1100, MANY_BYTES = 1 << 16 };

static int make_many(void **state)
{
    (void)state;
    size_t head = (sizeof(struct pt_channel) + 63) & ~(size_t)63, bits = (MANY + 63) / 64 * sizeof(struct pt_ring_bits);
    size_t rings = (head + bits + 63) & ~(size_t)63, all = rings + MANY * (sizeof(struct pt_ring) + MANY_BYTES);
    pt_channel = aligned_alloc(64, (all + 63) & ~(size_t)63);
    memset(pt_channel, 0, all);
    pt_channel->bits_offset = head;
    pt_channel->rings_offset = rings;
    pt_channel->ring_max = MANY;
    pt_channel->ring_bytes = MANY_BYTES;
    pt_channel->on_full = PT_ON_FULL_DROP;
    return 0;
}

static struct pt_ring_bits *bits_of(uint32_t index)
{
    return (struct pt_ring_bits *)((char *)pt_channel + pt_channel->bits_offset) + index / 64;
}

/* Rings past the first say by a bit that they have been written to; a freed one is taken before a new one. */
static void test_bits_say_what_is_fresh_and_free(void **state)
{
    (void)state;
    static struct pt_ring_writer writers[80];
    memset(writers, 0, sizeof writers);
    for (uint32_t i = 0; i < 80; i++) {
        assert_non_null(pt_ring_place(&writers[i], i, 16, PT_RECORD_NAME));
        pt_ring_publish(&writers[i]);
    }
    assert_int_equal(atomic_load(&bits_of(0)->fresh), 0);
    assert_int_equal(atomic_load(&bits_of(64)->fresh), 0xffff);
    struct pt_ring *freed = writers[70].ring;
    pt_ring_end(&writers[70]);
    atomic_store(&freed->tail, 16);
    atomic_store(&freed->state, PT_RING_FREE);
    atomic_fetch_or(&bits_of(70)->free, UINT64_C(1) << 70 % 64);
    assert_non_null(pt_ring_place(&writers[70], 100, 16, PT_RECORD_NAME));
    assert_ptr_equal(writers[70].ring, freed);
    assert_int_equal(atomic_load(&bits_of(70)->free), 0);
    assert_int_equal(atomic_load(&pt_channel->rings_used), 80);
}

/* Past the first thousand a ring holds little at a time, and a record that is alone whatever fits. */
static void test_late_rings_are_frugal(void **state)
{
    (void)state;
    static struct pt_ring_writer writers[PT_RING_ROOMY + 1];
    memset(writers, 0, sizeof writers);
    for (uint32_t i = 0; i <= PT_RING_ROOMY; i++)
        assert_non_null(pt_ring_place(&writers[i], i, 16, PT_RECORD_NAME));
    struct pt_ring_writer *early = &writers[0], *late = &writers[PT_RING_ROOMY];
    assert_non_null(pt_ring_place(early, 0, PT_RING_FRUGAL_BYTES, PT_RECORD_NAME));
    assert_null(pt_ring_place(late, 0, PT_RING_FRUGAL_BYTES, PT_RECORD_NAME));
    pt_ring_publish(late);
    atomic_store(&late->ring->tail, late->head);
    assert_non_null(pt_ring_place(late, 0, PT_RING_FRUGAL_BYTES, PT_RECORD_NAME));
    assert_null(pt_ring_place(late, 0, 16, PT_RECORD_NAME));
}

static void test_what_never_fits_is_refused(void **state)
{
    (void)state;
    struct pt_ring_writer writer = {0};
    assert_null(pt_ring_place(&writer, 1, RING_BYTES / 2 + 8, PT_RECORD_NAME));
    assert_non_null(pt_ring_place(&writer, 1, RING_BYTES / 2, PT_RECORD_NAME));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records_come_out_as_they_went_in, make_channel, free_channel),
        cmocka_unit_test_setup_teardown(test_each_writer_has_a_ring, make_channel, free_channel),
        cmocka_unit_test_setup_teardown(test_a_ring_is_used_again, make_channel, free_channel),
        cmocka_unit_test_setup_teardown(test_what_never_fits_is_refused, make_channel, free_channel),
        cmocka_unit_test_setup_teardown(test_bits_say_what_is_fresh_and_free, make_many, free_channel),
        cmocka_unit_test_setup_teardown(test_late_rings_are_frugal, make_many, free_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
