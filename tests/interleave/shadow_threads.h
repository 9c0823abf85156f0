/*
 * Up to three threads over one variable, through the real hooks, the shadow word and the clocks. Each value that is
 * written names its writer and how many events that had had, so that at the end of a run it can be said of each access
 * whether the clocks know what happened:
 *
 *   a read knows of the write whose value it saw, and a write of every read and write before it (algorithm A);
 *   references to clocks are counted right: as many as words, records, readings and threads have.
 */
#ifndef PT_TESTS_INTERLEAVE_SHADOW_THREADS_H
#define PT_TESTS_INTERLEAVE_SHADOW_THREADS_H

#include <string.h>
#include <sys/mman.h>

#include "core/hooks.h"
#include "expect.h"
#include "core/look.h"
#include "runtime/race/asked.h"
#include "runtime/race/choose.h"
#include "runtime/race/fast.h"
#include "runtime/race/life.h"
#include "runtime/shadow/readers.h"
#include "runtime/shadow/self.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/watch.h"
#include "runtime/sys/delay.h"
#include "runtime/sys/runtime.h"

enum { THREADS = PT_INTERLEAVE_THREADS, BLOCK = 1 << 15, BLOCKS = 14, IDS = 500, ACCESSES = 8 };

static struct pt_shadow_self threads[THREADS];
static __thread unsigned current; /* all of a process's share it where they are coroutines */
/* Where its leaf has a low number, since of each table there is but the beginning. */
#define VARIABLE ((uint64_t *)(uintptr_t)(1 << PT_LEAF_BITS))

struct access {
    unsigned thread, events; /* the thread's, then */
    bool write;
    uint64_t value; /* read, or written */
};
static struct access accesses[THREADS][ACCESSES]; /* of each thread */
static unsigned access_counts[THREADS];

/* --- what the layers need of those below --- */

_Atomic uint8_t pt_active;
struct pt_channel *pt_channel;
uint32_t pt_keeps;
/* Nothing is paused, and races are not looked for here: these are never called. */
bool pt_delay_on;
void pt_delay_atomic(const void *address, int order)
{
    (void)address, (void)order;
}
struct pt_race_leaf *_Atomic *pt_race_leaves;
const struct pt_site *_Atomic *pt_race_places;
_Atomic bool pt_race_learned;
struct pt_life_leaf *_Atomic *pt_life_leaves;
__thread struct pt_calls __portent_calls;
void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site)
{
    (void)self, (void)address, (void)size, (void)kind, (void)site;
}
bool pt_race_chooses, pt_race_lists, pt_race_samples;
_Atomic uint32_t pt_race_windows;
uint8_t pt_race_often[1 << PT_RACE_OFTEN_BITS];
uint32_t __portent_asks;
void pt_race_asked_list(struct pt_asked *asked)
{
    (void)asked;
}
void pt_race_asked_leave(struct pt_asked *asked)
{
    (void)asked;
}
void pt_race_asked_known(struct pt_asked *asked, uint32_t stretch, enum pt_asks asks)
{
    (void)asked, (void)stretch, (void)asks;
}
__thread struct pt_race_choices *pt_race_choices;

bool pt_race_choose(struct pt_race_self *self, const struct pt_site *site)
{
    (void)self, (void)site;
    return false;
}

void pt_life_use(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, const struct pt_site *site,
                 uintptr_t frame)
{
    (void)self, (void)address, (void)size, (void)kind, (void)site, (void)frame;
}
void pt_race_read_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site)
{
    (void)self, (void)address, (void)bytes, (void)site;
}
void pt_race_write_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site)
{
    (void)self, (void)address, (void)bytes, (void)site;
}
bool pt_race_atomic_begin(struct pt_race_self *self, uintptr_t address, size_t size)
{
    (void)self, (void)address, (void)size;
    return false;
}
void pt_race_atomic_end(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                        const struct pt_site *site)
{
    (void)self, (void)address, (void)size, (void)kind, (void)order, (void)site;
}
void pt_race_atomic_alone(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                          const struct pt_site *site)
{
    (void)self, (void)address, (void)size, (void)kind, (void)order, (void)site;
}
bool pt_race_window_sync(struct pt_race_self *self, bool acquires, const struct pt_site *site)
{
    (void)self, (void)acquires, (void)site;
    return true;
}
void pt_race_window_missed(struct pt_race_self *self)
{
    (void)self;
}
void pt_race_sync(struct pt_race_self *self, uintptr_t object, unsigned kind, const struct pt_site *site)
{
    (void)self, (void)object, (void)kind, (void)site;
}
void pt_race_publish(struct pt_race_self *self, uintptr_t object)
{
    (void)self, (void)object;
}
void pt_race_take(struct pt_race_self *self, uintptr_t object)
{
    (void)self, (void)object;
}
void pt_race_fence(struct pt_race_self *self, unsigned order)
{
    (void)self, (void)order;
}
unsigned pt_race_order(int order)
{
    return (unsigned)order;
}
void pt_runtime_activate(unsigned what)
{
    atomic_fetch_or_explicit(&pt_active, (uint8_t)what, memory_order_relaxed);
}

void pt_runtime_deactivate(unsigned what)
{
    atomic_fetch_and_explicit(&pt_active, (uint8_t)~what, memory_order_seq_cst);
}

static _Alignas(4096) unsigned char blocks[BLOCKS][BLOCK];
static unsigned blocks_used;

void *pt_sys_reserve(size_t bytes)
{
    (void)bytes;
    assert_true(blocks_used < BLOCKS);
    return blocks[blocks_used++];
}
void *pt_sys_reserve_table(size_t bytes)
{
    return pt_sys_reserve(bytes);
}
bool pt_sys_read_memory(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return true;
}
void pt_sys_populate(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}
void pt_sys_empty(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
}
void pt_sys_release(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}
void pt_sys_release_table(void *table, size_t bytes)
{
    (void)table, (void)bytes;
}
void pt_spin_await(_Atomic uint32_t *word, uint32_t seen, unsigned *turn)
{
    (void)word, (void)seen, (void)turn;
    pt_interleave_pause();
}
void pt_spin_wait(struct pt_spin *lock)
{
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire))
        pt_interleave_pause();
}
void pt_spin_wake(struct pt_spin *lock)
{
    (void)lock;
}
/* As the kernel has them, and always. */
bool pt_sys_start_barriers(void)
{
    return true;
}
bool pt_sys_barrier(void)
{
    pt_interleave_barrier();
    return true;
}
bool pt_sys_is_alone(void)
{
    return false;
}
bool pt_sys_is_quiet(void)
{
    return false;
}
uint64_t pt_sys_now(void)
{
    return 0;
}
void pt_runtime_stop(const char *why)
{
    pt_interleave_fault(why);
}
void pt_runtime_give_up(void)
{
    pt_interleave_fault("a table is full");
}
void pt_runtime_lost(void)
{
    pt_interleave_fault("an event is lost");
}

/* --- accesses --- */

static void play(unsigned thread)
{
    current = thread;
    pt_self = &threads[thread];
}

static void tick(void)
{
    pt_shadow_tick(pt_self);
}

static void note(bool write, uint64_t value)
{
    unsigned *count = &access_counts[current];
    if (*count < ACCESSES)
        accesses[current][(*count)++] = (struct access){current, pt_self->clock.events, write, value};
}

__attribute__((unused)) static void forget_accesses(void)
{
    memset(access_counts, 0, sizeof access_counts);
}

static uint32_t known_of(const struct pt_shadow_self *self, unsigned thread)
{
    pt_clock_id id = self->clock.id;
    for (uint32_t i = id & (PT_CLOCK_RUNG - 1); pt_clock_is_rung(id) && i; i--)
        if (pt_clock_rungs[i].lane == thread)
            return (uint32_t)pt_clock_rungs[i].count;
    const struct pt_clock_snapshot *clock = pt_clock_is_rung(id) ? &pt_clocks[0] : &pt_clocks[id];
    for (uint32_t i = 0; id && i < clock->count; i++)
        if (clock->pairs[i].lane == thread)
            return clock->pairs[i].count;
    return 0;
}

__attribute__((unused)) static void load(void)
{
    unsigned thread = current;
    uint64_t value = __portent_atomic_load8(VARIABLE, __ATOMIC_ACQUIRE, NULL);
    if (known_of(&threads[thread], (unsigned)(value >> 32)) < (uint32_t)value)
        pt_interleave_fault("a read does not know of the write that it saw");
    note(false, value);
}

__attribute__((unused)) static void store(void)
{
    uint64_t value = (uint64_t)current << 32 | pt_self->clock.events;
    __portent_atomic_store8(VARIABLE, value, __ATOMIC_RELEASE, NULL);
    note(true, value);
}

/* --- what must hold in the end --- */

static int64_t references_in_thread(const struct pt_shadow_self *self, pt_clock_id id)
{
    int64_t count = self->clock.id == id ? self->clock.credit : 0;
    for (unsigned i = 0; i < 1u << PT_PASSED_BITS; i++)
        count += self->clock.passed[i].id == id ? self->clock.passed[i].references : 0;
    for (unsigned i = 0; i < 1u << PT_BETWEEN_BITS; i++)
        count += (pt_shadow_access(self->between[i].clocks) == id) + (pt_shadow_write(self->between[i].clocks) == id);
    for (unsigned i = 0; i < 1u << PT_READING_BITS; i++)
        count += self->readings[i].clock == id;
    return count;
}

static int64_t references_in_word(uint64_t word, pt_clock_id id)
{
    int64_t count = 0;
    if (!(word & PT_SHADOW_FINE))
        return (pt_shadow_access(word) == id) + (pt_shadow_write(word) == id);
    for (unsigned i = 0; i < 8; i++)
        count += (pt_fines[pt_shadow_access(word)].access[i] == id) + (pt_fines[pt_shadow_access(word)].write[i] == id);
    return count;
}

static int64_t references_of(pt_clock_id id)
{
    uint64_t home = pt_clock_home(id);
    int64_t count = pt_clocks[id].references;
    for (unsigned t = 0; home && t < THREADS; t++)
        if (threads[t].clock.ring.owner == home >> 32)
            return count - (INT64_C(1) << 60) + threads[t].clock.ring.local[(uint32_t)home];
    return count;
}

static const char *check_references(uint64_t word)
{
    for (pt_clock_id id = 1; id < IDS; id++) {
        int64_t count = references_in_word(word, id);
        for (unsigned t = 0; t < THREADS; t++)
            count += references_in_thread(&threads[t], id);
        if (count && references_of(id) != count)
            return references_of(id) < count ? "a clock has too few references" : "a clock has too many references";
    }
    return NULL;
}

/* Accesses are noted after they happened, so not in their order; but who saw what says it. A write is after a read
 * that did not see it nor anything later, which is told here for runs in which each thread writes once at most. `last`
 * is the value that is there at the end, and `thread` wrote it. */
__attribute__((unused)) static const char *check_accesses(uint64_t last, unsigned thread)
{
    uint64_t word = *pt_shadow_peek((uintptr_t)VARIABLE);
    if (word & PT_SHADOW_LOCKED)
        return "the granule is locked";
    for (unsigned i = 0; i < THREADS * ACCESSES; i++) {
        const struct access *a = &accesses[i / ACCESSES][i % ACCESSES];
        if (i % ACCESSES >= access_counts[i / ACCESSES])
            continue;
        bool before = a->value != last && (a->write || a->thread != thread);
        if (before && known_of(&threads[thread], a->thread) < a->events)
            return a->write ? "a write does not know of the write before it"
                            : "a write does not know of the read before it";
    }
    return check_references(word);
}

__attribute__((unused)) static const char *check(void)
{
    return check_accesses(*VARIABLE, (unsigned)(*VARIABLE >> 32));
}

static void reset_variable(void)
{
    *VARIABLE = 0;
}

static void *map(void *at, size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
    void *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

/* Every test begins as the program does, with its data as it was then. */
static void begin_anew(void)
{
#ifdef PT_INTERLEAVE_ONCE /* there is but one, as it does */
    map(VARIABLE, 4096);
    return;
#endif
    extern char __data_start[], _end[];
    static __thread void *pristine;
    size_t bytes = (size_t)(_end - __data_start);
    if (pristine) {
        memcpy(__data_start, pristine, bytes);
        return;
    }
    pristine = map(NULL, bytes);
    memcpy(pristine, __data_start, bytes);
    map(VARIABLE, 4096);
}

/* No thread has had an event. */
__attribute__((unused)) static int start_without_events(void)
{
    begin_anew();
    if (!pt_clock_start() || !pt_shadow_start() || !pt_shadow_word_of((uintptr_t)VARIABLE))
        return -1;
    atomic_store(&pt_active, true);
    reset_variable();
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].clock.slot = threads[i].clock.number = i;
        pt_shadow_refresh(&threads[i]);
    }
    return 0;
}

/* All threads have a clock of their own. */
__attribute__((unused)) static int start(void **state)
{
    (void)state;
    if (start_without_events() != 0)
        return -1;
    for (unsigned i = 0; i < THREADS; i++) {
        play(i);
        tick();
    }
    return 0;
}

/* With three threads stores go to memory at once: what buffers add shows with two, and would take too long with three.
 */
__attribute__((unused)) static void explore(unsigned count, void (*a)(void), void (*b)(void), void (*c)(void))
{
    expect(pt_interleave(&(struct pt_interleave){.threads = count,
                                                 .body = {a, b, c},
                                                 .begin = reset_variable,
                                                 .enter = play,
                                                 .check = check,
                                                 .direct = count == 3}));
}

#endif
