/* Waiting for locks, and the check of their order (spin.h). */
#include "runtime/sys/spin.h"

#include "runtime/sys/sys.h"

enum { PAUSES = 64, FIRST_NS = 10 * 1000, DOUBLINGS = 6, WAIT_NS = 100 * 1000 * 1000 };
enum { CROWD = 64, CROWDED_NS = 40 * 1000 /* between two looks of any of them */ };

/* Threads in pt_spin_await; in a line of its own, since hooks read what would stand beside it. */
static struct {
    _Alignas(64) _Atomic uint32_t count;
} sleepers;

void pt_spin_wait(struct pt_spin *lock)
{
    for (unsigned turn = 0; turn < PAUSES; turn++) {
        uint32_t seen = 0;
        __builtin_ia32_pause();
        if (atomic_load_explicit(&lock->state, memory_order_relaxed)) /* looks, so that who has it keeps the line */
            continue;
        if (atomic_compare_exchange_strong_explicit(&lock->state, &seen, 1, memory_order_acquire, memory_order_relaxed))
            return;
    }
    /* the next to unlock it wakes one, and so does that one, since we do not know whether more of them wait */
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire))
        pt_sys_wait(&lock->state, 2, WAIT_NS);
}

void pt_spin_wake(struct pt_spin *lock)
{
    pt_sys_wake(&lock->state);
}

void pt_spin_await(_Atomic uint32_t *word, uint32_t seen, unsigned *turn)
{
    if (++*turn < PAUSES) {
        __builtin_ia32_pause();
        return;
    }
    unsigned doublings = *turn - PAUSES < DOUBLINGS ? *turn - PAUSES : DOUBLINGS;
    uint32_t others = atomic_fetch_add_explicit(&sleepers.count, 1, memory_order_relaxed);
    /* Thousands that look again so soon would leave nobody the processor to unlock it with. */
    pt_sys_wait(word, seen, others > CROWD ? (uint64_t)CROWDED_NS * others : (uint64_t)FIRST_NS << doublings);
    atomic_fetch_sub_explicit(&sleepers.count, 1, memory_order_relaxed);
}

void pt_spin_restart(void)
{
    atomic_store_explicit(&sleepers.count, 0, memory_order_relaxed);
}

#ifdef PT_CHECK_LOCKS
#include <stdlib.h>

#include "runtime/sys/log.h"

static __thread uint32_t taken[PT_RANK_COUNT] __attribute__((tls_model("initial-exec")));

void pt_rank_take(uint32_t rank)
{
    for (uint32_t above = rank; rank && above < PT_RANK_COUNT; above++) {
        if (!taken[above] || (above == rank && rank == PT_RANK_GRANULE))
            continue;
        struct pt_line line = {0};
        pt_line_text(&line, "portent: a lock of rank ");
        pt_line_number(&line, rank);
        pt_line_text(&line, " is taken inside one of rank ");
        pt_line_number(&line, above);
        pt_line_write(&line);
        abort();
    }
    taken[rank]++;
}

void pt_rank_give(uint32_t rank)
{
    taken[rank]--;
}
#endif
