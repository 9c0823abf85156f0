// A lock-free bounded queue (Vyukov's: a sequence number per cell) in C11 atomics. Both threads produce and consume;
// every access that matters is atomic, and both threads write the same two cache lines all the time.
#include <stdatomic.h>
#include <stdbool.h>

#include "work.h"

enum { CELLS = 1024, BATCH = 4096, WORK = 24 };

struct cell {
    atomic_size_t sequence;
    uint64_t value;
};

static struct cell cell[CELLS];
static _Alignas(64) atomic_size_t tail;
static _Alignas(64) atomic_size_t head;
static _Alignas(64) atomic_ullong sum;
static long items_each;
_Atomic long batches_sent;
_Atomic long batches_taken;

static bool push(uint64_t value)
{
    size_t at = atomic_load_explicit(&tail, memory_order_relaxed);
    for (;;) {
        struct cell *slot = &cell[at % CELLS];
        const size_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == at) {
            if (atomic_compare_exchange_weak_explicit(&tail, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
                slot->value = value;
                atomic_store_explicit(&slot->sequence, at + 1, memory_order_release);
                return true;
            }
        } else if (sequence < at) {
            return false;
        } else {
            at = atomic_load_explicit(&tail, memory_order_relaxed);
        }
    }
}

static bool pop(uint64_t *ret_value)
{
    size_t at = atomic_load_explicit(&head, memory_order_relaxed);
    for (;;) {
        struct cell *slot = &cell[at % CELLS];
        const size_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == at + 1) {
            if (atomic_compare_exchange_weak_explicit(&head, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
                *ret_value = slot->value;
                atomic_store_explicit(&slot->sequence, at + CELLS, memory_order_release);
                return true;
            }
        } else if (sequence < at + 1) {
            return false;
        } else {
            at = atomic_load_explicit(&head, memory_order_relaxed);
        }
    }
}

// Something to do with each item, so that the queue is not all there is.
static uint64_t digest(uint64_t value)
{
    for (int i = 0; i < WORK; i++)
        value = mix(value, value >> 7);
    return value;
}

static void *worker(void *number)
{
    const uint64_t first = (uint64_t)(intptr_t)number << 40;
    uint64_t mine = 0;
    for (long i = 0; i < items_each; i++) {
        uint64_t value;
        // Counted before its items are pushed, and on the other side after they were taken.
        if (i % BATCH == 0)
            atomic_fetch_add(&batches_sent, 1);
        while (!push(first + (uint64_t)i)) {
            if (pop(&value))
                mine += digest(value);
        }
        if (pop(&value))
            mine += digest(value);
        if (i % BATCH == BATCH - 1)
            atomic_fetch_add(&batches_taken, 1);
    }
    for (uint64_t value; pop(&value);)
        mine += digest(value);
    atomic_fetch_add(&sum, mine);
    return NULL;
}

int main(int argc, char **argv)
{
    items_each = size_argument(argc, argv, 16000000) / WORKERS;
    for (size_t i = 0; i < CELLS; i++)
        atomic_init(&cell[i].sequence, i);
    run_workers(worker);
    return print_sum(atomic_load(&sum));
}
