/*
 * Windows and gaps of a run that is sampled.
 *
 * In a window all is followed: accesses, atomic operations, synchronisation. A thread that has made so many events in
 * it, none of them at a place that was seldom looked at, closes it for all. In a gap hooks and wrappers only look
 * whether the place was looked at often enough; one that was not opens a window. Otherwise the gap lasts until some
 * thread has synchronised so many times: at first few, and in the long run so many that one event in N is in a window.
 * Windows that places open become shorter, the more there were, and then places need fewer of them, four at least.
 * Where functions have twins, plain accesses are told a stretch at a time, right after them (core/look.h), and in a gap
 * not even that, once all places of the stretch were looked at often enough: then it is asked again in windows alone.
 *
 * Guarantee: a pair that is reported is unordered by happens-before, since what threads are taken to know of each
 * other is never less than they do. Let e1 be an access in a window, and let happens-before lead from it to e2 of
 * another thread. The last step of it into that thread is a fork or join, which is followed always; or the thread
 * acquires something. If it does so in the same window, all steps from e1 on were made in it, and were followed. If it
 * does so later, it finds that a window has been closed since it last looked, and then takes all that any thread did
 * in windows for known (`floor`), which contains e1. So pairs of different windows are found as long as the later
 * thread has acquired nothing in between, and pairs of one window as without sampling.
 *
 * At the borders: whether a window is open is asked after a lock is taken and before it is given back, so whoever takes
 * over from a thread that has seen it open sees it, too. Atomic operations are looked at again afterwards
 * (pt_race_window_missed). Who has seen the window open, and is late, has one event of it under way: clocks in the
 * floor have slack for that, and a thread that comes into a window leaves the slack behind.
 *
 * An access that is told after it was made is told before its thread synchronises, so all of this is true of it.
 *
 * Memory that ends in a gap is forgotten as in a window, without being looked at. What was locked before a window is in
 * no report of it. A lock in a gap is counted for its release as well, and where it is given up is no place that opens
 * windows (instrument/hooks.c). Cost: in a gap a comparison and a branch for a stretch of accesses, some ten
 * instructions for any other event; to open or close a window takes time that is linear in the threads and in the
 * stretches, a byte each, and coming to know what there was in windows time that is linear in the threads, once for
 * each.
 */
#include "runtime/race/window.h"

#include "core/hash.h"
#include "runtime/race/asked.h"
#include "runtime/race/choose.h"
#include "runtime/race/impl.h"
#include "runtime/sys/options.h"

enum { EVENTS = 1024, FEW_EVENTS = 16, STEP = 4, SLACK = 16, JUMP = 2 * SLACK };
enum { LONG_ONES = 8, SHORTEST = 32 };                     /* windows that rare places open */
enum { FULL_ONES = 64, LARGEST_STEP = PT_RACE_OFTEN / 4 }; /* how soon places are no longer rare, by those */

bool pt_race_samples, pt_race_passes;
_Atomic uint32_t pt_race_windows = 1;
uint8_t pt_race_often[1 << PT_RACE_OFTEN_BITS];
static struct pt_race_window nowhere; /* its gap is 0, and nobody writes to it */
__thread struct pt_race_window *pt_race_window_own __attribute__((tls_model("initial-exec"))) = &nowhere;

static struct {
    struct pt_spin lock;
    struct pt_race_self *all; /* that ever were */
    struct pt_vec *floor;     /* up to which everything was in windows that are closed, or has ended */
    uint32_t live;
    uint32_t factor; /* how much longer the next gap is than the window */
    uint32_t rate;
    uint32_t events; /* in a window, by one thread */
    uint32_t opened; /* windows, by places that were seldom looked at ... */
    uint32_t burst;  /* ... and events in the next of those */
    uint32_t step;   /* for how many a look at a rare place counts */
    uint32_t length; /* of the window that is open now, or was last */
    uint64_t chance;
} windows = {.lock = PT_SPIN(PT_RANK_THREAD)};

void pt_race_window_start(uint32_t rate)
{
    struct pt_race_self *all = windows.all;
    pt_race_samples = rate > 0;
    windows.all = all;
    windows.floor = NULL;
    windows.live = 0;
    windows.rate = rate;
    windows.factor = rate < STEP ? rate : STEP;
    windows.events = rate < EVENTS / FEW_EVENTS ? FEW_EVENTS * rate : EVENTS;
    windows.burst = windows.length = windows.events;
    windows.opened = 0;
    windows.step = 1;
    windows.chance = (uint64_t)pt_options.seed;
    pt_spin_reset(&windows.lock);
    pt_race_asked_reset();
    for (struct pt_race_self *self = all; self; self = self->window.older)
        self->window.lives = false;
    atomic_store_explicit(&pt_race_windows, 1, memory_order_relaxed);
    *pt_race_often_at(NULL) = PT_RACE_OFTEN; /* what has no place opens nothing */
}

/* Which stretches are looked at from here on: after what they are looked at for can be seen. Under the lock. */
static void ask(enum pt_asks which)
{
    if (pt_race_samples)
        pt_race_ask(which);
}

/* What the mode says agrees with the number of windows whenever nobody has the lock. */
void pt_race_window_several(bool several)
{
    pt_spin_lock(&windows.lock);
    bool open = atomic_load_explicit(&pt_race_windows, memory_order_relaxed) & 1;
    if (several)
        pt_runtime_activate((open ? PT_ACTIVE_RACES : 0) | (pt_race_chooses ? PT_ACTIVE_CHOOSES : 0));
    else
        pt_runtime_deactivate(PT_ACTIVE_RACES | PT_ACTIVE_CHOOSES);
    ask(!several ? PT_ASKS_NOBODY : open ? PT_ASKS_ALL : PT_ASKS_RARE);
    pt_spin_unlock(&windows.lock);
}

/* ---- what is known of windows ---- */

static uint64_t clock_of(const struct pt_race_self *self)
{
    return __atomic_load_n(&self->hb.clock, __ATOMIC_RELAXED) + SLACK;
}

/* Under the lock. */
static void raise_floor(struct pt_race_self *self)
{
    for (const struct pt_race_self *other = windows.all; other; other = other->window.older)
        if (other->window.lives)
            pt_vec_raise(&self->memory, &windows.floor, other->hb.id, clock_of(other));
}

/* After what the thread knows of windows has changed. */
static void find_gap(struct pt_race_window *window)
{
    window->gap = pt_race_passes && window->number == window->known ? window->number : 0;
}

static void learn(struct pt_race_self *self, bool all)
{
    pt_spin_lock(&windows.lock);
    if (all)
        raise_floor(self);
    struct pt_vec *floor = pt_vec_ref(&self->memory, windows.floor);
    self->window.known = atomic_load_explicit(&pt_race_windows, memory_order_relaxed) & ~1u;
    pt_spin_unlock(&windows.lock);
    pt_vec_join(&self->memory, &self->hb.past, floor);
    pt_vec_drop(&self->memory, floor);
    pt_race_changed(self);
    find_gap(&self->window);
}

void pt_race_window_missed(struct pt_race_self *self)
{
    learn(self, true);
}

/* ---- threads ---- */

/* Whether this is one of the first times; it is counted. */
static bool is_rare(const struct pt_site *site)
{
    uint8_t *often = pt_race_often_at(site), count = __atomic_load_n(often, __ATOMIC_RELAXED);
    if (!site || count == PT_RACE_OFTEN)
        return false;
    uint32_t next = count + __atomic_load_n(&windows.step, __ATOMIC_RELAXED);
    __atomic_store_n(often, (uint8_t)(next < PT_RACE_OFTEN ? next : PT_RACE_OFTEN), __ATOMIC_RELAXED);
    return true;
}

void pt_race_window_begin(struct pt_race_self *self, struct pt_race_self *parent, const struct pt_site *site)
{
    if (!pt_race_samples)
        return;
    bool rare = is_rare(site);
    pt_spin_lock(&windows.lock); /* others go through the list, which it may be in from its last thread */
    self->window = (struct pt_race_window){.older = self->window.older,
                                           .listed = self->window.listed,
                                           .known = parent ? parent->window.known : 0,
                                           .rare = rare,
                                           .lives = true};
    if (!self->window.listed) {
        self->window.listed = true;
        self->window.older = windows.all;
        windows.all = self;
    }
    windows.live++;
    pt_spin_unlock(&windows.lock);
}

void pt_race_window_ended(void)
{
    pt_race_window_own = &nowhere;
}

/* With what it knew: a window may be open, and who takes the floor for known asks no more what came with it. Under the
 * lock. */
static void add_to_floor(struct pt_race_self *self)
{
    pt_vec_join(&self->memory, &windows.floor, self->hb.past);
    pt_vec_raise(&self->memory, &windows.floor, self->hb.id, clock_of(self));
}

void pt_race_window_leave(struct pt_race_self *self)
{
    if (!pt_race_samples)
        return;
    pt_spin_lock(&windows.lock);
    add_to_floor(self);
    pt_spin_unlock(&windows.lock);
}

void pt_race_window_release(struct pt_race_self *self)
{
    if (!pt_race_samples)
        return;
    pt_spin_lock(&windows.lock);
    self->window.lives = false;
    windows.live--;
    add_to_floor(self);
    pt_spin_unlock(&windows.lock);
}

/* ---- opening and closing ---- */

/* A program that has many places, each with its first executions, would be in windows most of its time: those that they
 * open become shorter, and then places are rare for fewer of them. Under the lock. */
static void shorten(void)
{
    if (++windows.opened % LONG_ONES == 0 && windows.burst / 2 >= SHORTEST)
        __atomic_store_n(&windows.burst, windows.burst / 2, __ATOMIC_RELAXED);
    if (windows.opened % FULL_ONES == 0 && windows.step < LARGEST_STEP)
        __atomic_store_n(&windows.step, windows.step * 2, __ATOMIC_RELAXED);
}

static uint32_t open_window(bool in_turn)
{
    pt_spin_lock(&windows.lock);
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_relaxed);
    if (!(now & 1)) {
        if (in_turn)
            windows.factor = windows.factor < windows.rate / STEP ? windows.factor * STEP : windows.rate;
        else
            shorten();
        __atomic_store_n(&windows.length, in_turn ? windows.events : windows.burst, __ATOMIC_RELAXED);
        atomic_store_explicit(&pt_race_windows, ++now, memory_order_seq_cst);
        pt_runtime_activate(PT_ACTIVE_RACES);
        ask(PT_ASKS_ALL);
    }
    pt_spin_unlock(&windows.lock);
    return now;
}

/* The number first: who sees by the mode that it is closed knows that there is something to learn, and waits for the
 * lock to do so. */
static void close_window(struct pt_race_self *self)
{
    pt_spin_lock(&windows.lock);
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_relaxed);
    if (now & 1) {
        atomic_store_explicit(&pt_race_windows, now + 1, memory_order_seq_cst);
        pt_runtime_deactivate(PT_ACTIVE_RACES);
        raise_floor(self);
        ask(PT_ASKS_RARE);
    }
    pt_spin_unlock(&windows.lock);
}

/* How many times the thread synchronises before it opens a window: by how often it did in the last one. INT32_MAX: it
 * does not, for a long time. */
static uint32_t gap_of(const struct pt_race_window *window)
{
    uint64_t times = (uint64_t)window->syncs * windows.factor * windows.live;
    if (!times)
        return INT32_MAX;
    times = times / 2 + pt_mix64(windows.chance++ ^ (uint64_t)window->number << 32) % times;
    return times < INT32_MAX ? (uint32_t)times + 1 : INT32_MAX;
}

/* Leaves behind what the floor has of it. If the window is being closed, whoever does that may have seen the clock of
 * before: then it comes late, and what it does is to be in the floor. */
static void jump(struct pt_race_self *self, uint32_t now)
{
    uint64_t before = self->hb.clock;
    __atomic_store_n(&self->hb.clock, before + (self->window.late ? 2 * JUMP : JUMP), __ATOMIC_RELAXED);
    /* partner: the number of windows is stored before clocks are read (close_window) */
    atomic_thread_fence(memory_order_seq_cst);
    self->window.late = atomic_load_explicit(&pt_race_windows, memory_order_relaxed) != now;
    if (self->window.late)
        __atomic_store_n(&self->hb.clock, before, __ATOMIC_RELAXED);
}

static void enter(struct pt_race_self *self, uint32_t now)
{
    struct pt_race_window *window = &self->window;
    if (window->number == now)
        return;
    if (!(now & 1)) {
        window->left = gap_of(window);
        window->number = now;
        find_gap(window);
        return;
    }
    window->number = now;
    window->left = __atomic_load_n(&windows.length, __ATOMIC_RELAXED);
    window->syncs = 0;
    self->lock_count = self->lock_set = 0;
    jump(self, now);
    pt_race_changed(self);
}

void pt_race_window_go_on(struct pt_race_self *self)
{
    enter(self, atomic_load_explicit(&pt_race_windows, memory_order_relaxed));
}

void pt_race_window_begun(struct pt_race_self *self)
{
    if (!pt_race_samples)
        return;
    pt_race_window_own = &self->window;
    enter(self, self->window.rare ? open_window(false) : atomic_load_explicit(&pt_race_windows, memory_order_relaxed));
}

/* An event in a window. */
static void count(struct pt_race_self *self, bool rare)
{
    struct pt_race_window *window = &self->window;
    uint32_t burst = rare ? __atomic_load_n(&windows.burst, __ATOMIC_RELAXED) : 0;
    if (rare)
        window->left = window->left < burst ? burst : window->left;
    else if (window->left < 2 || --window->left < 2)
        close_window(self);
}

bool pt_race_window_access(struct pt_race_self *self, const struct pt_site *site)
{
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_relaxed);
    bool rare = is_rare(site);
    if (!(now & 1) && !rare)
        return false;
    enter(self, now & 1 ? now : open_window(false));
    count(self, rare);
    return true;
}

bool pt_race_window_sync(struct pt_race_self *self, bool acquires, const struct pt_site *site)
{
    struct pt_race_window *window = &self->window;
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_acquire);
    bool rare = is_rare(site);
    enter(self, now);
    bool due = !(now & 1) && (window->left < 2 || --window->left < 2);
    if (acquires && window->known != (now & ~1u))
        learn(self, false);
    if (!(now & 1)) {
        if (!rare && !due)
            return false;
        enter(self, open_window(due));
    }
    window->syncs++;
    count(self, rare);
    return true;
}
