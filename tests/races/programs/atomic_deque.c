/* A deque from whose other end others steal (Chase and Lev; orders by Le, Pop, Cohen and Zappa Nardelli).
 * race: none
 */
#include "races.h"

enum { SIZE = 64, ITEMS = 300 };
static atomic_long top, bottom;
static _Atomic(int *) slots[SIZE];
static int items[ITEMS];
static atomic_int taken;

static void push(int *item)
{
    long at = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&slots[at % SIZE], item, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, at + 1, memory_order_relaxed);
}

static int *take(void)
{
    int *item = NULL;
    long at = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, at, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    long first = atomic_load_explicit(&top, memory_order_relaxed);
    if (first <= at)
        item = atomic_load_explicit(&slots[at % SIZE], memory_order_relaxed);
    if (first == at &&
        !atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst, memory_order_relaxed))
        item = NULL;
    if (first >= at)
        atomic_store_explicit(&bottom, at + 1, memory_order_relaxed);
    return item;
}

static int *steal(void)
{
    long first = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long last = atomic_load_explicit(&bottom, memory_order_acquire);
    if (first >= last)
        return NULL;
    int *item = atomic_load_explicit(&slots[first % SIZE], memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst, memory_order_relaxed)
               ? item
               : NULL;
}

static void use(int *item)
{
    if (!item)
        return;
    ++*item;
    atomic_fetch_add(&taken, 1);
}

static void *thief(void *context)
{
    while (atomic_load(&taken) < ITEMS)
        use(steal());
    return context;
}

int main(void)
{
    pthread_t one = start(thief, NULL), two = start(thief, NULL);
    for (int i = 0; i < ITEMS; i++) {
        items[i] = i;
        push(&items[i]);
        if (i % 3 == 0)
            use(take());
        while (atomic_load(&bottom) - atomic_load(&top) > SIZE / 2)
            use(take());
    }
    while (atomic_load(&taken) < ITEMS)
        use(take());
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    for (int i = 0; i < ITEMS; i++)
        NEED(items[i] == i + 1);
    return 0;
}
