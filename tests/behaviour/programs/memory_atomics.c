/* Atomics of 1, 2, 4 and 8 bytes: stores, exchanges, additions and comparisons, all recorded with their values.
 * holds: one >= 0 && two >= 0 && four >= 0 && eight >= 0
 * violated: eight != 6000000000
 * ordered: yes
 */
#include "say.h"
#include <stdatomic.h>
#include <stdint.h>

static _Atomic int8_t one;
static _Atomic int16_t two;
static _Atomic int32_t four;
static _Atomic int64_t eight;

int main(void)
{
    atomic_store(&one, 1);
    said("one", 1);
    atomic_fetch_add(&one, 4);
    said("one", 5);
    two = 300;
    said("two", 300);
    NEED(atomic_exchange_explicit(&two, 301, memory_order_acq_rel) == 300);
    said("two", 301);
    int32_t expected = 7;
    NEED(!atomic_compare_exchange_strong(&four, &expected, 8) && expected == 0);
    NEED(atomic_compare_exchange_strong(&four, &expected, 8));
    said("four", 8);
    atomic_fetch_or_explicit(&four, 3, memory_order_relaxed);
    said("four", 11);
    atomic_store_explicit(&eight, 5000000000, memory_order_release);
    said("eight", 5000000000);
    eight += 1000000000;
    said("eight", 6000000000);
    atomic_fetch_sub(&eight, 1);
    said("eight", 5999999999);
    printf("%d %d %d %ld\n", one, two, four, (long)eight);
    return 0;
}
