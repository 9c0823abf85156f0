/*
 * In place of ThreadSanitizer's runtime: the engine is compiled with -fsanitize=thread, so that each of its accesses of
 * memory is a call, and what is called here follows for every cache line of 64 bytes which threads have it, as if each
 * thread had a core of its own whose cache never has to drop anything. An access that such cores would have to talk
 * about is counted:
 *
 *   taken     a write of a line that another thread has
 *   fetched   a read of a line that another thread has written since
 *
 * Both are counted again for atomic operations alone. At the end the counts go to standard error, one line. What two
 * threads do to one line at one time may be counted wrongly: nothing is locked, which would change what is measured.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE_BITS = 6, LEAF_BITS = 20, ADDRESS_BITS = 47, THREADS = 15 };

/* Of a line: a bit for each thread that has it, and DIRTY if one has written it since others had it. */
typedef uint16_t line_state;
enum { DIRTY = 1 << THREADS };

static _Atomic(line_state *) leaves[1 << (ADDRESS_BITS - LINE_BITS - LEAF_BITS)];
static _Atomic unsigned threads;

struct counts {
    _Alignas(64) uint64_t taken, fetched, atomic_taken, atomic_fetched;
};
static struct counts counts[THREADS];
static _Thread_local unsigned me = THREADS;

static unsigned number(void)
{
    if (me == THREADS) {
        me = atomic_fetch_add(&threads, 1);
        if (me >= THREADS) {
            fprintf(stderr, "sharing: more than %d threads\n", THREADS);
            _exit(2);
        }
    }
    return me;
}

static line_state *leaf_of(uintptr_t line)
{
    _Atomic(line_state *) *slot = &leaves[line >> LEAF_BITS];
    line_state *leaf = atomic_load_explicit(slot, memory_order_acquire);
    if (leaf)
        return leaf;
    size_t bytes = sizeof(line_state) << LEAF_BITS;
    line_state *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) {
        perror("sharing: mmap");
        _exit(2);
    }
    if (atomic_compare_exchange_strong(slot, &leaf, fresh))
        return fresh;
    munmap(fresh, bytes);
    return leaf;
}

static void touch(uintptr_t line, bool writes, bool is_atomic)
{
    unsigned thread = number();
    struct counts *mine = &counts[thread];
    line_state *at = &leaf_of(line)[line & ((1u << LEAF_BITS) - 1)], was = *at, own = (line_state)(1u << thread);
    bool others = was & ~DIRTY & ~own;
    if (writes) {
        mine->taken += others;
        mine->atomic_taken += others && is_atomic;
        if (was != (own | DIRTY))
            *at = own | DIRTY;
    } else if (!(was & own)) {
        bool fetched = was & DIRTY; /* by another, as it is not ours */
        mine->fetched += fetched;
        mine->atomic_fetched += fetched && is_atomic;
        *at = (was & ~DIRTY) | own;
    }
}

static void touch_range(const volatile void *address, size_t size, bool writes, bool is_atomic)
{
    uintptr_t first = (uintptr_t)address >> LINE_BITS, last = ((uintptr_t)address + size - 1) >> LINE_BITS;
    for (uintptr_t line = first; size && line <= last; line++)
        touch(line, writes, is_atomic);
}

__attribute__((destructor)) static void tell(void)
{
    struct counts sum = {0};
    for (unsigned t = 0; t < THREADS; t++) {
        sum.taken += counts[t].taken;
        sum.fetched += counts[t].fetched;
        sum.atomic_taken += counts[t].atomic_taken;
        sum.atomic_fetched += counts[t].atomic_fetched;
    }
    fprintf(stderr, "lines: %llu taken, %llu fetched; atomic: %llu taken, %llu fetched; %u threads\n",
            (unsigned long long)sum.taken, (unsigned long long)sum.fetched, (unsigned long long)sum.atomic_taken,
            (unsigned long long)sum.atomic_fetched, atomic_load(&threads));
}

/* ---- what the compiler calls ---- */

#define ACCESS(name, size, writes)                                                                                     \
    void name(void *address);                                                                                          \
    void name(void *address)                                                                                           \
    {                                                                                                                  \
        touch_range(address, size, writes, false);                                                                     \
    }
#define ACCESSES(size)                                                                                                 \
    ACCESS(__tsan_read##size, size, false)                                                                             \
    ACCESS(__tsan_write##size, size, true)                                                                             \
    ACCESS(__tsan_unaligned_read##size, size, false)                                                                   \
    ACCESS(__tsan_unaligned_write##size, size, true)                                                                   \
    ACCESS(__tsan_volatile_read##size, size, false)                                                                    \
    ACCESS(__tsan_volatile_write##size, size, true)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

#define RANGE(name, writes)                                                                                            \
    void name(void *address, size_t size);                                                                             \
    void name(void *address, size_t size)                                                                              \
    {                                                                                                                  \
        touch_range(address, size, writes, false);                                                                     \
    }
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

void __tsan_init(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    atomic_thread_fence(memory_order_seq_cst);
}

/* Whatever order is asked for, the strongest is given. */
#define UPDATE(bits, name, builtin)                                                                                    \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile void *address, uint##bits##_t value, int order);              \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile void *address, uint##bits##_t value, int order)               \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        touch_range(address, bits / 8, true, true);                                                                    \
        return builtin((volatile uint##bits##_t *)address, value, __ATOMIC_SEQ_CST);                                   \
    }
#define COMPARE(bits, name)                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile void *address, void *expected, uint##bits##_t value,    \
                                                      int order, int otherwise);                                       \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile void *address, void *expected, uint##bits##_t value,    \
                                                      int order, int otherwise)                                        \
    {                                                                                                                  \
        (void)order, (void)otherwise;                                                                                  \
        touch_range(address, bits / 8, true, true);                                                                    \
        return __atomic_compare_exchange_n((volatile uint##bits##_t *)address, (uint##bits##_t *)expected, value,      \
                                           false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                 \
    }
#define ATOMICS(bits)                                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile void *address, int order);                                \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile void *address, int order)                                 \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        touch_range(address, bits / 8, false, true);                                                                   \
        return __atomic_load_n((const volatile uint##bits##_t *)address, __ATOMIC_SEQ_CST);                            \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile void *address, uint##bits##_t value, int order);                         \
    void __tsan_atomic##bits##_store(volatile void *address, uint##bits##_t value, int order)                          \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        touch_range(address, bits / 8, true, true);                                                                    \
        __atomic_store_n((volatile uint##bits##_t *)address, value, __ATOMIC_SEQ_CST);                                 \
    }                                                                                                                  \
    UPDATE(bits, exchange, __atomic_exchange_n)                                                                        \
    UPDATE(bits, fetch_add, __atomic_fetch_add)                                                                        \
    UPDATE(bits, fetch_sub, __atomic_fetch_sub)                                                                        \
    UPDATE(bits, fetch_and, __atomic_fetch_and)                                                                        \
    UPDATE(bits, fetch_or, __atomic_fetch_or)                                                                          \
    COMPARE(bits, strong)                                                                                              \
    COMPARE(bits, weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* Calls that the linker leads here (--wrap). */
void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    touch_range(from, size, false, false);
    touch_range(to, size, true, false);
    return __real_memcpy(to, from, size);
}
void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size)
{
    touch_range(from, size, false, false);
    touch_range(to, size, true, false);
    return __real_memmove(to, from, size);
}
void *__real_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size)
{
    touch_range(to, size, true, false);
    return __real_memset(to, byte, size);
}
