/*
 * Barriers: who leaves one comes after all that arrived in the same phase, and after nobody's arrival in the next one
 * (contract 10). So the phases of a barrier are two objects in turn: its address, and FURTHER bytes behind it. In
 * recordings these have names of their own, "b" and "b+8".
 *
 * Which phase it is follows from how many threads it is for. All of them have said that they arrive before the first
 * one leaves, and nobody arrives for the next phase before that: so the first to leave ends the phase. If more have
 * arrived by then than the barrier is for, some of them belong to a later phase, and nobody knows who; the same where
 * arrivals were not seen, as those in another process. From then on who leaves comes after all arrivals there were.
 *
 * Guarantee: never less order than there is. More, where more threads use a barrier than it is for, and with barriers
 * beyond those that the table has room for: these are one object that all write. Cost: two compare-and-swaps for each
 * thread and phase.
 */
#include <pthread.h>
#include <string.h>

#include "runtime/explore/explore.h"
#include "runtime/shadow/slow.h"
#include "runtime/thread/call.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

enum { BITS = 12, PROBES = 8, FURTHER = 8, MOST = (1 << 20) - 1 };

/* One phase at a time. They are changed as one word: no handler of a signal can find it half changed. */
union phase {
    uint64_t word;
    struct {
        uint64_t count : 20, arrived : 20, number : 23, unsure : 1;
    };
};
static struct barrier {
    _Atomic uintptr_t address; /* 0: free */
    _Atomic uint64_t phase;
} barriers[1 << BITS];

/* That stands under this address, which is the barrier's, or 0 for a free place; NULL: none does. */
static struct barrier *find(const pthread_barrier_t *barrier, uintptr_t address)
{
    uint64_t at = ((uint64_t)(uintptr_t)barrier * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - BITS);
    for (unsigned i = 0; i < PROBES; i++)
        if (atomic_load(&barriers[(at + i) % (1 << BITS)].address) == address)
            return &barriers[(at + i) % (1 << BITS)];
    return NULL;
}

PT_WRAP(int, pthread_barrier_init,
        (pthread_barrier_t * barrier, const pthread_barrierattr_t *attributes, unsigned count))
{
    int result = PT_REAL(pthread_barrier_init)(barrier, attributes, count);
    struct barrier *entry = result == 0 ? find(barrier, (uintptr_t)barrier) : NULL;
    uintptr_t address = (uintptr_t)barrier, none;
    while (result == 0 && !entry && (entry = find(barrier, none = 0)) &&
           !atomic_compare_exchange_strong(&entry->address, &none, address))
        entry = NULL; /* another thread was faster */
    union phase first = {.count = count <= MOST ? count : 0, .unsure = count > MOST};
    if (entry)
        atomic_store(&entry->phase, first.word);
    return result;
}

PT_WRAP(int, pthread_barrier_destroy, (pthread_barrier_t * barrier))
{
    int result = PT_REAL(pthread_barrier_destroy)(barrier);
    struct barrier *entry = result == 0 ? find(barrier, (uintptr_t)barrier) : NULL;
    if (entry)
        atomic_store(&entry->address, 0);
    return result;
}

static union phase arrive(struct barrier *entry)
{
    union phase phase = {atomic_load(&entry->phase)}, next;
    do {
        next = phase;
        next.arrived += phase.arrived < MOST;
    } while (!atomic_compare_exchange_weak(&entry->phase, &phase.word, next.word));
    return phase;
}

/* What was known of the phase in the end. */
static union phase leave(struct barrier *entry, union phase mine)
{
    union phase phase = {atomic_load(&entry->phase)}, next;
    do {
        next = phase;
        if (phase.number != mine.number)
            break;
        next.unsure |= phase.arrived != phase.count;
        next.number++;
        next.arrived = 0;
    } while (!atomic_compare_exchange_weak(&entry->phase, &phase.word, next.word));
    return next;
}

static const void *object_of(const pthread_barrier_t *barrier, unsigned number)
{
    return (const char *)barrier + (number & 1) * FURTHER;
}

static void record(const pthread_barrier_t *barrier, const void *object, int order, const struct pt_site *site)
{
    pt_wrap_sync_at(barrier, object, PT_EFFECT(pthread_barrier_wait), order, site);
}

/* libc's own layout: how many it is for. */
static uint32_t count_of(const pthread_barrier_t *barrier)
{
    struct {
        uint32_t in, round, count;
    } own;
    memcpy(&own, barrier, sizeof own);
    return own.count;
}

#ifdef PT_RT_STATIC
int __real_pthread_barrier_wait(pthread_barrier_t *barrier);
#endif
/* The wait itself. */
static int wait_at(pthread_barrier_t *barrier, const struct pt_site *site)
{
    if (__builtin_expect(!pt_explore_on, 1) || pt_explore_slot() == PT_EXPLORE_NO_SLOT)
        return PT_REAL(pthread_barrier_wait)(barrier);
    if (pt_explore_is_shared(PT_EXPLORE_LEAVE, PT_EXPLORE_IS_OTHER, barrier)) {
        pt_explore_away(site); /* others come to it, too */
        int result = PT_REAL(pthread_barrier_wait)(barrier);
        pt_explore_back(site);
        return result;
    }
    bool last = pt_explore_arrives(barrier, count_of(barrier));
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_LEAVE, .object = barrier, .site = site});
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

PT_WRAP(int, pthread_barrier_wait, (pthread_barrier_t * barrier))
{
    const struct pt_site *site = pt_call_take(barrier);
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_ARRIVE, .object = barrier, .site = site});
    struct barrier *entry = find(barrier, (uintptr_t)barrier);
    union phase phase = {0};
    if (entry)
        phase = arrive(entry);
    const void *object = object_of(barrier, (unsigned)phase.number);
    record(barrier, object, entry ? PT_KIND_NOTIFY : PT_KIND_SYNC, site);
    pt_wrap_active(PT_STATE_BARRIER, (uintptr_t)barrier);
    pt_wrap_blocks(barrier, PT_GATE_WAITS_OTHER);
    pt_wrap_waits(PT_WAIT_BARRIER, barrier, NULL, site);
    int result = wait_at(barrier, site);
    pt_wrap_waited(PT_WAIT_BARRIER);
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    pt_wrap_active(PT_STATE_RUNNING, 0);
    if (entry && leave(entry, phase).unsure)
        record(barrier, object_of(barrier, (unsigned)phase.number + 1), PT_KIND_WAIT, site);
    record(barrier, object, entry ? PT_KIND_WAIT : PT_KIND_SYNC, site);
    return result;
}
