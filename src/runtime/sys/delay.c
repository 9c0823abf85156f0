/*
 * When a thread is paused, and for how long. Every start of a thread and every beginning is a chance; of operations on
 * locks one in SYNC_RATE; of atomic accesses that acquire or release one in ATOMIC_RATE, and for each address only the
 * first, second, fourth ... MOST_HITS-th of these, since what loops on a variable would use up the budget; of relaxed
 * ones one in RELAXED_RATE, for some turns of a loop. A pause is as likely to be of any order of magnitude between
 * SHORTEST and LONGEST.
 *
 * Guarantee: a thread's pauses together are at most its share of the time it was there without them, or the seconds
 * that were given, plus GRANT where it is a share: without that, threads that do not live long would have none. Which
 * operations of a thread are paused, and for how long as far as the budget goes, is fixed by the seed and the thread's
 * number. Cost: without `delay` a load and a branch; with it, a few instructions for each operation, and a look at the
 * clock for each that is chosen.
 */
#include "runtime/sys/delay.h"

#include "core/delay.h"
#include "core/hash.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

enum {
    SYNC_RATE = 4,
    ATOMIC_RATE = 8,
    RELAXED_RATE = 64,
    ADDRESSES = 2048,
    MOST_HITS = 64,
    MAGNITUDES = 10, /* LONGEST is 2^10 times SHORTEST */
    SPIN_TURNS = 20,
};
static const uint64_t shortest = 1000, grant = 2000000, spin_most = 20000; /* nanoseconds */

bool pt_delay_on;

static struct pt_delay_budget budget;
static uint64_t seed;
static _Atomic uint32_t hits[ADDRESSES];

/* Of the calling thread. */
static __thread struct {
    uint64_t random; /* 0: it has not begun */
    uint64_t began, paused;
} own __attribute__((tls_model("initial-exec")));

void pt_delay_start(void)
{
    struct pt_line line = {0};
    if (!pt_options.delay.len)
        return;
    if (!pt_delay_parse(pt_options.delay, &budget)) {
        pt_line_text(&line, "portent: " PT_OPTIONS_ENV ": delay is no share of the time and no seconds");
        if (pt_options.verbosity >= 0)
            pt_line_write(&line);
        return;
    }
    pt_delay_on = budget.share || budget.nanoseconds;
    seed = pt_setting_given(&pt_options, PT_SETTING_AT_seed) ? (uint64_t)pt_options.seed
                                                             : pt_mix64(pt_sys_now() ^ pt_sys_process()) >> 32;
    if (pt_options.verbosity <= 0 || !pt_delay_on)
        return;
    pt_line_text(&line, "portent: pauses before synchronisation, delay=");
    pt_line_span(&line, pt_options.delay);
    pt_line_text(&line, " seed=");
    pt_line_number(&line, seed);
    pt_line_write(&line);
}

void pt_delay_thread(uint32_t number)
{
    own.random = pt_mix64(pt_mix64(seed + 1) + number) | 1;
    own.began = pt_sys_now();
    own.paused = 0;
}

/* xorshift64* */
static uint64_t next_random(void)
{
    if (!own.random)
        pt_delay_thread(UINT32_MAX); /* nobody has said who it is */
    own.random ^= own.random >> 12;
    own.random ^= own.random << 25;
    own.random ^= own.random >> 27;
    return own.random * UINT64_C(0x2545f4914f6cdd1d);
}

static bool is_chosen(uint32_t rate)
{
    return (next_random() >> 32) % rate == 0;
}

static uint64_t left_at(uint64_t now)
{
    uint64_t lived = now - own.began - own.paused;
    uint64_t all = budget.share ? lived / 1000 * budget.share / 1000 + grant : budget.nanoseconds;
    return all > own.paused ? all - own.paused : 0;
}

/* Short ones are spent here, as the kernel would take longer to come back. */
static void pause_for(uint64_t nanoseconds, uint64_t now)
{
    uint64_t end = now + nanoseconds;
    if (nanoseconds > spin_most)
        pt_sys_sleep(nanoseconds);
    else
        while (pt_sys_now() < end)
            __builtin_ia32_pause();
    own.paused += pt_sys_now() - now;
}

static void pause_somewhat(void)
{
    uint64_t random = next_random();
    uint64_t least = shortest << (random % MAGNITUDES), length = least + (random >> 32) % least;
    uint64_t now = pt_sys_now(), left = left_at(now);
    if (left >= shortest)
        pause_for(length < left ? length : left, now);
}

void pt_delay_life(void)
{
    pause_somewhat();
}

void pt_delay_sync(void)
{
    if (is_chosen(SYNC_RATE))
        pause_somewhat();
}

void pt_delay_atomic(const void *address, int order)
{
    if (order == __ATOMIC_RELAXED) {
        uint64_t turns = is_chosen(RELAXED_RATE) ? SPIN_TURNS / 2 + next_random() % (SPIN_TURNS / 2) : 0;
        while (turns--)
            __builtin_ia32_pause();
        return;
    }
    if (!is_chosen(ATOMIC_RATE))
        return;
    _Atomic uint32_t *counter = &hits[pt_mix64((uintptr_t)address) % ADDRESSES];
    uint32_t count = atomic_fetch_add_explicit(counter, 1, memory_order_relaxed) + 1;
    if (count <= MOST_HITS && (count & (count - 1)) == 0)
        pause_somewhat();
}
