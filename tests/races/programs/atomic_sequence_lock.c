/* A sequence lock by the book: the data are relaxed atomics, between fences.
 * race: none
 */
#include "races.h"

static atomic_uint sequence;
static atomic_int a, b;

static void *writer(void *unused)
{
    for (int i = 1; i <= 5; i++) {
        unsigned now = atomic_load_explicit(&sequence, memory_order_relaxed);
        atomic_store_explicit(&sequence, now + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&a, i, memory_order_relaxed);
        atomic_store_explicit(&b, i, memory_order_relaxed);
        atomic_store_explicit(&sequence, now + 2, memory_order_release);
    }
    return NULL;
}

static void *reader(void *unused)
{
    unsigned before, after;
    int one, two;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        one = atomic_load_explicit(&a, memory_order_relaxed);
        two = atomic_load_explicit(&b, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before != after || before % 2);
    NEED(one == two);
    return NULL;
}

int main(void)
{
    both(writer, reader);
    return 0;
}
