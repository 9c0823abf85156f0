/*
 * Whether this process is observed, what is recorded, and how recording ends. Hooks test pt_active before anything
 * else; the rest is set before main, by start.c, and read everywhere.
 */
#ifndef PT_RUNTIME_SYS_RUNTIME_H
#define PT_RUNTIME_SYS_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"

/* There is something to do in hooks beside the access. 0 without an observer, and as long as nothing is watched. */
enum pt_activity {
    PT_ACTIVE_RECORDS = 1,   /* events for properties and recordings */
    PT_ACTIVE_RACES = 2,     /* races are looked for, and there are several threads (runtime/race) */
    PT_ACTIVE_CHOOSES = 4,   /* not of all accesses; without the former: not now (runtime/race/choose.c) */
    PT_ACTIVE_LIVES = 8,     /* lifetimes are looked at (runtime/race/life.h) */
    PT_ACTIVE_EXPLORES = 16, /* threads are scheduled (runtime/explore), and there are several */
    PT_ACTIVE_FILES = 32,    /* with RECORDS: the program records everything by itself (runtime/record) */
    PT_ACTIVE_SILENT = 64,   /* with RECORDS alone: all threads have the same clock (runtime/shadow/silence.h) */
    PT_ACTIVE_SILENCE = PT_ACTIVE_RECORDS | PT_ACTIVE_SILENT,
    PT_ACTIVE_LASTS = 128, /* with these two alone: whatever clocks they have */
    PT_ACTIVE_LASTING = PT_ACTIVE_SILENCE | PT_ACTIVE_LASTS,
};
/* Hidden, here and in other headers that hooks read: the address is known when the runtime is linked, and not looked
 * up. */
#pragma GCC visibility push(hidden)
extern _Atomic uint8_t pt_active;
extern struct pt_channel *pt_channel;       /* NULL: nobody observes */
extern uint32_t pt_keeps;                   /* enum pt_keep: what is recorded beside relevant events */
extern _Atomic uint32_t pt_runtime_threads; /* of the runtime's own, that have not ended */
extern bool pt_races_wanted; /* races or lifetimes are looked for; set before the first thread is known */
#pragma GCC visibility pop

/* Both are of enum pt_activity. */
void pt_runtime_activate(unsigned what);
void pt_runtime_deactivate(unsigned what);
/* No more recording in this process, for this reason: a sentence without its full stop, shorter than PT_WHY_BYTES. The
 * first one is reported. */
void pt_runtime_stop(const char *why);
bool pt_runtime_is_stopped(void);
/* The same where a table is full, or there is no memory. */
void pt_runtime_give_up(void);
/* This process is a copy of the observed one, which a fork made that nobody saw: it leaves the channel alone. */
void pt_runtime_disown(void);
/* In a child that is observed for itself. */
void pt_runtime_restart(void);
/* Something that should have been recorded was not: the observer sees how often. */
void pt_runtime_lost(void);
/* The same of a thread that nobody was seen to start: what it does is not judged. */
void pt_runtime_lost_stranger(void);

static inline bool pt_is_active(void)
{
    return __builtin_expect(atomic_load_explicit(&pt_active, memory_order_relaxed), 0);
}
/* Nothing may have to be done now, but what things are must be kept for when it has: a descriptor that is made while
 * one thread is alone is used when there are several. */
static inline bool pt_is_watching(void)
{
    return pt_is_active() || __builtin_expect(pt_races_wanted, 0);
}
static inline bool pt_is_recording(void)
{
    return atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_RECORDS;
}
static inline bool pt_is_racing(void)
{
    return atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_RACES;
}
/* Races are looked for, but not at this time. */
static inline bool pt_is_between(void)
{
    enum { BOTH = PT_ACTIVE_RACES | PT_ACTIVE_CHOOSES };
    return (atomic_load_explicit(&pt_active, memory_order_relaxed) & BOTH) == PT_ACTIVE_CHOOSES;
}
static inline bool pt_is_living(void)
{
    return __builtin_expect(atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_LIVES, 0);
}

static inline bool pt_is_exploring(void)
{
    return __builtin_expect(atomic_load_explicit(&pt_active, memory_order_relaxed) & PT_ACTIVE_EXPLORES, 0);
}

/* What is to be watched and recorded. There is a channel. */
static inline const struct pt_config *pt_runtime_config(void)
{
    return (const void *)((const char *)pt_channel + pt_channel->config_offset);
}

/* Is all recorded that races are looked for by: where memory begins and ends, what functions of the library fill? Not
 * where clocks are the order; there a thread that evaluates properties has the same events as one that does not. */
static inline bool pt_runtime_records_memory(void)
{
    return (pt_keeps & (PT_KEEP_ALL | PT_KEEP_CLOCKS)) == PT_KEEP_ALL;
}

/* Are there threads of which every event is recorded? */
static inline bool pt_runtime_records_full(void)
{
    return pt_keeps & (PT_KEEP_ALL | PT_KEEP_THREADS);
}

#endif
