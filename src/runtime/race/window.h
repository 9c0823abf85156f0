/*
 * Sampling: windows of the run in which everything is followed, accesses and synchronisation, and gaps between them
 * in which next to nothing is (window.c says why what is reported is then still unordered). A place that was seldom
 * looked at opens a window wherever it is met; between those there is one now and then.
 */
#ifndef PT_RUNTIME_RACE_WINDOW_H
#define PT_RUNTIME_RACE_WINDOW_H

#include "runtime/race/race.h"

enum { PT_RACE_OFTEN_BITS = 16, PT_RACE_OFTEN = 16 };

extern bool pt_race_samples; /* there are gaps; else one window is open for ever */
/* Nobody but this layer hears of calls that synchronise, so that in gaps they can pass (pt_race_window_passes). Set
 * before main. */
#pragma GCC visibility push(hidden)
extern bool pt_race_passes;
extern _Atomic uint32_t pt_race_windows; /* odd: one is open; changes whenever one opens or closes; never 0 */
/* How often accesses at a place were looked at, up to PT_RACE_OFTEN; where there are many places a look counts for up
 * to four. Places that share an entry are taken for one. */
extern uint8_t pt_race_often[1 << PT_RACE_OFTEN_BITS];
/* The calling thread's, once it has begun; else one in which no gap is. */
extern __thread struct pt_race_window *pt_race_window_own __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

static inline uint8_t *pt_race_often_at(const struct pt_site *site)
{
    return &pt_race_often[(uintptr_t)site >> 4 & ((1u << PT_RACE_OFTEN_BITS) - 1)];
}
static inline bool pt_race_is_often(const struct pt_site *site)
{
    return __atomic_load_n(pt_race_often_at(site), __ATOMIC_RELAXED) == PT_RACE_OFTEN;
}

/* One access in so many, in the long run; 0: all of them. Before the first thread. */
void pt_race_window_start(uint32_t rate);
/* There are several threads from here on, or one alone. */
void pt_race_window_several(bool several);
/* A thread is made at this place (NULL: not known), by its parent or by somebody who is not known, runs, and is
 * nobody's any more. Of begun and ended, the thread is the calling one. */
void pt_race_window_begin(struct pt_race_self *self, struct pt_race_self *parent, const struct pt_site *site);
void pt_race_window_begun(struct pt_race_self *self);
void pt_race_window_ended(void);
void pt_race_window_release(struct pt_race_self *self);
/* It goes on in another lane: whoever takes what was before for known knows of this one, too. */
void pt_race_window_leave(struct pt_race_self *self);

/* A plain access, before it is looked at. False: it is not to be. */
bool pt_race_window_access(struct pt_race_self *self, const struct pt_site *site);
/* A synchronisation, before it is followed. False: it is not to be. `acquires`: what others did may come before what
 * the thread does next. */
bool pt_race_window_sync(struct pt_race_self *self, bool acquires, const struct pt_site *site);
/* What is followed in any case: the thread is in the window from here on. */
void pt_race_window_go_on(struct pt_race_self *self);
/* A window was opened, and perhaps closed again, in the middle of an atomic operation that was not followed. */
void pt_race_window_missed(struct pt_race_self *self);

/* There are several threads, and gaps. */
static inline bool pt_race_is_sampled(void)
{
    return pt_race_samples && atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_CHOOSES;
}

static inline void pt_race_window_enter(struct pt_race_self *self)
{
    if (pt_race_is_sampled() && self->window.number != atomic_load_explicit(&pt_race_windows, memory_order_relaxed))
        pt_race_window_go_on(self);
}

/* The same where nothing is to be done but to count it, which is nearly always so. False: nothing has happened. */
static inline bool pt_race_window_looks(struct pt_race_self *self, const struct pt_site *site)
{
    struct pt_race_window *window = &self->window;
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_relaxed);
    if (!(now & 1) || window->number != now || window->left < 2 || !pt_race_is_often(site))
        return false;
    window->left--;
    return true;
}
/* An access of so many bytes has been looked at: it counts for as many as cost as much. */
static inline void pt_race_window_spend(struct pt_race_self *self, size_t bytes)
{
    enum { BYTES = 64 };
    struct pt_race_window *window = &self->window;
    size_t events = bytes / BYTES;
    if (pt_race_is_sampled() && window->left > 1)
        window->left = events < window->left - 1 ? window->left - (uint32_t)events : 1;
}
static inline bool pt_race_window_skips(struct pt_race_self *self, bool acquires, const struct pt_site *site)
{
    struct pt_race_window *window = &self->window;
    uint32_t now = atomic_load_explicit(&pt_race_windows, memory_order_relaxed);
    if (now & 1 || window->number != now || (acquires && window->known != now) || window->left < 2 ||
        !pt_race_is_often(site))
        return false;
    window->left--;
    return true;
}
/* The calling thread is in a gap, knows what was in all windows, and nobody else wants to know. */
static inline bool pt_race_window_is_gap(void)
{
    return pt_race_window_own->gap == atomic_load_explicit(&pt_race_windows, memory_order_relaxed);
}
/* The same as pt_race_window_skips of a lock that is taken at a place that is often met, and counts for its release as
 * well, in as few instructions as it can be done. */
static inline bool pt_race_window_passes(void)
{
    struct pt_race_window *window = pt_race_window_own;
    if (!pt_race_window_is_gap())
        return false;
    if (__builtin_expect((int32_t)(window->left -= 2) > 0, 1))
        return true;
    window->left = 1;
    return false;
}

#endif
